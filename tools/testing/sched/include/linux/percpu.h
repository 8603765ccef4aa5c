/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Per-CPU data. Static variables live in a section of their own that serves as
 * an offset space only; CPU n's copy is in a block allocated at start. Dynamic
 * ones are a plain array with a fixed stride.
 */
#ifndef _LINUX_PERCPU_H
#define _LINUX_PERCPU_H

#include <linux/types.h>
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/sched.h>

void *sim_per_cpu(const void *p, unsigned int cpu);
void *sim_alloc_percpu(size_t size, size_t align);
void free_percpu(void *p);

#define SIM_PERCPU		__attribute__((__section__("sim_percpu"), __used__))
#define DECLARE_PER_CPU(t, n)	extern typeof(t) n
#define DEFINE_PER_CPU(t, n)	SIM_PERCPU typeof(t) n
#define DECLARE_PER_CPU_ALIGNED(t, n)		extern typeof(t) n ____cacheline_aligned
#define DEFINE_PER_CPU_ALIGNED(t, n)		SIM_PERCPU typeof(t) n ____cacheline_aligned
#define DECLARE_PER_CPU_SHARED_ALIGNED(t, n)	DECLARE_PER_CPU_ALIGNED(t, n)
#define DEFINE_PER_CPU_SHARED_ALIGNED(t, n)	DEFINE_PER_CPU_ALIGNED(t, n)
#define DEFINE_PER_CPU_READ_MOSTLY(t, n)	DEFINE_PER_CPU(t, n)

#define per_cpu_ptr(p, cpu)	((typeof(p))sim_per_cpu((p), (cpu)))
#define per_cpu(v, cpu)		(*per_cpu_ptr(&(v), cpu))
#define this_cpu_ptr(p)		per_cpu_ptr(p, smp_processor_id())
#define raw_cpu_ptr(p)		per_cpu_ptr(p, raw_smp_processor_id())
#define alloc_percpu(t)		((t *)sim_alloc_percpu(sizeof(t), __alignof__(t)))
#define alloc_percpu_gfp(t, g)	alloc_percpu(t)
#define get_cpu_ptr(p)		({ preempt_disable(); this_cpu_ptr(p); })
#define put_cpu_ptr(p)		preempt_enable()

/* Two threads may stand for the same CPU one after the other: relaxed RMW. */
#define this_cpu_read(v)	READ_ONCE(*raw_cpu_ptr(&(v)))
#define this_cpu_write(v, x)	WRITE_ONCE(*raw_cpu_ptr(&(v)), (x))
#define this_cpu_add(v, x)	((void)__atomic_fetch_add(raw_cpu_ptr(&(v)), (x), __ATOMIC_RELAXED))
#define this_cpu_sub(v, x)	((void)__atomic_fetch_sub(raw_cpu_ptr(&(v)), (x), __ATOMIC_RELAXED))
#define this_cpu_inc(v)		this_cpu_add(v, 1)
#define this_cpu_dec(v)		this_cpu_sub(v, 1)
#define this_cpu_inc_return(v)	__atomic_add_fetch(raw_cpu_ptr(&(v)), 1, __ATOMIC_RELAXED)
#define this_cpu_xchg(v, x)	__atomic_exchange_n(raw_cpu_ptr(&(v)), (x), __ATOMIC_RELAXED)
#define __this_cpu_read(v)	this_cpu_read(v)
#define __this_cpu_write(v, x)	this_cpu_write(v, x)
#define __this_cpu_add(v, x)	this_cpu_add(v, x)
#define __this_cpu_inc(v)	this_cpu_inc(v)
#define __this_cpu_dec(v)	this_cpu_dec(v)
#define raw_cpu_read(v)		this_cpu_read(v)
#define raw_cpu_write(v, x)	this_cpu_write(v, x)
#define raw_cpu_add(v, x)	this_cpu_add(v, x)
#define raw_cpu_inc(v)		this_cpu_inc(v)

#endif
