/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CID cache: concurrency ids of an mm, kept as words in per-CPU caches.
 *
 * A concurrency id is a small number that no two running threads of an mm have
 * at the same time.  Here an id is a word {gen, cid, state} in the cache of the
 * CPU that used it last.  The generation stands for the mm; a cache holds no
 * pointer, so a word whose mm is gone matches nothing and needs no clean-up.
 * For each id the mm has an owner word {cpu + 1, seq} that says in which cache
 * to look.  Ids that no running thread holds may be stolen by whoever needs
 * one.  Migration, wake-up, tick and idle have nothing to do.
 *
 * The code knows neither runqueues nor mm_struct: it works on the words it is
 * handed, and the same file is compiled in user space for the tests.
 *
 *
 * One (gen, k) as seen in the cache of CPU d
 * ------------------------------------------
 *
 *  in cache d     owner[k]   means                      who may change it, to what
 *  -------------  ---------  -------------------------  --------------------------
 *  absent         0          never used                 any CPU: tentative + claim
 *  absent         d          free (evicted, stolen,     any CPU, also d: tentative
 *                            dropped)                   + claim with seq + 1
 *  absent         e != d     look at e                  -
 *  RUNNING        d          a thread on d has it       d only: PARKED or 0
 *  PARKED         d          d may resume it, anybody   d: cmpxchg to RUNNING, or
 *                            may steal it               overwrite; others: cmpxchg
 *                                                       to 0
 *  RUNNING and    any        tentative: d tries to get  d: claim succeeds: RUNNING;
 *  not cur                   k, nobody runs on it       fails: 0
 *  any            != d       impossible unless          -
 *                            tentative (invariant J)
 *
 * Implicit 0: while an mm has one user that user has id 0 and no word at all.
 * RUNNING words of the mm cannot exist then; stale PARKED ones can.
 *
 *
 * Rules
 * -----
 *  R1  A word never moves to another slot.  A word made from nothing is
 *	tentative until a cmpxchg on owner[k] that bumps seq has succeeded, also
 *	if owner[k] names this CPU already.  Until then its thread must not run.
 *  R2  owner[k] changes only by cmpxchg against the value (cpu and seq) that
 *	was read before the look into that CPU's cache.
 *  R3  A CPU writes RUNNING only for itself, at most one at a time.  PARKED to
 *	RUNNING is a cmpxchg, every other write of the owning CPU is a release
 *	store.
 *  R4  A cache has at most one word per gen.  A new word goes into the slot of
 *	the old one.
 *  R5  A task leaves users only after its id is dropped and is counted before
 *	it can run.  During execve it stays counted in the old mm until the mm
 *	is really replaced.
 *
 *
 * Concurrency matrix
 * ------------------
 * What has to be excluded between two operations.  "C": same CPU only, and
 * preemption off excludes it.  "T": same task only, cannot happen.  "-": nothing.
 *
 *		  switch  clone  exit  exec  allow  online
 *	switch	    C       C     C     C      -      C
 *	clone		    T,C   C     C      -      C
 *	exit			  T,C   C      -      C
 *	exec				T,C    -      C
 *	allow					A      -
 *	online						      C
 *
 * "A": struct cid_mm::aff_lock, taken inside.
 *
 *  function             preemption  interrupts  locks taken
 *  -------------------  ----------  ----------  ---------------------------
 *  cid_switch()         off         off         lock, aff_lock (last resort)
 *  cid_exec_after()     off         off         lock, aff_lock (last resort)
 *  cid_clone()          off         off         none unless the accounting is
 *                                               wrong, then as cid_switch()
 *  cid_clone_here()     off         any         none
 *  cid_exit()           off         any         none
 *  cid_exec_before()    off         any         none
 *  cid_exec_mmap()      off         off         none
 *  cid_allow()          off         off         aff_lock
 *  cid_allow_only()     off         off         aff_lock
 *  cid_cache_online()   off         any         none; no task with an id runs
 *
 * Lock order: rq->lock, cid_mm::lock, cid_mm::aff_lock.  lock and aff_lock are
 * taken inside rq->lock, so interrupts, whose wake-ups take rq->lock, must be
 * off around them.  The holder of lock waits for nobody.
 *
 * Every loop is bounded by the number of ids, of words in a cache or of passes.
 * The only waits are the FIFO lock and the end of one slow path per switch-in.
 */
