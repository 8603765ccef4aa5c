/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CID cache: what fork, exec and the life of an mm call.
 *
 * Functions that return bool say whether the CID cache is in use, that is,
 * whether the caller, one of the functions it stands in for, has to go on.
 */
#ifndef _LINUX_CID_CACHE_H
#define _LINUX_CID_CACHE_H

#include <linux/types.h>
#include <linux/cid_cache_types.h>

struct mm_struct;
struct task_struct;

#ifdef CONFIG_SCHED_CID_CACHE

bool cid_cache_mm_alloc(struct mm_struct *mm);
bool cid_cache_mm_init(struct mm_struct *mm);
void cid_cache_mm_destroy(struct mm_struct *mm);
unsigned int cid_cache_mm_size(void);
int cid_cache_prepare(struct task_struct *child, struct mm_struct *mm);
void cid_cache_fork(struct task_struct *t);
void cid_cache_post_fork(struct task_struct *child);
void cid_cache_exec_mmap(struct mm_struct *old, struct mm_struct *mm);

#else

static inline bool cid_cache_mm_alloc(struct mm_struct *mm) { return false; }
static inline bool cid_cache_mm_init(struct mm_struct *mm) { return false; }
static inline void cid_cache_mm_destroy(struct mm_struct *mm) { }
static inline unsigned int cid_cache_mm_size(void) { return 0; }
static inline int cid_cache_prepare(struct task_struct *child,
				    struct mm_struct *mm) { return 0; }
static inline void cid_cache_fork(struct task_struct *t) { }
static inline void cid_cache_post_fork(struct task_struct *child) { }
static inline void cid_cache_exec_mmap(struct mm_struct *old,
				       struct mm_struct *mm) { }

#endif

#endif /* _LINUX_CID_CACHE_H */
