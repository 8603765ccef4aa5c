// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared wake queue: tokens, shards, layouts.
 *
 * swqueue.h says what they are, who may touch what under which lock, and who
 * may run beside whom.
 */
#include <linux/bug.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/time64.h>

#include "swqueue.h"

const char *const swq_stat_names[SWQ_NR_STATS] = {
	[SWQ_STAT_ENQUEUED]		= "enqueued",
	[SWQ_STAT_LINKED]		= "linked",
	[SWQ_STAT_LINKED_AWAY]		= "linked_away",
	[SWQ_STAT_UNLINKED]		= "unlinked",
	[SWQ_STAT_DISCARDED]		= "discarded",
	[SWQ_STAT_POPPED]		= "popped",
	[SWQ_STAT_PULL_TRIES]		= "pull_tries",
	[SWQ_STAT_PULL_EMPTY]		= "pull_empty",
	[SWQ_STAT_PULL_BUSY]		= "pull_busy",
	[SWQ_STAT_PULL_GATED]		= "pull_gated",
	[SWQ_STAT_PULL_STALE]		= "pull_stale",
	[SWQ_STAT_PULL_UNMOVABLE]	= "pull_unmovable",
	[SWQ_STAT_PULL_MOVED]		= "pull_moved",
	[SWQ_STAT_DEFERRED]		= "deferred",
	[SWQ_STAT_SKIPPED_LINKED]	= "skipped_linked",
	[SWQ_STAT_KICKED]		= "kicked",
	[SWQ_STAT_KICK_PASSED]		= "kick_passed",
	[SWQ_STAT_LOCKS]		= "lock_acquisitions",
	[SWQ_STAT_CONTENDED]		= "lock_contended",
};

/*
 * Layouts
 */

/**
 * swq_nr_shards() - how many shards an LLC gets
 * @wanted: count asked for, 0 for automatic
 * @nr_cpus: CPUs of the LLC
 * @nr_cores: cores of the LLC
 *
 * Contention follows the CPUs per shard, not the number of shards, so the
 * automatic count grows with the LLC.  A core is never split: its threads
 * share the caches that the shard's line lives in.
 *
 * Return: between 1 and @nr_cores.
 */
unsigned int swq_nr_shards(unsigned int wanted, unsigned int nr_cpus,
			   unsigned int nr_cores)
{
	if (!wanted)
		wanted = DIV_ROUND_UP(nr_cpus, SWQ_SHARD_CPUS);

	return clamp(wanted, 1U, nr_cores);
}

/* Index of the first CPU that shares a core with the i-th. */
static unsigned int swq_core_first(const int *cores, unsigned int i)
{
	unsigned int first;

	for (first = 0; cores[first] != cores[i]; first++)
		;

	return first;
}

static unsigned int swq_count_cores(const int *cores, unsigned int nr)
{
	unsigned int i, n = 0;

	for (i = 0; i < nr; i++)
		n += swq_core_first(cores, i) == i;

	return n;
}

/*
 * Cores are ranked by the order in which their first CPUs appear, so the
 * result does not depend on whether siblings are numbered n, n+1 or n, n+N.
 */
static void swq_place_cpus(struct swq_layout *l, const int *cpus,
			   const int *cores)
{
	unsigned int i, rank = 0;

	for (i = 0; i < l->nr_cpus; i++) {
		struct swq_place *p = &l->places[cpus[i] - l->base];
		unsigned int first = swq_core_first(cores, i);

		l->cpus[i] = cpus[i];
		if (first == i)
			p->core = rank++;
		else
			p->core = l->places[cpus[first] - l->base].core;
		p->shard = p->core * l->nr_shards / l->nr_cores;
	}
}

/*
 * Announcement bits go core by core and no core straddles two words, so that
 * one word tells whether a whole core is idle.  The bits start out set: a CPU
 * that sleeps while layouts are exchanged does not announce itself again, and
 * a set bit of a busy CPU costs one failed kick.
 */
static unsigned int swq_place_announcements(struct swq_layout *l)
{
	unsigned int bit = 0, core, first, left, i;

	for (core = 0; core < l->nr_cores; core++) {
		unsigned int nr = 0;

		for (i = 0; i < l->nr_cpus; i++) {
			if (l->places[l->cpus[i] - l->base].core == core)
				nr++;
		}
		left = BITS_PER_LONG - bit % BITS_PER_LONG;
		if (left < nr && nr <= BITS_PER_LONG / 2)
			bit += left;
		first = bit;

		for (i = 0; i < l->nr_cpus; i++) {
			struct swq_place *p = &l->places[l->cpus[i] - l->base];

			if (p->core != core)
				continue;
			/* No hardware has such cores; then threads stand alone. */
			p->core_nr = nr <= BITS_PER_LONG / 2 ? nr : 1;
			p->core_ann = nr <= BITS_PER_LONG / 2 ? first : bit;
			p->ann = bit;
			l->ann_cpus[bit] = l->cpus[i];
			l->ann[bit / BITS_PER_LONG].bits |= BIT(bit % BITS_PER_LONG);
			bit++;
		}
	}

	return bit;
}

