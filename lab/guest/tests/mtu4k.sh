# lab: mtu=5,5
# Ports and a broadcast group of MTU 4096.
. /lab/tests/common.sh
net_start
check "MTU 4092" eval 'eventually 10 eval "ip -n a link show ib0 | grep -q \"mtu 4092\""'
check "a first ping" reaches 10.1.0.2
check "just the MTU" $A ping -c 3 -i 0.1 -W 5 -M do -s 4064 10.1.0.2
check "60000 octets in fragments" pings 10.1.0.2 60000
finish
