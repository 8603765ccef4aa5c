/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared wake queue: access to the fair class.
 *
 * Included by fair.c behind attach_one_task().  The migration filter and the
 * moving of a task are static there, and they are used rather than written
 * again.
 */
#ifdef CONFIG_SCHED_SWQUEUE

/* Tasks of a runqueue that a visit examines, and movable ones it chooses from. */
#define SWQUEUE_LOOK_TASKS	32
#define SWQUEUE_CHOOSE_FROM	4

/*
 * Should @a rather than @b be taken?  An eligible task first, then the one
 * whose virtual deadline is nearer to the point its own queue has reached:
 * where groups have queues of their own, they have no common virtual time.
 * Keeps a CPU hog that was preempted last from being moved ahead of what has
 * waited for its turn.
 */
static bool swqueue_rather(struct task_struct *a, struct task_struct *b)
{
	struct cfs_rq *cfs_a = swqueue_cfs_rq(a);
	struct cfs_rq *cfs_b = swqueue_cfs_rq(b);
	int eligible_a = entity_eligible(cfs_a, &a->se);
	int eligible_b = entity_eligible(cfs_b, &b->se);

	if (eligible_a != eligible_b)
		return eligible_a;

	return (s64)(a->se.deadline - avg_vruntime(cfs_a)) <
	       (s64)(b->se.deadline - avg_vruntime(cfs_b));
}

/*
 * The lowest domain that has both CPUs: its flags tell what a move costs.  For a
 * reader of RCU.  Not for_each_domain(), which reads ->parent, an __rcu pointer,
 * as if it were none.
 */
static struct sched_domain *swqueue_common_domain(int src, int dst)
{
	struct sched_domain *sd = rcu_dereference(cpu_rq(dst)->sd);

	while (sd && !cpumask_test_cpu(src, sched_domain_span(sd)))
		sd = rcu_dereference(sd->parent);

	return sd;
}

/**
 * swqueue_detach_task() - take one waiting task off a runqueue
 * @src: runqueue to take it from
 * @dst: runqueue that it is for
 * @taken: set to the task, or NULL
 *
 * Among the first few tasks that can_migrate_task() lets go, in the order in
 * which the load balancer looks at them, the one that swqueue_rather() puts
 * first.
 *
 * Context: @src's lock held and its clock updated, interrupts off.
 * Return: SWQ_VISIT_MOVED with @taken set; SWQ_VISIT_NOT_NOW if a task was
 * refused for a reason that passes without an event on @src (cache-hot, NUMA,
 * a throttled group at @dst); SWQ_VISIT_UNMOVABLE else.
 */
enum swq_visit swqueue_detach_task(struct rq *src, struct rq *dst,
				   struct task_struct **taken)
{
	enum swq_visit result = SWQ_VISIT_UNMOVABLE;
	struct task_struct *p, *best = NULL;
	unsigned int looked = 0, movable = 0;
	struct lb_env env = {
		.src_rq		= src,
		.src_cpu	= cpu_of(src),
		.dst_rq		= dst,
		.dst_cpu	= cpu_of(dst),
		.idle		= CPU_NEWLY_IDLE,
	};

	lockdep_assert_rq_held(src);
	*taken = NULL;

	guard(rcu)();
	env.sd = swqueue_common_domain(env.src_cpu, env.dst_cpu);
	if (!env.sd)
		return SWQ_VISIT_NOT_NOW;

	list_for_each_entry_reverse(p, &src->cfs_tasks, se.group_node) {
		if (looked++ == SWQUEUE_LOOK_TASKS) {
			/* What was not looked at may be movable. */
			result = SWQ_VISIT_NOT_NOW;
			break;
		}
		/* Asleep but for the lag it has to work off: no work to move. */
		if (p->se.sched_delayed)
			continue;
		/* Without SMT below, can_migrate_task() does not ask for the cookie. */
		if (!sched_core_cookie_match(dst, p) ||
		    !can_migrate_task(p, &env)) {
			if (!task_on_cpu(src, p) && !kthread_is_per_cpu(p) &&
			    !swqueue_blocked(p) &&
			    cpumask_test_cpu(env.dst_cpu, p->cpus_ptr))
				result = SWQ_VISIT_NOT_NOW;
			continue;
		}
		if (!best || swqueue_rather(p, best))
			best = p;
		if (++movable == SWQUEUE_CHOOSE_FROM)
			break;
	}

	if (!best)
		return result;

	detach_task(best, &env);
	schedstat_inc(env.sd->lb_gained[env.idle]);
	*taken = best;
	return SWQ_VISIT_MOVED;
}

/**
 * swqueue_attach_task() - put a task taken by swqueue_detach_task() into place
 * @dst: runqueue that it was taken for
 * @p: the task
 *
 * Context: no rq lock held, interrupts off; takes @dst's.
 */
void swqueue_attach_task(struct rq *dst, struct task_struct *p)
{
	attach_one_task(dst, p);
}

#endif /* CONFIG_SCHED_SWQUEUE */
