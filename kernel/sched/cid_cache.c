// SPDX-License-Identifier: GPL-2.0-only
/*
 * CID cache: search, steal, claim, slow path, and the life of mms and tasks.
 *
 * Rules, state table and locking are at the top of cid_cache.h.
 *
 * Why it works, in short.  An id is decided by one cmpxchg on one word: owner[k].
 * Whoever changes it has read it, then looked for the word in the cache it
 * names, and has found none or has removed the one there with a cmpxchg that
 * the CPU's own resume cannot survive.  The word can only come back through
 * another claim, and that changes the value compared with.  Since a word does
 * not move, looking at the slots one after the other cannot miss it.
 */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/lockdep.h>
#include <linux/printk.h>
#include <linux/processor.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "cid_cache.h"

/* Generations a CPU takes from the pool at once. */
#define CID_GEN_BATCH		64

/* Locked passes before the accounting is declared wrong.  One suffices. */
#define CID_LOCKED_PASSES	2

/* Words below this one are the first half of a compaction attempt. */
#define CID_COMPACT_LOWEST	(CID_COMPACT_PROBES / 2)

/**
 * enum cid_take - which parked words of other CPUs a probe may steal
 * @CID_TAKE_ANY: all
 * @CID_TAKE_EXPIRED: those that have been parked for keep or longer
 * @CID_TAKE_YOUNG: the others
 */
enum cid_take {
	CID_TAKE_ANY,
	CID_TAKE_EXPIRED,
	CID_TAKE_YOUNG,
};

/**
 * enum cid_result - what a probe found
 * @CID_GOT: the id is this CPU's, its word is under cc->cur
 * @CID_BUSY: somebody runs with it
 * @CID_PASSED: parked elsewhere, and policy leaves it there
 * @CID_LOST: it was free, but another CPU claimed it first
 */
enum cid_result {
	CID_GOT,
	CID_BUSY,
	CID_PASSED,
	CID_LOST,
};

/**
 * enum cid_warning - what is said once
 * @CID_WARN_BOUND: users or allowed CPUs are wrong
 * @CID_WARN_NOT_SET_UP: several users, no owner words
 * @CID_WARN_NO_ID: nothing found even beyond the bound
 * @CID_WARN_ZERO_TAKEN: another CPU has the id of the only user
 * @CID_WARN_NOT_ACTIVE: a task without id cannot share one
 * @CID_WARN_NOT_ALONE: a task had the implicit id beside others
 */
enum cid_warning {
	CID_WARN_BOUND,
	CID_WARN_NOT_SET_UP,
	CID_WARN_NO_ID,
	CID_WARN_ZERO_TAKEN,
	CID_WARN_NOT_ACTIVE,
	CID_WARN_NOT_ALONE,
};

static void cid_warn(struct cid_env *env, enum cid_warning warning,
		     const char *what)
{
	unsigned int warned = READ_ONCE(env->warned);

	if (warned & (1U << warning))
		return;
	/* Two CPUs at once may both be heard, or a third later once more. */
	WRITE_ONCE(env->warned, warned | (1U << warning));
#ifdef CONFIG_SCHED_CID_CACHE_KUNIT_TEST
	if (env->quiet)
		return;
#endif
	/* A runqueue lock may be held: the console must wait. */
	printk_deferred_enter();
	WARN(1, "cid_cache: %s\n", what);
	printk_deferred_exit();
}

static void cid_count_probes(struct cid_search *s)
{
	unsigned int bucket = s->probes ? fls(s->probes - 1) : 0;

	cid_count(&s->cc->stats.probes[min(bucket, CID_PROBE_BUCKETS - 1U)]);
}

/*
 * Slot for the new word: the one of this gen if there is one (R4), else a free
 * one, else a victim.  The caller runs without an id, so no word is RUNNING.
 */
