# Datagrams as large as the MTU, and fragments of larger ones.
. /lab/tests/common.sh
net_start
check "MTU 2044" eval 'ip -n a link show ib0 | grep -q "mtu 2044"'
check "a first ping" reaches 10.1.0.2
check "just the MTU" $A ping -c 3 -i 0.1 -W 5 -M do -s 2016 10.1.0.2
refused "an octet more, not to be fragmented" $A ping -c 1 -W 2 -M do -s 2017 10.1.0.2
check "60000 octets in fragments" pings 10.1.0.2 60000
check "many" $A ping -q -c 200 -i 0.005 -W 5 10.1.0.2
finish
