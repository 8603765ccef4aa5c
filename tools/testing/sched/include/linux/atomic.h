/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Value-returning operations without a suffix are fully ordered in the kernel.
 * On x86 any locked instruction is; elsewhere the fences around it matter, so
 * they are added where one instruction does not give it.
 */
#ifndef _LINUX_ATOMIC_H
#define _LINUX_ATOMIC_H

#include <linux/types.h>

#if defined(__x86_64__) || defined(SIM_TSAN)
#define sim_full(op)		({ sim_count_barrier(); (op); })
#else
#define sim_full(op)		({ smp_mb(); __auto_type sim_fv = (op); smp_mb(); sim_fv; })
#endif

#define xchg_relaxed(p, v)	__atomic_exchange_n((p), (v), __ATOMIC_RELAXED)
#define xchg_acquire(p, v)	__atomic_exchange_n((p), (v), __ATOMIC_ACQUIRE)
#define xchg_release(p, v)	__atomic_exchange_n((p), (v), __ATOMIC_RELEASE)
#define xchg(p, v)		sim_full(__atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST))

#define sim_cmpxchg(p, o, n, ok, fail)					\
({									\
	typeof(*(p)) sim_old = (o);					\
	__atomic_compare_exchange_n((p), &sim_old, (n), 0, ok, fail);	\
	sim_old;							\
})
#define cmpxchg_relaxed(p, o, n) sim_cmpxchg(p, o, n, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
#define cmpxchg_acquire(p, o, n) sim_cmpxchg(p, o, n, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)
#define cmpxchg_release(p, o, n) sim_cmpxchg(p, o, n, __ATOMIC_RELEASE, __ATOMIC_RELAXED)
#define cmpxchg(p, o, n)	 sim_full(sim_cmpxchg(p, o, n, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
#define cmpxchg_local(p, o, n)	 cmpxchg_relaxed(p, o, n)
#define cmpxchg64_relaxed	cmpxchg_relaxed
#define cmpxchg64_acquire	cmpxchg_acquire
#define cmpxchg64_release	cmpxchg_release
#define cmpxchg64		cmpxchg

#define sim_try_cmpxchg(p, o, n, ok)	\
	__atomic_compare_exchange_n((p), (o), (n), 0, ok, __ATOMIC_RELAXED)
#define try_cmpxchg_relaxed(p, o, n)	sim_try_cmpxchg(p, o, n, __ATOMIC_RELAXED)
#define try_cmpxchg_acquire(p, o, n)	sim_try_cmpxchg(p, o, n, __ATOMIC_ACQUIRE)
#define try_cmpxchg_release(p, o, n)	sim_try_cmpxchg(p, o, n, __ATOMIC_RELEASE)
#define try_cmpxchg(p, o, n)		sim_full(sim_try_cmpxchg(p, o, n, __ATOMIC_SEQ_CST))
#define try_cmpxchg64_relaxed	try_cmpxchg_relaxed
#define try_cmpxchg64_acquire	try_cmpxchg_acquire
#define try_cmpxchg64_release	try_cmpxchg_release
#define try_cmpxchg64		try_cmpxchg

#define ATOMIC_INIT(i)		{ (i) }
#define ATOMIC64_INIT(i)	{ (i) }
#define ATOMIC_LONG_INIT(i)	{ (i) }

/* One value-returning operation in its four orderings. */
#define SIM_RMW(pfx, T, V, name, expr, o)					\
static inline V pfx##_##name(V i, T *v)						\
{ return sim_full(expr(&v->counter, i, __ATOMIC_SEQ_CST) o); }			\
static inline V pfx##_##name##_relaxed(V i, T *v)				\
{ return expr(&v->counter, i, __ATOMIC_RELAXED) o; }				\
static inline V pfx##_##name##_acquire(V i, T *v)				\
{ return expr(&v->counter, i, __ATOMIC_ACQUIRE) o; }				\
static inline V pfx##_##name##_release(V i, T *v)				\
{ return expr(&v->counter, i, __ATOMIC_RELEASE) o; }

