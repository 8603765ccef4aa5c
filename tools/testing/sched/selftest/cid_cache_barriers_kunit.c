// SPDX-License-Identifier: GPL-2.0-only
/*
 * CID cache: is there a full barrier where the protocol needs one?
 *
 * As in swqueue_barriers_kunit.c: the harness counts the full barriers that a
 * thread executes. The gate needs one between the last park or drop of a CPU and
 * its look at the episode, and one between the odd episode and the first look at
 * a word. In cid_switch() the scheduler has it.
 */
#include <kunit/test.h>

#include <linux/irqflags.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <sim.h>

#include "../cid_cache.h"

#define CPUS	3

struct rig {
	struct cid_env		env;
	struct cid_cache	*ptr[CPUS];
	struct cid_cache	cache[CPUS];
	struct cid_mm		mm;
	u64			owner[CPUS];
	unsigned long		allowed[1];
	unsigned long		at[CID_NR_POINTS];
	unsigned int		seen[CID_NR_POINTS];
};

static void note_point(struct cid_env *env, int cpu, enum cid_point point,
		       const struct cid_search *s, u64 a, u64 b)
{
	struct rig *rig = env->priv;

	/* Of what comes more than once, the first. */
	if (!rig->seen[point]++)
		rig->at[point] = sim_full_barriers;
}

static struct rig *rig_new(struct kunit *test, unsigned int users)
{
	struct rig *rig = kunit_kzalloc(test, sizeof(*rig), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, rig);
	for (i = 0; i < CPUS; i++)
		rig->ptr[i] = &rig->cache[i];
	rig->env.cache = rig->ptr;
	rig->env.nr_cpus = CPUS;
	rig->env.nr_ids = CPUS;
	rig->env.keep = CID_KEEP_FOREVER;
	rig->env.quiet = true;
	rig->env.priv = rig;
	cid_mm_init(&rig->mm, rig->allowed);
	cid_mm_multi(&rig->mm, rig->owner, 1);
	atomic_set(&rig->mm.users, users);
	rig->mm.nr_allowed = CPUS;
	return rig;
}

/* Between the park before an execve and the gate behind it there need be no switch. */
static void barrier_exec(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);
	struct cid_task t = { .cid = CID_NONE, .active = CID_ACTIVE };
	unsigned long flags;

	local_irq_save(flags);
	cid_switch(&rig->env, &rig->cache[0], 0, &rig->mm, &t, 0);
	rig->env.step = note_point;
	cid_exec_before(&rig->env, &rig->cache[0], 0, &rig->mm, &t, 0);
	cid_exec_after(&rig->env, &rig->cache[0], 0, &rig->mm, &t, 0);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, rig->seen[CID_AT_PARK], 1u);
	KUNIT_EXPECT_EQ(test, rig->seen[CID_AT_GATE], 1u);
	KUNIT_EXPECT_GT(test, rig->at[CID_AT_GATE], rig->at[CID_AT_PARK]);
}

/* An id beyond the bound is dropped in the middle of a switch. */
static void barrier_drop(struct kunit *test)
{
	struct rig *rig = rig_new(test, 3);
	struct cid_task t = { .cid = 2, .active = CID_ACTIVE };
	struct cid_task next = { .cid = CID_NONE, .active = CID_ACTIVE };
	unsigned long flags;

	local_irq_save(flags);
	cid_switch(&rig->env, &rig->cache[0], 0, &rig->mm, &t, 0);
	KUNIT_EXPECT_EQ(test, t.cid, 2);
	atomic_set(&rig->mm.users, 2);
	rig->env.step = note_point;
	cid_switch(&rig->env, &rig->cache[0], 0, &rig->mm, &next, 0);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, rig->seen[CID_AT_DROP], 1u);
	KUNIT_EXPECT_EQ(test, rig->seen[CID_AT_GATE], 1u);
	KUNIT_EXPECT_GT(test, rig->at[CID_AT_GATE], rig->at[CID_AT_DROP]);
}

/* The slow path says so before it looks. */
static void barrier_episode(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);
	struct cid_task t = { .cid = CID_NONE, .active = CID_ACTIVE };
	unsigned long flags;

	/* No CPU is allowed, so no pass finds anything before the bound is broken. */
	rig->mm.nr_allowed = 0;
	rig->env.step = note_point;
	local_irq_save(flags);
	cid_switch(&rig->env, &rig->cache[0], 0, &rig->mm, &t, 0);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, rig->seen[CID_AT_EPISODE], 1u);
	KUNIT_EXPECT_GT(test, rig->at[CID_AT_REBOUND], rig->at[CID_AT_EPISODE]);
}

/* What is wrong is said once, not at each switch from then on. */
static void warns_once(struct kunit *test)
{
	struct rig *rig = rig_new(test, 2);
	struct cid_task t = { .cid = CID_NONE, .active = CID_ACTIVE };
	unsigned int before = sim_warnings();
	unsigned long flags;
	int i;

	rig->env.quiet = false;
	sim_expect_warnings(1);
	local_irq_save(flags);
	for (i = 0; i < 3; i++) {
		rig->mm.nr_allowed = 0;
		rig->allowed[0] = 0;
		cid_switch(&rig->env, &rig->cache[0], 0, &rig->mm, &t, 0);
		cid_switch(&rig->env, &rig->cache[0], 0, NULL, NULL, 0);
		cid_cache_online(&rig->cache[0]);
	}
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, rig->cache[0].stats.exceeded, 3ULL);
	KUNIT_EXPECT_EQ(test, sim_warnings() - before, 1u);
}

static struct kunit_case barrier_cases[] = {
	KUNIT_CASE(barrier_exec),
	KUNIT_CASE(barrier_drop),
	KUNIT_CASE(barrier_episode),
	KUNIT_CASE(warns_once),
	{}
};

static struct kunit_suite barriers_suite = {
	.name = "cid_cache_barriers",
	.test_cases = barrier_cases,
};

kunit_test_suite(barriers_suite);
