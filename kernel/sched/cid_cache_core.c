// SPDX-License-Identifier: GPL-2.0-only
/*
 * CID cache: between the structure (cid_cache.c) and the kernel.
 *
 * Here are the per-CPU caches, the memory of an mm, the places where tasks come
 * and go.  The hooks are listed in cid_cache_hooks.h and linux/cid_cache.h, the
 * knobs are in cid_cache_debug.c.
 *
 * Lifetime: the owner array belongs to the mm_struct and is freed with it.  A
 * CPU looks at it while it switches to a task of the mm, that is, while the
 * task holds the mm.  cid_cache_allow() reads another task's mm under that
 * task's runqueue lock, or under its pi_lock while it sleeps: exit_mm() leaves
 * the task a lazy reference that only a switch can drop (hence the dependency on
 * MMU_LAZY_TLB_REFCOUNT), and exec_mmap() passes through the runqueue lock in
 * cid_cache_exec_mmap() before it lets go of the old mm.
 */
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/mmu_context.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "sched.h"

DEFINE_STATIC_KEY_TRUE(cid_cache_key);
DEFINE_PER_CPU_ALIGNED(struct cid_cache, cid_caches);

struct cid_env cid_cache_env __read_mostly;

static atomic64_t cid_gen_pool = ATOMIC64_INIT(1);
static DEFINE_PER_CPU(struct cid_gen_batch, cid_gen_batches);

/* ---- an mm ---- */

/* Behind mm_cpumask() and the masks of the kernel's own allocator. */
static unsigned long *cid_allowed(struct mm_struct *mm)
{
	return (unsigned long *)((char *)mm_cpumask(mm) + cpumask_size() +
				 mm_cid_size());
}

/* What an mm_struct needs behind it, besides the kernel's own masks. */
unsigned int cid_cache_mm_size(void)
{
	return cid_cache_enabled() ? cpumask_size() : 0;
}

/*
 * A new mm, zeroed or a copy of the parent's: nothing in it is its own yet.  The
 * kernel's own allocator has never allocated anything that could be copied.
 */
bool cid_cache_mm_alloc(struct mm_struct *mm)
{
	if (!cid_cache_enabled())
		return false;
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

	/* The second and all later ones first.  There is none if it is off. */
	if (mm->cid_cache.gen || !cid_cache_enabled() || !cid_is_user(child))
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

/*
 * In copy_mm(): @t is a copy of current and has its mm, and cannot be seen by
 * others yet.  Not called for children of tasks without an mm, which are copies
 * of inactive tasks.
 */
void cid_cache_fork(struct task_struct *t)
{
	unsigned long flags;

	cid_task_init(&t->cid_cache);
	if (t->mm == current->mm || !cid_cache_enabled())
		return;
	local_irq_save(flags);
	cid_allow_only(&t->mm->cid_cache, cpumask_bits(&t->cpus_mask),
		       cpumask_bits(cpu_possible_mask), nr_cpu_ids, -1);
	local_irq_restore(flags);
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
	preempt_disable();
	if (!cid_clone_here(&cid_cache_env, this_cpu_ptr(&cid_caches),
			    smp_processor_id(), &mm->cid_cache,
			    &current->cid_cache, &child->cid_cache)) {
		local_irq_save(flags);
		cid_clone(&cid_cache_env, this_cpu_ptr(&cid_caches),
			  smp_processor_id(), &mm->cid_cache,
			  &current->cid_cache, &child->cid_cache, (u32)jiffies);
		local_irq_restore(flags);
	}
	preempt_enable();
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
	cid_tell_execve(t);
	local_irq_restore(flags);
	return true;
}

/* O9.  Not for kernel threads, which may only have borrowed the mm. */
void cid_cache_allow(struct task_struct *p)
{
	struct mm_struct *mm = p->mm;

	if (!cid_cache_enabled() || !mm || !cid_is_user(p))
		return;
	cid_allow(&cid_cache_env, smp_processor_id(), &mm->cid_cache,
		  cpumask_bits(&p->cpus_mask), cpumask_bits(cpu_possible_mask),
		  nr_cpu_ids);
}

/* ---- boot ---- */

/*
 * sched_cid_cache=on|off.  Not an early_param(): some architectures parse those
 * before jump_label_init().  This is still before the first mm_struct that is
 * not static and before the first task that has one, so no state has to be
 * converted.
 */
static int __init cid_cache_setup(char *str)
{
	if (!strcmp(str, "off"))
		static_branch_disable(&cid_cache_key);
	else if (strcmp(str, "on"))
		pr_err("sched_cid_cache: '%s' is neither 'on' nor 'off'; it stays on\n", str);
	return 1;
}
__setup("sched_cid_cache=", cid_cache_setup);

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

	BUILD_BUG_ON(CONFIG_NR_CPUS > CID_ID_MAX);

	if (!cid_cache_enabled())
		return 0;
	/* Nothing works without it, and nothing is left if this fails. */
	cache = kcalloc(nr_cpu_ids, sizeof(*cache), GFP_KERNEL | __GFP_NOFAIL);
	for_each_possible_cpu(cpu)
		cache[cpu] = per_cpu_ptr(&cid_caches, cpu);
	cid_cache_env.nr_cpus = nr_cpu_ids;
	cid_cache_env.nr_ids = num_possible_cpus();
	cid_cache_env.keep = msecs_to_jiffies(CID_KEEP_MS_DEFAULT);
	cid_cache_env.cache = cache;
	return 0;
}
early_initcall(cid_cache_init);

/* When the hotplug machinery takes new states with a CPU's own thread. */
static int __init cid_cache_init_hotplug(void)
{
	int err;

	if (!cid_cache_enabled())
		return 0;
	err = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "sched/cid_cache:online",
					cid_cache_cpu_online, NULL);
	if (err < 0)
		pr_warn("cid_cache: no hotplug state (%d), words stay over offline\n",
			err);
	return 0;
}
late_initcall(cid_cache_init_hotplug);
