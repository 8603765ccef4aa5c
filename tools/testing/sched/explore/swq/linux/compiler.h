/* SPDX-License-Identifier: GPL-2.0-only */
/* For the explorer: others may run before each marked access to shared data. */
#ifndef _EXPLORE_COMPILER_H
#define _EXPLORE_COMPILER_H

#include_next <linux/compiler.h>

void explore_point(const volatile void *addr);

#undef READ_ONCE
#undef WRITE_ONCE
#define READ_ONCE(x)							\
({									\
	explore_point(&(x));						\
	*(const volatile typeof(x) *)&(x);				\
})
#define WRITE_ONCE(x, v)						\
do {									\
	typeof(x) explore_v = (v);					\
									\
	explore_point(&(x));						\
	*(volatile typeof(x) *)&(x) = explore_v;			\
} while (0)

#endif
