/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared wake queue: an index of the runqueues of one last-level cache that
 * have more than they can run, split into shards.
 *
 * This is the structure alone.  It knows tokens, shards and layouts, and
 * neither struct rq nor task_struct: KUnit and userspace test the very code
 * that ships.  swqueue_fair.c ties it to the scheduler.
 *
 * What is queued
 *
 *   A waiting task never leaves its runqueue.  What stands in the queue is a
 *   token, one per runqueue, living in per-CPU data: no lifetime to guard, no
 *   work at exit, exec, or a change of class or affinity.  A token is linked
 *   when its runqueue gains a waiter (publication) and stays linked until a
 *   CPU that looks for work pops it, or finds that it has been stale for some
 *   time and discards it.  A runqueue whose surplus comes and goes writes
 *   nothing shared at all.
 *
 *   A CPU that pops a token owes its runqueue a visit: under that runqueue's
 *   lock it takes a task, or finds that it cannot, and publishes again what
 *   surplus is left.
 *
 * Words
 *
 *   surplus     the runqueue has at least two runnable tasks, one of them a
 *               waiting fair one.  One predicate for owner and looker.
 *   publisher   whoever holds the runqueue's lock and links its token: the CPU
 *               itself, a remote waker, a visitor, the sweep.
 *   looker      a CPU without work that searches the shards.
 *
 * Locking.  rq lock -> shard lock, interrupts off, never two shard locks, and
 * never an rq lock inside a shard lock.
 *
 *   what                        written under                  read without it by
 *   token->state  -> LINKED     rq lock and lock of ->shard    publisher (rq lock)
 *   token->state  -> UNLINKED   lock of ->shard                publisher (rq lock)
 *   token->shard                rq lock and that shard's lock  owner's unlink (rq lock)
 *   token->node                 lock of ->shard                -
 *   cpu->seq, ->surplus_at      rq lock                        lookers
 *   cpu->deferred               rq lock                        -
 *   cpu->idle                   xchg by that CPU; kickers      kickers
 *                               only IDLE -> KICKED
 *   cpu->mark, ->gate, ->stat   that CPU, interrupts off       readers of stats
 *   shard->tokens, ->nr, stats  shard->lock                    readers of stats
 *   shard->nr_named, ->named    shard->lock                    lookers
 *   shard->missed               set by a sleeper whose trylock whoever unlocks
 *                               failed, cleared by whoever
 *                               unlocks
 *   layout->hint                set by a linker after its      lookers
 *                               unlock, only when clear;
 *                               cleared under the shard's
 *                               lock with its list empty
 *   layout->ann                 set by the idle CPU, only      publishers
 *                               when clear; taken by kickers
 *   cpu->layout                 swqueue_mutex, RCU             everybody, irqs off
 *
 * Who may run beside whom, on one shard ("L": shard lock, "-": no lock at all)
 *
 *                  publish    own unlink    look       drain      skip a linked
 *   publish           L           L           L          L             -
 *   own unlink                    L           L          L             -
 *   look                                      L          L         - (barriers)
 *   drain                                                L         - (barriers)
 *
 *   publish, own unlink and skip of *one* token exclude each other by the
 *   runqueue's lock.  "Skip a linked": the publisher sees LINKED and leaves it
 *   at that.  Against a discard this is store buffering (the publisher wrote
 *   the counts and reads the state, the discarder wrote the state and reads
 *   the counts), so both have a full barrier in between: see swq_publish() and
 *   swq_discard().
 *
 * The protocol was model-checked before it was written; the steps here have
 * the names they have there (O1 publish, O3 look, O6 own unlink, O7 re-shard;
 * O4 kick and O5 going idle are in swqueue_idle.c).
 *
 * Sources: the shared wake queue of David Vernet (2023), the reports on its
 * contention by Aaron Lu, the overloaded-CPU bitmap of Steve Sistare (2018),
 * and the equal split of cores over shards in sched_ext.
 */
#ifndef _KERNEL_SCHED_SWQUEUE_H
#define _KERNEL_SCHED_SWQUEUE_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/cache.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/types.h>

/* CPUs of a shard when the count is left to us: see sched-swqueue.rst. */
#define SWQ_SHARD_CPUS		8
/* Upper limit of the shard count knob; a layout has one shard per core at most. */
#define SWQ_MAX_SHARDS		1024
/* CPUs that share one hint word, at most. */
#define SWQ_HINT_CPUS		256
/*
 * Tokens that one look examines per shard before it lets go of the lock, and
 * that it can examine without.
 */
