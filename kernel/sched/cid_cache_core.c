// SPDX-License-Identifier: GPL-2.0-only
/*
 * CID cache: between the structure (cid_cache.c) and the kernel.
 *
 * Here are the per-CPU caches, the memory of an mm, the places where tasks come
 * and go, and the knobs.  The hooks are listed in cid_cache_hooks.h and
 * linux/cid_cache.h.
 *
 * Lifetime: the owner array belongs to the mm_struct and is freed with it.  A
 * CPU looks at it while it switches to a task of the mm, that is, while the
 * task holds the mm.  cid_cache_allow() reads another task's mm under that
 * task's runqueue lock, or under its pi_lock while it sleeps: exit_mm() leaves
 * the task a lazy reference that only a switch can drop, and exec_mmap() passes
 * through the runqueue lock in cid_cache_exec_mmap() before it lets go of the
 * old mm.
 */
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/kstrtox.h>
#include <linux/mmu_context.h>
#include <linux/pid.h>
#include <linux/rseq.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "sched.h"

/* How long a parked id stays its CPU's; more is "for ever". */
#define CID_KEEP_MS_DEFAULT	20
#define CID_KEEP_MS_MAX		(3600 * 1000)

DEFINE_STATIC_KEY_TRUE(cid_cache_key);
DEFINE_PER_CPU_ALIGNED(struct cid_cache, cid_caches);

struct cid_env cid_cache_env __read_mostly;

static atomic64_t cid_gen_pool = ATOMIC64_INIT(1);
static DEFINE_PER_CPU(struct cid_gen_batch, cid_gen_batches);
static unsigned int cid_keep_ms = CID_KEEP_MS_DEFAULT;

/* ---- an mm ---- */

/* Behind cpu_bitmap and the kernel's own mask of ids. */
static unsigned long *cid_allowed(struct mm_struct *mm)
{
	return (unsigned long *)((char *)mm_cidmask(mm) + cpumask_size());
}

/* What an mm_struct needs behind it, besides the kernel's own two masks. */
unsigned int cid_cache_mm_size(void)
{
	return cid_cache_enabled() ? cpumask_size() : 0;
}

/* A new mm, zeroed or a copy of the parent's: nothing in it is its own yet. */
bool cid_cache_mm_alloc(struct mm_struct *mm)
{
	if (!cid_cache_enabled())
		return false;
	mm->pcpu_cid = NULL;
	memset(cid_allowed(mm), 0, cpumask_size());
	cid_mm_init(&mm->cid_cache, cid_allowed(mm));
	return true;
}

/* In exec_mmap() there is nothing to initialise again, see below. */
bool cid_cache_mm_init(struct mm_struct *mm)
{
	return cid_cache_enabled();
}

void cid_cache_mm_destroy(struct mm_struct *mm)
{
	if (!cid_cache_enabled())
		return;
	kfree(mm->cid_cache.owner);
	mm->cid_cache.owner = NULL;
}

/* ---- tasks ---- */

/* Kernel threads and workers never return to user mode and need no id. */
static bool cid_is_user(const struct task_struct *t)
{
	return !(t->flags & (PF_KTHREAD | PF_USER_WORKER | PF_IO_WORKER));
}

void cid_cache_task_init(struct task_struct *t)
{
	cid_task_init(&t->cid_cache);
}

/**
 * cid_cache_prepare() - current is about to share its mm with @child
 * @child: being copied, not visible yet
 * @mm: current's mm
 *
 * The first time, the mm gets its generation and owner words.  Nobody else can
 * be here for this mm: it has one user, and that is current.  A mm with a worker
 * has one user, too.
 *
 * Return: 0, -ENOMEM, or -EAGAIN if there is no generation left.
 */
int cid_cache_prepare(struct task_struct *child, struct mm_struct *mm)
{
	u64 *owner;
	u64 gen;

	if (!cid_cache_enabled() || mm->cid_cache.gen || !cid_is_user(child))
		return 0;

	owner = kcalloc(cid_cache_env.nr_ids, sizeof(*owner), GFP_KERNEL_ACCOUNT);
	if (!owner)
		return -ENOMEM;
	gen = cid_gen_alloc(&cid_gen_pool, get_cpu_ptr(&cid_gen_batches));
	put_cpu_ptr(&cid_gen_batches);
	if (WARN_ONCE(!gen, "cid_cache: all generations are used up\n")) {
		kfree(owner);
		return -EAGAIN;
	}
	cid_mm_multi(&mm->cid_cache, owner, gen);
	return 0;
}

/* In copy_mm(): @t has its mm, and cannot be seen by others yet. */
bool cid_cache_fork(struct task_struct *t)
{
	unsigned long flags;

	if (!cid_cache_enabled())
		return false;
	if (t->mm != current->mm) {
		local_irq_save(flags);
		cid_allow_only(&t->mm->cid_cache, cpumask_bits(&t->cpus_mask),
			       cpumask_bits(cpu_possible_mask), nr_cpu_ids, -1);
		local_irq_restore(flags);
	}
	return true;
}

