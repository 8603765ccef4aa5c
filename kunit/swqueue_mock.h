/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mock runqueues for the suites of the shared wake queue: counts, a lock, and
 * what the glue does with them. Nothing here touches the scheduler's queue.
 */
#ifndef _SWQUEUE_MOCK_H
#define _SWQUEUE_MOCK_H

#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>

#include "../swqueue.h"

#define MOCK_MAX_CPUS	320
/* CPUs of another LLC, for what comes from outside. */
#define MOCK_OUTSIDE	(mock->nr_cpus)
#define MOCK_ALL_CPUS	(mock->nr_cpus + 2)
#define MOCK_HOOKS	8

enum mock_task {
	NONE,
	FREE,			/* may run anywhere */
	PINNED,			/* may run on its own CPU only */
};

/**
 * struct mock_rq - what a runqueue is to the queue
 * @c: its part of the queue
 * @lock: the rq lock
 * @nr: runnable tasks, read by lookers
 * @waiting: waiting tasks by kind
 * @running: kind of the running task
 * @kicks: kicks received
 * @asleep: sleeps in the idle loop (random interleaving only)
 */
struct mock_rq {
	struct swq_cpu		c;
	raw_spinlock_t		lock;
	unsigned int		nr;
	unsigned int		waiting[PINNED + 1];
	unsigned int		running;
	unsigned int		kicks;
	bool			asleep;
};

/**
 * struct mock_hook - act at a step
 * @step: which
 * @who: thread to act in
 * @fn: what to do
 * @arg: for @fn
 * @left: how often still
 */
struct mock_hook {
	enum swq_step		step;
	struct task_struct	*who;
	void			(*fn)(void *arg);
	void			*arg;
	unsigned int		left;
};

struct mock {
	struct kunit		*test;
	unsigned int		nr_cpus;
	struct mock_rq		*rq;
	int			cpus[MOCK_MAX_CPUS];
	int			cores[MOCK_MAX_CPUS];
	struct swq_layout	*l;
	struct list_head	dead;
	struct mock_hook	hook[MOCK_HOOKS];
	void			(*step)(struct swq_layout *l, enum swq_step step,
					struct swq_token *token);
	void			(*on_sync)(void *arg);
	void			(*on_sweep)(void *arg, int cpu);
	void			*arg;
	u32			clock;
	bool			kick;
	bool			stuck;
	unsigned int		kicks;
};

/* One test at a time: the callbacks have no other way to find it. */
static struct mock *mock;

static inline struct mock_rq *mock_rq_of(const struct swq_cpu *c)
{
	return container_of((struct swq_cpu *)c, struct mock_rq, c);
}

static inline bool mock_has_surplus(const struct mock_rq *rq)
{
	return READ_ONCE(rq->nr) >= 2;
}

static inline bool mock_surplus(const struct swq_token *token)
{
	const struct swq_cpu *c = container_of(token, struct swq_cpu, token);

	return mock_has_surplus(mock_rq_of(c));
}

static inline struct swq_cpu *mock_cpu(int cpu)
{
	return &mock->rq[cpu].c;
}

static inline void mock_kick(int cpu)
{
	/* With many threads nobody wants to know how many. */
	if (mock->step)
		return;
	mock->rq[cpu].kicks++;
	mock->kicks++;
}

static const struct swq_ops mock_ops = {
	.surplus	= mock_surplus,
	.cpu		= mock_cpu,
	.kick		= mock_kick,
};

static inline void mock_step(struct swq_layout *l, enum swq_step step,
			     struct swq_token *token)
{
	unsigned int i;

	if (mock->step) {
		mock->step(l, step, token);
		return;
	}

	for (i = 0; i < MOCK_HOOKS; i++) {
		struct mock_hook *h = &mock->hook[i];

		if (h->left && h->step == step && h->who == current) {
			h->left--;
			h->fn(h->arg);
		}
	}
}

/* Act when thread @who, NULL for this one, comes by @step for the first time. */
static inline void mock_at(enum swq_step step, struct task_struct *who,
			   void (*fn)(void *arg), void *arg)
{
	unsigned int i;

	for (i = 0; mock->hook[i].left; i++)
		;
	mock->hook[i] = (struct mock_hook) { step, who ?: current, fn, arg, 1 };
}

