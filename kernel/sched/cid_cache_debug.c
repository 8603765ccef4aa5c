// SPDX-License-Identifier: GPL-2.0-only
/*
 * CID cache: knobs and statistics.
 *
 * debugfs sched/cid_cache/.  The format of each file is in
 * Documentation/ABI/testing/debugfs-sched-cid-cache.
 *
 * Nothing here stops the scheduler: the counters are read and reset while CPUs
 * count, and a change of keep_ms is one store.  cid_keep_mutex keeps its writers
 * apart, as what is shown is another variable.  A bad value is refused before
 * anything is changed.
 */
#include <linux/debugfs.h>
#include <linux/jiffies.h>
#include <linux/mmu_context.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "sched.h"

/* The largest value of keep_ms, which means for ever. */
#define CID_KEEP_MS_MAX		(3600 * MSEC_PER_SEC)

/* More than any number or pid takes. */
#define CID_WORD_LEN		16

static DEFINE_MUTEX(cid_keep_mutex);

/* Written under cid_keep_mutex; read without. */
static unsigned int cid_keep_ms = CID_KEEP_MS_DEFAULT;
static pid_t cid_process_pid;

/* In the order of struct cid_stats. */
static const char *const cid_stat_names[] = {
	"hand_over",
	"single",
	"hit",
	"last_id",
	"own_id",
	"free_id",
	"stolen",
	"compacted",
	"slow",
	"slow_again",
	"exceeded",
	"gate_waits",
	"lost_claims",
	"lost_resumes",
	"bound_drops",
	"materialised",
	"evicted",
	"probes_1",
	"probes_2",
	"probes_3_4",
	"probes_5_8",
	"probes_9_16",
	"probes_17_32",
	"probes_33_64",
	"probes_65_128",
	"probes_129_up",
};

static_assert(sizeof(struct cid_stats) == ARRAY_SIZE(cid_stat_names) * sizeof(u64));

/* A knob takes one value per write, from the start of the file. */
static int cid_uint_from_user(const char __user *ubuf, size_t cnt, loff_t *ppos,
			      unsigned int *val)
{
	/* Of a longer text kstrtouint_from_user() would read the beginning. */
	if (*ppos || cnt >= CID_WORD_LEN)
		return -EINVAL;

	return kstrtouint_from_user(ubuf, cnt, 10, val);
}

#define CID_FOPS(name)							\
static int cid_##name##_open(struct inode *inode, struct file *file)	\
{									\
	return single_open(file, cid_##name##_show, inode->i_private);	\
}									\
									\
static const struct file_operations cid_##name##_fops = {		\
	.owner		= THIS_MODULE,					\
	.open		= cid_##name##_open,				\
	.read		= seq_read,					\
	.write		= cid_##name##_write,				\
	.llseek		= seq_lseek,					\
	.release	= single_release,				\
}

static int cid_keep_ms_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%u\n", READ_ONCE(cid_keep_ms));
	return 0;
}

static ssize_t cid_keep_ms_write(struct file *file, const char __user *ubuf,
				 size_t cnt, loff_t *ppos)
{
	unsigned int val;
	int ret;

	ret = cid_uint_from_user(ubuf, cnt, ppos, &val);
	if (ret)
		return ret;
	if (val > CID_KEEP_MS_MAX)
		return -EINVAL;

	guard(mutex)(&cid_keep_mutex);

	WRITE_ONCE(cid_keep_ms, val);
	/* Rounded up to a jiffy, so only 0 packs. */
	WRITE_ONCE(cid_cache_env.keep, val == CID_KEEP_MS_MAX ?
		   CID_KEEP_FOREVER : msecs_to_jiffies(val));

	*ppos += cnt;
	return cnt;
}

CID_FOPS(keep_ms);

static int cid_stats_show(struct seq_file *m, void *v)
{
	struct cid_stats sum = { };
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu)
		cid_stats_add(&sum, &per_cpu(cid_caches, cpu).stats);

	for (i = 0; i < ARRAY_SIZE(cid_stat_names); i++)
		seq_printf(m, "%s %llu\n", cid_stat_names[i], ((u64 *)&sum)[i]);

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(cid_stats);