#define SIM_RMW1(pfx, T, V, name, expr)						\
static inline V pfx##_##name(T *v)						\
{ return sim_full(expr(&v->counter, 1, __ATOMIC_SEQ_CST)); }			\
static inline V pfx##_##name##_relaxed(T *v)					\
{ return expr(&v->counter, 1, __ATOMIC_RELAXED); }				\
static inline V pfx##_##name##_acquire(T *v)					\
{ return expr(&v->counter, 1, __ATOMIC_ACQUIRE); }				\
static inline V pfx##_##name##_release(T *v)					\
{ return expr(&v->counter, 1, __ATOMIC_RELEASE); }

#define SIM_CMPXCHG(pfx, T, V, sfx)						\
static inline V pfx##_cmpxchg##sfx(T *v, V o, V n)				\
{ return cmpxchg##sfx(&v->counter, o, n); }					\
static inline bool pfx##_try_cmpxchg##sfx(T *v, V *o, V n)			\
{ return try_cmpxchg##sfx(&v->counter, o, n); }					\
static inline V pfx##_xchg##sfx(T *v, V n)					\
{ return xchg##sfx(&v->counter, n); }

#define SIM_ATOMIC(pfx, T, V)							\
static inline V pfx##_read(const T *v) { return READ_ONCE(v->counter); }	\
static inline V pfx##_read_acquire(const T *v)					\
{ return smp_load_acquire(&v->counter); }					\
static inline void pfx##_set(T *v, V i) { WRITE_ONCE(v->counter, i); }		\
static inline void pfx##_set_release(T *v, V i)					\
{ smp_store_release(&v->counter, i); }						\
SIM_RMW(pfx, T, V, add_return, __atomic_add_fetch,)				\
SIM_RMW(pfx, T, V, sub_return, __atomic_sub_fetch,)				\
SIM_RMW(pfx, T, V, fetch_add, __atomic_fetch_add,)				\
SIM_RMW(pfx, T, V, fetch_sub, __atomic_fetch_sub,)				\
SIM_RMW(pfx, T, V, fetch_or, __atomic_fetch_or,)				\
SIM_RMW(pfx, T, V, fetch_and, __atomic_fetch_and,)				\
SIM_RMW(pfx, T, V, fetch_xor, __atomic_fetch_xor,)				\
SIM_RMW1(pfx, T, V, inc_return, __atomic_add_fetch)				\
SIM_RMW1(pfx, T, V, dec_return, __atomic_sub_fetch)				\
SIM_RMW1(pfx, T, V, fetch_inc, __atomic_fetch_add)				\
SIM_RMW1(pfx, T, V, fetch_dec, __atomic_fetch_sub)				\
SIM_CMPXCHG(pfx, T, V,)								\
SIM_CMPXCHG(pfx, T, V, _relaxed)						\
SIM_CMPXCHG(pfx, T, V, _acquire)						\
SIM_CMPXCHG(pfx, T, V, _release)						\
static inline void pfx##_add(V i, T *v) { pfx##_fetch_add_relaxed(i, v); }	\
static inline void pfx##_sub(V i, T *v) { pfx##_fetch_sub_relaxed(i, v); }	\
static inline void pfx##_or(V i, T *v) { pfx##_fetch_or_relaxed(i, v); }	\
static inline void pfx##_and(V i, T *v) { pfx##_fetch_and_relaxed(i, v); }	\
static inline void pfx##_andnot(V i, T *v) { pfx##_fetch_and_relaxed(~i, v); }	\
static inline V pfx##_fetch_andnot(V i, T *v) { return pfx##_fetch_and(~i, v); } \
static inline void pfx##_inc(T *v) { pfx##_fetch_add_relaxed(1, v); }		\
static inline void pfx##_dec(T *v) { pfx##_fetch_sub_relaxed(1, v); }		\
static inline bool pfx##_dec_and_test(T *v) { return !pfx##_dec_return(v); }	\
static inline bool pfx##_inc_and_test(T *v) { return !pfx##_inc_return(v); }	\
static inline bool pfx##_add_unless(T *v, V a, V u)				\
{										\
	V o = pfx##_read(v);							\
										\
	do {									\
		if (o == u)							\
			return false;						\
	} while (!pfx##_try_cmpxchg(v, &o, o + a));				\
	return true;								\
}										\
static inline bool pfx##_inc_not_zero(T *v) { return pfx##_add_unless(v, 1, 0); }

SIM_ATOMIC(atomic, atomic_t, int)
SIM_ATOMIC(atomic64, atomic64_t, s64)
SIM_ATOMIC(atomic_long, atomic_long_t, long)

#endif
