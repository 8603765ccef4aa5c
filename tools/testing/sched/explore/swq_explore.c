// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every interleaving of the shared wake queue's operations on a small machine.
 *
 * kernel/sched/swqueue.c and swqueue_idle.c run unchanged, compiled against the
 * headers in swq/: others may run before each marked access (READ_ONCE(),
 * atomics, bit operations) to data that more than one CPU touches, and before
 * each lock and unlock. Each CPU, and a waker from outside, is a coroutine.
 *
 * The explorer goes depth first over all states: it saves the memory of the
 * queue, the mock runqueues and the stacks, lets one coroutine go on to its next
 * point, and looks whether the state that it gets is new. The identity of a state
 * is all of that memory, without counters of events. What a stack holds beyond
 * live variables depends on what the same operation has read, so two equal states
 * may count as two, but never two different ones as one.
 *
 * Events (wakeups, sleeps, preemptions, sync wakeups) are budgeted, which makes
 * the number of states finite. Between two operations of a CPU it is up to the
 * explorer which one comes next. The glue is that of swqueue_fair.c on counts.
 *
 * Checked in every state:
 *  - a list of a shard whose lock is free has the length that it says, and all
 *    its tokens are LINKED and remember it; no token is on two lists;
 *  - a LINKED token of a runqueue whose lock is free is hinted at;
 *  - movable work that waits can be found (its token is LINKED) or somebody is
 *    obliged: holds its runqueue's lock, looks or visits, or put it off to the
 *    next pick or tick;
 *  - locks are released by who took them, shard locks are taken one at a time.
 * With nothing left to do: no CPU sleeps beside movable work, no task is lost;
 * and when all surplus has gone, one last look leaves an empty queue.
 */
#include <getopt.h>

#define MAXCO		4
#include "engine.h"
#include "swqueue.h"
#include <linux/jiffies.h>
#include <linux/slab.h>

#define MAXCPU		3
#define OUTSIDE		MAXCPU		/* number of the waker's CPU */
#define CLEAN		4096		/* more than any call here needs */

enum kind { NONE, FREE, PINNED, NR_KINDS };

enum op { OP_NONE, OP_PICK, OP_SLEEP, OP_PREEMPT, OP_TICK, OP_IDLE, OP_SYNC, OP_WAKE, OP_TIME };
static const char *const op_name[] = { "-", "pick", "sleep", "preempt", "tick", "idle loop",
				       "sync wakeup", "wakeup", "time passes" };

struct rq {
	struct swq_cpu	c;
	raw_spinlock_t	lock;
	unsigned int	nr;
	unsigned int	waiting[NR_KINDS];
	unsigned int	running;
	bool		asleep;
};

struct actor {
	const raw_spinlock_t	*wait;	/* stands before this lock */
	const void		*at;	/* stands before this access */
	u8			op, cpu, kind;
	bool			quiet;
	bool			seeks;	/* looks, or owes a visit */
	u8			shard_locks;
};

/* All that is saved besides the layout and the stacks. */
static struct world {
	struct rq	rq[MAXCPU + 1];
	struct actor	a[MAXCO];
	u32		clock;
	u8		wakes, sleeps, preempts, syncs, times;
} w;

static char layout_mem[8192] __aligned(4096);
static size_t layout_used;
static struct swq_layout *l;
static int cur = -1;			/* who runs, -1: nobody */

static unsigned int ncpu = 2, nshards = 1;
static bool opt_pinned, opt_kick = true, opt_newidle;
static u64 max_states = ~0ULL;

void *explore_alloc(size_t size)
{
	if (size > sizeof(layout_mem))
		die("the layout is larger than expected");
	layout_used = size;
	return layout_mem;
}

/* Jiffies of the stubs; the queue has w.clock instead. */
u64 ktime_get_ns(void)
{
	return 0;
}

/* ---- points ---- */

static bool within(const volatile void *p, const void *from, size_t size)
{
	return (const volatile char *)p >= (const char *)from &&
	       (const volatile char *)p < (const char *)from + size;
}

