# SPDX-License-Identifier: GPL-2.0-only
#
# Every knob against good and bad input. Prints one TAP line per case; a bad
# value must be refused and must change nothing.

. /job/lib.sh

n=0
SYSCTL=/proc/sys/kernel/sched_swqueue_shards

verdict()
{
	n=$((n + 1))
	result "tap $1 $n - $2"
}

state()
{
	cat $SWQUEUE/shards $SWQUEUE/publish $SWQUEUE/kick $SWQUEUE/layout $SYSCTL $CID_CACHE/keep_ms
	# Only which process is chosen, its ids change all the time.
	cut -d' ' -f1-2 $CID_CACHE/process
}

# good FILE VALUE READS: accepted, and reads back as READS.
good()
{
	if printf "$2" 2>/dev/null >"$1" && [ "$(cat "$1")" = "$3" ]; then
		verdict ok "${1##*/} takes '$2'"
	else
		verdict "not ok" "${1##*/} takes '$2' (reads '$(cat "$1")')"
	fi
}

# bad FILE VALUE WHAT: refused, nothing changed.
bad()
{
	before=$(state)
	if printf "$2" 2>/dev/null >"$1"; then
		verdict "not ok" "${1##*/} refuses $3 (it was accepted)"
	elif [ "$before" != "$(state)" ]; then
		verdict "not ok" "${1##*/} refuses $3 (but something changed)"
	else
		verdict ok "${1##*/} refuses $3"
	fi
}

# check CONDITION-COMMAND... -- WHAT
check()
{
	what=$1
	shift
	if "$@" >/dev/null 2>&1; then verdict ok "$what"; else verdict "not ok" "$what"; fi
}

huge=$(printf '%05000d' 7)

good $SWQUEUE/shards '1\n' 1
good $SWQUEUE/shards '2' 2
good $SWQUEUE/shards '1024\n' 1024
good $SWQUEUE/shards '0\n' 0
good $SYSCTL '3\n' 3
check "shards shows what the sysctl set" [ "$(cat $SWQUEUE/shards)" = 3 ]
good $SYSCTL '0\n' 0
good $SWQUEUE/publish 'wakeup\n' 'surplus [wakeup]'
good $SWQUEUE/publish 'surplus' '[surplus] wakeup'
good $SWQUEUE/kick '1\n' 1
good $SWQUEUE/kick '0\n' 0

for file in $SWQUEUE/shards $SYSCTL; do
	bad $file '1025\n' 'a value above the range'
	bad $file '4294967296\n' 'a value beyond 32 bits'
	bad $file '99999999999999999999999999\n' 'a value beyond 64 bits'
	bad $file '-1\n' 'a negative value'
	bad $file 'four\n' 'text'
	bad $file '4x\n' 'a number with a tail'
done
bad $SWQUEUE/shards '\n' 'an empty line'
bad $SWQUEUE/shards '4 5\n' 'two numbers'
bad $SWQUEUE/shards '\000\001\377' 'binary'
# Another value than 0, which is what the beginning of it reads as.
good $SWQUEUE/shards '3\n' 3
bad $SWQUEUE/shards "$huge" 'five thousand digits'
good $SWQUEUE/shards '0\n' 0
bad $SWQUEUE/kick '2\n' 'a value above the range'
bad $SWQUEUE/kick 'yes\n' 'text'
bad $SWQUEUE/kick '\n' 'an empty line'
bad $SWQUEUE/publish 'everything\n' 'an unknown word'
bad $SWQUEUE/publish 'surplu\n' 'half a word'
bad $SWQUEUE/publish 'wakeupwakeupwakeup\n' 'a long word'
bad $SWQUEUE/publish "$huge" 'a huge word'
bad $SWQUEUE/publish '\000\001' 'binary'
bad $SWQUEUE/reset '0\n' 'another value than 1'
bad $SWQUEUE/reset 'all\n' 'text'

good $CID_CACHE/keep_ms '0\n' 0
good $CID_CACHE/keep_ms '3600000' 3600000
good $CID_CACHE/keep_ms '20\n' 20
bad $CID_CACHE/keep_ms '3600001\n' 'a value above the range'
bad $CID_CACHE/keep_ms '4294967296\n' 'a value beyond 32 bits'
bad $CID_CACHE/keep_ms '-1\n' 'a negative value'
bad $CID_CACHE/keep_ms '0x10\n' 'hexadecimal'
bad $CID_CACHE/keep_ms 'ever\n' 'text'
bad $CID_CACHE/keep_ms '\n' 'an empty line'
bad $CID_CACHE/keep_ms '4 5\n' 'two numbers'
bad $CID_CACHE/keep_ms "$huge" 'five thousand digits'
bad $CID_CACHE/reset '0\n' 'another value than 1'
bad $CID_CACHE/reset 'all\n' 'text'

