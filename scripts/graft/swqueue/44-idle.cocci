// SPDX-License-Identifier: GPL-2.0-only
//
// Subject: sched/swqueue: Announce a CPU that is about to sleep
// In: kernel/sched/idle.c do_idle
// Hook: swqueue_idle
// Lines: 1
// Anchor: ^\s*arch_cpu_idle_enter\(
//
// In the idle loop, after need_resched() was found clear and interrupts were
// disabled, before anything that puts the CPU to sleep. A kick that comes
// later finds need_resched() or the polling bit, as any wakeup does.
//
// 6.12: a CPU that goes offline leaves between local_irq_disable() and the
// hook, so it is never announced.
// 7.3: such a CPU leaves at the start of the function.

@exists@
identifier c;
@@
 do_idle(void)
 {
 	... when any
 	int c = smp_processor_id();
 	... when any
 	local_irq_disable();
 	... when any
 	    when != local_irq_enable()
+	swqueue_idle(c);
 	arch_cpu_idle_enter();
 	... when any
 }