static unsigned int cid_slot(struct cid_cache *cc, u64 gen)
{
	int own = cid_find(cc, gen);
	unsigned int i;

	if (own >= 0)
		return own;
	for (i = 0; i < CID_CACHE_WORDS; i++) {
		if (!READ_ONCE(cc->word[i]))
			return i;
	}
	/* Two rounds at most: the first one clears all the bits. */
	for (i = 0; i < 2 * CID_CACHE_WORDS; i++) {
		unsigned int slot = cc->hand;

		cc->hand = (slot + 1) % CID_CACHE_WORDS;
		if (!(cc->used & (1U << slot)))
			return slot;
		cc->used &= ~(1U << slot);
	}
	return cc->hand;
}

/*
 * Take s->k, whose owner word was s->o and which no cache holds.
 *
 * The word comes first, so that whoever sees the new owner also sees the word:
 * release on the claim, acquire on the read of owner[k] in cid_probe().  That
 * pair orders nothing else: that user space sees what the last holder wrote is
 * up to the acquire that found the id absent.
 */
static enum cid_result cid_claim(struct cid_search *s)
{
	u64 *word = &s->cc->word[s->slot];
	u64 *owner = &s->mm->owner[s->k];
	u64 old = READ_ONCE(*word);

	if (old && cid_word_gen(old) != s->mm->gen)
		cid_count(&s->cc->stats.evicted);

	cid_at(s->env, s->cpu, CID_AT_TENTATIVE, s, 0, 0);
	/*
	 * Release also because this may evict a parked word: it pairs with the
	 * acquire of a searcher that then finds the evicted id absent.
	 */
	smp_store_release(word, cid_word(s->mm->gen, s->k, CID_RUNNING));

	cid_at(s->env, s->cpu, CID_AT_CLAIM, s, 0, 0);
	if (cmpxchg_release(owner, s->o, cid_owner_next(s->o, s->cpu)) == s->o) {
		s->cc->cur = s->slot + 1;
		s->cc->used |= 1U << s->slot;
		cid_at(s->env, s->cpu, CID_AT_CLAIMED, s, 0, 0);
		return CID_GOT;
	}

	cid_count(&s->cc->stats.lost_claims);
	cid_at(s->env, s->cpu, CID_AT_REVERT, s, 0, 0);
	/*
	 * Release as for any store of a word: if this CPU had parked something
	 * in the slot, the searcher that sees 0 must see what was before.
	 */
	smp_store_release(word, CID_EMPTY);
	return CID_LOST;
}

/* O3: look where id @k is, and take it if that is possible. */
static enum cid_result cid_probe(struct cid_search *s, unsigned int k,
				 enum cid_take take)
{
	u64 parked = cid_word(s->mm->gen, k, CID_PARKED);
	u64 running = cid_word(s->mm->gen, k, CID_RUNNING);
	struct cid_cache *cc;
	unsigned int i;
	u64 word;
	int cpu;

	s->k = k;
	s->stolen = false;
	s->probes++;

	cid_at(s->env, s->cpu, CID_AT_OWNER, s, take, 0);
	/* Pairs with the claim: the word is there before the owner says so. */
	s->o = smp_load_acquire(&s->mm->owner[k]);
	cpu = cid_owner_cpu(s->o);

	if (cpu == s->cpu) {
		for (i = 0; i < CID_CACHE_WORDS; i++) {
			if (READ_ONCE(s->cc->word[i]) != parked)
				continue;
			cid_at(s->env, s->cpu, CID_AT_RESUME, s, i, 0);
			if (cid_resume(s->cc, i, parked))
				return CID_GOT;
			break;
		}
		return cid_claim(s);
	}

	if (cpu < 0)
		return cid_claim(s);