static inline struct swq_layout *mock_layout(unsigned int wanted)
{
	struct swq_layout *l;

	l = swq_layout_alloc(mock->cpus, mock->cores, mock->nr_cpus, wanted,
			     &mock_ops, NUMA_NO_NODE);
	if (!l)
		return NULL;

	l->step = mock_step;
	l->clock = &mock->clock;
	l->kick = mock->kick;

	return l;
}

/* Nobody is announced: what a layout starts with is for running systems. */
static inline void mock_clear_announced(void)
{
	unsigned int i;

	for (i = 0; i < mock->l->nr_anns; i++)
		WRITE_ONCE(mock->l->ann[i].bits, 0);
}

static inline unsigned long mock_locks(const struct swq_layout *l)
{
	unsigned long n = 0;
	unsigned int i;

	for (i = 0; i < l->nr_shards; i++)
		n += READ_ONCE(l->shards[i].nr_locks);

	return n;
}

/* Runs after the actors were stopped: they may still be on their way. */
static inline void mock_cleanup(void *arg)
{
	struct mock *m = arg;
	struct swq_layout *l, *tmp;
	unsigned int i;

	list_for_each_entry_safe(l, tmp, &m->dead, entry) {
		KUNIT_EXPECT_EQ_MSG(m->test, mock_locks(l), (unsigned long)l->step_arg,
				    "a freed shard was locked");
		for (i = 0; i < l->nr_shards; i++)
			KUNIT_EXPECT_TRUE(m->test, list_empty(&l->shards[i].tokens));
		list_del(&l->entry);
		swq_layout_free(l);
	}
	swq_layout_free(m->l);
}

/*
 * An LLC of @nr_cpus CPUs with @threads per core, siblings side by side, in
 * @shards shards; all CPUs are busy and nobody is announced. The memory is the
 * caller's: @mock, zeroed, and mock->rq, MOCK_ALL_CPUS of them.
 *
 * Return: false without memory for the layout.
 */
static inline bool mock_init(unsigned int threads, unsigned int shards)
{
	unsigned int i, cpu;

	mock->kick = true;
	for (i = 0; i < MOCK_ALL_CPUS; i++) {
		swq_cpu_init(&mock->rq[i].c, i);
		raw_spin_lock_init(&mock->rq[i].lock);
		mock->rq[i].running = FREE;
		mock->rq[i].nr = 1;
	}
	for (cpu = 0; cpu < mock->nr_cpus; cpu++) {
		mock->cpus[cpu] = cpu;
		mock->cores[cpu] = cpu / threads;
	}

	mock->l = mock_layout(shards);
	if (!mock->l)
		return false;
	for (cpu = 0; cpu < mock->nr_cpus; cpu++)
		rcu_assign_pointer(mock->rq[cpu].c.layout, mock->l);
	mock_clear_announced();
	return true;
}

/* The same for a test, and everything is given back after it. */
static inline void mock_setup(struct kunit *test, unsigned int nr_cpus,
			      unsigned int threads, unsigned int shards)
{
	mock = kunit_kzalloc(test, sizeof(*mock), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, mock);
	mock->test = test;
	mock->nr_cpus = nr_cpus;
	mock->rq = kunit_kcalloc(test, MOCK_ALL_CPUS, sizeof(*mock->rq), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, mock->rq);

	INIT_LIST_HEAD(&mock->dead);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, mock_cleanup, mock));
	KUNIT_ASSERT_TRUE(test, mock_init(threads, shards));
	KUNIT_ASSERT_EQ(test, mock->l->nr_shards, shards);

	/* Actors are pinned elsewhere, and this thread spins while it waits. */
	set_cpus_allowed_ptr(current, cpumask_of(cpumask_first(cpu_online_mask)));
}

static inline struct swq_shard *mock_shard(unsigned int i)
{
	return &mock->l->shards[i];
}

static inline bool mock_hinted(const struct swq_shard *s)
{
	return test_bit(s->hint_bit, &s->hint->bits);
}

