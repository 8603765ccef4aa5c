/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LINUX_KTHREAD_H
#define _LINUX_KTHREAD_H

#include <linux/errno.h>
#include <linux/sched.h>

/*
 * A thread is created stopped and starts at wake_up_process(); kthread_stop()
 * joins it, started or not, finished or not, and frees it.
 */
__printf(4, 5) struct task_struct *
sim_kthread_create(int (*fn)(void *data), void *data, int cpu, const char *fmt, ...);
int wake_up_process(struct task_struct *t);
int kthread_stop(struct task_struct *t);
bool kthread_should_stop(void);
void kthread_bind(struct task_struct *t, unsigned int cpu);

#define kthread_create(fn, data, fmt, ...)	\
	sim_kthread_create(fn, data, -1, fmt, ##__VA_ARGS__)
#define kthread_create_on_node(fn, data, node, fmt, ...)	\
	sim_kthread_create(fn, data, -1, fmt, ##__VA_ARGS__)
/* As in the kernel the name format may take the CPU number. */
#define kthread_create_on_cpu(fn, data, cpu, fmt)	\
	sim_kthread_create(fn, data, cpu, fmt, (unsigned int)(cpu))
#define kthread_run(fn, data, fmt, ...)					\
({									\
	struct task_struct *sim_t = kthread_create(fn, data, fmt, ##__VA_ARGS__); \
									\
	if (!IS_ERR(sim_t))						\
		wake_up_process(sim_t);					\
	sim_t;								\
})
#define kthread_run_on_cpu(fn, data, cpu, fmt)				\
({									\
	struct task_struct *sim_t = kthread_create_on_cpu(fn, data, cpu, fmt); \
									\
	if (!IS_ERR(sim_t))						\
		wake_up_process(sim_t);					\
	sim_t;								\
})
#define kthread_stop_put(t)	kthread_stop(t)

#endif
