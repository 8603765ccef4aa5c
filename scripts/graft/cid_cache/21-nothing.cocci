// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/cid_cache: Nothing to do on migration and at the tick
// Before: 6.19
// In: kernel/sched/core.c sched_mm_cid_migrate_from
// In: kernel/sched/core.c sched_mm_cid_migrate_to
// In: kernel/sched/core.c task_tick_mm_cid
// In: kernel/sched/core.c sched_mm_cid_fork
// Hook: cid_cache_enabled
// Lines: 2
//
// An id stays where it is, and is taken or not when a task is switched in. There
// is no scan that the tick would have to start. What a fork needs is done in
// copy_mm() and sched_post_fork().

@@
identifier t;
@@
 sched_mm_cid_migrate_from(struct task_struct *t)
 {
+	if (cid_cache_enabled())
+		return;
 	t->migrate_from_cpu = task_cpu(t);
 }

@@
identifier r, t;
@@
 sched_mm_cid_migrate_to(struct rq *r, struct task_struct *t)
 {
 	...
+	if (cid_cache_enabled())
+		return;
 	lockdep_assert_rq_held(r);
 	...
 }

@@
identifier r, c;
expression a, b;
@@
 task_tick_mm_cid(struct rq *r, struct task_struct *c)
 {
 	...
+	if (cid_cache_enabled())
+		return;
 	if (!c->mm || a || b)
 		return;
 	...
 }

@@
identifier t;
@@
 sched_mm_cid_fork(struct task_struct *t)
 {
+	if (cid_cache_enabled())
+		return;
 	WARN_ON_ONCE(...);
 	...
 }
