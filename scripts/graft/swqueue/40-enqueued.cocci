// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/swqueue: Look at a runqueue when it gains a task
// In: kernel/sched/core.c wakeup_preempt
// Hook: swqueue_enqueued
// Lines: 1
// Anchor: end of function
//
// What adds a task to a runqueue calls wakeup_preempt() with that runqueue
// locked: wakeups, new tasks, the load balancer's attach, migration, a change of
// class. The hook is the last statement, behind the decision whether the
// current task is preempted.
//
// 6.12: the class of rq->curr decides.
// 7.3: rq->next_class decides; sched_move_task() and sched_ext's local
// dispatch have become callers too. The hook filters by class itself.

@@
identifier r, t, f;
@@
 wakeup_preempt(struct rq *r, struct task_struct *t, int f)
 {
 	...
+	swqueue_enqueued(r, t, f);
 }
