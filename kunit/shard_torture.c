// SPDX-License-Identifier: GPL-2.0-only
/*
 * Torture test of the shared wake queue and the CID cache.
 *
 * Threads play the CPUs of a wake queue with mock runqueues and the CPUs of a
 * CID cache with mms of its own, all at once: they link, look, take, discard,
 * re-shard and toggle there, and take, park, steal and give back ids here. Each
 * use of an id is checked on the spot. Now and then everybody stops between two
 * turns, and the structures are judged: whole, and nothing that waits is lost.
 *
 * Nothing here touches what the scheduler uses; that is tortured from user space
 * meanwhile. Meant for "make torture", but it also runs by hand:
 *
 *	cd /sys/module/shard_torture/parameters
 *	echo 1 >run; sleep 60; echo 0 >run; dmesg | tail
 *
 * or from the boot on with shard_torture.run=1. The verdict is a line
 * "shard-torture:--- End of test: SUCCESS" or "FAILURE".
 */
#include <linux/cpu.h>
#include <linux/init.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/random.h>
#include <linux/torture.h>
#include <linux/vmalloc.h>

#include "cid_cache_race.h"
#include "swqueue_play.h"

/* No torture_param(): these may change between two runs. */

static int nthreads;
module_param(nthreads, int, 0644);
MODULE_PARM_DESC(nthreads, "CPUs to play in each structure, 0 for one per online CPU");

static int broken;
module_param(broken, int, 0644);
MODULE_PARM_DESC(broken, "what to do wrong: 1 steal, 2 forget, 3 no sweep, 4 leak");

static int judge_interval = 500;
module_param(judge_interval, int, 0644);
MODULE_PARM_DESC(judge_interval, "time between judgements (ms)");

static int stat_interval = 10;
module_param(stat_interval, int, 0644);
MODULE_PARM_DESC(stat_interval, "time between lines of statistics (s), 0 for none");

static int stutter = 2;
module_param(stutter, int, 0644);
MODULE_PARM_DESC(stutter, "seconds to run and to halt in turns, 0 to run on");

static int shuffle_interval;
module_param(shuffle_interval, int, 0644);
MODULE_PARM_DESC(shuffle_interval, "seconds between shuffles, 0 to keep each thread on its CPU");

static int onoff_holdoff;
module_param(onoff_holdoff, int, 0644);
MODULE_PARM_DESC(onoff_holdoff, "time after the start before CPU hotplug (s)");

static int onoff_interval;
module_param(onoff_interval, int, 0644);
MODULE_PARM_DESC(onoff_interval, "time between CPU hotplugs (ms), 0 for none");

static int verbose;
module_param(verbose, int, 0644);
MODULE_PARM_DESC(verbose, "say more");

/* The last one is nothing that this test sees: it is for those that look for leaks. */
#define BROKEN_STEAL	1
#define BROKEN_FORGETS	2
#define BROKEN_NO_SWEEP	3
#define BROKEN_LEAKS	4

/* Turns between two looks at what others want. */
#define TURNS		64

static bool run;
static char *torture_type = "shard";

/**
 * struct shard_torture - a run
 * @play: the wake queue
 * @mock: ... and its runqueues
 * @race: the CID cache
 * @rc: ... and its CPUs
 * @cid: threads of @rc
 * @judge: thread that judges
 * @stats: thread that prints statistics
 * @nr: CPUs played in each structure
 * @nr_threads: threads that stop for a judgement
 * @round: odd while everybody shall stand still
 * @nr_still: how many do
 * @judgements: how many were made
 * @turns: of all threads of the queue
 * @error: what was found first
 */
struct shard_torture {
	struct play		play;
	struct mock		mock;
	struct race		race;
	struct race_cpu		rc[RACE_MAX_CPUS];
	struct task_struct	*cid[RACE_MAX_CPUS];
	struct task_struct	*judge;
	struct task_struct	*stats;
	unsigned int		nr;
	unsigned int		nr_threads;
	unsigned int		round;
	atomic_t		nr_still;
	unsigned long		judgements;
	atomic_long_t		turns;
	const char		*error;
};

static struct shard_torture *st;

/* Told once: what follows an error is no news. */
static void found(const char *error)
{
	if (error && !cmpxchg(&st->error, NULL, error))
		TOROUT_ERRSTRING(error);
}

/* Where a thread is for itself: its CPU, if that is there and nobody shuffles. */
static void stay_home(unsigned int n)
{
	unsigned int cpu = n % nr_cpu_ids;

	if (!shuffle_interval && cpu_online(cpu) &&
	    !cpumask_equal(current->cpus_ptr, cpumask_of(cpu)))
		set_cpus_allowed_ptr(current, cpumask_of(cpu));
}

