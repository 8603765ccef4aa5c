# SPDX-License-Identifier: GPL-2.0-only
#
# Other people's tests, one after the other. /outside/list has a line for each:
# name, seconds it may take, directory, exit statuses that are a skip (with commas),
# command; between them a "|". Told of each: how it ended, the cases of those that
# print TAP, and the last lines of one that failed. FEATURES says what must be on.

. /job/lib.sh

mkdir -p /etc /var/tmp
printf 'root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n' >/etc/passwd
printf 'root:x:0:\nnobody:x:65534:\n' >/etc/group
chmod 1777 /tmp /var/tmp /dev/shm

case $FEATURES in
on)
	grep -qw SWQUEUE $SCHED/features || fail "the wake queue is not on"
	[ -d $CID_CACHE ] || fail "the CID cache is not on" ;;
off)
	! grep -qw 'SWQUEUE\|NO_SWQUEUE' $SCHED/features || fail "the wake queue is there"
	[ ! -d $CID_CACHE ] || fail "the CID cache is on" ;;
esac

n=0
total=$(wc -l </outside/list)
while IFS='|' read -r name seconds directory skips command; do
	n=$((n + 1))
	progress "$n of $total: $name"
	begin=$(cut -d. -f1 /proc/uptime)
	(cd "$directory" && exec timeout -k 5 "$seconds" sh -c "$command") >/tmp/output 2>&1 </dev/null
	status=$?
	took=$(($(cut -d. -f1 /proc/uptime) - begin))
	case ,$skips, in
	*,$status,*) how=skip ;;
	*) [ $status = 0 ] && how=pass || how=fail ;;
	esac
	result "test $name|$how|$status|$took"
	sed -n 's/^\(ok\|not ok\) [0-9]* \(.*\)/\1|\2/p' /tmp/output |
		awk -F'|' -v name="$name" '{ how = $1 == "ok" ? "pass" : "fail"
			if ($2 ~ /# *[Ss][Kk][Ii][Pp]/) how = "skip"
			sub(/ *#.*/, "", $2)
			if ($2 != "") print "case " name ": " $2 "|" how }' | result_lines
	[ $how = pass ] || tail -n 6 /tmp/output | tr -d '\r' | sed "s/^/note $name|/" | result_lines
	# What one left behind is not the next one's fault.
	for cpu in /sys/devices/system/cpu/cpu*/online; do
		[ "$(cat $cpu)" = 1 ] || echo 1 >$cpu
	done
done </outside/list
exit 0
