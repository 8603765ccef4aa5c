// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/cid_cache: An exiting task drops its id
// Since: 6.19
// In: kernel/sched/core.c sched_mm_cid_exit
// Hook: cid_cache_exit
// Lines: 2
//
// 7.3: called by do_exit() before exit_signals(), which marks the task as exiting;
// also at the begin of execve, but the hook there comes before it.

@@
identifier t;
@@
 sched_mm_cid_exit(struct task_struct *t)
 {
 	struct mm_struct *mm = t->mm;
+	if (cid_cache_exit(t))
+		return;
 	if (!mm || !t->mm_cid.active)
 		return;
 	...
 }
