// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/cid_cache: A copied task has no id
// In: kernel/sched/core.c init_sched_mm_cid
// Hook: cid_cache_task_init
// Lines: 1
//
// Called by __sched_fork() for each new task, before copy_mm(). The kernel's own
// part goes on: whether the CID cache is used may be decided later in the boot.

@@
identifier t;
@@
 init_sched_mm_cid(struct task_struct *t)
 {
 	struct mm_struct *mm = t->mm;
 	int mm_users = 0;
+	cid_cache_task_init(t);
 	if (mm) { ... }
 	...
 }
