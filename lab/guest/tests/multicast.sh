# A group with one member: joined at the subnet administrator, reached, left again.
. /lab/tests/common.sh
net_start
check "a first ping" reaches 10.1.0.2
has_group() { saquery -g | tr -d ' :' | grep -qi "ff12:401b:ffff::f07:809\|ff12401bffff.*f0*7:*0*809"; }
$B sysctl -qw net.ipv4.icmp_echo_ignore_broadcasts=0
check "join 239.7.8.9" ip -n b addr add 239.7.8.9/32 dev ib1 autojoin
check "the administrator has the group" eventually 10 has_group
ip -n a route add 239.0.0.0/8 dev ib0
check "it answers" eventually 10 $A ping -c 1 -W 1 -I ib0 239.7.8.9
check "it answers again" $A ping -c 3 -i 0.2 -W 5 -I ib0 239.7.8.9
check "leave" ip -n b addr del 239.7.8.9/32 dev ib1
refused "nobody answers" $A ping -c 2 -i 0.2 -W 1 -I ib0 239.7.8.9
finish