static inline bool mock_linked(int cpu)
{
	return READ_ONCE(mock->rq[cpu].c.token.state) == SWQ_LINKED;
}

static inline unsigned int mock_idle_state(int cpu)
{
	return atomic_read(&mock->rq[cpu].c.idle);
}

static inline bool mock_announced(int cpu)
{
	unsigned int bit = swq_place_of(mock->l, cpu)->ann;

	return test_bit(bit % BITS_PER_LONG, &mock->l->ann[bit / BITS_PER_LONG].bits);
}

static inline unsigned long mock_stat(int cpu, enum swq_stat stat)
{
	return READ_ONCE(mock->rq[cpu].c.stat[stat]);
}

/*
 * With nothing going on: each shard is consistent in itself, each token is
 * LINKED if and only if it stands on the list of the shard it remembers, and a
 * shard that holds something is hinted at.
 */
static inline void mock_check(struct kunit *test)
{
	struct swq_layout *l = mock->l;
	unsigned int i, cpu, linked = 0, listed = 0;
	struct swq_token *t;

	KUNIT_EXPECT_FALSE_MSG(test, mock->stuck, "a wait did not end");
	for (i = 0; i < l->nr_shards; i++) {
		struct swq_shard *s = &l->shards[i];
		unsigned int nr = 0;

		KUNIT_EXPECT_FALSE(test, raw_spin_is_locked(&s->lock));
		list_for_each_entry(t, &s->tokens, node) {
			KUNIT_EXPECT_EQ(test, t->state, (unsigned int)SWQ_LINKED);
			KUNIT_EXPECT_PTR_EQ(test, t->shard, s);
			KUNIT_ASSERT_LE(test, ++nr, MOCK_ALL_CPUS);
		}
		KUNIT_EXPECT_EQ(test, s->nr, nr);
		KUNIT_EXPECT_EQ(test, s->nr_named, nr <= SWQ_LOOKAHEAD ? nr : 0);
		/* As many names as tokens, and each of them there. */
		list_for_each_entry(t, &s->tokens, node) {
			for (nr = 0; nr < s->nr_named && s->named[nr] != t->cpu; nr++)
				;
			if (s->nr_named)
				KUNIT_EXPECT_LT_MSG(test, nr, s->nr_named,
						    "CPU %d has no name", t->cpu);
		}
		nr = s->nr;
		KUNIT_EXPECT_GE(test, s->longest, nr);
		if (nr)
			KUNIT_EXPECT_TRUE_MSG(test, mock_hinted(s), "shard %u", i);
		listed += nr;
	}
	for (cpu = 0; cpu < MOCK_ALL_CPUS; cpu++)
		linked += mock_linked(cpu);
	KUNIT_EXPECT_EQ_MSG(test, linked, listed, "LINKED, but on no list of the layout");
}

/*
 * What the glue does, on mock runqueues
 */

/* Sparse is not told of these locks: it cannot follow what a play does with them. */
static inline void mock_lock(int cpu)
{
	raw_spin_lock(&mock->rq[cpu].lock);
	__release(&mock->rq[cpu].lock);
}

static inline void mock_unlock(int cpu)
{
	__acquire(&mock->rq[cpu].lock);
	raw_spin_unlock(&mock->rq[cpu].lock);
}

/* For tests that call the structure themselves: as ever, interrupts off. */
static inline void mock_lock_irq(int cpu)
{
	raw_spin_lock_irq(&mock->rq[cpu].lock);
}

static inline void mock_unlock_irq(int cpu)
{
	raw_spin_unlock_irq(&mock->rq[cpu].lock);
}

/* Set a runqueue's tasks without telling anybody. */
static inline void mock_fill(int cpu, enum mock_task running, unsigned int free,
			     unsigned int pinned)
{
	struct mock_rq *rq = &mock->rq[cpu];

	rq->running = running;
	rq->waiting[FREE] = free;
	rq->waiting[PINNED] = pinned;
	WRITE_ONCE(rq->nr, (running != NONE) + free + pinned);
}

