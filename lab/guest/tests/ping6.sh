# IPv6: link-local addresses from the port GUIDs, and global ones; neighbour discovery instead of ARP.
. /lab/tests/common.sh
net_start
has_link_local() { ip -n b -6 addr show dev ib1 scope link | grep -q inet6 && ! ip -n b -6 addr show tentative | grep -q inet6; }
check "ib1 has a link-local address that is not tentative" eventually 10 has_link_local
address=$(ip -n b -6 addr show dev ib1 scope link | awk '/inet6/ { sub("/.*", "", $2); print $2; exit }')
check "ping $address" reaches "$address%ib0"
ip -n a addr add fd00::1/64 dev ib0 nodad
ip -n b addr add fd00::2/64 dev ib1 nodad
check "ping a global address" reaches fd00::2
check "a ping in fragments" pings fd00::2 20000
finish
