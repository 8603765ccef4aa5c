/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that play the CPUs of an LLC, a waker and an administrator around a
 * shared wake queue of mock runqueues: what each of them does in a turn, one at
 * a time or all at once, and how the result is judged.
 *
 * The tasks of a mock runqueue are counts. What happens to them here is what
 * swqueue_fair.c makes of the scheduler's events.
 */
#ifndef _SWQUEUE_PLAY_H
#define _SWQUEUE_PLAY_H

#include <linux/completion.h>
#include <linux/prandom.h>

#include "swqueue_mock.h"

#define MAX_CPUS	16
#define MAX_PEOPLE	(MAX_CPUS + 2)
/* So many steps without an event are not convergence but a cycle. */
#define ENDLESS		20000

/**
 * struct person - a thread of the play
 * @task: the thread
 * @rnd: its random stream
 * @me: its number: CPUs first, then the waker, then the administrator
 * @section: number of its read side, 0 outside
 * @seen: epoch in which it found nothing to do
 * @created: tasks that it woke, less those that it put to sleep
 */
struct person {
	struct task_struct	*task;
	struct rnd_state	rnd;
	unsigned int		me;
	unsigned long		section;
	unsigned long		seen;
	long			created;
};

/**
 * struct play - all of them
 * @p: the threads
 * @nr_cpus: how many of them are CPUs
 * @nr: how many there are
 * @free_running: all at once instead of one at a time
 * @feature: the feature bit
 * @turn: who may run
 * @epoch: counts what happened
 * @events: how many events may still come before all must come to rest
 * @quiet: steps since the last event
 * @steps: steps taken
 * @most: how many before the play is over
 * @rests: times that all came to rest
 * @stop: the play is over
 * @error: why, if not because it was long enough
 * @over: for the test to wait for
 * @faults: what is done wrong on purpose
 * @reshards: layouts replaced
 * @toggles: times that the feature went on or off
 * @toggled: the feature was off since this CPU last published
 */
struct play {
	struct person		p[MAX_PEOPLE];
	unsigned int		nr_cpus;
	unsigned int		nr;
	bool			free_running;
	bool			feature;
	unsigned int		turn;
	unsigned long		epoch;
	unsigned int		events;
	unsigned int		quiet;
	unsigned int		steps;
	unsigned int		most;
	unsigned int		rests;
	bool			stop;
	const char		*error;
	struct completion	over;
	unsigned int		faults;
	unsigned long		reshards;
	unsigned long		toggles;
	bool			toggled[MAX_CPUS];
};

static struct play *play;

/* For tests of the tests: what a play is given must be seen to be wrong. */
#define PLAY_FORGETS	0x01	/* the queue is told of few wakeups */
#define PLAY_NO_SWEEP	0x02	/* a new layout starts empty and stays so */
#define PLAY_LEAKS	0x04	/* a layout that was replaced is forgotten */

static u32 rnd(struct person *p, u32 n)
{
	return prandom_u32_state(&p->rnd) % n;
}

static struct person *whoami(void)
{
	unsigned int i;

	for (i = 0; i < play->nr; i++) {
		if (play->p[i].task == current)
			return &play->p[i];
	}

	return NULL;
}

static bool is_cpu(const struct person *p)
{
	return p->me < play->nr_cpus;
}

/* The CPU that a thread runs on; waker and administrator are outside the LLC. */
static int cpu_of_person(const struct person *p)
{
	return is_cpu(p) ? p->me : MOCK_OUTSIDE + p->me - play->nr_cpus;
}

static void end_play(const char *error)
{
	if (error && !play->error)
		play->error = error;
	WRITE_ONCE(play->stop, true);
	complete_all(&play->over);
}

/*
 * Taking turns
 */

static void wait_for_turn(struct person *p)
{
	/* Pairs with let_others(): what the one before did is seen. */
	while (smp_load_acquire(&play->turn) != p->me && !READ_ONCE(play->stop))
		cpu_relax();
}

