// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/cid_cache: A new mm needs no memory per CPU
// In: include/linux/mm_types.h mm_alloc_cid_noprof
// Hook: cid_cache_mm_alloc
// Lines: 2
//
// The CID cache allocates nothing before the first clone with CLONE_VM.

@@
identifier m;
expression ids;
@@
 mm_alloc_cid_noprof(struct mm_struct *m, ...)
 {
+	if (cid_cache_mm_alloc(m))
+		return 0;
 	ids = alloc_percpu_noprof(...);
 	...
 }
