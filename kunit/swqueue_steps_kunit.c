// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared wake queue: the races of the protocol, stepped through by hand.
 *
 * Each test puts one CPU between two steps of another. What it "breaks" is
 * the deviation from the protocol that it was written to catch.
 */
#include "swqueue_mock.h"

static int found;

static void act_look(void *self)
{
	found = mock_look((long)self, 0);
}

static void act_raise(void *cpu)
{
	mock_fill((long)cpu, FREE, 1, 0);
}

/* A look of CPU 1 while CPU 0 has read LINKED; 0's count shows only afterwards. */
static void act_discard_then_raise(void *cpu)
{
	act_look((void *)1);
	act_raise(cpu);
}

static void act_enqueue_local(void *cpu)
{
	mock_enqueue((long)cpu, (long)cpu, FREE, false);
}

/* Work arrives on a CPU from its far side: CPU 2 wakes it. */
static void act_enqueue_by_2(void *cpu)
{
	mock_enqueue((long)cpu, 2, FREE, false);
}

static void act_go_idle(void *self)
{
	found = mock_go_idle((long)self);
}

static void act_leave_idle(void *self)
{
	mock_leave_idle((long)self);
}

/* Breaks: a token is taken off although its surplus is likely to come back. */
static void step_stale(struct kunit *test)
{
	unsigned long locks;
	int cpu;

	mock_setup(test, 8, 1, 2);
	for (cpu = 0; cpu < 2; cpu++) {
		mock_enqueue(cpu, cpu, FREE, false);
		mock_fill(cpu, FREE, 0, 0);
	}
	locks = mock_locks(mock->l);

	/* They had surplus not long ago: left alone, and that without the lock. */
	for (cpu = 0; cpu < 8; cpu++)
		KUNIT_EXPECT_EQ(test, mock_look(cpu, 0), -1);
	KUNIT_EXPECT_EQ(test, mock_locks(mock->l), locks);
	/* Surplus came and went: time starts anew for this one. */
	mock_later();
	mock_enqueue(0, 0, FREE, false);
	mock_fill(0, FREE, 0, 0);
	KUNIT_EXPECT_EQ(test, mock_look(2, 0), -1);
	KUNIT_EXPECT_TRUE(test, mock_linked(0));
	KUNIT_EXPECT_FALSE(test, mock_linked(1));
	KUNIT_EXPECT_EQ(test, mock_locks(mock->l), locks + 1);
	KUNIT_EXPECT_EQ(test, mock_look(2, 0), -1);
	KUNIT_EXPECT_TRUE(test, mock_linked(0));
	KUNIT_EXPECT_EQ(test, mock_locks(mock->l), locks + 1);
	/* Nothing came since. */
	mock_later();
	KUNIT_EXPECT_EQ(test, mock_look(1, 0), -1);
	KUNIT_EXPECT_FALSE(test, mock_linked(0));
	KUNIT_EXPECT_FALSE(test, swq_hinted(mock->l));
	KUNIT_EXPECT_EQ(test, mock_stat(1, SWQ_STAT_DISCARDED), 1ul);
	KUNIT_EXPECT_EQ(test, mock_locks(mock->l), locks + 2);
	mock_check(test);
}

/* No surplus since boot, or for weeks: jiffies have wrapped, or are about to. */
static void step_stale_since_boot(struct kunit *test)
{
	static const u32 clocks[] = { INITIAL_JIFFIES, INT_MAX, 1U + INT_MAX, U32_MAX };
	unsigned int i;

	mock_setup(test, 8, 1, 2);
	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		mock_link(0);
		mock_fill(0, FREE, 0, 0);
		mock->clock = clocks[i];
		WRITE_ONCE(mock_cpu(0)->surplus_at, 0);
		KUNIT_EXPECT_EQ(test, mock_look(1, 0), -1);
		KUNIT_EXPECT_FALSE_MSG(test, mock_linked(0), "clock %u", clocks[i]);
	}
	mock_check(test);
}

/* Stale tokens hide nothing that comes after. */
static void step_stale_hides_nothing(struct kunit *test)
{
	unsigned int i;
	int cpu;

	mock_setup(test, 8, 1, 2);
	for (cpu = 0; cpu < 2; cpu++) {
		mock_enqueue(cpu, cpu, FREE, false);
		mock_fill(cpu, FREE, 0, 0);
	}
	KUNIT_EXPECT_EQ(test, mock_look(3, 0), -1);
	/* Surplus again, on either, without a link. */
	for (cpu = 0; cpu < 2; cpu++) {
		mock_enqueue(cpu, cpu, FREE, false);
		KUNIT_EXPECT_EQ(test, mock_look(3, 0), cpu);
		mock_visit(3, cpu);
		KUNIT_EXPECT_FALSE(test, mock_linked(cpu));
		mock_link(cpu);
		mock_fill(cpu, FREE, 0, 0);
		KUNIT_EXPECT_EQ(test, mock_look(3, 0), -1);
	}
	/* A new token behind them. */
	mock_link(2);
	KUNIT_EXPECT_EQ(test, mock_look(3, 0), 2);
	mock_visit(3, 2);
	/* A last look always takes the lock. */
	i = mock_locks(mock->l);
	KUNIT_EXPECT_EQ(test, mock_look(3, SWQ_LOOK_LAST), -1);
	KUNIT_EXPECT_EQ(test, mock_locks(mock->l), i + 1ul);
	mock_check(test);
}

/* More than a section sees are taken off however fresh they are. */
static void step_stale_many(struct kunit *test)
{
	int cpu;

	mock_setup(test, 16, 1, 1);
	for (cpu = 0; cpu <= SWQ_LOOKAHEAD; cpu++) {
		mock_enqueue(cpu, cpu, FREE, false);
		mock_fill(cpu, FREE, 0, 0);
	}
	KUNIT_EXPECT_EQ(test, mock_shard(0)->nr, SWQ_LOOKAHEAD + 1u);
	KUNIT_EXPECT_EQ(test, mock_look(15, 0), -1);
	KUNIT_EXPECT_EQ(test, mock_shard(0)->nr, 1u);
	/* The one that is left stays. */
	KUNIT_EXPECT_EQ(test, mock_look(15, 0), -1);
	KUNIT_EXPECT_EQ(test, mock_shard(0)->nr, 1u);
	mock_check(test);
}

/* Breaks: discard without second look. */
static void step_second_look(struct kunit *test)
{
	mock_setup(test, 4, 1, 2);
	mock_link_stale(0);
	mock_at(SWQ_STEP_DISCARDED, NULL, act_raise, (void *)0);

	KUNIT_EXPECT_EQ_MSG(test, mock_look(1, 0), 0, "work that came in the discard is lost");
	KUNIT_EXPECT_EQ(test, mock_stat(1, SWQ_STAT_POPPED), 1ul);
	KUNIT_EXPECT_EQ(test, mock_stat(1, SWQ_STAT_DISCARDED), 0ul);
	KUNIT_EXPECT_EQ(test, mock_visit(1, 0), SWQ_VISIT_MOVED);
	KUNIT_EXPECT_FALSE(test, mock_linked(0));

	/* And without work that comes, it is gone. */
	mock_link_stale(0);
	KUNIT_EXPECT_EQ(test, mock_look(1, 0), -1);
	KUNIT_EXPECT_EQ(test, mock_stat(1, SWQ_STAT_DISCARDED), 1ul);
	KUNIT_EXPECT_FALSE(test, mock_linked(0));
	KUNIT_EXPECT_FALSE(test, mock_hinted(mock_shard(0)));
	mock_check(test);
}

/* Breaks: the publisher trusts its first read of the state. */
static void step_skip_rereads(struct kunit *test)
{
	mock_setup(test, 4, 1, 2);
	mock_link_stale(0);

	/* The publisher's count still stands in its store buffer. */
	mock_at(SWQ_STEP_SKIP, NULL, act_discard_then_raise, (void *)0);
	mock_publish(0, 0, 0);
	KUNIT_EXPECT_EQ(test, found, -1);
	KUNIT_EXPECT_TRUE_MSG(test, mock_linked(0), "neither linked nor visited");
	KUNIT_EXPECT_EQ(test, mock_look(1, 0), 0);
	mock_check(test);
}

static struct actor *helper;

static void act_helper_enqueues(void *cpu)
{
	actor_start(helper, act_enqueue_by_2, cpu);
	actor_wait(helper);
}

/* Breaks: state cleared before the removal. */
static void step_removed_then_unlinked(struct kunit *test)
{
	mock_setup(test, 4, 1, 2);
	helper = actor_new(test, 0);
	mock_link_stale(0);

	/* A remote waker, whose own shard is another one, comes in between. */
	mock_at(SWQ_STEP_REMOVED, NULL, act_helper_enqueues, (void *)0);
	found = mock_look(1, 0);
	KUNIT_EXPECT_TRUE(test, found == 0 || mock_linked(0));
	mock_check(test);
	if (found == 0)
		KUNIT_EXPECT_EQ(test, mock_visit(1, 0), SWQ_VISIT_MOVED);
	mock_check(test);
}

static struct gate gate_a, gate_b;

static void act_helper_blocks(void *cpu)
{
	u64 end;

	actor_start(helper, act_enqueue_local, cpu);
	gate_wait(&gate_a);
	/* It is about to take the lock that this thread holds: let it come there. */
	end = ktime_get_mono_fast_ns() + 200 * NSEC_PER_USEC;
	while (ktime_get_mono_fast_ns() < end)
		cpu_relax();
}

static void gates_reset(void)
{
	gate_a = (struct gate) { };
	gate_b = (struct gate) { };
	found = -2;
}

/* A linker that comes between the test for an empty list and the unlock. */
static void step_hint_linker_waits(struct kunit *test)
{
	mock_setup(test, 4, 1, 2);
	helper = actor_new(test, 0);
	gates_reset();
	mock_link_stale(0);
	mock_at(SWQ_STEP_LINK, helper->task, gate_pass, &gate_a);
	mock_at(SWQ_STEP_LOOK_EMPTY, NULL, act_helper_blocks, (void *)0);

	KUNIT_EXPECT_EQ(test, mock_look(1, 0), -1);
	KUNIT_EXPECT_TRUE(test, actor_wait(helper));
	KUNIT_EXPECT_TRUE(test, mock_linked(0));
	KUNIT_EXPECT_TRUE_MSG(test, mock_hinted(mock_shard(0)), "hidden work");
	mock_check(test);
}

/* Breaks: hint cleared after the unlock. */
static void step_hint_cleared_inside(struct kunit *test)
{
	mock_setup(test, 4, 1, 2);
	mock_link_stale(0);
	mock_at(SWQ_STEP_UNLOCKED, NULL, act_enqueue_local, (void *)0);
	KUNIT_EXPECT_EQ(test, mock_look(1, 0), -1);
	KUNIT_EXPECT_TRUE(test, mock_linked(0));
	KUNIT_EXPECT_TRUE_MSG(test, mock_hinted(mock_shard(0)), "hidden work");
	mock_check(test);

	/* A looker between the linker's unlock and its setting of the hint. */
	mock_at(SWQ_STEP_LINK_UNLOCKED, NULL, act_look, (void *)1);
	mock_enqueue(1, 1, FREE, false);
	KUNIT_EXPECT_TRUE(test, mock_hinted(mock_shard(0)));
	mock_check(test);
}

/* Breaks: hint cleared because nothing on the list was usable. */
static void step_refused_keeps_hint(struct kunit *test)
{
	mock_setup(test, 4, 1, 2);
	mock_fill(0, FREE, 0, 1);
	mock_publish(0, 0, 0);

	KUNIT_EXPECT_EQ(test, mock_look(1, 0), 0);
	KUNIT_EXPECT_EQ(test, mock_visit(1, 0), SWQ_VISIT_UNMOVABLE);
	KUNIT_EXPECT_TRUE_MSG(test, mock_linked(0), "refused, and forgotten");
	/* Not again for the same waiting set. */
	KUNIT_EXPECT_EQ(test, mock_look(1, 0), -1);
	KUNIT_EXPECT_TRUE_MSG(test, mock_hinted(mock_shard(0)), "hint cleared with work left");
	KUNIT_EXPECT_EQ(test, mock_look(1, SWQ_LOOK_LAST), -1);
	KUNIT_EXPECT_TRUE(test, mock_hinted(mock_shard(0)));
	/* Others may try. */
	KUNIT_EXPECT_EQ(test, mock_look(2, 0), 0);
	mock_visit(2, 0);
	mock_check(test);
}

/*
 * The helper looks for CPU @self and stops at its unlock, the lock in its
 * hands, until gate_a opens.
 */
static void helper_holds(struct kunit *test, int self)
{
	gates_reset();
	helper = actor_new(test, 0);
	mock_at(SWQ_STEP_LOOK_UNLOCK, helper->task, gate_stop, &gate_a);
	actor_start(helper, act_look, (void *)(long)self);
	KUNIT_ASSERT_TRUE(test, gate_wait(&gate_a));
}