#define SWQ_LOOKAHEAD		4
/*
 * How long without surplus a token is left where it is, and how long a visit in
 * vain is remembered.  What makes surplus now and then (timers, kworkers, a
 * daemon) comes a few times a second to each CPU.
 */
#define SWQ_STALE_JIFFIES	(HZ / 4)
/* Visits that were in vain and that a CPU remembers. */
#define SWQ_MARKS		4
/* Tokens taken off per lock section while an old layout is emptied. */
#define SWQ_DRAIN_BATCH		32

struct swq_cpu;
struct swq_layout;
struct swq_shard;

enum swq_token_state {
	SWQ_UNLINKED,
	SWQ_LINKED,
};

/**
 * struct swq_token - stands for a runqueue that has surplus
 * @state: enum swq_token_state
 * @cpu: CPU of the runqueue, constant
 * @shard: shard it is linked on; valid while LINKED, and only this one counts,
 *	never the shard that the CPU belongs to at present
 * @node: place in @shard's list
 *
 * A cache line of its own: neighbours in the list write @node.
 */
struct swq_token {
	unsigned int		state;
	int			cpu;
	struct swq_shard	*shard;
	struct list_head	node;
} ____cacheline_aligned_in_smp;

/**
 * enum swq_stat - per-CPU event counters
 * @SWQ_STAT_ENQUEUED: tasks enqueued, woken or moved, without those of
 *	@SWQ_STAT_DEFERRED
 * @SWQ_STAT_LINKED: tokens linked
 * @SWQ_STAT_LINKED_AWAY: those of them linked on another shard than the home
 * @SWQ_STAT_UNLINKED: tokens taken off by their owner
 * @SWQ_STAT_DISCARDED: tokens found stale and taken off
 * @SWQ_STAT_POPPED: tokens taken for a visit
 * @SWQ_STAT_PULL_TRIES: looks with a hint set
 * @SWQ_STAT_PULL_EMPTY: those of them that found no token to visit
 * @SWQ_STAT_PULL_BUSY: foreign shards skipped, lock held
 * @SWQ_STAT_PULL_GATED: looks not made, by cost or success rate
 * @SWQ_STAT_PULL_STALE: visits that found no surplus
 * @SWQ_STAT_PULL_UNMOVABLE: visits that found nothing movable
 * @SWQ_STAT_PULL_MOVED: visits that brought a task
 * @SWQ_STAT_DEFERRED: publications put off to the next pick
 * @SWQ_STAT_SKIPPED_LINKED: publications met by a linked token
 * @SWQ_STAT_KICKED: idle CPUs kicked
 * @SWQ_STAT_KICK_PASSED: kicks passed on
 * @SWQ_STAT_LOCKS: shard lock acquisitions
 * @SWQ_STAT_CONTENDED: those of them that had to wait
 * @SWQ_NR_STATS: how many
 *
 * Counted on the CPU that acts.  swq_stat_names[] has the names users see.
 */
enum swq_stat {
	SWQ_STAT_ENQUEUED,
	SWQ_STAT_LINKED,
	SWQ_STAT_LINKED_AWAY,
	SWQ_STAT_UNLINKED,
	SWQ_STAT_DISCARDED,
	SWQ_STAT_POPPED,
	SWQ_STAT_PULL_TRIES,
	SWQ_STAT_PULL_EMPTY,
	SWQ_STAT_PULL_BUSY,
	SWQ_STAT_PULL_GATED,
	SWQ_STAT_PULL_STALE,
	SWQ_STAT_PULL_UNMOVABLE,
	SWQ_STAT_PULL_MOVED,
	SWQ_STAT_DEFERRED,
	SWQ_STAT_SKIPPED_LINKED,
	SWQ_STAT_KICKED,
	SWQ_STAT_KICK_PASSED,
	SWQ_STAT_LOCKS,
	SWQ_STAT_CONTENDED,
	SWQ_NR_STATS,
};

extern const char *const swq_stat_names[SWQ_NR_STATS];

/**
 * struct swq_mark - a visit that was in vain
 * @cpu: the CPU visited, -1 for none
 * @seq: its waiting set then; the mark ends when that changes
 * @look: 0, or the only look for which the mark holds: a cache-hot task cools
 *	down without any event that would change @seq
 * @at: when, in jiffies.  It ends after SWQ_STALE_JIFFIES in any case: an
 *	affinity may widen, and a task may come while the feature is off, without
 *	any event either
 */
struct swq_mark {
	int			cpu;
	unsigned int		seq;
	unsigned int		look;
	u32			at;
};