/* Touched by more than one, and not under one lock only? */
static bool shared(const volatile void *p)
{
	unsigned int i;

	for (i = 0; i < ncpu; i++) {
		struct rq *rq = &w.rq[i];

		if (p == &rq->c.token.state || p == &rq->nr || p == &rq->c.seq ||
		    p == &rq->c.surplus_at || p == &rq->c.idle)
			return true;
		if (within(p, &rq->c.idle, sizeof(rq->c.idle)))
			return true;
	}
	for (i = 0; i < l->nr_shards; i++) {
		struct swq_shard *s = &l->shards[i];

		if (p == &s->nr || p == &s->nr_named || p == &s->missed ||
		    within(p, s->named, sizeof(s->named)))
			return true;
	}
	return within(p, l->hint, l->nr_hints * sizeof(*l->hint)) ||
	       within(p, l->ann, l->nr_anns * sizeof(*l->ann));
}

void explore_point(const volatile void *addr)
{
	if (cur < 0 || !shared(addr))
		return;
	w.a[cur].at = (const void *)addr;
	co_yield(cur);
	w.a[cur].at = NULL;
}

static bool is_shard(const raw_spinlock_t *lock)
{
	return within(lock, l->shards, l->nr_shards * sizeof(*l->shards));
}

static void got(raw_spinlock_t *lock)
{
	if (lock->locked)
		explore_error("a lock is taken twice");
	lock->locked = cur + 1;
	if (cur >= 0 && is_shard(lock) && w.a[cur].shard_locks++)
		explore_error("two shard locks at a time");
	else if (cur >= 0 && !is_shard(lock) && w.a[cur].shard_locks)
		explore_error("a runqueue's lock inside a shard's");
}

void explore_lock(raw_spinlock_t *lock)
{
	if (cur >= 0) {
		w.a[cur].wait = lock;
		co_yield(cur);
		w.a[cur].wait = NULL;
	}
	got(lock);
}

bool explore_trylock(raw_spinlock_t *lock)
{
	if (cur >= 0) {
		w.a[cur].at = lock;
		co_yield(cur);
		w.a[cur].at = NULL;
	}
	if (lock->locked)
		return false;
	got(lock);
	return true;
}

void explore_unlock(raw_spinlock_t *lock)
{
	if (cur >= 0) {
		w.a[cur].at = lock;
		co_yield(cur);
		w.a[cur].at = NULL;
	}
	if (lock->locked != cur + 1)
		explore_error("a lock is released by who does not hold it");
	lock->locked = 0;
	if (cur >= 0 && is_shard(lock))
		w.a[cur].shard_locks--;
}

void explore_held(const raw_spinlock_t *lock)
{
	if (lock->locked != cur + 1)
		explore_error("a lock is not held");
}

/* ---- what the glue does ---- */

static bool has_surplus(const struct rq *rq)
{
	return READ_ONCE(rq->nr) >= 2;
}

static bool token_surplus(const struct swq_token *t)
{
	return has_surplus(container_of(container_of(t, struct swq_cpu, token), struct rq, c));
}

static struct swq_cpu *cpu_of(int cpu)
{
	return &w.rq[cpu].c;
}

static void kick_cpu(int cpu)
{
}

static const struct swq_ops ops = {
	.surplus	= token_surplus,
	.cpu		= cpu_of,
	.kick		= kick_cpu,
};

/* Its lock held: nobody else changes these. */
static unsigned int surplus_event(const struct rq *rq)
{
	return rq->nr >= 2 ? SWQ_EV_SURPLUS : 0;
}

static void put_in(int cpu, int self, enum kind kind, bool sync)
{
	struct rq *rq = &w.rq[cpu];
	unsigned int ev;

	raw_spin_lock(&rq->lock);
	rq->waiting[kind]++;
	WRITE_ONCE(rq->nr, rq->nr + 1);
	ev = surplus_event(rq);
	if (rq->running)
		ev |= SWQ_EV_RUNNING;
	if (kind == PINNED)
		ev |= SWQ_EV_PINNED;
	/* As swqueue_enqueued(): what may be put off is asked first. */
	if (sync && rq->running && rq->nr == 2 && !rq->c.deferred)
		rq->c.deferred = true;
	else
		swq_enqueued(l, &rq->c, cpu_of(self), ev);
	raw_spin_unlock(&rq->lock);
}

