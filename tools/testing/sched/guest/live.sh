# SPDX-License-Identifier: GPL-2.0-only
#
# The live test: load of several kinds runs while everything about the queue is
# changed under it, and at the end nothing may be left behind. The host's
# program looks for splats; this one checks what can be read off the knobs.
#
# In two halves, for a fault of 6.12 with or without the queue: a CPU that comes on
# line is its siblings' sibling before it shares their lock, and meanwhile a
# sibling's pick under core scheduling warns (update_rq_clock() of a runqueue that
# is not locked). The first half has core scheduling, the second has CPUs that come
# and go.
#
# SHARD_WRITES, TOGGLES, HOTPLUGS: how often each thing is done.

. /job/lib.sh

: "${SHARD_WRITES:=1000}" "${TOGGLES:=1000}" "${HOTPLUGS:=100}"
ALIVE=/tmp/alive
CG=/sys/fs/cgroup
CPUS=$(nproc)

say()
{
	result "live $*"
}

# random N: a number below N.
random()
{
	echo $(($(od -An -N4 -tu4 /dev/urandom) % $1))
}

# How often NAME was done so far. The file is empty for a moment whenever a number
# is written.
count()
{
	n=
	while [ -z "$n" ] && [ -e /tmp/count.$1 ]; do
		n=$(cat /tmp/count.$1)
	done
	echo ${n:-0}
}

# repeat NAME COMMAND...: run it until told to stop, and count.
repeat()
{
	name=$1
	shift
	(
		n=$(count $name)
		while [ -e $ALIVE ]; do
			"$@" || break
			n=$((n + 1))
			echo $n >/tmp/count.$name
		done
	) &
	loops="$loops $!"
}

# rounds NAME N COMMAND...: run it until it was done N times; any failure ends the job.
rounds()
{
	name=$1 n=$2
	shift 2
	(
		i=$(count $name)
		while [ $i -lt "$n" ]; do
			"$@" $i || { echo "$name: round $i failed" >/tmp/failed; break; }
			i=$((i + 1))
			echo $i >/tmp/count.$name
		done
	) &
	waited="$waited $!"
}

# happened NAME: one more time. What may fail at any time counts only if it did not.
happened()
{
	echo $(($(count $1) + 1)) >/tmp/count.$1
}

stat()
{
	awk -v name="$1" '$1 == name { print $2 }' $SWQUEUE/stats
}

# --- load

messages()
{
	hackbench -g 1 -f 4 -l 40 -s 64 >/dev/null 2>&1
	hackbench -T -p -g 1 -f 4 -l 40 -s 64 >/dev/null 2>&1
}

# Real-time bursts take the CPU from fair tasks, which then have to wait.
realtime()
{
	chrt -f 10 true || return
	chrt -f 10 timeout 0.02 sh -c 'while :; do :; done'
	sleep 0.05
}

# A group that is throttled and unthrottled all the time.
throttled()
{
	hackbench -g 1 -f 2 -l 20 >/dev/null 2>&1
	return 0
}

# Tasks that may only share a core with their own kind.
cookies()
{
	coresched hackbench -g 1 -f 2 -l 20 -s 64 >/dev/null 2>&1
}

# --- what changes meanwhile

# Both write from one process that nothing of the load holds up: what is tested
# is a thousand writes under load, not how long a shell waits for its turn.
reshard()
{
	awk -v n=$(($1 - $(count shards))) -v most=$((CPUS + 2)) \
		'BEGIN { srand(); for (i = 0; i < n; i++) print int(rand() * most) }' >/tmp/shards
	n=$(count shards) chrt -f 5 sh -c 'while read -r shards; do
			echo $shards >'$SWQUEUE/shards' || exit
			n=$((n + 1))
			echo $n >/tmp/count.shards
		done </tmp/shards' || echo "a write to shards failed" >/tmp/failed
}

toggle()
{
	n=$(count toggles) chrt -f 5 sh -c 'while [ $n -lt '"$1"' ]; do
			echo NO_SWQUEUE >'$SCHED/features' && echo SWQUEUE >'$SCHED/features' || exit
			n=$((n + 1))
			echo $n >/tmp/count.toggles
			sleep 0.01
		done' || echo "a toggle of the feature failed" >/tmp/failed
}

publish()
{
	echo wakeup >$SWQUEUE/publish && sleep 0.1 &&
		echo surplus >$SWQUEUE/publish && sleep 0.3
}

kick()
{
	echo 1 >$SWQUEUE/kick && sleep 0.4 && echo 0 >$SWQUEUE/kick && sleep 0.2
}

hotplug()
{
	cpu=$((1 + $(random $((CPUS - 1)))))
	echo 0 >/sys/devices/system/cpu/cpu$cpu/online || return
	echo 1 >/sys/devices/system/cpu/cpu$cpu/online
}

# Any process may be gone by the time it is meant.
affinity()
{
	for pid in $(pidof hackbench | tr ' ' '\n' | tail -n 6); do
		taskset -p $((1 + $(random $(((1 << CPUS) - 1))))) "$pid" >/dev/null 2>&1 && happened affinities
	done
	sleep 0.05
}

# Offline CPUs may leave a partition without any: writes may fail, not hang.
partition()
{
	mkdir -p $CG/part
	echo $((CPUS / 2))-$((CPUS - 1)) >$CG/part/cpuset.cpus 2>/dev/null
	echo root >$CG/part/cpuset.cpus.partition 2>/dev/null
	[ "$(cat $CG/part/cpuset.cpus.partition)" != root ] || happened partitioned
	sleep 0.2
	echo member >$CG/part/cpuset.cpus.partition 2>/dev/null
	rmdir $CG/part
	sleep 0.1
}

# --- start and stop

