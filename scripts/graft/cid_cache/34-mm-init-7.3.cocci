// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/cid_cache: An mm in execve is initialised already
// Since: 6.19
// In: kernel/sched/core.c mm_init_cid
// Hook: cid_cache_mm_init
// Lines: 2
//
// 7.3: the kernel's own allocator sets up its lists, works and locks here.

@@
identifier m, p;
@@
 mm_init_cid(struct mm_struct *m, struct task_struct *p)
 {
+	if (cid_cache_mm_init(m))
+		return;
 	m->mm_cid.max_cids = 0;
 	...
 }
