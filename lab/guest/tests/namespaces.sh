# Adapters that follow a network namespace: clients leave and return, verbs programs lose their device, and nothing breaks.
# lab: hcas=3
. /lab/tests/common.sh
# name_of UNIT [NAMESPACE]: the interface of an adapter, by the GUID in its address. The driver may make it in the first
# namespace, under the first name that is free, or in that of the adapter.
name_of() {
  ip ${2:+-n "$2"} -o link | awk -v guid="00:02:c9:b2:00:00:0$1:01" 'index($0, guid) { sub(":", "", $2); print $2 }'
}
is_there() { [ -n "$(name_of "$1")$(name_of "$1" "$2")" ]; }
# move UNIT NAMESPACE: there it is ib0.
move() {
  local name
  rdma dev set "vib$1" netns "$2" && eventually 10 is_there "$1" "$2" || return
  name=$(name_of "$1")
  [ -z "$name" ] || ip link set "$name" netns "$2" name ib0
}
address() { ip -n "$1" addr add "$3/24" dev "$2" && ip -n "$1" link set "$2" up; }

check "adapters can follow their namespace" rdma system set netns exclusive || finish
ip netns add a
ip netns add b
check "vib0 moves" move 0 a || finish
check "vib2 moves" move 2 b || finish
check "it is seen there only" eval '$A rdma dev | grep -q vib0 && ! rdma dev | grep -q vib0'
check "addresses" eval 'address a ib0 10.1.0.1 && address b ib0 10.1.0.2'
check "carrier" eval 'eventually 20 has_carrier a ib0 && eventually 20 has_carrier b ib0'
check "ping" reaches 10.1.0.2
check "verbs see one device each" eval '[ "$($A ibv_devices | grep -c vib)" = 1 ] && [ "$($B ibv_devices | grep -c vib)" = 1 ]'
$B timeout 60 ucmatose -C 5 >/tmp/server 2>&1 &
server=$!
sleep 1
check "ucmatose" $A timeout 60 ucmatose -s 10.1.0.2 -C 5
wait $server

# A program that holds queues of the device while it goes.
$A ibv_rc_pingpong -d vib0 >/tmp/holder 2>&1 &
holder=$!
sleep 1
check "a program holds the device" eval 'eventually 5 grep -q uverbs /proc/$holder/maps'
check "vib0 moves on under it" $A rdma dev set vib0 netns b
check "the module is held by what it has mapped" not rmmod vib
kill $holder
wait $holder 2>/dev/null
check "seen there" eval '$B rdma dev | grep -q vib0'
for round in 1 2 3; do
  check "to a ($round)" eval '$B rdma dev set vib0 netns a'
  check "to b ($round)" eval '$A rdma dev set vib0 netns b'
done
check "the namespace ends, the device returns" eval 'ip netns del b; eventually 10 sh -c "rdma dev | grep -q vib0"'
check "rmmod" eval 'rmmod ib_ipoib && /lab/sm stop && eventually 5 rmmod vib'
finish
