// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/swqueue: Open the load balancer's task migration
// After: kernel/sched/fair.c attach_tasks
// Hook: swqueue_access.h
// Lines: 2
//
// The queue moves a task by the load balancer's own steps and never by a copy
// of them. These are static functions of fair.c, so a small file with accessors
// is included behind the last one of them.
//
// 6.12: can_migrate_task(), detach_task(), attach_task(), attach_one_task() and
// attach_tasks() follow each other inside CONFIG_SMP, which the option needs.
// 7.3: attach_task() and attach_one_task() have become inlines of sched.h;
// can_migrate_task() and detach_task() still stand above attach_tasks().

@@
identifier env;
@@
 attach_tasks(struct lb_env *env)
 { ... }
+
+#include "swqueue_access.h"