static void *swq_carve(void *blob, size_t *used, size_t size)
{
	void *p = blob ? blob + *used : NULL;

	*used += ALIGN(size, SMP_CACHE_BYTES);
	return p;
}

/*
 * One allocation for everything, sized to the LLC: called once to learn the
 * size and once to place the parts.
 */
static size_t swq_layout_carve(struct swq_layout *l, void *blob,
			       unsigned int nr, unsigned int span,
			       unsigned int nr_shards, unsigned int nr_hints,
			       unsigned int nr_anns)
{
	struct swq_layout parts, *p = l ?: &parts;
	size_t used = 0;

	swq_carve(blob, &used, sizeof(*l));
	p->shards = swq_carve(blob, &used, nr_shards * sizeof(*p->shards));
	p->hint = swq_carve(blob, &used, nr_hints * sizeof(*p->hint));
	p->ann = swq_carve(blob, &used, nr_anns * sizeof(*p->ann));
	p->places = swq_carve(blob, &used, span * sizeof(*p->places));
	p->cpus = swq_carve(blob, &used, nr * sizeof(*p->cpus));
	p->ann_cpus = swq_carve(blob, &used,
				nr_anns * BITS_PER_LONG * sizeof(*p->ann_cpus));

	return used;
}

/**
 * swq_layout_alloc() - make the queue of an LLC
 * @cpus: its CPUs, ascending, without duplicates
 * @cores: for each of them a number that its siblings share
 * @nr: how many, at least 1
 * @wanted: shards asked for, 0 for automatic
 * @ops: callbacks
 * @node: NUMA node to take the memory from
 *
 * Context: may sleep.
 * Return: the layout, not yet published, or NULL without memory.
 */
struct swq_layout *swq_layout_alloc(const int *cpus, const int *cores,
				    unsigned int nr, unsigned int wanted,
				    const struct swq_ops *ops, int node)
{
	unsigned int span = cpus[nr - 1] - cpus[0] + 1;
	unsigned int nr_cores = swq_count_cores(cores, nr);
	unsigned int nr_shards = swq_nr_shards(wanted, nr, nr_cores);
	unsigned int per_hint, nr_hints, nr_anns, i;
	struct swq_layout *l;
	size_t size;

	/* A word serves the shards of SWQ_HINT_CPUS CPUs, and no more bits than it has. */
	per_hint = max(1U, nr_shards * SWQ_HINT_CPUS / nr);
	per_hint = min3(per_hint, nr_shards, (unsigned int)BITS_PER_LONG);
	nr_hints = DIV_ROUND_UP(nr_shards, per_hint);
	/* Padding leaves every word at least half full. */
	nr_anns = 2 * DIV_ROUND_UP(nr, BITS_PER_LONG);

	size = swq_layout_carve(NULL, NULL, nr, span, nr_shards, nr_hints, nr_anns);
	/* Sizes that are powers of two come naturally aligned. */
	l = kzalloc_node(roundup_pow_of_two(size), GFP_KERNEL, node);
	if (!l)
		return NULL;
	swq_layout_carve(l, l, nr, span, nr_shards, nr_hints, nr_anns);

	INIT_LIST_HEAD(&l->entry);
	l->ops = ops;
	l->llc = cpus[0];
	l->base = cpus[0];
	l->span = span;
	l->nr_cpus = nr;
	l->nr_cores = nr_cores;
	l->nr_shards = nr_shards;
	l->nr_hints = nr_hints;
	l->shards_per_hint = per_hint;
	l->wanted = wanted;

	swq_place_cpus(l, cpus, cores);

	for (i = 0; i < nr_anns * BITS_PER_LONG; i++)
		l->ann_cpus[i] = -1;
	l->nr_anns = DIV_ROUND_UP(swq_place_announcements(l), BITS_PER_LONG);

	for (i = 0; i < nr_shards; i++) {
		struct swq_shard *s = &l->shards[i];

		raw_spin_lock_init(&s->lock);
		INIT_LIST_HEAD(&s->tokens);
		s->id = i;
		s->hint = &l->hint[i / per_hint];
		s->hint_bit = i % per_hint;
	}

	return l;
}

/**
 * swq_layout_free() - give a layout back that was never published
 * @l: layout or NULL
 */
void swq_layout_free(struct swq_layout *l)
{
	kfree(l);
}

/**
 * swq_cpu_init() - initialise a CPU's part
 * @c: zeroed memory
 * @cpu: its CPU
 */
void swq_cpu_init(struct swq_cpu *c, int cpu)
{
	unsigned int i;

	c->token.cpu = cpu;
	for (i = 0; i < SWQ_MARKS; i++)
		c->mark[i].cpu = -1;
}

/*
 * Shards
 */

