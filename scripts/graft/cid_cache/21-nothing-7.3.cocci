// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/cid_cache: No modes, no list of users
// Since: 6.19
// In: kernel/sched/core.c sched_mm_cid_fork
// Hook: cid_cache_enabled
// Lines: 2
//
// What a fork needs is done in copy_mm() and at the end of sched_post_fork(). The
// kernel's own count of users stays 0, by which a change of affinity sees that
// there is nothing to do for it.

@@
identifier t;
@@
 sched_mm_cid_fork(struct task_struct *t)
 {
 	struct mm_struct *mm = t->mm;
 	bool percpu;
+	if (cid_cache_enabled())
+		return;
 	if (!mm)
 		return;
 	...
 }
