# Connected mode: a large MTU, fragments none, and back to datagrams.
. /lab/tests/common.sh
net_start
check "a first ping" reaches 10.1.0.2
for side in "a ib0" "b ib1"; do
  set -- $side
  check "$2 is connected" ip netns exec "$1" bash -c "echo connected >/sys/class/net/$2/mode && ip link set $2 mtu 65520"
done
check "ping" reaches 10.1.0.2
check "60000 octets in one piece" $A ping -c 3 -i 0.2 -W 5 -M do -s 60000 10.1.0.2
$B busybox nc -l -p 5001 >/tmp/received &
head -c 4000000 /dev/urandom >/tmp/sent
# Port 5001 and the state LISTEN, of IPv4 or IPv6.
listens() { $B grep -qs ':1389 [0-9A-F]*:0000 0A ' /proc/net/tcp /proc/net/tcp6; }
check "somebody listens" eventually 10 listens
check "4 MB over TCP" eval \
  '$A timeout 60 bash -c "cat /tmp/sent >/dev/tcp/10.1.0.2/5001" && eventually 30 cmp /tmp/sent /tmp/received'
for side in "a ib0" "b ib1"; do
  set -- $side
  check "$2 is datagram again" ip netns exec "$1" bash -c "echo datagram >/sys/class/net/$2/mode"
done
check "ping in datagram mode" reaches 10.1.0.2
finish