/* Under the shard's lock; read without, for statistics. */
static void swq_shard_add(unsigned long *counter, int n)
{
	WRITE_ONCE(*counter, *counter + n);
}

static void swq_lock_counted(struct swq_shard *s, struct swq_cpu *self)
{
	swq_shard_add(&s->nr_locks, 1);
	swq_count(self, SWQ_STAT_LOCKS);
}

static void swq_lock(struct swq_shard *s, struct swq_cpu *self)
	__acquires(&s->lock)
{
	if (!raw_spin_trylock(&s->lock)) {
		raw_spin_lock(&s->lock);
		swq_shard_add(&s->nr_contended, 1);
		swq_count(self, SWQ_STAT_CONTENDED);
	}
	swq_lock_counted(s, self);
}

/*
 * Who held the lock while a sleeper wanted it has to see to that sleeper, be
 * it a looker or a linker.
 */
static void swq_unlock(struct swq_layout *l, struct swq_shard *s,
		       struct swq_cpu *self)
	__releases(&s->lock)
{
	raw_spin_unlock(&s->lock);
	if (READ_ONCE(l->kick))
		swq_missed(l, s, self);
}

/**
 * swq_shard_reset() - start the statistics of a shard anew
 * @l: its layout
 * @s: the shard
 * @self: this CPU
 *
 * Context: interrupts off.
 */
void swq_shard_reset(struct swq_layout *l, struct swq_shard *s,
		     struct swq_cpu *self)
{
	raw_spin_lock(&s->lock);
	WRITE_ONCE(s->longest, s->nr);
	WRITE_ONCE(s->nr_locks, 0);
	WRITE_ONCE(s->nr_contended, 0);
	WRITE_ONCE(s->nr_linked, 0);
	WRITE_ONCE(s->nr_popped, 0);
	WRITE_ONCE(s->nr_discarded, 0);
	swq_unlock(l, s, self);
}

/* The read keeps the line shared as long as the bit stays set. */
static void swq_hint_set(struct swq_shard *s)
{
	if (!test_bit(s->hint_bit, &s->hint->bits))
		set_bit(s->hint_bit, &s->hint->bits);
}

/*
 * Only under the lock and on an empty list: a linker sets the bit after its
 * own unlock, so it comes either before this section, and the list is not
 * empty, or after it, and sets the bit again.
 */
static void swq_hint_clear_if_empty(struct swq_layout *l, struct swq_shard *s)
{
	lockdep_assert_held(&s->lock);

	if (!list_empty(&s->tokens))
		return;
	swq_step(l, SWQ_STEP_LOOK_EMPTY, NULL);
	if (test_bit(s->hint_bit, &s->hint->bits))
		clear_bit(s->hint_bit, &s->hint->bits);
}

/*
 * Who may be looked at without the lock: kept as long as there are few.  The
 * releases order a name before its number: they pair with the acquire in
 * swq_leave_alone().  Who reads while names change may see some twice and miss
 * others, but sees no number that is not a CPU of the layout.
 */
static void swq_name(struct swq_shard *s, const struct swq_token *t)
{
	if (s->nr > SWQ_LOOKAHEAD) {
		WRITE_ONCE(s->nr_named, 0);
		return;
	}
	WRITE_ONCE(s->named[s->nr - 1], t->cpu);
	smp_store_release(&s->nr_named, s->nr);	/* names, then number */
}

static void swq_unname(struct swq_shard *s, const struct swq_token *gone)
{
	const struct swq_token *t;
	unsigned int i = 0;

	if (s->nr > SWQ_LOOKAHEAD)
		return;
	if (s->nr == SWQ_LOOKAHEAD) {
		list_for_each_entry(t, &s->tokens, node)
			WRITE_ONCE(s->named[i++], t->cpu);
	} else {
		while (i < s->nr && s->named[i] != gone->cpu)
			i++;
		WRITE_ONCE(s->named[i], s->named[s->nr]);
	}
	smp_store_release(&s->nr_named, s->nr);	/* names, then number */
}

static void swq_link_on(struct swq_shard *s, struct swq_token *t,
			struct swq_cpu *self)
{
	lockdep_assert_held(&s->lock);
	WARN_ON_ONCE(t->state != SWQ_UNLINKED);

	list_add_tail(&t->node, &s->tokens);
	t->shard = s;
	WRITE_ONCE(t->state, SWQ_LINKED);

	swq_shard_add(&s->nr_linked, 1);
	WRITE_ONCE(s->nr, s->nr + 1);
	swq_name(s, t);
	if (s->nr > s->longest)
		WRITE_ONCE(s->longest, s->nr);
	swq_count(self, SWQ_STAT_LINKED);
}

/*
 * The removal comes before the state, with release: whoever sees UNLINKED may
 * link the token again under the lock of *another* shard, and that lock does
 * not order it after our writes to the node.  Pairs with the acquire in
 * swq_token_linked().
 */
