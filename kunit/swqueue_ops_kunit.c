// SPDX-License-Identifier: GPL-2.0-only
/* Shared wake queue: random operations beside a naive model. */
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/random.h>

#include "swqueue_model.h"

static unsigned int steps = 20000;
module_param(steps, uint, 0444);
MODULE_PARM_DESC(steps, "operations of each test");

static unsigned int seed;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "of the random streams, 0 to choose one");

static u32 rnd_below(void *rnd, u32 n)
{
	return prandom_u32_state(rnd) % n;
}

static unsigned int choose_seed(struct kunit *test)
{
	unsigned int chosen = seed ?: get_random_u32();

	kunit_info(test, "seed=%u\n", chosen);
	return chosen;
}

static void ops_against_model(struct kunit *test, bool kick)
{
	const char *op, *diff;
	struct rnd_state rnd;
	unsigned long flags;
	unsigned int i;

	mock_setup(test, MODEL_CPUS, 2, 3);
	model = kunit_kzalloc(test, sizeof(*model), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, model);
	/* The time wraps on the way. */
	mock->clock = -SWQ_STALE_JIFFIES;
	mock->kick = kick;
	mock->on_sync = model_sync;
	prandom_seed_state(&rnd, choose_seed(test));
	model_init();
	KUNIT_ASSERT_TRUE(test, model_reshard(2));

	for (i = 0; i < steps; i++) {
		/* What allocates runs with interrupts on by itself. */
		if (i % 64 == 63) {
			KUNIT_ASSERT_TRUE(test, rnd_below(&rnd, 8) ||
					  model_reshard(rnd_below(&rnd, 8)));
			cond_resched();
		}
		local_irq_save(flags);
		op = model_step(rnd_below, &rnd);
		local_irq_restore(flags);
		diff = model_compare();
		KUNIT_ASSERT_NULL_MSG(test, diff, "step %u, after %s: %s differs", i, op, diff);
		KUNIT_ASSERT_NULL_MSG(test, strstr(op, "other"), "step %u: %s", i, op);
	}
	mock_check(test);
}

static void ops_core(struct kunit *test)
{
	ops_against_model(test, false);
}

static void ops_with_idle_side(struct kunit *test)
{
	ops_against_model(test, true);
}

static struct kunit_case ops_cases[] = {
	KUNIT_CASE(ops_core),
	KUNIT_CASE(ops_with_idle_side),
	{}
};

static struct kunit_suite ops_suite = {
	.name = "swqueue_ops",
	.test_cases = ops_cases,
};

kunit_test_suite(ops_suite);
