// SPDX-License-Identifier: GPL-2.0-only
/* Shared wake queue: without memory there is no layout, and nothing is lost. */
#include "swqueue_mock.h"
#include <sim.h>

static void memory_refused(struct kunit *test)
{
	struct swq_layout *old;

	mock_setup(test, 8, 1, 2);
	old = mock->l;
	mock_link(0);
	sim_fail_alloc(1);
	KUNIT_EXPECT_NULL(test, mock_layout(4));
	KUNIT_EXPECT_PTR_EQ(test, mock->l, old);
	KUNIT_EXPECT_EQ(test, mock_look(7, 0), 0);
	mock_visit(7, 0);
	mock_check(test);
	swq_layout_free(NULL);
}

static struct kunit_case memory_cases[] = {
	KUNIT_CASE(memory_refused),
	{}
};

static struct kunit_suite memory_suite = {
	.name = "swqueue_memory",
	.test_cases = memory_cases,
};

kunit_test_suite(memory_suite);
