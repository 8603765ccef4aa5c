// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared wake queue: knobs and statistics.
 *
 * debugfs sched/swqueue/ and sysctl kernel.sched_swqueue_shards.  The format of
 * each file is in Documentation/ABI/testing/debugfs-sched-swqueue.
 *
 * What shows or changes layouts works under swqueue_mutex, so they stand still
 * while they are read.  A bad value is refused before anything is changed.
 */
#include <linux/debugfs.h>
#include <linux/mmu_context.h>
#include <linux/seq_file.h>
#include <linux/sysctl.h>
#include <linux/uaccess.h>

#include "sched.h"

#include "swqueue_debug.h"

#define SWQUEUE_WORD_LEN	16

/* A knob takes one value per write, from the start of the file. */
static int swqueue_uint_from_user(const char __user *ubuf, size_t cnt,
				  loff_t *ppos, unsigned int *val)
{
	/* Of a longer text kstrtouint_from_user() would read the beginning. */
	if (*ppos || cnt >= SWQUEUE_WORD_LEN)
		return -EINVAL;

	return kstrtouint_from_user(ubuf, cnt, 10, val);
}

#define SWQUEUE_FOPS(name)						\
static int swqueue_##name##_open(struct inode *inode, struct file *file)	\
{									\
	return single_open(file, swqueue_##name##_show, inode->i_private); \
}									\
									\
static const struct file_operations swqueue_##name##_fops = {		\
	.owner		= THIS_MODULE,					\
	.open		= swqueue_##name##_open,			\
	.read		= seq_read,					\
	.write		= swqueue_##name##_write,			\
	.llseek		= seq_lseek,					\
	.release	= single_release,				\
}

static int swqueue_shards_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%u\n", READ_ONCE(swqueue_shards));
	return 0;
}

static ssize_t swqueue_shards_write(struct file *file, const char __user *ubuf,
				    size_t cnt, loff_t *ppos)
{
	unsigned int val;
	int ret;

	ret = swqueue_uint_from_user(ubuf, cnt, ppos, &val);
	if (!ret)
		ret = swqueue_set_shards(val);
	if (ret)
		return ret;

	*ppos += cnt;
	return cnt;
}

SWQUEUE_FOPS(shards);

static const char *const swqueue_publish_names[] = { "surplus", "wakeup" };

static int swqueue_publish_show(struct seq_file *m, void *v)
{
	bool all = static_key_enabled(&swqueue_link_all);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(swqueue_publish_names); i++)
		seq_printf(m, i == all ? "%s[%s]" : "%s%s", i ? " " : "",
			   swqueue_publish_names[i]);
	seq_putc(m, '\n');
	return 0;
}

static ssize_t swqueue_publish_write(struct file *file, const char __user *ubuf,
				     size_t cnt, loff_t *ppos)
{
	char word[SWQUEUE_WORD_LEN];
	int which;

	if (*ppos || !cnt || cnt >= sizeof(word))
		return -EINVAL;
	if (copy_from_user(word, ubuf, cnt))
		return -EFAULT;
	word[cnt] = '\0';

	which = sysfs_match_string(swqueue_publish_names, word);
	if (which < 0)
		return which;
	swqueue_set_link_all(which);

	*ppos += cnt;
	return cnt;
}

SWQUEUE_FOPS(publish);

static int swqueue_kick_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d\n", static_key_enabled(&swqueue_kicks));
	return 0;
}

static ssize_t swqueue_kick_write(struct file *file, const char __user *ubuf,
				  size_t cnt, loff_t *ppos)
{
	unsigned int val;
	int ret;

	ret = swqueue_uint_from_user(ubuf, cnt, ppos, &val);
	if (ret)
		return ret;
	if (val > 1)
		return -EINVAL;
	swqueue_set_kick(val);

	*ppos += cnt;
	return cnt;
}

SWQUEUE_FOPS(kick);

static const struct swq_layout *swqueue_layout_of(int cpu)
{
	return rcu_dereference_protected(per_cpu(swqueue_cpus, cpu).layout,
					 lockdep_is_held(&swqueue_mutex));
}

static int swqueue_layout_show(struct seq_file *m, void *v)
{
	int cpu;

	guard(mutex)(&swqueue_mutex);

	for_each_possible_cpu(cpu) {
		const struct swq_layout *l = swqueue_layout_of(cpu);
		const struct swq_place *p = l ? swq_place_of(l, cpu) : NULL;

		if (p)
			seq_printf(m, "cpu %d llc %d shard %u core %u\n",
				   cpu, l->llc, p->shard, p->core);
		else
			seq_printf(m, "cpu %d none\n", cpu);
	}

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(swqueue_layout);

static void swqueue_shard_cpus(struct seq_file *m, const struct swq_layout *l,
			       unsigned int shard, struct cpumask *mask)
{
	unsigned int i;

	cpumask_clear(mask);
	for (i = 0; i < l->nr_cpus; i++) {
		if (swq_place_of(l, l->cpus[i])->shard == shard)
			cpumask_set_cpu(l->cpus[i], mask);
	}
	seq_printf(m, "%*pbl", cpumask_pr_args(mask));
}

static unsigned long swqueue_sum(enum swq_stat which)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		const unsigned long *stat = per_cpu(swqueue_cpus, cpu).stat;

		sum += READ_ONCE(stat[which]);
		/* An enqueue that was put off is counted in one place only. */
		if (which == SWQ_STAT_ENQUEUED)
			sum += READ_ONCE(stat[SWQ_STAT_DEFERRED]);
	}

	return sum;
}