	cc = s->env->cache[cpu];
	for (i = 0; i < CID_CACHE_WORDS; i++) {
		cid_at(s->env, s->cpu, CID_AT_WORD, s, take, i);
		/*
		 * Acquire: pairs with the release of the store that parked or
		 * evicted the word.  Whoever takes the id must see what the
		 * last holder wrote under it.
		 */
		word = smp_load_acquire(&cc->word[i]);
		if (word == running)
			return CID_BUSY;
		if (word != parked)
			continue;
		if (take != CID_TAKE_ANY) {
			bool expired = cid_expired(s->env, s->cpu, cpu, cc, i, s->now);

			if (take != (expired ? CID_TAKE_EXPIRED : CID_TAKE_YOUNG))
				return CID_PASSED;
		}

		cid_at(s->env, s->cpu, CID_AT_STEAL, s, take, i);
		/* Acquire: as above, this is the read that counts. */
		word = cmpxchg_acquire(&cc->word[i], parked, CID_EMPTY);
		if (word == running)
			return CID_BUSY;
		s->stolen = word == parked;
		if (s->stolen)
			break;
		/*
		 * Anything else: evicted, or stolen by a third CPU that has not
		 * claimed it yet.  The id is free all the same.  But its CPU
		 * may have resumed, used and parked it since the word was read
		 * above, none of which changes owner[k], and a cmpxchg that
		 * fails orders nothing.  So read again, for the order only:
		 * pairs with the release of the store that evicted the word,
		 * or that parked it before the third CPU's cmpxchg.
		 */
		(void)smp_load_acquire(&cc->word[i]);
		break;
	}
	return cid_claim(s);
}

/* A pass over ids below the present one, @s->home. */
static bool cid_compact(struct cid_search *s)
{
	unsigned int lowest = min_t(unsigned int, s->home, CID_COMPACT_LOWEST);
	unsigned int more = min_t(unsigned int, s->home, CID_COMPACT_PROBES) - lowest;
	unsigned int k;

	/* Half of the attempt looks at the lowest ids, half goes round. */
	s->pass = CID_PASS_COMPACT;
	for (s->i = 0; s->i < lowest + more; s->i++) {
		k = s->i;
		if (k >= lowest) {
			if (s->cc->cursor < lowest || s->cc->cursor >= s->home)
				s->cc->cursor = lowest;
			k = s->cc->cursor++;
		}
		if (cid_probe(s, k, CID_TAKE_EXPIRED) == CID_GOT)
			return true;
	}
	return false;
}

/* One lock-free search: everything below the bound at least once. */
static bool cid_search(struct cid_search *s, bool own, unsigned int last)
{
	bool pack = !READ_ONCE(s->env->keep);
	bool lower = false;

	/*
	 * Where to go back to: the own parked id, whose time is over or which
	 * was stolen right now, else the id the task had last.  That one the
	 * task takes along even if it is young, unless it has expired.
	 */
	s->home = last < s->bound ? last : s->env->nr_ids;
	if (s->home < s->bound) {
		lower = own || pack;
		if (!lower) {
			s->pass = CID_PASS_LAST;
			switch (cid_probe(s, s->home, CID_TAKE_YOUNG)) {
			case CID_GOT:
				return true;
			case CID_PASSED:
				lower = true;
				break;
			default:
				s->home = s->env->nr_ids;
				break;
			}
		}
	}
	if (lower) {
		if (cid_compact(s))
			return true;
		s->pass = CID_PASS_HOME;
		if (cid_probe(s, s->home, CID_TAKE_ANY) == CID_GOT)
			return true;
	}

	/*
	 * Ids that this CPU had before and that were evicted: no foreign cache
	 * has to be read.  Not when packing, they may be high.
	 */
	s->pass = CID_PASS_OWN;
	for (s->i = 0; !pack && s->i < s->bound; s->i++) {
		cid_at(s->env, s->cpu, CID_AT_OWNER_SCAN, s, 0, 0);
		if (cid_owner_cpu(READ_ONCE(s->mm->owner[s->i])) != s->cpu)
			continue;
		if (cid_probe(s, s->i, CID_TAKE_ANY) == CID_GOT)
			return true;
	}

	s->pass = CID_PASS_ALL;
	s->young = s->env->nr_ids;
	for (s->i = 0; s->i < s->bound; s->i++) {
		switch (cid_probe(s, s->i, CID_TAKE_EXPIRED)) {
		case CID_GOT:
			return true;
		case CID_PASSED:
			if (s->young == s->env->nr_ids)
				s->young = s->i;
			break;
		default:
			break;
		}
	}

	/* Rather one of those that were left alone than the lock. */
	s->pass = CID_PASS_YOUNG;
	for (s->i = s->young; s->i < s->bound; s->i++) {
		if (cid_probe(s, s->i, CID_TAKE_ANY) == CID_GOT)
			return true;
	}
	return false;
}

