// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/cid_cache: A task gets an id after execve
// Before: 6.19
// In: kernel/sched/core.c sched_mm_cid_after_execve
// Hook: cid_cache_exec_after
// Lines: 2
//
// Whether it was successful or not.

@@
identifier t;
@@
 sched_mm_cid_after_execve(struct task_struct *t)
 {
 	struct mm_struct *mm = t->mm;
 	struct rq *rq;
+	if (cid_cache_exec_after(t))
+		return;
 	if (!mm)
 		return;
 	...
 }
