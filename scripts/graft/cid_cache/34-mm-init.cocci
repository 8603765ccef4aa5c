// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/cid_cache: An mm in execve is initialised already
// Before: 6.19
// In: include/linux/mm_types.h mm_init_cid
// Hook: cid_cache_mm_init
// Lines: 2
//
// The kernel's own allocator goes over its per-CPU ids here.

@@
identifier m;
iterator name for_each_possible_cpu;
@@
 mm_init_cid(struct mm_struct *m)
 {
 	int i;
+	if (cid_cache_mm_init(m))
+		return;
 	for_each_possible_cpu(i) { ... }
 	...
 }
