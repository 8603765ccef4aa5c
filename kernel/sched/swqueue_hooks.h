/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared wake queue: what the scheduler calls.
 *
 * Each hook decides inline, by a static key and by words of the runqueue that
 * the caller has just written, that there is nothing to do, and calls out of
 * line only if there is.  Without CONFIG_SCHED_SWQUEUE every hook is empty.
 */
#ifndef _KERNEL_SCHED_SWQUEUE_HOOKS_H
#define _KERNEL_SCHED_SWQUEUE_HOOKS_H

#ifdef CONFIG_SCHED_SWQUEUE

#include <linux/jump_label.h>
#include <linux/percpu-defs.h>

#include "swqueue.h"
#include "swqueue_compat.h"

DECLARE_PER_CPU_SHARED_ALIGNED(struct swq_cpu, swqueue_cpus);
/* publish=wakeup: link at every wakeup, unlink at every pick. */
DECLARE_STATIC_KEY_FALSE(swqueue_link_all);
/* The idle side is in use. */
DECLARE_STATIC_KEY_FALSE(swqueue_kicks);
/* One of the two: a switch has more to do than usual. */
DECLARE_STATIC_KEY_FALSE(swqueue_extra);

void __swqueue_enqueued(struct rq *rq, struct task_struct *p);
void __swqueue_switch(struct rq *rq, struct task_struct *prev);
void __swqueue_switch_extra(struct rq *rq, struct task_struct *prev);
void __swqueue_tick(struct rq *rq);
int __swqueue_newidle(struct rq *this_rq, struct rq_flags *rf);
void __swqueue_idle(int cpu);
void swqueue_update_domains(void);

/* In fair.c, swqueue_access.h: the migration filter and what goes with it. */
enum swq_visit swqueue_detach_task(struct rq *src, struct rq *dst,
				   struct task_struct **taken);
void swqueue_attach_task(struct rq *dst, struct task_struct *p);

/**
 * swqueue_surplus() - has a runqueue more than it can run?
 * @rq: runqueue
 *
 * At least two runnable tasks, and one of them a fair one that waits.  Tasks
 * that are queued only until their lag is gone (sched_delayed) and those of
 * throttled groups are not runnable.  With a single fair task that one waits
 * if another class has a task beside it: fair comes last but for idle.
 *
 * Context: any.  Without @rq's lock the answer may be wrong by the time it is
 * given; the protocol says who looks again.
 * Return: true if it has surplus.
 */
static inline bool swqueue_surplus(const struct rq *rq)
{
	unsigned int fair = READ_ONCE(rq->cfs.h_nr_runnable);

	if (likely(fair != 1))
		return fair > 1;

	return READ_ONCE(rq->nr_running) > READ_ONCE(rq->cfs.h_nr_queued);
}

/*
 * The same in one comparison: fair tasks that can run, and tasks of other
 * classes.  Only under @rq's lock, where the three counts fit together.  Most of
 * the time they say that there is none.
 */
static __always_inline bool swqueue_surplus_locked(const struct rq *rq)
{
	unsigned int fair = rq->cfs.h_nr_runnable;

	return unlikely(fair + rq->nr_running - rq->cfs.h_nr_queued > 1) && fair;
}

/*
 * A sync wakeup onto the waker's own CPU, 1 -> 2 (O2): the waker says that it is
 * about to sleep, and this CPU will run the task then.  What a pair of tasks that
 * share a CPU does all the time, so it is decided inline, by as little as will
 * do.  Whatever else is on this runqueue, its next switch or tick resolves it:
 * that is also what a wakeup from an interrupt waits for, whose current task
 * has nothing to do with it.  A softirq of the loopback device, where current
 * is the waker, looks no different.
 */
static __always_inline bool swqueue_defer(struct rq *rq, int wake_flags)
{
	if (rq->cfs.h_nr_runnable != 2 || !(wake_flags & WF_SYNC) ||
	    cpu_of(rq) != smp_processor_id() ||
	    static_branch_unlikely(&swqueue_link_all))
		return false;
	/* One is due already: then this one must not wait. */
	if (this_cpu_read(swqueue_cpus.deferred))
		return false;

	this_cpu_write(swqueue_cpus.deferred, true);
	this_cpu_inc(swqueue_cpus.stat[SWQ_STAT_DEFERRED]);
	return true;
}

/**
 * swqueue_enqueued() - a task was enqueued
 * @rq: its runqueue
 * @p: the task
 * @wake_flags: WF_*
 *
 * Called by wakeup_preempt(), which follows every enqueue that can make a task
 * wait: wakeup, fork, migration, change of affinity or class.  At its begin, so
 * that the compiler need not keep the arguments.
 *
 * Context: @rq's lock held, interrupts off.
 */
