// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared wake queue: is there a full barrier where the protocol needs one?
 *
 * Threads do not show a missing barrier reliably, least of all on x86. Here the
 * harness counts the full barriers that a thread executes, and each test looks
 * at the count between two steps. What acquire and release do is left to the
 * litmus tests.
 */
#include "swqueue_mock.h"

#define BARRIER_STEPS	64

static unsigned long at_step[BARRIER_STEPS];
static unsigned long at_surplus;

static void note_step(struct swq_layout *l, enum swq_step step, struct swq_token *token)
{
	at_step[step] = sim_full_barriers;
}

static bool note_surplus(const struct swq_token *token)
{
	at_surplus = sim_full_barriers;
	return mock_surplus(token);
}

static const struct swq_ops note_ops = {
	.surplus	= note_surplus,
	.cpu		= mock_cpu,
	.kick		= mock_kick,
};

static void barrier_setup(struct kunit *test, bool kick)
{
	mock_setup(test, 8, 1, 2);
	mock->step = note_step;
	mock->l->ops = &note_ops;
	mock->l->kick = kick;
	memset(at_step, 0, sizeof(at_step));
}

/* The count before the state: pairs with the discard (litmus A). */
static void barrier_skip(struct kunit *test)
{
	bool kick;

	for (kick = false; ; kick = true) {
		barrier_setup(test, kick);
		mock_link_stale(0);
		mock_enqueue(0, 0, FREE, false);
		KUNIT_EXPECT_EQ(test, mock_stat(0, SWQ_STAT_SKIPPED_LINKED), 1ul);
		KUNIT_EXPECT_GT(test, at_step[SWQ_STEP_PUBLISHED], at_step[SWQ_STEP_SKIP]);
		/* The same at a put back and at a tick. */
		mock_put_back(0, FREE);
		KUNIT_EXPECT_GT(test, at_step[SWQ_STEP_PUBLISHED], at_step[SWQ_STEP_SKIP]);
		mock_cpu(0)->deferred = true;
		mock_tick(0);
		KUNIT_EXPECT_GT(test, at_step[SWQ_STEP_PUBLISHED], at_step[SWQ_STEP_SKIP]);
		if (kick)
			break;
	}
}

/* A visit whose runqueue was linked again meanwhile publishes like an enqueue. */
static void barrier_visit(struct kunit *test)
{
	barrier_setup(test, true);
	mock_link(0);
	KUNIT_EXPECT_EQ(test, mock_look(1, 0), 0);
	mock_enqueue(0, 0, FREE, false);
	KUNIT_EXPECT_EQ(test, mock_visit(1, 0), SWQ_VISIT_MOVED);
	KUNIT_EXPECT_EQ(test, mock_stat(1, SWQ_STAT_SKIPPED_LINKED), 1ul);
	KUNIT_EXPECT_GT(test, at_step[SWQ_STEP_PUBLISHED], at_step[SWQ_STEP_SKIP]);
}

/* At a pick the scheduler's own barrier will do, but not beside sleepers. */
static void barrier_deferred(struct kunit *test)
{
	barrier_setup(test, true);
	mock_link(0);
	mock_cpu(0)->deferred = true;
	mock_fill(0, FREE, 2, 0);
	mock_pick(0, FREE);
	KUNIT_EXPECT_EQ(test, mock_stat(0, SWQ_STAT_SKIPPED_LINKED), 1ul);
	KUNIT_EXPECT_GT(test, at_step[SWQ_STEP_PUBLISHED], at_step[SWQ_STEP_SKIP]);
}

/* List and hint before the announcements (litmus D). */
static void barrier_link(struct kunit *test)
{
	barrier_setup(test, true);
	mock_enqueue(0, 0, FREE, false);
	KUNIT_EXPECT_EQ(test, mock_stat(0, SWQ_STAT_LINKED), 1ul);
	KUNIT_EXPECT_GT(test, at_step[SWQ_STEP_PUBLISHED], at_step[SWQ_STEP_LINK_UNLOCKED]);
}

/* UNLINKED before the second look (litmus A). */
static void barrier_discard(struct kunit *test)
{
	bool kick;

	for (kick = false; ; kick = true) {
		barrier_setup(test, kick);
		mock_link_stale(0);
		KUNIT_EXPECT_EQ(test, mock_look(1, 0), -1);
		KUNIT_EXPECT_EQ(test, mock_stat(1, SWQ_STAT_DISCARDED), 1ul);
		KUNIT_EXPECT_GT(test, at_surplus, at_step[SWQ_STEP_DISCARDED]);
		if (kick)
			break;
	}
}

/* The note before the second trylock, the unlock before the note (litmus E). */
static void barrier_missed(struct kunit *test)
{
	unsigned long flags, before;

	barrier_setup(test, true);
	mock_link(0);
	raw_spin_lock_irqsave(&mock_shard(0)->lock, flags);
	KUNIT_EXPECT_EQ(test, mock_look(5, SWQ_LOOK_LAST), -1);
	before = sim_full_barriers;
	raw_spin_unlock_irqrestore(&mock_shard(0)->lock, flags);
	KUNIT_EXPECT_EQ(test, mock_stat(5, SWQ_STAT_PULL_BUSY), 1ul);
	KUNIT_EXPECT_GT(test, before, at_step[SWQ_STEP_MISSED]);

	WRITE_ONCE(mock_shard(0)->missed, 0);
	KUNIT_EXPECT_EQ(test, mock_look(1, 0), 0);
	KUNIT_EXPECT_GT(test, sim_full_barriers, at_step[SWQ_STEP_UNLOCKED]);
	mock_visit(1, 0);
}

/* Idle word and announcement before the last look (litmus D, F). */
static void barrier_idle(struct kunit *test)
{
	unsigned long flags, before;

	barrier_setup(test, true);
	local_irq_save(flags);
	before = sim_full_barriers;
	KUNIT_EXPECT_TRUE(test, swq_idle_enter(mock->l, mock_cpu(5)));
	KUNIT_EXPECT_GT(test, at_step[SWQ_STEP_ANNOUNCE], before);
	KUNIT_EXPECT_GT(test, at_step[SWQ_STEP_ANNOUNCED], at_step[SWQ_STEP_ANNOUNCE]);
	local_irq_restore(flags);
}

/* The announcement is taken, fully ordered, before the idle word is tested (litmus F). */
static void barrier_kick(struct kunit *test)
{
	unsigned long flags, before;

	barrier_setup(test, true);
	mock_go_idle(5);
	local_irq_save(flags);
	before = sim_full_barriers;
	KUNIT_EXPECT_TRUE(test, swq_kick(mock->l, mock_cpu(0), 0));
	KUNIT_EXPECT_GT(test, at_step[SWQ_STEP_KICK_TAKEN], before);
	local_irq_restore(flags);
}

static struct kunit_case barrier_cases[] = {
	KUNIT_CASE(barrier_skip),
	KUNIT_CASE(barrier_visit),
	KUNIT_CASE(barrier_deferred),
	KUNIT_CASE(barrier_link),
	KUNIT_CASE(barrier_discard),
	KUNIT_CASE(barrier_missed),
	KUNIT_CASE(barrier_idle),
	KUNIT_CASE(barrier_kick),
	{}
};

static struct kunit_suite barriers_suite = {
	.name = "swqueue_barriers",
	.test_cases = barrier_cases,
};

kunit_test_suite(barriers_suite);
