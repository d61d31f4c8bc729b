# An interface in another partition: its own broadcast group, its own addresses, gone again.
. /lab/tests/common.sh
net_start
check "a child of ib0" ip -n a link add link ib0 name ib0.8001 type ipoib pkey 0x8001
check "a child of ib1" ip -n b link add link ib1 name ib1.8001 type ipoib pkey 0x8001
ip -n a addr add 10.2.0.1/24 dev ib0.8001
ip -n b addr add 10.2.0.2/24 dev ib1.8001
ip -n a link set ib0.8001 up
ip -n b link set ib1.8001 up
check "both come up" eval 'eventually 15 has_carrier a ib0.8001 && eventually 15 has_carrier b ib1.8001'
check "ping in the partition" reaches 10.2.0.2
check "ping in the default partition" reaches 10.1.0.2
check "delete one child" ip -n a link del ib0.8001
refused "it is gone" ip -n a link show ib0.8001
check "delete the other" ip -n b link del ib1.8001
check "the parents go on" pings 10.1.0.2
finish