#ifndef _KERNEL_SCHED_CID_CACHE_H
#define _KERNEL_SCHED_CID_CACHE_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/cid_cache_types.h>

/* {gen : 46, cid : 16, state : 2}; a gen is never 0, so neither is a word. */
#define CID_STATE_BITS		2
#define CID_ID_BITS		16
#define CID_GEN_SHIFT		(CID_STATE_BITS + CID_ID_BITS)
#define CID_GEN_MAX		((1ULL << (64 - CID_GEN_SHIFT)) - 1)
#define CID_ID_MAX		((1U << CID_ID_BITS) - 1)

#define CID_EMPTY		0ULL
#define CID_PARKED		1ULL
#define CID_RUNNING		2ULL
#define CID_STATE_MASK		3ULL

/* {cpu + 1 : 16, seq : 48} */
#define CID_SEQ_BITS		48
#define CID_SEQ_MASK		((1ULL << CID_SEQ_BITS) - 1)

/* Ids that an attempt to find a lower id than the present one may look at. */
#define CID_COMPACT_PROBES	16

/* cid_env::keep for "never gives an id up". */
#define CID_KEEP_FOREVER	((u32)~0U)
/* How far another CPU's time may be ahead of that of a search, in jiffies. */
#define CID_TIME_SLACK		HZ

static __always_inline u64 cid_word(u64 gen, unsigned int cid, u64 state)
{
	return (gen << CID_GEN_SHIFT) | ((u64)cid << CID_STATE_BITS) | state;
}

static __always_inline u64 cid_word_gen(u64 word)
{
	return word >> CID_GEN_SHIFT;
}

static __always_inline unsigned int cid_word_cid(u64 word)
{
	return (word >> CID_STATE_BITS) & CID_ID_MAX;
}

static __always_inline u64 cid_word_state(u64 word)
{
	return word & CID_STATE_MASK;
}

/* CPU that an owner word names, -1 for none. */
static __always_inline int cid_owner_cpu(u64 owner)
{
	return (int)(owner >> CID_SEQ_BITS) - 1;
}

/* The owner word that follows @old when @cpu claims the id.  seq wraps. */
static __always_inline u64 cid_owner_next(u64 old, int cpu)
{
	return ((u64)(cpu + 1) << CID_SEQ_BITS) | ((old + 1) & CID_SEQ_MASK);
}

struct cid_search;
struct cid_env;

/*
 * Places between two accesses to shared data.
 *
 * Each stands just before the access it is named after.  Tests run other CPUs
 * there; a normal build has no trace of them.
 */
enum cid_point {
	CID_AT_PARK,		/* RUNNING to PARKED */
	CID_AT_DROP,		/* RUNNING to 0: beyond the bound */
	CID_AT_BOUND,		/* bound, at a hand over */
	CID_AT_GATE,		/* first look at episode */
	CID_AT_GATE_WAIT,	/* another look at episode */
	CID_AT_USERS,		/* users and nr_allowed, at an acquire */
	CID_AT_RESUME,		/* PARKED to RUNNING, own word */
	CID_AT_OWNER_SCAN,	/* owner[k], only to see whether it names this CPU */
	CID_AT_OWNER,		/* owner[k], start of a probe */
	CID_AT_WORD,		/* a word of a foreign cache */
	CID_AT_STEAL,		/* PARKED to 0 in a foreign cache */
	CID_AT_TENTATIVE,	/* tentative word into the own cache */
	CID_AT_CLAIM,		/* cmpxchg of owner[k] */
	CID_AT_CLAIMED,		/* after a claim that succeeded */
	CID_AT_REVERT,		/* tentative word out again */
	CID_AT_LOCK,		/* slow path lock */
	CID_AT_EPISODE,		/* episode becomes odd */
	CID_AT_REBOUND,		/* bound of a locked pass */
	CID_AT_EPISODE_END,	/* episode becomes even */
	CID_AT_UNLOCK,
	CID_AT_JOIN,		/* users++ */
	CID_AT_LEAVE,		/* users-- */
	CID_AT_ALLOWED,		/* after a word of the allowed CPUs */
	CID_NR_POINTS
};