/* The fork cannot fail any more, and @child was not woken yet. */
void cid_cache_post_fork(struct task_struct *child)
{
	struct mm_struct *mm = child->mm;
	unsigned long flags;

	if (!cid_cache_enabled() || !mm || !cid_is_user(child))
		return;
	if (mm != current->mm) {
		cid_fork(&mm->cid_cache, &child->cid_cache);
		return;
	}
	/* What the child may run on, the parent may too, or it was added by O9. */
	local_irq_save(flags);
	cid_clone(&cid_cache_env, this_cpu_ptr(&cid_caches), smp_processor_id(),
		  &mm->cid_cache, &current->cid_cache, &child->cid_cache,
		  (u32)jiffies);
	local_irq_restore(flags);
}

bool cid_cache_exit(struct task_struct *t)
{
	if (!cid_cache_enabled())
		return false;
	if (!t->mm)
		return true;
	preempt_disable();
	cid_exit(&cid_cache_env, this_cpu_ptr(&cid_caches), smp_processor_id(),
		 &t->mm->cid_cache, &t->cid_cache, (u32)jiffies);
	preempt_enable();
	return true;
}

bool cid_cache_exec_before(struct task_struct *t)
{
	if (!cid_cache_enabled())
		return false;
	preempt_disable();
	cid_exec_before(&cid_cache_env, this_cpu_ptr(&cid_caches),
			smp_processor_id(), t->mm ? &t->mm->cid_cache : NULL,
			&t->cid_cache, (u32)jiffies);
	preempt_enable();
	return true;
}

/**
 * cid_cache_exec_mmap() - execve has replaced current's mm
 * @old: the mm before, may be NULL
 * @mm: the mm now, stored in current->mm already
 *
 * The runqueue lock orders this against a change of affinity on another CPU:
 * either its mask is read here, or it finds the new mm.
 *
 * Context: interrupts off.
 */
void cid_cache_exec_mmap(struct mm_struct *old, struct mm_struct *mm)
{
	struct rq_flags rf;
	struct rq *rq;

	if (!cid_cache_enabled())
		return;
	rq = this_rq();
	cid_exec_mmap(&cid_cache_env, cpu_of(rq), old ? &old->cid_cache : NULL,
		      &mm->cid_cache, &current->cid_cache);
	rq_lock(rq, &rf);
	cid_allow_only(&mm->cid_cache, cpumask_bits(&current->cpus_mask),
		       cpumask_bits(cpu_possible_mask), nr_cpu_ids, cpu_of(rq));
	rq_unlock(rq, &rf);
}

bool cid_cache_exec_after(struct task_struct *t)
{
	unsigned long flags;

	if (!cid_cache_enabled())
		return false;
	if (!t->mm)
		return true;
	local_irq_save(flags);
	cid_exec_after(&cid_cache_env, this_cpu_ptr(&cid_caches),
		       smp_processor_id(), &t->mm->cid_cache, &t->cid_cache,
		       (u32)jiffies);
	t->mm_cid = t->cid_cache.cid;
	local_irq_restore(flags);
	rseq_set_notify_resume(t);
	return true;
}

/* O9.  Not for kernel threads, which may only have borrowed the mm. */
void cid_cache_allow(struct task_struct *p)
{
	struct mm_struct *mm = p->mm;

	if (!cid_cache_enabled() || !mm || !cid_is_user(p))
		return;
	cid_allow(&mm->cid_cache, cpumask_bits(&p->cpus_mask),
		  cpumask_bits(cpu_possible_mask), nr_cpu_ids);
}

/* ---- boot ---- */

static int __init cid_cache_setup(char *str)
{
	bool on;

	if (!str || kstrtobool(str, &on)) {
		pr_warn("sched_cid_cache: \"%s\" is neither on nor off\n", str ?: "");
		return 0;
	}
	/* Before the first task with an mm: no state has to be converted. */
	if (!on)
		static_branch_disable(&cid_cache_key);
	return 0;
}
early_param("sched_cid_cache", cid_cache_setup);

/* O10.  In the CPU's hotplug thread: nothing with an id is running. */
static int cid_cache_cpu_online(unsigned int cpu)
{
	preempt_disable();
	cid_cache_online(this_cpu_ptr(&cid_caches));
	preempt_enable();
	return 0;
}

/* Before the first program is started. */
static int __init cid_cache_init(void)
{
	struct cid_cache **cache;
	unsigned int cpu;

	BUILD_BUG_ON(NR_CPUS > CID_ID_MAX);

	if (!cid_cache_enabled())
		return 0;
	/* Nothing works without it, and nothing is left if this fails. */
	cache = kcalloc(nr_cpu_ids, sizeof(*cache), GFP_KERNEL | __GFP_NOFAIL);
	for_each_possible_cpu(cpu)
		cache[cpu] = per_cpu_ptr(&cid_caches, cpu);
	cid_cache_env.nr_cpus = nr_cpu_ids;
	cid_cache_env.nr_ids = num_possible_cpus();
	cid_cache_env.keep = msecs_to_jiffies(cid_keep_ms);
	cid_cache_env.cache = cache;
	return 0;
}
early_initcall(cid_cache_init);

/* ---- debugfs ---- */

