// SPDX-License-Identifier: GPL-2.0-only
/* Runner for KUnit suites in userspace: chooses, runs, judges, prints KTAP. */
#define _GNU_SOURCE
#include <fnmatch.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <kunit/test.h>
#include <linux/jiffies.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <sim.h>

struct kunit_action {
	struct kunit_action	*next;
	kunit_action_t		*fn;
	void			*ctx;
};

static struct {
	struct kunit_suite	*suite[256];
	unsigned int		nr;
} all;

static struct {
	const char	**patterns;
	unsigned int	nr_patterns;
	bool		stop, list, no_slow, quiet;
	unsigned int	cpus, timeout;
	u64		seed;
} opt = { .cpus = 8, .timeout = 300, .seed = 1 };

static struct kunit *running;
static char running_name[512];
static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t action_mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned int passed, failed, skipped;

void sim_kunit_register(struct kunit_suite *const *suites, unsigned int n)
{
	while (n--) {
		if (all.nr == ARRAY_SIZE(all.suite))
			abort();
		all.suite[all.nr++] = *suites++;
	}
}

struct kunit *kunit_get_current_test(void)
{
	return READ_ONCE(running);
}

void sim_kunit_abort(void)
{
	pthread_exit((void *)1);
}

static void log_line(const char *name, const char *text)
{
	pthread_mutex_lock(&log_mutex);
	printf("    # %s: %s\n", name, text);
	fflush(stdout);
	pthread_mutex_unlock(&log_mutex);
}

void sim_kunit_log(struct kunit *test, const char *fmt, ...)
{
	char buf[1024];
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	n = strlen(buf);
	if (n && buf[n - 1] == '\n')
		buf[n - 1] = 0;
	log_line(test ? test->name : "(none)", buf);
}

void sim_kunit_skip(struct kunit *test, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(test->comment, sizeof(test->comment), fmt, ap);
	va_end(ap);
	WRITE_ONCE(test->status, KUNIT_SKIPPED);
}

/* The first failure of a case says most; the rest may be thousands. */
static bool note_failure(struct kunit *test)
{
	return xchg(&test->status, KUNIT_FAILURE) != KUNIT_FAILURE;
}

static void stop_if_asked(void)
{
	if (!opt.stop)
		return;
	pthread_mutex_lock(&log_mutex);
	printf("# stopped at the first failure: %s\n", running_name);
	fflush(stdout);
	/* No exit handlers: other threads still run. */
	_exit(1);
}

static void fail(struct kunit *test, bool fatal, const char *file, int line,
		 const char *what, const char *msg)
{
	static unsigned int shown;
	char buf[1600];

	if (note_failure(test))
		WRITE_ONCE(shown, 0);
	if (__atomic_add_fetch(&shown, 1, __ATOMIC_RELAXED) <= 10) {
		snprintf(buf, sizeof(buf), "%s FAILED at %s:%d %s%s%s",
			 fatal ? "ASSERTION" : "EXPECTATION", file, line, what,
			 msg[0] ? ": " : "", msg);
		log_line(test->name, buf);
	}
	stop_if_asked();
	if (fatal)
		sim_kunit_abort();
}

#define with_message(fmt)						\
	({								\
		va_list ap;						\
									\
		va_start(ap, fmt);					\
		vsnprintf(msg, sizeof(msg), fmt, ap);			\
		va_end(ap);						\
		msg;							\
	})

void sim_kunit_fail(struct kunit *test, bool fatal, const char *file, int line,
		    const char *what, const char *fmt, ...)
{
	char msg[512];

	fail(test, fatal, file, line, what, with_message(fmt));
}

void sim_kunit_fail_values(struct kunit *test, bool fatal, const char *file, int line,
			   const char *what, const char *kind, long long l, long long r,
			   const char *fmt, ...)
{
	char msg[512], buf[1024];

	snprintf(buf, sizeof(buf),
		 "Expected %s, but left is %s%lld (0x%llx), right is %lld (0x%llx)",
		 what, kind, l, l, r, r);
	fail(test, fatal, file, line, buf, with_message(fmt));
}

void sim_kunit_fail_strings(struct kunit *test, bool fatal, const char *file, int line,
			    const char *what, const char *l, const char *r,
			    const char *fmt, ...)
{
	char msg[512], buf[1024];

	snprintf(buf, sizeof(buf), "Expected %s, but left is \"%.150s\", right is \"%.150s\"",
		 what, l ?: "(null)", r ?: "(null)");
	fail(test, fatal, file, line, buf, with_message(fmt));
}

/* A WARN or BUG anywhere while a case runs fails that case. */
static void kernel_complaint(const char *msg)
{
	struct kunit *test = READ_ONCE(running);

	if (!test)
		return;
	note_failure(test);
	log_line(test->name, msg);
	stop_if_asked();
}