static void act_helper_goes_on(void *unused)
{
	gate_open(&gate_a);
	actor_wait(helper);
}

/* Breaks: failed trylock not noted. */
static void step_missed(struct kunit *test)
{
	mock_setup(test, 8, 1, 2);
	mock_link(0);
	mock_link(1);
	helper_holds(test, 2);

	/* CPU 4 comes from the other shard and must not wait. */
	KUNIT_EXPECT_EQ(test, mock_go_idle(4), -1);
	KUNIT_EXPECT_EQ(test, mock_stat(4, SWQ_STAT_PULL_BUSY), 1ul);
	KUNIT_EXPECT_EQ(test, mock->kicks, 0u);
	act_helper_goes_on(NULL);
	KUNIT_EXPECT_EQ(test, found, 0);
	KUNIT_EXPECT_EQ_MSG(test, mock->rq[4].kicks, 1u, "asleep beside work, nobody told it");
	KUNIT_EXPECT_EQ(test, mock->kicks, 1u);
	KUNIT_EXPECT_EQ(test, mock_go_idle(4), 1);
	/* The note was used. */
	KUNIT_EXPECT_EQ(test, mock_shard(0)->missed, 0u);
	mock_visit(2, 0);
	mock_visit(4, 1);
	mock_check(test);
}

/* The holder left between the note and the second trylock: found at once. */
static void step_missed_retry(struct kunit *test)
{
	mock_setup(test, 8, 1, 2);
	mock_link(0);
	mock_link(1);
	helper_holds(test, 2);
	mock_at(SWQ_STEP_MISSED, NULL, act_helper_goes_on, NULL);
	KUNIT_EXPECT_EQ(test, mock_go_idle(4), 1);
	KUNIT_EXPECT_EQ(test, found, 0);
	KUNIT_EXPECT_EQ(test, mock_stat(4, SWQ_STAT_PULL_BUSY), 0ul);
	mock_visit(2, 0);
	mock_visit(4, 1);
	mock_check(test);
}

static void act_helper_holds(void *self)
{
	mock_at(SWQ_STEP_LOOK_UNLOCK, helper->task, gate_stop, &gate_a);
	actor_start(helper, act_look, self);
	gate_wait(&gate_a);
}

/* The lock is lost between two sections of a last look. */
static void step_missed_later(struct kunit *test)
{
	int cpu;

	mock_setup(test, 16, 1, 2);
	gates_reset();
	helper = actor_new(test, 0);
	for (cpu = 0; cpu < 4; cpu++)
		mock_link_stale(cpu);
	mock_link(4);
	mock_link(5);

	mock_at(SWQ_STEP_UNLOCKED, NULL, act_helper_holds, (void *)6);
	KUNIT_EXPECT_EQ(test, mock_go_idle(8), -1);
	KUNIT_EXPECT_EQ(test, mock_stat(8, SWQ_STAT_DISCARDED), 4ul);
	act_helper_goes_on(NULL);
	KUNIT_EXPECT_EQ(test, found, 4);
	KUNIT_EXPECT_EQ_MSG(test, mock->rq[8].kicks, 1u, "asleep beside work, nobody told it");
	mock_visit(6, 4);
	mock_check(test);
}

/* A quiet linker holds the lock like a looker, and kicks nobody by itself. */
static void step_missed_quiet_linker(struct kunit *test)
{
	mock_setup(test, 8, 1, 2);
	mock_link(0);
	mock_fill(1, FREE, 0, 1);
	KUNIT_EXPECT_EQ(test, mock_go_idle(4), 0);
	mock_fill(4, NONE, 0, 0);
	mock_publish(0, 0, SWQ_PUB_QUIET);
	/* As if CPU 4's last look had come while the linker held the lock. */
	WRITE_ONCE(mock_shard(0)->missed, 1);
	KUNIT_EXPECT_EQ(test, mock_idle_state(4), (unsigned int)SWQ_IDLE);
	mock_publish(1, 2, SWQ_PUB_QUIET);
	KUNIT_EXPECT_EQ_MSG(test, mock->rq[4].kicks, 1u, "asleep beside work, nobody told it");
	mock_check(test);
}

struct visit_exit {
	const char		*name;
	unsigned int		free;
	unsigned int		pinned;
	bool			gone;
	enum swq_visit		result;
	bool			linked;
	unsigned int		kicks;
};

static const struct visit_exit visit_exits[] = {
	{ "moved the last",	1, 0, false, SWQ_VISIT_MOVED,		false, 0 },
	{ "moved one of more",	2, 0, false, SWQ_VISIT_MOVED,		true,  1 },
	{ "moved, pinned left",	1, 1, false, SWQ_VISIT_MOVED,		true,  1 },
	{ "refused",		0, 1, false, SWQ_VISIT_UNMOVABLE,	true,  0 },
	{ "gone",		1, 0, true,  SWQ_VISIT_STALE,		false, 0 },
};

KUNIT_ARRAY_PARAM_DESC(visit_exit, visit_exits, name);

/* Breaks: what is left after a visit is not published. */
static void step_visit_exits(struct kunit *test)
{
	const struct visit_exit *v = test->param_value;

	mock_setup(test, 8, 1, 2);
	mock_fill(0, FREE, v->free, v->pinned);
	mock_publish(0, 0, 0);
	KUNIT_ASSERT_EQ(test, mock_look(1, 0), 0);
	KUNIT_ASSERT_EQ(test, mock_go_idle(5), -1);
	KUNIT_ASSERT_EQ(test, mock_go_idle(6), -1);

	if (v->gone)
		mock_fill(0, FREE, 0, 0);
	KUNIT_EXPECT_EQ(test, mock_visit(1, 0), v->result);
	KUNIT_EXPECT_EQ(test, mock_linked(0), v->linked);
	KUNIT_EXPECT_EQ(test, mock_hinted(mock_shard(0)), v->linked);
	KUNIT_EXPECT_EQ(test, mock->kicks, v->kicks);
	mock_check(test);
}

/* A refusal that passes by itself holds for one look only. */
static void step_not_now(struct kunit *test)
{
	struct swq_cpu *c;

	mock_setup(test, 4, 1, 2);
	c = mock_cpu(1);
	mock_link(0);
	swq_look_begin(c);
	KUNIT_EXPECT_EQ(test, mock_look(1, 0), 0);
	mock_lock_irq(0);
	swq_visited(mock->l, mock_cpu(0), c, SWQ_VISIT_NOT_NOW);
	mock_unlock_irq(0);
	KUNIT_EXPECT_TRUE(test, mock_linked(0));
	KUNIT_EXPECT_EQ(test, mock_look(1, 0), -1);
	swq_look_begin(c);
	KUNIT_EXPECT_EQ(test, mock_look(1, 0), 0);
	mock_visit(1, 0);
	/* The number of a look is never 0, which would hold for ever. */
	c->look = UINT_MAX;
	swq_look_begin(c);
	KUNIT_EXPECT_NE(test, c->look, 0u);
	/* Nor is it that of the look before. */
	c->look = 1;
	swq_look_begin(c);
	KUNIT_EXPECT_NE(test, c->look, 0u);
	KUNIT_EXPECT_NE(test, c->look, 1u);
	mock_check(test);
}

/* Breaks: linked, so done. */
static void step_skip_kicks(struct kunit *test)
{
	unsigned long locks;

	mock_setup(test, 8, 1, 2);
	mock_fill(0, FREE, 0, 1);
	mock_publish(0, 0, 0);
	KUNIT_ASSERT_EQ(test, mock_go_idle(5), 0);
	mock_visit(5, 0);
	mock_fill(5, NONE, 0, 0);
	locks = mock_locks(mock->l);

	/* Linked and refused by all; then something movable comes. */
	mock_enqueue(0, 0, FREE, false);
	KUNIT_EXPECT_EQ_MSG(test, mock->rq[5].kicks, 1u, "asleep beside work, nobody told it");
	KUNIT_EXPECT_EQ(test, mock->kicks, 1u);
	KUNIT_EXPECT_EQ(test, mock_locks(mock->l), locks);
	KUNIT_EXPECT_EQ(test, mock_go_idle(5), 0);
	mock_visit(5, 0);
	mock_check(test);
}

static int kicked_cpu(void)
{
	int cpu;

	for (cpu = 0; cpu < mock->nr_cpus; cpu++) {
		if (mock->rq[cpu].kicks)
			return cpu;
	}

	return -1;
}

/* Breaks: kick dropped at the idle exit. */
static void step_kick_passed(struct kunit *test)
{
	int first;

	mock_setup(test, 8, 1, 2);
	mock_go_idle(5);
	mock_go_idle(6);
	mock_enqueue(0, 0, FREE, false);
	KUNIT_ASSERT_EQ(test, mock->kicks, 1u);
	first = kicked_cpu();

	/* It has got work of its own before it could look. */
	mock_fill(first, NONE, 1, 0);
	mock_leave_idle(first);
	KUNIT_EXPECT_EQ(test, mock->kicks, 2u);
	KUNIT_EXPECT_EQ_MSG(test, mock->rq[5].kicks, 1u, "the kick is lost");
	KUNIT_EXPECT_EQ_MSG(test, mock->rq[6].kicks, 1u, "the kick is lost");
	KUNIT_EXPECT_EQ(test, mock_stat(first, SWQ_STAT_KICK_PASSED), 1ul);
	mock_check(test);
}

/* Breaks: test of the idle word and kick are two steps. */
static void step_kick_is_one_step(struct kunit *test)
{
	mock_setup(test, 8, 1, 2);
	mock_go_idle(5);
	mock_go_idle(6);
	/* The CPU that is about to be kicked leaves idle. */
	mock_at(SWQ_STEP_KICK_TAKEN, NULL, act_leave_idle, (void *)5);
	mock_enqueue(0, 0, FREE, false);
	KUNIT_EXPECT_EQ(test, mock->rq[5].kicks, 0u);
	KUNIT_EXPECT_EQ(test, mock_idle_state(5), (unsigned int)SWQ_BUSY);
	KUNIT_EXPECT_EQ_MSG(test, mock->rq[6].kicks, 1u, "the kick is lost");
	mock_check(test);
}

static void act_kick_raced(void *unused)
{
	mock_leave_idle(5);
	swq_kick(mock->l, mock_cpu(1), 1);
}

/* Another kicker takes the bit of the second sleeper: there is a third. */
static void step_kick_raced(struct kunit *test)
{
	mock_setup(test, 8, 1, 2);
	mock_go_idle(5);
	mock_go_idle(6);
	mock_go_idle(7);
	mock_at(SWQ_STEP_KICK_TAKEN, NULL, act_kick_raced, NULL);
	mock_enqueue(0, 0, FREE, false);
	KUNIT_EXPECT_EQ(test, mock->rq[5].kicks, 0u);
	KUNIT_EXPECT_EQ(test, mock->rq[6].kicks, 1u);
	KUNIT_EXPECT_EQ_MSG(test, mock->rq[7].kicks, 1u, "the kick is lost");
	mock_check(test);
}

/* Breaks: idle word tested before the announcement is taken. */
static void step_announced_while_taken(struct kunit *test)
{
	mock_setup(test, 8, 1, 2);
	mock_go_idle(5);
	mock_leave_idle(5);
	KUNIT_ASSERT_TRUE(test, mock_announced(5));
	KUNIT_ASSERT_EQ(test, mock_idle_state(5), (unsigned int)SWQ_BUSY);

	/* Its bit is stale; it goes idle while a kicker takes the bit. */
	mock_at(SWQ_STEP_KICK_TAKEN, NULL, act_go_idle, (void *)5);
	mock_fill(5, NONE, 0, 0);
	mock_link(0);
	mock_at(SWQ_STEP_SKIP, NULL, act_raise, (void *)0);
	gates_reset();
	mock_publish(0, 0, 0);
	KUNIT_EXPECT_TRUE_MSG(test, mock->rq[5].kicks == 1 || mock_announced(5),
			      "idle, neither kicked nor announced");
	mock_check(test);
}