/* More bits in word @i of the allowed CPUs, whose number is there already. */
static void cid_allow_word(struct cid_mm *mm, unsigned int i, unsigned long bits)
{
	/*
	 * Pairs with the acquire in cid_allow(): who sees the bits, and so has
	 * nothing to add, also sees a bound that counts them.
	 */
	smp_store_release(&mm->allowed[i], mm->allowed[i] | bits);
}

/*
 * Add @cpu.  The number first, see cid_allow_word(): a bound that is too large
 * for a moment is harmless, a CPU that is about to be allowed may be used.
 */
static void cid_allow_cpu(struct cid_mm *mm, int cpu, unsigned int longs)
{
	unsigned int i, weight = !(mm->allowed[BIT_WORD(cpu)] & BIT_MASK(cpu));

	for (i = 0; i < longs; i++)
		weight += hweight_long(mm->allowed[i]);
	WRITE_ONCE(mm->nr_allowed, weight);
	cid_allow_word(mm, BIT_WORD(cpu), BIT_MASK(cpu));
}

/*
 * O4's last resort: two locked passes found nothing, which cannot happen unless
 * users or allowed is too small.  Break the bound rather than uniqueness: each
 * CPU holds one id at most, so there is one for this CPU too.
 */
static bool cid_break_bound(struct cid_search *s)
{
	struct cid_mm *mm = s->mm;

	cid_count(&s->cc->stats.exceeded);
	cid_warn(s->env, CID_WARN_BOUND,
		 "accounting of users or allowed CPUs is wrong, bound exceeded");

	raw_spin_lock(&mm->aff_lock);
	cid_allow_cpu(mm, s->cpu, BITS_TO_LONGS(s->env->nr_cpus));
	raw_spin_unlock(&mm->aff_lock);

	s->pass = CID_PASS_BROKEN;
	s->bound = s->env->nr_ids;
	for (s->i = 0; s->i < s->bound; s->i++) {
		if (cid_probe(s, s->i, CID_TAKE_ANY) == CID_GOT)
			return true;
	}
	return false;
}

/*
 * O4: a whole pass without lock found nothing, because ids moved behind the
 * scanner.  An odd episode holds back those who would take more: while it lasts
 * a CPU with an id can only give it up, a CPU in the middle of a search can take
 * one.  Together that is fewer than bound, so one id stays untouched and this
 * pass gets it.
 */
static bool cid_slow(struct cid_search *s)
{
	struct cid_mm *mm = s->mm;
	bool got = false;

	lockdep_assert_irqs_disabled();

	cid_count(&s->cc->stats.slow);
	s->pass = CID_PASS_LOCKED;

	cid_at(s->env, s->cpu, CID_AT_LOCK, s, 0, 0);
	raw_spin_lock(&mm->lock);
	cid_at(s->env, s->cpu, CID_AT_EPISODE, s, 0, 0);
	WRITE_ONCE(mm->episode, mm->episode + 1);
	/*
	 * Pairs with the full barrier between park and gate of every other CPU
	 * (smp_mb__after_spinlock() in __schedule(), or an smp_mb() of ours): a
	 * CPU whose word is seen RUNNING below sees the odd episode when it
	 * wants its next id.
	 */
	smp_mb();
	for (s->try = 0; !got && s->try < CID_LOCKED_PASSES; s->try++) {
		if (s->try)
			cid_count(&s->cc->stats.slow_again);
		cid_at(s->env, s->cpu, CID_AT_REBOUND, s, 0, 0);
		s->bound = min(cid_bound(mm), s->env->nr_ids);
		for (s->i = 0; !got && s->i < s->bound; s->i++)
			got = cid_probe(s, s->i, CID_TAKE_ANY) == CID_GOT;
	}
	if (unlikely(!got))
		got = cid_break_bound(s);

	cid_at(s->env, s->cpu, CID_AT_EPISODE_END, s, 0, 0);
	/*
	 * Pairs with the acquire in cid_gate_wait(); nothing depends on it but
	 * that the words of this pass are there when the others go on.
	 */
	smp_store_release(&mm->episode, mm->episode + 1);
	cid_at(s->env, s->cpu, CID_AT_UNLOCK, s, 0, 0);
	raw_spin_unlock(&mm->lock);
	return got;
}

