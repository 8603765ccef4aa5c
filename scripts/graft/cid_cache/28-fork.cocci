// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/cid_cache: A new task has no id, a new mm its CPUs
// In: kernel/fork.c copy_mm
// Hook: cid_cache_fork
// Lines: 1
//
// Where the task gets an mm of its own or a share of its parent's, and before
// others can see it and change its affinity. Children of kernel threads do not come
// here; they are copies of tasks that take no part. copy_process() can still fail
// after that, so the task is counted later, in sched_post_fork().

@@
identifier t;
identifier m != NULL;
@@
 copy_mm(..., struct task_struct *t)
 {
 	... when any
 	t->mm = m;
 	t->active_mm = m;
+	cid_cache_fork(t);
 	...
 }