/* Breaks: look, then announce. */
static void step_announce_then_look(struct kunit *test)
{
	unsigned long flags;

	mock_setup(test, 8, 1, 2);

	/* Published while IDLE is written, but the bit not yet: the look finds it. */
	gates_reset();
	mock_at(SWQ_STEP_ANNOUNCE, NULL, act_enqueue_local, (void *)0);
	KUNIT_EXPECT_EQ(test, mock_go_idle(5), 0);
	mock_visit(5, 0);
	mock_leave_idle(5);

	/* Published between announcement and look: both find each other. */
	mock_at(SWQ_STEP_ANNOUNCED, NULL, act_enqueue_local, (void *)0);
	KUNIT_EXPECT_EQ(test, mock_go_idle(5), 0);
	KUNIT_EXPECT_EQ(test, mock->rq[5].kicks, 1u);
	mock_visit(5, 0);
	mock_leave_idle(5);
	mock->rq[5].kicks = 0;

	/* Published right behind the look: kicked. */
	mock_fill(5, NONE, 0, 0);
	local_irq_save(flags);
	KUNIT_EXPECT_TRUE(test, swq_idle_enter(mock->l, mock_cpu(5)));
	KUNIT_EXPECT_EQ(test, mock_look(5, SWQ_LOOK_LAST), -1);
	mock_enqueue(0, 0, FREE, false);
	swq_idle_looked(mock_cpu(5));
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ_MSG(test, mock->rq[5].kicks, 1u, "asleep beside work, nobody told it");
	mock_check(test);
}

/* Breaks: look for sleepers, then link. */
static void step_link_then_kick(struct kunit *test)
{
	static const enum swq_step steps[] = {
		SWQ_STEP_LINK, SWQ_STEP_LINK_UNLOCKED, SWQ_STEP_PUBLISHED
	};
	unsigned int i;

	mock_setup(test, 8, 1, 2);
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		gates_reset();
		mock->rq[5].kicks = 0;
		mock_at(steps[i], NULL, act_go_idle, (void *)5);
		mock_enqueue(0, 0, FREE, false);
		KUNIT_EXPECT_TRUE_MSG(test, found == 0 || mock->rq[5].kicks == 1,
				      "step %u: asleep beside work, nobody told it", i);
		KUNIT_EXPECT_EQ(test, mock_linked(0), found != 0);
		if (found != 0)
			KUNIT_EXPECT_EQ(test, mock_look(5, 0), 0);
		mock_visit(5, 0);
		mock_leave_idle(5);
		mock_fill(0, FREE, 0, 0);
		mock_check(test);
	}
}

/* Breaks: marks that end at an enqueue only; no marks. */
static void step_put_back_retries(struct kunit *test)
{
	unsigned int looks;

	mock_setup(test, 8, 1, 2);
	mock_fill(0, FREE, 0, 1);
	mock_publish(0, 0, 0);
	KUNIT_ASSERT_EQ(test, mock_go_idle(5), 0);
	KUNIT_ASSERT_EQ(test, mock_visit(5, 0), SWQ_VISIT_UNMOVABLE);
	for (looks = 0; looks < 3; looks++) {
		swq_look_begin(mock_cpu(5));
		KUNIT_EXPECT_EQ_MSG(test, mock_look(5, SWQ_LOOK_LAST), -1,
				    "refused and nothing changed, tried again");
	}
	mock_fill(5, NONE, 0, 0);

	/* The running one, which may move, is put back behind the pinned one. */
	mock_put_back(0, PINNED);
	KUNIT_EXPECT_EQ_MSG(test, mock->rq[5].kicks, 1u, "asleep beside work, nobody told it");
	KUNIT_EXPECT_EQ_MSG(test, mock_look(5, SWQ_LOOK_LAST), 0, "it may go now");
	KUNIT_EXPECT_EQ(test, mock_visit(5, 0), SWQ_VISIT_MOVED);
	mock_check(test);
}

/* Breaks: marks that outlive a time without hooks. */
static void step_marks_end_at_tick(struct kunit *test)
{
	mock_setup(test, 8, 1, 2);
	mock_fill(0, FREE, 0, 1);
	mock_publish(0, 0, 0);
	KUNIT_ASSERT_EQ(test, mock_go_idle(5), 0);
	KUNIT_ASSERT_EQ(test, mock_visit(5, 0), SWQ_VISIT_UNMOVABLE);
	mock_fill(5, NONE, 0, 0);

	/* With the feature off something movable comes; then it is on again. */
	mock_fill(0, FREE, 1, 1);
	mock_tick(0);
	KUNIT_EXPECT_EQ(test, mock->rq[5].kicks, 1u);
	KUNIT_EXPECT_EQ_MSG(test, mock_go_idle(5), 0, "asleep beside work that it could take");
	KUNIT_EXPECT_EQ(test, mock_visit(5, 0), SWQ_VISIT_MOVED);
	mock_check(test);
}

/* A real-time task takes the CPU from the only fair one. */
static void step_put_back_unlinked(struct kunit *test)
{
	mock_setup(test, 4, 1, 2);
	mock_fill(0, FREE, 0, 1);
	mock_put_back(0, PINNED);
	KUNIT_EXPECT_TRUE(test, mock_linked(0));
	KUNIT_EXPECT_EQ(test, mock_look(3, 0), 0);
	mock_visit(3, 0);
	mock_check(test);
}

/* Breaks: deferral without the tick. */
static void step_tick_ends_deferral(struct kunit *test)
{
	mock_setup(test, 8, 1, 2);
	mock_go_idle(5);
	mock_enqueue(0, 0, FREE, true);
	KUNIT_EXPECT_EQ(test, mock_stat(0, SWQ_STAT_DEFERRED), 1ul);
	KUNIT_EXPECT_FALSE(test, mock_linked(0));
	KUNIT_EXPECT_EQ(test, mock_locks(mock->l), 0ul);
	KUNIT_EXPECT_EQ(test, mock->kicks, 0u);

	/* The waker does not sleep as it said. */
	mock_tick(0);
	KUNIT_EXPECT_TRUE_MSG(test, mock_linked(0), "deferred for ever");
	KUNIT_EXPECT_EQ(test, mock->rq[5].kicks, 1u);
	mock_check(test);
}

/* The same with the token still standing linked from before. */
static void step_tick_ends_deferral_linked(struct kunit *test)
{
	mock_setup(test, 8, 1, 2);
	mock_link_stale(0);
	mock_enqueue(0, 0, FREE, true);
	KUNIT_EXPECT_EQ(test, mock_stat(0, SWQ_STAT_DEFERRED), 1ul);
	KUNIT_EXPECT_EQ(test, mock_go_idle(5), 0);
	mock_visit(5, 0);
	mock_leave_idle(5);

	mock_link_stale(0);
	mock_enqueue(0, 0, FREE, true);
	/* Deferred again? Only if the first one is over. */
	mock_tick(0);
	mock_go_idle(6);
	KUNIT_EXPECT_EQ(test, mock_cpu(0)->deferred, false);
	mock_check(test);
}

static void step_second_sync_publishes(struct kunit *test)
{
	mock_setup(test, 4, 1, 2);
	mock_enqueue(0, 0, FREE, true);
	KUNIT_EXPECT_FALSE(test, mock_linked(0));
	/* One more with the sync flag: by now there is surplus for sure. */
	mock_fill(0, FREE, 0, 0);
	mock_enqueue(0, 0, FREE, true);
	KUNIT_EXPECT_TRUE_MSG(test, mock_linked(0), "deferral lost");
	KUNIT_EXPECT_FALSE(test, mock_cpu(0)->deferred);
	mock_check(test);
}

static void step_pick_ends_deferral(struct kunit *test)
{
	mock_setup(test, 4, 1, 2);
	/* A ping-pong: nothing is left over, nothing shared is touched. */
	mock_enqueue(0, 0, FREE, true);
	mock_pick(0, FREE);
	KUNIT_EXPECT_FALSE(test, mock_linked(0));
	KUNIT_EXPECT_FALSE(test, mock_cpu(0)->deferred);
	KUNIT_EXPECT_EQ(test, mock_locks(mock->l), 0ul);

	/* Something is left over. */
	mock_enqueue(0, 0, FREE, true);
	mock_fill(0, FREE, 2, 0);
	mock_pick(0, FREE);
	KUNIT_EXPECT_TRUE(test, mock_linked(0));
	mock_check(test);
}

/* Breaks: the tick repairs nothing after the feature was switched on. */
static void step_switched_on(struct kunit *test)
{
	mock_setup(test, 8, 1, 2);
	mock_go_idle(5);
	/* Off: no hook is called while work comes. Then on. */
	mock_fill(0, FREE, 1, 0);
	mock_tick(0);
	KUNIT_EXPECT_TRUE_MSG(test, mock_linked(0), "not findable after on");
	KUNIT_EXPECT_EQ(test, mock->rq[5].kicks, 1u);
	/* And not again at each tick. */
	mock_tick(0);
	KUNIT_EXPECT_EQ(test, mock_locks(mock->l), 1ul);

	/* Off while a token is popped; on before the visit. */
	KUNIT_EXPECT_EQ(test, mock_look(5, 0), 0);
	mock_fill(0, FREE, 2, 0);
	KUNIT_EXPECT_EQ(test, mock_visit(5, 0), SWQ_VISIT_MOVED);
	KUNIT_EXPECT_TRUE(test, mock_linked(0));
	mock_check(test);
}

/* Breaks: a looker that has work of its own visits itself. */
static void step_own_token(struct kunit *test)
{
	mock_setup(test, 4, 1, 2);
	mock_link(0);
	KUNIT_EXPECT_EQ_MSG(test, mock_look(0, 0), -1, "pulls from itself");
	KUNIT_EXPECT_EQ(test, mock_look(0, SWQ_LOOK_LAST), -1);
	KUNIT_EXPECT_TRUE(test, mock_linked(0));
	KUNIT_EXPECT_TRUE(test, mock_hinted(mock_shard(0)));
	/* It hides nothing behind it. */
	mock_link(1);
	KUNIT_EXPECT_EQ(test, mock_look(0, 0), 1);
	mock_visit(0, 1);
	/* Its own stale token is discarded like any other. */
	mock_fill(0, NONE, 0, 0);
	mock_dormant(0);
	KUNIT_EXPECT_EQ(test, mock_look(0, 0), -1);
	KUNIT_EXPECT_FALSE(test, mock_linked(0));
	mock_check(test);
}

/* Breaks: a kick was taken, the look cut short, and nobody else told. */
static void step_kick_owed(struct kunit *test)
{
	unsigned long flags;
	int first, other;

	mock_setup(test, 8, 1, 2);
	mock_go_idle(5);
	mock_go_idle(6);
	mock_enqueue(0, 0, FREE, false);
	first = kicked_cpu();
	other = 11 - first;

	/* It takes the kick; then work of its own arrives inside the look. */
	local_irq_save(flags);
	KUNIT_EXPECT_TRUE(test, swq_idle_enter(mock->l, mock_cpu(first)));
	local_irq_restore(flags);
	mock_leave_idle(first);
	KUNIT_EXPECT_EQ_MSG(test, mock->rq[other].kicks, 1u, "the kick is lost");

	/* A look that was complete owes nothing. */
	KUNIT_EXPECT_EQ(test, mock_go_idle(other), 0);
	mock_visit(other, 0);
	mock_leave_idle(other);
	KUNIT_EXPECT_EQ(test, mock->kicks, 2u);
	mock_check(test);
}

/* Announced already, and nobody kicked: nothing to do. */
static void step_idle_again(struct kunit *test)
{
	unsigned long flags;

	mock_setup(test, 4, 1, 2);
	mock_go_idle(3);
	local_irq_save(flags);
	KUNIT_EXPECT_FALSE(test, swq_idle_enter(mock->l, mock_cpu(3)));
	mock_enqueue(0, 0, FREE, false);
	KUNIT_EXPECT_EQ(test, mock->rq[3].kicks, 1u);
	KUNIT_EXPECT_TRUE(test, swq_idle_enter(mock->l, mock_cpu(3)));
	local_irq_restore(flags);
	/* The bit that the kicker took is set again. */
	KUNIT_EXPECT_TRUE(test, mock_announced(3));
	mock_check(test);
}

static void refuse(struct kunit *test, int self, int cpu)
{
	mock_fill(cpu, FREE, 0, 1);
	mock_publish(cpu, cpu, 0);
	KUNIT_ASSERT_EQ(test, mock_look(self, 0), cpu);
	KUNIT_ASSERT_EQ(test, mock_visit(self, cpu), SWQ_VISIT_UNMOVABLE);
}

/* Four tokens that were refused stand before the fifth. */
static void step_hidden_work(struct kunit *test)
{
	int cpu;

	mock_setup(test, 16, 1, 2);
	for (cpu = 0; cpu < 4; cpu++)
		refuse(test, 7, cpu);
	mock_link(4);

	/* Four per section: a quick look does not come to it ... */
	KUNIT_EXPECT_EQ(test, mock_look(7, 0), -1);
	/* ... but has moved the refused ones behind it. */
	KUNIT_EXPECT_EQ(test, mock_look(7, 0), 4);
	mock_publish(4, 4, 0);
	/* A last look sees each once, in sections. */
	KUNIT_EXPECT_EQ_MSG(test, mock_look(7, SWQ_LOOK_LAST), 4, "hidden work");
	mock_visit(7, 4);
	/* Refused ones and the own: it ends, though none is taken off. */
	mock_link(7);
	KUNIT_EXPECT_EQ(test, mock_shard(0)->nr, 5u);
	KUNIT_EXPECT_EQ(test, mock_look(7, SWQ_LOOK_LAST), -1);
	KUNIT_EXPECT_EQ(test, mock_shard(0)->nr, 5u);
	mock_check(test);
}