static void swq_unlink(struct swq_layout *l, struct swq_shard *s,
		       struct swq_token *t)
{
	lockdep_assert_held(&s->lock);
	WARN_ON_ONCE(t->state != SWQ_LINKED || t->shard != s);

	list_del(&t->node);
	WRITE_ONCE(s->nr, s->nr - 1);
	swq_unname(s, t);
	swq_step(l, SWQ_STEP_REMOVED, t);
	smp_store_release(&t->state, SWQ_UNLINKED);	/* list, then state */
}

static bool swq_token_linked(const struct swq_token *t)
{
	/* Pairs with the release in swq_unlink(). */
	return smp_load_acquire(&t->state) == SWQ_LINKED;
}

/*
 * Publication
 */

/*
 * The home shard if it is free, else the linker's own: nobody but the CPUs of
 * a shard ever waits for it.  A linker from outside the LLC has no own shard
 * and waits at the home.
 */
static void swq_link(struct swq_layout *l, struct swq_cpu *r,
		     struct swq_cpu *self)
{
	const struct swq_place *home = swq_place_of(l, r->token.cpu);
	const struct swq_place *own = swq_place_of(l, self->token.cpu);
	struct swq_shard *s = &l->shards[home->shard];

	swq_step(l, SWQ_STEP_LINK, &r->token);
	if (raw_spin_trylock(&s->lock)) {
		swq_lock_counted(s, self);
	} else {
		if (own && own->shard != home->shard) {
			s = &l->shards[own->shard];
			swq_count(self, SWQ_STAT_LINKED_AWAY);
		}
		swq_lock(s, self);
	}
	swq_link_on(s, &r->token, self);
	swq_unlock(l, s, self);

	swq_step(l, SWQ_STEP_LINK_UNLOCKED, &r->token);
	swq_hint_set(s);
}

/**
 * swq_publish() - make a runqueue's surplus findable (O1)
 * @l: layout of @r
 * @r: CPU whose runqueue has surplus; its counts and @seq are written
 * @self: CPU that runs this
 * @how: SWQ_PUB_*
 *
 * Context: @r's rq lock held, interrupts off.
 */
void swq_publish(struct swq_layout *l, struct swq_cpu *r, struct swq_cpu *self,
		 unsigned int how)
{
	struct swq_token *t = &r->token;

	WRITE_ONCE(r->surplus_at, swq_now(l));
	/*
	 * UNLINKED is stable: only a holder of this rq lock links.  LINKED is
	 * not: a looker may be discarding the token, on counts that it read
	 * before ours were written.
	 */
	if (swq_token_linked(t)) {
		swq_step(l, SWQ_STEP_SKIP, t);
		/*
		 * Orders the counts before the state, and the counts and seq
		 * before the announcements.  Pairs with the barrier in
		 * swq_discard(): one of the two sees what the other wrote.
		 * And with those in swq_idle_enter(): we see the sleeper, or
		 * its last look sees the counts.
		 */
		if (!(how & SWQ_PUB_ORDERED))
			smp_mb();	/* counts, then state */
		if (swq_token_linked(t)) {
			swq_count(self, SWQ_STAT_SKIPPED_LINKED);
			goto kick;
		}
	}

	swq_link(l, r, self);
	/*
	 * Orders list and hint before the announcements.  Pairs with the
	 * barriers in swq_idle_enter().
	 */
	if (READ_ONCE(l->kick))
		smp_mb();	/* list, then announcements */
kick:
	swq_step(l, SWQ_STEP_PUBLISHED, t);
	/* A linked token may have been refused by all, so look even if skipped. */
	if (READ_ONCE(l->kick) && !(how & SWQ_PUB_QUIET))
		swq_kick(l, self, t->cpu);
}

/**
 * swq_enqueued() - a task was enqueued (O2)
 * @l: layout of @r
 * @r: CPU that it was enqueued on
 * @self: CPU that runs this
 * @ev: SWQ_EV_*
 *
 * Context: @r's rq lock held, interrupts off.
 */
void swq_enqueued(struct swq_layout *l, struct swq_cpu *r,
		  struct swq_cpu *self, unsigned int ev)
{
	if (!(ev & SWQ_EV_SURPLUS))
		return;

	/*
	 * A task that may go nowhere else cannot be lost; should it preempt,
	 * what it preempted is put back and published.  Not while the CPU is
	 * still being woken: its first pick may choose this one and leave a
	 * movable one waiting, and nobody puts anything back then.
	 */
	if ((ev & (SWQ_EV_PINNED | SWQ_EV_RUNNING)) ==
	    (SWQ_EV_PINNED | SWQ_EV_RUNNING))
		return;

	WRITE_ONCE(r->seq, r->seq + 1);
	r->deferred = false;
	swq_publish(l, r, self, 0);
}

