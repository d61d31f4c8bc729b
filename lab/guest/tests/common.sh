# SPDX-License-Identifier: GPL-2.0-or-later
# For the guest's tests: ib0 in namespace a at 10.1.0.1, ib1 in namespace b at 10.1.0.2. Each test ends with finish.
A="ip netns exec a"
B="ip netns exec b"
failures=0

# check "what" COMMAND...: says what came of the command, with its output if it failed.
check() {
  local what=$1 output
  shift
  if output=$("$@" 2>&1); then
    echo "ok    $what"
  else
    echo "FAIL  $what: $*"
    printf '%s\n' "$output" | tail -n 15
    failures=$((failures + 1))
    return 1
  fi
}

# refused "what" COMMAND...: the command must fail.
refused() {
  local what=$1
  shift
  check "$what" not "$@"
}
not() { ! "$@"; }

# eventually SECONDS COMMAND...: tries every 100 ms.
eventually() {
  local tries=$(($1 * 10))
  shift
  until "$@" >/dev/null 2>&1; do
    if ((tries-- <= 0)); then
      "$@"
      return
    fi
    usleep 100000
  done
}

has_carrier() { ip -n "$1" link show "$2" | grep -q LOWER_UP; }
is_active() { [[ $(<"/sys/class/infiniband/$1/ports/1/state") == 4:* ]]; }
links_up() { eventually 15 has_carrier a ib0 && eventually 15 has_carrier b ib1; }
pings() { $A ping -c "${3:-3}" -i 0.1 -W 5 ${2:+-s "$2"} "$1"; }
# A first ping may be lost to address resolution on a busy host; what was resolved must be answered every time.
reaches() { eventually 10 $A ping -c 1 -W 1 "$1" && pings "$@"; }

net_up() {
  ip netns add a
  ip netns add b
  ip link set ib0 netns a
  ip link set ib1 netns b
  ip -n a link set lo up
  ip -n b link set lo up
  ip -n a addr add 10.1.0.1/24 dev ib0
  ip -n b addr add 10.1.0.2/24 dev ib1
  ip -n a link set ib0 up
  ip -n b link set ib1 up
  links_up
}

# net_start: what nearly every test begins with.
net_start() { check "ib0 and ib1 come up" net_up || finish; }

# twin_up: a second interface on a's port and link, in namespace c at 10.1.0.3.
C="ip netns exec c"
twin_up() {
  check "a second interface on a's port" ip -n a link add link ib0 name twin type ipoib pkey 0xffff
  ip netns add c
  ip -n a link set twin netns c
  ip -n c addr add 10.1.0.3/24 dev twin
  ip -n c link set twin up
  check "it comes up" eventually 15 has_carrier c twin
  check "it reaches the other port" eventually 10 $C ping -c 1 -W 1 10.1.0.2
}

control() { echo "$*" >/sys/kernel/debug/vib/control; }
drops() { awk -v reason="$1" '$1 == reason { print $2 }' /sys/kernel/debug/vib/drops; }

# What rdmavt's own code is known for: a warning of FORTIFY in qp.c.
kernel_complaints() {
  dmesg -s 1048576 | grep -E 'WARNING: |BUG: |BUG at|Oops|KASAN|UBSAN|INFO: (task .* blocked|rcu)|possible .*lock|refcount_t|soft lockup|general protection|unregister_netdevice: waiting|memory leak' |
    grep -vE 'WARNING: CPU: .* at drivers/infiniband/sw/rdmavt/qp\.c:'
}
no_complaints() {
  if kernel_complaints; then
    dmesg -s 1048576 | tail -n 60
    return 1
  fi
}

# file NAME PATH: gives a file to the host, which keeps it in build/lab/tests/.
file() { echo "LAB-FILE $1 $(gzip -c "$2" | base64 | tr -d '\n')"; }

finish() {
  check "the kernel has nothing to complain of" no_complaints
  exit $((failures > 0))
}