/*
 * The administrator is the last to stand still. What was missed while the feature
 * was off is found by ticks, now. Then every other time there is a new layout:
 * nothing happens any more that would publish, so what the sweep leaves out stays
 * lost.
 */
static void last_turn(struct person *p)
{
	unsigned int cpu;

	/* Pairs with between_turns() of the others. */
	while (atomic_read_acquire(&st->nr_still) != st->nr_threads - 1) {
		if (torture_must_stop())
			return;
		schedule_timeout_interruptible(1);
	}
	toggle(p, true);
	for (cpu = 0; cpu < st->nr; cpu++) {
		if (tick_is_due(&mock->rq[cpu]))
			tick(&st->play.p[cpu]);
	}
	if (st->round & 2)
		reshard(p);
}

/*
 * Between two turns: halt if everybody halts, stand still for a judgement. @p
 * for the administrator only.
 */
static void between_turns(const char *title, unsigned int home, struct person *p)
{
	unsigned int round;

	stutter_wait(title);
	/* Pairs with stand_still() and go_on(). */
	round = smp_load_acquire(&st->round);
	if (round & 1) {
		if (p)
			last_turn(p);
		/* Pairs with stand_still(): the judge sees what was done. */
		atomic_inc_return_release(&st->nr_still);
		/* Pairs with go_on(): what the judge has played is seen. */
		while (smp_load_acquire(&st->round) == round && !torture_must_stop())
			schedule_timeout_interruptible(1);
	}
	stay_home(home);
	cond_resched();
}

static int shard_torture_queue(void *arg)
{
	struct person *p = arg;
	unsigned int i;

	VERBOSE_TOROUT_STRING("queue task started");
	/* One against many: re-shards shall not be what is seldom. */
	if (p->me == st->nr + 1)
		set_user_nice(current, MIN_NICE);
	while (!torture_must_stop()) {
		for (i = 0; i < TURNS && !torture_must_stop(); i++) {
			person_turn(p);
			/* A re-shard waits for a grace period: that is turns enough. */
			if (p->me == st->nr + 1)
				break;
		}
		atomic_long_add(i, &st->turns);
		between_turns("torture_queue", p->me, p->me == st->nr + 1 ? p : NULL);
	}
	torture_kthread_stopping("torture_queue");
	return 0;
}

/*
 * What cid_search steals with a cmpxchg, taken with a read and a write, and with
 * time enough between them for the owner to resume it.
 */
static void steal_badly(struct race_cpu *rc)
{
	struct race *r = rc->race;
	u32 x = prandom_u32_state(&rc->rnd);
	u64 *word = &r->cache[x % r->env.nr_cpus].word[x / 64 % CID_CACHE_WORDS];

	if (x / 1024 % 8 || cid_word_state(READ_ONCE(*word)) != CID_PARKED)
		return;
	usleep_range(20, 200);
	WRITE_ONCE(*word, CID_EMPTY);
}

static int shard_torture_cid(void *arg)
{
	static const u32 keep[] = { 0, 2, CID_KEEP_FOREVER };
	struct race_cpu *rc = arg;
	unsigned int i;

	VERBOSE_TOROUT_STRING("cid task started");
	while (!torture_must_stop() && !READ_ONCE(rc->race->error)) {
		for (i = 0; i < TURNS; i++) {
			race_turn(rc);
			if (broken == BROKEN_STEAL)
				steal_badly(rc);
		}
		if (!rc->cpu && rc->turns % (256 * TURNS) == 0)
			WRITE_ONCE(rc->race->env.keep,
				   keep[get_random_u32_below(ARRAY_SIZE(keep))]);
		between_turns("torture_cid", rc->cpu, NULL);
	}
	/* With an error the ids are no longer fit for use; others still wait for it. */
	found(READ_ONCE(rc->race->error));
	while (!torture_must_stop())
		between_turns("torture_cid", rc->cpu, NULL);
	if (!READ_ONCE(rc->race->error))
		race_leave(rc);
	torture_kthread_stopping("torture_cid");
	return 0;
}

/* Return: false if the test ends before everybody stands still. */
static bool stand_still(void)
{
	atomic_set(&st->nr_still, 0);
	/* Pairs with between_turns(): the zero is there first. */
	smp_store_release(&st->round, st->round + 1);
	/* Pairs with between_turns(). */
	while (atomic_read_acquire(&st->nr_still) != st->nr_threads) {
		if (torture_must_stop())
			return false;
		schedule_timeout_interruptible(1);
	}
	return true;
}