/* Let another one go on here, or not. */
static void let_others(struct person *p)
{
	unsigned int next;

	if (play->free_running) {
		if (!rnd(p, 64))
			cpu_relax();
		return;
	}
	if (READ_ONCE(play->stop))
		return;
	play->quiet++;
	if (++play->steps >= play->most || play->quiet > ENDLESS) {
		end_play(play->quiet > ENDLESS ? "endless activity without events" : NULL);
		return;
	}
	next = rnd(p, 2) ? p->me : rnd(p, play->nr);
	if (next != p->me) {
		/* Pairs with wait_for_turn(). */
		smp_store_release(&play->turn, next);
		wait_for_turn(p);
	}
}

static void wait_for_shard(struct person *p, struct swq_shard *s)
{
	while (raw_spin_is_locked(&s->lock) && !READ_ONCE(play->stop))
		let_others(p);
}

/* A lock that may be waited for next must be free: its holder is not running. */
static void wait_for_shards(struct person *p, struct swq_layout *l, int cpu)
{
	const struct swq_place *place;

	if (play->free_running || !l)
		return;
	place = swq_place_of(l, cpu_of_person(p)) ?: swq_place_of(l, cpu);
	if (place)
		wait_for_shard(p, &l->shards[place->shard]);
}

static void random_step(struct swq_layout *l, enum swq_step step,
			struct swq_token *token)
{
	struct person *p = whoami();
	unsigned int i;

	if (!p)
		return;

	switch (step) {
	case SWQ_STEP_REMOVED:
		/* While a shard is drained the next lock comes right after this one. */
		if (is_cpu(p) || play->free_running)
			let_others(p);
		break;
	case SWQ_STEP_DISCARDED:
	case SWQ_STEP_LOOK_EMPTY:
	case SWQ_STEP_LOOK_UNLOCK:
		let_others(p);
		break;
	case SWQ_STEP_SYNCED:
		let_others(p);
		for (i = 0; i < l->nr_shards && !play->free_running; i++)
			wait_for_shard(p, &l->shards[i]);
		break;
	case SWQ_STEP_UNLINK:
		let_others(p);
		if (!play->free_running)
			wait_for_shard(p, token->shard);
		break;
	default:
		let_others(p);
		wait_for_shards(p, l, token ? token->cpu : -1);
		break;
	}
}

/*
 * Read sides, that is, sections with interrupts off. With all threads at once
 * they are real ones.
 */

static unsigned long begin(struct person *p)
{
	unsigned long flags;

	local_irq_save(flags);
	if (!play->free_running && !READ_ONCE(play->stop))
		WRITE_ONCE(p->section, ++play->epoch);
	return flags;
}

static void end(struct person *p, unsigned long flags)
{
	WRITE_ONCE(p->section, 0);
	local_irq_restore(flags);
}

static void random_synchronize(void)
{
	struct person *p = whoami();
	unsigned long old[MAX_PEOPLE];
	unsigned int i;

	if (play->free_running) {
		synchronize_rcu();
		return;
	}
	for (i = 0; i < play->nr; i++)
		old[i] = READ_ONCE(play->p[i].section);
	for (i = 0; i < play->nr; i++) {
		while (old[i] && READ_ONCE(play->p[i].section) == old[i] &&
		       !READ_ONCE(play->stop))
			let_others(p);
	}
}

static void lock_rq(struct person *p, int cpu)
{
	while (!play->free_running) {
		if (raw_spin_trylock(&mock->rq[cpu].lock)) {
			__release(&mock->rq[cpu].lock);
			return;
		}
		/* Whoever has it stands still: no way out but to break in. */
		if (READ_ONCE(play->stop))
			break;
		let_others(p);
	}
	mock_lock(cpu);
}

static void unlock_rq(int cpu)
{
	mock_unlock(cpu);
}

static struct swq_layout *layout_of(int cpu)
{
	return rcu_dereference_sched(mock->rq[cpu].c.layout);
}

static bool feature(void)
{
	return READ_ONCE(play->feature);
}

