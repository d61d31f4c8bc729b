# A cable that is pulled and put back: carrier, recovery, and what is refused.
. /lab/tests/common.sh
net_start
check "a first ping" reaches 10.1.0.2
refused "nonsense" control "link hca7 down"
refused "half a line" control "link hca0"
for round in 1 2 3; do
  check "pull ($round)" control "link hca0 down"
  check "vib0 is down" eventually 5 not is_active vib0
  check "ib0 has no carrier" eventually 5 not has_carrier a ib0
  refused "no ping" $A ping -c 1 -W 1 10.1.0.2
  check "put back ($round)" control "link hca0 up"
  check "vib0 is active" eventually 15 is_active vib0
  check "carrier" links_up
  check "ping" reaches 10.1.0.2
done
finish