/**
 * struct cid_env - what all operations share
 * @cache: pointer to the cache of each CPU, indexed by CPU number
 * @nr_cpus: entries of @cache
 * @nr_ids: ids there are, number of possible CPUs
 * @keep: how long a parked id is its CPU's, in jiffies.  0 packs the ids to
 *	what runs at the same time, CID_KEEP_FOREVER never takes a parked id
 *	while there is another one.  May change at any time.
 * @warned: bits of enum cid_warning, warnings that were printed
 * @quiet: tests: break the bound without a warning
 * @step: tests: called at each point, may run operations of other CPUs
 * @expired: tests: stands in for the clock
 * @priv: tests: for @step and @expired
 *
 * Set up before use.  Only @keep and @warned change later.
 */
struct cid_env {
	struct cid_cache	*const *cache;
	unsigned int		nr_cpus;
	unsigned int		nr_ids;
	u32			keep;
	unsigned int		warned;
#ifdef CONFIG_SCHED_CID_CACHE_KUNIT_TEST
	bool			quiet;
	void			(*step)(struct cid_env *env, int cpu,
					enum cid_point point,
					const struct cid_search *s,
					u64 a, u64 b);
	bool			(*expired)(struct cid_env *env, int cpu,
					   int owner, unsigned int slot);
	void			*priv;
#endif
};

#ifdef CONFIG_SCHED_CID_CACHE_KUNIT_TEST
/* a and b: what the caller keeps in variables over the point, besides @s. */
static __always_inline void cid_at(struct cid_env *env, int cpu,
				   enum cid_point point,
				   const struct cid_search *s, u64 a, u64 b)
{
	if (env->step)
		env->step(env, cpu, point, s, a, b);
}
#else
static __always_inline void cid_at(struct cid_env *env, int cpu,
				   enum cid_point point,
				   const struct cid_search *s, u64 a, u64 b)
{
}
#endif

/**
 * enum cid_pass - which part of a search is running
 * @CID_PASS_LAST: the id the task had last
 * @CID_PASS_COMPACT: lower ids than the present one
 * @CID_PASS_HOME: back to the present one, there was no lower one
 * @CID_PASS_OWN: ids whose owner word names this CPU
 * @CID_PASS_ALL: all ids in ascending order
 * @CID_PASS_YOUNG: those from the first one on that was passed over as too young
 * @CID_PASS_LOCKED: slow path
 * @CID_PASS_BROKEN: slow path, without regard to the bound
 * @CID_PASS_CLONE: id 0 for the implicit thread
 */
enum cid_pass {
	CID_PASS_LAST,
	CID_PASS_COMPACT,
	CID_PASS_HOME,
	CID_PASS_OWN,
	CID_PASS_ALL,
	CID_PASS_YOUNG,
	CID_PASS_LOCKED,
	CID_PASS_BROKEN,
	CID_PASS_CLONE,
};

/**
 * struct cid_search - state of one search for an id
 * @env: the environment
 * @cc: own cache
 * @mm: whose id
 * @o: owner word that the running probe read
 * @now: low 32 bits of jiffies
 * @cpu: own CPU
 * @bound: ids below this one are wanted
 * @slot: where the new word goes
 * @i: loop variable of the running pass
 * @k: id that is being probed
 * @home: present or last id, nr_ids if there is none to go back to
 * @young: first id that was passed over, nr_ids for none
 * @probes: number of probes so far
 * @pass: enum cid_pass
 * @try: number of the locked pass
 * @stolen: the word came out of another cache
 *
 * On the stack of the searcher.  Everything that lives across two points is in
 * here, so that a test sees the whole state of a search.
 */
struct cid_search {
	struct cid_env		*env;
	struct cid_cache	*cc;
	struct cid_mm		*mm;
	u64			o;
	u32			now;
	int			cpu;
	unsigned int		bound;
	unsigned int		slot;
	unsigned int		i;
	unsigned int		k;
	unsigned int		home;
	unsigned int		young;
	unsigned int		probes;
	u8			pass;
	u8			try;
	bool			stolen;
};

/* cid_cache.c */
void cid_gate_wait(struct cid_env *env, struct cid_cache *cc, int cpu,
		   struct cid_mm *mm, unsigned int episode);
bool cid_miss(struct cid_env *env, struct cid_cache *cc, int cpu,
	      struct cid_mm *mm, struct cid_task *t, u32 now,
	      unsigned int bound);
