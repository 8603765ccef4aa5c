/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Data of the CID cache: what sits in per-CPU memory, in an mm and in a task.
 *
 * Types only, so that mm_types.h and sched.h can include it.  The operations
 * and the rules they follow are in kernel/sched/cid_cache.h.
 */
#ifndef _LINUX_CID_CACHE_TYPES_H
#define _LINUX_CID_CACHE_TYPES_H

#include <linux/types.h>
#include <linux/cache.h>
#include <linux/spinlock_types.h>

/* Words in the cache of one CPU.  Eight fill a 64 byte line. */
#ifndef CID_CACHE_WORDS
#define CID_CACHE_WORDS		8
#endif

/* Buckets of the probe histogram: 1, 2, 3-4, 5-8, ... 65-128, more. */
#define CID_PROBE_BUCKETS	9

/* Value of cid_task::cid while the task has never had an id. */
#define CID_NONE		(-1)

/**
 * enum cid_active - does a task take part
 * @CID_INACTIVE: no id and not counted: kernel threads, workers, exiting tasks
 * @CID_ACTIVE: counted, needs an id whenever it is switched in
 * @CID_EXEC: counted, but without an id until its execve is over
 */
enum cid_active {
	CID_INACTIVE = 0,
	CID_ACTIVE,
	CID_EXEC,
};

/**
 * struct cid_stats - event counters of one CPU
 * @hand_over: switches inside one mm that passed the id on, nothing written
 * @single: switch-ins of an mm with one user, id 0 without a word
 * @hit: the CPU's own parked id was resumed
 * @last_id: the id that the task had last time was taken
 * @own_id: an id whose owner word still named this CPU was taken again
 * @free_id: an id was taken that no cache held
 * @stolen: an id was taken out of another CPU's cache
 * @compacted: a lower id was taken instead of the own or the last one
 * @slow: slow path entries: a lock-free search found nothing
 * @slow_again: slow paths whose first locked pass failed, must stay 0
 * @exceeded: the bound had to be broken, must stay 0
 * @gate_waits: switch-ins that waited for the end of a slow path
 * @lost_claims: an id was claimed by another CPU between look and claim
 * @lost_resumes: the own parked id was stolen just before it was resumed
 * @bound_drops: ids given back at a hand over because the bound had shrunk
 * @materialised: clones that turned the implicit id 0 into a word
 * @evicted: words of another mm that were overwritten, be it alive or gone
 * @probes: searches by number of ids looked at
 *
 * Written by the owning CPU with preemption off, read by anybody.  Each
 * switch-in of an active task counts in exactly one of @hand_over to @slow.
 */
struct cid_stats {
	u64	hand_over;
	u64	single;
	u64	hit;
	u64	last_id;
	u64	own_id;
	u64	free_id;
	u64	stolen;
	u64	compacted;
	u64	slow;
	u64	slow_again;
	u64	exceeded;
	u64	gate_waits;
	u64	lost_claims;
	u64	lost_resumes;
	u64	bound_drops;
	u64	materialised;
	u64	evicted;
	u64	probes[CID_PROBE_BUCKETS];
};

/**
 * struct cid_cache - parked and running ids of one CPU, of any mm
 * @word: 0 or {gen:46, cid:16, state:2}.  The owning CPU makes every change
 *	but one; other CPUs may only cmpxchg a PARKED word to 0.  Read by every
 *	CPU that searches.
 * @stamp: low 32 bits of jiffies when the word was parked.  Written by the
 *	owning CPU before it parks, read by searchers for policy only: a wrong
 *	value costs a worse choice and nothing else.
 * @cur: slot of the RUNNING word plus one, 0 if there is none.  Owning CPU.
 * @hand: next slot the clock looks at for a victim.  Owning CPU.
 * @used: one bit per slot, set by a resume, cleared by the clock.  Owning CPU.
 * @cursor: where the next compaction attempt goes on.  Owning CPU.
 * @stats: event counters, on lines of their own because they are written at
 *	each switch while @stamp is read by other CPUs.
 *
 * All zero is the valid initial state.
 */
struct cid_cache {
	u64			word[CID_CACHE_WORDS];

	u32			stamp[CID_CACHE_WORDS] ____cacheline_aligned;
	u8			cur;
	u8			hand;
	u8			used;
	u16			cursor;

	struct cid_stats	stats ____cacheline_aligned;
} ____cacheline_aligned;

/**
 * struct cid_gen_batch - generations set aside for one CPU
 * @next: next one to give out
 * @end: first one that is not in the batch
 *
 * Owning CPU only, preemption off.
 */
struct cid_gen_batch {
	u64	next;
	u64	end;
};

/**
 * struct cid_mm - what an mm keeps
 * @gen: generation, unique for the life of the machine; 0 until the first
 *	clone with CLONE_VM.  Written once, by the only user, before there is
 *	a second one.  Read at each switch-in.
 * @owner: array of nr_ids words {cpu + 1 : 16, seq : 48}, 0 = never used.  The
 *	pointer is written together with @gen; the words are changed only by
 *	cmpxchg against the value read before the look into that CPU's cache.
 * @allowed: bitmap of the CPUs that a user was ever allowed on, grows only.
 *	Written under @aff_lock.
 * @users: active tasks and tasks in execve.  Any task of the mm, atomically.
 * @nr_allowed: weight of @allowed, at least.  Written under @aff_lock, read
 *	without.
 * @episode: odd while a slow path is running.  Written under @lock, read at
 *	each switch-in.
 * @lock: serialises slow paths of this mm.  Taken with interrupts off, inside
 *	a runqueue lock.
 * @aff_lock: serialises changes of @allowed.  Innermost.
 *
 * The first line is read at each switch-in and written by clone, exit, execve, the
 * slow path and an affinity that grows.  Nothing that is written more often may
 * share it.
 */
struct cid_mm {
	u64			gen;
	u64			*owner;
	unsigned long		*allowed;
	atomic_t		users;
	unsigned int		nr_allowed;
	unsigned int		episode;

	raw_spinlock_t		lock ____cacheline_aligned;
	raw_spinlock_t		aff_lock;
} ____cacheline_aligned;

/**
 * struct cid_task - what a task keeps
 * @cid: the id given last, CID_NONE if there was none.  Valid as the id while
 *	the task is running and active, else a hint where to look first.
 *	Written by the CPU that switches the task in, or by the task itself.
 * @active: enum cid_active.  Written by the task itself, or by its parent
 *	before it is woken for the first time.
 */
struct cid_task {
	int		cid;
	unsigned int	active;
};

#endif /* _LINUX_CID_CACHE_TYPES_H */
