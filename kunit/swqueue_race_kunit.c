// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared wake queue: concurrency.
 *
 *   swqueue_random   four CPUs, a waker and an administrator, one running at a
 *                    time, interleaved at random between any two steps of the
 *                    protocol; each time that all have come to rest, no CPU
 *                    may sleep beside work that it could take
 *   swqueue_threads  the same people all at once
 */
#include <linux/module.h>
#include <linux/random.h>

#include "swqueue_play.h"

static unsigned int steps = 20000;
module_param(steps, uint, 0444);
MODULE_PARM_DESC(steps, "steps of a random interleaving");

static unsigned int runtime_ms = 1000;
module_param(runtime_ms, uint, 0444);
MODULE_PARM_DESC(runtime_ms, "duration of each test with threads");

static unsigned int seed;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "of the random streams, 0 to choose one");

static int person_main(void *arg)
{
	struct person *p = arg;

	if (!play->free_running)
		wait_for_turn(p);
	while (!READ_ONCE(play->stop)) {
		person_turn(p);
		if (play->free_running)
			cond_resched();
	}
	/* Until the test stops it. */
	while (!kthread_should_stop())
		usleep_range(100, 200);

	return 0;
}

KUNIT_DEFINE_ACTION_WRAPPER(stop_person, kthread_stop, struct task_struct *);

static void end_play_action(void *unused)
{
	end_play(NULL);
}

static struct task_struct *new_person(struct kunit *test, unsigned int me,
				      unsigned int cpu, u32 of)
{
	struct person *p = &play->p[me];

	p->me = me;
	prandom_seed_state(&p->rnd, of + me);
	p->task = kthread_create_on_cpu(person_main, p, cpu, "swq_race/%u");
	KUNIT_ASSERT_FALSE(test, IS_ERR(p->task));

	return p->task;
}

static void stage(struct kunit *test, unsigned int nr_cpus, unsigned int threads,
		  bool free_running)
{
	unsigned int i, of = seed ?: get_random_u32(), cpu = 0;

	mock_setup(test, nr_cpus, threads, 1);
	play = kunit_kzalloc(test, sizeof(*play), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, play);
	kunit_info(test, "seed=%u\n", of);
	play_set(nr_cpus, free_running);
	play->most = steps;

	for (i = 0; i < play->nr; i++) {
		cpu = i % num_online_cpus();
		new_person(test, i, cpumask_nth(cpu, cpu_online_mask), of);
		KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, stop_person,
								   play->p[i].task));
	}
	/* Undone first: nobody may still be waiting for a turn. */
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, end_play_action, NULL));
	for (i = 0; i < play->nr; i++)
		wake_up_process(play->p[i].task);
}

static void curtain(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < play->nr; i++)
		kunit_release_action(test, stop_person, play->p[i].task);
	mock->step = NULL;
}

static void play_in_turns(struct kunit *test, unsigned int threads)
{
	/*
	 * Each waits for its turn with interrupts off. In a kernel the thread
	 * whose turn it is may have been preempted by somebody who waits for
	 * an answer to an IPI from just that CPU.
	 */
#ifdef __KERNEL__
	kunit_skip(test, "takes turns with interrupts off, userspace only");
#endif

	stage(test, 4, threads, false);
	wait_for_completion(&play->over);
	curtain(test);
	if (play->error)
		KUNIT_FAIL(test, "%s, after %u steps and %u rests", play->error,
			   play->steps, play->rests);
	KUNIT_EXPECT_GT(test, play->rests, steps / 1000);
	kunit_info(test, "%u steps, at rest %u times\n", play->steps, play->rests);
}

static void random_four_cores(struct kunit *test)
{
	play_in_turns(test, 1);
}

static void random_two_cores(struct kunit *test)
{
	play_in_turns(test, 2);
}

static struct kunit_case random_cases[] = {
	KUNIT_CASE_SLOW(random_four_cores),
	KUNIT_CASE_SLOW(random_two_cores),
	{}
};

static struct kunit_suite random_suite = {
	.name = "swqueue_random",
	.test_cases = random_cases,
};