void cid_clone(struct cid_env *env, struct cid_cache *cc, int cpu,
	       struct cid_mm *mm, struct cid_task *parent,
	       struct cid_task *child, u32 now);
void cid_fork(struct cid_mm *mm, struct cid_task *child);
void cid_exec_before(struct cid_env *env, struct cid_cache *cc, int cpu,
		     struct cid_mm *mm, struct cid_task *t, u32 now);
void cid_exec_mmap(struct cid_env *env, int cpu, struct cid_mm *old,
		   struct cid_mm *mm, struct cid_task *t);
bool cid_exec_after(struct cid_env *env, struct cid_cache *cc, int cpu,
		    struct cid_mm *mm, struct cid_task *t, u32 now);
void cid_mm_init(struct cid_mm *mm, unsigned long *allowed);
void cid_mm_multi(struct cid_mm *mm, u64 *owner, u64 gen);
bool cid_allow(struct cid_env *env, int cpu, struct cid_mm *mm,
	       const unsigned long *mask, const unsigned long *possible,
	       unsigned int nbits);
void cid_allow_only(struct cid_mm *mm, const unsigned long *mask,
		    const unsigned long *possible, unsigned int nbits,
		    int cpu);
void cid_cache_online(struct cid_cache *cc);
u64 cid_gen_alloc(atomic64_t *pool, struct cid_gen_batch *batch);
int cid_highest(const struct cid_env *env, const struct cid_mm *mm,
		bool running);
void cid_stats_add(struct cid_stats *sum, const struct cid_stats *s);

/**
 * cid_bound() - ids that a running task of @mm may have are below this
 * @mm: the mm
 *
 * Two reads and no lock.  The acquire makes a reader that has seen a thread's
 * word read a users that counts it.
 *
 * Return: the bound, 0 for an mm without users.
 */
static __always_inline unsigned int cid_bound(const struct cid_mm *mm)
{
	unsigned int users = atomic_read_acquire(&mm->users);

	return min(users, READ_ONCE(mm->nr_allowed));
}

/*
 * One more event.  By the CPU that @counter belongs to, preemption off.  Others
 * read and reset the counters as it suits them: a reset may lose against a count
 * that is under way, and nothing depends on a counter.
 */
static __always_inline void cid_count(u64 *counter)
{
	/* A torn or lost count is as good as a late one. */
	data_race((*counter)++);
}

/*
 * A slow path of @mm is running: who has no id of it gets none until it is over,
 * neither by a search nor by resuming one nor as the only user.
 */
static __always_inline bool cid_gate_closed(unsigned int episode)
{
	return episode & 1;
}

/* O8: @t has id @cid now.  True if user space has to be told. */
static __always_inline bool cid_given(struct cid_task *t, unsigned int cid)
{
	if (t->cid == (int)cid)
		return false;
	t->cid = cid;
	return true;
}

/* Slot of the own word of @gen, -1 if there is none. */
static __always_inline int cid_find(const struct cid_cache *cc, u64 gen)
{
	int i;

	for (i = 0; i < CID_CACHE_WORDS; i++) {
		if (cid_word_gen(READ_ONCE(cc->word[i])) == gen)
			return i;
	}
	return -1;
}

/*
 * Is the word in @slot of @owner's cache parked for longer than keep?  @now is
 * from the begin of the search, so another CPU's stamp may be ahead of it; such a
 * word is as young as can be.
 */
static __always_inline bool cid_expired(struct cid_env *env, int cpu, int owner,
					const struct cid_cache *cc,
					unsigned int slot, u32 now)
{
	u32 keep = READ_ONCE(env->keep);

#ifdef CONFIG_SCHED_CID_CACHE_KUNIT_TEST
	if (env->expired)
		return env->expired(env, cpu, owner, slot);
#endif
	if (keep == CID_KEEP_FOREVER)
		return false;
	return !keep || now - READ_ONCE(cc->stamp[slot]) + CID_TIME_SLACK >=
			keep + CID_TIME_SLACK;
}

/*
 * The running thread gives its id to the cache; from here on anybody may take
 * it.  The release pairs with the acquire of whoever sees the word parked (a
 * thief, a searcher) and hands over what user space wrote under the id.  The
 * stamp comes first so that a searcher that sees the word sees its time.
 */
