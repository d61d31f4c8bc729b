# SPDX-License-Identifier: GPL-2.0-or-later
# ipoib-gen at a port of its own: to Linux, to another one at a third port, and what a queue pair cannot send.
# lab: hcas=3
. /lab/tests/common.sh
ip addr add 10.1.0.9/24 dev ib0
ip link set ib0 up
# The key lets the subnet administrator tell what the host itself does not hold at these ports.
members() {
  saquery --smkey 1 -m | awk '/MGID/ { mgid = $NF } /PortGid/ { print mgid, $NF }' | grep -E 'c9b2:0:[12]01$'
  saquery --smkey 1 -g >/dev/null || echo "no answer $RANDOM"
}
members >/tmp/before
received() { cat /sys/class/net/ib0/statistics/rx_packets; }
generate() { ipoib-gen "$@" --ip 10.1.0.50 --out verbs:vib1,sm-key=1 >/tmp/said 2>&1; }

first=$(received)
# A busy host gives the guest no time to empty its receive buffers: how many arrive is the host's, not ipoib-gen's.
check "UDP is sent to Linux" generate udp --to 10.1.0.9 --count 1000 --rate 1000 --size 64
check "Linux has got it" eventually 30 eval '[ $(received) -ge $((first + 100)) ]'
check "packets of all sizes, some inline, some not" generate mtu-sweep --to 10.1.0.9 --count 2100 --rate max
check "echo requests are sent" generate ping4 --to 10.1.0.9 --count 100 --rate 500
check "and answered" grep -Eq "[1-9][0-9]* received" /tmp/said
cat /tmp/said
check "a neighbour is found by IPv6" generate ping6 --to "$(ip -6 -o addr show dev ib0 | sed 's/.*inet6 \([^/]*\).*/\1/')" --count 20

receive() { ipoib-gen receive --from verbs:vib2,sm-key=1 --ip 10.1.0.60 --stats json --duration 60 "$@" >/tmp/got 2>&1; }
told() { sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" /tmp/got; }
# adds_up SENT: what came and what was missed are no more than what was sent, and nothing came twice or late.
adds_up() {
  cat /tmp/got
  local came missed
  came=$(told numbered)
  missed=$(told lost)
  ((came > 0 && came + missed <= $1 && $(told duplicates) == 0 && $(told reordered) == 0))
}
# is_judged CODE SENT: with --max-loss 5, exit code 1 when more than that did not come, and 0 else.
is_judged() {
  cat /tmp/got
  (($1 == (($2 - $(told numbered)) * 100 > 5 * $2)))
}
receive --count 20000 --max-loss 5 --max-duplicates 0 --max-reordered 0 &
eventually 10 grep -q "receiving at" /tmp/got
check "as fast as it goes, in batches" generate udp --to 10.1.0.60 --count 20000 --rate 20000 --size 100
cat /tmp/said
wait $!
code=$?
check "what came and what was lost adds up" adds_up 20000
check "the loss is judged" is_judged $code 20000
cat /tmp/got
receive --count 8000 --max-loss 5 &
eventually 10 grep -q "receiving at" /tmp/got
check "four queue pairs, each an interface" generate udp --to 10.1.0.60 --hosts 4 --count 8000 --rate 4000
wait $!
check "that of four adds up too" adds_up 8000
cat /tmp/got
check "all of them send to the other port" grep -q '"flows": 4,' /tmp/got

cannot() { check "$1 is refused" eval "! generate $2"; check "$1 is explained" grep -q -- "$3" /tmp/said; }
cannot "a Reserved8a bit" "udp --to 10.1.0.9 --count 5 --set BTH.Reserved8a=1" "cannot be sent"
cannot "a wrong ICRC" "udp --to 10.1.0.9 --count 5 --set UDP.SourcePort=5 --keep-crc" "ICRC"
cannot "a link's impact" "udp-multicast --count 5" "--allow link"
cannot "no end" "udp --to 10.1.0.9" "--count or --duration"
cannot "nobody there" "udp --to 10.1.0.250 --count 5" "nobody answers"
check "groups are made, joined and left" generate udp-multicast --count 200 --groups 3 --allow link
first=$(received)
ipoib-gen udp --to 10.1.0.9 --ip 10.1.0.50 --count 1000000 --rate 100 --out verbs:vib1,sm-key=1 >/tmp/said 2>&1 &
check "it is on its way" eventually 10 eval '[ $(received) -gt $((first + 10)) ]'
kill -INT $!
wait $!
check "an interrupt ends it in order" test $? = 0
check "the statistics are told" grep -q "packets, " /tmp/said
members >/tmp/after
check "the memberships are those of before" diff /tmp/before /tmp/after
finish
