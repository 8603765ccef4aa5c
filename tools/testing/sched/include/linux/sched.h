/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads. The CPU a thread runs on is a number it was given. */
#ifndef _LINUX_SCHED_H
#define _LINUX_SCHED_H

#include <linux/types.h>
#include <linux/cpumask.h>
#include <linux/spinlock.h>

#define TASK_COMM_LEN		16
#define TASK_RUNNING		0
#define TASK_INTERRUPTIBLE	1
#define TASK_UNINTERRUPTIBLE	2
#define MAX_SCHEDULE_TIMEOUT	LONG_MAX

struct task_struct {
	char		comm[TASK_COMM_LEN];
	int		pid;
	int		cpu;
	void		*sim_priv;
};

struct task_struct *sim_current(void);
void sim_set_cpu(int cpu);
int sim_cpu(void);
void sim_yield(void);

#define current			sim_current()
#define smp_processor_id()	((unsigned int)sim_cpu())
#define raw_smp_processor_id()	smp_processor_id()
#define get_cpu()		({ preempt_disable(); smp_processor_id(); })
#define put_cpu()		preempt_enable()
#define task_cpu(t)		((t)->cpu)
#define get_task_struct(t)	(t)
#define put_task_struct(t)	((void)(t))
#define set_current_state(s)	((void)(s))
#define __set_current_state(s)	((void)(s))
#define schedule()		sim_yield()
#define yield()			sim_yield()
#define cond_resched()		({ sim_yield(); 0; })
/* The calling thread only: its number changes. */
#define set_cpus_allowed_ptr(t, m)	({ (void)(t); sim_set_cpu(cpumask_first(m)); 0; })
#define need_resched()		(false)
#define signal_pending(t)	(0)
#define migrate_disable()	((void)0)
#define migrate_enable()	((void)0)

/* Real CPUs are few: a spinning thread lets others run. */
#define cpu_relax()		sim_yield()
#define cpu_relax_yield()	sim_yield()
#define smp_call_function_single(c, f, a, w)	({ (void)(c); (f)(a); 0; })

#endif
