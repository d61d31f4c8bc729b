# lab: vib=enhanced=1
# An adapter whose own driver carries IPoIB's datagrams: no connected mode, all else as ever, on interfaces of one port, too.
. /lab/tests/common.sh
net_start
refused "there is no connected mode" $A sh -c 'echo connected >/sys/class/net/ib0/mode'
check "ping" reaches 10.1.0.2
check "ping in fragments" pings 10.1.0.2 60000
check "a second interface on a's port" ip -n a link add link ib0 name twin type ipoib pkey 0xffff
ip netns add c
ip -n a link set twin netns c
ip -n c addr add 10.1.0.3/24 dev twin
ip -n c link set twin up
check "it comes up" eventually 15 has_carrier c twin
C="ip netns exec c"
check "it reaches the other port" eventually 10 $C ping -c 1 -W 1 10.1.0.2
check "it reaches its own" eventually 10 $C ping -c 1 -W 1 10.1.0.1
ip -n a link set ib0 down
ip -n a link set ib0 up
check "up again" links_up
check "ping again" reaches 10.1.0.2
finish
