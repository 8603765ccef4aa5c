// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/cid_cache: An exiting task drops its id
// Before: 6.19
// In: kernel/sched/core.c sched_mm_cid_exit_signals
// Hook: cid_cache_exit
// Lines: 2
//
// Both call sites in exit_signals() stand before the task is marked as exiting.

@@
identifier t;
@@
 sched_mm_cid_exit_signals(struct task_struct *t)
 {
 	struct mm_struct *mm = t->mm;
 	struct rq *rq;
+	if (cid_cache_exit(t))
+		return;
 	if (!mm)
 		return;
 	...
 }