/* All at once; then everybody stops, and what is left must come to rest. */
static void threads_play(struct kunit *test)
{
	unsigned int nr = clamp(num_online_cpus(), 2U, (unsigned int)MAX_CPUS);
	const char *error;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs 2 CPUs");

	stage(test, nr, 2, true);
	msleep(runtime_ms);
	end_play(NULL);
	curtain(test);
	rcu_barrier();

	error = judge_stopped();
	KUNIT_EXPECT_NULL_MSG(test, error, "%s", error);
}

/*
 * Owner and discarder, each with its store in flight: the store buffering that
 * the two full barriers forbid. Either the token is linked or it was popped.
 */

struct meeting {
	unsigned int		round[2];
	bool			over;
	bool			lost;
	int			popped;
	u32			delay[2];
};

static struct meeting *meeting;

/* Both come here, and leave at nearly the same time. */
static bool meet(unsigned int me, unsigned int round)
{
	unsigned int spins = 0;

	/* Each pairs with the other's: what was prepared is seen. */
	smp_store_release(&meeting->round[me], round);
	/* As above. */
	while (smp_load_acquire(&meeting->round[!me]) < round) {
		if (READ_ONCE(meeting->over) || READ_ONCE(meeting->lost))
			return false;
		/* Not each time: the point is to leave at the same time. */
		if (++spins % 64 == 0)
			cpu_relax();
	}
	return true;
}

static void dawdle(unsigned int me)
{
	unsigned int i;

	for (i = 0; i < meeting->delay[me]; i++)
		barrier();
}

static int meeting_owner(void *arg)
{
	struct rnd_state rnd;
	unsigned int i;

	prandom_seed_state(&rnd, 1);
	for (i = 0; ; i += 2) {
		mock_fill(0, FREE, 0, 0);
		if (!mock_linked(0))
			mock_publish(0, 0, SWQ_PUB_QUIET);
		mock_dormant(0);
		meeting->popped = -1;
		meeting->delay[0] = prandom_u32_state(&rnd) % 64;
		meeting->delay[1] = prandom_u32_state(&rnd) % 64;
		if (!meet(0, i + 1))
			break;
		dawdle(0);
		mock_enqueue(0, 0, FREE, false);
		if (!meet(0, i + 2))
			break;
		if (meeting->popped < 0 && !mock_linked(0)) {
			WRITE_ONCE(meeting->lost, true);
			break;
		}
		if (i % 1024 == 0)
			cond_resched();
	}
	while (!kthread_should_stop())
		usleep_range(100, 200);
	return 0;
}

static int meeting_looker(void *arg)
{
	unsigned int i;

	for (i = 0; ; i += 2) {
		if (!meet(1, i + 1))
			break;
		dawdle(1);
		meeting->popped = mock_look(1, 0);
		if (!meet(1, i + 2))
			break;
		if (i % 1024 == 0)
			cond_resched();
	}
	while (!kthread_should_stop())
		usleep_range(100, 200);
	return 0;
}

static void threads_skip_or_discard(struct kunit *test)
{
	int (*fn[])(void *) = { meeting_owner, meeting_looker };
	struct task_struct *t[2];
	unsigned int i;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs 2 CPUs");

	mock_setup(test, 4, 1, 1);
	mock->l->kick = false;
	meeting = kunit_kzalloc(test, sizeof(*meeting), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, meeting);
	for (i = 0; i < 2; i++) {
		t[i] = kthread_create_on_cpu(fn[i], NULL, cpumask_nth(i, cpu_online_mask),
					     "swq_meet/%u");
		KUNIT_ASSERT_FALSE(test, IS_ERR(t[i]));
		KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, stop_person, t[i]));
	}
	for (i = 0; i < 2; i++)
		wake_up_process(t[i]);
	msleep(runtime_ms);
	WRITE_ONCE(meeting->over, true);
	for (i = 0; i < 2; i++)
		kunit_release_action(test, stop_person, t[i]);
	KUNIT_EXPECT_FALSE_MSG(test, meeting->lost, "neither linked nor popped, in round %u",
			       meeting->round[0] / 2);
	kunit_info(test, "%u rounds\n", meeting->round[0] / 2);
	mock_check(test);
}

static struct kunit_case threads_cases[] = {
	KUNIT_CASE_SLOW(threads_play),
	KUNIT_CASE_SLOW(threads_skip_or_discard),
	{}
};

static struct kunit_suite threads_suite = {
	.name = "swqueue_threads",
	.test_cases = threads_cases,
};

kunit_test_suites(&random_suite, &threads_suite);
