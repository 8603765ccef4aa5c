/* SPDX-License-Identifier: GPL-2.0-only */
#include <linux/rcupdate.h>
#include <linux/list.h>