/**
 * struct swq_gate - decides whether a look is worth its cost
 * @last: time of the last look in ns
 * @cost: running average of what a look costs in ns
 * @stride: every how manieth chance is taken; doubles with each futile look
 * @skip: chances still to be passed over
 */
struct swq_gate {
	u64			last;
	u32			cost;
	u16			stride;
	u16			skip;
};

enum swq_idle_state {
	SWQ_BUSY,		/* has work, or is not announced */
	SWQ_IDLE,		/* announced: must be kicked when work is published */
	SWQ_KICKED,		/* a kick is on its way */
};

/**
 * struct swq_cpu - what a CPU brings to the queue
 * @token: its runqueue's token
 * @layout: layout of its LLC or NULL, RCU
 * @seq: counts changes of the set of tasks that wait on its runqueue
 * @surplus_at: when it last had surplus, in jiffies
 * @deferred: a publication is due at the next pick or tick.  Set by the caller
 *	instead of reporting an enqueue, by the CPU itself under its rq lock
 * @owe: a kick was taken and the look that it asked for is not complete
 * @look: number of its present look, never 0 within one
 * @mark: visits in vain that it remembers
 * @mark_hand: the mark to be replaced next
 * @gate: cost gate of its looks
 * @stat: event counters
 * @idle: enum swq_idle_state, on a line of its own as kickers write it
 */
struct swq_cpu {
	struct swq_token	token;

	struct swq_layout __rcu	*layout ____cacheline_aligned_in_smp;
	unsigned int		seq;
	u32			surplus_at;
	bool			deferred;
	bool			owe;
	unsigned int		look;
	unsigned int		mark_hand;
	struct swq_mark		mark[SWQ_MARKS];
	struct swq_gate		gate;

	unsigned long		stat[SWQ_NR_STATS];

	atomic_t		idle ____cacheline_aligned_in_smp;
};

/**
 * struct swq_shard - some tokens, oldest first
 * @lock: protects every field but @missed
 * @nr: length of @tokens
 * @tokens: the list, linked at the tail and looked at from the head
 * @nr_named: @nr as long as all of @tokens have their names in @named, else 0
 * @named: the CPUs of @tokens, in no order
 * @missed: a CPU that is about to sleep could not get @lock
 * @id: index in its layout
 * @hint: the word that has its hint bit
 * @hint_bit: number of that bit
 * @longest: largest @nr ever
 * @nr_locks: acquisitions of @lock
 * @nr_contended: ... that had to wait
 * @nr_linked: tokens linked
 * @nr_popped: tokens taken for a visit
 * @nr_discarded: tokens found stale
 */
struct swq_shard {
	raw_spinlock_t		lock;
	unsigned int		nr;
	struct list_head	tokens;
	unsigned int		nr_named;
	int			named[SWQ_LOOKAHEAD];
	unsigned int		missed;
	unsigned int		id;
	unsigned int		hint_bit;
	struct swq_word		*hint;
	unsigned int		longest;
	unsigned long		nr_locks;
	unsigned long		nr_contended;
	unsigned long		nr_linked;
	unsigned long		nr_popped;
	unsigned long		nr_discarded;
} ____cacheline_aligned_in_smp;

/**
 * struct swq_word - a bitmap word with a cache line of its own
 * @bits: the word
 */
struct swq_word {
	unsigned long		bits;
} ____cacheline_aligned_in_smp;

/**
 * struct swq_ops - what the queue has to ask its user
 * @surplus: does the runqueue of this token have surplus?  Called with or
 *	without that runqueue's lock, must only read.
 * @cpu: the &struct swq_cpu of a CPU
 * @kick: make an idle CPU run its idle loop once more.  Called under an rq
 *	lock, so it must not take one.
 */
struct swq_ops {
	bool			(*surplus)(const struct swq_token *token);
	struct swq_cpu		*(*cpu)(int cpu);
	void			(*kick)(int cpu);
};

/**
 * struct swq_place - where a CPU stands in its layout
 * @shard: its home shard
 * @ann: its bit in the announcement words
 * @core: index of its core within the LLC
 * @core_ann: announcement bit of the first CPU of its core
 * @core_nr: CPUs of its core, 0 for a CPU that is not of this LLC
 */
struct swq_place {
	u16			shard;
	u16			ann;
	u16			core;
	u16			core_ann;
	u16			core_nr;
};

/*
 * Points at which a test may act between two steps of the protocol.  They cost
 * nothing unless the KUnit suites are built.
 */
