// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/cid_cache: Make an mm ready for a second task
// In: kernel/fork.c copy_mm
// Hook: cid_cache_prepare
// Lines: 2
//
// The one place that may sleep and fail. Before the reference is taken, so that
// nothing has to be given back. One error for both causes: too little memory, or no
// generation left.

@@
type T;
identifier f, t, o;
@@
 copy_mm(T f, struct task_struct *t)
 {
 	...
 	if (f & CLONE_VM) {
+		if (cid_cache_prepare(t, o))
+			return -ENOMEM;
 		mmget(o);
 		...
 	} else { ... }
 	...
 }
