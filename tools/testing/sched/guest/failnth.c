// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does one thing again and again and lets its first, second, ... allocation in the
 * kernel fail, until none is left to fail (fault injection, fail-nth).
 *
 *   failnth write FILE VALUE OTHER [STATE]...
 *	Writes VALUE to FILE.  A write that failed must have failed with ENOMEM
 *	and have left each STATE file as it was; then the write of VALUE must
 *	work, and OTHER is written to go back.
 *   failnth fork | vfork | thread | exec
 *	In a process of its own each time, as what is allocated is kept.  What
 *	failed must have failed for want of memory, and must work when it is done
 *	again.
 *
 * Prints "failed N of M": how many attempts failed, of how many in which an
 * allocation was made to.  Exit: 0, or 1 and what was wrong.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST	500

static int nth_fd;

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "failnth: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void open_nth(void)
{
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR);
	if (nth_fd < 0)
		die("/proc/thread-self/fail-nth");
}

static void arm(int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	if (pwrite(nth_fd, text, len, 0) != len)
		die("writing fail-nth");
}

/* Return: whether a fault was injected since arm(). */
static int disarm(void)
{
	char text[16] = "";
	int error = errno, left;

	if (pread(nth_fd, text, sizeof(text) - 1, 0) <= 0)
		die("reading fail-nth");
	left = atoi(text);
	arm(0);
	errno = error;
	return !left;
}

/* ---- write ---- */

static size_t contents(char **files, char *into, size_t size)
{
	size_t len = 0;
	ssize_t n;
	int fd;

	for (; *files; files++) {
		fd = open(*files, O_RDONLY);
		if (fd < 0)
			die(*files);
		while ((n = read(fd, into + len, size - len)) > 0)
			len += n;
		close(fd);
	}
	return len;
}

static void writes(const char *file, const char *value, const char *other, char **states)
{
	static char before[1 << 16], after[1 << 16];
	int fd = open(file, O_WRONLY), n, failed = 0, injected = 1;
	size_t len;

	if (fd < 0)
		die(file);
	open_nth();
	if (pwrite(fd, other, strlen(other), 0) < 0)
		die(other);
	for (n = 1; injected && n < MOST; n++) {
		ssize_t done;

		len = contents(states, before, sizeof(before));
		arm(n);
		done = pwrite(fd, value, strlen(value), 0);
		injected = disarm();
		if (done >= 0) {
			if (pwrite(fd, other, strlen(other), 0) < 0)
				die("going back");
			continue;
		}
		if (errno != ENOMEM || !injected)
			die("not ENOMEM");
		failed++;
		if (contents(states, after, sizeof(after)) != len || memcmp(before, after, len)) {
			errno = 0;
			die("a write that failed has changed something");
		}
		if (pwrite(fd, value, strlen(value), 0) < 0 || pwrite(fd, other, strlen(other), 0) < 0)
			die("a write after one that failed");
	}
	printf("failed %d of %d\n", failed, n - 2);
}

/* ---- processes ---- */

static void *nothing(void *arg)
{
	return arg;
}

/* Return: 0 or errno. */
static int try(const char *what)
{
	pthread_t thread;
	pid_t pid;
	int error;

	if (!strcmp(what, "thread")) {
		error = pthread_create(&thread, NULL, nothing, NULL);
		if (!error)
			pthread_join(thread, NULL);
		return error;
	}
	if (!strcmp(what, "exec")) {
		execl("/proc/self/exe", "failnth", "left", NULL);
		return errno;
	}
	pid = !strcmp(what, "vfork") ? vfork() : fork();
	if (!pid)
		_exit(0);
	if (pid < 0)
		return errno;
	waitpid(pid, NULL, 0);
	return 0;
}

/* What the child tells. */
struct told {
	int	injected;
	int	failed;
	int	wrong;
};

static void processes(const char *what)
{
	int n, failed = 0, status, exec = !strcmp(what, "exec");
	struct told *told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	if (told == MAP_FAILED)
		die("mmap");
	for (n = 1; n < MOST; n++) {
		memset(told, 0, sizeof(*told));
		pid = fork();
		if (pid < 0)
			die("fork");
		if (!pid) {
			int error;

			open_nth();
			arm(n);
			error = try(what);
			told->injected = disarm();
			told->failed = !!error;
			if (error && error != ENOMEM && error != EAGAIN)
				told->wrong = error;
			else if (error && (error = try(what)))
				told->wrong = error;
			_exit(0);
		}
		waitpid(pid, &status, 0);
		if (told->wrong) {
			errno = told->wrong;
			die(what);
		}
		failed += told->failed;
		if (exec) {
			/* Past the point of no return there is nobody left to tell. */
			if (WIFSIGNALED(status)) {
				failed++;
				continue;
			}
			if (!told->failed && !WEXITSTATUS(status))
				break;
		} else if (WIFSIGNALED(status)) {
			errno = 0;
			die("killed");
		} else if (!told->injected) {
			break;
		}
	}
	printf("failed %d of %d\n", failed, n - 1);
}

int main(int argc, char **argv)
{
	if (argc >= 5 && !strcmp(argv[1], "write")) {
		writes(argv[2], argv[3], argv[4], argv + 5);
	} else if (argc == 2 && !strcmp(argv[1], "left")) {
		/* Executed by itself: was an allocation made to fail on the way? */
		open_nth();
		return disarm() ? 3 : 0;
	} else if (argc == 2 && (!strcmp(argv[1], "fork") || !strcmp(argv[1], "vfork") ||
			       !strcmp(argv[1], "thread") || !strcmp(argv[1], "exec"))) {
		processes(argv[1]);
	} else {
		fputs("usage: failnth write FILE VALUE OTHER [STATE]... | fork | vfork | thread | exec\n", stderr);
		return 2;
	}
	return 0;
}