/* No walk under the lock: four tokens, stale ones as well. */
static void step_bounded(struct kunit *test)
{
	int cpu;

	mock_setup(test, 16, 1, 2);
	for (cpu = 0; cpu < 7; cpu++)
		mock_link_stale(cpu);
	KUNIT_EXPECT_EQ(test, mock_look(7, 0), -1);
	KUNIT_EXPECT_EQ(test, mock_stat(7, SWQ_STAT_DISCARDED), (unsigned long)SWQ_LOOKAHEAD);
	KUNIT_EXPECT_EQ(test, mock_shard(0)->nr, 7u - SWQ_LOOKAHEAD);
	/* From the other shard, and all of them. */
	KUNIT_EXPECT_EQ(test, mock_look(9, SWQ_LOOK_LAST), -1);
	KUNIT_EXPECT_EQ(test, mock_shard(0)->nr, 0u);
	KUNIT_EXPECT_FALSE(test, swq_hinted(mock->l));
	mock_check(test);
}

static void act_outsider_enqueues(void *cpu)
{
	mock_enqueue((long)cpu, MOCK_OUTSIDE, FREE, false);
}

/* A linker never waits for a foreign shard while it has one of its own. */
static void step_linked_away(struct kunit *test)
{
	mock_setup(test, 8, 1, 2);
	mock_link(0);
	mock_link(1);
	helper_holds(test, 2);

	/* CPU 5 wakes a task on CPU 3, whose home is held. */
	mock_enqueue(3, 5, FREE, false);
	KUNIT_EXPECT_TRUE(test, mock_linked(3));
	KUNIT_EXPECT_PTR_EQ(test, mock_cpu(3)->token.shard, mock_shard(1));
	KUNIT_EXPECT_EQ(test, mock_stat(5, SWQ_STAT_LINKED_AWAY), 1ul);
	KUNIT_EXPECT_EQ(test, mock_stat(5, SWQ_STAT_CONTENDED), 0ul);
	act_helper_goes_on(NULL);
	mock_visit(2, 0);
	KUNIT_EXPECT_TRUE(test, mock_hinted(mock_shard(1)));

	/* Its owner takes it off where it is. */
	mock_unlink_own(3);
	KUNIT_EXPECT_FALSE(test, mock_linked(3));
	KUNIT_EXPECT_EQ(test, mock_shard(1)->nr, 0u);
	KUNIT_EXPECT_FALSE(test, mock_hinted(mock_shard(1)));
	KUNIT_EXPECT_EQ(test, mock_shard(1)->nr_locks, 2ul);
	KUNIT_EXPECT_EQ(test, mock_stat(3, SWQ_STAT_UNLINKED), 1ul);
	mock_check(test);
}

static struct actor *waker;

/* One from outside the LLC has none, and waits at the home. */
static void step_outsider_waits(struct kunit *test)
{
	mock_setup(test, 8, 1, 2);
	mock_link(0);
	mock_link(1);
	helper_holds(test, 2);
	waker = actor_new(test, 1);
	mock_at(SWQ_STEP_LINK, waker->task, gate_pass, &gate_b);
	actor_start(waker, act_outsider_enqueues, (void *)3);
	KUNIT_EXPECT_TRUE(test, gate_wait(&gate_b));
	usleep_range(500, 1000);
	KUNIT_EXPECT_FALSE(test, mock_linked(3));
	act_helper_goes_on(NULL);
	KUNIT_EXPECT_TRUE(test, actor_wait(waker));
	KUNIT_EXPECT_TRUE(test, mock_linked(3));
	KUNIT_EXPECT_PTR_EQ(test, mock_cpu(3)->token.shard, mock_shard(0));
	KUNIT_EXPECT_EQ(test, mock_stat(MOCK_OUTSIDE, SWQ_STAT_CONTENDED), 1ul);
	KUNIT_EXPECT_EQ(test, mock_shard(0)->nr_contended, 1ul);
	mock_visit(2, 0);
	mock_check(test);
}

static void act_hold_a_while(void *arg)
{
	struct swq_shard *s = arg;
	unsigned long flags;
	u64 end;

	raw_spin_lock_irqsave(&s->lock, flags);
	flag_set(&gate_a.reached, true);
	end = ktime_get_mono_fast_ns() + 2 * NSEC_PER_SEC;
	while (!flag_get(&gate_a.open)) {
		/* Whoever waits for this lock shall not wait for ever. */
		if (ktime_get_mono_fast_ns() > end) {
			flag_set(&gate_b.reached, true);
			break;
		}
		cpu_relax();
	}
	raw_spin_unlock_irqrestore(&s->lock, flags);
}

/* Breaks: a looker waits for a foreign shard. */
static void step_foreign_not_waited_for(struct kunit *test)
{
	static const unsigned int hows[] = { 0, SWQ_LOOK_LAST };
	unsigned int i;

	mock_setup(test, 8, 1, 2);
	helper = actor_new(test, 0);
	mock_link(0);
	for (i = 0; i < ARRAY_SIZE(hows); i++) {
		gates_reset();
		actor_start(helper, act_hold_a_while, mock_shard(0));
		KUNIT_ASSERT_TRUE(test, gate_wait(&gate_a));
		found = mock_look(5, hows[i]);
		KUNIT_EXPECT_FALSE_MSG(test, flag_get(&gate_b.reached),
				       "waited for a foreign shard");
		KUNIT_EXPECT_EQ(test, found, -1);
		act_helper_goes_on(NULL);
		KUNIT_EXPECT_EQ(test, mock_stat(5, SWQ_STAT_PULL_BUSY), i + 1ul);
		/* Who looks again before it sleeps needs no kick. */
		KUNIT_EXPECT_EQ(test, mock_shard(0)->missed,
				(unsigned int)(hows[i] == SWQ_LOOK_LAST));
	}
	KUNIT_EXPECT_EQ(test, mock_stat(5, SWQ_STAT_CONTENDED), 0ul);
	mock_shard(0)->missed = 0;
	mock_check(test);
}

/* Breaks: immovable tasks never published. */
static void step_pinned(struct kunit *test)
{
	mock_setup(test, 8, 1, 2);
	mock_go_idle(5);

	/* Behind a running task it can not be lost. */
	mock_enqueue(0, 0, PINNED, false);
	KUNIT_EXPECT_FALSE(test, mock_linked(0));
	KUNIT_EXPECT_EQ(test, mock_locks(mock->l), 0ul);
	KUNIT_EXPECT_EQ(test, mock->kicks, 0u);
	/* It preempts: now what it preempted waits. */
	mock_put_back(0, PINNED);
	KUNIT_EXPECT_TRUE(test, mock_linked(0));
	KUNIT_EXPECT_EQ(test, mock->rq[5].kicks, 1u);
	KUNIT_EXPECT_EQ(test, mock_go_idle(5), 0);
	KUNIT_EXPECT_EQ(test, mock_visit(5, 0), SWQ_VISIT_MOVED);
	mock_leave_idle(5);

	/* CPU 1 is still being woken for a movable task. */
	mock_fill(1, NONE, 1, 0);
	mock_go_idle(5);
	mock_enqueue(1, 0, PINNED, false);
	KUNIT_EXPECT_TRUE_MSG(test, mock_linked(1), "its first pick may leave the movable one");
	KUNIT_EXPECT_EQ(test, mock->rq[5].kicks, 2u);
	mock_check(test);
}

/* A looker pops the token between the owner's read and its lock. */
static void step_unlink_popped(struct kunit *test)
{
	mock_setup(test, 4, 1, 2);
	mock_link(0);
	mock_at(SWQ_STEP_UNLINK, NULL, act_look, (void *)1);
	mock_unlink_own(0);
	KUNIT_EXPECT_EQ(test, found, 0);
	KUNIT_EXPECT_EQ(test, mock_stat(0, SWQ_STAT_UNLINKED), 0ul);
	KUNIT_EXPECT_FALSE(test, mock_linked(0));
	mock_visit(1, 0);
	mock_check(test);

	/* The same for the queue of 2023. */
	mock_fill(0, FREE, 1, 0);
	mock_publish(0, 0, 0);
	mock_at(SWQ_STEP_UNLINK, NULL, act_look, (void *)1);
	mock_lock_irq(0);
	swq_unlink_own(mock->l, mock_cpu(0), mock_cpu(0), true);
	mock_unlock_irq(0);
	KUNIT_EXPECT_EQ(test, found, 0);
	KUNIT_EXPECT_TRUE_MSG(test, mock_linked(0), "surplus left at the pick");
	mock_visit(1, 0);
	mock_check(test);
}

/* Whole idle cores before siblings of busy ones, and never the CPU itself. */
static void step_whole_core_first(struct kunit *test)
{
	mock_setup(test, 8, 2, 2);
	mock_go_idle(1);
	mock_go_idle(2);
	mock_go_idle(6);
	mock_go_idle(7);
	mock_enqueue(0, 0, FREE, false);
	KUNIT_EXPECT_EQ(test, mock->rq[6].kicks + mock->rq[7].kicks, 1u);
	KUNIT_EXPECT_EQ(test, mock->kicks, 1u);
	/* Then any, but not the one that the work is on. */
	mock_enqueue(1, 0, FREE, false);
	mock_enqueue(1, 0, FREE, false);
	KUNIT_EXPECT_EQ(test, mock->kicks, 2u);
	mock_enqueue(1, 0, FREE, false);
	KUNIT_EXPECT_EQ(test, mock->kicks, 3u);
	KUNIT_EXPECT_EQ(test, mock->rq[2].kicks, 1u);
	KUNIT_EXPECT_EQ(test, mock->rq[6].kicks + mock->rq[7].kicks, 2u);
	mock_enqueue(1, 0, FREE, false);
	KUNIT_EXPECT_EQ(test, mock->rq[1].kicks, 0u);
	KUNIT_EXPECT_EQ(test, mock_idle_state(1), (unsigned int)SWQ_IDLE);
	mock_check(test);
}

/* With the idle side off nothing is announced and nobody kicked. */
static void step_kick_off(struct kunit *test)
{
	mock_setup(test, 8, 1, 2);
	mock_go_idle(5);
	WRITE_ONCE(mock->l->kick, false);
	mock_enqueue(0, 0, FREE, false);
	mock_enqueue(0, 0, FREE, false);
	WRITE_ONCE(mock_shard(0)->missed, 1);
	KUNIT_EXPECT_EQ(test, mock_look(2, 0), 0);
	mock_visit(2, 0);
	KUNIT_EXPECT_EQ(test, mock->kicks, 0u);
	mock_check(test);
}

static void open_at_sync(void *arg)
{
	act_helper_goes_on(arg);
}

static void open_at_sweep(void *arg, int cpu)
{
	/* Too late for a linker of the old layout, but nobody shall hang. */
	act_helper_goes_on(arg);
}

/* Re-sharding 3 -> 2: what stood on the third shard is found on a new one. */
static void step_reshard(struct kunit *test)
{
	int cpu, n = 0;

	mock_setup(test, 12, 1, 3);
	mock_go_idle(1);
	mock_link(8);
	mock_link(9);
	mock_link_stale(10);
	mock_link(0);
	mock_link_stale(4);
	KUNIT_ASSERT_EQ(test, mock_shard(2)->nr, 3u);
	mock_reshard(test, 2);

	KUNIT_EXPECT_EQ(test, mock->l->nr_shards, 2u);
	for (cpu = 0; cpu < 12; cpu++) {
		KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(mock_cpu(cpu)->layout), mock->l);
		KUNIT_EXPECT_EQ_MSG(test, mock_linked(cpu), cpu == 8 || cpu == 9 || cpu == 0,
				    "CPU %d: surplus lost", cpu);
	}
	/* An idle CPU is kicked through the new layout without announcing again. */
	KUNIT_EXPECT_EQ(test, mock->rq[1].kicks, 1u);
	mock_check(test);
	while ((cpu = mock_look(11, SWQ_LOOK_LAST)) >= 0) {
		mock_visit(11, cpu);
		n++;
	}
	KUNIT_EXPECT_EQ(test, n, 3);
	KUNIT_EXPECT_FALSE(test, swq_hinted(mock->l));

	/* Up to one per core, down to one, and to what there is already. */
	mock_link(5);
	mock_reshard(test, 12);
	KUNIT_EXPECT_TRUE(test, mock_linked(5));
	mock_check(test);
	mock_reshard(test, 1);
	KUNIT_EXPECT_TRUE(test, mock_linked(5));
	mock_check(test);
	mock_reshard(test, 1);
	KUNIT_EXPECT_TRUE(test, mock_linked(5));
	mock_check(test);
}

