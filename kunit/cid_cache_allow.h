/* SPDX-License-Identifier: GPL-2.0-only */
/* Changes of the allowed CPUs, for tests on any words. */
#ifndef _CID_CACHE_ALLOW_H
#define _CID_CACHE_ALLOW_H

#include <linux/irqflags.h>

#include "../cid_cache.h"

/* As the scheduler calls them: with interrupts off. */
static inline void allow_only(struct cid_mm *mm, const unsigned long *mask,
			      const unsigned long *possible, unsigned int nbits,
			      int cpu)
{
	unsigned long flags;

	local_irq_save(flags);
	cid_allow_only(mm, mask, possible, nbits, cpu);
	local_irq_restore(flags);
}

static inline bool allow(struct cid_env *env, int cpu, struct cid_mm *mm,
			 const unsigned long *mask,
			 const unsigned long *possible, unsigned int nbits)
{
	unsigned long flags;
	bool grows;

	local_irq_save(flags);
	grows = cid_allow(env, cpu, mm, mask, possible, nbits);
	local_irq_restore(flags);

	return grows;
}

#endif /* _CID_CACHE_ALLOW_H */
