// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/cid_cache: Change the mm in execve
// In: fs/exec.c exec_mmap
// Hook: cid_cache_exec_mmap
// Lines: 1
//
// Interrupts off, the task has the new mm, and the old one is still held.

@@
identifier m, o;
@@
 exec_mmap(...)
 {
 	...
 	o = current->mm;
 	... when any
+	cid_cache_exec_mmap(o, m);
 	mm_init_cid(m, ...);
 	...
 }