static u64 *cid_class(struct cid_search *s, bool own)
{
	struct cid_stats *stats = &s->cc->stats;

	switch (s->pass) {
	case CID_PASS_LAST:
		return &stats->last_id;
	case CID_PASS_COMPACT:
		return &stats->compacted;
	case CID_PASS_HOME:
		return own ? &stats->hit : &stats->last_id;
	case CID_PASS_OWN:
		return &stats->own_id;
	default:
		return s->stolen ? &stats->stolen : &stats->free_id;
	}
}

/**
 * cid_miss() - get an id when the own cache does not give one at once
 * @env: the environment
 * @cc: own cache
 * @cpu: own CPU
 * @mm: the task's mm
 * @t: the task
 * @now: low 32 bits of jiffies
 * @bound: ids must be below
 *
 * Context: interrupts off.
 * Return: true if the id differs from the one the task had last.
 */
bool cid_miss(struct cid_env *env, struct cid_cache *cc, int cpu,
	      struct cid_mm *mm, struct cid_task *t, u32 now,
	      unsigned int bound)
{
	struct cid_search s = {
		.env	= env,
		.cc	= cc,
		.mm	= mm,
		.now	= now,
		.cpu	= cpu,
		.bound	= min(bound, env->nr_ids),
		.home	= env->nr_ids,
		.young	= env->nr_ids,
	};
	unsigned int last = t->cid;
	bool own, got;
	u64 word;

	BUILD_BUG_ON(CID_CACHE_WORDS > 8 * sizeof(cc->used));

	if (unlikely(!mm->gen)) {
		cid_count(&cc->stats.exceeded);
		cid_warn(env, CID_WARN_NOT_SET_UP,
			 "more than one user, but the mm was never set up for it");
		return cid_given(t, 0);
	}

	s.slot = cid_slot(cc, mm->gen);
	word = READ_ONCE(cc->word[s.slot]);
	own = cid_word_gen(word) == mm->gen && cid_word_cid(word) < s.bound;
	if (own)
		last = cid_word_cid(word);

	got = cid_search(&s, own, last);
	if (got)
		cid_count(cid_class(&s, own));
	else
		got = cid_slow(&s);
	cid_count_probes(&s);

	/*
	 * Not reached without a bug elsewhere.  Keep the last id: user space
	 * must never see a negative one.
	 */
	if (unlikely(!got)) {
		cid_warn(env, CID_WARN_NO_ID, "no id at all");
		return t->cid == CID_NONE && cid_given(t, 0);
	}
	return cid_given(t, s.k);
}

/**
 * cid_gate_wait() - wait for the end of the slow path that is running
 * @env: the environment
 * @cc: own cache
 * @cpu: own CPU
 * @mm: whose slow path
 * @episode: the odd value that was read
 *
 * One episode only, even if the next one has begun: the waiter has no id of
 * this mm, so nobody waits for it, and it must not wait for ever.
 */
void cid_gate_wait(struct cid_env *env, struct cid_cache *cc, int cpu,
		   struct cid_mm *mm, unsigned int episode)
{
	cid_count(&cc->stats.gate_waits);
	for (;;) {
		cid_at(env, cpu, CID_AT_GATE_WAIT, NULL, episode, 0);
		/* Pairs with the end of the episode in cid_slow(). */
		if (smp_load_acquire(&mm->episode) != episode)
			break;
		cpu_relax();
	}
}

