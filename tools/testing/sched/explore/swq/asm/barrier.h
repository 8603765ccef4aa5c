/* SPDX-License-Identifier: GPL-2.0-only */
/* For the explorer: one step at a time, so orders and barriers are nothing. */
#ifndef _EXPLORE_BARRIER_H
#define _EXPLORE_BARRIER_H

#include_next <asm/barrier.h>

#undef smp_load_acquire
#undef smp_store_release
#define smp_load_acquire(p)		READ_ONCE(*(p))
#define smp_store_release(p, v)		WRITE_ONCE(*(p), v)

#endif