static inline void mock_publish(int cpu, int self, unsigned int how)
{
	struct swq_cpu *r = mock_cpu(cpu);
	unsigned long flags;

	local_irq_save(flags);
	mock_lock(cpu);
	swq_publish(rcu_dereference_sched(r->layout), r, mock_cpu(self), how);
	mock_unlock(cpu);
	local_irq_restore(flags);
}

/* Give a CPU surplus and publish it, kicking nobody. */
static inline void mock_link(int cpu)
{
	mock_fill(cpu, FREE, 1, 0);
	mock_publish(cpu, cpu, SWQ_PUB_QUIET);
}

/* Let time pass: a token that is stale may go now. */
static inline void mock_later(void)
{
	WRITE_ONCE(mock->clock, READ_ONCE(mock->clock) + SWQ_STALE_JIFFIES);
}

/* Its runqueue has had no surplus for long: the next looker takes the token off. */
static inline void mock_dormant(int cpu)
{
	WRITE_ONCE(mock_cpu(cpu)->surplus_at, mock->clock - SWQ_STALE_JIFFIES);
}

/* A token that stands linked although its surplus is gone for long. */
static inline void mock_link_stale(int cpu)
{
	mock_link(cpu);
	mock_fill(cpu, FREE, 0, 0);
	mock_dormant(cpu);
}

static inline void mock_unlink_own(int cpu)
{
	struct swq_cpu *r = mock_cpu(cpu);
	unsigned long flags;

	local_irq_save(flags);
	mock_lock(cpu);
	swq_unlink_own(rcu_dereference_sched(r->layout), r, r, false);
	mock_unlock(cpu);
	local_irq_restore(flags);
}

/* A sync wakeup on the waker's own CPU, 1 -> 2. */
#define MOCK_EV_SYNC	0x100

static inline unsigned int mock_events(const struct mock_rq *rq, int self,
				       enum mock_task kind, bool sync)
{
	unsigned int ev = 0;

	if (mock_has_surplus(rq))
		ev |= SWQ_EV_SURPLUS;
	if (rq->running != NONE)
		ev |= SWQ_EV_RUNNING;
	if (kind == PINNED)
		ev |= SWQ_EV_PINNED;
	if (sync && rq->c.token.cpu == self && rq->running != NONE && rq->nr == 2)
		ev |= MOCK_EV_SYNC;

	return ev;
}

/* As swqueue_defer(). */
static inline bool mock_defer(struct swq_cpu *self)
{
	if (self->deferred)
		return false;
	self->deferred = true;
	swq_count(self, SWQ_STAT_DEFERRED);
	return true;
}

/* As swqueue_enqueued(): what may be put off is asked first. */
static inline void mock_enqueued(struct swq_layout *l, struct swq_cpu *r,
				 struct swq_cpu *self, unsigned int ev)
{
	if ((ev & SWQ_EV_SURPLUS) && (ev & MOCK_EV_SYNC) && mock_defer(self))
		return;
	swq_enqueued(l, r, self, ev & ~MOCK_EV_SYNC);
}

static inline void mock_enqueue(int cpu, int self, enum mock_task kind, bool sync)
{
	struct mock_rq *rq = &mock->rq[cpu];
	unsigned long flags;

	local_irq_save(flags);
	mock_lock(cpu);
	rq->waiting[kind]++;
	WRITE_ONCE(rq->nr, rq->nr + 1);
	mock_enqueued(rcu_dereference_sched(rq->c.layout), &rq->c, mock_cpu(self),
		      mock_events(rq, self, kind, sync));
	mock_unlock(cpu);
	local_irq_restore(flags);
}

/* Put the running task back and run one of kind @next instead. */
static inline void mock_put_back(int cpu, enum mock_task next)
{
	struct mock_rq *rq = &mock->rq[cpu];
	unsigned int ev = SWQ_EV_PUT_BACK;
	unsigned long flags;

	local_irq_save(flags);
	mock_lock(cpu);
	rq->waiting[rq->running]++;
	rq->waiting[next]--;
	rq->running = next;
	if (mock_has_surplus(rq))
		ev |= SWQ_EV_SURPLUS;
	swq_switched(rcu_dereference_sched(rq->c.layout), &rq->c, ev);
	mock_unlock(cpu);
	local_irq_restore(flags);
}