static bool visit(int self, int cpu)
{
	enum swq_visit result = SWQ_VISIT_STALE;
	struct rq *rq = &w.rq[cpu];

	raw_spin_lock(&rq->lock);
	if (cpu != self && rq->nr >= 2) {
		result = SWQ_VISIT_UNMOVABLE;
		if (rq->waiting[FREE]) {
			rq->waiting[FREE]--;
			WRITE_ONCE(rq->nr, rq->nr - 1);
			result = SWQ_VISIT_MOVED;
		}
	}
	swq_visited(l, &rq->c, cpu_of(self), result);
	raw_spin_unlock(&rq->lock);
	w.a[self].seeks = false;
	if (result == SWQ_VISIT_MOVED)
		put_in(self, self, FREE, false);
	return result == SWQ_VISIT_MOVED;
}

/* The token it gives is still owed a visit. */
static struct swq_token *look(int self, unsigned int how)
{
	struct swq_token *t;

	w.a[self].seeks = true;
	t = swq_look(l, cpu_of(self), how);
	if (!t)
		w.a[self].seeks = false;
	return t;
}

/* With the own lock held, which is dropped for a visit. */
static void newidle(int self)
{
	struct rq *rq = &w.rq[self];
	struct swq_token *t;

	if (!swq_hinted(l))
		return;
	swq_look_begin(&rq->c);
	t = look(self, 0);
	if (!t)
		return;
	raw_spin_unlock(&rq->lock);
	visit(self, t->cpu);
	raw_spin_lock(&rq->lock);
}

/* Under the own lock. */
static void pick(int self, enum kind next, bool from_idle)
{
	struct rq *rq = &w.rq[self];

	if (!rq->waiting[next])
		next = next == FREE ? PINNED : FREE;
	rq->waiting[next]--;
	rq->running = next;
	rq->asleep = false;
	if (from_idle && opt_kick)
		swq_idle_exit(l, &rq->c);
	swq_switched(l, &rq->c, surplus_event(rq));
}

static void idle(int self)
{
	struct rq *rq = &w.rq[self];
	unsigned int visits;

	if (READ_ONCE(rq->nr) || !swq_idle_enter(l, &rq->c))
		return;
	swq_look_begin(&rq->c);
	for (visits = 0; visits < 4 * ncpu; visits++) {
		struct swq_token *t = look(self, SWQ_LOOK_LAST);

		if (!t || visit(self, t->cpu)) {
			swq_idle_looked(&rq->c);
			return;
		}
		if (READ_ONCE(rq->nr))
			return;
	}
	explore_error("a look without end");
}

static void do_op(int self)
{
	struct actor *a = &w.a[self];
	struct rq *rq = &w.rq[self];

	switch (a->op) {
	case OP_WAKE:
		put_in(a->cpu, OUTSIDE, a->kind, false);
		break;
	case OP_SYNC:
		put_in(self, self, FREE, true);
		break;
	case OP_PICK:
		raw_spin_lock(&rq->lock);
		pick(self, a->kind, true);
		raw_spin_unlock(&rq->lock);
		break;
	case OP_SLEEP:
		raw_spin_lock(&rq->lock);
		rq->running = NONE;
		WRITE_ONCE(rq->nr, rq->nr - 1);
		if (!rq->nr && opt_newidle)
			newidle(self);
		if (rq->nr) {
			pick(self, a->kind, false);
		} else {
			rq->c.deferred = false;
			rq->asleep = true;
		}
		raw_spin_unlock(&rq->lock);
		if (rq->asleep && opt_kick)
			idle(self);
		break;
	case OP_PREEMPT:
		raw_spin_lock(&rq->lock);
		if (rq->waiting[FREE] + rq->waiting[PINNED]) {
			unsigned int prev = rq->running, next = a->kind;

			if (!rq->waiting[next])
				next = next == FREE ? PINNED : FREE;
			rq->waiting[next]--;
			rq->waiting[prev]++;
			rq->running = next;
			swq_switched(l, &rq->c, SWQ_EV_SURPLUS | SWQ_EV_PUT_BACK);
		}
		raw_spin_unlock(&rq->lock);
		break;
	case OP_TICK:
		raw_spin_lock(&rq->lock);
		if (rq->nr >= 2)
			swq_ticked(l, &rq->c, SWQ_EV_SURPLUS);
		else
			rq->c.deferred = false;
		raw_spin_unlock(&rq->lock);
		break;
	case OP_IDLE:
		idle(self);
		break;
	}
}

