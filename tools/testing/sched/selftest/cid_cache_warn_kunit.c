// SPDX-License-Identifier: GPL-2.0-only
/* CID cache: broken accounting is said once, and only once. */
#include <kunit/test.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/spinlock.h>
#include "../cid_cache.h"
#include <sim.h>

static void warns_once(struct kunit *test)
{
	static struct cid_cache cache;
	struct cid_cache *ptr[] = { &cache };
	struct cid_env env = { .cache = ptr, .nr_cpus = 1, .nr_ids = 1 };
	unsigned long allowed[1], all[1] = { 1 }, flags;
	struct cid_task t, child;
	struct cid_mm mm;

	memset(&cache, 0, sizeof(cache));
	cid_mm_init(&mm, allowed);
	cid_task_init(&t);
	local_irq_save(flags);
	cid_allow_only(&mm, all, all, 1, -1);
	cid_fork(&mm, &t);
	/* Two users, but nobody has called cid_mm_multi(). */
	atomic_set(&mm.users, 2);
	sim_expect_warnings(1);
	cid_switch(&env, &cache, 0, &mm, &t, 0);
	KUNIT_EXPECT_TRUE(test, env.warned);
	KUNIT_EXPECT_EQ(test, sim_warnings(), 1U);
	cid_switch(&env, &cache, 0, NULL, NULL, 0);
	cid_switch(&env, &cache, 0, &mm, &t, 0);
	KUNIT_EXPECT_EQ(test, sim_warnings(), 1U);
	/* Something else is said although that was. */
	sim_expect_warnings(1);
	cid_task_init(&child);
	cid_clone(&env, &cache, 0, &mm, &t, &child, 0);
	KUNIT_EXPECT_EQ(test, sim_warnings(), 2U);
	cid_clone(&env, &cache, 0, &mm, &t, &child, 0);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, sim_warnings(), 2U);
	KUNIT_EXPECT_EQ(test, t.cid, 0);
	KUNIT_EXPECT_EQ(test, cache.stats.exceeded, 2ULL);
}

/* Locks that are taken inside runqueue locks, with interrupts on. */
static void wants_interrupts_off(struct kunit *test)
{
	unsigned long allowed[1], all[1] = { 1 };
	struct cid_env env = { };
	struct cid_mm mm;

	cid_mm_init(&mm, allowed);
	sim_expect_warnings(2);
	cid_allow_only(&mm, all, all, 1, -1);
	KUNIT_EXPECT_EQ(test, sim_warnings(), 1U);
	cid_allow(&env, 0, &mm, all, all, 1);
	KUNIT_EXPECT_EQ(test, sim_warnings(), 2U);
	KUNIT_EXPECT_EQ(test, mm.nr_allowed, 1U);
}

static struct kunit_case warn_cases[] = {
	KUNIT_CASE(warns_once),
	KUNIT_CASE(wants_interrupts_off),
	{}
};

static struct kunit_suite warn_suite = {
	.name = "cid_cache_warn",
	.test_cases = warn_cases,
};

kunit_test_suite(warn_suite);