static void happened(struct person *p, bool event)
{
	/* After the end they are no longer one at a time. */
	if (play->free_running || READ_ONCE(play->stop))
		return;
	play->epoch++;
	if (event) {
		play->events--;
		play->quiet = 0;
	}
}

static bool may_happen(void)
{
	return play->free_running || play->events;
}

/*
 * What CPUs do
 */

/* Under the lock of @cpu. */
static void pick(struct person *p, int cpu, bool from_idle, unsigned int ev)
{
	struct mock_rq *rq = &mock->rq[cpu];
	enum mock_task next;

	next = !rq->waiting[FREE] || (rq->waiting[PINNED] && rnd(p, 2)) ? PINNED : FREE;
	rq->waiting[next]--;
	rq->running = next;
	rq->asleep = false;
	if (from_idle)
		swq_idle_exit(layout_of(cpu), &rq->c);
	if (mock_has_surplus(rq))
		ev |= SWQ_EV_SURPLUS;
	if (feature())
		swq_switched(layout_of(cpu), &rq->c, ev);
}

static void put_in(struct person *p, int cpu, enum mock_task kind, bool sync)
{
	struct mock_rq *rq = &mock->rq[cpu];
	int self = cpu_of_person(p);

	lock_rq(p, cpu);
	rq->waiting[kind]++;
	WRITE_ONCE(rq->nr, rq->nr + 1);
	if (!feature())
		WRITE_ONCE(play->toggled[cpu], true);
	else if (!(play->faults & PLAY_FORGETS) || !rnd(p, 8))
		mock_enqueued(layout_of(cpu), &rq->c, mock_cpu(self),
			      mock_events(rq, self, kind, sync));
	unlock_rq(cpu);
}

/* Return: true if a task was moved to this CPU. */
static bool visit(struct person *p, int cpu)
{
	enum swq_visit result;

	lock_rq(p, cpu);
	result = mock_visit_locked(p->me, cpu);
	if (result == SWQ_VISIT_MOVED)
		put_in(p, p->me, FREE, false);

	return result == SWQ_VISIT_MOVED;
}

static struct swq_token *look(struct person *p, struct swq_layout *l, unsigned int how)
{
	wait_for_shards(p, l, -1);
	return swq_look(l, &mock->rq[p->me].c, how);
}

/* With the own rq lock held, which is dropped for visits. */
static void newidle(struct person *p)
{
	struct mock_rq *rq = &mock->rq[p->me];
	struct swq_layout *l = layout_of(p->me);
	bool unlocked = false, moved = false;
	unsigned int visits;

	if (!feature() || !l || !swq_hinted(l) || !rnd(p, 3))
		return;

	/* Stale tokens go at once, unless time stands still for a moment. */
	if (rnd(p, 4))
		mock_later();
	swq_look_begin(&rq->c);
	for (visits = 0; visits < 4; visits++) {
		struct swq_token *t = look(p, l, 0);

		if (!t)
			break;
		if (!unlocked)
			unlock_rq(p->me);
		unlocked = true;
		moved = visit(p, t->cpu);
		if (moved || READ_ONCE(rq->nr))
			break;
	}
	if (unlocked)
		lock_rq(p, p->me);
}

static void idle(struct person *p)
{
	struct mock_rq *rq = &mock->rq[p->me];
	unsigned long flags = begin(p);
	struct swq_layout *l = layout_of(p->me);
	unsigned int visits;

	if (!feature() || !l || READ_ONCE(rq->nr) || !swq_idle_enter(l, &rq->c))
		goto out;

	swq_look_begin(&rq->c);
	for (visits = 0; visits < 4 * play->nr_cpus; visits++) {
		struct swq_token *t = look(p, l, SWQ_LOOK_LAST);

		if (!t || visit(p, t->cpu)) {
			swq_idle_looked(&rq->c);
			break;
		}
		if (READ_ONCE(rq->nr))
			break;
	}
out:
	end(p, flags);
}

