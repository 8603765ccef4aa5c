/* SPDX-License-Identifier: GPL-2.0-only */
/* What the fuzz targets share: choices out of the input, and how to complain. */
#ifndef _FUZZ_H
#define _FUZZ_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <sim.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static const u8 *input;
static size_t input_left;
static unsigned int input_op;

/* One byte for each choice. After the end always the last one: loops end there. */
static u32 input_below(void *unused, u32 n)
{
	if (!input_left)
		return n - 1;
	input_left--;
	return *input++ % n;
}

static void input_begin(const u8 *data, size_t size)
{
	input = data;
	input_left = size;
	input_op = 0;
	sim_new_test(1);
}

__attribute__((noreturn, format(printf, 1, 2)))
static void complain(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "FUZZ: operation %u: ", input_op);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}

/* A warning, a bug, sleeping where that is not allowed. */
static void kernel_complaint(const char *msg)
{
	complain("%s", msg);
}

static void input_end(void)
{
	char buf[256];

	if (sim_leftovers(buf, sizeof(buf)))
		complain("left over: %s", buf);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	sim_start(4, 1);
	sim_fail_hook(kernel_complaint);
	return 0;
}

#endif
