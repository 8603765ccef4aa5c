// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared wake queue: the glue to the scheduler.
 *
 * The only part that knows struct rq.  It tells the queue (swqueue.c) what
 * happens on runqueues, makes the visits that a pop obliges to, and follows
 * the topology.
 */
#include <linux/mmu_context.h>
#include <linux/sched/clock.h>
#include <trace/events/ipi.h>

#include "sched.h"
#include "smp.h"

#include "swqueue_debug.h"

DEFINE_PER_CPU_SHARED_ALIGNED(struct swq_cpu, swqueue_cpus);

DEFINE_STATIC_KEY_FALSE(swqueue_link_all);
DEFINE_STATIC_KEY_FALSE(swqueue_kicks);
DEFINE_STATIC_KEY_FALSE(swqueue_extra);

/* Visits that one look of a newly idle CPU may make. */
#define SWQUEUE_VISITS		4
/* The same for one that is about to sleep and has announced itself. */
#define SWQUEUE_LAST_VISITS	16

/*
 * Serialises what replaces layouts or changes a knob, and holds layouts still
 * for readers of the debug files.  Nests inside cpu_hotplug_lock and
 * sched_domains_mutex.
 */
DEFINE_MUTEX(swqueue_mutex);
LIST_HEAD(swqueue_layouts);
unsigned int swqueue_shards;

static bool swqueue_token_surplus(const struct swq_token *token)
{
	return swqueue_surplus(cpu_rq(token->cpu));
}

static struct swq_cpu *swqueue_cpu(int cpu)
{
	return &per_cpu(swqueue_cpus, cpu);
}

/*
 * A polling CPU leaves its loop when it sees the flag, any other one when the
 * interrupt comes, even without the flag: swqueue_idle() runs again either
 * way.  resched_cpu() would take an rq lock, and the caller may hold one.
 *
 * Where polling CPUs do not say so (no TIF_POLLING_NRFLAG, booted to poll) the
 * kick waits for the next wakeup there; see the limits in sched-swqueue.rst.
 */
static void swqueue_kick_cpu(int cpu)
{
	if (call_function_single_prep_ipi(cpu))
		smp_send_reschedule(cpu);
}

static const struct swq_ops swqueue_ops = {
	.surplus	= swqueue_token_surplus,
	.cpu		= swqueue_cpu,
	.kick		= swqueue_kick_cpu,
};

/* With interrupts off, which is what swq_replace() waits for. */
static struct swq_layout *swqueue_layout(struct swq_cpu *c)
{
	return rcu_dereference_sched(c->layout);
}

/*
 * Events
 */

/* Has it work?  While newidle has dropped the lock, curr sleeps already. */
static bool swqueue_runs(struct rq *rq, struct task_struct *curr)
{
	return curr != rq->idle && task_on_rq_queued(curr) && !curr->se.sched_delayed;
}

static unsigned int swqueue_enqueue_events(struct rq *rq, struct task_struct *p)
{
	unsigned int ev = 0;

	if (swqueue_surplus(rq))
		ev |= SWQ_EV_SURPLUS;
	if (swqueue_runs(rq, swqueue_curr(rq)))
		ev |= SWQ_EV_RUNNING;
	if (p->nr_cpus_allowed == 1 || is_migration_disabled(p))
		ev |= SWQ_EV_PINNED;

	return ev;
}

/* What swqueue_defer() has put off does not come here. */
void __swqueue_enqueued(struct rq *rq, struct task_struct *p)
{
	struct swq_cpu *self = this_cpu_ptr(&swqueue_cpus);
	struct swq_cpu *r = swqueue_cpu(cpu_of(rq));
	struct swq_layout *l = swqueue_layout(r);
	struct task_struct *curr = swqueue_curr(rq);

	lockdep_assert_rq_held(rq);

	if (!l)
		return;

	/* It takes the CPU from a fair task, which will be put back. */
	if (p->sched_class != &fair_sched_class &&
	    curr->sched_class == &fair_sched_class && swqueue_runs(rq, curr))
		return;

	if (static_branch_unlikely(&swqueue_link_all)) {
		/*
		 * Not by WF_TTWU: a wakeup that was handed to the CPU to finish
		 * has lost its flags.
		 */
		swq_wakeup_link(l, r, self);
		return;
	}

	swq_enqueued(l, r, self, swqueue_enqueue_events(rq, p));
}

