// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/swqueue: Look at a runqueue on the scheduler tick
// In: kernel/sched/core.c sched_tick
// Hook: swqueue_tick
// Lines: 1
// Anchor: ->task_tick\(
//
// The tick makes good what an event missed, with the rq lock held and after the
// class has done its own tick, which may have asked for a reschedule.
//
// 6.12: the tick goes to rq->curr.
// 7.3: the tick goes to rq->donor.

@@
identifier r, f, t;
@@
 sched_tick(...)
 {
 	... when any
 	rq_lock(r, &f);
 	... when any
	    when != rq_unlock(r, &f)
 	t->sched_class->task_tick(r, t, 0);
+	swqueue_tick(r);
 	... when any
 	rq_unlock(r, &f);
 	... when any
 }
