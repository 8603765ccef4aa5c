// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/cid_cache: A new mm starts with its task's CPUs
// In: kernel/sched/core.c sched_mm_cid_fork
// Hook: cid_cache_fork
// Lines: 2
//
// Called at the end of copy_mm(). copy_process() can still fail after that, so the
// task is counted later, in sched_post_fork().

@@
identifier t;
@@
 sched_mm_cid_fork(struct task_struct *t)
 {
+	if (cid_cache_fork(t))
+		return;
 	WARN_ON_ONCE(...);
 	...
 }
