/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory as from kmalloc(): aligned to the largest power of two that divides
 * the size, counted per test (a test that leaks fails), refused on request
 * (sim_fail_alloc()), and reported if it may sleep where it must not.
 */
#ifndef _LINUX_SLAB_H
#define _LINUX_SLAB_H

#include <linux/types.h>
#include <linux/kernel.h>
#include <linux/cleanup.h>

#define __GFP_ZERO		0x01u
#define __GFP_DIRECT_RECLAIM	0x02u
#define __GFP_NOWARN		0x04u
#define __GFP_NORETRY		0x08u
#define __GFP_NOFAIL		0x10u
#define __GFP_ACCOUNT		0x20u
#define __GFP_THISNODE		0x40u
#define __GFP_RETRY_MAYFAIL	0x80u
#define GFP_KERNEL		__GFP_DIRECT_RECLAIM
#define GFP_KERNEL_ACCOUNT	(GFP_KERNEL | __GFP_ACCOUNT)
#define GFP_ATOMIC		0x100u
#define GFP_NOWAIT		0x200u

void *sim_alloc(size_t size, gfp_t gfp);
void *sim_realloc(const void *p, size_t size, gfp_t gfp);
void kfree(const void *p);

#define kmalloc(s, g)			sim_alloc((s), (g))
#define kzalloc(s, g)			sim_alloc((s), (g) | __GFP_ZERO)
#define kmalloc_array(n, s, g)		sim_alloc(size_mul(n, s), (g))
#define kcalloc(n, s, g)		sim_alloc(size_mul(n, s), (g) | __GFP_ZERO)
#define kmalloc_node(s, g, node)	((void)(node), kmalloc(s, g))
#define kzalloc_node(s, g, node)	((void)(node), kzalloc(s, g))
#define kcalloc_node(n, s, g, node)	((void)(node), kcalloc(n, s, g))
#define kmalloc_array_node(n, s, g, node) ((void)(node), kmalloc_array(n, s, g))
#define kvmalloc(s, g)			kmalloc(s, g)
#define kvzalloc(s, g)			kzalloc(s, g)
#define kvmalloc_array(n, s, g)		kmalloc_array(n, s, g)
#define kvcalloc(n, s, g)		kcalloc(n, s, g)
#define kvmalloc_node(s, g, node)	kmalloc_node(s, g, node)
#define kvzalloc_node(s, g, node)	kzalloc_node(s, g, node)
#define krealloc(p, s, g)		sim_realloc((p), (s), (g))
#define kvfree(p)			kfree(p)
#define kfree_sensitive(p)		kfree(p)

DEFINE_FREE(kfree, void *, if (_T) kfree(_T))
DEFINE_FREE(kvfree, void *, if (_T) kvfree(_T))

#endif
