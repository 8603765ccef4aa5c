/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared wake queue: between the glue and the knobs.
 */
#ifndef _KERNEL_SCHED_SWQUEUE_DEBUG_H
#define _KERNEL_SCHED_SWQUEUE_DEBUG_H

#include <linux/list.h>
#include <linux/mutex.h>

extern struct mutex swqueue_mutex;
extern struct list_head swqueue_layouts;
extern unsigned int swqueue_shards;

int swqueue_set_shards(unsigned int shards);
void swqueue_set_link_all(bool on);
void swqueue_set_kick(bool on);

#endif /* _KERNEL_SCHED_SWQUEUE_DEBUG_H */