/* A long list is emptied in sections, and completely. */
static void step_reshard_long_list(struct kunit *test)
{
	int cpu;

	mock_setup(test, 100, 1, 1);
	for (cpu = 0; cpu < 100; cpu++)
		mock_link(cpu);
	mock_reshard(test, 3);
	for (cpu = 0; cpu < 100; cpu++)
		KUNIT_EXPECT_TRUE_MSG(test, mock_linked(cpu), "CPU %d: surplus lost", cpu);
	mock_check(test);
}

/* An LLC that is gone leaves nothing behind. */
static void step_reshard_to_nothing(struct kunit *test)
{
	struct swq_layout *l;
	LIST_HEAD(old);
	LIST_HEAD(new);
	int cpu;

	mock_setup(test, 16, 1, 1);
	for (cpu = 0; cpu < 16; cpu++)
		mock_link(cpu);
	l = mock->l;
	list_add(&l->entry, &old);
	swq_replace(&old, &new, &mock_replace_ops);
	for (cpu = 0; cpu < 16; cpu++) {
		KUNIT_EXPECT_NULL(test, rcu_access_pointer(mock_cpu(cpu)->layout));
		KUNIT_EXPECT_FALSE(test, mock_linked(cpu));
	}
	KUNIT_EXPECT_TRUE(test, list_empty(&old));
	/* A visit that was under way ends without a layout. */
	mock->l = mock_layout(1);
	KUNIT_ASSERT_NOT_NULL(test, mock->l);
	mock_lock_irq(0);
	swq_visited(NULL, mock_cpu(0), mock_cpu(1), SWQ_VISIT_STALE);
	mock_unlock_irq(0);
	mock_leave_idle(1);
	mock_check(test);
}

/* Breaks: no grace period; no sweep. */
static void step_reshard_paused_linker(struct kunit *test)
{
	mock_setup(test, 12, 1, 3);
	helper = actor_new(test, 0);
	gates_reset();
	mock_at(SWQ_STEP_LINK, helper->task, gate_stop, &gate_a);
	actor_start(helper, act_enqueue_local, (void *)9);
	KUNIT_ASSERT_TRUE(test, gate_wait(&gate_a));

	/* It has read the old layout; the grace period waits for it. */
	mock->on_sync = open_at_sync;
	mock->on_sweep = open_at_sweep;
	mock_reshard(test, 2);
	KUNIT_EXPECT_TRUE(test, actor_wait(helper));
	KUNIT_EXPECT_TRUE(test, mock_linked(9));
	KUNIT_EXPECT_EQ_MSG(test, mock_look(11, SWQ_LOOK_LAST), 9, "surplus lost");
	mock_visit(11, 9);
	mock_check(test);
}

static void act_unlink_own(void *cpu)
{
	mock_unlink_own((long)cpu);
}

static void act_helper_unlinks(void *cpu)
{
	actor_start(helper, act_unlink_own, cpu);
	gate_wait(&gate_a);
}

static void open_at_sweep_of_9(void *arg, int cpu)
{
	/* The sweep is about to wait for the runqueue that the helper has locked. */
	if (cpu == 9)
		gate_open(&gate_a);
}

/* Breaks: freed before the sweep. */
static void step_reshard_paused_unlink(struct kunit *test)
{
	mock_setup(test, 12, 1, 3);
	helper = actor_new(test, 0);
	gates_reset();
	mock_link(9);
	mock_link(8);

	/* The owner reads where its token is after the grace period. */
	mock_at(SWQ_STEP_UNLINK, helper->task, gate_stop, &gate_a);
	mock_at(SWQ_STEP_SYNCED, NULL, act_helper_unlinks, (void *)9);
	mock->on_sweep = open_at_sweep_of_9;
	mock_reshard(test, 2);
	gate_open(&gate_a);
	KUNIT_EXPECT_TRUE(test, actor_wait(helper));
	KUNIT_EXPECT_EQ(test, mock_stat(9, SWQ_STAT_UNLINKED), 0ul);
	KUNIT_EXPECT_TRUE(test, mock_linked(9));
	KUNIT_EXPECT_TRUE(test, mock_linked(8));
	mock_check(test);
}

/* Two LLCs in one replacement: each CPU gets the queue of its own. */
static void step_two_llcs(struct kunit *test)
{
	struct swq_layout *first, *rest;
	LIST_HEAD(old);
	LIST_HEAD(new);
	int cpu;

	mock_setup(test, 16, 1, 2);
	first = swq_layout_alloc(mock->cpus, mock->cores, 5, 1, &mock_ops, NUMA_NO_NODE);
	rest = swq_layout_alloc(mock->cpus + 5, mock->cores + 5, 11, 2, &mock_ops, NUMA_NO_NODE);
	KUNIT_ASSERT_TRUE(test, first && rest);
	list_add_tail(&mock->l->entry, &old);
	list_add_tail(&first->entry, &new);
	list_add_tail(&rest->entry, &new);
	mock->l = NULL;
	swq_replace(&old, &new, &mock_replace_ops);
	for (cpu = 0; cpu < 16; cpu++)
		KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(mock_cpu(cpu)->layout),
				    cpu < 5 ? first : rest);

	/* One of them goes, the other one stays. */
	list_del(&first->entry);
	INIT_LIST_HEAD(&new);
	list_add(&rest->entry, &old);
	swq_replace(&old, &new, &mock_replace_ops);
	for (cpu = 0; cpu < 16; cpu++)
		KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(mock_cpu(cpu)->layout),
				    cpu < 5 ? first : NULL);
	/* Freed by the end of the test. */
	mock->l = first;
}

static void count_sweeps(void *arg, int cpu)
{
	((unsigned int *)arg)[cpu]++;
}

/* Who has no queue any more is swept like the others: the sweep waits for its owner. */
static void step_reshard_sweeps_all(struct kunit *test)
{
	unsigned int swept[16] = { };
	struct swq_layout *small;
	LIST_HEAD(old);
	LIST_HEAD(new);
	int cpu;

	/* CPUs 8 to 15 go. */
	mock_setup(test, 16, 1, 2);
	small = swq_layout_alloc(mock->cpus, mock->cores, 8, 1, &mock_ops, NUMA_NO_NODE);
	KUNIT_ASSERT_NOT_NULL(test, small);
	small->step = mock_step;
	small->clock = &mock->clock;
	mock_link(3);
	mock_link(12);
	list_add(&mock->l->entry, &old);
	list_add(&small->entry, &new);
	mock->l = small;
	mock->on_sweep = count_sweeps;
	mock->arg = swept;
	swq_replace(&old, &new, &mock_replace_ops);
	list_del_init(&small->entry);
	for (cpu = 0; cpu < 16; cpu++) {
		KUNIT_EXPECT_EQ_MSG(test, swept[cpu], cpu < 8 ? 2u : 1u, "CPU %d", cpu);
		KUNIT_EXPECT_PTR_EQ(test, rcu_access_pointer(mock_cpu(cpu)->layout),
				    cpu < 8 ? small : NULL);
	}
	KUNIT_EXPECT_TRUE(test, mock_linked(3));
	KUNIT_EXPECT_FALSE(test, mock_linked(12));
	mock_check(test);

	/* They come back: what waits there meanwhile is found at once. */
	mock->on_sweep = NULL;
	mock_reshard(test, 2);
	KUNIT_EXPECT_TRUE(test, mock_linked(3));
	KUNIT_EXPECT_TRUE(test, mock_linked(12));
	mock_check(test);
}

/* Breaks: own unlink through the present home. */
static void step_unlink_remembers(struct kunit *test)
{
	struct swq_layout *old, *new;

	mock_setup(test, 12, 1, 3);
	mock_link(9);
	old = mock->l;
	new = mock_layout(2);
	KUNIT_ASSERT_NOT_NULL(test, new);
	mock_clear_announced();

	/* As between publication and drain: the layout is new, the place is old. */
	rcu_assign_pointer(mock_cpu(9)->layout, new);
	mock_unlink_own(9);
	KUNIT_EXPECT_FALSE(test, mock_linked(9));
	KUNIT_EXPECT_EQ(test, old->shards[2].nr, 0u);
	KUNIT_EXPECT_TRUE(test, list_empty(&old->shards[2].tokens));
	KUNIT_EXPECT_EQ_MSG(test, mock_locks(new), 0ul, "took the lock of its present shard");

	/* And the queue of 2023 must not link on the old one again. */
	rcu_assign_pointer(mock_cpu(9)->layout, old);
	mock_link(9);
	rcu_assign_pointer(mock_cpu(9)->layout, new);
	mock_lock_irq(9);
	swq_unlink_own(new, mock_cpu(9), mock_cpu(9), true);
	mock_unlock_irq(9);
	KUNIT_EXPECT_TRUE(test, list_empty(&old->shards[2].tokens));
	KUNIT_EXPECT_TRUE(test, mock_linked(9));
	KUNIT_EXPECT_FALSE(test, list_empty(&new->shards[1].tokens));

	mock->l = new;
	mock_check(test);
	swq_layout_free(old);
}

/*
 * At a pick in the mode of 2023: nothing is linked again on a shard of another
 * layout, be that above or below the present one in memory.
 */
static void step_pick_beside_old_layout(struct kunit *test)
{
	struct swq_layout *l[2];
	int old;

	mock_setup(test, 8, 1, 2);
	l[0] = mock->l;
	l[1] = mock_layout(2);
	KUNIT_ASSERT_NOT_NULL(test, l[1]);
	for (old = 0; old < 2; old++) {
		rcu_assign_pointer(mock_cpu(5)->layout, l[old]);
		mock_link(5);
		KUNIT_EXPECT_PTR_EQ(test, mock_cpu(5)->token.shard, &l[old]->shards[1]);
		rcu_assign_pointer(mock_cpu(5)->layout, l[!old]);
		mock_lock_irq(5);
		swq_unlink_own(l[!old], mock_cpu(5), mock_cpu(5), true);
		mock_unlock_irq(5);
		KUNIT_EXPECT_TRUE(test, list_empty(&l[old]->shards[1].tokens));
		KUNIT_EXPECT_PTR_EQ(test, mock_cpu(5)->token.shard, &l[!old]->shards[1]);
		mock_unlink_own(5);
	}
	KUNIT_EXPECT_FALSE(test, mock_linked(5));
	mock_check(test);
	swq_layout_free(l[1]);
}

static void act_reads_then_looks(void *self)
{
	struct swq_cpu *c = mock_cpu((long)self);
	struct swq_token *t;
	unsigned long flags;

	local_irq_save(flags);
	/* Its layout is being replaced from here on. */
	gate_stop(&gate_a);
	t = swq_look(mock->arg, c, SWQ_LOOK_LAST);
	found = t ? t->cpu : -1;
	if (found >= 0)
		mock_visit((long)self, found);
	local_irq_restore(flags);
}

static void open_at_drain(struct swq_layout *l, enum swq_step step,
			  struct swq_token *token)
{
	if (step == SWQ_STEP_DRAINED)
		act_helper_goes_on(NULL);
}

/* A late looker of the old layout, before the drain and behind it. */
static void step_reshard_late_looker(struct kunit *test)
{
	mock_setup(test, 12, 1, 3);
	helper = actor_new(test, 0);
	mock_link(9);

	gates_reset();
	mock->arg = mock->l;
	actor_start(helper, act_reads_then_looks, (void *)10);
	KUNIT_ASSERT_TRUE(test, gate_wait(&gate_a));
	mock->on_sync = open_at_sync;
	mock_reshard(test, 2);
	mock->on_sync = NULL;
	KUNIT_EXPECT_EQ(test, found, 9);
	KUNIT_EXPECT_FALSE(test, mock_linked(9));
	mock_check(test);

	mock_link(9);
	gates_reset();
	mock->arg = mock->l;
	actor_start(helper, act_reads_then_looks, (void *)10);
	KUNIT_ASSERT_TRUE(test, gate_wait(&gate_a));
	mock->step = open_at_drain;
	mock_reshard(test, 4);
	mock->step = NULL;
	KUNIT_EXPECT_EQ(test, found, -1);
	KUNIT_EXPECT_TRUE(test, mock_linked(9));
	mock_check(test);
}

/* The own shard comes first, then the others in turn. */
static void step_look_order(struct kunit *test)
{
	int want[] = { 9, 13, 1, 5 }, i;

	mock_setup(test, 16, 1, 4);
	for (i = 1; i < 16; i += 4)
		mock_link(i);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, mock_look(10, 0), want[i]);
		mock_visit(10, want[i]);
	}
	KUNIT_EXPECT_EQ(test, mock_look(10, 0), -1);
	KUNIT_EXPECT_EQ(test, mock_stat(10, SWQ_STAT_PULL_TRIES), 4ul);
	mock_check(test);

	/* Within a shard the oldest surplus is first. */
	mock_link(6);
	mock_link(4);
	mock_link(7);
	KUNIT_EXPECT_EQ(test, mock_look(5, 0), 6);
	KUNIT_EXPECT_EQ(test, mock_look(5, 0), 4);
	KUNIT_EXPECT_EQ(test, mock_look(5, 0), 7);
	for (i = 4; i < 8; i++)
		mock_visit(5, i);
	mock_check(test);
}

