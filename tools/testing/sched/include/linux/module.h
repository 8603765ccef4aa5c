/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _LINUX_MODULE_H
#define _LINUX_MODULE_H

#include <linux/compiler.h>
#include <linux/types.h>

#define THIS_MODULE			NULL
#ifndef KBUILD_MODNAME
#define KBUILD_MODNAME			"sched"
#endif
#define EXPORT_SYMBOL(x)		_Static_assert(1, "")
#define EXPORT_SYMBOL_GPL(x)		_Static_assert(1, "")
#define EXPORT_SYMBOL_IF_KUNIT(x)	_Static_assert(1, "")
#define MODULE_LICENSE(x)		_Static_assert(1, "")
#define MODULE_DESCRIPTION(x)		_Static_assert(1, "")
#define MODULE_AUTHOR(x)		_Static_assert(1, "")
#define MODULE_IMPORT_NS(x)		_Static_assert(1, "")
#define MODULE_PARM_DESC(n, d)		_Static_assert(1, "")
#define early_initcall(f)		_Static_assert(1, "")
#define late_initcall(f)		_Static_assert(1, "")
#define module_init(f)			_Static_assert(1, "")
#define module_exit(f)			_Static_assert(1, "")

/* Set with --param name=value, or module.name=value for one of several. */
void sim_param(const char *module, const char *name, void *var, size_t size);
#define module_param(n, type, perm)					\
	static __attribute__((__constructor__)) void sim_param_##n(void)	\
	{ sim_param(KBUILD_MODNAME, #n, &n, sizeof(n)); }				\
	_Static_assert(1, "")
#define module_param_named(n, v, type, perm)				\
	static __attribute__((__constructor__)) void sim_param_##n(void)	\
	{ sim_param(KBUILD_MODNAME, #n, &v, sizeof(v)); }				\
	_Static_assert(1, "")
#define core_param(n, v, type, perm)	module_param_named(n, v, type, perm)

#endif