static void go_on(void)
{
	/* Pairs with between_turns(). */
	smp_store_release(&st->round, st->round + 1);
}

static void judge(void)
{
	WRITE_ONCE(st->judgements, st->judgements + 1);
	found(judge_stopped());
	found(race_judge(&st->race, st->rc));
}

static int shard_torture_judge(void *arg)
{
	VERBOSE_TOROUT_STRING("judge task started");
	set_user_nice(current, MIN_NICE);
	while (!torture_must_stop()) {
		if (stand_still())
			judge();
		go_on();
		torture_hrtimeout_ms(max(judge_interval, 1), 1000, NULL);
	}
	torture_kthread_stopping("torture_judge");
	return 0;
}

static unsigned long queue_stat(enum swq_stat stat)
{
	unsigned long n = 0;
	unsigned int i;

	/* Those outside the LLC link and re-shard, too. */
	for (i = 0; i < st->nr + 2; i++)
		n += mock_stat(i, stat);
	return n;
}

static struct cid_stats cid_sum(void)
{
	struct cid_stats sum = {};
	unsigned int i;

	for (i = 0; i < st->nr; i++)
		cid_stats_add(&sum, &st->race.cache[i].stats);
	return sum;
}

static unsigned long cid_turns(void)
{
	unsigned long n = 0;
	unsigned int i;

	for (i = 0; i < st->nr; i++)
		n += READ_ONCE(st->rc[i].turns);
	return n;
}

static void print_stats(void)
{
	const char *error = READ_ONCE(st->error);
	struct cid_stats cid = cid_sum();

	pr_alert("%s" TORTURE_FLAG " queue: turns %ld reshards %lu toggles %lu linked %lu\n",
		 torture_type, atomic_long_read(&st->turns), READ_ONCE(st->play.reshards),
		 READ_ONCE(st->play.toggles), queue_stat(SWQ_STAT_LINKED));
	pr_alert("%s" TORTURE_FLAG " looks: popped %lu moved %lu discarded %lu contended %lu\n",
		 torture_type, queue_stat(SWQ_STAT_POPPED), queue_stat(SWQ_STAT_PULL_MOVED),
		 queue_stat(SWQ_STAT_DISCARDED), queue_stat(SWQ_STAT_CONTENDED));
	pr_alert("%s" TORTURE_FLAG " ids: turns %lu hits %llu stolen %llu slow %llu lost %llu\n",
		 torture_type, cid_turns(), cid.hit, cid.stolen, cid.slow,
		 cid.lost_claims + cid.lost_resumes);
	pr_alert("%s" TORTURE_FLAG " judgements %lu%s%s ", torture_type,
		 READ_ONCE(st->judgements), error ? " !!! " : "", error ?: "");
	/* It goes on with that line. */
	torture_onoff_stats();
}

static int shard_torture_stats(void *arg)
{
	VERBOSE_TOROUT_STRING("stats task started");
	do {
		torture_hrtimeout_s(stat_interval, 0, NULL);
		print_stats();
		torture_shutdown_absorb("torture_stats");
	} while (!torture_must_stop());
	torture_kthread_stopping("torture_stats");
	return 0;
}

static void print_parms(const char *tag)
{
	pr_alert("%s" TORTURE_FLAG "--- %s: nthreads=%d broken=%d stutter=%d shuffle=%d onoff=%d\n",
		 torture_type, tag, nthreads, broken, stutter, shuffle_interval, onoff_interval);
}

/* With nobody running. A run in which nothing happened proves nothing. */
static void judge_run(void)
{
	struct cid_stats cid = cid_sum();

	judge();
	if (!queue_stat(SWQ_STAT_LINKED) || !queue_stat(SWQ_STAT_PULL_MOVED) || !st->play.reshards)
		found("the queue was not used");
	if (!cid.hit || !cid.stolen)
		found("no id was resumed, or none was stolen");
	if (st->judgements < 2)
		found("nothing was judged before the end");
	if (torture_onoff_failures())
		found("a CPU did not go off or on line");
}

