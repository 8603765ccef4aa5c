/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LINUX_PRINTK_H
#define _LINUX_PRINTK_H

#include <linux/compiler.h>

#ifndef pr_fmt
#define pr_fmt(fmt)	fmt
#endif

/* One call, one line, on standard error as a TAP comment. */
__printf(1, 2) void sim_printk(const char *fmt, ...);

#define printk(fmt, ...)	sim_printk(fmt, ##__VA_ARGS__)
#define pr_emerg(fmt, ...)	sim_printk(pr_fmt(fmt), ##__VA_ARGS__)
#define pr_err(fmt, ...)	sim_printk(pr_fmt(fmt), ##__VA_ARGS__)
#define pr_warn(fmt, ...)	sim_printk(pr_fmt(fmt), ##__VA_ARGS__)
#define pr_notice(fmt, ...)	sim_printk(pr_fmt(fmt), ##__VA_ARGS__)
#define pr_info(fmt, ...)	sim_printk(pr_fmt(fmt), ##__VA_ARGS__)
#define pr_cont(fmt, ...)	sim_printk(fmt, ##__VA_ARGS__)
#define pr_debug(fmt, ...)	do { if (0) sim_printk(pr_fmt(fmt), ##__VA_ARGS__); } while (0)
#define pr_warn_once(fmt, ...)	pr_warn(fmt, ##__VA_ARGS__)
#define pr_err_once(fmt, ...)	pr_err(fmt, ##__VA_ARGS__)
#define pr_info_once(fmt, ...)	pr_info(fmt, ##__VA_ARGS__)
#define pr_warn_ratelimited(fmt, ...) pr_warn(fmt, ##__VA_ARGS__)
#define KERN_ERR
#define KERN_WARNING
#define KERN_INFO
#define KERN_DEBUG
#define dump_stack()		((void)0)
#define printk_deferred_enter()	((void)0)
#define printk_deferred_exit()	((void)0)

#endif