static void actor_main(int i)
{
	for (;;) {
		struct actor *a = &w.a[i];

		memset(a, 0, sizeof(*a));
		a->quiet = true;
		co_yield(i);
		do_op(i);
	}
}

/* ---- choices ---- */

struct action {
	u8	op, cpu, kind;
};

static unsigned int kinds(struct action *out, unsigned int n, u8 op, const struct rq *rq)
{
	if (rq->waiting[FREE] || !rq->waiting[PINNED])
		out[n++] = (struct action){ op, 0, FREE };
	if (rq->waiting[PINNED])
		out[n++] = (struct action){ op, 0, PINNED };
	return n;
}

static unsigned int actions(unsigned int i, struct action *out)
{
	struct rq *rq = &w.rq[i];
	unsigned int n = 0, cpu;

	if (i == ncpu) {
		for (cpu = 0; w.wakes && cpu < ncpu; cpu++) {
			out[n++] = (struct action){ OP_WAKE, cpu, FREE };
			if (opt_pinned)
				out[n++] = (struct action){ OP_WAKE, cpu, PINNED };
		}
		if (w.times)
			out[n++] = (struct action){ OP_TIME, 0, 0 };
		return n;
	}
	if (rq->asleep) {
		if (rq->nr)
			return kinds(out, n, OP_PICK, rq);
		if (opt_kick && atomic_read(&rq->c.idle) != SWQ_IDLE)
			out[n++] = (struct action){ OP_IDLE, 0, 0 };
		return n;
	}
	if (w.sleeps)
		n = kinds(out, n, OP_SLEEP, rq);
	if (w.preempts && rq->waiting[FREE] + rq->waiting[PINNED])
		n = kinds(out, n, OP_PREEMPT, rq);
	if (w.syncs)
		out[n++] = (struct action){ OP_SYNC, 0, 0 };
	if (rq->c.deferred)
		out[n++] = (struct action){ OP_TICK, 0, 0 };
	return n;
}

static void choose(unsigned int i, const struct action *act)
{
	w.a[i].op = act->op;
	w.a[i].cpu = act->cpu;
	w.a[i].kind = act->kind;
	w.a[i].quiet = act->op == OP_TIME;
	w.wakes -= act->op == OP_WAKE;
	w.sleeps -= act->op == OP_SLEEP;
	w.preempts -= act->op == OP_PREEMPT;
	w.syncs -= act->op == OP_SYNC;
	if (act->op == OP_TIME) {
		w.times--;
		w.clock += SWQ_STALE_JIFFIES;
		memset(&w.a[i], 0, sizeof(w.a[i]));
		w.a[i].quiet = true;
	}
}

/* ---- oracle ---- */

static bool anybody_seeks(void)
{
	unsigned int i;

	for (i = 0; i < ncpu; i++) {
		if (w.a[i].seeks)
			return true;
	}
	return false;
}

