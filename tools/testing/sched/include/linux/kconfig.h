/* SPDX-License-Identifier: GPL-2.0-only */
/* Included first everywhere: the configuration the userspace build stands for. */
#ifndef _LINUX_KCONFIG_H
#define _LINUX_KCONFIG_H

#define CONFIG_64BIT			1
#define CONFIG_SMP			1
#define CONFIG_KUNIT			1
#define CONFIG_DEBUG_FS			1
#define CONFIG_DEBUG_LIST		1
#define CONFIG_LOCKDEP			1
#define CONFIG_PROVE_LOCKING		1
#define CONFIG_HZ			1000

#define CONFIG_SCHED_SWQUEUE		1
#define CONFIG_SCHED_SWQUEUE_KUNIT_TEST	1
#define CONFIG_SCHED_CID_CACHE		1
#define CONFIG_SCHED_CID_CACHE_KUNIT_TEST 1

#define CONFIG_NR_CPUS			512
#define NR_CPUS				CONFIG_NR_CPUS

/* For the few lines of a suite that only make sense here. */
#define KUNIT_USERSPACE			1

/*
 * IS_ENABLED(X): X defined as 1 pastes to a macro that is a comma, which moves
 * the 1 into second place; anything else leaves the 0 there.
 */
#define SIM_CFG_SHIFT_1			0,
#define sim_cfg_second(a, b, ...)	b
#define sim_cfg_pick(x)			sim_cfg_second(x 1, 0)
#define sim_cfg_paste(v)		sim_cfg_pick(SIM_CFG_SHIFT_##v)
#define sim_cfg_expand(v)		sim_cfg_paste(v)
#define IS_ENABLED(option)		sim_cfg_expand(option)
#define IS_BUILTIN(option)		sim_cfg_expand(option)
#define IS_REACHABLE(option)		sim_cfg_expand(option)
#define IS_MODULE(option)		0

#endif