start_load()
{
	loops=
	touch $ALIVE
	repeat messages messages
	repeat realtime realtime
	(echo 0 >$CG/slow/cgroup.procs; repeat throttled throttled; wait) &
	loops="$loops $!"
	pair=0
	while [ $pair -lt $((CPUS / 2)) ]; do
		sockperf server -i 127.0.0.1 -p $((21000 + pair)) >/dev/null 2>&1 &
		repeat pair$pair sockperf ping-pong -i 127.0.0.1 -p $((21000 + pair)) -t 3 --mps max >/dev/null 2>&1
		pair=$((pair + 1))
	done
	sleep 2
}

stop_load()
{
	progress "load stops"
	rm $ALIVE
	killall sockperf 2>/dev/null
	i=0
	while pidof hackbench chrt sockperf taskset >/dev/null; do
		i=$((i + 1))
		[ $i -lt 120 ] || fail "still there two minutes after the end: $(ps | grep -E 'hackbench|chrt|sockperf' | head -5)"
		sleep 1
	done
	wait $loops
	rmdir $CG/part 2>/dev/null
}

# change WRITES TOGGLES HOTPLUGS: until each was done so often in all.
change()
{
	reshard "$1" &
	waited=$!
	toggle "$2" &
	waited="$waited $!"
	rounds hotplug "$3" hotplug
	repeat publish publish
	repeat kick kick
	repeat affinity affinity
	repeat partition partition
	for pid in $waited; do
		while kill -0 $pid 2>/dev/null; do
			progress "shards $(count shards)/$SHARD_WRITES, toggles $(count toggles)/$TOGGLES, hotplug $(count hotplug)/$HOTPLUGS, partitions $(count partition), hackbench $(count messages)"
			sleep 1
		done
	done
	[ ! -e /tmp/failed ] || fail "$(cat /tmp/failed)"
}

echo "+cpuset +cpu" >$CG/cgroup.subtree_control || fail "no cpuset or cpu controller"
# A period that a virtual CPU seldom sleeps through: the kernel would warn that it is
# too short, under a lock that lockdep does not want to see beside the console's.
mkdir $CG/slow && echo "100000 500000" >$CG/slow/cpu.max || fail "no cpu.max"

progress "load starts"
# The first cookie switches core scheduling on and the last one off, and a CPU
# that has dropped its lock in newidle meanwhile warns in 6.12, with or without
# the queue. One that stays keeps it on until the load has stopped.
coresched sleep 100000 &
cookie=$!
start_load
repeat cookies cookies

# --- a write takes effect at once, under load

for want in 4 1 2 0 3; do
	echo $want >$SWQUEUE/shards || fail "writing $want to shards failed"
	most=$want
	[ $want = 0 ] && most=$(((CPUS + 7) / 8))
	seen=$(awk '$6 == "shard" || $5 == "shard" { print $4 "/" $6 }' $SWQUEUE/layout | sort -u | wc -l)
	told=$(grep -c '^shard ' $SWQUEUE/stats)
	[ "$seen" = $most ] || fail "shards=$want: layout shows $seen shards, not $most"
	[ "$told" = $most ] || fail "shards=$want: stats shows $told shards, not $most"
	[ "$(cat /proc/sys/kernel/sched_swqueue_shards)" = $want ] || fail "the sysctl does not show $want"
done
say "shards: each write was seen at once in layout, stats and sysctl"

# --- all at once

change $((SHARD_WRITES / 2)) $((TOGGLES / 2)) 0
stop_load
kill $cookie
wait $cookie 2>/dev/null
start_load
change "$SHARD_WRITES" "$TOGGLES" "$HOTPLUGS"
say "shards $(count shards) writes, $(count toggles) feature toggles, $(count hotplug) hotplug cycles, $(count publish) publish and $(count kick) kick toggles, $(count partitioned) partitions, $(count affinities) changes of affinity"
for what in messages realtime throttled cookies publish kick affinities partitioned pair0; do
	[ "$(count $what)" -gt 0 ] || fail "$what never happened: the test is not what it says"
done
[ "$(awk '$1 == "nr_throttled" { print $2 }' $CG/slow/cpu.stat)" -gt 0 ] || fail "no group was ever throttled"

# --- stop; nothing may be stuck

stop_load
grep -q 0 /sys/devices/system/cpu/cpu[1-9]*/online && fail "a CPU stayed off line"
stuck=$(ps -o stat,comm | awk '$1 ~ /^D/' | head -3)
[ -z "$stuck" ] || fail "tasks stuck in D state: $stuck"
say "no task is stuck"

echo SWQUEUE >$SCHED/features
echo 0 >$SWQUEUE/shards
echo surplus >$SWQUEUE/publish
echo 0 >$SWQUEUE/kick

# --- every CPU goes idle once more: the queue is empty

# Whoever runs out of work looks, and takes off what has had no surplus for a
# quarter of a second. What the guest's kworkers leave behind within the last
# quarter takes another round.
lengths=$(visit $SWQUEUE/stats 10) ||
	fail "the queue holds $lengths tokens after all CPUs went idle once, twice...: $(grep '^shard' $SWQUEUE/stats | grep -v 'length 0')"
say "the queue is empty: $lengths tokens after all CPUs went idle once, twice..."

# --- and it still works: surplus is found

echo 1 >$SWQUEUE/reset
before=$(stat pull_moved)
messages && messages
moved=$(($(stat pull_moved) - before))
[ "$(stat linked)" -gt 0 ] || fail "nothing was linked under hackbench"
[ $moved -gt 0 ] || fail "no task was pulled under hackbench: $(tr '\n' ' ' <$SWQUEUE/stats)"
say "afterwards hackbench linked $(stat linked) tokens and had $moved tasks pulled"