/* The parked word of id 0 is in another cache, or there is none. */
static void cid_materialise(struct cid_env *env, struct cid_cache *cc, int cpu,
			    struct cid_mm *mm, u32 now)
{
	struct cid_search s = {
		.env	= env,
		.cc	= cc,
		.mm	= mm,
		.now	= now,
		.cpu	= cpu,
		.bound	= 1,
		.home	= env->nr_ids,
		.young	= env->nr_ids,
		.pass	= CID_PASS_CLONE,
	};

	cid_count(&cc->stats.materialised);
	s.slot = cid_slot(cc, mm->gen);
	if (likely(cid_probe(&s, 0, CID_TAKE_ANY) == CID_GOT))
		return;
	/* Cannot fail: nobody else is counted, so nobody else may claim. */
	cid_warn(env, CID_WARN_ZERO_TAKEN, "id 0 of the only user is taken");
	cid_slow(&s);
}

/**
 * cid_clone() - a task gets a sibling in its mm (O5)
 * @env: the environment
 * @cc: own cache
 * @cpu: own CPU
 * @mm: the mm both have, set up by cid_mm_multi()
 * @parent: current
 * @child: the new task, not woken yet
 * @now: low 32 bits of jiffies
 *
 * After the last point where the clone can fail.  Not for kernel threads and
 * workers: those stay inactive.
 *
 * Context: interrupts off.
 */
void cid_clone(struct cid_env *env, struct cid_cache *cc, int cpu,
	       struct cid_mm *mm, struct cid_task *parent,
	       struct cid_task *child, u32 now)
{
	if (cid_clone_here(env, cc, cpu, mm, parent, child))
		return;
	if (parent->active != CID_ACTIVE || !mm->gen) {
		cid_warn(env, CID_WARN_NOT_ACTIVE,
			 "clone by a task that has no id");
		return;
	}
	if (!cc->cur) {
		if (atomic_read(&mm->users) != 1)
			cid_warn(env, CID_WARN_NOT_ALONE,
				 "implicit id 0 beside other users");
		cid_materialise(env, cc, cpu, mm, now);
	}
	cid_join(env, cpu, mm, child);
}

/**
 * cid_fork() - the first task of a new mm
 * @mm: the new mm, nobody runs in it
 * @child: the new task, not woken yet
 */
void cid_fork(struct cid_mm *mm, struct cid_task *child)
{
	child->active = CID_ACTIVE;
	atomic_set(&mm->users, 1);
}

/**
 * cid_exec_before() - a task enters execve (O7)
 * @env: the environment
 * @cc: own cache
 * @cpu: own CPU
 * @mm: the task's mm, NULL if it has none
 * @t: current
 * @now: low 32 bits of jiffies
 *
 * The task stays counted: execve may fail, and if it came back as an additional
 * user, another one could have the implicit 0 by then.
 *
 * Context: preemption off.
 */
void cid_exec_before(struct cid_env *env, struct cid_cache *cc, int cpu,
		     struct cid_mm *mm, struct cid_task *t, u32 now)
{
	if (!mm || t->active != CID_ACTIVE)
		return;
	if (cc->cur)
		cid_park(env, cc, cpu, now);
	t->active = CID_EXEC;
}

/**
 * cid_exec_mmap() - execve replaces the mm (O7)
 * @env: the environment
 * @cpu: own CPU
 * @old: the mm the task leaves, NULL if it had none
 * @mm: the new one, fresh from cid_mm_init()
 * @t: current
 *
 * The caller sets the allowed CPUs of @mm afterwards, see cid_allow_only().
 */
void cid_exec_mmap(struct cid_env *env, int cpu, struct cid_mm *old,
		   struct cid_mm *mm, struct cid_task *t)
{
	/* A task without mm was not counted; from now on it is. */
	if (old && t->active == CID_EXEC)
		cid_leave(env, cpu, old);
	t->active = CID_EXEC;
	atomic_set(&mm->users, 1);
}

/**
 * cid_exec_after() - execve is over, well or not (O7)
 * @env: the environment
 * @cc: own cache
 * @cpu: own CPU
 * @mm: the mm the task has now, NULL if it has none
 * @t: current
 * @now: low 32 bits of jiffies
 *
 * Context: interrupts off.
 * Return: true if the id differs from the one the task had before.  User space
 * is told in any case.
 */
