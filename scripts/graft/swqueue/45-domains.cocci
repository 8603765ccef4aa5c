// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/swqueue: Follow the scheduling domains
// In: kernel/sched/topology.c sched_init_domains
// In: kernel/sched/topology.c partition_sched_domains_locked
// Hook: swqueue_update_domains
// Lines: 1
// Anchor: end of function
//
// The queues follow the last-level caches of the CPUs that are in domains.
// sched_init_domains() builds them at boot, partition_sched_domains_locked()
// whenever a CPU goes on or off line or a cpuset partition changes. Both are
// called with sched_domains_mutex held, and the hook is the last thing on the
// only path through each.
//
// 6.12: cpuset.c calls partition_sched_domains_locked() as well.
// 7.3: it is static, and its last act is dl_rebuild_rd_accounting().

@@
@@
 sched_init_domains(...)
 {
 	...
+	swqueue_update_domains();
 	return ...;
 }

@@
@@
 partition_sched_domains_locked(...)
 {
 	...
+	swqueue_update_domains();
 }
