# SPDX-License-Identifier: GPL-2.0-only
#
# Every allocation of ours made to fail, and what was changed or left behind then.
# START and END, from the environment: where our text is.

. /job/lib.sh

DEBUG=/sys/kernel/debug
CG=/sys/fs/cgroup
KMEMLEAK=$DEBUG/kmemleak
[ -d $DEBUG/failslab ] && [ -d $DEBUG/fail_page_alloc ] || fail "this kernel has no fault injection"

say()
{
	result "variant $*"
}

both()
{
	for kind in failslab fail_page_alloc; do
		echo "$2" >$DEBUG/$kind/$1 || fail "$kind does not take $1 $2"
	done
}

# Only allocations that our functions ask for, or all of a task that is armed.
ours()
{
	both require-start "$START"
	both require-end "$END"
	both stacktrace-depth 32
}

any()
{
	both require-start 0
	both require-end 0xffffffffffffffff
}

# fails NAME LEAST ARGUMENTS: of at least LEAST attempts each must fail.
fails()
{
	name=$1 least=$2
	shift 2
	line=$(failnth "$@" 2>&1) || fail "$name: $line"
	set -- $line
	[ "$1 $3" = "failed of" ] && [ "$4" -ge "$least" ] || fail "$name: at least $least allocations expected: $line"
	[ "$2" = "$4" ] || fail "$name: of $4 allocations that failed only $2 were noticed"
	say "$name: each of $4 allocations of ours fails cleanly"
}

# survives NAME ARGUMENTS: some can be done without.
survives()
{
	name=$1
	shift
	line=$(failnth "$@" 2>&1) || fail "$name: $line"
	set -- $line
	[ "$4" -gt 0 ] || fail "$name: no allocation was made to fail"
	say "$name: $4 allocations made to fail, all of them, $2 times nothing was done"
}

# leaks: how many of ours kmemleak knows. Twice, as what is new is not looked at.
leaks()
{
	sleep 6
	for i in 1 2; do
		echo scan >$KMEMLEAK || fail "kmemleak does not scan"
		sleep 1
	done
	cat $KMEMLEAK >/tmp/leaks
	grep -cE '\b(swq|swqueue|cid)_[a-z_]+\+' /tmp/leaks
}

both ignore-gfp-wait N
echo N >$DEBUG/fail_page_alloc/ignore-gfp-highmem
echo 0 >$DEBUG/fail_page_alloc/min-order
echo N >$DEBUG/failslab/cache-filter
both verbose 0
both probability 0
echo clear >$KMEMLEAK || fail "this kernel has no kmemleak"

ours
fails "shards by debugfs" 3 write $SWQUEUE/shards 3 1 $SWQUEUE/layout $SWQUEUE/shards
fails "shards by sysctl" 3 write /proc/sys/kernel/sched_swqueue_shards 2 1 $SWQUEUE/layout $SWQUEUE/shards
fails "the first thread that shares an mm" 1 vfork
any
progress "all allocations of a write"
survives "a write to shards" write $SWQUEUE/shards 3 1 $SWQUEUE/layout $SWQUEUE/shards
for what in fork vfork thread exec; do
	progress "all allocations of $what"
	survives "$what" $what
done
echo 0 >$SWQUEUE/shards

# New domains while there is no memory: CPUs do without, and come back later.
cat $SWQUEUE/layout >/tmp/layout
echo "+cpuset" >$CG/cgroup.subtree_control && mkdir $CG/part && echo 1-2 >$CG/part/cpuset.cpus || fail "no cpuset controller"
ours
both times -1
both probability 100
echo root >$CG/part/cpuset.cpus.partition || fail "no partition"
both probability 0
any
cat $SWQUEUE/layout >/tmp/without
[ "$(wc -l </tmp/without)" -lt "$(wc -l </tmp/layout)" ] || fail "new domains without memory: the layout has not shrunk"
dmesg | grep -q "swqueue: no memory, CPUs do without" || fail "new domains without memory: nothing was said"
hackbench -g 1 -l 50 >/dev/null 2>&1 || fail "hackbench without layouts"
echo 2 >$SWQUEUE/shards && echo 0 >$SWQUEUE/shards || fail "shards without layouts"
echo member >$CG/part/cpuset.cpus.partition || fail "no member"
cmp -s /tmp/layout $SWQUEUE/layout || fail "the layout did not come back: $(cat $SWQUEUE/layout)"
say "new domains without memory: CPUs do without, and the next change brings the queue back"
rmdir $CG/part

n=$(leaks)
[ "$n" = 0 ] || fail "kmemleak knows $n lines of ours: $(grep -E '\b(swq|swqueue|cid)_' /tmp/leaks | head -n 1)"
say "kmemleak finds nothing of ours"
# And it would: the torture test leaks what it replaces.
echo 4 >/sys/module/shard_torture/parameters/broken
echo 1 >/sys/module/shard_torture/parameters/run && sleep 5 && echo 0 >/sys/module/shard_torture/parameters/run ||
	fail "the torture test does not leak"
n=$(leaks)
[ "$n" -gt 0 ] || fail "kmemleak does not find a leak that was made on purpose"
say "kmemleak finds a leak that was made on purpose ($n lines)"