bool cid_exec_after(struct cid_env *env, struct cid_cache *cc, int cpu,
		    struct cid_mm *mm, struct cid_task *t, u32 now)
{
	if (!mm || t->active != CID_EXEC)
		return false;
	t->active = CID_ACTIVE;
	/*
	 * Between the park of cid_exec_before() and the gate: there need not
	 * have been a switch in between.  See cid_acquire().
	 */
	smp_mb();
	return cid_acquire(env, cc, cpu, mm, t, now);
}

/**
 * cid_mm_init() - a new mm, without users
 * @mm: the mm
 * @allowed: storage of its bitmap of allowed CPUs
 */
void cid_mm_init(struct cid_mm *mm, unsigned long *allowed)
{
	mm->gen = 0;
	mm->owner = NULL;
	mm->allowed = allowed;
	atomic_set(&mm->users, 0);
	mm->nr_allowed = 0;
	mm->episode = 0;
	raw_spin_lock_init(&mm->lock);
	raw_spin_lock_init(&mm->aff_lock);
}

/**
 * cid_mm_multi() - make an mm ready for a second user
 * @mm: the mm
 * @owner: zeroed array, one word per id
 * @gen: a generation that no mm had before
 *
 * By the only user, who may sleep while it gets the memory; once per mm.
 */
void cid_mm_multi(struct cid_mm *mm, u64 *owner, u64 gen)
{
	mm->owner = owner;
	/*
	 * Pairs with the acquire in cid_highest(), which has no runqueue lock:
	 * whoever sees the generation sees the array.
	 */
	smp_store_release(&mm->gen, gen);
}

/**
 * cid_allow() - a task of the mm may run on more CPUs (O9)
 * @env: the environment
 * @cpu: own CPU, for test hooks
 * @mm: the mm
 * @mask: CPUs of the task's new affinity
 * @possible: possible CPUs
 * @nbits: length of the bitmaps
 *
 * Grows only.  Also for an mm that has no users at the moment: the task may be
 * between two mms in execve, or not counted yet.
 *
 * Context: interrupts off; the task's runqueue lock held, or its pi_lock while
 * it sleeps.
 * Return: true if there was something new.
 */
bool cid_allow(struct cid_env *env, int cpu, struct cid_mm *mm,
	       const unsigned long *mask, const unsigned long *possible,
	       unsigned int nbits)
{
	unsigned int i, longs = BITS_TO_LONGS(nbits), weight = 0;
	bool grows = false;

	lockdep_assert_irqs_disabled();

	/* Usually there is nothing new; bits never go away, so no lock. */
	for (i = 0; i < longs && !grows; i++) {
		/*
		 * Pairs with the release in cid_allow_word(): the task may go
		 * at once to a CPU whose bit is seen here, so the bound must
		 * count it.
		 */
		unsigned long there = smp_load_acquire(&mm->allowed[i]);

		grows = mask[i] & possible[i] & ~there;
	}
	if (!grows)
		return false;

	raw_spin_lock(&mm->aff_lock);
	for (i = 0; i < longs; i++)
		weight += hweight_long(mm->allowed[i] | (mask[i] & possible[i]));
	WRITE_ONCE(mm->nr_allowed, weight);
	for (i = 0; i < longs; i++) {
		cid_allow_word(mm, i, mask[i] & possible[i]);
		cid_at(env, cpu, CID_AT_ALLOWED, NULL, i, 0);
	}
	raw_spin_unlock(&mm->aff_lock);
	return true;
}

/**
 * cid_allow_only() - set the allowed CPUs of an mm that a task starts in
 * @mm: the mm, not used by anybody else
 * @mask: CPUs of the task's affinity
 * @possible: possible CPUs
 * @nbits: length of the bitmaps
 * @cpu: CPU the task runs on, -1 if it does not run yet
 *
 * In execve: after the task's mm was replaced and with its runqueue lock held.
 * A concurrent change of its affinity then either is in @mask already or finds
 * the new mm.  @cpu is added because migrate_disable() may keep the task on a
 * CPU that is not in its mask.
 *
 * Context: interrupts off.
 */