static int swqueue_stats_show(struct seq_file *m, void *v)
{
	unsigned int longest = 0, length = 0, i;
	const struct swq_layout *l;
	cpumask_var_t mask;

	if (!alloc_cpumask_var(&mask, GFP_KERNEL))
		return -ENOMEM;

	mutex_lock(&swqueue_mutex);

	for (i = 0; i < SWQ_NR_STATS; i++)
		seq_printf(m, "%s %lu\n", swq_stat_names[i], swqueue_sum(i));

	list_for_each_entry(l, &swqueue_layouts, entry) {
		for (i = 0; i < l->nr_shards; i++) {
			longest = max(longest, READ_ONCE(l->shards[i].longest));
			length += READ_ONCE(l->shards[i].nr);
		}
	}
	seq_printf(m, "longest %u\nlength %u\n", longest, length);

	list_for_each_entry(l, &swqueue_layouts, entry) {
		for (i = 0; i < l->nr_shards; i++) {
			const struct swq_shard *s = &l->shards[i];

			seq_printf(m, "shard %d/%u cpus ", l->llc, s->id);
			swqueue_shard_cpus(m, l, i, mask);
			seq_printf(m, " length %u longest %u locks %lu contended %lu linked %lu popped %lu discarded %lu\n",
				   READ_ONCE(s->nr), READ_ONCE(s->longest),
				   READ_ONCE(s->nr_locks),
				   READ_ONCE(s->nr_contended),
				   READ_ONCE(s->nr_linked),
				   READ_ONCE(s->nr_popped),
				   READ_ONCE(s->nr_discarded));
		}
	}

	mutex_unlock(&swqueue_mutex);
	free_cpumask_var(mask);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(swqueue_stats);

/*
 * Not atomic against the CPUs that count: an increment that is under way may
 * bring an old value back.  Counters that are to be compared are better read
 * twice and subtracted.
 */
static ssize_t swqueue_reset_write(struct file *file, const char __user *ubuf,
				   size_t cnt, loff_t *ppos)
{
	struct swq_layout *l;
	unsigned int val, i;
	int ret, cpu;

	ret = swqueue_uint_from_user(ubuf, cnt, ppos, &val);
	if (ret)
		return ret;
	if (val != 1)
		return -EINVAL;

	guard(mutex)(&swqueue_mutex);

	for_each_possible_cpu(cpu) {
		for (i = 0; i < SWQ_NR_STATS; i++)
			WRITE_ONCE(per_cpu(swqueue_cpus, cpu).stat[i], 0);
	}

	list_for_each_entry(l, &swqueue_layouts, entry) {
		for (i = 0; i < l->nr_shards; i++) {
			guard(irq)();
			swq_shard_reset(l, &l->shards[i],
					this_cpu_ptr(&swqueue_cpus));
		}
	}

	*ppos += cnt;
	return cnt;
}

static const struct file_operations swqueue_reset_fops = {
	.owner		= THIS_MODULE,
	.open		= nonseekable_open,
	.write		= swqueue_reset_write,
};

static int swqueue_shards_sysctl(const struct ctl_table *table, int write,
				 void *buffer, size_t *lenp, loff_t *ppos)
{
	unsigned int val = READ_ONCE(swqueue_shards);
	unsigned int most = SWQ_MAX_SHARDS;
	const struct ctl_table ours = {
		.procname	= table->procname,
		.data		= &val,
		.maxlen		= table->maxlen,
		.mode		= table->mode,
		.extra1		= SYSCTL_ZERO,
		.extra2		= &most,
	};
	int ret;

	ret = proc_douintvec_minmax(&ours, write, buffer, lenp, ppos);
	if (ret || !write)
		return ret;

	return swqueue_set_shards(val);
}

static SWQUEUE_TABLE_CONST struct ctl_table swqueue_sysctls[] = {
	{
		.procname	= "sched_swqueue_shards",
		.maxlen		= sizeof(unsigned int),
		.mode		= 0644,
		.proc_handler	= swqueue_shards_sysctl,
	},
};

/* After sched_init_debug(), which makes the directory that ours is in. */
static int __init swqueue_init_debug(void)
{
	struct dentry *sched, *dir;

	register_sysctl_init("kernel", swqueue_sysctls);

	/* Before 6.15 a kernel without SCHED_DEBUG has none. */
	sched = debugfs_lookup("sched", NULL);
	dir = debugfs_create_dir("swqueue",
				 sched ?: debugfs_create_dir("sched", NULL));
	dput(sched);

	debugfs_create_file("shards", 0644, dir, NULL, &swqueue_shards_fops);
	debugfs_create_file("publish", 0644, dir, NULL, &swqueue_publish_fops);
	debugfs_create_file("kick", 0644, dir, NULL, &swqueue_kick_fops);
	debugfs_create_file("layout", 0444, dir, NULL, &swqueue_layout_fops);
	debugfs_create_file("stats", 0444, dir, NULL, &swqueue_stats_fops);
	debugfs_create_file("reset", 0200, dir, NULL, &swqueue_reset_fops);

	return 0;
}
late_initcall_sync(swqueue_init_debug);