enum swq_step {
	SWQ_STEP_SKIP,		/* publisher read LINKED, barrier to come */
	SWQ_STEP_LINK,		/* shard chosen, lock not yet taken */
	SWQ_STEP_LINK_UNLOCKED,	/* linked and unlocked, hint not yet set */
	SWQ_STEP_PUBLISHED,	/* findable, idle CPUs not yet looked at */
	SWQ_STEP_REMOVED,	/* off the list, state still LINKED */
	SWQ_STEP_DISCARDED,	/* UNLINKED, second look to come */
	SWQ_STEP_LOOK_EMPTY,	/* list found empty, hint not yet cleared */
	SWQ_STEP_LOOK_UNLOCK,	/* looker about to unlock */
	SWQ_STEP_UNLOCKED,	/* shard unlocked, missed not yet read */
	SWQ_STEP_MISSED,	/* missed set, second trylock to come */
	SWQ_STEP_UNLINK,	/* owner knows its shard, lock not yet taken */
	SWQ_STEP_KICK_TAKEN,	/* announcement taken, idle word not yet tested */
	SWQ_STEP_ANNOUNCE,	/* IDLE, announcement bit not yet set */
	SWQ_STEP_ANNOUNCED,	/* announced, last look to come */
	SWQ_STEP_SWITCHED,	/* new layouts published */
	SWQ_STEP_SYNCED,	/* grace period over */
	SWQ_STEP_DRAINED,	/* old layouts empty */
	SWQ_STEP_SWEPT,		/* surplus published again */
};

/**
 * struct swq_layout - the queue of one LLC
 * @rcu: for kfree_rcu()
 * @entry: list of a replacement in progress
 * @ops: callbacks
 * @llc: first CPU, names the LLC to users
 * @base: lowest CPU number, index 0 of @places
 * @span: length of @places
 * @nr_cpus: CPUs of the LLC
 * @nr_cores: cores of the LLC
 * @nr_shards: shards
 * @nr_hints: words in @hint
 * @shards_per_hint: bits used in each of them
 * @nr_anns: words in @ann
 * @wanted: shard count that was asked for, 0 for automatic
 * @kick: the idle side is in use; the one field that changes
 * @cpus: CPUs in ascending order
 * @ann_cpus: CPU of each announcement bit, -1 for padding
 * @places: by CPU number - @base
 * @shards: the shards
 * @hint: a bit per shard: may hold a token
 * @ann: a bit per CPU: may be idle
 * @step: test hook
 * @step_arg: for its user
 * @clock: instead of jiffies
 *
 * Immutable once published, but for @kick, the shards and the two kinds of
 * words.
 */
struct swq_layout {
	struct rcu_head		rcu;
	struct list_head	entry;
	const struct swq_ops	*ops;
	int			llc;
	int			base;
	unsigned int		span;
	unsigned int		nr_cpus;
	unsigned int		nr_cores;
	unsigned int		nr_shards;
	unsigned int		nr_hints;
	unsigned int		shards_per_hint;
	unsigned int		nr_anns;
	unsigned int		wanted;
	bool			kick;
	int			*cpus;
	int			*ann_cpus;
	struct swq_place	*places;
	struct swq_shard	*shards;
	struct swq_word		*hint;
	struct swq_word		*ann;
#if IS_ENABLED(CONFIG_SCHED_SWQUEUE_KUNIT_TEST)
	void			(*step)(struct swq_layout *l, enum swq_step step,
					struct swq_token *token);
	void			*step_arg;
	const u32		*clock;
#endif
};

#if IS_ENABLED(CONFIG_SCHED_SWQUEUE_KUNIT_TEST)
static inline void swq_step(struct swq_layout *l, enum swq_step step,
			    struct swq_token *token)
{
	if (unlikely(l->step))
		l->step(l, step, token);
}

static inline u32 swq_now(const struct swq_layout *l)
{
	return unlikely(l->clock) ? READ_ONCE(*l->clock) : (u32)jiffies;
}
#else
static inline void swq_step(struct swq_layout *l, enum swq_step step,
			    struct swq_token *token) { }

static inline u32 swq_now(const struct swq_layout *l)
{
	return jiffies;
}
#endif

/* Only ever called by the CPU that @c belongs to, interrupts off. */
static inline void swq_count(struct swq_cpu *c, enum swq_stat stat)
{
	WRITE_ONCE(c->stat[stat], c->stat[stat] + 1);
}

/**
 * swq_place_of() - where a CPU stands in a layout
 * @l: layout
 * @cpu: CPU number
 *
 * Return: its place, or NULL if it is not a CPU of this LLC.
 */
