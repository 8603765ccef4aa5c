/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared wake queue: a naive model, and operations on it and the queue.
 *
 * The model knows everything the queue knows, as plain arrays. Choices come from
 * a random stream (swqueue_ops_kunit.c) or from a fuzzer's input.
 */
#ifndef _SWQUEUE_MODEL_H
#define _SWQUEUE_MODEL_H

#include "swqueue_mock.h"

#define MODEL_CPUS	12

struct model_shard {
	int			list[MODEL_CPUS];
	unsigned int		nr;
	bool			hint;
	unsigned int		longest;
	unsigned long		locks;
	unsigned long		linked;
	unsigned long		popped;
	unsigned long		discarded;
};

struct model_cpu {
	int			on;
	unsigned int		seq;
	u32			surplus_at;
	bool			deferred;
	bool			owe;
	bool			announced;
	unsigned int		idle;
	unsigned int		look;
	unsigned int		kicks;
	unsigned int		oldest;
	struct swq_mark		mark[SWQ_MARKS];
	unsigned long		stat[SWQ_NR_STATS];
};

/* Everything the queue knows, without locks, bits or linked lists. */
struct model {
	struct model_shard	shard[MODEL_CPUS];
	struct model_cpu	cpu[MODEL_CPUS];
};

static struct model *model;

static unsigned int model_home(int cpu)
{
	return swq_place_of(mock->l, cpu)->shard;
}

static void model_lock(int self, unsigned int shard)
{
	model->cpu[self].stat[SWQ_STAT_LOCKS]++;
	model->shard[shard].locks++;
}

static void model_append(int cpu, unsigned int shard)
{
	struct model_shard *s = &model->shard[shard];

	s->list[s->nr++] = cpu;
	model->cpu[cpu].on = shard;
}

static int model_remove(unsigned int shard, int cpu)
{
	struct model_shard *s = &model->shard[shard];
	unsigned int i, n = 0;

	for (i = 0; i < s->nr; i++) {
		if (s->list[i] != cpu)
			s->list[n++] = s->list[i];
	}
	s->nr = n;
	model->cpu[cpu].on = -1;

	return cpu;
}

static void model_link(int cpu, int self, unsigned int shard)
{
	struct model_shard *s = &model->shard[shard];

	model_append(cpu, shard);
	model->cpu[self].stat[SWQ_STAT_LINKED]++;
	s->linked++;
	s->longest = max(s->longest, s->nr);
}

static bool model_whole_core(int cpu, const bool *announced)
{
	int i;

	for (i = 0; i < MODEL_CPUS; i++) {
		if (mock->cores[i] == mock->cores[cpu] && !announced[i])
			return false;
	}

	return true;
}

static bool model_kick(int self, int near)
{
	bool announced[MODEL_CPUS];
	int whole, cpu;

	for (cpu = 0; cpu < MODEL_CPUS; cpu++)
		announced[cpu] = model->cpu[cpu].announced;
	for (whole = 1; whole >= 0; whole--) {
		for (cpu = 0; cpu < MODEL_CPUS; cpu++) {
			struct model_cpu *c = &model->cpu[cpu];

			if (cpu == near || !announced[cpu] ||
			    model_whole_core(cpu, announced) != whole)
				continue;
			c->announced = false;
			if (c->idle != SWQ_IDLE)
				continue;
			c->idle = SWQ_KICKED;
			c->kicks++;
			model->cpu[self].stat[SWQ_STAT_KICKED]++;
			return true;
		}
	}

	return false;
}

static void model_publish(int cpu, int self, bool quiet)
{
	model->cpu[cpu].surplus_at = mock->clock;
	if (model->cpu[cpu].on >= 0) {
		model->cpu[self].stat[SWQ_STAT_SKIPPED_LINKED]++;
	} else {
		model_lock(self, model_home(cpu));
		model_link(cpu, self, model_home(cpu));
		model->shard[model_home(cpu)].hint = true;
	}
	if (mock->kick && !quiet)
		model_kick(self, cpu);
}

static void model_enqueued(int cpu, int self, unsigned int ev)
{
	struct model_cpu *c = &model->cpu[cpu];

	if (!(ev & SWQ_EV_SURPLUS))
		return;
	if ((ev & MOCK_EV_SYNC) && !c->deferred) {
		c->deferred = true;
		model->cpu[self].stat[SWQ_STAT_DEFERRED]++;
		return;
	}
	if ((ev & SWQ_EV_PINNED) && (ev & SWQ_EV_RUNNING))
		return;
	c->seq++;
	c->deferred = false;
	model_publish(cpu, self, false);
}