static void check(void)
{
	unsigned int i, listed[MAXCPU + 1] = { 0 };
	struct swq_token *t;

	for (i = 0; i < l->nr_shards; i++) {
		struct swq_shard *s = &l->shards[i];
		unsigned int n = 0;

		if (s->lock.locked)
			continue;
		list_for_each_entry(t, &s->tokens, node) {
			if (++n > ncpu) {
				explore_error("a list without end");
				return;
			}
			if (t->state != SWQ_LINKED || t->shard != s)
				explore_error("a token on a list to which it does not belong");
			if (listed[t->cpu]++)
				explore_error("a token is on two lists");
		}
		if (n != s->nr)
			explore_error("length of a shard");
	}
	for (i = 0; i < ncpu; i++) {
		struct rq *rq = &w.rq[i];
		struct swq_shard *s = rq->c.token.shard;

		if (rq->lock.locked)
			continue;
		if (rq->c.token.state == SWQ_LINKED && !s->lock.locked) {
			if (!listed[i])
				explore_error("a linked token is on no list");
			if (!(s->hint->bits & BIT(s->hint_bit)))
				explore_error("work in a shard without a hint");
		}
		if (rq->nr >= 2 && rq->waiting[FREE] && rq->c.token.state == SWQ_UNLINKED &&
		    !rq->c.deferred && !anybody_seeks())
			explore_error("movable work that nobody finds and nobody owes");
		if (rq->nr != rq->waiting[FREE] + rq->waiting[PINNED] + !!rq->running &&
		    w.a[i].quiet)
			explore_error("a task was lost or doubled");
	}
}

/* Nobody can do anything any more, and no operation is under way. */
static void check_rest(void)
{
	unsigned int i, j;

	for (i = 0; i < ncpu; i++) {
		struct rq *rq = &w.rq[i];

		if (rq->nr < 2 || !rq->waiting[FREE] || !opt_kick)
			continue;
		for (j = 0; j < ncpu; j++) {
			if (w.rq[j].asleep && !w.rq[j].nr &&
			    atomic_read(&w.rq[j].c.idle) == SWQ_IDLE)
				explore_error("a CPU sleeps beside work");
		}
	}
	/* Then all surplus goes, and time passes. */
	for (i = 0; i < ncpu; i++)
		w.rq[i].nr = 1;
	w.clock += SWQ_STALE_JIFFIES;
	if (swq_look(l, cpu_of(0), SWQ_LOOK_LAST))
		explore_error("found work where none is");
	for (i = 0; i < ncpu; i++) {
		if (w.rq[i].c.token.state != SWQ_UNLINKED)
			explore_error("the queue does not become empty");
	}
	if (swq_hinted(l))
		explore_error("hinted at nothing");
}

/* ---- identity of a state ---- */

static bool all_quiet(void)
{
	unsigned int i;

	for (i = 0; i <= ncpu; i++) {
		if (!w.a[i].quiet)
			return false;
	}
	return true;
}

/* Counters of events do not matter; nor, with nothing under way, do absolute numbers. */
static void normalise(void)
{
	unsigned int i, j, k, n;

	for (i = 0; i < l->nr_shards; i++) {
		struct swq_shard *s = &l->shards[i];

		s->nr_locks = 0;
		s->nr_contended = 0;
		s->nr_linked = 0;
		s->nr_popped = 0;
		s->nr_discarded = 0;
		s->longest = 0;
	}
	for (i = 0; i <= MAXCPU; i++)
		memset(w.rq[i].c.stat, 0, sizeof(w.rq[i].c.stat));
	if (!all_quiet())
		return;
	for (i = 0; i < ncpu; i++) {
		struct swq_cpu *c = &w.rq[i].c;

		for (n = 0, j = 0; j < SWQ_MARKS; j++) {
			struct swq_mark m = c->mark[j];

			c->mark[j] = (struct swq_mark){ -1, 0, 0, 0 };
			if (m.cpu < 0 || m.seq != w.rq[m.cpu].c.seq ||
			    w.clock - m.at >= SWQ_STALE_JIFFIES)
				continue;
			for (k = 0; k < n && c->mark[k].cpu != m.cpu; k++)
				;
			c->mark[k].cpu = m.cpu;
			n += k == n;
		}
		c->mark_hand = n;
		c->look = 0;
		c->surplus_at = w.clock - c->surplus_at >= SWQ_STALE_JIFFIES ?
				-SWQ_STALE_JIFFIES : 0;
	}
	w.clock = 0;
	for (i = 0; i < ncpu; i++)
		w.rq[i].c.seq = 0;
}