/* More CPUs than a hint word serves, and than an announcement word holds. */
static void step_wide_llc(struct kunit *test)
{
	mock_setup(test, 320, 2, 40);
	KUNIT_ASSERT_EQ(test, mock->l->nr_hints, 2u);
	KUNIT_ASSERT_EQ(test, mock->l->nr_anns, 5u);
	mock_link(5);
	mock_link(310);
	KUNIT_EXPECT_EQ(test, mock_look(300, 0), 310);
	mock_link(310);
	/* Own word from the own shard on, the next word, the rest of the own word. */
	KUNIT_EXPECT_EQ(test, mock_look(12, 0), 310);
	KUNIT_EXPECT_EQ(test, mock_look(12, 0), 5);
	KUNIT_EXPECT_FALSE(test, swq_hinted(mock->l));
	mock_link(319);
	KUNIT_EXPECT_TRUE(test, swq_hinted(mock->l));
	KUNIT_EXPECT_EQ(test, mock_look(0, SWQ_LOOK_LAST), 319);

	/* A whole core far away before the sibling of a busy CPU nearby. */
	mock_go_idle(1);
	mock_go_idle(200);
	mock_go_idle(201);
	mock_enqueue(0, 0, FREE, false);
	KUNIT_EXPECT_EQ(test, mock->rq[200].kicks + mock->rq[201].kicks, 1u);
	mock_enqueue(0, 0, FREE, false);
	KUNIT_EXPECT_EQ(test, mock->rq[1].kicks, 1u);
	mock_enqueue(0, MOCK_OUTSIDE, FREE, false);
	KUNIT_EXPECT_EQ(test, mock->rq[200].kicks + mock->rq[201].kicks, 2u);
	mock_enqueue(0, 0, FREE, false);
	KUNIT_EXPECT_EQ(test, mock->kicks, 3u);
	mock_check(test);
}

/* Whoever sleeps anywhere is found, from anywhere: first around, then onwards. */
static void step_kick_everywhere(struct kunit *test)
{
	unsigned int from, to, i, words;
	bool kicked;

	mock_setup(test, 320, 2, 40);
	words = mock->l->nr_anns;
	KUNIT_ASSERT_EQ(test, words, 5u);
	for (from = 0; from < words; from++) {
		/* One alone. */
		for (to = 0; to < words; to++) {
			mock_go_idle(64 * to + 10);
			mock_enqueue(64 * from + 20, 64 * from + 20, FREE, false);
			KUNIT_EXPECT_EQ_MSG(test, mock->rq[64 * to + 10].kicks, 1u,
					    "from word %u to word %u", from, to);
			mock_go_idle(64 * to + 10);
			mock_leave_idle(64 * to + 10);
			mock->rq[64 * to + 10].kicks = 0;
			mock_unlink_own(64 * from + 20);
			mock_clear_announced();
		}
		/* All of them, and always the next one. */
		for (to = 0; to < words; to++)
			mock_go_idle(64 * to + 10);
		for (i = 0; i < words; i++) {
			int want = 64 * ((from + i) % words) + 10;

			mock_enqueue(64 * from + 20, 64 * from + 20, FREE, false);
			KUNIT_EXPECT_EQ_MSG(test, mock->rq[want].kicks, 1u,
					    "number %u from word %u", i, from);
		}
		for (to = 0; to < words; to++) {
			mock->rq[64 * to + 10].kicks = 0;
			mock_go_idle(64 * to + 10);
			mock_leave_idle(64 * to + 10);
		}
		mock_unlink_own(64 * from + 20);
		mock_clear_announced();
	}
	/* From outside: from the first word on. */
	mock_go_idle(10);
	mock_go_idle(74);
	mock_lock_irq(MOCK_OUTSIDE);
	kicked = swq_kick(mock->l, mock_cpu(MOCK_OUTSIDE), MOCK_OUTSIDE);
	mock_unlock_irq(MOCK_OUTSIDE);
	KUNIT_EXPECT_TRUE(test, kicked);
	KUNIT_EXPECT_EQ(test, mock->rq[10].kicks, 1u);
	KUNIT_EXPECT_EQ(test, mock->rq[74].kicks, 0u);
}

/* Steady states that touch nothing shared. */
static void step_steady_states(struct kunit *test)
{
	int i;

	mock_setup(test, 8, 1, 2);
	/* One task per CPU: enqueue without surplus. */
	mock_fill(0, NONE, 0, 0);
	mock_enqueue(0, 0, FREE, false);
	/* Overcommitted: the token is there, only the announcements are read. */
	mock_link(1);
	for (i = 0; i < 100; i++) {
		mock_enqueue(1, 1, FREE, false);
		mock_put_back(1, FREE);
		mock_tick(1);
	}
	/* An idle CPU with nothing to find. */
	mock_look(1, 0);
	KUNIT_EXPECT_EQ(test, mock_locks(mock->l), 2ul);
	/* Its surplus is gone: left there at first, then taken off. */
	mock_fill(1, FREE, 0, 0);
	mock_look(0, 0);
	KUNIT_EXPECT_EQ(test, mock_locks(mock->l), 2ul);
	mock_later();
	mock_look(0, 0);
	KUNIT_EXPECT_EQ(test, mock_locks(mock->l), 3ul);
	mock_look(0, SWQ_LOOK_LAST);
	mock_look(6, SWQ_LOOK_LAST);
	KUNIT_EXPECT_EQ(test, mock_locks(mock->l), 3ul);
	KUNIT_EXPECT_EQ(test, mock->kicks, 0u);
	mock_check(test);
}

static void step_gate(struct kunit *test)
{
	struct swq_gate g = { };
	u64 now = 10ULL * NSEC_PER_SEC;
	unsigned int i, open;

	/* Dearer than the idle time to come. */
	swq_gate_account(&g, now, 5000, true);
	KUNIT_EXPECT_TRUE(test, swq_gate_open(&g, now + 1, 5000));
	KUNIT_EXPECT_FALSE(test, swq_gate_open(&g, now + 1, 4999));
	/* But one in a few milliseconds is always allowed. */
	KUNIT_EXPECT_TRUE(test, swq_gate_open(&g, now + 4 * NSEC_PER_MSEC, 0));

	/* Futile looks get rarer, down to a floor. */
	for (i = 0; i < 20; i++)
		swq_gate_account(&g, now, 100, false);
	for (open = 0, i = 0; i < 160; i++) {
		if (swq_gate_open(&g, now + 1, NSEC_PER_SEC)) {
			open++;
			swq_gate_account(&g, now, 100, false);
		}
	}
	KUNIT_EXPECT_EQ(test, open, 10u);
	/* One that brought something makes them all count again. */
	swq_gate_account(&g, now, 100, true);
	for (i = 0; i < 10; i++)
		KUNIT_EXPECT_TRUE(test, swq_gate_open(&g, now + 1, NSEC_PER_SEC));

	/* The average follows, and one outlier is bounded. */
	for (i = 0; i < 100; i++)
		swq_gate_account(&g, now, 1000, true);
	KUNIT_EXPECT_GT(test, g.cost, 900u);
	KUNIT_EXPECT_LE(test, g.cost, 1000u);
	swq_gate_account(&g, now, ~0ULL, true);
	KUNIT_EXPECT_LE(test, g.cost, 1000u + (u32)(NSEC_PER_MSEC / 8));
}

/* Three hint words: each is looked at, from the own one on. */
static void step_three_hint_words(struct kunit *test)
{
	static const int at[] = { 10, 150, 300 };
	unsigned int i, j;

	mock_setup(test, 320, 2, 160);
	KUNIT_ASSERT_EQ(test, mock->l->nr_hints, 3u);
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		KUNIT_ASSERT_EQ(test, i, swq_place_of(mock->l, at[i])->shard /
				mock->l->shards_per_hint);
		for (j = 0; j < ARRAY_SIZE(at); j++) {
			/* Each word alone says that there is something. */
			mock_link(at[j] + 1);
			KUNIT_EXPECT_TRUE(test, swq_hinted(mock->l));
			mock_unlink_own(at[j] + 1);
			KUNIT_EXPECT_FALSE(test, swq_hinted(mock->l));
		}
		for (j = 0; j < ARRAY_SIZE(at); j++)
			mock_link(at[j] + 1);
		for (j = 0; j < ARRAY_SIZE(at); j++) {
			int want = at[(i + j) % ARRAY_SIZE(at)] + 1;

			KUNIT_EXPECT_EQ(test, mock_look(at[i], 0), want);
			mock_visit(at[i], want);
		}
		KUNIT_EXPECT_EQ(test, mock_look(at[i], 0), -1);
		KUNIT_EXPECT_FALSE(test, swq_hinted(mock->l));
	}
	/* In the own word what stands before the own shard comes last. */
	mock_link(140);
	mock_link(10);
	KUNIT_EXPECT_EQ(test, mock_look(150, 0), 10);
	KUNIT_EXPECT_EQ(test, mock_look(150, 0), 140);
	mock_visit(150, 10);
	mock_visit(150, 140);
	mock_check(test);
}

/* As many marks as there are hold, then the oldest one is given up. */
static void step_marks_go_round(struct kunit *test)
{
	struct swq_cpu *c;
	int cpu;

	mock_setup(test, 16, 1, 1);
	c = mock_cpu(15);
	for (cpu = 0; cpu < SWQ_MARKS; cpu++)
		refuse(test, 15, cpu);
	swq_look_begin(c);
	KUNIT_EXPECT_EQ(test, mock_look(15, SWQ_LOOK_LAST), -1);
	mock_fill(SWQ_MARKS, FREE, 0, 1);
	mock_publish(SWQ_MARKS, SWQ_MARKS, 0);
	KUNIT_EXPECT_EQ(test, mock_look(15, SWQ_LOOK_LAST), SWQ_MARKS);
	KUNIT_EXPECT_EQ(test, mock_visit(15, SWQ_MARKS), SWQ_VISIT_UNMOVABLE);
	swq_look_begin(c);
	KUNIT_EXPECT_EQ(test, mock_look(15, SWQ_LOOK_LAST), 0);
	KUNIT_EXPECT_EQ(test, mock_visit(15, 0), SWQ_VISIT_UNMOVABLE);
	swq_look_begin(c);
	KUNIT_EXPECT_EQ(test, mock_look(15, SWQ_LOOK_LAST), 1);
	mock_visit(15, 1);
	mock_check(test);
}

/* Statistics begin anew, and a sleeper that wanted the lock meanwhile is woken. */
static void step_shard_reset(struct kunit *test)
{
	struct swq_shard *s;
	unsigned long flags;

	mock_setup(test, 4, 1, 1);
	mock_link(0);
	mock_link(1);
	s = &mock->l->shards[0];
	KUNIT_EXPECT_EQ(test, s->longest, 2U);
	KUNIT_EXPECT_EQ(test, s->nr_linked, 2UL);
	KUNIT_EXPECT_GE(test, s->nr_locks, 2UL);
	s->longest = 7;
	s->nr_contended = 3;
	s->nr_popped = 4;
	s->nr_discarded = 5;
	WRITE_ONCE(s->missed, 1);
	local_irq_save(flags);
	swq_shard_reset(mock->l, s, mock_cpu(3));
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, s->longest, 2U);
	KUNIT_EXPECT_EQ(test, s->nr_locks + s->nr_contended + s->nr_linked +
			s->nr_popped + s->nr_discarded, 0UL);
	KUNIT_EXPECT_EQ(test, s->missed, 0U);
	KUNIT_EXPECT_EQ(test, s->nr, 2U);
	KUNIT_EXPECT_FALSE(test, raw_spin_is_locked(&s->lock));
	mock_check(test);
}

/* A CPU that has left its LLC meanwhile: nothing to remember, nothing to publish. */
static void step_visited_without_queue(struct kunit *test)
{
	unsigned long flags;

	mock_setup(test, 4, 1, 1);
	mock_fill(0, PINNED, 2, 1);
	local_irq_save(flags);
	swq_look_begin(mock_cpu(1));
	swq_visited(NULL, mock_cpu(0), mock_cpu(1), SWQ_VISIT_UNMOVABLE);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, mock_cpu(1)->mark[0].cpu, -1);
	KUNIT_EXPECT_EQ(test, mock_cpu(1)->stat[SWQ_STAT_PULL_UNMOVABLE], 1UL);
	KUNIT_EXPECT_EQ(test, mock_cpu(0)->token.state, (unsigned int)SWQ_UNLINKED);
}