static void model_switched(int cpu, unsigned int ev)
{
	struct model_cpu *c = &model->cpu[cpu];
	bool due = c->deferred;

	c->deferred = false;
	if (!(ev & SWQ_EV_SURPLUS))
		return;
	if ((ev & SWQ_EV_PUT_BACK) || due) {
		c->seq++;
		model_publish(cpu, cpu, false);
	}
}

static void model_ticked(int cpu)
{
	struct model_cpu *c = &model->cpu[cpu];
	bool due = c->deferred;

	c->deferred = false;
	/* With the idle side the tick is also the retry of what was refused. */
	if (due || mock->kick || c->on < 0) {
		c->seq++;
		model_publish(cpu, cpu, false);
	} else {
		c->surplus_at = mock->clock;
	}
}

static void model_unlink(int cpu, bool again)
{
	int shard = model->cpu[cpu].on;

	if (shard < 0)
		return;
	model_lock(cpu, shard);
	model_remove(shard, cpu);
	model->cpu[cpu].stat[SWQ_STAT_UNLINKED]++;
	if (again)
		model_link(cpu, cpu, shard);
	else if (!model->shard[shard].nr)
		model->shard[shard].hint = false;
}

static void model_wakeup_link(int cpu, int self)
{
	model_lock(self, model_home(cpu));
	if (model->cpu[cpu].on < 0) {
		model_link(cpu, self, model_home(cpu));
		model->shard[model_home(cpu)].hint = true;
	}
}

static bool model_marked(int self, int cpu)
{
	const struct model_cpu *c = &model->cpu[self];
	unsigned int i;

	for (i = 0; i < SWQ_MARKS; i++) {
		if (c->mark[i].cpu == cpu && c->mark[i].seq == model->cpu[cpu].seq &&
		    (!c->mark[i].look || c->mark[i].look == c->look) &&
		    mock->clock - c->mark[i].at < SWQ_STALE_JIFFIES)
			return true;
	}

	return false;
}

/* Stale, but not for long enough. */
static bool model_stays(int cpu, u32 patience)
{
	return mock->clock - model->cpu[cpu].surplus_at < patience;
}

/* A few, all of them stale, and none for long enough. */
static bool model_all_stay(const struct model_shard *s)
{
	bool stay = s->nr && s->nr <= SWQ_LOOKAHEAD;
	unsigned int i;

	for (i = 0; i < s->nr; i++)
		stay &= !mock_has_surplus(&mock->rq[s->list[i]]) &&
			model_stays(s->list[i], SWQ_STALE_JIFFIES);

	return stay;
}

static int model_look_shard(int self, unsigned int shard, bool last)
{
	struct model_shard *s = &model->shard[shard];
	unsigned int left = s->nr, n;
	u32 patience;
	int cpu, popped = -1;

	if (!last && model_all_stay(s))
		return -1;

	do {
		model_lock(self, shard);
		n = min_t(unsigned int, left, SWQ_LOOKAHEAD);
		left -= n;
		patience = s->nr <= SWQ_LOOKAHEAD ? SWQ_STALE_JIFFIES : 0;
		while (n-- && popped < 0) {
			cpu = model_remove(shard, s->list[0]);
			if (!mock_has_surplus(&mock->rq[cpu])) {
				if (model_stays(cpu, patience)) {
					model_append(cpu, shard);
					continue;
				}
				model->cpu[self].stat[SWQ_STAT_DISCARDED]++;
				s->discarded++;
			} else if (cpu == self || model_marked(self, cpu)) {
				model_append(cpu, shard);
			} else {
				model->cpu[self].stat[SWQ_STAT_POPPED]++;
				s->popped++;
				popped = cpu;
			}
		}
		if (!s->nr)
			s->hint = false;
	} while (popped < 0 && left && last);

	return popped;
}

static int model_look(int self, bool last)
{
	unsigned int i, shard, nr = mock->l->nr_shards;
	bool tried = false;
	int cpu;

	for (i = 0; i < nr; i++) {
		shard = (model_home(self) + i) % nr;
		if (!model->shard[shard].hint)
			continue;
		if (!tried)
			model->cpu[self].stat[SWQ_STAT_PULL_TRIES]++;
		tried = true;
		cpu = model_look_shard(self, shard, last);
		if (cpu >= 0)
			return cpu;
	}
	if (tried)
		model->cpu[self].stat[SWQ_STAT_PULL_EMPTY]++;

	return -1;
}

