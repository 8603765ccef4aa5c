// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/cid_cache: Free the owner words with the mm
// In: include/linux/mm_types.h mm_destroy_cid
// Hook: cid_cache_mm_destroy
// Lines: 1
//
// Called by __mmdrop() and by mm_init() when that fails.

@@
identifier m;
@@
 mm_destroy_cid(struct mm_struct *m)
 {
+	cid_cache_mm_destroy(m);
 	free_percpu(...);
 	...
 }
