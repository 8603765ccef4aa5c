/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A warning fails the test during which it fired, unless the test announced it
 * (sim_expect_warnings()). The _ONCE kinds fire once per test and place, not
 * once per run: the next test shall see them too.
 */
#ifndef _LINUX_BUG_H
#define _LINUX_BUG_H

#include <assert.h>
#include <linux/compiler.h>
#include <linux/printk.h>
#include <stdbool.h>

__printf(3, 4) void sim_warn(const char *file, int line, const char *fmt, ...);
bool sim_warn_first(unsigned int *seen);
__printf(3, 4) void sim_bug(const char *file, int line, const char *fmt, ...) __noreturn;

#define sim_bug_at(fmt, ...)	sim_bug(__FILE__, __LINE__, fmt, ##__VA_ARGS__)

#define WARN(cond, fmt, ...)						\
({									\
	bool sim_w = !!(cond);						\
									\
	if (unlikely(sim_w))						\
		sim_warn(__FILE__, __LINE__, fmt, ##__VA_ARGS__);	\
	unlikely(sim_w);						\
})
#define WARN_ONCE(cond, fmt, ...)					\
({									\
	static unsigned int sim_seen;					\
	bool sim_w = !!(cond);						\
									\
	if (unlikely(sim_w) && sim_warn_first(&sim_seen))		\
		sim_warn(__FILE__, __LINE__, fmt, ##__VA_ARGS__);	\
	unlikely(sim_w);						\
})
#define WARN_ON(cond)		WARN(cond, "%s", #cond)
#define WARN_ON_ONCE(cond)	WARN_ONCE(cond, "%s", #cond)
#define SCHED_WARN_ON(cond)	WARN_ON_ONCE(cond)
#define VM_WARN_ON_ONCE(cond)	WARN_ON_ONCE(cond)
#define BUG()			sim_bug_at("BUG()")
#define BUG_ON(cond)		do { if (unlikely(cond)) sim_bug_at("%s", #cond); } while (0)

#define BUILD_BUG_ON_MSG(cond, msg)	_Static_assert(!(cond), msg)
#define BUILD_BUG_ON(cond)		_Static_assert(!(cond), "BUILD_BUG_ON: " #cond)
#define BUILD_BUG_ON_ZERO(cond)		((int)(sizeof(struct { int : (-!!(cond)); })))
#define BUILD_BUG_ON_NOT_POWER_OF_2(n)	BUILD_BUG_ON((n) == 0 || ((n) & ((n) - 1)))
#define BUILD_BUG()			sim_bug_at("BUILD_BUG reached")
#undef static_assert
#define sim_sa_msg(expr, msg, ...)	_Static_assert(expr, msg)
#define static_assert(expr, ...)	sim_sa_msg(expr, ##__VA_ARGS__, #expr)

#endif
