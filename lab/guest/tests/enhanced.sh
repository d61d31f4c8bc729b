# lab: vib=enhanced=1
# An adapter whose own driver carries IPoIB's datagrams: no connected mode, all else as ever, on interfaces of one port, too.
. /lab/tests/common.sh
net_start
refused "there is no connected mode" $A sh -c 'echo connected >/sys/class/net/ib0/mode'
check "ping" reaches 10.1.0.2
check "ping in fragments" pings 10.1.0.2 60000
twin_up
check "it reaches its own" eventually 10 $C ping -c 1 -W 1 10.1.0.1
ip -n a link set ib0 down
ip -n a link set ib0 up
check "up again" links_up
check "ping again" reaches 10.1.0.2
finish
