// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/cid_cache: Get the next task an id
// Before: 6.19
// In: kernel/sched/sched.h switch_mm_cid
// Hook: cid_cache_switch
// Lines: 2
//
// First thing in the function: the barriers it begins with order a store of
// rq->curr against the per-CPU id of the mm, and the CID cache has no such pair.
//
// 6.12: called by context_switch() behind the switch of the mm.

@@
identifier q, p, n;
@@
 switch_mm_cid(struct rq *q, struct task_struct *p, struct task_struct *n)
 {
+	if (cid_cache_switch(n))
+		return;
 	if (!n->mm) { ... } else { ... }
 	...
 }