static __always_inline void cid_park(struct cid_env *env, struct cid_cache *cc,
				     int cpu, u32 now)
{
	unsigned int slot = cc->cur - 1;
	u64 word = READ_ONCE(cc->word[slot]);

	cid_at(env, cpu, CID_AT_PARK, NULL, slot, 0);
	WRITE_ONCE(cc->stamp[slot], now);
	/* Pairs with the acquire of a thief or searcher, see above. */
	smp_store_release(&cc->word[slot], word ^ (CID_RUNNING ^ CID_PARKED));
	cc->cur = 0;
}

/*
 * PARKED to RUNNING in the own cache: @word, in @slot, was read there before.
 * False if it was stolen meanwhile.  Relaxed: this CPU had the id last, what was
 * written under it is in its own past.
 */
static __always_inline bool cid_resume(struct cid_cache *cc, unsigned int slot,
				       u64 word)
{
	if (unlikely(cmpxchg_relaxed(&cc->word[slot], word,
				     word ^ (CID_RUNNING ^ CID_PARKED)) != word)) {
		cid_count(&cc->stats.lost_resumes);
		return false;
	}
	cc->cur = slot + 1;
	cc->used |= 1U << slot;
	return true;
}

/**
 * cid_acquire() - get an id for a task that is being switched in (O2)
 * @env: the environment
 * @cc: own cache, no RUNNING word in it
 * @cpu: own CPU
 * @mm: the task's mm
 * @t: the task, active
 * @now: low 32 bits of jiffies
 *
 * Return: true if the id differs from the one the task had last.
 */
static __always_inline bool cid_acquire(struct cid_env *env,
					struct cid_cache *cc, int cpu,
					struct cid_mm *mm, struct cid_task *t,
					u32 now)
{
	unsigned int users, bound, k, episode;
	int slot;
	u64 word;

	/*
	 * Gate.  Pairs with the smp_mb() in cid_slow(): a full barrier lies
	 * between the last park of this CPU and this read (__schedule() starts
	 * with one, the callers that park and acquire in one go have their
	 * own), so if the slow path still saw that word RUNNING, this read sees
	 * the odd episode.
	 */
	cid_at(env, cpu, CID_AT_GATE, NULL, 0, 0);
	episode = READ_ONCE(mm->episode);
	if (unlikely(cid_gate_closed(episode)))
		cid_gate_wait(env, cc, cpu, mm, episode);

	/*
	 * Pairs with the release of users-- in cid_leave(): one user means
	 * that all the others have dropped their ids, and that is visible.
	 */
	cid_at(env, cpu, CID_AT_USERS, NULL, 0, 0);
	users = atomic_read_acquire(&mm->users);
	if (users == 1) {
		cid_count(&cc->stats.single);
		return cid_given(t, 0);
	}
	bound = min(users, READ_ONCE(mm->nr_allowed));

	slot = cid_find(cc, mm->gen);
	if (slot >= 0) {
		word = READ_ONCE(cc->word[slot]);
		k = cid_word_cid(word);
		/* Stolen between the two looks: then the word is 0. */
		if (word && k < bound &&
		    (!k || !cid_expired(env, cpu, cpu, cc, slot, now))) {
			cid_at(env, cpu, CID_AT_RESUME, NULL, slot, bound);
			if (cid_resume(cc, slot, word)) {
				cid_count(&cc->stats.hit);
				return cid_given(t, k);
			}
		}
	}
	return cid_miss(env, cc, cpu, mm, t, now, bound);
}

/**
 * cid_switch() - the CPU goes on with another task (O1)
 * @env: the environment
 * @cc: own cache
 * @cpu: own CPU
 * @mm: mm of the next task, NULL unless that task is CID_ACTIVE
 * @t: the next task, not looked at if @mm is NULL
 * @now: low 32 bits of jiffies
 *
 * The previous task needs no argument: what it held is under cc->cur.
 *
 * Context: interrupts off, after the full barrier of __schedule().
 * Return: true if the next task's id differs from the one it had last.
 */