static void model_visited(int cpu, int self, enum swq_visit result)
{
	struct model_cpu *c = &model->cpu[self];
	bool refused = result == SWQ_VISIT_UNMOVABLE || result == SWQ_VISIT_NOT_NOW;

	if (refused) {
		c->mark[c->oldest] = (struct swq_mark) {
			cpu, model->cpu[cpu].seq,
			result == SWQ_VISIT_NOT_NOW ? c->look : 0, mock->clock
		};
		c->oldest = (c->oldest + 1) % SWQ_MARKS;
		c->stat[SWQ_STAT_PULL_UNMOVABLE]++;
	} else {
		c->stat[result == SWQ_VISIT_MOVED ? SWQ_STAT_PULL_MOVED : SWQ_STAT_PULL_STALE]++;
	}
	if (mock_has_surplus(&mock->rq[cpu]))
		model_publish(cpu, self, refused);
}

static bool model_idle_enter(int self)
{
	struct model_cpu *c = &model->cpu[self];

	if (c->idle == SWQ_IDLE)
		return false;
	if (c->idle == SWQ_KICKED)
		c->owe = true;
	c->idle = SWQ_IDLE;
	c->announced = true;

	return true;
}

static void model_idle_exit(int self)
{
	struct model_cpu *c = &model->cpu[self];
	bool owes = c->idle == SWQ_KICKED || c->owe;

	c->idle = SWQ_BUSY;
	c->owe = false;
	if (owes && model_kick(self, self))
		c->stat[SWQ_STAT_KICK_PASSED]++;
}

/* What is different, or NULL. */
static const char *model_compare(void)
{
	const struct swq_layout *l = mock->l;
	unsigned int i, n;

	for (i = 0; i < l->nr_shards; i++) {
		const struct model_shard *m = &model->shard[i];
		const struct swq_shard *s = &l->shards[i];
		const struct swq_token *t;

		n = 0;
		list_for_each_entry(t, &s->tokens, node) {
			if (n >= m->nr || m->list[n++] != t->cpu)
				return "order of a shard";
		}
		if (n != m->nr || s->nr != n)
			return "length of a shard";
		if (s->nr_named != (m->nr <= SWQ_LOOKAHEAD ? m->nr : 0))
			return "number of names";
		for (n = 0; n < s->nr_named; n++) {
			if (model->cpu[s->named[n]].on != (int)i)
				return "names";
		}
		if (mock_hinted(s) != m->hint)
			return "hint";
		if (s->longest != m->longest || s->nr_locks != m->locks || s->nr_contended ||
		    s->nr_linked != m->linked || s->nr_popped != m->popped ||
		    s->nr_discarded != m->discarded || s->missed)
			return "statistics of a shard";
	}
	for (i = 0; i < MODEL_CPUS; i++) {
		const struct model_cpu *m = &model->cpu[i];
		const struct swq_cpu *c = mock_cpu(i);
		bool linked = m->on >= 0;

		if (mock_linked(i) != linked)
			return "state of a token";
		if (linked && c->token.shard != &l->shards[m->on])
			return "remembered shard";
		if (c->seq != m->seq || c->surplus_at != m->surplus_at)
			return "seq or time of surplus";
		if (c->deferred != m->deferred || c->owe != m->owe)
			return "deferred or owe";
		if (mock_idle_state(i) != m->idle || mock_announced(i) != m->announced)
			return "idle word or announcement";
		if (mock->rq[i].kicks != m->kicks)
			return "kicks";
		for (n = 0; n < SWQ_NR_STATS; n++) {
			if (c->stat[n] != m->stat[n])
				return swq_stat_names[n];
		}
	}

	return NULL;
}

static void model_sync(void *arg)
{
	int cpu;

	/* Nothing runs between here and the drain: all are off now. */
	memset(model->shard, 0, sizeof(model->shard));
	for (cpu = 0; cpu < MODEL_CPUS; cpu++) {
		model->cpu[cpu].on = -1;
		model->cpu[cpu].announced = true;
	}
}

/* Instead of mock_sweep(): on behalf of CPU 0, and in the model as well. */
static void model_sweep(int cpu)
{
	unsigned long flags;

	local_irq_save(flags);
	mock_lock(cpu);
	if (mock_has_surplus(&mock->rq[cpu])) {
		swq_publish(mock->l, mock_cpu(cpu), mock_cpu(0), 0);
		model_publish(cpu, 0, false);
	}
	mock_unlock(cpu);
	local_irq_restore(flags);
}

static const struct swq_replace_ops model_replace_ops = {
	.synchronize	= mock_synchronize,
	.sweep		= model_sweep,
	.free		= swq_layout_free,
};