void __swqueue_switch(struct rq *rq, struct task_struct *prev)
{
	struct swq_cpu *self = this_cpu_ptr(&swqueue_cpus);
	struct swq_layout *l = swqueue_layout(self);
	unsigned int ev = 0;

	lockdep_assert_rq_held(rq);

	if (!l) {
		self->deferred = false;
		return;
	}

	if (swqueue_surplus(rq))
		ev |= SWQ_EV_SURPLUS;
	if (swqueue_put_back(prev))
		ev |= SWQ_EV_PUT_BACK;
	swq_switched(l, self, ev);
}

void __swqueue_switch_extra(struct rq *rq, struct task_struct *prev)
{
	struct swq_cpu *self = this_cpu_ptr(&swqueue_cpus);
	struct swq_layout *l = swqueue_layout(self);

	/* Whatever the feature bit says: an announcement must not outlive idle. */
	if (static_branch_unlikely(&swqueue_kicks) && prev == rq->idle)
		swq_idle_exit(l, self);
	if (!sched_feat(SWQUEUE))
		return;

	if (l && static_branch_unlikely(&swqueue_link_all)) {
		self->deferred = false;
		swq_unlink_own(l, self, self, swqueue_surplus(rq));
		return;
	}
	__swqueue_switch(rq, prev);
}

void __swqueue_tick(struct rq *rq)
{
	struct swq_cpu *self = this_cpu_ptr(&swqueue_cpus);
	struct swq_layout *l = swqueue_layout(self);

	lockdep_assert_rq_held(rq);

	if (l && !static_branch_unlikely(&swqueue_link_all))
		swq_ticked(l, self, SWQ_EV_SURPLUS);
}

/*
 * Visits
 */

/*
 * Who pops a token visits its runqueue, also if work of its own came
 * meanwhile: until then nobody else can find what waits there.
 *
 * Context: interrupts off, no rq lock held.
 * Return: true if a task was moved to @dst.
 */
static bool swqueue_visit(struct swq_cpu *self, struct rq *dst,
			  const struct swq_token *t)
{
	struct swq_cpu *r = swqueue_cpu(t->cpu);
	struct rq *src = cpu_rq(t->cpu);
	struct task_struct *p = NULL;
	enum swq_visit result = SWQ_VISIT_STALE;
	struct rq_flags rf;

	rq_lock(src, &rf);
	update_rq_clock(src);
	/* Its own runqueue a CPU need not pull from, only publish again. */
	if (src != dst && swqueue_surplus(src))
		result = swqueue_detach_task(src, dst, &p);
	swq_visited(swqueue_layout(r), r, self, result);
	rq_unlock(src, &rf);

	if (p)
		swqueue_attach_task(dst, p);

	return p;
}

static bool swqueue_has_work(struct rq *rq)
{
	return READ_ONCE(rq->nr_running) || READ_ONCE(rq->ttwu_pending);
}

/* The same, of classes that are asked before sched_ext is. */
static bool swqueue_has_other_work(struct rq *rq)
{
	return READ_ONCE(rq->nr_running) > swqueue_ext_tasks(rq) ||
	       READ_ONCE(rq->ttwu_pending);
}