/*
 * Not atomic against the CPUs that count: an increment that is under way may
 * bring an old value back.  Counters that are to be compared are better read
 * twice and subtracted.
 */
static ssize_t cid_reset_write(struct file *file, const char __user *ubuf,
			       size_t cnt, loff_t *ppos)
{
	unsigned int val, i;
	int ret, cpu;

	ret = cid_uint_from_user(ubuf, cnt, ppos, &val);
	if (ret)
		return ret;
	if (val != 1)
		return -EINVAL;

	for_each_possible_cpu(cpu) {
		u64 *counter = (u64 *)&per_cpu(cid_caches, cpu).stats;

		for (i = 0; i < ARRAY_SIZE(cid_stat_names); i++)
			WRITE_ONCE(counter[i], 0);
	}

	*ppos += cnt;
	return cnt;
}

static const struct file_operations cid_reset_fops = {
	.owner	= THIS_MODULE,
	.open	= nonseekable_open,
	.write	= cid_reset_write,
};

/*
 * The mm of a process by its pid in the reader's namespace, with a reference, or
 * an error.  Kernel threads and what has exited have none.
 */
static struct mm_struct *cid_process_mm(pid_t pid)
{
	struct task_struct *t = find_get_task_by_vpid(pid);
	struct mm_struct *mm;

	if (!t)
		return ERR_PTR(-ESRCH);
	mm = get_task_mm(t);
	put_task_struct(t);

	return mm ?: ERR_PTR(-ESRCH);
}

static int cid_process_show(struct seq_file *m, void *v)
{
	pid_t pid = READ_ONCE(cid_process_pid);
	struct mm_struct *mm;

	/* Nothing was written yet. */
	if (!pid)
		return 0;

	mm = cid_process_mm(pid);
	if (IS_ERR(mm))
		return PTR_ERR(mm);
	seq_printf(m, "pid %d users %d allowed %u running %d held %d\n", pid,
		   atomic_read(&mm->cid_cache.users),
		   READ_ONCE(mm->cid_cache.nr_allowed),
		   cid_highest(&cid_cache_env, &mm->cid_cache, true),
		   cid_highest(&cid_cache_env, &mm->cid_cache, false));
	mmput(mm);

	return 0;
}

static ssize_t cid_process_write(struct file *file, const char __user *ubuf,
				 size_t cnt, loff_t *ppos)
{
	struct mm_struct *mm;
	unsigned int val;
	int ret;

	ret = cid_uint_from_user(ubuf, cnt, ppos, &val);
	if (ret)
		return ret;
	if (!val || val > INT_MAX)
		return -EINVAL;
	mm = cid_process_mm(val);
	if (IS_ERR(mm))
		return PTR_ERR(mm);
	mmput(mm);

	WRITE_ONCE(cid_process_pid, val);

	*ppos += cnt;
	return cnt;
}

CID_FOPS(process);

/* After sched_init_debug(), which makes the directory that ours is in. */
static int __init cid_cache_init_debug(void)
{
	struct dentry *sched, *dir;

	if (!cid_cache_enabled())
		return 0;

	/* Before 6.15 a kernel without SCHED_DEBUG has none. */
	sched = debugfs_lookup("sched", NULL);
	dir = debugfs_create_dir("cid_cache",
				 sched ?: debugfs_create_dir("sched", NULL));
	dput(sched);

	debugfs_create_file("keep_ms", 0644, dir, NULL, &cid_keep_ms_fops);
	debugfs_create_file("stats", 0444, dir, NULL, &cid_stats_fops);
	debugfs_create_file("reset", 0200, dir, NULL, &cid_reset_fops);
	debugfs_create_file("process", 0644, dir, NULL, &cid_process_fops);

	return 0;
}
late_initcall_sync(cid_cache_init_debug);
