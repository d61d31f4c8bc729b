# SPDX-License-Identifier: GPL-2.0-or-later
# The suite over verbs, at a port whose own ib1 goes on as if nothing were. Linux at ib0 is judged.
. /lab/tests/common.sh
ip netns add b
ip link set ib1 netns b
ip -n b link set lo up
$B sysctl -qw net.ipv4.icmp_echo_ignore_broadcasts=0
ip addr add 10.1.0.9/24 dev ib0
ip -n b addr add 10.1.0.77/24 dev ib1
ip link set ib0 up
ip -n b link set ib1 up
check "a group of ib1's own" ip -n b addr add 239.7.8.9/32 dev ib1 autojoin
answers() { eventually 10 ping -c 1 -W 1 "$@" && ping -c 3 -i 0.1 -W 5 "$@"; }
check "ib1 answers" answers 10.1.0.77
ip route add 239.0.0.0/8 dev ib0
check "ib1 answers in its group" answers -I ib0 239.7.8.9

# What the administrator holds for the port that ib1 and the tester share. In time the kernel itself also sends to the
# routers, and to whom it asks for an address; and it leaves the group that its IGMP and MLD reports went to.
members() {
  saquery --smkey 1 -m | awk '/MGID/ { mgid = $NF } /PortGid/ { print mgid, $NF }' | sed 's/\.\.*/ /g' |
    awk '/c9b2:0:101$/ { print $2 }' | grep -vE '601b:ffff::(2|1:ff00:1)$|ffff::16$' | sort
}
members >/tmp/before
check "members are told" test -s /tmp/before

check "the port can be used" eval 'ipoib-conform devices | grep -q "can be used: --fabric verbs:vib1/1"'
check "its interface is in another namespace, the DUT's is not" eval '[ "$(ipoib-conform devices | grep -c "ib[01]: P_Key 0xffff, datagram, up")" = 1 ]'
# The administrator is asked over the port that ib1 uses, and nothing changes.
audit() { ipoib-conform audit --fabric "verbs:vib1$1" --no-color --json /tmp/audit.json >/tmp/said 2>&1; }
check "the audit finds nothing wrong with what Linux holds" audit ,sm-key=1
file audit.json /tmp/audit.json
check "nor what it tells a stranger" audit ""
members >/tmp/after
check "it has changed nothing" diff /tmp/before /tmp/after

suite() { ipoib-conform run --fabric verbs:vib1,sm-key=1 --dut "exec:ipoib-dut-linux ib0" --allow link "$@"; }
suite --expect /lab/linux.baseline.toml --json /tmp/results.json --evidence /tmp/evidence --quiet >/tmp/said 2>&1
code=$?
tail -n 60 /tmp/said
check "the suite ends with nothing that is wrong" test $code = 0 -o $code = 5
check "ib1 still answers" answers 10.1.0.77
check "ib1 still answers in its group" answers -I ib0 239.7.8.9
members >/tmp/after
check "the memberships are those of before" diff /tmp/before /tmp/after
journals() { ls /run/ipoib-conform 2>/dev/null | wc -l; }
check "nothing is left in the journal" [ "$(journals)" = 0 ]

# Whoever is asked to end does so properly; meanwhile nobody else can use the port.
holds_more() { members | not cmp -s /tmp/before -; }
suite 'IPOIB-4391-10-*' >/tmp/said 2>&1 &
check "a run holds groups" eventually 20 holds_more
suite IPOIB-4391-2-VAL-001 >/tmp/second 2>&1
check "a second run at this port is refused" grep -q "another run uses this port" /tmp/second
killall -TERM ipoib-conform
wait
members >/tmp/after
check "a run that is interrupted leaves nothing" diff /tmp/before /tmp/after
check "nor in the journal" [ "$(journals)" = 0 ]

# A tester that is killed cannot end its memberships. The next run does.
suite 'IPOIB-4391-10-*' >/tmp/said 2>&1 &
check "a run holds groups again" eventually 20 holds_more
killall -KILL ipoib-conform
wait
members >/tmp/killed
check "the one that was killed has left memberships" not cmp -s /tmp/before /tmp/killed
check "its journal tells of them" [ "$(journals)" = 1 ]
suite IPOIB-4391-2-VAL-001 --json /tmp/next.json >/tmp/said 2>&1
check "the next run says so" grep -q "a run that was killed had left" /tmp/next.json
members >/tmp/after
check "they are ended" diff /tmp/before /tmp/after
check "ib1 still answers in its group" answers -I ib0 239.7.8.9
file results.json /tmp/results.json
finish
