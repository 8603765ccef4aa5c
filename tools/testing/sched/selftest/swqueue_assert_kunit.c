// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared wake queue: a token that is not what it should be is reported, once,
 * at the place that would otherwise corrupt a list.
 */
#include "swqueue_mock.h"
#include <sim.h>

static void act_links_twice(void *cpu)
{
	mock_cpu((long)cpu)->token.state = SWQ_LINKED;
}

/* Between the look at its state and the lock somebody else has linked it. */
static void link_of_a_linked(struct kunit *test)
{
	int cpu;

	mock_setup(test, 4, 1, 1);
	sim_expect_warnings(1);
	for (cpu = 0; cpu < 2; cpu++) {
		mock_at(SWQ_STEP_LINK, NULL, act_links_twice, (void *)(long)cpu);
		mock_link(cpu);
		KUNIT_EXPECT_EQ(test, sim_warnings(), 1U);
	}
}

/* It stands on a list and says that it does not, or that it is another one. */
static void unlink_of_a_stranger(struct kunit *test)
{
	mock_setup(test, 4, 1, 2);
	sim_expect_warnings(1);
	mock_link(0);
	mock_link(1);
	mock_cpu(0)->token.state = SWQ_UNLINKED;
	KUNIT_EXPECT_EQ(test, mock_look(3, SWQ_LOOK_LAST), 0);
	KUNIT_EXPECT_EQ(test, sim_warnings(), 1U);
	mock_cpu(1)->token.shard = mock_shard(1);
	KUNIT_EXPECT_EQ(test, mock_look(3, SWQ_LOOK_LAST), 1);
	KUNIT_EXPECT_EQ(test, sim_warnings(), 1U);
}

static void other_shard(struct kunit *test)
{
	mock_setup(test, 4, 1, 2);
	sim_expect_warnings(1);
	mock_link(0);
	mock_cpu(0)->token.shard = mock_shard(1);
	KUNIT_EXPECT_EQ(test, mock_look(3, SWQ_LOOK_LAST), 0);
	KUNIT_EXPECT_EQ(test, sim_warnings(), 1U);
}

static struct kunit_case assert_cases[] = {
	KUNIT_CASE(link_of_a_linked),
	KUNIT_CASE(unlink_of_a_stranger),
	KUNIT_CASE(other_shard),
	{}
};

static struct kunit_suite assert_suite = {
	.name = "swqueue_assert",
	.test_cases = assert_cases,
};

kunit_test_suite(assert_suite);
