// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/cid_cache: Follow the affinity
// In: kernel/sched/core.c set_cpus_allowed_common
// Hook: cid_cache_allow
// Lines: 1
//
// All classes change the mask here, with the rq lock held, or the pi_lock of a task
// that sleeps, and the two changes of migrate_disable() that do not touch it have
// returned before.

@@
identifier p, c;
@@
 set_cpus_allowed_common(struct task_struct *p, struct affinity_context *c)
 {
 	...
 	p->nr_cpus_allowed = cpumask_weight(...);
+	cid_cache_allow(p);
 	...
 }
