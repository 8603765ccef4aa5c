// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/swqueue: Look at a runqueue when it gains a task
// In: kernel/sched/core.c wakeup_preempt
// Hook: swqueue_enqueued
// Lines: 1
//
// What adds a task to a runqueue calls wakeup_preempt() with that runqueue
// locked: wakeups, new tasks, the load balancer's attach, migration, a change of
// class. The hook is the first statement: whether the current task is preempted
// does not matter to it, and its arguments need not be kept over that decision.
//
// 6.12: the class of rq->curr decides.
// 7.3: rq->next_class decides; sched_move_task() and sched_ext's local
// dispatch have become callers too. The hook filters by class itself.

@@
identifier r, t, f;
statement S, T;
@@
 wakeup_preempt(struct rq *r, struct task_struct *t, int f)
 {
 	...
+	swqueue_enqueued(r, t, f);
 	if (t->sched_class == ...) S else T
 	...
 }