int __swqueue_newidle(struct rq *this_rq, struct rq_flags *rf)
{
	struct swq_cpu *self = this_cpu_ptr(&swqueue_cpus);
	struct swq_layout *l = swqueue_layout(self);
	bool unlocked = false, moved = false;
	unsigned int visits, others;
	u64 start, cost;

	lockdep_assert_rq_held(this_rq);

	if (!l || !swq_hinted(l))
		return 0;

	/* A higher class has a task that waits: it must not wait for this. */
	if (this_rq->nr_running > swqueue_ext_tasks(this_rq))
		return 0;

	start = sched_clock_cpu(cpu_of(this_rq));
	if (!swq_gate_open(&self->gate, start, this_rq->avg_idle)) {
		swq_count(self, SWQ_STAT_PULL_GATED);
		return 0;
	}

	rq_unpin_lock(this_rq, rf);
	swq_look_begin(self);
	for (visits = 0; visits < SWQUEUE_VISITS; visits++) {
		struct swq_token *t = swq_look(l, self, 0);

		if (!t)
			break;
		/* A victim's lock is only taken without our own. */
		if (!unlocked)
			raw_spin_rq_unlock(this_rq);
		unlocked = true;

		moved = swqueue_visit(self, this_rq, t);
		if (moved || swqueue_has_other_work(this_rq))
			break;
	}
	if (unlocked)
		raw_spin_rq_lock(this_rq);
	rq_repin_lock(this_rq, rf);

	cost = sched_clock_cpu(cpu_of(this_rq)) - start;
	swq_gate_account(&self->gate, start + cost, cost, moved);
	/* As newidle does: a CPU that sleeps for less should not search. */
	if (cost > this_rq->max_idle_balance_cost)
		this_rq->max_idle_balance_cost = cost;

	/* Nothing can have come while the lock was held throughout. */
	if (!unlocked)
		return 0;

	/* There were none of a higher class before, so these are new. */
	others = this_rq->nr_running - this_rq->cfs.h_nr_queued -
		 swqueue_ext_tasks(this_rq);
	if (!others && !this_rq->cfs.h_nr_queued)
		return 0;

	/* The idle time that has begun ends here, as when a balance pulls. */
	this_rq->idle_stamp = 0;
	return others ? -1 : 1;
}

/*
 * Announce, and look once more.  Not gated by cost: a publisher that did not
 * see the announcement relies on this look.
 */
void __swqueue_idle(int cpu)
{
	struct swq_cpu *self = this_cpu_ptr(&swqueue_cpus);
	struct swq_layout *l = swqueue_layout(self);
	struct rq *rq = cpu_rq(cpu);
	unsigned int visits;

	lockdep_assert_irqs_disabled();

	/*
	 * A CPU on its way out takes no more work, and one that core
	 * scheduling keeps idle beside a stranger's sibling has work already.
	 */
	if (!l || !cpu_active(cpu) || swqueue_has_work(rq) || need_resched()) {
		swq_idle_exit(l, self);
		return;
	}

	if (!swq_idle_enter(l, self))
		return;

	swq_look_begin(self);
	/*
	 * A visit that was refused leaves a mark, so that the next look finds
	 * another one.  There are few marks: where more runqueues than that
	 * have pinned work only, looks would go round.  Interrupts are off.
	 */
	for (visits = 0; visits < SWQUEUE_LAST_VISITS; visits++) {
		struct swq_token *t = swq_look(l, self, SWQ_LOOK_LAST);

		if (!t) {
			swq_idle_looked(self);
			return;
		}
		if (swqueue_visit(self, rq, t)) {
			swq_idle_looked(self);
			swqueue_idle_ends(rq);
			return;
		}
		/* A kick that led here is still owed; leaving idle passes it on. */
		if (swqueue_has_work(rq))
			return;
	}
}

/*
 * Layouts
 */

static void swqueue_sweep(int cpu)
{
	struct swq_cpu *r = swqueue_cpu(cpu);
	struct rq *rq = cpu_rq(cpu);
	struct swq_layout *l;
	struct rq_flags rf;

	rq_lock_irqsave(rq, &rf);
	l = swqueue_layout(r);
	if (l && swqueue_surplus(rq))
		swq_publish(l, r, this_cpu_ptr(&swqueue_cpus), 0);
	rq_unlock_irqrestore(rq, &rf);
}

static void swqueue_free(struct swq_layout *l)
{
	kfree_rcu(l, rcu);
}

static const struct swq_replace_ops swqueue_replace_ops = {
	.synchronize	= synchronize_rcu,
	.sweep		= swqueue_sweep,
	.free		= swqueue_free,
};

static void swqueue_replace(struct list_head *old, struct list_head *new)
{
	struct swq_layout *l;

	lockdep_assert_held(&swqueue_mutex);

	if (list_empty(old) && list_empty(new))
		return;

	list_for_each_entry(l, new, entry)
		l->kick = static_key_enabled(&swqueue_kicks);
	swq_replace(old, new, &swqueue_replace_ops);
	list_splice_tail_init(new, &swqueue_layouts);
}

