# SPDX-License-Identifier: GPL-2.0-only
#
# The torture test, act by act; meanwhile the queue and the ids that the scheduler
# uses are changed under load. From the environment: ACTS, each of
#
#   bound      a thread per CPU, CPUs go off and on line
#   shuffled   the threads wander
#   1, 2, ...  a thing that the test does wrong (shard_torture.broken)
#
# and DURATION, the seconds of each. The verdicts stand in the console log.

. /job/lib.sh

: "${ACTS:=bound shuffled}" "${DURATION:=30}"
PARAMETERS=/sys/module/shard_torture/parameters
ALIVE=/tmp/alive
[ -e $PARAMETERS/run ] || fail "this kernel has no torture test (CONFIG_SCHED_SHARD_TORTURE_TEST)"

parameter()
{
	echo "$2" >$PARAMETERS/$1 || fail "writing '$2' to the parameter $1 failed"
}

# As long as the act lasts: COMMAND again and again.
meddle()
{
	while [ -e $ALIVE ]; do
		"$@" || echo "$* failed" >/tmp/failed
	done &
	meddlers="$meddlers $!"
}

reshard()
{
	for shards in 1 4 2 0; do
		echo $shards >$SWQUEUE/shards && sleep 0.1 || return
	done
}

toggle()
{
	echo NO_SWQUEUE >$SCHED/features && sleep 0.2 && echo SWQUEUE >$SCHED/features && sleep 0.2
}

choose()
{
	for ms in 0 20 1000; do
		echo $ms >$CID_CACHE/keep_ms && sleep 0.3 || return
	done
	echo wakeup >$SWQUEUE/publish && echo 1 >$SWQUEUE/kick && sleep 0.3 &&
		echo surplus >$SWQUEUE/publish && echo 0 >$SWQUEUE/kick
}

load()
{
	hackbench -g 1 -f 4 -l 40 -s 64 >/dev/null 2>&1
	hackbench -T -p -g 1 -f 4 -l 40 -s 64 >/dev/null 2>&1
	sleep 0.2
}

for act in $ACTS; do
	# Grace periods by IPI make many more re-shards; the first act has the usual ones.
	broken=0 onoff=0 shuffle=0 expedited=1
	case $act in
	bound) onoff=400 expedited=0 ;;
	shuffled) shuffle=2 ;;
	*) broken=$act ;;
	esac
	dmesg -c >/dev/null
	echo $expedited >/sys/kernel/rcu_expedited || fail "no rcu_expedited"
	parameter broken $broken
	parameter onoff_interval $onoff
	parameter shuffle_interval $shuffle
	parameter stutter 2
	parameter run 1

	touch $ALIVE
	meddlers=
	if [ $broken = 0 ]; then
		meddle reshard
		meddle toggle
		meddle choose
		meddle load
	fi
	now=$(cut -d. -f1 /proc/uptime)
	end=$((now + DURATION))
	while [ $now -lt $end ]; do
		progress "$act, $((end - now)) s to go"
		sleep 1
		now=$(cut -d. -f1 /proc/uptime)
		# What shall fail and has failed need not go on.
		[ $broken = 0 ] || ! dmesg | grep -q 'shard-torture:!!!' || break
	done
	rm $ALIVE
	[ -z "$meddlers" ] || wait $meddlers
	[ ! -e /tmp/failed ] || fail "$act: $(cat /tmp/failed)"
	progress "$act ends"
	parameter run 0
	for cpu in /sys/devices/system/cpu/cpu*/online; do
		[ "$(cat $cpu)" = 1 ] || fail "$act: ${cpu%/online} stayed off line"
	done
	result "act $act"
done
