// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/cid_cache: Get the next task an id
// Since: 6.19
// In: kernel/sched/sched.h mm_cid_switch_to
// Hook: cid_cache_switch
// Lines: 2
//
// 7.3: called by context_switch() behind the switch of the mm, and before rseq
// looks at what has changed.

@@
identifier p, n;
@@
 mm_cid_switch_to(struct task_struct *p, struct task_struct *n)
 {
+	if (cid_cache_switch(n))
+		return;
 	mm_cid_schedout(p);
 	mm_cid_schedin(n);
 }
