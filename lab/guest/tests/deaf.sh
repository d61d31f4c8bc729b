# lab: vib=enhanced=1+block_loopback=1
# Where an adapter blocks the loopback of multicast, interfaces on one port do not hear each other's ARP.
. /lab/tests/common.sh
net_start
check "ping" reaches 10.1.0.2
check "a second interface on a's port" ip -n a link add link ib0 name twin type ipoib pkey 0xffff
ip netns add c
ip -n a link set twin netns c
ip -n c addr add 10.1.0.3/24 dev twin
ip -n c link set twin up
check "it comes up" eventually 15 has_carrier c twin
C="ip netns exec c"
check "it reaches the other port" eventually 10 $C ping -c 1 -W 1 10.1.0.2
refused "it does not reach its own" $C ping -c 3 -W 1 10.1.0.1
finish
