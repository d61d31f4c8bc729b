# Modules that leave under traffic and come back, three times. ib_ipoib goes before its subnet manager does.
. /lab/tests/common.sh
vib_parameters="hcas=2 raws=2"
received() { $A cat /sys/class/net/ib0/statistics/rx_packets; }
is_busy() { [ "$(received)" -gt $((before + 100)) ]; }
for round in 1 2 3; do
  check "up ($round)" net_up || finish
  check "ping" reaches 10.1.0.2
  before=$(received)
  $A ping -q -i 0.002 -s 1900 10.1.0.2 >/dev/null 2>&1 &
  traffic=$!
  $A ping -q -i 0.05 -s 20000 10.1.0.2 >/dev/null 2>&1 &
  more=$!
  check "the link is busy" eventually 10 is_busy
  check "rmmod ib_ipoib under traffic" rmmod ib_ipoib
  kill $traffic $more 2>/dev/null
  wait $traffic $more 2>/dev/null
  check "OpenSM ends" /lab/sm stop
  # The raw ports' bridges hold the module only while the host is connected, which it is not.
  check "rmmod vib" eventually 5 rmmod vib
  refused "no adapter is left" test -e /sys/class/infiniband/vib0
  ip netns del a
  ip netns del b
  check "insmod vib" insmod /lab/modules/vib.ko $vib_parameters
  check "insmod ib_ipoib" insmod /lab/modules/ib_ipoib.ko
  check "OpenSM starts" /lab/sm start vib1
  check "active again" eval 'eventually 20 is_active vib1 && eventually 20 is_active vib0'
done
finish