static void go_to_sleep(struct person *p)
{
	struct mock_rq *rq = &mock->rq[p->me];
	unsigned long flags = begin(p);

	lock_rq(p, p->me);
	rq->running = NONE;
	WRITE_ONCE(rq->nr, rq->nr - 1);
	p->created--;
	if (!rq->nr)
		newidle(p);
	if (rq->nr)
		pick(p, p->me, false, 0);
	else
		rq->asleep = true;
	unlock_rq(p->me);
	end(p, flags);
	if (rq->asleep)
		idle(p);
}

static void preempt(struct person *p)
{
	struct mock_rq *rq = &mock->rq[p->me];
	unsigned long flags = begin(p);

	lock_rq(p, p->me);
	if (rq->waiting[FREE] + rq->waiting[PINNED]) {
		unsigned int prev = rq->running;

		/* What runs next was chosen before it is put back. */
		rq->running = NONE;
		if (!feature())
			WRITE_ONCE(play->toggled[p->me], true);
		if (rq->waiting[FREE] && (!rq->waiting[PINNED] || rnd(p, 2))) {
			rq->waiting[FREE]--;
			rq->running = FREE;
		} else {
			rq->waiting[PINNED]--;
			rq->running = PINNED;
		}
		rq->waiting[prev]++;
		if (feature())
			swq_switched(layout_of(p->me), &rq->c,
				     SWQ_EV_SURPLUS | SWQ_EV_PUT_BACK);
	}
	unlock_rq(p->me);
	end(p, flags);
}

static void wake_from_idle(struct person *p)
{
	unsigned long flags = begin(p);

	lock_rq(p, p->me);
	if (mock->rq[p->me].nr)
		pick(p, p->me, true, 0);
	unlock_rq(p->me);
	end(p, flags);
}

static void tick(struct person *p)
{
	struct mock_rq *rq = &mock->rq[p->me];
	unsigned long flags = begin(p);

	lock_rq(p, p->me);
	if (feature()) {
		WRITE_ONCE(play->toggled[p->me], false);
		if (mock_has_surplus(rq))
			swq_ticked(layout_of(p->me), &rq->c, SWQ_EV_SURPLUS);
		else
			rq->c.deferred = false;
	}
	unlock_rq(p->me);
	end(p, flags);
}

/* Some more tasks than CPUs, and not without bounds. */
static bool room(void)
{
	unsigned int cpu, nr = 0;

	for (cpu = 0; cpu < play->nr_cpus; cpu++)
		nr += READ_ONCE(mock->rq[cpu].nr);

	return nr < 2 * play->nr_cpus;
}

static void person_wake(struct person *p)
{
	unsigned long flags;

	if (!room())
		return;
	flags = begin(p);
	p->created++;
	put_in(p, rnd(p, play->nr_cpus), rnd(p, 4) ? FREE : PINNED, rnd(p, 2));
	end(p, flags);
}

/*
 * The tick comes to everybody, but what it finds is not the same: it must find
 * a deferral, and what the feature missed while it was off. Anything else that
 * it would repair was lost before, and nobody shall cover that up.
 */
static bool tick_is_due(const struct mock_rq *rq)
{
	return feature() && (rq->c.deferred || READ_ONCE(play->toggled[rq->c.token.cpu]));
}

/* Return: true if something was done. */
static bool act_cpu(struct person *p)
{
	struct mock_rq *rq = &mock->rq[p->me];

	if (rq->asleep) {
		if (READ_ONCE(rq->nr)) {
			happened(p, false);
			wake_from_idle(p);
			return true;
		}
		if (feature() && mock_idle_state(p->me) != SWQ_IDLE) {
			happened(p, false);
			idle(p);
			return true;
		}
		return false;
	}

	if (!play->free_running && tick_is_due(rq) && !rnd(p, 3)) {
		happened(p, false);
		tick(p);
		return true;
	}
	if (!may_happen())
		return tick_is_due(rq);

	happened(p, true);
	switch (rnd(p, 8)) {
	case 0:
	case 1:
	case 2:
		go_to_sleep(p);
		break;
	case 3:
	case 4:
		preempt(p);
		break;
	case 5:
		if (play->free_running)
			tick(p);
		break;
	default:
		person_wake(p);
		break;
	}

	return true;
}