/**
 * struct swqueue_llc - the CPUs of one LLC, while layouts are made
 * @nr: how many
 * @cpus: in ascending order
 * @cores: for each the first CPU of its core
 */
struct swqueue_llc {
	unsigned int		nr;
	int			*cpus;
	int			*cores;
};

static int swqueue_llc_alloc(struct swqueue_llc *llc)
{
	llc->cpus = kcalloc(nr_cpu_ids, 2 * sizeof(int), GFP_KERNEL);
	llc->cores = llc->cpus + nr_cpu_ids;

	return llc->cpus ? 0 : -ENOMEM;
}

static struct swq_layout *swqueue_layout_make(const struct swqueue_llc *llc,
					      unsigned int shards)
{
	return swq_layout_alloc(llc->cpus, llc->cores, llc->nr, shards,
				&swqueue_ops, cpu_to_node(llc->cpus[0]));
}

static void swqueue_llc_of_layout(struct swqueue_llc *llc,
				  const struct swq_layout *l)
{
	unsigned int i;

	llc->nr = l->nr_cpus;
	for (i = 0; i < l->nr_cpus; i++) {
		llc->cpus[i] = l->cpus[i];
		llc->cores[i] = swq_place_of(l, l->cpus[i])->core;
	}
}

/*
 * By the domain, not by sd_llc_id: that is a CPU number in some versions and
 * an index in others.  A domain spans CPUs that are online and in one cpuset
 * partition only.
 */
static void swqueue_llc_of_domain(struct swqueue_llc *llc,
				  struct sched_domain *sd)
{
	int cpu;

	llc->nr = 0;
	for_each_cpu(cpu, sched_domain_span(sd)) {
		llc->cpus[llc->nr] = cpu;
		llc->cores[llc->nr] = swqueue_core_of(cpu);
		llc->nr++;
	}
}

/* Same CPUs, and the same of them share cores. */
static bool swqueue_same(const struct swq_layout *l,
			 const struct swqueue_llc *llc)
{
	unsigned int i, j, nr_cores = 0;

	if (l->nr_cpus != llc->nr || l->wanted != swqueue_shards)
		return false;

	for (i = 0; i < llc->nr; i++) {
		if (l->cpus[i] != llc->cpus[i])
			return false;
		for (j = 0; llc->cores[j] != llc->cores[i]; j++)
			;
		if (swq_place_of(l, l->cpus[i])->core != swq_place_of(l, l->cpus[j])->core)
			return false;
		nr_cores += i == j;
	}

	return nr_cores == l->nr_cores;
}

/**
 * swqueue_update_domains() - follow a rebuild of the scheduling domains
 *
 * An LLC whose CPUs did not change keeps its queue.  Without memory for a new
 * one its CPUs have none, and balance as they would without this feature.
 *
 * Context: sched_domains_mutex held, may sleep.
 */
void swqueue_update_domains(void)
{
	struct swq_layout *l, *tmp;
	static bool ready;
	struct swqueue_llc llc;
	LIST_HEAD(old);
	LIST_HEAD(new);
	int cpu;

	guard(mutex)(&swqueue_mutex);

	if (!ready) {
		for_each_possible_cpu(cpu)
			swq_cpu_init(swqueue_cpu(cpu), cpu);
		ready = true;
	}

	list_splice_init(&swqueue_layouts, &old);

	if (swqueue_llc_alloc(&llc)) {
		pr_warn_once("swqueue: no memory, CPUs do without\n");
		swqueue_replace(&old, &new);
		return;
	}

	for_each_possible_cpu(cpu) {
		struct sched_domain *sd;

		/* sched_domains_mutex is held: nobody changes it. */
		sd = rcu_dereference_protected(per_cpu(sd_llc, cpu), 1);
		if (!sd || cpumask_first(sched_domain_span(sd)) != cpu)
			continue;

		swqueue_llc_of_domain(&llc, sd);
		list_for_each_entry_safe(l, tmp, &old, entry) {
			if (!swqueue_same(l, &llc))
				continue;
			list_move_tail(&l->entry, &swqueue_layouts);
			goto next;
		}

		l = swqueue_layout_make(&llc, swqueue_shards);
		if (l)
			list_add_tail(&l->entry, &new);
		else
			pr_warn_once("swqueue: no memory, CPUs do without\n");
next:
		;
	}

	swqueue_replace(&old, &new);
	kfree(llc.cpus);
}

