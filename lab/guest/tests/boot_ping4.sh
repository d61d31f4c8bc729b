# The shortest way from power-on to a ping over IPv4.
. /lab/tests/common.sh
net_start
check "one ping" $A ping -c 1 -W 5 10.1.0.2
$A ping -c 1 -W 5 10.1.0.2 | grep "64 bytes from"
echo "first ping at uptime $(cut -d' ' -f1 /proc/uptime)"
check "three pings" pings 10.1.0.2
check "the neighbour has a 20-octet address" eval '$A ip neigh show 10.1.0.2 | grep -Eiq "lladdr ([0-9a-f]{2}:){19}[0-9a-f]{2} "'
finish
