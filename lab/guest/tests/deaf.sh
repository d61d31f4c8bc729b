# lab: vib=enhanced=1+block_loopback=1
# Where an adapter blocks the loopback of multicast, interfaces on one port do not hear each other's ARP.
. /lab/tests/common.sh
net_start
check "ping" reaches 10.1.0.2
twin_up
refused "it does not reach its own" $C ping -c 3 -W 1 10.1.0.1
finish
