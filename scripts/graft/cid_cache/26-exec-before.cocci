// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/cid_cache: A task in execve drops its id
// Before: 6.19
// In: kernel/sched/core.c sched_mm_cid_before_execve
// Hook: cid_cache_exec_before
// Lines: 2
//
// It stays counted in its mm until exec_mmap(): an execve can fail.

@@
identifier t;
@@
 sched_mm_cid_before_execve(struct task_struct *t)
 {
 	struct mm_struct *mm = t->mm;
 	struct rq *rq;
+	if (cid_cache_exec_before(t))
+		return;
 	if (!mm)
 		return;
 	...
 }
