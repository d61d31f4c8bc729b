# SPDX-License-Identifier: GPL-2.0-or-later
# What somebody who is not root can do at a port, and what is said of the rest.
# lab: hcas=3
. /lab/tests/common.sh
echo "root:x:0:0::/:/bin/sh" >/etc/passwd
echo "nobody:x:65534:65534::/:/bin/sh" >>/etc/passwd
as_nobody() { su nobody -s /bin/sh -c "$*" >/tmp/said 2>&1; }
says() { grep -q "$1" /tmp/said || { cat /tmp/said; false; }; }
chmod 1777 /tmp

as_nobody ipoib-conform devices
check "the device's file is named" says "/dev/infiniband/umad1 is not readable and writable for you: be root, or"
check "and the capability" says "needs CAP_NET_RAW"
as_nobody ipoib-conform audit --fabric verbs:vib1
check "an audit without permission says which" says "vib1/1 cannot be opened for management datagrams: Permission denied"
chmod 666 /dev/infiniband/umad*
check "with it anybody may audit" as_nobody ipoib-conform audit --fabric verbs:vib1

# The administrator sees to it that packets get from one port to another: by two queue pairs.
crosses() {
  as_nobody "ipoib-conform run --fabric verbs:vib1,second=vib2,sm-key=1 --dut sa --allow link --no-color --json /tmp/$1 IPOIB-4391-5-VAL-004"
}
check "and send" crosses ordinary.json
check "which is judged" grep -q '"verdict": "PASS"' /tmp/ordinary.json

echo "Default=0x7fff, ipoib, Q_Key=0x80000b1b, mtu=4 : ALL=full;" >/etc/opensm/partitions.conf
/lab/sm stop
/lab/sm start >/dev/null 2>&1
has_controlled_q_key() { saquery MCMR | grep -qi "qkey.*0x80000b1b"; }
check "a link with a controlled Q_Key" eventually 20 has_controlled_q_key
crosses controlled.json
check "needs a capability, which is said" grep -q "Operation not permitted (a controlled Q_Key needs CAP_NET_RAW)" /tmp/controlled.json
finish