static __always_inline void swqueue_enqueued(struct rq *rq,
					     struct task_struct *p,
					     int wake_flags)
{
	if (!sched_feat(SWQUEUE))
		return;

	/* Counts by itself: it is what happens most. */
	if (swqueue_defer(rq, wake_flags))
		return;
	this_cpu_inc(swqueue_cpus.stat[SWQ_STAT_ENQUEUED]);
	if (!swqueue_surplus_locked(rq) &&
	    !static_branch_unlikely(&swqueue_link_all))
		return;

	__swqueue_enqueued(rq, p);
}

/* Was switched out although it could go on running: it waits now. */
static inline bool swqueue_put_back(struct task_struct *prev)
{
	return prev->sched_class == &fair_sched_class &&
	       task_on_rq_queued(prev) && !prev->se.sched_delayed &&
	       !swqueue_blocked(prev);
}

/**
 * swqueue_switch() - a CPU is about to run another task
 * @rq: its runqueue
 * @prev: the task that it ran
 *
 * Called from __schedule() for every real switch, whatever the classes: a
 * real-time task that takes the CPU from a fair one leaves that one waiting.
 *
 * Context: @rq's lock held since before the pick, interrupts off.
 */
static __always_inline void swqueue_switch(struct rq *rq,
					   struct task_struct *prev)
{
	if (static_branch_unlikely(&swqueue_extra)) {
		__swqueue_switch_extra(rq, prev);
		return;
	}
	if (!sched_feat(SWQUEUE))
		return;
	if (!this_cpu_read(swqueue_cpus.deferred) && !swqueue_put_back(prev))
		return;

	/*
	 * Without the idle side there is nothing to do for a token that is
	 * linked.  The counts were raised before __schedule() took the lock
	 * and had its full barrier, or by an attach of newidle, which has
	 * published by itself: a discard that we do not see here has seen them.
	 */
	if (!swqueue_surplus_locked(rq)) {
		this_cpu_write(swqueue_cpus.deferred, false);
	} else if (this_cpu_read(swqueue_cpus.token.state) == SWQ_LINKED) {
		this_cpu_write(swqueue_cpus.deferred, false);
		this_cpu_inc(swqueue_cpus.seq);
		this_cpu_write(swqueue_cpus.surplus_at, (u32)jiffies);
		this_cpu_inc(swqueue_cpus.stat[SWQ_STAT_SKIPPED_LINKED]);
	} else {
		__swqueue_switch(rq, prev);
	}
}

/**
 * swqueue_tick() - a tick
 * @rq: this CPU's runqueue
 *
 * Context: @rq's lock held, interrupts off.
 */
static __always_inline void swqueue_tick(struct rq *rq)
{
	if (sched_feat(SWQUEUE) && swqueue_surplus(rq))
		__swqueue_tick(rq);
}

/**
 * swqueue_newidle() - this CPU has nothing left to run
 * @this_rq: its runqueue
 * @rf: the pin of its lock
 * @pulled: set if there is something to run now, as sched_balance_newidle()
 *	returns it: above 0 for fair tasks, below 0 for tasks of another class
 *
 * Called from sched_balance_newidle(), which returns what was pulled, or goes on
 * as ever if nothing came of it.
 *
 * Context: @this_rq's lock held and pinned.  It may be dropped and retaken, then
 * it is pinned again.
 * Return: true if there is something to run now.
 */
static __always_inline bool swqueue_newidle(struct rq *this_rq,
					    struct rq_flags *rf, int *pulled)
{
	if (!sched_feat(SWQUEUE))
		return false;

	*pulled = __swqueue_newidle(this_rq, rf);
	return *pulled;
}

/**
 * swqueue_idle() - the idle loop is about to stop this CPU
 * @cpu: this CPU
 *
 * Called with interrupts off, so that a kick that comes after the last look
 * ends the sleep that it precedes.
 */
static __always_inline void swqueue_idle(int cpu)
{
	if (static_branch_unlikely(&swqueue_kicks) && sched_feat(SWQUEUE))
		__swqueue_idle(cpu);
}

#else /* !CONFIG_SCHED_SWQUEUE */

static inline void swqueue_enqueued(struct rq *rq, struct task_struct *p,
				    int wake_flags) { }
/* No function: even an empty one changes the order of a compare in __schedule(). */
#define swqueue_switch(rq, prev)					\
	do { (void)(rq); (void)(prev); } while (0)
static inline void swqueue_tick(struct rq *rq) { }
static inline bool swqueue_newidle(struct rq *this_rq, struct rq_flags *rf,
				   int *pulled) { return false; }
static inline void swqueue_idle(int cpu) { }
static inline void swqueue_update_domains(void) { }

#endif /* CONFIG_SCHED_SWQUEUE */

#endif /* _KERNEL_SCHED_SWQUEUE_HOOKS_H */