/* The running task sleeps, and one of kind @next runs. */
static inline void mock_pick(int cpu, enum mock_task next)
{
	struct mock_rq *rq = &mock->rq[cpu];
	unsigned long flags;

	local_irq_save(flags);
	mock_lock(cpu);
	WRITE_ONCE(rq->nr, rq->nr - 1);
	rq->waiting[next]--;
	rq->running = next;
	swq_switched(rcu_dereference_sched(rq->c.layout), &rq->c,
		     mock_has_surplus(rq) ? SWQ_EV_SURPLUS : 0);
	mock_unlock(cpu);
	local_irq_restore(flags);
}

static inline void mock_tick(int cpu)
{
	struct mock_rq *rq = &mock->rq[cpu];
	unsigned long flags;

	local_irq_save(flags);
	mock_lock(cpu);
	if (mock_has_surplus(rq))
		swq_ticked(rcu_dereference_sched(rq->c.layout), &rq->c, SWQ_EV_SURPLUS);
	mock_unlock(cpu);
	local_irq_restore(flags);
}

/* Return: CPU whose token was popped, or -1. */
static inline int mock_look(int self, unsigned int how)
{
	struct swq_cpu *c = mock_cpu(self);
	struct swq_token *t;
	unsigned long flags;

	local_irq_save(flags);
	t = swq_look(rcu_dereference_sched(c->layout), c, how);
	local_irq_restore(flags);

	return t ? t->cpu : -1;
}

/* Under @cpu's lock, which is also dropped. */
static inline enum swq_visit mock_visit_locked(int self, int cpu)
{
	struct mock_rq *rq = &mock->rq[cpu];
	enum swq_visit result = SWQ_VISIT_STALE;

	if (cpu != self && mock_has_surplus(rq)) {
		result = SWQ_VISIT_UNMOVABLE;
		if (rq->waiting[FREE]) {
			rq->waiting[FREE]--;
			WRITE_ONCE(rq->nr, rq->nr - 1);
			result = SWQ_VISIT_MOVED;
		}
	}
	swq_visited(rcu_dereference_sched(rq->c.layout), &rq->c, mock_cpu(self), result);
	mock_unlock(cpu);

	return result;
}

static inline enum swq_visit mock_visit(int self, int cpu)
{
	enum swq_visit result;
	unsigned long flags;

	local_irq_save(flags);
	mock_lock(cpu);
	result = mock_visit_locked(self, cpu);
	local_irq_restore(flags);

	return result;
}

/* Announce, then look once more; the visits are up to the caller. */
static inline int mock_go_idle(int self)
{
	struct swq_cpu *c = mock_cpu(self);
	struct swq_layout *l;
	unsigned long flags;
	int cpu = -1;

	local_irq_save(flags);
	mock_fill(self, NONE, 0, 0);
	l = rcu_dereference_sched(c->layout);
	if (swq_idle_enter(l, c)) {
		swq_look_begin(c);
		cpu = mock_look(self, SWQ_LOOK_LAST);
		swq_idle_looked(c);
	}
	local_irq_restore(flags);

	return cpu;
}

static inline void mock_leave_idle(int self)
{
	struct swq_cpu *c = mock_cpu(self);
	unsigned long flags;

	local_irq_save(flags);
	swq_idle_exit(rcu_dereference_sched(c->layout), c);
	local_irq_restore(flags);
}

/* A replacement whose grace period is what the test says. */
static inline void mock_synchronize(void)
{
	if (mock->on_sync)
		mock->on_sync(mock->arg);
}

static inline void mock_sweep(int cpu)
{
	struct mock_rq *rq = &mock->rq[cpu];
	struct swq_layout *l;
	unsigned long flags;

	if (mock->on_sweep)
		mock->on_sweep(mock->arg, cpu);
	local_irq_save(flags);
	mock_lock(cpu);
	l = rcu_dereference_sched(rq->c.layout);
	if (l && mock_has_surplus(rq))
		swq_publish(l, &rq->c, mock_cpu(MOCK_OUTSIDE), 0);
	mock_unlock(cpu);
	local_irq_restore(flags);
}