/* TSan goes on after a report by itself; the case it came from fails. */
void __tsan_on_report(void *report);
void __tsan_on_report(void *report)
{
	struct kunit *test = READ_ONCE(running);

	(void)report;
	if (!test)
		return;
	WRITE_ONCE(test->status, KUNIT_FAILURE);
	fprintf(stderr, "# thread sanitizer report above: in %s\n", running_name);
	if (opt.stop) {
		fflush(stdout);
		printf("# stopped at the first failure: %s\n", running_name);
		fflush(stdout);
	}
}

/* ASan ends the program; say where it was. */
void __asan_on_error(void);
void __asan_on_error(void)
{
	fprintf(stderr, "# address sanitizer report below: in %s\n", running_name);
	printf("# stopped at the first failure: %s\n", running_name);
	fflush(stdout);
}

/* --- resources ----------------------------------------------------------- */

int kunit_add_action(struct kunit *test, kunit_action_t *fn, void *ctx)
{
	struct kunit_action *a = malloc(sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->fn = fn;
	a->ctx = ctx;
	pthread_mutex_lock(&action_mutex);
	a->next = test->actions;
	test->actions = a;
	pthread_mutex_unlock(&action_mutex);
	return 0;
}

int kunit_add_action_or_reset(struct kunit *test, kunit_action_t *fn, void *ctx)
{
	int ret = kunit_add_action(test, fn, ctx);

	if (ret)
		fn(ctx);
	return ret;
}

static bool take_action(struct kunit *test, kunit_action_t *fn, void *ctx,
			struct kunit_action *out)
{
	struct kunit_action **p, *a;

	pthread_mutex_lock(&action_mutex);
	for (p = &test->actions; (a = *p); p = &a->next) {
		if (!fn || (a->fn == fn && a->ctx == ctx))
			break;
	}
	if (a) {
		*p = a->next;
		*out = *a;
	}
	pthread_mutex_unlock(&action_mutex);
	free(a);
	return a;
}

void kunit_remove_action(struct kunit *test, kunit_action_t *fn, void *ctx)
{
	struct kunit_action a;

	take_action(test, fn, ctx, &a);
}

void kunit_release_action(struct kunit *test, kunit_action_t *fn, void *ctx)
{
	struct kunit_action a;

	if (take_action(test, fn, ctx, &a))
		a.fn(a.ctx);
}

static void free_action(void *p)
{
	kfree(p);
}

void *kunit_kmalloc_array(struct kunit *test, size_t n, size_t size, gfp_t gfp)
{
	void *p = sim_alloc(size_mul(n, size), gfp);

	if (p && kunit_add_action_or_reset(test, free_action, p))
		return NULL;
	return p;
}

void kunit_kfree(struct kunit *test, const void *p)
{
	if (p)
		kunit_release_action(test, free_action, (void *)p);
}

/* --- one case ------------------------------------------------------------ */

struct run {
	struct kunit_suite	*suite;
	struct kunit_case	*tc;
	struct kunit		test;
};

static void *case_thread(void *p)
{
	struct run *r = p;
	char left[128];

	if (r->suite->init) {
		int ret = r->suite->init(&r->test);

		if (ret) {
			sim_kunit_log(&r->test, "init failed: %d", ret);
			note_failure(&r->test);
			return NULL;
		}
	}
	r->tc->run_case(&r->test);
	if (sim_leftovers(left, sizeof(left))) {
		log_line(r->test.name, left);
		note_failure(&r->test);
		sim_thread_reset();
	}
	return NULL;
}

static void *exit_thread(void *p)
{
	struct run *r = p;
	struct kunit_action a;

	if (r->suite->exit)
		r->suite->exit(&r->test);
	while (take_action(&r->test, NULL, NULL, &a))
		a.fn(a.ctx);
	return NULL;
}

static void in_thread(void *(*fn)(void *), void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, fn, arg))
		abort();
	pthread_join(t, NULL);
}

static void timed_out(int sig)
{
	static const char msg[] = "# no end in sight, stopped in: ";
	ssize_t n;

	(void)sig;
	n = write(STDOUT_FILENO, msg, sizeof(msg) - 1);
	n = write(STDOUT_FILENO, running_name, strlen(running_name));
	n = write(STDOUT_FILENO, "\n", 1);
	(void)n;
	_exit(1);
}

#if !defined(SIM_TSAN) && !defined(SIM_ASAN)
/* Sanitizers see to this themselves. */
static void crashed(int sig)
{
	static const char msg[] = "# stopped at the first failure: ";
	ssize_t n;

	n = write(STDOUT_FILENO, msg, sizeof(msg) - 1);
	n = write(STDOUT_FILENO, running_name, strlen(running_name));
	n = write(STDOUT_FILENO, " (crash)\n", 9);
	(void)n;
	_exit(128 + sig);
}
#endif

