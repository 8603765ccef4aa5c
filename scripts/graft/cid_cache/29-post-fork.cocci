// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/cid_cache: Count a new task
// In: kernel/sched/core.c sched_post_fork
// Hook: cid_cache_post_fork
// Lines: 1
// Anchor: end of function
//
// copy_process() cannot fail any more, and the task was not woken yet.

@@
identifier p;
@@
 sched_post_fork(struct task_struct *p)
 {
 	...
+	cid_cache_post_fork(p);
 }