/**
 * swq_switched() - a CPU is about to run another task (O2)
 * @l: its layout
 * @self: this CPU
 * @ev: SWQ_EV_SURPLUS, SWQ_EV_PUT_BACK
 *
 * Context: own rq lock held since before the pick, interrupts off.
 */
void swq_switched(struct swq_layout *l, struct swq_cpu *self, unsigned int ev)
{
	bool due = self->deferred;

	self->deferred = false;
	if (!(ev & SWQ_EV_SURPLUS))
		return;

	/*
	 * The waiting set changed although nothing was enqueued: what all had
	 * refused may have got a movable task.
	 */
	if (ev & SWQ_EV_PUT_BACK) {
		WRITE_ONCE(self->seq, self->seq + 1);
		swq_publish(l, self, self, 0);
	} else if (due) {
		WRITE_ONCE(self->seq, self->seq + 1);
		/*
		 * The counts are from an earlier section of this rq lock; the
		 * smp_mb__after_spinlock() of __schedule() orders them.  The
		 * number is not, but nobody is to be kept from sleeping by it
		 * unless the idle side is in use.
		 */
		swq_publish(l, self, self,
			    READ_ONCE(l->kick) ? 0 : SWQ_PUB_ORDERED);
	}
}

/**
 * swq_ticked() - a tick went by with work waiting (O2)
 * @l: layout of this CPU
 * @self: this CPU
 * @ev: SWQ_EV_SURPLUS
 *
 * Bounds a deferral to one tick, and repairs what came about without an
 * enqueue: a group unthrottled, the feature switched on.  With the idle side
 * in use it is also the retry of what was refused for a time only, as a
 * cache-hot task cools down without any event.  Without it a token that is linked
 * has nothing to be repaired; what lookers remember of it ends with time.
 *
 * Context: own rq lock held, interrupts off.
 */
void swq_ticked(struct swq_layout *l, struct swq_cpu *self, unsigned int ev)
{
	bool due = self->deferred;

	self->deferred = false;
	if (!(ev & SWQ_EV_SURPLUS))
		return;
	if (!due && !READ_ONCE(l->kick) && swq_token_linked(&self->token)) {
		/* It has surplus, and must not look dormant when that ends. */
		WRITE_ONCE(self->surplus_at, swq_now(l));
		return;
	}

	WRITE_ONCE(self->seq, self->seq + 1);
	swq_publish(l, self, self, 0);
}

/**
 * swq_wakeup_link() - link at every wakeup, as the queue of 2023 did
 * @l: layout of @r
 * @r: CPU that a task was woken on
 * @self: CPU that runs this
 *
 * For comparison only (publish=wakeup): takes the home shard's lock each time
 * and waits for it.
 *
 * Context: @r's rq lock held, interrupts off.
 */
void swq_wakeup_link(struct swq_layout *l, struct swq_cpu *r,
		     struct swq_cpu *self)
{
	struct swq_shard *s = &l->shards[swq_place_of(l, r->token.cpu)->shard];
	bool linked;

	swq_lock(s, self);
	/* If it is linked on another shard, that one may be unlinking it. */
	linked = swq_token_linked(&r->token);
	if (!linked)
		swq_link_on(s, &r->token, self);
	swq_unlock(l, s, self);
	if (!linked)
		swq_hint_set(s);
}

/**
 * swq_unlink_own() - take a runqueue's token off by its owner (O6)
 * @l: layout of @r
 * @r: CPU of the runqueue
 * @self: CPU that runs this
 * @surplus: something is left over
 *
 * At every pick, as the queue of 2023 did; for comparison only (publish=wakeup).
 * By the shard that the token remembers, whatever the layout says now: that shard
 * cannot go away, it is freed after a sweep, which takes this rq lock.  What is
 * left over goes to the tail in the same section if the shard is one of @l: on a
 * shard of an old layout a token must never be linked, it may already have been
 * drained.
 *
 * Context: @r's rq lock held, interrupts off.
 */
void swq_unlink_own(struct swq_layout *l, struct swq_cpu *r,
		    struct swq_cpu *self, bool surplus)
{
	struct swq_token *t = &r->token;
	struct swq_shard *s;

	if (!swq_token_linked(t))
		return;

	s = t->shard;
	swq_step(l, SWQ_STEP_UNLINK, t);
	swq_lock(s, self);
	if (t->state == SWQ_LINKED) {
		swq_unlink(l, s, t);
		swq_count(self, SWQ_STAT_UNLINKED);
		if (surplus && s >= l->shards && s < l->shards + l->nr_shards)
			swq_link_on(s, t, self);
		swq_hint_clear_if_empty(l, s);
	}
	swq_unlock(l, s, self);

	if (surplus && !swq_token_linked(t))
		swq_publish(l, r, self, SWQ_PUB_ORDERED);
}

/*
 * Looking
 */