static u64 name_hash(const char *s)
{
	u64 h = 14695981039346656037ull;

	while (*s)
		h = (h ^ (u8)*s++) * 1099511628211ull;
	return h;
}

static int run_one(struct kunit_suite *suite, struct kunit_case *tc,
		   const void *param, int index, const char *desc, char *comment, size_t n)
{
	struct run r = {
		.suite = suite, .tc = tc,
		.test = { .name = tc->name, .param_value = param, .param_index = index },
	};
	long before = sim_live_allocs();
	unsigned int extra;

	snprintf(running_name, sizeof(running_name), "%s.%s%s%s", suite->name, tc->name,
		 desc[0] ? "/" : "", desc);
	/* By name, so that a case alone sees what it saw among the others. */
	sim_new_test(opt.seed ^ name_hash(running_name));
	alarm(opt.timeout);
	WRITE_ONCE(running, &r.test);
	in_thread(case_thread, &r);
	in_thread(exit_thread, &r);
	rcu_barrier();
	extra = sim_unexpected_warnings();
	if (extra && r.test.status != KUNIT_FAILURE) {
		sim_kunit_log(&r.test, "%u warnings, that is %u off what the case announced",
			      sim_warnings(), extra);
		note_failure(&r.test);
	}
	if (r.test.status != KUNIT_FAILURE && sim_live_allocs() != before) {
		sim_kunit_log(&r.test, "%ld allocations more than before",
			      sim_live_allocs() - before);
		note_failure(&r.test);
	}
	WRITE_ONCE(running, NULL);
	alarm(0);
	if (r.test.status == KUNIT_FAILURE)
		stop_if_asked();
	snprintf(comment, n, "%s", r.test.status == KUNIT_SKIPPED ? r.test.comment : "");
	return r.test.status;
}

static void print_result(int status, const char *indent, unsigned int nr,
			 const char *name, const char *comment)
{
	printf("%s%s %u %s%s%s\n", indent, status == KUNIT_FAILURE ? "not ok" : "ok", nr, name,
	       status == KUNIT_SKIPPED ? " # SKIP " : "", comment);
	fflush(stdout);
}

static void count(int status)
{
	*(status == KUNIT_FAILURE ? &failed : status == KUNIT_SKIPPED ? &skipped : &passed) += 1;
}

static int run_case(struct kunit_suite *suite, struct kunit_case *tc, unsigned int nr)
{
	char desc[KUNIT_PARAM_DESC_SIZE] = "", comment[256];
	unsigned int n[3] = { 0 }, i = 0;
	const void *param;
	int status;

	if (opt.no_slow && (tc->attr.speed == KUNIT_SPEED_SLOW ||
			    tc->attr.speed == KUNIT_SPEED_VERY_SLOW)) {
		count(KUNIT_SKIPPED);
		print_result(KUNIT_SKIPPED, "    ", nr, tc->name, "slow");
		return KUNIT_SKIPPED;
	}
	if (!tc->generate_params) {
		status = run_one(suite, tc, NULL, 0, "", comment, sizeof(comment));
		count(status);
		print_result(status, "    ", nr, tc->name, comment);
		return status;
	}
	printf("        KTAP version 1\n        # Subtest: %s\n", tc->name);
	for (param = tc->generate_params(NULL, desc); param;
	     param = tc->generate_params(param, desc)) {
		if (!desc[0])
			snprintf(desc, sizeof(desc), "param-%u", i);
		status = run_one(suite, tc, param, i, desc, comment, sizeof(comment));
		count(status);
		n[status]++;
		print_result(status, "        ", ++i, desc, comment);
		desc[0] = 0;
	}
	printf("    # %s: pass:%u fail:%u skip:%u total:%u\n", tc->name, n[0], n[1], n[2], i);
	status = n[1] ? KUNIT_FAILURE : n[0] || !i ? KUNIT_SUCCESS : KUNIT_SKIPPED;
	print_result(status, "    ", nr, tc->name, "");
	return status;
}

static bool chosen(const struct kunit_suite *suite, const struct kunit_case *tc)
{
	char full[512];
	unsigned int i;

	if (!opt.nr_patterns)
		return true;
	snprintf(full, sizeof(full), "%s.%s", suite->name, tc->name);
	for (i = 0; i < opt.nr_patterns; i++) {
		if (!fnmatch(opt.patterns[i], suite->name, 0) ||
		    !fnmatch(opt.patterns[i], full, 0))
			return true;
	}
	return false;
}

static unsigned int nr_chosen(struct kunit_suite *suite)
{
	struct kunit_case *tc;
	unsigned int n = 0;

	for (tc = suite->test_cases; tc->run_case; tc++)
		n += chosen(suite, tc);
	return n;
}