/* Kept until the end of the test, which sees whether anybody still came by. */
static inline void mock_free(struct swq_layout *l)
{
	l->step_arg = (void *)mock_locks(l);
	list_add_tail(&l->entry, &mock->dead);
}

static const struct swq_replace_ops mock_replace_ops = {
	.synchronize	= mock_synchronize,
	.sweep		= mock_sweep,
	.free		= mock_free,
};

static inline void mock_reshard(struct kunit *test, unsigned int wanted)
{
	struct swq_layout *l = mock_layout(wanted);
	LIST_HEAD(old);
	LIST_HEAD(new);

	KUNIT_ASSERT_NOT_NULL(test, l);
	list_add(&mock->l->entry, &old);
	list_add(&l->entry, &new);
	mock->l = l;
	swq_replace(&old, &new, &mock_replace_ops);
	list_del_init(&l->entry);
}

/*
 * Actors: threads that do one thing at a time, on CPUs other than the test's,
 * so that the test can wait for them with interrupts off.
 */

#define SPIN_NS		(20ULL * NSEC_PER_SEC)

#define spin_until(cond)						\
({									\
	u64 __end = ktime_get_mono_fast_ns() + SPIN_NS;			\
	bool __ok;							\
									\
	while (!(__ok = (cond)) && ktime_get_mono_fast_ns() < __end)	\
		cpu_relax();						\
	if (!__ok)							\
		WRITE_ONCE(mock->stuck, true);				\
	__ok;								\
})

/* What was done before a flag was set is seen by who sees the flag. */
static inline void flag_set(bool *flag, bool value)
{
	/* Pairs with flag_get(). */
	smp_store_release(flag, value);
}

static inline bool flag_get(const bool *flag)
{
	/* Pairs with flag_set(). */
	return smp_load_acquire(flag);
}

struct actor {
	struct task_struct	*task;
	void			(*fn)(void *arg);
	void			*arg;
	bool			busy;
};

static inline int actor_main(void *data)
{
	struct actor *a = data;

	while (!kthread_should_stop()) {
		if (flag_get(&a->busy)) {
			a->fn(a->arg);
			flag_set(&a->busy, false);
		}
		cond_resched();
		cpu_relax();
	}

	return 0;
}

KUNIT_DEFINE_ACTION_WRAPPER(actor_stop, kthread_stop, struct task_struct *);

static inline struct actor *actor_new(struct kunit *test, unsigned int nth)
{
	unsigned int cpu = cpumask_first(cpu_online_mask);
	struct actor *a;

	if (num_online_cpus() < nth + 2)
		kunit_skip(test, "needs %u CPUs", nth + 2);
	while (nth--)
		cpu = cpumask_next(cpu, cpu_online_mask);
	cpu = cpumask_next(cpu, cpu_online_mask);

	a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, a);
	a->task = kthread_run_on_cpu(actor_main, a, cpu, "swq_actor/%u");
	KUNIT_ASSERT_FALSE(test, IS_ERR(a->task));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, actor_stop, a->task));

	return a;
}

static inline void actor_start(struct actor *a, void (*fn)(void *arg), void *arg)
{
	a->fn = fn;
	a->arg = arg;
	flag_set(&a->busy, true);
}

static inline bool actor_wait(struct actor *a)
{
	return spin_until(!flag_get(&a->busy));
}

/* A place where a thread stops until it is let through. */
struct gate {
	bool			reached;
	bool			open;
};

static inline void gate_stop(void *arg)
{
	struct gate *g = arg;

	flag_set(&g->reached, true);
	spin_until(flag_get(&g->open));
}

/* Only tells that it was passed. */
static inline void gate_pass(void *arg)
{
	struct gate *g = arg;

	flag_set(&g->reached, true);
}

static inline bool gate_wait(struct gate *g)
{
	return spin_until(flag_get(&g->reached));
}

static inline void gate_open(struct gate *g)
{
	flag_set(&g->open, true);
}

#endif /* _SWQUEUE_MOCK_H */