check "process is empty before the first write" [ -z "$(cat $CID_CACHE/process)" ]
bad $CID_CACHE/process '0\n' 'pid 0'
bad $CID_CACHE/process '-1\n' 'a negative pid'
bad $CID_CACHE/process '2\n' 'a kernel thread'
bad $CID_CACHE/process '4194304\n' 'a pid that no process has'
bad $CID_CACHE/process 'self\n' 'text'
echo 1 >$CID_CACHE/process
# This shell is process 1's child; that one waits for it and has one thread.
line=$(cat $CID_CACHE/process)
check "process 1 has one thread and id 0 ($line)" \
	[ "${line% allowed *}${line#* allowed [0-9]*[!0-9]}" = "pid 1 users 1running 0 held 0" ]
bad $CID_CACHE/process '4194304\n' 'a pid that no process has, after one that is there'
sleep 1000 &
gone=$!
echo $gone >$CID_CACHE/process
kill $gone
wait $gone 2>/dev/null
check "a process that has exited can't be read" sh -c "! cat $CID_CACHE/process"
echo 1 >$CID_CACHE/process

before=$(state)
check "a write at an offset is refused by keep_ms" sh -c "! printf '2' | dd of=$CID_CACHE/keep_ms bs=1 seek=1 2>/dev/null"
check "and changes nothing" [ "$before" = "$(state)" ]
check "the CID cache's stats can't be written, even by root" sh -c "! echo 1 >$CID_CACHE/stats"
check "the CID cache's reset can't be read" sh -c "! cat $CID_CACHE/reset"
counter()
{
	awk -v name="$1" '$1 == name { print $2 }' $CID_CACHE/stats
}
check "the CID cache counts single-threaded switches" [ "$(counter single)" -gt 100 ]
echo 1 >$CID_CACHE/reset
check "the CID cache's reset zeroes ($(counter single) left)" [ "$(counter single)" -lt 100 ]
check "the CID cache never broke the bound" [ "$(counter exceeded)" = 0 ]
modes=$(cd $CID_CACHE && stat -c '%n %a' * | tr '\n' ' ')
check "modes of the CID cache's files ($modes)" [ "$modes" = "keep_ms 644 process 644 reset 200 stats 444 " ]

before=$(state)
check "a write at an offset is refused" sh -c "! printf '2' | dd of=$SWQUEUE/shards bs=1 seek=1 2>/dev/null"
check "and changes nothing" [ "$before" = "$(state)" ]
for file in layout stats; do
	check "$file can't be written, even by root" sh -c "! echo 1 >$SWQUEUE/$file"
done
check "reset can't be read" sh -c "! cat $SWQUEUE/reset"

echo 1 >$SWQUEUE/reset
check "reset zeroes what nothing counts meanwhile" [ "$(awk '$1 == "unlinked" { print $2 }' $SWQUEUE/stats)" = 0 ]

modes=$(cd $SWQUEUE && stat -c '%n %a' * | tr '\n' ' ')
check "modes of the files ($modes)" [ "$modes" = "kick 644 layout 444 publish 644 reset 200 shards 644 stats 444 " ]
check "mode of the sysctl" [ "$(stat -c %a $SYSCTL)" = 644 ]

# debugfs keeps others out altogether; the sysctl they may read.
as_nobody()
{
	su nobody -s /bin/sh -c "$1"
}
mkdir -p /etc
printf 'root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n' >/etc/passwd
check "a process of somebody else can be made" [ "$(as_nobody 'id -u')" = 65534 ]
for file in shards publish kick layout stats reset; do
	check "others can't write $file" sh -c "! su nobody -s /bin/sh -c 'echo 1 >$SWQUEUE/$file'"
done
for file in keep_ms process stats reset; do
	check "others can't write the CID cache's $file" sh -c "! su nobody -s /bin/sh -c 'echo 1 >$CID_CACHE/$file'"
done
check "others can't write the sysctl" sh -c "! su nobody -s /bin/sh -c 'echo 1 >$SYSCTL'"
check "others can read the sysctl" as_nobody "cat $SYSCTL"

# Many writers at once, of good and of bad values.
for writer in 1 2 3 4 5 6; do
	(
		i=0
		while [ $i -lt 15 ]; do
			echo $((i % 4)) >$SWQUEUE/shards
			echo 9999 >$SWQUEUE/shards
			cat $SWQUEUE/stats >/dev/null
			i=$((i + 1))
		done
	) 2>/dev/null &
done
wait
shards=$(cat $SWQUEUE/shards)
check "concurrent writers leave one of their values ($shards)" [ "$shards" -le 3 ]
echo 0 >$SWQUEUE/shards

echo NO_SWQUEUE >$SCHED/features
check "the feature bit shows as off" grep -q NO_SWQUEUE $SCHED/features
echo SWQUEUE >$SCHED/features
check "the feature bit shows as on" sh -c "! grep -q NO_SWQUEUE $SCHED/features && grep -q SWQUEUE $SCHED/features"
result "plan $n"
