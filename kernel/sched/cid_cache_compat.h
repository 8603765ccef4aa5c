/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where kernel versions differ, for the glue of the CID cache.  The structure
 * needs nothing of this.
 */
#ifndef _KERNEL_SCHED_CID_CACHE_COMPAT_H
#define _KERNEL_SCHED_CID_CACHE_COMPAT_H

#include <linux/rseq.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#error "the CID cache needs Linux 6.12 or later"
#endif

/*
 * rseq and tracing read the field of the kernel's own allocator.  @t is being
 * switched in, or is current.
 *
 * Up to 6.18 rseq writes all of its fields to user space after each preemption.
 * Since 6.19 it looks first whether anything has changed.
 */
static __always_inline void cid_tell_task(struct task_struct *t)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
	t->mm_cid.cid = t->cid_cache.cid;
	rseq_sched_set_ids_changed(t);
#else
	t->mm_cid = t->cid_cache.cid;
#endif
}

/*
 * Behind execve: an id was given without a switch.  Since 6.19 execve itself
 * makes rseq write everything if it fails, and forgets the area if it does not.
 */
static inline void cid_tell_execve(struct task_struct *t)
{
	cid_tell_task(t);
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 19, 0)
	rseq_set_notify_resume(t);
#endif
}

#endif /* _KERNEL_SCHED_CID_CACHE_COMPAT_H */
