/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where kernel versions differ, for the glue of the shared wake queue.  The
 * structure needs nothing of this.
 */
#ifndef _KERNEL_SCHED_SWQUEUE_COMPAT_H
#define _KERNEL_SCHED_SWQUEUE_COMPAT_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#error "the shared wake queue needs Linux 6.12 or later"
#endif

/* Before 6.13 a constant table of sysctls cannot be registered. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define SWQUEUE_TABLE_CONST
#else
#define SWQUEUE_TABLE_CONST	const
#endif

/*
 * Proxy execution (6.17) tells the task that is executed from the one on whose
 * behalf; what waits is decided by the latter's class.  Under @rq's lock.
 */
static inline struct task_struct *swqueue_curr(struct rq *rq)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 14, 0)
	return rcu_dereference_protected(rq->donor, lockdep_is_held(__rq_lockp(rq)));
#else
	return rcu_dereference_protected(rq->curr, lockdep_is_held(__rq_lockp(rq)));
#endif
}

/*
 * The queue in whose virtual time a task waits.  7.3 has one for all tasks of a
 * runqueue, whatever their groups; the groups' own have stopped clocks there.
 */
static inline struct cfs_rq *swqueue_cfs_rq(struct task_struct *p)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 3, 0)
	return &task_rq(p)->cfs;
#else
	return cfs_rq_of(&p->se);
#endif
}

/* A number for the core of a CPU.  6.12 has no cpu_smt_mask() without SCHED_SMT. */
static inline int swqueue_core_of(int cpu)
{
#ifdef CONFIG_SCHED_SMT
	return cpumask_first(cpu_smt_mask(cpu));
#else
	return cpu;
#endif
}

/*
 * How many tasks of sched_ext a runqueue has.  That class is asked behind the fair
 * one, so a CPU may come to newidle with some.
 */
static inline unsigned int swqueue_ext_tasks(const struct rq *rq)
{
#ifdef CONFIG_SCHED_CLASS_EXT
	return READ_ONCE(rq->scx.nr_running);
#else
	return 0;
#endif
}

/*
 * A CPU in its idle loop has taken a task.  Before 7.3 only a wakeup ends the idle
 * time that newidle began, and enters it into the average; what runs until the next
 * one would count as idle.  So do here what ttwu_do_activate() does.  7.3 does it
 * when the idle task is switched out.  Interrupts off, takes @rq's lock.
 */
static inline void swqueue_idle_ends(struct rq *rq)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 3, 0)
	guard(rq_lock)(rq);
	update_rq_clock(rq);
	if (rq->idle_stamp) {
		update_avg(&rq->avg_idle, rq_clock(rq) - rq->idle_stamp);
		rq->avg_idle = min(rq->avg_idle, 2 * rq->max_idle_balance_cost);
		rq->idle_stamp = 0;
	}
#endif
}

/*
 * Queued, but only so that its mutex's owner runs on its behalf (proxy
 * execution): it has no work of its own that could be moved.
 */
static inline bool swqueue_blocked(struct task_struct *p)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 3, 0)
	return task_is_blocked(p);
#else
	return false;
#endif
}

#endif /* _KERNEL_SCHED_SWQUEUE_COMPAT_H */