static void run_suite(struct kunit_suite *suite, unsigned int nr)
{
	unsigned int n[3] = { 0 }, i = 0;
	struct kunit_case *tc;
	int status, ret = 0;

	printf("    KTAP version 1\n    # Subtest: %s\n    1..%u\n", suite->name, nr_chosen(suite));
	if (suite->suite_init)
		ret = suite->suite_init(suite);
	if (ret) {
		printf("    # suite_init failed: %d\n", ret);
		failed++;
		print_result(KUNIT_FAILURE, "", nr, suite->name, "");
		return;
	}
	for (tc = suite->test_cases; tc->run_case; tc++) {
		if (chosen(suite, tc))
			n[run_case(suite, tc, ++i)]++;
	}
	if (suite->suite_exit)
		suite->suite_exit(suite);
	printf("# %s: pass:%u fail:%u skip:%u total:%u\n", suite->name, n[0], n[1], n[2], i);
	status = n[1] ? KUNIT_FAILURE : n[0] ? KUNIT_SUCCESS : KUNIT_SKIPPED;
	print_result(status, "", nr, suite->name, "");
}

static void usage(FILE *f)
{
	fprintf(f,
		"usage: kunit [options] [suite | suite.case]...\n"
		"Runs the KUnit suites linked in; names may hold * and ?.\n"
		"  --list             names only\n"
		"  --seed N           for the random streams (default 1; 0 = by the clock)\n"
		"  --cpus N           CPUs the suites see (default 8)\n"
		"  --param NAME=N     set a module parameter of a suite\n"
		"  --no-slow          skip cases marked slow\n"
		"  --stop             end at the first failure\n"
		"  --timeout N        seconds for one case (default 300)\n");
}

static __noreturn void bad(const char *what, const char *why)
{
	fprintf(stderr, "kunit: %s: %s (see --help)\n", what, why);
	exit(2);
}

static u64 number(const char *s, u64 lo, u64 hi)
{
	char *end;
	u64 v = strtoull(s, &end, 0);

	if (end == s || *end || v < lo || v > hi)
		bad(s, "number expected or out of range");
	return v;
}

int main(int argc, char **argv)
{
	static const struct option lopts[] = {
		{ "list", 0, NULL, 'l' }, { "seed", 1, NULL, 's' }, { "cpus", 1, NULL, 'c' },
		{ "param", 1, NULL, 'p' }, { "no-slow", 0, NULL, 'n' }, { "stop", 0, NULL, 'x' },
		{ "timeout", 1, NULL, 't' }, { "help", 0, NULL, 'h' }, { }
	};
	unsigned int i, suites = 0, nr = 0;
	struct kunit_case *tc;
	const char *err;
	int c;

	while ((c = getopt_long(argc, argv, "", lopts, NULL)) != -1) {
		switch (c) {
		case 'l':
			opt.list = true;
			break;
		case 's':
			opt.seed = number(optarg, 0, U64_MAX) ?: ktime_get_ns();
			break;
		case 'c':
			opt.cpus = number(optarg, 1, 64);
			break;
		case 'p':
			err = sim_set_param(optarg);
			if (err)
				bad(optarg, err);
			break;
		case 'n':
			opt.no_slow = true;
			break;
		case 'x':
			opt.stop = true;
			break;
		case 't':
			opt.timeout = number(optarg, 1, 100000);
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	opt.patterns = (const char **)argv + optind;
	opt.nr_patterns = argc - optind;
	for (i = 0; i < all.nr; i++) {
		suites += nr_chosen(all.suite[i]) != 0;
		for (tc = all.suite[i]->test_cases; opt.list && tc->run_case; tc++) {
			if (chosen(all.suite[i], tc))
				printf("%s.%s\n", all.suite[i]->name, tc->name);
		}
	}
	if (!suites)
		bad(argc > optind ? argv[optind] : "no suite", "nothing to run");
	if (opt.list)
		return 0;

	sim_start(opt.cpus, opt.seed);
	sim_fail_hook(kernel_complaint);
	signal(SIGALRM, timed_out);
	/* Whoever started this may have set a limit of processor time. */
	signal(SIGXCPU, timed_out);
#if !defined(SIM_TSAN) && !defined(SIM_ASAN)
	signal(SIGSEGV, crashed);
	signal(SIGBUS, crashed);
	signal(SIGFPE, crashed);
	signal(SIGILL, crashed);
#endif
	printf("KTAP version 1\n1..%u\n# seed: %llu\n", suites, opt.seed);
	for (i = 0; i < all.nr; i++) {
		if (nr_chosen(all.suite[i]))
			run_suite(all.suite[i], ++nr);
	}
	printf("# Totals: pass:%u fail:%u skip:%u total:%u\n", passed, failed, skipped,
	       passed + failed + skipped);
	return failed != 0;
}
