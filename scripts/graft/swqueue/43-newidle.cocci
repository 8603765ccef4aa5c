// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/swqueue: Pull from the queue before the new-idle balance
// In: kernel/sched/fair.c sched_balance_newidle
// Hook: swqueue_newidle
// Lines: 2
//
// The CPU has nothing of the fair class to run, is active, has no wakeup on its way, and its
// idle time has begun. The hook stands before the domains are walked, which a
// pulled task saves. What it sets is the function's result: > 0 a fair task is
// there, < 0 another class has one. Of what "out" would do it does itself what
// matters: the lock is pinned again, and the idle time has ended. The next balance is
// not brought forward as for a CPU that goes idle, as this one has work. A way to
// "out" through a condition that is never true would change the order of branches
// with PREEMPT_RT.
//
// 6.12: the code behind "out" compares no counts, so the hook itself finds out
// whether another class got a task while the lock was dropped.
// 7.3: the load balancer finds that out by rq_modified_begin() and
// rq_modified_above(); the hook by the counts as well, for it does nothing if a
// higher class has a task when it begins. The fair server may be the caller, too.

@exists@
identifier q, f;
symbol pulled_task;
@@
 sched_balance_newidle(struct rq *q, struct rq_flags *f)
 {
 	... when any
 	int pulled_task = 0;
 	... when any
 	if (!cpu_active(...))
 		return 0;
+	if (swqueue_newidle(q, f, &pulled_task))
+		return pulled_task;
 	... when any
 	rq_unpin_lock(q, f);
 	... when any
 }