/**
 * swqueue_set_shards() - re-shard the running system
 * @shards: shards per LLC, 0 for automatic
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if out of range, -ENOMEM: nothing was changed.
 */
int swqueue_set_shards(unsigned int shards)
{
	struct swq_layout *l, *tmp, *made;
	struct swqueue_llc llc;
	LIST_HEAD(old);
	LIST_HEAD(new);

	if (shards > SWQ_MAX_SHARDS)
		return -EINVAL;

	guard(mutex)(&swqueue_mutex);

	if (shards == swqueue_shards)
		return 0;
	if (swqueue_llc_alloc(&llc))
		return -ENOMEM;

	list_for_each_entry(l, &swqueue_layouts, entry) {
		swqueue_llc_of_layout(&llc, l);
		made = swqueue_layout_make(&llc, shards);
		if (!made)
			goto nomem;
		list_add_tail(&made->entry, &new);
	}
	kfree(llc.cpus);

	WRITE_ONCE(swqueue_shards, shards);
	list_splice_init(&swqueue_layouts, &old);
	swqueue_replace(&old, &new);

	return 0;

nomem:
	list_for_each_entry_safe(l, tmp, &new, entry) {
		list_del(&l->entry);
		swq_layout_free(l);
	}
	kfree(llc.cpus);
	return -ENOMEM;
}

/**
 * swqueue_set_link_all() - link at every wakeup instead of on surplus
 * @on: new value
 *
 * Tokens that stand linked stay correct either way: owners unlink by the shard
 * that a token remembers, lookers discard what is stale, and the tick
 * publishes what neither mode has.
 */
void swqueue_set_link_all(bool on)
{
	/* In this order: hotplug has the CPUs locked when it updates domains. */
	guard(cpus_read_lock)();
	guard(mutex)(&swqueue_mutex);

	if (on == static_key_enabled(&swqueue_link_all))
		return;
	if (on) {
		static_branch_enable_cpuslocked(&swqueue_link_all);
		static_key_slow_inc_cpuslocked(&swqueue_extra.key);
	} else {
		static_key_slow_dec_cpuslocked(&swqueue_extra.key);
		static_branch_disable_cpuslocked(&swqueue_link_all);
	}
}

/**
 * swqueue_set_kick() - switch the idle side on or off
 * @on: new value
 *
 * Off to on: the idle words have not been kept while it was off, so they are
 * set to BUSY first, and then all idle CPUs are sent round their loop to
 * announce themselves.  A kick taken before that is lost with the word, which
 * is what being off means.
 *
 * On although it is on: only the last step.  A CPU that fell asleep while the
 * feature bit was off has not announced itself, and no code of ours runs when
 * that bit is set.
 */
void swqueue_set_kick(bool on)
{
	struct swq_layout *l;
	int cpu;

	guard(cpus_read_lock)();
	guard(mutex)(&swqueue_mutex);

	if (on == static_key_enabled(&swqueue_kicks)) {
		if (on)
			wake_up_all_idle_cpus();
		return;
	}

	if (on) {
		for_each_possible_cpu(cpu)
			atomic_set(&swqueue_cpu(cpu)->idle, SWQ_BUSY);
		/* A CPU that announces itself has to pass the hook on its way out. */
		static_key_slow_inc_cpuslocked(&swqueue_extra.key);
		static_branch_enable_cpuslocked(&swqueue_kicks);
	}
	list_for_each_entry(l, &swqueue_layouts, entry)
		WRITE_ONCE(l->kick, on);
	if (on) {
		wake_up_all_idle_cpus();
	} else {
		static_branch_disable_cpuslocked(&swqueue_kicks);
		static_key_slow_dec_cpuslocked(&swqueue_extra.key);
	}
}