/*
 * What the administrator does
 */

static void random_sweep(int cpu)
{
	struct person *p = whoami();
	struct mock_rq *rq = &mock->rq[cpu];
	struct swq_layout *l;
	unsigned long flags;

	if (play->faults & PLAY_NO_SWEEP)
		return;
	flags = begin(p);
	lock_rq(p, cpu);
	l = layout_of(cpu);
	if (l && feature() && mock_has_surplus(rq))
		swq_publish(l, &rq->c, mock_cpu(cpu_of_person(p)), 0);
	unlock_rq(cpu);
	end(p, flags);
}

static void random_free(struct swq_layout *l)
{
	if (play->faults & PLAY_LEAKS)
		return;
	if (play->free_running) {
		kfree_rcu(l, rcu);
		return;
	}
	random_synchronize();
	swq_layout_free(l);
}

static const struct swq_replace_ops random_replace_ops = {
	.synchronize	= random_synchronize,
	.sweep		= random_sweep,
	.free		= random_free,
};

static void reshard(struct person *p)
{
	struct swq_layout *l = mock_layout(1 + rnd(p, play->nr_cpus));
	LIST_HEAD(old);
	LIST_HEAD(new);

	if (!l)
		return;
	list_add(&mock->l->entry, &old);
	list_add(&l->entry, &new);
	mock->l = l;
	swq_replace(&old, &new, &random_replace_ops);
	list_del_init(&l->entry);
	WRITE_ONCE(play->reshards, play->reshards + 1);
}

/* Off means that hooks are not called; what is under way goes on. */
static void toggle(struct person *p, bool on)
{
	int cpu;

	/* What was missed is excused: not without cause. */
	if (feature() == on)
		return;
	WRITE_ONCE(play->toggles, play->toggles + 1);
	WRITE_ONCE(play->feature, on);
	/* In this order: a tick before the first does not count. */
	for (cpu = 0; on && cpu < play->nr_cpus; cpu++)
		WRITE_ONCE(play->toggled[cpu], true);
}

/* As a CPU does that goes off line: nothing may wait there. */
static void unlink_own(struct person *p)
{
	int cpu = rnd(p, play->nr_cpus);
	struct mock_rq *rq = &mock->rq[cpu];
	unsigned long flags = begin(p);

	lock_rq(p, cpu);
	if (!mock_has_surplus(rq))
		swq_unlink_own(layout_of(cpu), &rq->c, mock_cpu(cpu_of_person(p)), false);
	unlock_rq(cpu);
	end(p, flags);
}

static bool act_outside(struct person *p)
{
	if (!may_happen()) {
		if (p->me != play->nr - 1 || feature())
			return false;
		happened(p, false);
		toggle(p, true);
		return true;
	}

	happened(p, true);
	if (p->me != play->nr - 1) {
		person_wake(p);
		return true;
	}
	switch (rnd(p, 4)) {
	case 0:
		/* What is missed while it is off is excused, so seldom. */
		if (!play->free_running || !rnd(p, 4))
			toggle(p, rnd(p, 4));
		break;
	case 1:
		unlink_own(p);
		break;
	default:
		reshard(p);
		break;
	}

	return true;
}

/*
 * Judgement
 */