static inline const struct swq_place *
swq_place_of(const struct swq_layout *l, int cpu)
{
	unsigned int i = cpu - l->base;

	if (i >= l->span || !l->places[i].core_nr)
		return NULL;
	return &l->places[i];
}

/**
 * swq_hinted() - may there be anything to find?
 * @l: layout
 *
 * All that a CPU reads which goes idle while nothing waits: one line per
 * SWQ_HINT_CPUS CPUs.
 *
 * Return: true if a hint bit is set.
 */
static inline bool swq_hinted(const struct swq_layout *l)
{
	unsigned int i;

	for (i = 0; i < l->nr_hints; i++) {
		if (READ_ONCE(l->hint[i].bits))
			return true;
	}

	return false;
}

/* What an event on a runqueue was; computed by the caller under its rq lock. */
#define SWQ_EV_SURPLUS	0x01	/* the runqueue has surplus now */
#define SWQ_EV_PINNED	0x02	/* the task may run on no other CPU */
#define SWQ_EV_RUNNING	0x04	/* the CPU runs a task, it is not being woken */
#define SWQ_EV_PUT_BACK	0x08	/* a fair task was switched out, still runnable */

/* How to publish. */
#define SWQ_PUB_ORDERED	0x01	/* a full barrier came after the last change */
#define SWQ_PUB_QUIET	0x02	/* kick nobody: the waiting set did not grow */

/* What a visit ended in. */
enum swq_visit {
	SWQ_VISIT_MOVED,	/* took a task */
	SWQ_VISIT_UNMOVABLE,	/* surplus, and no task of it may come here */
	SWQ_VISIT_NOT_NOW,	/* the same, but for a reason that passes by itself */
	SWQ_VISIT_STALE,	/* no surplus */
};

/* How to look. */
#define SWQ_LOOK_LAST	0x01	/* after the announcement: see every token once */

/**
 * struct swq_replace_ops - how layouts are replaced
 * @synchronize: wait until nobody uses a layout published before
 * @sweep: for one CPU, under its rq lock: publish if it has surplus
 * @free: give an old layout back, after a grace period of its own if
 *	@sweep does not take the rq lock of every CPU
 */
struct swq_replace_ops {
	void			(*synchronize)(void);
	void			(*sweep)(int cpu);
	void			(*free)(struct swq_layout *l);
};

unsigned int swq_nr_shards(unsigned int wanted, unsigned int nr_cpus,
			   unsigned int nr_cores);
struct swq_layout *swq_layout_alloc(const int *cpus, const int *cores,
				    unsigned int nr, unsigned int wanted,
				    const struct swq_ops *ops, int node);
void swq_layout_free(struct swq_layout *l);
void swq_replace(struct list_head *old, struct list_head *new,
		 const struct swq_replace_ops *ops);
void swq_cpu_init(struct swq_cpu *c, int cpu);
void swq_shard_reset(struct swq_layout *l, struct swq_shard *s,
		     struct swq_cpu *self);

void swq_publish(struct swq_layout *l, struct swq_cpu *r, struct swq_cpu *self,
		 unsigned int how);
void swq_unlink_own(struct swq_layout *l, struct swq_cpu *r,
		    struct swq_cpu *self, bool surplus);
void swq_enqueued(struct swq_layout *l, struct swq_cpu *r,
		  struct swq_cpu *self, unsigned int ev);
void swq_switched(struct swq_layout *l, struct swq_cpu *self, unsigned int ev);
void swq_ticked(struct swq_layout *l, struct swq_cpu *self, unsigned int ev);
void swq_wakeup_link(struct swq_layout *l, struct swq_cpu *r,
		     struct swq_cpu *self);

void swq_look_begin(struct swq_cpu *self);
struct swq_token *swq_look(struct swq_layout *l, struct swq_cpu *self,
			   unsigned int how);
void swq_visited(struct swq_layout *l, struct swq_cpu *r, struct swq_cpu *self,
		 enum swq_visit result);

bool swq_gate_open(struct swq_gate *g, u64 now, u64 avg_idle);
void swq_gate_account(struct swq_gate *g, u64 now, u64 cost, bool hit);

/* The idle side, swqueue_idle.c; in use where layout->kick is set. */
bool swq_kick(struct swq_layout *l, struct swq_cpu *self, int near);
void swq_missed(struct swq_layout *l, struct swq_shard *s,
		struct swq_cpu *self);
bool swq_idle_enter(struct swq_layout *l, struct swq_cpu *self);
void swq_idle_looked(struct swq_cpu *self);
void swq_idle_exit(struct swq_layout *l, struct swq_cpu *self);

#endif /* _KERNEL_SCHED_SWQUEUE_H */
