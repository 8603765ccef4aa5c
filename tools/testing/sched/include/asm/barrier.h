/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Barriers. In a normal build they are fences of the machine.
 *
 * TSan knows no fences: it would call a race what a fence orders. There each
 * barrier is a read-modify-write, sequentially consistent, on one shared word,
 * so any two of them are ordered. It is stronger than the kernel's barrier
 * (a wmb here also orders like a full one), never weaker on the machine, and
 * says nothing about a *missing* barrier between marked accesses: TSan finds
 * unmarked races, the hook tests and the litmus tests find missing barriers.
 */
#ifndef _ASM_BARRIER_H
#define _ASM_BARRIER_H

#include <linux/compiler.h>

#ifdef SIM_TSAN
extern unsigned int sim_barrier_word;
#define sim_fence(order)	\
	((void)__atomic_fetch_add(&sim_barrier_word, 0, __ATOMIC_SEQ_CST))
#else
#define sim_fence(order)	__atomic_thread_fence(order)
#endif

/*
 * Full barriers are counted per thread, so that a test can ask whether there
 * was one between two steps: x86 hides most missing ones, and no test sees the
 * rest with certainty.
 */
extern __thread unsigned long sim_full_barriers;
#define sim_count_barrier()	((void)sim_full_barriers++)

#define smp_mb()		do { sim_count_barrier(); sim_fence(__ATOMIC_SEQ_CST); } while (0)
#define smp_rmb()		sim_fence(__ATOMIC_ACQUIRE)
#define smp_wmb()		sim_fence(__ATOMIC_RELEASE)
#define mb()			smp_mb()
#define rmb()			smp_rmb()
#define wmb()			smp_wmb()
#define smp_mb__before_atomic()	smp_mb()
#define smp_mb__after_atomic()	smp_mb()
#define smp_mb__after_spinlock() smp_mb()
#define smp_mb__after_unlock_lock() smp_mb()
#define smp_acquire__after_ctrl_dep() smp_rmb()

#define smp_load_acquire(p)	__atomic_load_n((p), __ATOMIC_ACQUIRE)
#define smp_store_release(p, v)	__atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define smp_store_mb(x, v)	do { WRITE_ONCE(x, v); smp_mb(); } while (0)

#define smp_cond_load_relaxed(p, cond)				\
({								\
	__auto_type sim_p = (p);				\
	typeof(*sim_p) VAL;					\
	for (;;) {						\
		VAL = READ_ONCE(*sim_p);			\
		if (cond)					\
			break;					\
		cpu_relax();					\
	}							\
	VAL;							\
})
#define smp_cond_load_acquire(p, cond)				\
({								\
	__auto_type sim_pa = (p);				\
	typeof(*sim_pa) VAL;					\
	for (;;) {						\
		VAL = smp_load_acquire(sim_pa);			\
		if (cond)					\
			break;					\
		cpu_relax();					\
	}							\
	VAL;							\
})

#endif
