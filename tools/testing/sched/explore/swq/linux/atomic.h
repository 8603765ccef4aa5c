/* SPDX-License-Identifier: GPL-2.0-only */
/* For the explorer: see compiler.h. Plain reads and writes go through READ_ONCE(). */
#ifndef _EXPLORE_ATOMIC_H
#define _EXPLORE_ATOMIC_H

#include_next <linux/atomic.h>

#define atomic_xchg(v, n)						\
({									\
	explore_point(v);						\
	(atomic_xchg)(v, n);						\
})
#define atomic_cmpxchg(v, o, n)						\
({									\
	explore_point(v);						\
	(atomic_cmpxchg)(v, o, n);					\
})

#endif