static u64 hash_mem(u64 h, const void *mem, size_t size)
{
	const char *p = mem;
	u64 v;

	for (; size >= 8; size -= 8, p += 8) {
		memcpy(&v, p, 8);
		h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 29;
	}
	for (; size; size--)
		h = (h ^ (u8)*p++) * 0x100000001b3ULL;
	return h;
}

static u64 state_hash(void)
{
	u64 h = hash_mem(1, &w, sizeof(w));
	unsigned int i;

	h = hash_mem(h, layout_mem, layout_used);
	for (i = 0; i <= ncpu; i++) {
		if (w.a[i].quiet)
			continue;
		h = hash_mem(h, co[i].sp, co[i].stack + STACK - co[i].sp);
	}
	h = mix(h);
	return h ? h : 1;
}

/* ---- saved states ---- */

struct saved {
	struct world	w;
	jmp_buf		jb[MAXCO];
	char		*sp[MAXCO];
	u32		id;
	unsigned int	depth;
	char		mem[];
};

static struct set states;
static u64 saved_bytes;

static struct saved *save(u32 id)
{
	size_t size = sizeof(struct saved) + layout_used;
	struct saved *s;
	unsigned int i;
	char *p;

	for (i = 0; i <= ncpu; i++)
		size += co[i].stack + STACK - co[i].sp;
	s = malloc(size);
	if (!s)
		die("out of memory with %llu states; take fewer CPUs or events",
		    (unsigned long long)states.n);
	saved_bytes += size;
	s->w = w;
	s->id = id;
	memcpy(s->mem, layout_mem, layout_used);
	p = s->mem + layout_used;
	for (i = 0; i <= ncpu; i++) {
		size_t n = co[i].stack + STACK - co[i].sp;

		memcpy(s->jb[i], co[i].jb, sizeof(jmp_buf));
		s->sp[i] = co[i].sp;
		memcpy(p, co[i].sp, n);
		p += n;
	}
	return s;
}

static void restore(const struct saved *s)
{
	const char *p = s->mem + layout_used;
	unsigned int i;

	w = s->w;
	memcpy(layout_mem, s->mem, layout_used);
	for (i = 0; i <= ncpu; i++) {
		size_t n = co[i].stack + STACK - s->sp[i];

		memcpy(co[i].jb, s->jb[i], sizeof(jmp_buf));
		co[i].sp = s->sp[i];
		memcpy(co[i].sp, p, n);
		p += n;
	}
}

/* ---- traces ---- */

static const char *point_name(const void *at)
{
	static char buf[64];
	unsigned int i;

	for (i = 0; i < ncpu; i++) {
		const struct rq *rq = &w.rq[i];

		if (at == &rq->lock)
			sprintf(buf, "lock of runqueue %u", i);
		else if (at == &rq->nr)
			sprintf(buf, "count of runqueue %u", i);
		else if (at == &rq->c.token.state)
			sprintf(buf, "token %u", i);
		else if (at == &rq->c.seq || at == &rq->c.surplus_at)
			sprintf(buf, "seq or time of %u", i);
		else if (at == &rq->c.idle)
			sprintf(buf, "idle word %u", i);
		else
			continue;
		return buf;
	}
	for (i = 0; i < l->nr_shards; i++) {
		const struct swq_shard *s = &l->shards[i];

		if (at == &s->lock)
			sprintf(buf, "lock of shard %u", i);
		else if (at == &s->missed)
			sprintf(buf, "note at shard %u", i);
		else if (within(at, s, sizeof(*s)))
			sprintf(buf, "shard %u", i);
		else
			continue;
		return buf;
	}
	return within(at, l->hint, sizeof(*l->hint)) ? "hint" : "announcements";
}

/* What stood before each step, for a trace. */
static const void **step_at;
static u64 step_at_size;