/* With nobody running: what is wrong, or NULL. */
static const char *judge_structure(void)
{
	struct swq_layout *l = mock->l;
	unsigned int i, n, linked = 0, listed = 0;
	struct swq_token *t;

	for (i = 0; i < l->nr_shards; i++) {
		struct swq_shard *s = &l->shards[i];

		if (raw_spin_is_locked(&s->lock))
			return "a shard is locked";
		n = 0;
		list_for_each_entry(t, &s->tokens, node) {
			if (t->state != SWQ_LINKED)
				return "an unlinked token on a list";
			if (t->shard != s)
				return "a token remembers another shard";
			if (++n > play->nr_cpus)
				return "a list without end";
		}
		if (s->nr != n)
			return "length of a shard";
		if (n && !mock_hinted(s))
			return "work in a shard without a hint";
		listed += n;
	}
	for (i = 0; i < play->nr_cpus; i++) {
		const struct mock_rq *rq = &mock->rq[i];

		linked += mock_linked(i);
		if (rq->nr != rq->waiting[FREE] + rq->waiting[PINNED] + !!rq->running)
			return "a task was lost or doubled";
	}

	return linked == listed ? NULL : "a linked token on no list";
}

/* With nothing left to do: what is wrong, or NULL. */
static const char *judge_rest(void)
{
	int cpu, other;

	for (cpu = 0; cpu < play->nr_cpus; cpu++) {
		struct mock_rq *rq = &mock->rq[cpu];

		if (raw_spin_is_locked(&rq->lock))
			return "a runqueue is locked";
		if (!mock_has_surplus(rq) || !rq->waiting[FREE])
			continue;
		if (!mock_linked(cpu))
			return "movable work that cannot be found";
		for (other = 0; other < play->nr_cpus; other++) {
			if (mock->rq[other].asleep && !mock->rq[other].nr &&
			    mock_idle_state(other) == SWQ_IDLE)
				return "a CPU sleeps beside work";
		}
	}

	return judge_structure();
}

static void found_nothing(struct person *p)
{
	const char *error;
	unsigned int i;

	if (play->free_running || READ_ONCE(play->stop))
		return;
	p->seen = play->epoch;
	if (play->events)
		return;
	for (i = 0; i < play->nr; i++) {
		if (play->p[i].seen != play->epoch)
			return;
	}

	/* All are at rest. */
	play->rests++;
	error = judge_rest();
	if (error) {
		end_play(error);
		return;
	}
	play->events = 1 + rnd(p, 12);
	play->quiet = 0;
	play->epoch++;
}

static void person_turn(struct person *p)
{
	/* Who found nothing to do meanwhile has to look again. */
	if (is_cpu(p) ? act_cpu(p) : act_outside(p))
		happened(p, false);
	else
		found_nothing(p);
	let_others(p);
}

/* What a play starts with: each CPU runs a task, and there are no others. */
static void play_set(unsigned int nr_cpus, bool free_running)
{
	unsigned int i;

	init_completion(&play->over);
	play->nr_cpus = nr_cpus;
	play->nr = nr_cpus + 2;
	play->feature = true;
	play->free_running = free_running;
	play->events = 10;
	for (i = 0; i < MOCK_ALL_CPUS; i++)
		mock_fill(i, i < nr_cpus ? FREE : NONE, 0, 0);
	mock->step = random_step;
}

/*
 * After all at once: everybody has stopped between two turns, and what is left
 * must come to rest without an event. One thread plays all the CPUs.
 *
 * Return: what is wrong, or NULL.
 */
static const char *judge_stopped(void)
{
	unsigned int nr = play->nr, i, round;
	long created = 0, nr_tasks = 0;
	const char *error;
	bool busy = true;

	error = judge_structure();
	if (error)
		return error;
	for (i = 0; i < nr; i++)
		created += play->p[i].created;
	for (i = 0; i < play->nr_cpus; i++)
		nr_tasks += mock->rq[i].nr;
	if (nr_tasks != (long)play->nr_cpus + created)
		return "tasks that nobody woke, or that nobody has";

	play->free_running = false;
	play->events = 0;
	play->nr = 0;
	toggle(&play->p[0], true);
	for (round = 0; busy && round < 1000; round++) {
		busy = false;
		for (i = 0; i < play->nr_cpus; i++) {
			while (act_cpu(&play->p[i]))
				busy = true;
		}
	}
	error = busy ? "endless activity without events" : judge_rest();
	play->nr = nr;
	play->free_running = true;
	return error;
}

#endif /* _SWQUEUE_PLAY_H */