static bool swq_marked(const struct swq_layout *l, const struct swq_cpu *self,
		       const struct swq_token *t)
{
	const struct swq_cpu *r = container_of(t, struct swq_cpu, token);
	unsigned int i;

	for (i = 0; i < SWQ_MARKS; i++) {
		const struct swq_mark *m = &self->mark[i];

		if (m->cpu == t->cpu && m->seq == READ_ONCE(r->seq) &&
		    (!m->look || m->look == self->look) &&
		    swq_now(l) - m->at < SWQ_STALE_JIFFIES)
			return true;
	}

	return false;
}

static void swq_mark(const struct swq_layout *l, struct swq_cpu *self,
		     const struct swq_cpu *r, unsigned int look)
{
	struct swq_mark *m = &self->mark[self->mark_hand++ % SWQ_MARKS];

	m->cpu = r->token.cpu;
	m->seq = r->seq;
	m->look = look;
	m->at = swq_now(l);
}

/*
 * Is a token without surplus worth taking off?  Not if its runqueue has had
 * surplus a short time ago: that is likely to come back, and then the token had
 * better be there.  Taking it off and linking it again costs two locks, leaving
 * it costs each look what the look has read by now.
 */
static bool swq_dormant(struct swq_layout *l, const struct swq_token *t,
			u32 patience)
{
	const struct swq_cpu *r = container_of(t, struct swq_cpu, token);
	/*
	 * Before the time, which must not be the earlier one; pairs with nothing,
	 * the clock is not written by who writes this.
	 */
	u32 at = smp_load_acquire(&r->surplus_at);

	/*
	 * Unsigned: a runqueue that had no surplus since boot, when jiffies are
	 * about to wrap, or for weeks, has had none lately.
	 */
	return swq_now(l) - at >= patience;
}

/*
 * Without the lock: are all tokens of a shard stale, and to be left where they
 * are?
 */
static bool swq_leave_alone(struct swq_layout *l, struct swq_shard *s)
{
	/* Pairs with the releases in swq_name() and swq_unname(). */
	unsigned int nr = smp_load_acquire(&s->nr_named);
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct swq_token *t = &l->ops->cpu(READ_ONCE(s->named[i]))->token;

		if (l->ops->surplus(t) || swq_dormant(l, t, SWQ_STALE_JIFFIES))
			return false;
	}

	return nr;
}

/*
 * Take a stale token off.  Its owner may have got work meanwhile, seen LINKED
 * and left it at that, so look again: then the token counts as popped, and the
 * visit will see to it.
 */
static bool swq_discard(struct swq_layout *l, struct swq_shard *s,
			struct swq_token *t)
{
	swq_unlink(l, s, t);
	swq_step(l, SWQ_STEP_DISCARDED, t);
	/*
	 * Orders UNLINKED before the counts.  Pairs with the barrier in
	 * swq_publish(), or with the one after the lock in __schedule().
	 */
	smp_mb();

	return l->ops->surplus(t);
}

/*
 * One section under the shard's lock: up to SWQ_LOOKAHEAD tokens from the
 * head.  What this CPU must not try again goes to the tail, so that it hides
 * nothing.  Stale ones are spared only while they can be seen without the lock,
 * or each look would take the lock for them.
 */
static struct swq_token *swq_look_locked(struct swq_layout *l,
					 struct swq_shard *s,
					 struct swq_cpu *self,
					 unsigned int nr)
{
	u32 patience = s->nr_named ? SWQ_STALE_JIFFIES : 0;
	struct swq_token *t;

	lockdep_assert_held(&s->lock);

	for (; nr && !list_empty(&s->tokens); nr--) {
		t = list_first_entry(&s->tokens, struct swq_token, node);

		if (!l->ops->surplus(t)) {
			if (!swq_dormant(l, t, patience)) {
				list_move_tail(&t->node, &s->tokens);
				continue;
			}
			swq_shard_add(&s->nr_discarded, 1);
			if (!swq_discard(l, s, t)) {
				swq_count(self, SWQ_STAT_DISCARDED);
				continue;
			}
			swq_shard_add(&s->nr_discarded, -1);
		} else if (t == &self->token || swq_marked(l, self, t)) {
			/* Own work needs no visit: the CPU is about to find it. */
			list_move_tail(&t->node, &s->tokens);
			continue;
		} else {
			swq_unlink(l, s, t);
		}

		swq_shard_add(&s->nr_popped, 1);
		swq_count(self, SWQ_STAT_POPPED);
		return t;
	}

	return NULL;
}

/*
 * The lock of a shard, for a looker.  A foreign one is never waited for.  But
 * before this CPU sleeps: the only work may stand there while the holder takes
 * other.  Then leave a note and try once more; the barrier pairs with the one
 * in swq_missed(): either the holder sees the note, or the lock is free by now.
 */
static bool swq_look_lock(struct swq_layout *l, struct swq_shard *s,
			  struct swq_cpu *self, bool own, unsigned int how)
{
	if (own) {
		swq_lock(s, self);
		/* For sparse, which counts within a function: see the caller. */
		__release(&s->lock);
		return true;
	}
	if (raw_spin_trylock(&s->lock))
		goto locked;

