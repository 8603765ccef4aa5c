# SPDX-License-Identifier: GPL-2.0-only
#
# Loads for which it is known how often each hook has to be reached. The host's
# debugger counts from one sync to the next; the lines say what our own counters
# grew by meanwhile, and a little before and after.

. /job/lib.sh

counters()
{
	cat $SWQUEUE/stats
	sed 's/^/cid_/' $CID_CACHE/stats
}

# window NAME COMMAND...
window()
{
	name=$1
	shift
	progress "$name"
	counters >/tmp/before
	sync
	"$@" >/tmp/out 2>&1 || fail "$name: $*: $(tail -n 1 /tmp/out)"
	sync
	counters >/tmp/after
	result "window $name $(awk 'NR == FNR { a[$1] = $2; next }
		NF == 2 { printf "%s=%.0f ", $1, $2 - a[$1] }' /tmp/before /tmp/after)"
}

# Endless, until killed: of the fair class, and of a real-time one.
hog()
{
	exec taskset -c 1 "$@" sh -c 'while :; do :; done'
}

hogs()
{
	pids=
	for how in "$@"; do
		case $how in
		fair) hog & ;;
		rt) hog chrt -r 1 & ;;
		esac
		pids="$pids $!"
	done
	# They have to get to their CPU.
	sleep 0.5
}

unhog()
{
	kill $pids || fail "a hog has ended early"
	wait $pids
	true
}

lives()
{
	for i in 1 2 3 4 5 6 7 8 9 10; do
		/bin/true || return 1
	done
	costs 1 create 20 1
}

affinities()
{
	for mask in 1 2 3 1 2 3; do
		taskset -p $mask $$ || return 1
	done
}

partitions()
{
	for kind in root member root member; do
		echo $kind >/sys/fs/cgroup/part/cpuset.cpus.partition || return 1
	done
}

# The sleep in a window is for the tick, and for idle.
feature NO_SWQUEUE
window off costs 1 processes 200 1
feature SWQUEUE
window surplus costs 1 processes 200 1
window threads costs 1 threads 200 1
window balance hackbench -g 2 -f 5 -l 150
knob publish wakeup
window wakeup hackbench -g 2 -f 5 -l 150
knob publish surplus

for who in "fair" "fair fair" "fair rt"; do
	hogs $who
	window "tick-$(echo $who | tr ' ' '-')" sleep 1
	unhog
done

knob kick 1
window idle sh -c 'for i in 1 2 3 4 5; do sleep 0.1; done'
window kick-again knob kick 1
knob kick 0
window kick-off knob kick 0
window no-kick sh -c 'for i in 1 2 3 4 5; do sleep 0.1; done'

echo "+cpuset" >/sys/fs/cgroup/cgroup.subtree_control || fail "no cpuset controller"
mkdir /sys/fs/cgroup/part
echo 1 >/sys/fs/cgroup/part/cpuset.cpus || fail "a cpuset does not take CPU 1"
window domains partitions
window lives lives
window affinity affinities
