/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit for userspace: the same suites, the same output. A case runs in a
 * thread of its own, so a failed assertion ends that thread as in the kernel.
 * Beyond the kernel's verdict a case also fails if it warned, leaked memory or
 * returned with a lock held, interrupts off or a read side open.
 */
#ifndef _KUNIT_TEST_H
#define _KUNIT_TEST_H

#include <linux/kernel.h>
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/types.h>

#define KUNIT_PARAM_DESC_SIZE	128
#define VISIBLE_IF_KUNIT

enum kunit_status { KUNIT_SUCCESS, KUNIT_FAILURE, KUNIT_SKIPPED };
enum kunit_speed { KUNIT_SPEED_UNSET, KUNIT_SPEED_VERY_SLOW, KUNIT_SPEED_SLOW, KUNIT_SPEED_NORMAL };

struct kunit_attributes {
	enum kunit_speed speed;
};

struct kunit_action;

struct kunit {
	void			*priv;
	const char		*name;
	const void		*param_value;
	int			param_index;
	/* private to the runner */
	struct kunit_action	*actions;
	int			status;
	char			comment[256];
};

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
	const void *(*generate_params)(const void *prev, char *desc);
	struct kunit_attributes attr;
};

struct kunit_suite {
	const char name[256];
	int (*suite_init)(struct kunit_suite *suite);
	void (*suite_exit)(struct kunit_suite *suite);
	int (*init)(struct kunit *test);
	void (*exit)(struct kunit *test);
	struct kunit_case *test_cases;
	struct kunit_attributes attr;
};

