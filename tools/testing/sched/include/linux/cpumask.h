/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LINUX_CPUMASK_H
#define _LINUX_CPUMASK_H

#include <linux/types.h>
#include <linux/bitmap.h>
#include <linux/cache.h>
#include <linux/cleanup.h>
#include <linux/slab.h>

typedef struct cpumask {
	DECLARE_BITMAP(bits, NR_CPUS);
} cpumask_t;

/* Off the stack, so that ASan sees a mask used after free. */
typedef struct cpumask *cpumask_var_t;

extern unsigned int nr_cpu_ids;
extern struct cpumask sim_possible_mask, sim_online_mask;

#define nr_cpumask_bits			nr_cpu_ids
#define cpu_possible_mask		((const struct cpumask *)&sim_possible_mask)
#define cpu_present_mask		cpu_possible_mask
#define cpu_online_mask			((const struct cpumask *)&sim_online_mask)
#define cpu_active_mask			cpu_online_mask
#define num_possible_cpus()		cpumask_weight(cpu_possible_mask)
#define num_online_cpus()		cpumask_weight(cpu_online_mask)
#define num_present_cpus()		num_possible_cpus()
#define cpu_online(c)			cpumask_test_cpu(c, cpu_online_mask)
#define cpu_active(c)			cpu_online(c)
#define cpu_possible(c)			cpumask_test_cpu(c, cpu_possible_mask)
#define cpus_read_lock()		((void)0)
#define cpus_read_unlock()		((void)0)
#define lockdep_assert_cpus_held()	((void)0)

#define NUMA_NO_NODE			(-1)
#define MAX_NUMNODES			8
#define nr_node_ids			1u
#define cpu_to_node(c)			((void)(c), 0)
#define numa_node_id()			0

#define cpumask_bits(m)			((m)->bits)
#define cpumask_set_cpu(c, m)		set_bit((c), (m)->bits)
#define cpumask_clear_cpu(c, m)		clear_bit((c), (m)->bits)
#define __cpumask_set_cpu(c, m)		__set_bit((c), (m)->bits)
#define __cpumask_clear_cpu(c, m)	__clear_bit((c), (m)->bits)
#define cpumask_test_cpu(c, m)		test_bit((c), (m)->bits)
#define cpumask_test_and_set_cpu(c, m)	test_and_set_bit((c), (m)->bits)
#define cpumask_test_and_clear_cpu(c, m) test_and_clear_bit((c), (m)->bits)
#define cpumask_clear(m)		bitmap_zero((m)->bits, NR_CPUS)
#define cpumask_setall(m)		bitmap_fill((m)->bits, nr_cpu_ids)
#define cpumask_copy(d, s)		bitmap_copy((d)->bits, (s)->bits, NR_CPUS)
#define cpumask_and(d, a, b)		bitmap_and((d)->bits, (a)->bits, (b)->bits, NR_CPUS)
#define cpumask_or(d, a, b)		bitmap_or((d)->bits, (a)->bits, (b)->bits, NR_CPUS)
#define cpumask_andnot(d, a, b)		bitmap_andnot((d)->bits, (a)->bits, (b)->bits, NR_CPUS)
#define cpumask_empty(m)		bitmap_empty((m)->bits, NR_CPUS)
#define cpumask_weight(m)		bitmap_weight((m)->bits, NR_CPUS)
#define cpumask_equal(a, b)		bitmap_equal((a)->bits, (b)->bits, NR_CPUS)
#define cpumask_subset(a, b)		bitmap_subset((a)->bits, (b)->bits, NR_CPUS)
#define cpumask_intersects(a, b)	bitmap_intersects((a)->bits, (b)->bits, NR_CPUS)

static inline unsigned int sim_cpu_clip(unsigned long c)
{
	return c < nr_cpu_ids ? c : nr_cpu_ids;
}
#define cpumask_first(m)		sim_cpu_clip(find_first_bit((m)->bits, NR_CPUS))
#define cpumask_last(m)			sim_cpu_clip(find_last_bit((m)->bits, NR_CPUS))
#define cpumask_next(c, m)		sim_cpu_clip(find_next_bit((m)->bits, NR_CPUS, (c) + 1))
#define cpumask_next_zero(c, m)		sim_cpu_clip(find_next_zero_bit((m)->bits, NR_CPUS, (c) + 1))
static inline unsigned int cpumask_nth(unsigned int n, const struct cpumask *m)
{
	unsigned int c = cpumask_first(m);

	while (n-- && c < nr_cpu_ids)
		c = cpumask_next(c, m);
	return c;
}

#define cpumask_any(m)			cpumask_first(m)
#define cpumask_of(c)			sim_cpumask_of(c)
const struct cpumask *sim_cpumask_of(unsigned int cpu);

#define for_each_cpu(c, m)		\
	for ((c) = cpumask_first(m); (c) < nr_cpu_ids; (c) = cpumask_next((c), (m)))
#define for_each_cpu_and(c, a, b)	for_each_cpu(c, a) if (!cpumask_test_cpu(c, b)) {} else
#define for_each_cpu_andnot(c, a, b)	for_each_cpu(c, a) if (cpumask_test_cpu(c, b)) {} else
#define for_each_possible_cpu(c)	for_each_cpu(c, cpu_possible_mask)
#define for_each_present_cpu(c)		for_each_cpu(c, cpu_possible_mask)
#define for_each_online_cpu(c)		for_each_cpu(c, cpu_online_mask)
#define for_each_cpu_wrap(c, m, s)	\
	for_each_set_bit_wrap(c, cpumask_bits(m), nr_cpu_ids, s)

static inline bool zalloc_cpumask_var(cpumask_var_t *m, gfp_t gfp)
{
	*m = kzalloc(sizeof(struct cpumask), gfp);
	return *m;
}
#define alloc_cpumask_var(m, g)			zalloc_cpumask_var(m, g)
#define zalloc_cpumask_var_node(m, g, n)	((void)(n), zalloc_cpumask_var(m, g))
#define alloc_cpumask_var_node(m, g, n)		zalloc_cpumask_var_node(m, g, n)
#define free_cpumask_var(m)			kfree(m)
#define CPUMASK_VAR_NULL			NULL
DEFINE_FREE(free_cpumask_var, struct cpumask *, if (_T) free_cpumask_var(_T))

#endif