static void note_step(u32 id, u32 parent, unsigned int c, const struct action *act, const void *at)
{
	note_origin(id, parent, c, act ? act->op : 0, act ? act->cpu : 0, act ? act->kind : 0);
	if (id >= step_at_size) {
		step_at_size = step_at_size ? step_at_size * 2 : 1 << 16;
		step_at = realloc(step_at, step_at_size * sizeof(*step_at));
		if (!step_at)
			die("out of memory for traces");
	}
	step_at[id] = at;
}

static void print_trace(u32 id)
{
	static u32 path[100000];
	unsigned int n = 0;

	for (; id && n < ARRAY_SIZE(path); id = origin[id].parent)
		path[n++] = id;
	while (n--) {
		const struct origin *o = &origin[path[n]];

		if (!o->op)
			printf("  %u:   %s\n", o->cpu, point_name(step_at[path[n]]));
		else if (o->op == OP_WAKE)
			printf("  %u: wakeup of a %s task on CPU %u\n", o->cpu,
			       o->arg == PINNED ? "pinned" : "free", o->point);
		else
			printf("  %u: %s\n", o->cpu, op_name[o->op]);
	}
}

/* ---- search ---- */

static u64 transitions, rests;
static struct queue todo;

static void step(const struct saved *from, unsigned int i, const struct action *act)
{
	const void *at;
	u32 id;

	restore(from);
	at = w.a[i].wait ? (const void *)w.a[i].wait : w.a[i].at;
	if (act)
		choose(i, act);
	if (!act || act->op != OP_TIME) {
		/*
		 * Below is what others have left there. New frames must not differ
		 * by that: it would be part of the state.
		 */
		memset(co[i].sp - CLEAN, 0, CLEAN);
		cur = i;
		co_resume(i);
		cur = -1;
	}
	transitions++;
	check();
	normalise();
	id = states.n;
	if (set_add(&states, state_hash())) {
		note_step(id, from->id, i, act, at);
		push(&todo, save(id));
	} else if (error) {
		note_step(id, from->id, i, act, at);
	}
	if (error)
		error_id = id;
}

static void visit_state(const struct saved *s)
{
	struct action act[32];
	unsigned int i, j, n, moves = 0;

	for (i = 0; i <= ncpu && !error; i++) {
		restore(s);
		if (!w.a[i].quiet) {
			if (w.a[i].wait && w.a[i].wait->locked)
				continue;
			moves++;
			step(s, i, NULL);
			continue;
		}
		n = actions(i, act);
		moves += n;
		for (j = 0; j < n && !error; j++)
			step(s, i, &act[j]);
	}
	if (error || moves)
		return;
	restore(s);
	if (!all_quiet())
		explore_error("nobody can go on: deadlock");
	else
		check_rest();
	rests++;
	error_id = s->id;
}

static void start(unsigned int busy)
{
	static int cpus[MAXCPU], cores[MAXCPU];
	unsigned int i;

	for (i = 0; i < ncpu; i++) {
		cpus[i] = i;
		cores[i] = i;
	}
	l = swq_layout_alloc(cpus, cores, ncpu, nshards, &ops, 0);
	l->kick = opt_kick;
	l->clock = &w.clock;
	for (i = 0; i < l->nr_anns; i++)
		l->ann[i].bits = 0;
	for (i = 0; i <= MAXCPU; i++) {
		swq_cpu_init(&w.rq[i].c, i);
		w.rq[i].c.layout = l;
		w.rq[i].c.surplus_at = -SWQ_STALE_JIFFIES;
	}
	for (i = 0; i < ncpu; i++) {
		w.rq[i].running = i < busy ? FREE : NONE;
		w.rq[i].nr = i < busy;
		w.rq[i].asleep = i >= busy;
		if (i >= busy && opt_kick)
			swq_idle_enter(l, &w.rq[i].c);
	}
	for (i = 0; i <= ncpu; i++) {
		cur = i;
		co_start(i, actor_main);
	}
	cur = -1;
}