#define KUNIT_CASE(fn)			{ .run_case = fn, .name = #fn }
#define KUNIT_CASE_ATTR(fn, a)		{ .run_case = fn, .name = #fn, .attr = a }
#define KUNIT_CASE_SLOW(fn)	\
	{ .run_case = fn, .name = #fn, .attr.speed = KUNIT_SPEED_SLOW }
#define KUNIT_CASE_PARAM(fn, gen)	\
	{ .run_case = fn, .name = #fn, .generate_params = gen }
#define KUNIT_CASE_PARAM_ATTR(fn, gen, a) \
	{ .run_case = fn, .name = #fn, .generate_params = gen, .attr = a }

#define sim_array_gen(gname, array, describe)				\
	static const void *gname(const void *prev, char *desc)		\
	{								\
		typeof((array)[0]) *p = (array);			\
									\
		if (prev)						\
			p = (typeof(p))prev + 1;			\
		if (p - (array) >= (ptrdiff_t)ARRAY_SIZE(array))	\
			return NULL;					\
		describe;						\
		return p;						\
	}
#define KUNIT_ARRAY_PARAM(n, array, get_desc)				\
	sim_array_gen(n##_gen_params, array,				\
		      { void (*fn)(typeof(p), char *) = get_desc;	\
			if (fn) fn(p, desc); })
#define KUNIT_ARRAY_PARAM_DESC(n, array, member)			\
	sim_array_gen(n##_gen_params, array,				\
		      strscpy(desc, p->member, KUNIT_PARAM_DESC_SIZE))

void sim_kunit_register(struct kunit_suite *const *suites, unsigned int n);
#define sim_kunit_suites(id, ...)					\
	static struct kunit_suite *const sim_cat(id, _list)[] = { __VA_ARGS__ }; \
	static __attribute__((__constructor__)) void id(void)		\
	{ sim_kunit_register(sim_cat(id, _list), ARRAY_SIZE(sim_cat(id, _list))); } \
	_Static_assert(1, "")
#define kunit_test_suites(...)	sim_kunit_suites(__UNIQUE_ID(suites), __VA_ARGS__)
#define kunit_test_suite(s)	kunit_test_suites(&s)
#define kunit_test_init_section_suites(...) kunit_test_suites(__VA_ARGS__)

typedef void (kunit_action_t)(void *ctx);
#define KUNIT_DEFINE_ACTION_WRAPPER(wrapper, orig, type)		\
	static void wrapper(void *in) { orig((type)in); }

int kunit_add_action(struct kunit *test, kunit_action_t *fn, void *ctx);
int kunit_add_action_or_reset(struct kunit *test, kunit_action_t *fn, void *ctx);
void kunit_remove_action(struct kunit *test, kunit_action_t *fn, void *ctx);
void kunit_release_action(struct kunit *test, kunit_action_t *fn, void *ctx);
void *kunit_kmalloc_array(struct kunit *test, size_t n, size_t size, gfp_t gfp);
void kunit_kfree(struct kunit *test, const void *p);
#define kunit_kmalloc(t, s, g)		kunit_kmalloc_array(t, 1, s, g)
#define kunit_kzalloc(t, s, g)		kunit_kmalloc_array(t, 1, s, (g) | __GFP_ZERO)
#define kunit_kcalloc(t, n, s, g)	kunit_kmalloc_array(t, n, s, (g) | __GFP_ZERO)

struct kunit *kunit_get_current_test(void);
#define kunit_fail_current_test(fmt, ...)				\
	do {								\
		if (kunit_get_current_test())				\
			KUNIT_FAIL(kunit_get_current_test(), fmt, ##__VA_ARGS__); \
	} while (0)
#define KUNIT_STATIC_STUB_REDIRECT(fn, args...)	do { } while (0)

__printf(2, 3) void sim_kunit_log(struct kunit *test, const char *fmt, ...);
__printf(2, 3) void sim_kunit_skip(struct kunit *test, const char *fmt, ...);
void __noreturn sim_kunit_abort(void);
__printf(6, 7)
void sim_kunit_fail(struct kunit *test, bool fatal, const char *file, int line,
		    const char *what, const char *fmt, ...);

#define kunit_log(lvl, t, fmt, ...)	sim_kunit_log(t, fmt, ##__VA_ARGS__)
#define kunit_info(t, fmt, ...)		sim_kunit_log(t, fmt, ##__VA_ARGS__)
#define kunit_warn(t, fmt, ...)		sim_kunit_log(t, fmt, ##__VA_ARGS__)
#define kunit_err(t, fmt, ...)		sim_kunit_log(t, fmt, ##__VA_ARGS__)
#define kunit_mark_skipped(t, fmt, ...)	sim_kunit_skip(t, fmt, ##__VA_ARGS__)
#define kunit_skip(t, fmt, ...)		\
	do { sim_kunit_skip(t, fmt, ##__VA_ARGS__); sim_kunit_abort(); } while (0)

/* The texts are made out of line: a suite has thousands of these. */
__printf(9, 10)
void sim_kunit_fail_values(struct kunit *test, bool fatal, const char *file, int line,
			   const char *what, const char *kind, long long l, long long r,
			   const char *fmt, ...);
__printf(8, 9)
void sim_kunit_fail_strings(struct kunit *test, bool fatal, const char *file, int line,
			    const char *what, const char *l, const char *r,
			    const char *fmt, ...);

#define sim_fail_msg(t, fatal, what, fmt, ...)	\
	sim_kunit_fail(t, fatal, __FILE__, __LINE__, what, fmt, ##__VA_ARGS__)

#define sim_binary(t, fatal, l, op, r, ...)				\
	do {								\
		typeof(l) sim_l = (l);					\
		typeof(r) sim_r = (r);					\
									\
		if (unlikely(!(sim_l op sim_r)))			\
			sim_kunit_fail_values(t, fatal, __FILE__, __LINE__, \
					      #l " " #op " " #r, "",	\
					      (long long)sim_l, (long long)sim_r, \
					      "" __VA_ARGS__);		\
	} while (0)
#define sim_ptr(t, fatal, l, op, r, ...)				\
	do {								\
		/* As strict as the kernel's: an array is no pointer. */	\
		const typeof(l) sim_left = (l);				\
		const typeof(r) sim_right = (r);			\
		const void *sim_l = sim_left;				\
		const void *sim_r = sim_right;				\
									\
		if (unlikely(!(sim_l op sim_r)))			\
			sim_kunit_fail_values(t, fatal, __FILE__, __LINE__, \
					      #l " " #op " " #r, "pointer ", \
					      (long)sim_l, (long)sim_r, "" __VA_ARGS__); \
	} while (0)
#define sim_bool(t, fatal, c, want, ...)				\
	do {								\
		if (unlikely((bool)(c) != (want)))				\
			sim_fail_msg(t, fatal, "Expected " #c " to be " #want, \
				     "" __VA_ARGS__);			\
	} while (0)
#define sim_str(t, fatal, l, op, r, ...)				\
	do {								\
		const char *sim_l = (l);				\
		const char *sim_r = (r);				\
									\
		if (unlikely(!sim_l || !sim_r || !(strcmp(sim_l, sim_r) op 0))) \
			sim_kunit_fail_strings(t, fatal, __FILE__, __LINE__, \
					       #l " " #op " " #r, sim_l, sim_r, \
					       "" __VA_ARGS__);		\
	} while (0)
#define sim_mem(t, fatal, l, op, r, n, ...)				\
	do {								\
		if (unlikely(!(memcmp((l), (r), (n)) op 0)))		\
			sim_fail_msg(t, fatal, "Expected memory " #l " " #op " " #r, \
				     "" __VA_ARGS__);			\
	} while (0)

#define KUNIT_SUCCEED(t)			((void)(t))
#define KUNIT_FAIL(t, fmt, ...)			sim_fail_msg(t, false, "Failure", fmt, ##__VA_ARGS__)
#define KUNIT_FAIL_AND_ABORT(t, fmt, ...)	sim_fail_msg(t, true, "Failure", fmt, ##__VA_ARGS__)
#define KUNIT_FAIL_AND_ABORT_MSG		KUNIT_FAIL_AND_ABORT

#define KUNIT_EXPECT_TRUE(t, c)			sim_bool(t, false, c, true)
#define KUNIT_EXPECT_TRUE_MSG(t, c, f...)	sim_bool(t, false, c, true, f)
#define KUNIT_EXPECT_FALSE(t, c)		sim_bool(t, false, c, false)
#define KUNIT_EXPECT_FALSE_MSG(t, c, f...)	sim_bool(t, false, c, false, f)
#define KUNIT_EXPECT_EQ(t, l, r)		sim_binary(t, false, l, ==, r)
#define KUNIT_EXPECT_EQ_MSG(t, l, r, f...)	sim_binary(t, false, l, ==, r, f)
#define KUNIT_EXPECT_NE(t, l, r)		sim_binary(t, false, l, !=, r)
#define KUNIT_EXPECT_NE_MSG(t, l, r, f...)	sim_binary(t, false, l, !=, r, f)
#define KUNIT_EXPECT_LT(t, l, r)		sim_binary(t, false, l, <, r)
#define KUNIT_EXPECT_LT_MSG(t, l, r, f...)	sim_binary(t, false, l, <, r, f)
#define KUNIT_EXPECT_LE(t, l, r)		sim_binary(t, false, l, <=, r)
#define KUNIT_EXPECT_LE_MSG(t, l, r, f...)	sim_binary(t, false, l, <=, r, f)
#define KUNIT_EXPECT_GT(t, l, r)		sim_binary(t, false, l, >, r)
#define KUNIT_EXPECT_GT_MSG(t, l, r, f...)	sim_binary(t, false, l, >, r, f)
#define KUNIT_EXPECT_GE(t, l, r)		sim_binary(t, false, l, >=, r)
#define KUNIT_EXPECT_GE_MSG(t, l, r, f...)	sim_binary(t, false, l, >=, r, f)
#define KUNIT_EXPECT_PTR_EQ(t, l, r)		sim_ptr(t, false, l, ==, r)
#define KUNIT_EXPECT_PTR_EQ_MSG(t, l, r, f...)	sim_ptr(t, false, l, ==, r, f)
#define KUNIT_EXPECT_PTR_NE(t, l, r)		sim_ptr(t, false, l, !=, r)
#define KUNIT_EXPECT_PTR_NE_MSG(t, l, r, f...)	sim_ptr(t, false, l, !=, r, f)
#define KUNIT_EXPECT_NULL(t, p)			sim_ptr(t, false, p, ==, NULL)
#define KUNIT_EXPECT_NULL_MSG(t, p, f...)	sim_ptr(t, false, p, ==, NULL, f)
#define KUNIT_EXPECT_NOT_NULL(t, p)		sim_ptr(t, false, p, !=, NULL)
#define KUNIT_EXPECT_NOT_NULL_MSG(t, p, f...)	sim_ptr(t, false, p, !=, NULL, f)
#define KUNIT_EXPECT_NOT_ERR_OR_NULL(t, p)	sim_bool(t, false, IS_ERR_OR_NULL(p), false)
#define KUNIT_EXPECT_NOT_ERR_OR_NULL_MSG(t, p, f...) sim_bool(t, false, IS_ERR_OR_NULL(p), false, f)
#define KUNIT_EXPECT_STREQ(t, l, r)		sim_str(t, false, l, ==, r)
#define KUNIT_EXPECT_STREQ_MSG(t, l, r, f...)	sim_str(t, false, l, ==, r, f)
#define KUNIT_EXPECT_STRNEQ(t, l, r)		sim_str(t, false, l, !=, r)
#define KUNIT_EXPECT_STRNEQ_MSG(t, l, r, f...)	sim_str(t, false, l, !=, r, f)
#define KUNIT_EXPECT_MEMEQ(t, l, r, n)		sim_mem(t, false, l, ==, r, n)
#define KUNIT_EXPECT_MEMEQ_MSG(t, l, r, n, f...) sim_mem(t, false, l, ==, r, n, f)
#define KUNIT_EXPECT_MEMNEQ(t, l, r, n)		sim_mem(t, false, l, !=, r, n)

#define KUNIT_ASSERT_TRUE(t, c)			sim_bool(t, true, c, true)
#define KUNIT_ASSERT_TRUE_MSG(t, c, f...)	sim_bool(t, true, c, true, f)
#define KUNIT_ASSERT_FALSE(t, c)		sim_bool(t, true, c, false)
#define KUNIT_ASSERT_FALSE_MSG(t, c, f...)	sim_bool(t, true, c, false, f)
#define KUNIT_ASSERT_EQ(t, l, r)		sim_binary(t, true, l, ==, r)
#define KUNIT_ASSERT_EQ_MSG(t, l, r, f...)	sim_binary(t, true, l, ==, r, f)
#define KUNIT_ASSERT_NE(t, l, r)		sim_binary(t, true, l, !=, r)
#define KUNIT_ASSERT_NE_MSG(t, l, r, f...)	sim_binary(t, true, l, !=, r, f)
#define KUNIT_ASSERT_LT(t, l, r)		sim_binary(t, true, l, <, r)
#define KUNIT_ASSERT_LT_MSG(t, l, r, f...)	sim_binary(t, true, l, <, r, f)
#define KUNIT_ASSERT_LE(t, l, r)		sim_binary(t, true, l, <=, r)
#define KUNIT_ASSERT_LE_MSG(t, l, r, f...)	sim_binary(t, true, l, <=, r, f)
#define KUNIT_ASSERT_GT(t, l, r)		sim_binary(t, true, l, >, r)
#define KUNIT_ASSERT_GT_MSG(t, l, r, f...)	sim_binary(t, true, l, >, r, f)
#define KUNIT_ASSERT_GE(t, l, r)		sim_binary(t, true, l, >=, r)
#define KUNIT_ASSERT_GE_MSG(t, l, r, f...)	sim_binary(t, true, l, >=, r, f)
#define KUNIT_ASSERT_PTR_EQ(t, l, r)		sim_ptr(t, true, l, ==, r)
#define KUNIT_ASSERT_PTR_EQ_MSG(t, l, r, f...)	sim_ptr(t, true, l, ==, r, f)
#define KUNIT_ASSERT_PTR_NE(t, l, r)		sim_ptr(t, true, l, !=, r)
#define KUNIT_ASSERT_NULL(t, p)			sim_ptr(t, true, p, ==, NULL)
#define KUNIT_ASSERT_NULL_MSG(t, p, f...)	sim_ptr(t, true, p, ==, NULL, f)
#define KUNIT_ASSERT_NOT_NULL(t, p)		sim_ptr(t, true, p, !=, NULL)
#define KUNIT_ASSERT_NOT_NULL_MSG(t, p, f...)	sim_ptr(t, true, p, !=, NULL, f)
#define KUNIT_ASSERT_NOT_ERR_OR_NULL(t, p)	sim_bool(t, true, IS_ERR_OR_NULL(p), false)
#define KUNIT_ASSERT_NOT_ERR_OR_NULL_MSG(t, p, f...) sim_bool(t, true, IS_ERR_OR_NULL(p), false, f)
#define KUNIT_ASSERT_STREQ(t, l, r)		sim_str(t, true, l, ==, r)
#define KUNIT_ASSERT_STREQ_MSG(t, l, r, f...)	sim_str(t, true, l, ==, r, f)
#define KUNIT_ASSERT_MEMEQ(t, l, r, n)		sim_mem(t, true, l, ==, r, n)

#endif
