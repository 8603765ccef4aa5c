// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/swqueue: Look at a runqueue when it switches tasks
// In: kernel/sched/core.c __schedule
// Hook: swqueue_switch
// Lines: 1
// Anchor: ^\s*trace_sched_switch\(
//
// Which tasks wait is decided when the next one has been picked. The hook
// stands in the branch for prev != next, rq lock held, after the last thing
// that needs prev as the running task and before context_switch() drops the
// lock. Both statements are demanded next to each other.
//
// 6.12: as described.
// 7.3: the branch tests is_switch. With proxy execution next may be a lock owner
// that runs on behalf of rq->donor; the hook sees the task that will execute.

@@
identifier r, p, n, f;
@@
 __schedule(...)
 {
 	<...
 	trace_sched_switch(...);
+	swqueue_switch(r, p);
 	r = context_switch(r, p, n, &f);
 	...>
 }