static void usage(void)
{
	puts("usage: swq_explore [options]\n"
	     "Run the shared wake queue through every interleaving on a small machine.\n"
	     "  --cpus N        2 or 3 (2)\n"
	     "  --shards N      1 to as many as CPUs (1)\n"
	     "  --busy N        CPUs that run a task at the start, the others sleep (1)\n"
	     "  --wakes N       wakeups (2); with --busy and --syncs at most 4 tasks\n"
	     "  --sleeps N      tasks that go to sleep (1)\n"
	     "  --preempts N    preemptions (0)\n"
	     "  --syncs N       sync wakeups (0)\n"
	     "  --times N       how often tokens become old enough to be discarded (0)\n"
	     "  --pinned        wakeups may be of pinned tasks\n"
	     "  --newidle       look before going idle\n"
	     "  --no-kick       without the idle side\n"
	     "  --max N         stop after N states\n"
	     "Exit: 0 nothing found, 1 an error and a trace, 2 bad usage.");
	exit(0);
}

int main(int argc, char **argv)
{
	static const struct option opts[] = {
		{ "cpus", 1, 0, 'c' }, { "shards", 1, 0, 's' }, { "busy", 1, 0, 'b' },
		{ "wakes", 1, 0, 'w' }, { "sleeps", 1, 0, 'l' }, { "preempts", 1, 0, 'p' },
		{ "syncs", 1, 0, 'y' }, { "times", 1, 0, 't' }, { "pinned", 0, 0, 'P' },
		{ "newidle", 0, 0, 'n' }, { "no-kick", 0, 0, 'k' }, { "max", 1, 0, 'x' },
		{ "help", 0, 0, 'h' }, { }
	};
	unsigned int busy = 1;
	u64 peak = 0;
	double t0 = now(), last = t0;
	int o;

	explore_prog = "swq_explore";
	w.wakes = 2;
	w.sleeps = 1;
	while ((o = getopt_long(argc, argv, "", opts, NULL)) != -1) {
		switch (o) {
		case 'c': ncpu = atoi(optarg); break;
		case 's': nshards = atoi(optarg); break;
		case 'b': busy = atoi(optarg); break;
		case 'w': w.wakes = atoi(optarg); break;
		case 'l': w.sleeps = atoi(optarg); break;
		case 'p': w.preempts = atoi(optarg); break;
		case 'y': w.syncs = atoi(optarg); break;
		case 't': w.times = atoi(optarg); break;
		case 'P': opt_pinned = true; break;
		case 'n': opt_newidle = true; break;
		case 'k': opt_kick = false; break;
		case 'x': max_states = strtoull(optarg, NULL, 0); break;
		case 'h': usage(); break;
		default: fprintf(stderr, "%s: see --help\n", explore_prog); return 2;
		}
	}
	if (ncpu < 2 || ncpu > MAXCPU || nshards < 1 || nshards > ncpu || busy > ncpu ||
	    busy + w.wakes + w.syncs > 4)
		die("out of range: cpus 2-%d, shards 1-cpus, at most 4 tasks", MAXCPU);

	start(busy);
	check();
	normalise();
	note_step(0, 0, 0, NULL, NULL);
	set_add(&states, state_hash());
	push(&todo, save(0));
	while (todo.n && !error && states.n < max_states) {
		struct saved *s = todo.v[--todo.n];

		visit_state(s);
		free(s);
		peak = peak > todo.n ? peak : todo.n;
		if (now() - last > 20) {
			last = now();
			fprintf(stderr, "%llu states, %llu to be visited, %.0f s\n",
				(unsigned long long)states.n, (unsigned long long)todo.n, last - t0);
		}
	}
	if (error) {
		printf("ERROR: %s\n", error);
		print_trace(error_id);
	}
	printf("cpus %u shards %u busy %u: %llu states, %llu transitions, %llu at rest, at most %llu saved, %s, %s, %.1f s\n",
	       ncpu, nshards, busy, (unsigned long long)states.n, (unsigned long long)transitions,
	       (unsigned long long)rests, (unsigned long long)peak,
	       todo.n && !error ? "NOT complete" : "complete", error ? "1 error" : "0 errors", now() - t0);
	return error != NULL;
}
