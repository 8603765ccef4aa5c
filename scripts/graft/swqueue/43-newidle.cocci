// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/swqueue: Pull from the queue before the new-idle balance
// In: kernel/sched/fair.c sched_balance_newidle
// Hook: swqueue_newidle
// Lines: 2
// Anchor: ^\s*rq_unpin_lock\(
//
// The CPU has nothing to run, is active, has no wakeup on its way, and its
// idle time has begun. The hook stands right behind rq_unpin_lock(), because a
// pull drops the rq lock, and before the domains are walked, which a pulled
// task saves. What it sets is the function's result: > 0 a fair task is there,
// < 0 a higher class has one. "out" does the accounting of idle time and pins
// the lock again. A hook that is a constant leaves no trace in the object code;
// one whose result went into pulled_task did, with PREEMPT_RT.
//
// 6.12: the code behind "out" compares no counts, so the hook itself finds out
// whether another class got a task while the lock was dropped.
// 7.3: the same, but through rq_modified_begin() before the lock is dropped and
// rq_modified_above() after it, as the load balancer does further down. The
// fair server may be the caller, too.

@exists@
identifier q, f;
symbol pulled_task, out;
@@
 sched_balance_newidle(struct rq *q, struct rq_flags *f)
 {
 	... when any
 	int pulled_task = 0;
 	... when any
 	rq_unpin_lock(q, f);
+	if (swqueue_newidle(q, &pulled_task))
+		goto out;
 	... when any
 out:
 	... when any
 	rq_repin_lock(q, f);
 	return pulled_task;
 }