static __always_inline bool cid_switch(struct cid_env *env,
				       struct cid_cache *cc, int cpu,
				       struct cid_mm *mm, struct cid_task *t,
				       u32 now)
{
	if (cc->cur) {
		unsigned int slot = cc->cur - 1;
		u64 word = READ_ONCE(cc->word[slot]);

		if (!mm || cid_word_gen(word) != mm->gen) {
			cid_park(env, cc, cpu, now);
		} else {
			cid_at(env, cpu, CID_AT_BOUND, NULL, 0, 0);
			if (likely(cid_word_cid(word) < cid_bound(mm))) {
				cid_count(&cc->stats.hand_over);
				return cid_given(t, cid_word_cid(word));
			}
			cid_at(env, cpu, CID_AT_DROP, NULL, slot, 0);
			/*
			 * Beyond the bound: nobody may resume this id, so it
			 * leaves the cache.  The release pairs with the acquire
			 * of a searcher that finds it absent.
			 */
			smp_store_release(&cc->word[slot], CID_EMPTY);
			cc->cur = 0;
			cid_count(&cc->stats.bound_drops);
			/* Between drop and gate, see cid_acquire(). */
			smp_mb();
		}
	}
	if (!mm)
		return false;
	return cid_acquire(env, cc, cpu, mm, t, now);
}

/* A new task is counted, and takes part from its first switch on (R5). */
static __always_inline void cid_join(struct cid_env *env, int cpu,
				     struct cid_mm *mm, struct cid_task *child)
{
	child->active = CID_ACTIVE;
	/* Relaxed: the runqueue lock publishes the child and its count. */
	cid_at(env, cpu, CID_AT_JOIN, NULL, 0, 0);
	atomic_inc(&mm->users);
}

/**
 * cid_clone_here() - cid_clone(), if nothing has to be looked for
 * @env: the environment
 * @cc: own cache
 * @cpu: own CPU
 * @mm: the mm both have
 * @parent: current
 * @child: the new task, not woken yet
 *
 * The implicit thread gets a word for its id 0, because it will not be alone any
 * more (O5).  A PARKED (g,0) from the last time there were several may sit in any
 * cache.  It is in this one if a thread comes and goes on one CPU.
 *
 * Context: preemption off.
 * Return: false if nothing was done, and cid_clone() has to be called.
 */
static __always_inline bool cid_clone_here(struct cid_env *env,
					   struct cid_cache *cc, int cpu,
					   struct cid_mm *mm,
					   struct cid_task *parent,
					   struct cid_task *child)
{
	if (unlikely(parent->active != CID_ACTIVE || !mm->gen))
		return false;
	if (!cc->cur) {
		u64 parked = cid_word(mm->gen, 0, CID_PARKED);
		int slot = cid_find(cc, mm->gen);

		if (slot < 0 || READ_ONCE(cc->word[slot]) != parked ||
		    atomic_read(&mm->users) != 1)
			return false;
		cid_at(env, cpu, CID_AT_RESUME, NULL, slot, 1);
		if (!cid_resume(cc, slot, parked))
			return false;
		cid_count(&cc->stats.materialised);
	}
	cid_join(env, cpu, mm, child);
	return true;
}

/*
 * Release: pairs with the acquire of users in cid_acquire().  Who finds itself
 * the only user must see that the words of the others are not RUNNING.  It is
 * an RMW, so a chain of exits stays one release sequence.
 */
static inline void cid_leave(struct cid_env *env, int cpu, struct cid_mm *mm)
{
	cid_at(env, cpu, CID_AT_LEAVE, NULL, 0, 0);
	(void)atomic_dec_return_release(&mm->users);
}

/**
 * cid_exit() - a task will not return to user mode any more (O6)
 * @env: the environment
 * @cc: own cache
 * @cpu: own CPU
 * @mm: the task's mm
 * @t: current
 * @now: low 32 bits of jiffies
 *
 * First the id, then the count: in the other order the task that is left would
 * take the implicit 0 beside this one's id.
 *
 * Context: preemption off.
 */
static __always_inline void cid_exit(struct cid_env *env, struct cid_cache *cc,
				     int cpu, struct cid_mm *mm,
				     struct cid_task *t, u32 now)
{
	unsigned int was = t->active;

	if (was == CID_INACTIVE)
		return;
	if (was == CID_ACTIVE && cc->cur)
		cid_park(env, cc, cpu, now);
	t->active = CID_INACTIVE;
	cid_leave(env, cpu, mm);
}

/**
 * cid_task_init() - a task is being duplicated
 * @t: the copy
 */
static inline void cid_task_init(struct cid_task *t)
{
	t->cid = CID_NONE;
	t->active = CID_INACTIVE;
}

#endif /* _KERNEL_SCHED_CID_CACHE_H */