void cid_allow_only(struct cid_mm *mm, const unsigned long *mask,
		    const unsigned long *possible, unsigned int nbits, int cpu)
{
	unsigned int i, longs = BITS_TO_LONGS(nbits), weight = 0;

	lockdep_assert_irqs_disabled();

	raw_spin_lock(&mm->aff_lock);
	for (i = 0; i < longs; i++) {
		unsigned long word = mask[i] & possible[i];

		if (cpu >= 0 && i == BIT_WORD(cpu))
			word |= BIT_MASK(cpu);
		weight += hweight_long(word);
		WRITE_ONCE(mm->allowed[i], word);
	}
	WRITE_ONCE(mm->nr_allowed, weight);
	raw_spin_unlock(&mm->aff_lock);
}

/**
 * cid_cache_online() - a CPU comes up (O10)
 * @cc: its cache
 *
 * An eviction, legal at any time.  It keeps words from outliving the wrap of
 * the generations on a CPU that was away for years.
 *
 * Context: on that CPU, preemption off, no task with an id running.
 */
void cid_cache_online(struct cid_cache *cc)
{
	unsigned int i;

	for (i = 0; i < CID_CACHE_WORDS; i++) {
		/* Release: an eviction, see cid_claim(). */
		smp_store_release(&cc->word[i], CID_EMPTY);
	}
	cc->cur = 0;
	cc->used = 0;
}

/**
 * cid_gen_alloc() - a generation that was never used
 * @pool: first generation of the next batch, starts at 1
 * @batch: the own CPU's batch
 *
 * Context: preemption off.
 * Return: the generation, 0 if there is none left.
 */
u64 cid_gen_alloc(atomic64_t *pool, struct cid_gen_batch *batch)
{
	if (batch->next == batch->end) {
		u64 base = atomic64_fetch_add_relaxed(CID_GEN_BATCH, pool);

		/* Words of a used gen may be around: never start again. */
		if (!base || base > CID_GEN_MAX - CID_GEN_BATCH + 1)
			return 0;
		batch->next = base;
		batch->end = base + CID_GEN_BATCH;
	}
	return batch->next++;
}

/**
 * cid_highest() - highest id of an mm, for reports
 * @env: the environment
 * @mm: the mm, which must not go away
 * @running: only ids that somebody runs with, else also parked ones
 *
 * Return: the id, -1 if there is none.  A snapshot: it may be out of date.
 */
int cid_highest(const struct cid_env *env, const struct cid_mm *mm,
		bool running)
{
	unsigned int i, k;
	u64 gen, word;
	int cpu;

	/* Pairs with the release in cid_mm_multi(). */
	gen = smp_load_acquire(&mm->gen);
	for (k = gen ? env->nr_ids : 0; k-- > 0;) {
		/* As in cid_probe(): owner first, then the words. */
		cpu = cid_owner_cpu(smp_load_acquire(&mm->owner[k]));
		if (cpu < 0)
			continue;
		for (i = 0; i < CID_CACHE_WORDS; i++) {
			word = READ_ONCE(env->cache[cpu]->word[i]);
			if (word == cid_word(gen, k, CID_RUNNING) ||
			    (!running && word == cid_word(gen, k, CID_PARKED)))
				return k;
		}
	}
	return atomic_read(&mm->users) == 1 ? 0 : -1;
}

/**
 * cid_stats_add() - add the counters of one CPU to a sum
 * @sum: the sum
 * @s: counters of a CPU, may be changing
 */
void cid_stats_add(struct cid_stats *sum, const struct cid_stats *s)
{
	u64 *to = (u64 *)sum;
	const u64 *from = (const u64 *)s;
	unsigned int i;

	for (i = 0; i < sizeof(*s) / sizeof(u64); i++)
		to[i] += READ_ONCE(from[i]);
}