/* What becomes movable without an event is not passed over for ever. */
static void step_marks_end(struct kunit *test)
{
	struct swq_cpu *c;

	mock_setup(test, 4, 1, 1);
	c = mock_cpu(3);
	WRITE_ONCE(mock->clock, -5);
	refuse(test, 3, 0);
	swq_look_begin(c);
	KUNIT_EXPECT_EQ(test, mock_look(3, SWQ_LOOK_LAST), -1);
	WRITE_ONCE(mock->clock, mock->clock + SWQ_STALE_JIFFIES - 1);
	swq_look_begin(c);
	KUNIT_EXPECT_EQ(test, mock_look(3, SWQ_LOOK_LAST), -1);
	WRITE_ONCE(mock->clock, mock->clock + 1);
	swq_look_begin(c);
	KUNIT_EXPECT_EQ(test, mock_look(3, SWQ_LOOK_LAST), 0);
	mock_visit(3, 0);
	mock_check(test);
}

/* A CPU that never refused anything has no marks, not even of CPU 0. */
static void step_no_marks_at_first(struct kunit *test)
{
	unsigned int i;

	mock_setup(test, 4, 1, 1);
	for (i = 0; i < SWQ_MARKS; i++)
		KUNIT_EXPECT_EQ(test, mock_cpu(1)->mark[i].cpu, -1);
	KUNIT_EXPECT_EQ(test, mock_cpu(1)->token.cpu, 1);
	mock_link(0);
	KUNIT_EXPECT_EQ(test, mock_cpu(0)->seq, 0u);
	KUNIT_EXPECT_EQ(test, mock_look(1, 0), 0);
	mock_visit(1, 0);
	mock_check(test);
}

/* What ends a deferral, and what makes marks end: with surplus and without. */
static void step_events(struct kunit *test)
{
	struct swq_cpu *c;
	unsigned int seq;

	mock_setup(test, 4, 1, 1);
	c = mock_cpu(0);
	mock_lock_irq(0);

	/* Nothing waits: a deferral is over, and nothing else happens. */
	c->deferred = true;
	seq = c->seq;
	swq_switched(mock->l, c, 0);
	KUNIT_EXPECT_FALSE(test, c->deferred);
	c->deferred = true;
	swq_switched(mock->l, c, SWQ_EV_PUT_BACK);
	KUNIT_EXPECT_FALSE(test, c->deferred);
	c->deferred = true;
	swq_ticked(mock->l, c, 0);
	KUNIT_EXPECT_FALSE(test, c->deferred);
	mock_enqueued(mock->l, c, c, SWQ_EV_RUNNING | MOCK_EV_SYNC);
	KUNIT_EXPECT_FALSE(test, c->deferred);
	KUNIT_EXPECT_EQ(test, c->seq, seq);
	KUNIT_EXPECT_EQ(test, c->token.state, (unsigned int)SWQ_UNLINKED);

	/* A switch that puts nothing back, nothing due: nothing has changed. */
	mock_fill(0, FREE, 1, 0);
	swq_switched(mock->l, c, SWQ_EV_SURPLUS);
	KUNIT_EXPECT_EQ(test, c->seq, seq);
	KUNIT_EXPECT_EQ(test, c->token.state, (unsigned int)SWQ_UNLINKED);
	/* One that was due. */
	c->deferred = true;
	swq_switched(mock->l, c, SWQ_EV_SURPLUS);
	KUNIT_EXPECT_FALSE(test, c->deferred);
	KUNIT_EXPECT_EQ(test, c->seq, ++seq);
	KUNIT_EXPECT_EQ(test, c->token.state, (unsigned int)SWQ_LINKED);
	/* A put back, an enqueue, a tick beside sleepers. */
	swq_switched(mock->l, c, SWQ_EV_SURPLUS | SWQ_EV_PUT_BACK);
	KUNIT_EXPECT_EQ(test, c->seq, ++seq);
	c->deferred = true;
	swq_enqueued(mock->l, c, c, SWQ_EV_SURPLUS | SWQ_EV_RUNNING);
	KUNIT_EXPECT_FALSE(test, c->deferred);
	KUNIT_EXPECT_EQ(test, c->seq, ++seq);
	swq_ticked(mock->l, c, SWQ_EV_SURPLUS);
	KUNIT_EXPECT_EQ(test, c->seq, ++seq);
	/* Without the idle side a tick has nothing to repair while it is linked. */
	WRITE_ONCE(mock->l->kick, false);
	WRITE_ONCE(mock->clock, mock->clock + 7);
	swq_ticked(mock->l, c, SWQ_EV_SURPLUS);
	KUNIT_EXPECT_EQ(test, c->seq, seq);
	/* But it has surplus at that time. */
	KUNIT_EXPECT_EQ(test, c->surplus_at, mock->clock);
	c->deferred = true;
	swq_switched(mock->l, c, SWQ_EV_SURPLUS);
	KUNIT_EXPECT_EQ(test, c->seq, ++seq);
	KUNIT_EXPECT_EQ(test, c->token.state, (unsigned int)SWQ_LINKED);
	c->deferred = true;
	swq_ticked(mock->l, c, SWQ_EV_SURPLUS);
	KUNIT_EXPECT_FALSE(test, c->deferred);
	KUNIT_EXPECT_EQ(test, c->seq, ++seq);
	swq_unlink_own(mock->l, c, c, false);
	swq_ticked(mock->l, c, SWQ_EV_SURPLUS);
	KUNIT_EXPECT_EQ(test, c->seq, ++seq);
	KUNIT_EXPECT_EQ(test, c->token.state, (unsigned int)SWQ_LINKED);

	/* A deferral is asked for by both: sync, and nothing due. */
	swq_unlink_own(mock->l, c, c, false);
	mock_enqueued(mock->l, c, c, SWQ_EV_SURPLUS | SWQ_EV_RUNNING | MOCK_EV_SYNC);
	KUNIT_EXPECT_TRUE(test, c->deferred);
	KUNIT_EXPECT_EQ(test, c->seq, seq);
	KUNIT_EXPECT_EQ(test, c->token.state, (unsigned int)SWQ_UNLINKED);
	c->deferred = false;
	/* Pinned and not behind a running task. */
	swq_enqueued(mock->l, c, c, SWQ_EV_SURPLUS | SWQ_EV_PINNED);
	KUNIT_EXPECT_EQ(test, c->token.state, (unsigned int)SWQ_LINKED);
	mock_unlock_irq(0);
	mock_check(test);
}

/* The queue of 2023, for comparison: at each wakeup and at each pick. */
static void step_link_all(struct kunit *test)
{
	struct swq_cpu *c, *self;

	mock_setup(test, 8, 1, 2);
	c = mock_cpu(5);
	self = mock_cpu(0);
	mock_fill(5, FREE, 1, 0);
	mock_lock_irq(5);
	swq_wakeup_link(mock->l, c, self);
	KUNIT_EXPECT_EQ(test, c->token.state, (unsigned int)SWQ_LINKED);
	KUNIT_EXPECT_PTR_EQ(test, c->token.shard, mock_shard(1));
	KUNIT_EXPECT_TRUE(test, mock_hinted(mock_shard(1)));
	KUNIT_EXPECT_EQ(test, mock_shard(1)->nr, 1u);
	KUNIT_EXPECT_EQ(test, mock_shard(1)->nr_linked, 1ul);
	/* Linked already: only the lock is taken, as ever. */
	swq_wakeup_link(mock->l, c, self);
	KUNIT_EXPECT_EQ(test, mock_shard(1)->nr_linked, 1ul);
	KUNIT_EXPECT_EQ(test, mock_shard(1)->nr_locks, 2ul);
	KUNIT_EXPECT_EQ(test, mock_stat(0, SWQ_STAT_LOCKS), 2ul);
	KUNIT_EXPECT_EQ(test, mock_stat(0, SWQ_STAT_LINKED), 1ul);

	/* Something is left over: to the tail, in one section. */
	swq_unlink_own(mock->l, c, c, true);
	KUNIT_EXPECT_EQ(test, c->token.state, (unsigned int)SWQ_LINKED);
	KUNIT_EXPECT_TRUE(test, mock_hinted(mock_shard(1)));
	KUNIT_EXPECT_EQ(test, mock_shard(1)->nr_locks, 3ul);
	KUNIT_EXPECT_EQ(test, mock_shard(1)->nr_linked, 2ul);
	KUNIT_EXPECT_EQ(test, mock_stat(5, SWQ_STAT_UNLINKED), 1ul);
	/* Nothing is. */
	swq_unlink_own(mock->l, c, c, false);
	KUNIT_EXPECT_EQ(test, c->token.state, (unsigned int)SWQ_UNLINKED);
	KUNIT_EXPECT_FALSE(test, mock_hinted(mock_shard(1)));
	KUNIT_EXPECT_EQ(test, mock_shard(1)->nr_locks, 4ul);
	KUNIT_EXPECT_EQ(test, mock_stat(5, SWQ_STAT_UNLINKED), 2ul);
	/* Not linked at all: no lock. */
	swq_unlink_own(mock->l, c, c, false);
	swq_unlink_own(mock->l, c, c, false);
	KUNIT_EXPECT_EQ(test, mock_shard(1)->nr_locks, 4ul);
	mock_unlock_irq(5);
	mock_fill(5, FREE, 0, 0);
	mock_check(test);
}

/* Each counter, over a life of a token with everything that can happen. */
static void step_counts(struct kunit *test)
{
	struct swq_shard *s;

	mock_setup(test, 8, 1, 2);
	s = mock_shard(0);
	mock_go_idle(5);
	mock_enqueue(0, 1, FREE, false);
	KUNIT_EXPECT_EQ(test, mock_stat(1, SWQ_STAT_LINKED), 1ul);
	KUNIT_EXPECT_EQ(test, mock_stat(1, SWQ_STAT_LINKED_AWAY), 0ul);
	KUNIT_EXPECT_EQ(test, mock_stat(1, SWQ_STAT_LOCKS), 1ul);
	KUNIT_EXPECT_EQ(test, mock_stat(1, SWQ_STAT_KICKED), 1ul);
	KUNIT_EXPECT_EQ(test, mock_stat(1, SWQ_STAT_SKIPPED_LINKED), 0ul);
	KUNIT_EXPECT_EQ(test, s->nr_linked, 1ul);
	KUNIT_EXPECT_EQ(test, s->longest, 1u);
	mock_enqueue(0, 1, FREE, false);
	KUNIT_EXPECT_EQ(test, mock_stat(1, SWQ_STAT_SKIPPED_LINKED), 1ul);
	KUNIT_EXPECT_EQ(test, mock_stat(1, SWQ_STAT_KICKED), 1ul);
	mock_enqueue(1, 1, FREE, false);
	mock_enqueue(2, 2, FREE, false);
	KUNIT_EXPECT_EQ(test, s->longest, 3u);
	KUNIT_EXPECT_EQ(test, s->nr_linked, 3ul);

	/* Three looks, three visits that end in three ways. */
	KUNIT_EXPECT_EQ(test, mock_look(6, 0), 0);
	KUNIT_EXPECT_EQ(test, mock_stat(6, SWQ_STAT_PULL_TRIES), 1ul);
	KUNIT_EXPECT_EQ(test, mock_stat(6, SWQ_STAT_PULL_EMPTY), 0ul);
	KUNIT_EXPECT_EQ(test, mock_stat(6, SWQ_STAT_POPPED), 1ul);
	KUNIT_EXPECT_EQ(test, s->nr_popped, 1ul);
	KUNIT_EXPECT_EQ(test, mock_visit(6, 0), SWQ_VISIT_MOVED);
	KUNIT_EXPECT_EQ(test, mock_stat(6, SWQ_STAT_PULL_MOVED), 1ul);
	mock_fill(1, FREE, 0, 1);
	KUNIT_EXPECT_EQ(test, mock_look(6, 0), 1);
	KUNIT_EXPECT_EQ(test, mock_visit(6, 1), SWQ_VISIT_UNMOVABLE);
	KUNIT_EXPECT_EQ(test, mock_stat(6, SWQ_STAT_PULL_UNMOVABLE), 1ul);
	KUNIT_EXPECT_EQ(test, mock_look(6, 0), 2);
	mock_fill(2, FREE, 0, 0);
	KUNIT_EXPECT_EQ(test, mock_visit(6, 2), SWQ_VISIT_STALE);
	KUNIT_EXPECT_EQ(test, mock_stat(6, SWQ_STAT_PULL_STALE), 1ul);
	KUNIT_EXPECT_EQ(test, mock_stat(6, SWQ_STAT_PULL_MOVED), 1ul);
	KUNIT_EXPECT_EQ(test, mock_stat(6, SWQ_STAT_PULL_UNMOVABLE), 1ul);
	KUNIT_EXPECT_EQ(test, s->nr_popped, 3ul);
	/* What was left over was linked again, by the visitor. */
	KUNIT_EXPECT_EQ(test, mock_stat(6, SWQ_STAT_LINKED), 2ul);
	KUNIT_EXPECT_EQ(test, s->nr_linked, 5ul);
	KUNIT_EXPECT_EQ(test, s->longest, 3u);

	/* Taken off because it is stale; then a look that finds nothing. */
	mock_fill(0, FREE, 0, 0);
	mock_fill(1, FREE, 0, 0);
	mock_later();
	KUNIT_EXPECT_EQ(test, mock_look(6, 0), -1);
	KUNIT_EXPECT_EQ(test, mock_stat(6, SWQ_STAT_DISCARDED), 2ul);
	KUNIT_EXPECT_EQ(test, s->nr_discarded, 2ul);
	KUNIT_EXPECT_EQ(test, mock_stat(6, SWQ_STAT_PULL_TRIES), 4ul);
	KUNIT_EXPECT_EQ(test, mock_stat(6, SWQ_STAT_PULL_EMPTY), 1ul);
	KUNIT_EXPECT_EQ(test, mock_look(6, 0), -1);
	KUNIT_EXPECT_EQ(test, mock_stat(6, SWQ_STAT_PULL_TRIES), 4ul);
	KUNIT_EXPECT_EQ(test, mock_stat(6, SWQ_STAT_PULL_EMPTY), 1ul);
	KUNIT_EXPECT_EQ(test, mock_stat(6, SWQ_STAT_POPPED), 3ul);
	KUNIT_EXPECT_EQ(test, s->nr_locks, mock_stat(1, SWQ_STAT_LOCKS) +
			mock_stat(2, SWQ_STAT_LOCKS) + mock_stat(6, SWQ_STAT_LOCKS));

	/* Work came in the discard: popped, and not discarded. */
	mock_link_stale(0);
	mock_at(SWQ_STEP_DISCARDED, NULL, act_raise, (void *)0);
	KUNIT_EXPECT_EQ(test, mock_look(6, 0), 0);
	KUNIT_EXPECT_EQ(test, s->nr_discarded, 2ul);
	KUNIT_EXPECT_EQ(test, s->nr_popped, 4ul);
	mock_visit(6, 0);
	mock_check(test);
}

