/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LINUX_KERNEL_H
#define _LINUX_KERNEL_H

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <linux/limits.h>
#include <linux/types.h>
#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/printk.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]) + \
			 BUILD_BUG_ON_ZERO(__same_type((a), &(a)[0])))

#define container_of(ptr, type, member)					\
({									\
	_Static_assert(__same_type(*(ptr), ((type *)0)->member) ||	\
		       __same_type(*(ptr), void), "container_of: type");	\
	(type *)((char *)(ptr) - offsetof(type, member));		\
})
#define container_of_const(ptr, type, member) container_of(ptr, type, member)
#define sizeof_field(type, m)	sizeof(((type *)0)->m)
#define offsetofend(type, m)	(offsetof(type, m) + sizeof_field(type, m))
#define typeof_member(T, m)	typeof(((T *)0)->m)

#define min(a, b)		({ __auto_type sim_mn_a = (a); __auto_type sim_mn_b = (b); \
				   sim_mn_a < sim_mn_b ? sim_mn_a : sim_mn_b; })
#define max(a, b)		({ __auto_type sim_mx_a = (a); __auto_type sim_mx_b = (b); \
				   sim_mx_a > sim_mx_b ? sim_mx_a : sim_mx_b; })
#define min3(a, b, c)		min(a, min(b, c))
#define max3(a, b, c)		max(a, max(b, c))
#define min_t(t, a, b)		min((t)(a), (t)(b))
#define max_t(t, a, b)		max((t)(a), (t)(b))
#define MIN(a, b)		((a) < (b) ? (a) : (b))
#define MAX(a, b)		((a) > (b) ? (a) : (b))
#define clamp(v, lo, hi)	min(max(v, lo), hi)
#define clamp_t(t, v, lo, hi)	clamp((t)(v), (t)(lo), (t)(hi))
#define clamp_val(v, lo, hi)	clamp_t(typeof(v), v, lo, hi)
#define in_range(v, s, l)	((u64)(v) - (u64)(s) < (u64)(l))
#define swap(a, b)		do { __auto_type sim_s = (a); (a) = (b); (b) = sim_s; } while (0)

#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define DIV_ROUND_UP_ULL(n, d)	DIV_ROUND_UP((u64)(n), (d))
#define DIV_ROUND_CLOSEST(n, d)	(((n) + (d) / 2) / (d))
#define ALIGN(x, a)		(((x) + (typeof(x))(a) - 1) & ~((typeof(x))(a) - 1))
#define ALIGN_DOWN(x, a)	((x) & ~((typeof(x))(a) - 1))
#define IS_ALIGNED(x, a)	(((x) & ((typeof(x))(a) - 1)) == 0)
#define PTR_ALIGN(p, a)		((typeof(p))ALIGN((unsigned long)(p), (a)))
#define round_up(x, y)		((((x) - 1) | ((typeof(x))(y) - 1)) + 1)
#define round_down(x, y)	((x) & ~((typeof(x))(y) - 1))
#define roundup(x, y)		((((x) + (y) - 1) / (y)) * (y))
#define rounddown(x, y)		((x) - (x) % (y))
#define abs(x)			({ __auto_type sim_ab = (x); sim_ab < 0 ? -sim_ab : sim_ab; })
#define abs_diff(a, b)		({ __auto_type sim_da = (a); __auto_type sim_db = (b); \
				   sim_da > sim_db ? sim_da - sim_db : sim_db - sim_da; })
#define upper_32_bits(n)	((u32)(((n) >> 16) >> 16))
#define lower_32_bits(n)	((u32)(n))

static inline u64 div_u64(u64 a, u32 b) { return a / b; }
static inline u64 div64_u64(u64 a, u64 b) { return a / b; }
static inline s64 div_s64(s64 a, s32 b) { return a / b; }
static inline u64 mul_u64_u32_shr(u64 a, u32 m, unsigned int s)
{
	return (unsigned __int128)a * m >> s;
}
#define do_div(n, base)		({ u32 sim_r = (n) % (base); (n) /= (base); sim_r; })

#define is_power_of_2(n)	({ unsigned long sim_p2 = (n); sim_p2 && !(sim_p2 & (sim_p2 - 1)); })
#define ilog2(n)		(63 - __builtin_clzll(n))
#define order_base_2(n)		((n) > 1 ? ilog2((n) - 1) + 1 : 0)
#define roundup_pow_of_two(n)	(1UL << order_base_2(n))
#define rounddown_pow_of_two(n)	(1UL << ilog2(n))

#define check_add_overflow(a, b, d)	__builtin_add_overflow(a, b, d)
#define check_sub_overflow(a, b, d)	__builtin_sub_overflow(a, b, d)
#define check_mul_overflow(a, b, d)	__builtin_mul_overflow(a, b, d)

static inline size_t size_mul(size_t a, size_t b)
{
	size_t r;

	return __builtin_mul_overflow(a, b, &r) ? SIZE_MAX : r;
}

static inline size_t size_add(size_t a, size_t b)
{
	size_t r;

	return __builtin_add_overflow(a, b, &r) ? SIZE_MAX : r;
}
#define array_size(a, b)	size_mul(a, b)
#define flex_array_size(p, m, n) size_mul(n, sizeof(*(p)->m))
#define struct_size(p, m, n)	size_add(sizeof(*(p)), flex_array_size(p, m, n))
#define struct_size_t(t, m, n)	struct_size((t *)NULL, m, n)

#define scnprintf(buf, n, fmt, ...)					\
({									\
	size_t sim_sz = (n);						\
	int sim_len = snprintf(buf, sim_sz, fmt, ##__VA_ARGS__);	\
									\
	(int)(!sim_sz ? 0 : (size_t)sim_len >= sim_sz ? sim_sz - 1 : (size_t)sim_len); \
})

void sim_might_sleep(const char *what);
#define might_sleep()		sim_might_sleep("might_sleep()")

#endif