	if (how & SWQ_LOOK_LAST) {
		WRITE_ONCE(s->missed, 1);
		swq_step(l, SWQ_STEP_MISSED, NULL);
		smp_mb();	/* note, then lock */
		if (raw_spin_trylock(&s->lock))
			goto locked;
	}

	swq_count(self, SWQ_STAT_PULL_BUSY);
	return false;

locked:
	swq_lock_counted(s, self);
	__release(&s->lock);
	return true;
}

static struct swq_token *swq_look_shard(struct swq_layout *l,
					struct swq_shard *s,
					struct swq_cpu *self, bool own,
					unsigned int how)
{
	struct swq_token *t = NULL;
	unsigned int left = 0;
	bool first = true;

	if (!(how & SWQ_LOOK_LAST) && swq_leave_alone(l, s))
		return NULL;

	/*
	 * A last look sees each token once, in sections of bounded length; any
	 * other look sees what one section shows.
	 */
	do {
		unsigned int nr;

		if (!swq_look_lock(l, s, self, own, how))
			return NULL;
		__acquire(&s->lock);
		if (first)
			left = s->nr;
		first = false;

		nr = min_t(unsigned int, left, SWQ_LOOKAHEAD);
		left -= nr;
		t = swq_look_locked(l, s, self, nr);
		swq_hint_clear_if_empty(l, s);
		swq_step(l, SWQ_STEP_LOOK_UNLOCK, t);
		swq_unlock(l, s, self);
	} while (!t && left && (how & SWQ_LOOK_LAST));

	return t;
}

/**
 * swq_look_begin() - start a look of up to a few visits
 * @self: this CPU
 *
 * Ends the marks that held for the look before.
 */
void swq_look_begin(struct swq_cpu *self)
{
	if (!++self->look)
		self->look = 1;
}

/**
 * swq_look() - search for a runqueue with surplus (O3, steps 1 to 3)
 * @l: layout of this CPU
 * @self: this CPU, without work
 * @how: SWQ_LOOK_*
 *
 * Own shard first, then those behind it, as far as the hint words say.  Only
 * the own shard is waited for.
 *
 * Context: interrupts off, which is also the RCU read side; the own rq lock
 * may be held, and no other.
 * Return: a token that is UNLINKED now and whose runqueue the caller must
 * visit, or NULL.
 */
struct swq_token *swq_look(struct swq_layout *l, struct swq_cpu *self,
			   unsigned int how)
{
	const struct swq_place *place = swq_place_of(l, self->token.cpu);
	unsigned int own = place->shard;
	unsigned int own_word = own / l->shards_per_hint;
	unsigned long own_mask = ~0UL << (own % l->shards_per_hint);
	struct swq_token *t;
	bool tried = false;
	unsigned int i;

	/* One step more than there are words: the own word comes in two halves. */
	for (i = 0; i <= l->nr_hints; i++) {
		unsigned int word = (own_word + i) % l->nr_hints;
		unsigned long bits = READ_ONCE(l->hint[word].bits);

		if (i == 0)
			bits &= own_mask;
		else if (i == l->nr_hints)
			bits &= ~own_mask;

		while (bits) {
			unsigned int id = word * l->shards_per_hint + __ffs(bits);

			bits &= bits - 1;
			if (!tried)
				swq_count(self, SWQ_STAT_PULL_TRIES);
			tried = true;

			t = swq_look_shard(l, &l->shards[id], self, id == own, how);
			if (t)
				return t;
		}
	}

	if (tried)
		swq_count(self, SWQ_STAT_PULL_EMPTY);
	return NULL;
}

/**
 * swq_visited() - end of a visit (O3, step 4)
 * @l: present layout of @r, or NULL if it has none
 * @r: the CPU visited
 * @self: this CPU
 * @result: how it went
 *
 * While its token was popped the surplus could not be found, so what is left
 * is published in full.
 *
 * Context: @r's rq lock held, its counts written; interrupts off.
 */
void swq_visited(struct swq_layout *l, struct swq_cpu *r, struct swq_cpu *self,
		 enum swq_visit result)
{
	unsigned int how = 0;

	switch (result) {
	case SWQ_VISIT_MOVED:
		swq_count(self, SWQ_STAT_PULL_MOVED);
		break;
	case SWQ_VISIT_UNMOVABLE:
	case SWQ_VISIT_NOT_NOW:
		swq_count(self, SWQ_STAT_PULL_UNMOVABLE);
		if (l)
			swq_mark(l, self, r, result == SWQ_VISIT_NOT_NOW ? self->look : 0);
		/* Two idle CPUs would kick each other for ever. */
		how = SWQ_PUB_QUIET;
		break;
	case SWQ_VISIT_STALE:
		swq_count(self, SWQ_STAT_PULL_STALE);
		break;
	}

	if (l && l->ops->surplus(&r->token))
		swq_publish(l, r, self, how);
}

