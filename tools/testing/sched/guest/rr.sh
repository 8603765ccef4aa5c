# SPDX-License-Identifier: GPL-2.0-only
#
# UDP request/response pairs over loopback under three settings of the wake
# queue, interleaved. From the environment: ROUNDS, WINDOW (seconds counted per
# setting and round), TOOL (sockperf or netperf), LIFE (seconds after which a
# client ends by itself), CAP (messages per second that a sockperf client makes
# room for).
#
# Within a round the same processes run under all three settings, so a ratio
# compares like with like; a new round starts new clients, so a lucky placement
# does not last. Transactions are counted by the kernel (UDP datagrams sent, two
# a transaction) over exactly the window in which wakeups and locks are counted;
# the client's own total is compared with that count at the end of each round.

. /job/lib.sh

CPUS=$(nproc)
KICK=$(cat $SWQUEUE/kick) || fail "no wake queue in this kernel ($SWQUEUE/kick cannot be read)"
echo 1 >/proc/sys/kernel/sched_schedstats || fail "the kernel has no schedstats"

# Samples are taken on time even when every CPU is busy; the load runs at nice 0.
renice -n -20 -p $$ >/dev/null || fail "renice failed"

snapshot()
{
	cat /proc/uptime /proc/net/snmp /proc/net/snmp6 /proc/schedstat $SWQUEUE/stats >"$1" ||
		fail "the counters cannot be read"
}

# difference FILE FILE: every counter's growth from one snapshot to the next.
# The wakeup counters of the scheduler are 32 bits wide and may wrap.
difference()
{
	awk '
	function count(name, value) { if (file == 1) a[name] = value; else b[name] = value }
	FNR == 1 { file++; count("seconds", $1); next }
	$1 == "Udp:" && $2 ~ /^[0-9]/ { udp[file] = $5 }
	$1 == "Udp6OutDatagrams" { count("transactions", (udp[file] + $2) / 2) }
	/^cpu[0-9]/ { ttwu[file, $1] = $6; cpus[$1] }
	NF == 2 && $1 ~ /^[a-z_]+$/ && $2 ~ /^[0-9]+$/ { if ($1 !~ /^(wakeups|version|timestamp)$/) count($1, $2) }
	END {
		for (cpu in cpus) {
			d = ttwu[2, cpu] - ttwu[1, cpu]
			n += d < 0 ? d + 4294967296 : d
		}
		printf "seconds=%.2f wakeups=%d", b["seconds"] - a["seconds"], n
		for (name in b)
			if (name != "seconds")
				printf " %s=%.0f", name, b[name] - (name == "length" || name == "longest" ? 0 : a[name])
		print ""
	}' "$1" "$2"
}

arm()
{
	case $1 in
	off) feature NO_SWQUEUE ;;
	reported) feature SWQUEUE; knob publish wakeup; knob shards 1 ;;
	swqueue) feature SWQUEUE; knob publish surplus; knob shards 0; knob kick "$KICK" ;;
	esac
}

serve()
{
	servers=
	case $TOOL in
	sockperf)
		for i in $(seq "$pairs"); do
			nice -n 20 sockperf server -i 127.0.0.1 -p $((11000 + i)) >/tmp/server.$i 2>&1 &
			servers="$servers $!"
		done ;;
	netperf)
		# The C library resolves no IPv6 address, not even this one,
		# while the loopback's own is the only one.
		ip -6 addr add fd00::1/128 dev lo 2>/dev/null
		nice -n 20 netserver -D -6 -L ::1 >/tmp/server.1 2>&1 &
		servers=$! ;;
	esac
	sleep 1
}

connect()
{
	clients=
	for i in $(seq "$pairs"); do
		case $TOOL in
		sockperf)
			nice -n 20 sockperf ping-pong --full-rtt --mps=$CAP -t $LIFE \
				-i 127.0.0.1 -p $((11000 + i)) >/tmp/client.$i 2>&1 & ;;
		netperf)
			nice -n 20 netperf -6 -H ::1 -t UDP_RR -l $LIFE -- -r 1,1 >/tmp/client.$i 2>&1 & ;;
		esac
		clients="$clients $!"
	done
	# A client is at work once it has waited for answers.
	files=
	for pid in $clients; do
		files="$files /proc/$pid/status"
	done
	for try in $(seq 120); do
		alive
		busy=$(awk '$1 == "voluntary_ctxt_switches:" && $2 >= 30 { n++ } END { print n + 0 }' $files)
		[ "$busy" = "$pairs" ] && return
		sleep 1
	done
	fail "only $busy of $pairs $TOOL clients got an answer"
}

alive()
{
	i=0
	for pid in $clients; do
		i=$((i + 1))
		kill -0 "$pid" 2>/dev/null ||
			fail "$TOOL client $i ended: $(tail -n 1 /tmp/client.$i)"
	done
}

# What the clients say they did, to be compared with the kernel's count.
disconnect()
{
	[ $TOOL = sockperf ] && kill -INT $clients || kill $clients
	wait $clients 2>/dev/null
	[ $TOOL = sockperf ] || return
	snapshot /tmp/after
	said=$(sed -n 's/.*\[Total Run\].*ReceivedMessages=\([0-9]*\).*/\1/p' /tmp/client.* |
		awk '{ n += $1 } END { print n + 0 }')
	result "tool $said $(difference /tmp/before /tmp/after)"
}

for load in half full; do
	pairs=$CPUS
	[ $load = half ] && pairs=$(((CPUS + 1) / 2))
	result "load $load $pairs"
	serve
	for round in $(seq "$ROUNDS"); do
		progress "load $load ($pairs pairs on $CPUS CPUs), round $round of $ROUNDS"
		arm off
		snapshot /tmp/before
		connect
		sleep 1
		for arm in off reported swqueue; do
			arm $arm
			sleep 1
			snapshot /tmp/a
			sleep "$WINDOW"
			snapshot /tmp/b
			alive
			result "sample $load $round $arm $(difference /tmp/a /tmp/b)"
			[ $round != 1 ] || result "shards $load $arm $(awk '/ shard / { print $4 "/" $6 }' \
				$SWQUEUE/layout | sort -u | wc -l)"
		done
		disconnect
	done
	kill $servers
	wait $servers 2>/dev/null
done
exit 0