/* The cost gate, number by number. */
static void step_gate_numbers(struct kunit *test)
{
	static const unsigned int skips[] = { 1, 3, 7, 15, 15, 15 };
	const u64 now = 10ULL * NSEC_PER_SEC;
	struct swq_gate g = { };
	unsigned int i, n;

	/* The first cost is taken as it is, then an eighth of each. */
	swq_gate_account(&g, now, 800, true);
	KUNIT_EXPECT_EQ(test, g.cost, 800u);
	swq_gate_account(&g, now, 1600, true);
	KUNIT_EXPECT_EQ(test, g.cost, 800u - 100u + 200u);
	swq_gate_account(&g, now, 0, true);
	KUNIT_EXPECT_EQ(test, g.cost, 900u - 112u);
	KUNIT_EXPECT_EQ(test, g.last, now);
	g.cost = 0;
	swq_gate_account(&g, now, 5 * NSEC_PER_MSEC, true);
	KUNIT_EXPECT_EQ(test, g.cost, (u32)NSEC_PER_MSEC);

	/* One brought something, the next ones did not: each doubles what is left out. */
	g.cost = 100;
	for (i = 0; i < ARRAY_SIZE(skips); i++) {
		swq_gate_account(&g, now, 100, false);
		for (n = 0; !swq_gate_open(&g, now + 1, NSEC_PER_SEC); n++)
			KUNIT_ASSERT_LE(test, n, 100u);
		KUNIT_EXPECT_EQ_MSG(test, n, skips[i], "look %u", i);
		/* Until the next look ends they all may. */
		KUNIT_EXPECT_TRUE(test, swq_gate_open(&g, now + 1, NSEC_PER_SEC));
	}
	swq_gate_account(&g, now, 100, true);
	KUNIT_EXPECT_TRUE(test, swq_gate_open(&g, now, NSEC_PER_SEC));

	/* The floor counts from the end of the last look. */
	swq_gate_account(&g, now, 100, false);
	KUNIT_EXPECT_FALSE(test, swq_gate_open(&g, now + 4 * NSEC_PER_MSEC - 1, 0));
	KUNIT_EXPECT_TRUE(test, swq_gate_open(&g, now + 4 * NSEC_PER_MSEC, 0));
	/* A chance that is too short to look is not one of those left out. */
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_FALSE(test, swq_gate_open(&g, now, g.cost - 1));
	KUNIT_EXPECT_FALSE(test, swq_gate_open(&g, now, g.cost));
	KUNIT_EXPECT_TRUE(test, swq_gate_open(&g, now, g.cost));
	/* From no look at all: the first one that fails leaves none out. */
	memset(&g, 0, sizeof(g));
	swq_gate_account(&g, now, 100, false);
	KUNIT_EXPECT_TRUE(test, swq_gate_open(&g, now, NSEC_PER_SEC));
}

static void act_owners_unlink(void *nr)
{
	int cpu;

	for (cpu = 0; cpu < (long)nr; cpu++) {
		mock_fill(cpu, FREE, 0, 0);
		mock_unlink_own(cpu);
	}
}

/* Between two sections of a last look the rest of the list may go away. */
static void step_list_goes_away(struct kunit *test)
{
	int cpu;

	mock_setup(test, 16, 1, 2);
	/* As many as a CPU remembers have been refused, and stand in front. */
	for (cpu = 0; cpu < SWQ_MARKS; cpu++) {
		mock_fill(cpu, PINNED, 0, 1);
		mock_publish(cpu, cpu, SWQ_PUB_QUIET);
		KUNIT_EXPECT_EQ(test, mock_look(9, 0), cpu);
		KUNIT_EXPECT_EQ(test, mock_visit(9, cpu), SWQ_VISIT_UNMOVABLE);
	}
	mock_link(4);
	mock_link(5);
	KUNIT_EXPECT_EQ(test, mock_shard(0)->nr, 6u);
	mock_at(SWQ_STEP_UNLOCKED, NULL, act_owners_unlink, (void *)6);
	KUNIT_EXPECT_EQ(test, mock_look(9, SWQ_LOOK_LAST), -1);
	KUNIT_EXPECT_EQ(test, mock_shard(0)->nr, 0u);
	KUNIT_EXPECT_FALSE(test, mock_hinted(mock_shard(0)));
	KUNIT_EXPECT_EQ(test, mock_stat(9, SWQ_STAT_PULL_EMPTY), 1ul);
	mock_check(test);
}

/* A kick that comes to a CPU whose LLC has lost its queue ends there. */
static void step_kick_without_queue(struct kunit *test)
{
	unsigned long flags;

	mock_setup(test, 4, 1, 1);
	mock_go_idle(1);
	mock_go_idle(2);
	KUNIT_EXPECT_TRUE(test, swq_kick(mock->l, mock_cpu(0), 0));
	KUNIT_EXPECT_EQ(test, mock_idle_state(1), (unsigned int)SWQ_KICKED);
	local_irq_save(flags);
	swq_idle_exit(NULL, mock_cpu(1));
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, mock_idle_state(1), (unsigned int)SWQ_BUSY);
	KUNIT_EXPECT_EQ(test, mock_stat(1, SWQ_STAT_KICK_PASSED), 0ul);
	KUNIT_EXPECT_EQ(test, mock->kicks, 1u);
	/* And is not owed any more. */
	mock_leave_idle(1);
	KUNIT_EXPECT_EQ(test, mock->kicks, 1u);
}

/* As in a kernel without tests: no hooks, and the time is jiffies. */
static void step_without_hooks(struct kunit *test)
{
	mock_setup(test, 4, 1, 2);
	mock->l->step = NULL;
	mock->l->clock = NULL;
	mock_enqueue(0, 0, FREE, false);
	KUNIT_EXPECT_TRUE(test, mock_linked(0));
	KUNIT_EXPECT_LT(test, (u32)jiffies - mock_cpu(0)->surplus_at, (u32)SWQ_STALE_JIFFIES);
	/* Stale, but not for long. */
	mock_fill(0, FREE, 0, 0);
	KUNIT_EXPECT_EQ(test, mock_look(1, 0), -1);
	KUNIT_EXPECT_TRUE(test, mock_linked(0));
	/* For long. */
	mock_cpu(0)->surplus_at = (u32)jiffies - 2 * SWQ_STALE_JIFFIES;
	KUNIT_EXPECT_EQ(test, mock_look(1, 0), -1);
	KUNIT_EXPECT_FALSE(test, mock_linked(0));
	mock_check(test);
}

static void step_stat_names(struct kunit *test)
{
	unsigned int i, j;

	for (i = 0; i < SWQ_NR_STATS; i++) {
		KUNIT_ASSERT_NOT_NULL(test, swq_stat_names[i]);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_STRNEQ(test, swq_stat_names[i], swq_stat_names[j]);
	}
}

static struct kunit_case step_cases[] = {
	KUNIT_CASE(step_stale),
	KUNIT_CASE(step_stale_since_boot),
	KUNIT_CASE(step_stale_hides_nothing),
	KUNIT_CASE(step_stale_many),
	KUNIT_CASE(step_second_look),
	KUNIT_CASE(step_skip_rereads),
	KUNIT_CASE(step_removed_then_unlinked),
	KUNIT_CASE(step_hint_linker_waits),
	KUNIT_CASE(step_hint_cleared_inside),
	KUNIT_CASE(step_refused_keeps_hint),
	/* Before all that hold a lock while somebody else looks. */
	KUNIT_CASE(step_foreign_not_waited_for),
	KUNIT_CASE(step_missed),
	KUNIT_CASE(step_missed_retry),
	KUNIT_CASE(step_missed_later),
	KUNIT_CASE(step_missed_quiet_linker),
	KUNIT_CASE_PARAM(step_visit_exits, visit_exit_gen_params),
	KUNIT_CASE(step_not_now),
	KUNIT_CASE(step_skip_kicks),
	KUNIT_CASE(step_kick_passed),
	KUNIT_CASE(step_kick_is_one_step),
	KUNIT_CASE(step_kick_raced),
	KUNIT_CASE(step_announced_while_taken),
	KUNIT_CASE(step_announce_then_look),
	KUNIT_CASE(step_link_then_kick),
	KUNIT_CASE(step_put_back_retries),
	KUNIT_CASE(step_marks_end_at_tick),
	KUNIT_CASE(step_put_back_unlinked),
	KUNIT_CASE(step_tick_ends_deferral),
	KUNIT_CASE(step_tick_ends_deferral_linked),
	KUNIT_CASE(step_second_sync_publishes),
	KUNIT_CASE(step_pick_ends_deferral),
	KUNIT_CASE(step_switched_on),
	KUNIT_CASE(step_own_token),
	KUNIT_CASE(step_kick_owed),
	KUNIT_CASE(step_idle_again),
	KUNIT_CASE(step_hidden_work),
	KUNIT_CASE(step_bounded),
	KUNIT_CASE(step_linked_away),
	KUNIT_CASE(step_outsider_waits),
	KUNIT_CASE(step_pinned),
	KUNIT_CASE(step_unlink_popped),
	KUNIT_CASE(step_whole_core_first),
	KUNIT_CASE(step_kick_off),
	KUNIT_CASE(step_reshard),
	KUNIT_CASE(step_reshard_long_list),
	KUNIT_CASE(step_reshard_to_nothing),
	KUNIT_CASE(step_reshard_paused_linker),
	KUNIT_CASE(step_reshard_paused_unlink),
	KUNIT_CASE(step_two_llcs),
	KUNIT_CASE(step_reshard_sweeps_all),
	KUNIT_CASE(step_unlink_remembers),
	KUNIT_CASE(step_pick_beside_old_layout),
	KUNIT_CASE(step_reshard_late_looker),
	KUNIT_CASE(step_look_order),
	KUNIT_CASE(step_wide_llc),
	KUNIT_CASE(step_kick_everywhere),
	KUNIT_CASE(step_steady_states),
	KUNIT_CASE(step_gate),
	KUNIT_CASE(step_three_hint_words),
	KUNIT_CASE(step_marks_go_round),
	KUNIT_CASE(step_shard_reset),
	KUNIT_CASE(step_visited_without_queue),
	KUNIT_CASE(step_marks_end),
	KUNIT_CASE(step_no_marks_at_first),
	KUNIT_CASE(step_events),
	KUNIT_CASE(step_link_all),
	KUNIT_CASE(step_counts),
	KUNIT_CASE(step_gate_numbers),
	KUNIT_CASE(step_list_goes_away),
	KUNIT_CASE(step_kick_without_queue),
	KUNIT_CASE(step_without_hooks),
	KUNIT_CASE(step_stat_names),
	{}
};

static struct kunit_suite steps_suite = {
	.name = "swqueue_steps",
	.test_cases = step_cases,
};

kunit_test_suite(steps_suite);
