/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LINUX_JIFFIES_H
#define _LINUX_JIFFIES_H

#include <linux/types.h>

#define HZ		CONFIG_HZ
#define NSEC_PER_SEC	1000000000L
#define NSEC_PER_MSEC	1000000L
#define NSEC_PER_USEC	1000L
#define USEC_PER_SEC	1000000L
#define USEC_PER_MSEC	1000L
#define MSEC_PER_SEC	1000L

typedef s64 ktime_t;

u64 ktime_get_ns(void);
#define ktime_get()		((ktime_t)ktime_get_ns())
#define ktime_get_mono_fast_ns() ktime_get_ns()
#define ktime_to_ns(t)		(t)
#define ktime_to_ms(t)		((t) / NSEC_PER_MSEC)
#define ktime_sub(a, b)		((a) - (b))
#define ktime_add_ms(t, m)	((t) + (m) * NSEC_PER_MSEC)
#define ktime_before(a, b)	((a) < (b))
#define ktime_after(a, b)	((a) > (b))
#define local_clock()		ktime_get_ns()
#define sched_clock()		ktime_get_ns()
#define sched_clock_cpu(c)	((void)(c), ktime_get_ns())

/* Starts five seconds before the 32-bit wrap, as in the kernel. */
#define INITIAL_JIFFIES		((unsigned long)(u32)(-5 * HZ))
#define jiffies			(INITIAL_JIFFIES + (unsigned long)(ktime_get_ns() / (NSEC_PER_SEC / HZ)))
#define get_jiffies_64()	((u64)jiffies)
#define msecs_to_jiffies(m)	((unsigned long)(m) * HZ / 1000)
#define jiffies_to_msecs(j)	((unsigned int)((j) * 1000 / HZ))
#define usecs_to_jiffies(u)	((unsigned long)(u) * HZ / 1000000)
#define time_after(a, b)	((long)((b) - (a)) < 0)
#define time_before(a, b)	time_after(b, a)
#define time_after_eq(a, b)	((long)((a) - (b)) >= 0)
#define time_before_eq(a, b)	time_after_eq(b, a)
#define time_after32(a, b)	((s32)((u32)(b) - (u32)(a)) < 0)
#define time_before32(a, b)	time_after32(b, a)

#endif
