/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LINUX_COMPILER_H
#define _LINUX_COMPILER_H

#include <stddef.h>
#include <linux/kconfig.h>

#ifndef __has_feature
#define __has_feature(x)	0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define SIM_TSAN		1
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define SIM_ASAN		1
#endif

#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define barrier()		__asm__ __volatile__("" : : : "memory")
#define unreachable()		__builtin_unreachable()

/* These two are also the C library's. */
#undef __always_inline
#undef __attribute_const__
#ifdef SIM_COVERAGE			/* one copy of each branch, not one for each caller */
#define __always_inline		inline
#else
#define __always_inline		inline __attribute__((__always_inline__))
#endif
#define noinline		__attribute__((__noinline__))
#define __maybe_unused		__attribute__((__unused__))
#define __always_unused		__attribute__((__unused__))
#define __must_check		__attribute__((__warn_unused_result__))
#define __packed		__attribute__((__packed__))
#define __aligned(x)		__attribute__((__aligned__(x)))
#define __printf(a, b)		__attribute__((__format__(__printf__, a, b)))
#define __weak			__attribute__((__weak__))
#define __used			__attribute__((__used__))
#define __cold			__attribute__((__cold__))
#define __pure			__attribute__((__pure__))
#define __noreturn		__attribute__((__noreturn__))
#define __cleanup(fn)		__attribute__((__cleanup__(fn)))
#define __attribute_const__	__attribute__((__const__))
#define fallthrough		__attribute__((__fallthrough__))
#define __malloc		__attribute__((__malloc__))
#define __section(s)		__attribute__((__section__(s)))
#define __counted_by(m)
#define __nonstring
#define notrace
#define asmlinkage
#define noinstr
#define __read_mostly
#define __ro_after_init
#define __initdata
#define __initconst
#define __init
#define __exit
#define __user
#define __iomem
#define __rcu
#define __percpu
#define __force
#define __bitwise
#define __private
#define __kernel
#define __acquires(x)
#define __releases(x)
#define __must_hold(x)
#define __acquire(x)		((void)0)
#define __release(x)		((void)0)
#define __cond_acquires(x, ...)
#define __cond_lock(x, c)	(c)
#define __guarded_by(x)
#define __pt_guarded_by(x)
#define __no_context_analysis
#define __no_sanitize_thread	__attribute__((__no_sanitize__("thread")))

#define __same_type(a, b)	__builtin_types_compatible_p(typeof(a), typeof(b))
#define __stringify_1(x...)	#x
#define __stringify(x...)	__stringify_1(x)
#define sim_cat_(a, b)		a##b
#define sim_cat(a, b)		sim_cat_(a, b)
#define __PASTE(a, b)		sim_cat(a, b)
#define __UNIQUE_ID(p)		sim_cat(sim_cat(__uid_, p), __COUNTER__)
#define OPTIMIZER_HIDE_VAR(v)	__asm__("" : "=r" (v) : "0" (v))

/*
 * Marked accesses are relaxed atomics: to the compiler about what a volatile
 * access is, and to TSan a promise that the race is intended. A plain access to
 * a shared word stays plain and is reported.
 */
#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), (v), __ATOMIC_RELAXED)

/* Intended plain races are rare; under TSan make them visible as marked. */
#ifdef SIM_TSAN
#define data_race(expr)		({ AnnotateIgnoreReadsBegin(__FILE__, __LINE__); \
				   AnnotateIgnoreWritesBegin(__FILE__, __LINE__); \
				   __auto_type sim_dr = (expr); \
				   AnnotateIgnoreWritesEnd(__FILE__, __LINE__); \
				   AnnotateIgnoreReadsEnd(__FILE__, __LINE__); \
				   sim_dr; })
void AnnotateIgnoreReadsBegin(const char *f, int l);
void AnnotateIgnoreReadsEnd(const char *f, int l);
void AnnotateIgnoreWritesBegin(const char *f, int l);
void AnnotateIgnoreWritesEnd(const char *f, int l);
#else
#define data_race(expr)		(expr)
#endif

/* KCSAN's assertions have no counterpart in TSan. */
#define ASSERT_EXCLUSIVE_WRITER(x)	((void)0)
#define ASSERT_EXCLUSIVE_ACCESS(x)	((void)0)
#define ASSERT_EXCLUSIVE_WRITER_SCOPED(x) ((void)0)

#include <asm/barrier.h>

#endif