static int cid_keep_ms_get(void *data, u64 *val)
{
	*val = READ_ONCE(cid_keep_ms);
	return 0;
}

static int cid_keep_ms_set(void *data, u64 val)
{
	if (val > CID_KEEP_MS_MAX)
		return -EINVAL;
	WRITE_ONCE(cid_keep_ms, val);
	/* At least one jiffy: only 0 means 0. */
	WRITE_ONCE(cid_cache_env.keep,
		   val == CID_KEEP_MS_MAX ? CID_KEEP_FOREVER : msecs_to_jiffies(val));
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(cid_keep_ms_fops, cid_keep_ms_get, cid_keep_ms_set, "%llu\n");

static int cid_stats_show(struct seq_file *m, void *v)
{
	struct cid_stats sum = { };
	unsigned int cpu, i;

	for_each_possible_cpu(cpu)
		cid_stats_add(&sum, &per_cpu(cid_caches, cpu).stats);

#define show(name)	seq_printf(m, #name " %llu\n", sum.name)
	show(hand_over);
	show(single);
	show(hit);
	show(last_id);
	show(own_id);
	show(free_id);
	show(stolen);
	show(compacted);
	show(slow);
	show(slow_again);
	show(exceeded);
	show(gate_waits);
	show(lost_claims);
	show(lost_resumes);
	show(bound_drops);
	show(materialised);
	show(evicted);
#undef show
	for (i = 0; i < CID_PROBE_BUCKETS; i++) {
		unsigned int from = i ? (1U << (i - 1)) + 1 : 1;

		if (i == CID_PROBE_BUCKETS - 1)
			seq_printf(m, "probes_%u_up %llu\n", from, sum.probes[i]);
		else if (i < 2)
			seq_printf(m, "probes_%u %llu\n", from, sum.probes[i]);
		else
			seq_printf(m, "probes_%u_%u %llu\n", from, 1U << i, sum.probes[i]);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(cid_stats);

static ssize_t cid_reset_write(struct file *file, const char __user *ubuf,
			       size_t cnt, loff_t *ppos)
{
	unsigned int cpu, val;
	int err = kstrtouint_from_user(ubuf, cnt, 0, &val);

	if (err)
		return err;
	if (val != 1)
		return -EINVAL;
	/* A CPU that is counting right now may keep one old value. */
	for_each_possible_cpu(cpu)
		memset(&per_cpu(cid_caches, cpu).stats, 0, sizeof(struct cid_stats));
	return cnt;
}

static const struct file_operations cid_reset_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= cid_reset_write,
	.llseek	= noop_llseek,
};

/* Write a pid, then read: users, allowed CPUs and highest ids of its mm. */
static pid_t cid_process_pid;

static int cid_process_show(struct seq_file *m, void *v)
{
	pid_t pid = READ_ONCE(cid_process_pid);
	struct task_struct *t;
	struct mm_struct *mm;

	if (!pid)
		return 0;
	t = find_get_task_by_vpid(pid);
	if (!t)
		return -ESRCH;
	mm = get_task_mm(t);
	put_task_struct(t);
	if (!mm)
		return -ESRCH;
	seq_printf(m, "pid %d users %d allowed %u running %d held %d\n", pid,
		   atomic_read(&mm->cid_cache.users),
		   READ_ONCE(mm->cid_cache.nr_allowed),
		   cid_highest(&cid_cache_env, &mm->cid_cache, true),
		   cid_highest(&cid_cache_env, &mm->cid_cache, false));
	mmput(mm);
	return 0;
}

static int cid_process_open(struct inode *inode, struct file *file)
{
	return single_open(file, cid_process_show, NULL);
}

static ssize_t cid_process_write(struct file *file, const char __user *ubuf,
				 size_t cnt, loff_t *ppos)
{
	int pid, err = kstrtoint_from_user(ubuf, cnt, 10, &pid);

	if (err)
		return err;
	if (pid < 1)
		return -EINVAL;
	WRITE_ONCE(cid_process_pid, pid);
	return cnt;
}

static const struct file_operations cid_process_fops = {
	.owner		= THIS_MODULE,
	.open		= cid_process_open,
	.read		= seq_read,
	.write		= cid_process_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

/* After the scheduler's own directory is there. */
static int __init cid_cache_late_init(void)
{
	struct dentry *sched, *dir;
	int err;

	if (!cid_cache_enabled())
		return 0;
	err = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "sched/cid_cache:online",
					cid_cache_cpu_online, NULL);
	if (err < 0)
		pr_warn("cid_cache: no hotplug state (%d), words stay over offline\n",
			err);

	sched = debugfs_lookup("sched", NULL);
	dir = debugfs_create_dir("cid_cache", sched);
	dput(sched);
	debugfs_create_file("keep_ms", 0644, dir, NULL, &cid_keep_ms_fops);
	debugfs_create_file("stats", 0444, dir, NULL, &cid_stats_fops);
	debugfs_create_file("reset", 0200, dir, NULL, &cid_reset_fops);
	debugfs_create_file("process", 0600, dir, NULL, &cid_process_fops);
	return 0;
}
late_initcall_sync(cid_cache_late_init);