/*
 * Cost gate
 */

/* However bad the experience, one look in this time is allowed. */
#define SWQ_GATE_FLOOR_NS	(4 * NSEC_PER_MSEC)
#define SWQ_GATE_STRIDE		16

/**
 * swq_gate_open() - is a look worth its cost?
 * @g: gate of this CPU
 * @now: time in ns
 * @avg_idle: how long this CPU is expected to stay idle, in ns
 *
 * No, if the CPU will have woken before a look is done.  And a look that found
 * nothing makes the next ones rarer, down to one in SWQ_GATE_STRIDE chances;
 * one that found something makes them all count again.  Neither may starve a
 * rare but valuable pull, so a look in SWQ_GATE_FLOOR_NS is always allowed.
 *
 * Return: true if it is.
 */
bool swq_gate_open(struct swq_gate *g, u64 now, u64 avg_idle)
{
	if (now - g->last >= SWQ_GATE_FLOOR_NS)
		return true;
	if (avg_idle < g->cost)
		return false;
	if (g->skip) {
		g->skip--;
		return false;
	}

	return true;
}

/**
 * swq_gate_account() - remember what a look cost and brought
 * @g: gate of this CPU
 * @now: time at its end in ns
 * @cost: its duration in ns
 * @hit: it brought a task
 */
void swq_gate_account(struct swq_gate *g, u64 now, u64 cost, bool hit)
{
	u32 c = min_t(u64, cost, NSEC_PER_MSEC);

	g->last = now;
	g->cost = g->cost ? g->cost - (g->cost >> 3) + (c >> 3) : c;
	g->stride = hit ? 1 : clamp_t(unsigned int, 2 * g->stride, 1, SWQ_GATE_STRIDE);
	g->skip = g->stride - 1;
}

/*
 * Replacing layouts (O7)
 */

/* In sections of bounded length: lookers of the old layout may still wait. */
static void swq_drain_shard(struct swq_layout *l, struct swq_shard *s)
{
	unsigned long flags;
	unsigned int n;
	bool empty;

	do {
		raw_spin_lock_irqsave(&s->lock, flags);
		for (n = 0; n < SWQ_DRAIN_BATCH && !list_empty(&s->tokens); n++)
			swq_unlink(l, s, list_first_entry(&s->tokens,
							  struct swq_token, node));
		empty = list_empty(&s->tokens);
		raw_spin_unlock_irqrestore(&s->lock, flags);
	} while (!empty);
}

static void swq_sweep(struct list_head *layouts,
		      const struct swq_replace_ops *ops)
{
	struct swq_layout *l;
	unsigned int i;

	list_for_each_entry(l, layouts, entry) {
		for (i = 0; i < l->nr_cpus; i++)
			ops->sweep(l->cpus[i]);
	}
}

/**
 * swq_replace() - exchange layouts on a running system
 * @old: layouts to be taken out of use and freed
 * @new: layouts to be put into use; a CPU of @old that is in none has no queue
 * @ops: how to wait, sweep and free
 *
 * The new layouts are published first.  After a grace period nobody links on
 * the old shards any more, so emptying them (all that were allocated, each
 * under its own lock) is final.  That leaves tokens UNLINKED whose runqueues
 * have surplus and see no reason to look again: the sweep publishes those.  It
 * takes every rq lock, so it also waits for the owners that still follow
 * @shard into an old layout.
 *
 * Context: may sleep; the caller's mutex excludes other replacements.
 */
void swq_replace(struct list_head *old, struct list_head *new,
		 const struct swq_replace_ops *ops)
{
	struct swq_layout *l, *tmp;
	unsigned int i;

	list_for_each_entry(l, new, entry) {
		for (i = 0; i < l->nr_cpus; i++)
			rcu_assign_pointer(l->ops->cpu(l->cpus[i])->layout, l);
		swq_step(l, SWQ_STEP_SWITCHED, NULL);
	}
	list_for_each_entry(l, old, entry) {
		for (i = 0; i < l->nr_cpus; i++) {
			struct swq_cpu *c = l->ops->cpu(l->cpus[i]);

			if (rcu_access_pointer(c->layout) == l)
				RCU_INIT_POINTER(c->layout, NULL);
		}
		swq_step(l, SWQ_STEP_SWITCHED, NULL);
	}

	ops->synchronize();

	list_for_each_entry(l, old, entry) {
		swq_step(l, SWQ_STEP_SYNCED, NULL);
		for (i = 0; i < l->nr_shards; i++)
			swq_drain_shard(l, &l->shards[i]);
		swq_step(l, SWQ_STEP_DRAINED, NULL);
	}

	swq_sweep(new, ops);
	swq_sweep(old, ops);

	list_for_each_entry_safe(l, tmp, old, entry) {
		list_del(&l->entry);
		swq_step(l, SWQ_STEP_SWEPT, NULL);
		ops->free(l);
	}
}