/* Also for a run that only half started. */
static void shard_torture_stop(void)
{
	unsigned int i;

	if (torture_cleanup_begin())
		return;

	torture_stop_kthread(shard_torture_judge, st->judge);
	torture_stop_kthread(shard_torture_stats, st->stats);
	for (i = 0; i < st->nr + 2; i++)
		torture_stop_kthread(shard_torture_queue, st->play.p[i].task);
	for (i = 0; i < st->nr; i++)
		torture_stop_kthread(shard_torture_cid, st->cid[i]);
	if (st->nr_threads == 2 * st->nr + 2) {
		judge_run();
		print_stats();
		print_parms(st->error ? "End of test: FAILURE" : "End of test: SUCCESS");
	}

	swq_layout_free(mock->l);
	kfree(mock->rq);
	vfree(st);
	st = NULL;
	play = NULL;
	mock = NULL;
	torture_cleanup_end();
}

static int start_threads(void)
{
	unsigned int i;
	int error;

	for (i = 0; i < st->nr + 2; i++) {
		struct person *p = &st->play.p[i];

		p->me = i;
		prandom_seed_state(&p->rnd, get_random_u64());
		error = torture_create_kthread(shard_torture_queue, p, p->task);
		if (error)
			return error;
		st->nr_threads++;
	}
	for (i = 0; i < st->nr; i++) {
		error = torture_create_kthread(shard_torture_cid, &st->rc[i], st->cid[i]);
		if (error)
			return error;
		st->nr_threads++;
	}
	error = torture_create_kthread(shard_torture_judge, NULL, st->judge);
	if (!error && stat_interval > 0)
		error = torture_create_kthread(shard_torture_stats, NULL, st->stats);
	if (!error && onoff_interval > 0)
		error = torture_onoff_init(onoff_holdoff * HZ,
					   msecs_to_jiffies(onoff_interval), NULL);
	if (!error && shuffle_interval > 0)
		error = torture_shuffle_init(shuffle_interval * HZ);
	if (!error && stutter > 0)
		error = torture_stutter_init(stutter * HZ, stutter * HZ);
	return error;
}

static int shard_torture_start(void)
{
	unsigned int nr = nthreads > 0 ? nthreads : num_online_cpus();
	int error = -ENOMEM;

	if (broken < 0 || broken > BROKEN_LEAKS)
		return -EINVAL;
	nr = clamp(nr, 2U, min_t(unsigned int, MAX_CPUS, RACE_MAX_CPUS));
	if (!torture_init_begin(torture_type, verbose))
		return -EBUSY;

	st = vzalloc(sizeof(*st));
	if (!st)
		goto out;
	st->nr = nr;
	play = &st->play;
	mock = &st->mock;
	mock->nr_cpus = nr;
	INIT_LIST_HEAD(&mock->dead);
	mock->rq = kcalloc(MOCK_ALL_CPUS, sizeof(*mock->rq), GFP_KERNEL);
	if (!mock->rq || !mock_init(2, 1))
		goto out;
	play_set(nr, true);
	if (broken == BROKEN_FORGETS)
		play->faults = PLAY_FORGETS;
	else if (broken == BROKEN_NO_SWEEP)
		play->faults = PLAY_NO_SWEEP;
	else if (broken == BROKEN_LEAKS)
		play->faults = PLAY_LEAKS;
	race_setup(&st->race, st->rc, nr, 0);

	print_parms("Start of test");
	error = start_threads();
out:
	torture_init_end();
	if (!error)
		return 0;
	if (st && mock->rq && mock->l) {
		found("the test did not start");
		shard_torture_stop();
		return error;
	}
	if (!torture_cleanup_begin()) {
		if (st)
			kfree(mock->rq);
		vfree(st);
		st = NULL;
		torture_cleanup_end();
	}
	return error;
}

/* Writers of parameters exclude each other. */
static int run_set(const char *val, const struct kernel_param *kp)
{
	bool wanted;
	int error;

	error = kstrtobool(val, &wanted);
	if (error)
		return error;
	/* From the command line: shard_torture_init() starts it. */
	if (system_state < SYSTEM_RUNNING) {
		run = wanted;
		return 0;
	}
	if (wanted == run)
		return 0;
	if (!wanted)
		shard_torture_stop();
	else
		error = shard_torture_start();
	if (!error)
		run = wanted;
	return error;
}

static const struct kernel_param_ops run_ops = {
	.set	= run_set,
	.get	= param_get_bool,
};

module_param_cb(run, &run_ops, &run, 0644);
MODULE_PARM_DESC(run, "1 starts the test, 0 ends it and gives the verdict");

static int __init shard_torture_init(void)
{
	int error = 0;

	if (run) {
		error = shard_torture_start();
		run = !error;
	}
	return error;
}
late_initcall(shard_torture_init);

MODULE_DESCRIPTION("Torture test of the shared wake queue and the CID cache");
MODULE_LICENSE("GPL");