static bool model_reshard(unsigned int wanted)
{
	struct swq_layout *l = mock_layout(wanted);
	LIST_HEAD(old);
	LIST_HEAD(new);

	if (!l)
		return false;
	list_add(&mock->l->entry, &old);
	list_add(&l->entry, &new);
	mock->l = l;
	swq_replace(&old, &new, &model_replace_ops);
	list_del_init(&l->entry);

	return true;
}

/* The queue of mock->l was just made, and nothing happened yet. */
static void model_init(void)
{
	unsigned int i, j;

	for (i = 0; i < MODEL_CPUS; i++) {
		model->cpu[i].on = -1;
		for (j = 0; j < SWQ_MARKS; j++)
			model->cpu[i].mark[j].cpu = -1;
	}
}

/* Below n, from whatever makes the choices. */
typedef u32 (*model_choice)(void *from, u32 n);

/* One operation on both, by the choices that are made for it; what it was. */
static const char *model_step(model_choice below, void *from)
{
	int cpu = below(from, MODEL_CPUS), self = below(from, MODEL_CPUS);
	struct mock_rq *rq = &mock->rq[cpu];
	struct swq_cpu *r = &rq->c, *c = mock_cpu(self);
	enum swq_visit result = below(from, 4);
	unsigned int ev, how = below(from, 2) ? SWQ_LOOK_LAST : 0;
	struct swq_token *t;
	int want;

	/* The counts change unseen: what is linked may be stale or not. */
	if (!below(from, 4))
		WRITE_ONCE(rq->nr, below(from, 4));
	ev = mock_has_surplus(rq) ? SWQ_EV_SURPLUS : 0;

	switch (below(from, 13)) {
	case 0:
	case 1:
		ev |= below(from, 4) * SWQ_EV_PINNED;
		if (cpu == self && below(from, 2))
			ev |= MOCK_EV_SYNC;
		mock_lock(cpu);
		mock_enqueued(mock->l, r, c, ev);
		mock_unlock(cpu);
		model_enqueued(cpu, self, ev);
		return "enqueued";
	case 2:
		ev |= below(from, 2) ? SWQ_EV_PUT_BACK : 0;
		mock_lock(cpu);
		swq_switched(mock->l, r, ev);
		mock_unlock(cpu);
		model_switched(cpu, ev);
		return "switched";
	case 3:
		mock_lock(cpu);
		swq_ticked(mock->l, r, ev);
		mock_unlock(cpu);
		if (ev)
			model_ticked(cpu);
		else
			model->cpu[cpu].deferred = false;
		return "ticked";
	case 4:
		if (below(from, 4))
			return "nothing";
		mock_lock(cpu);
		swq_unlink_own(mock->l, r, r, false);
		mock_unlock(cpu);
		model_unlink(cpu, false);
		return "unlinked by its owner";
	case 5:
		if (below(from, 4))
			return "nothing";
		mock_lock(cpu);
		swq_wakeup_link(mock->l, r, c);
		mock_unlock(cpu);
		model_wakeup_link(cpu, self);
		return "linked at a wakeup";
	case 6:
		if (below(from, 4))
			return "nothing";
		mock_lock(cpu);
		swq_unlink_own(mock->l, r, r, ev);
		mock_unlock(cpu);
		model_unlink(cpu, ev);
		return "unlinked at a pick";
	case 7:
		if (model_idle_enter(self) != swq_idle_enter(mock->l, c))
			return "going idle: other answer";
		return "going idle";
	case 8:
		swq_idle_looked(c);
		model->cpu[self].owe = false;
		return "looked";
	case 9:
		swq_idle_exit(mock->l, c);
		model_idle_exit(self);
		return "left idle";
	default:
		if (!below(from, 4)) {
			mock->clock += below(from, SWQ_STALE_JIFFIES);
			swq_look_begin(c);
			model->cpu[self].look++;
		}
		t = swq_look(mock->l, c, how);
		want = model_look(self, how);
		if ((t ? t->cpu : -1) != want)
			return "look: other token";
		if (!t)
			return "look";
		rq = &mock->rq[t->cpu];
		mock_lock(t->cpu);
		if (!mock_has_surplus(rq))
			result = SWQ_VISIT_STALE;
		if (result == SWQ_VISIT_MOVED)
			WRITE_ONCE(rq->nr, rq->nr - 1);
		swq_visited(mock->l, &rq->c, c, result);
		mock_unlock(t->cpu);
		model_visited(t->cpu, self, result);
		return "look and visit";
	}
}

#endif /* _SWQUEUE_MODEL_H */
