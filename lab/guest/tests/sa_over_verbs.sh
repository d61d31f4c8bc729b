# SPDX-License-Identifier: GPL-2.0-or-later
# OpenSM is judged over two ports, by queue pairs between which packets cross.
# lab: hcas=3
. /lab/tests/common.sh
members() {
  saquery --smkey 1 -m >/tmp/members || echo "no answer $RANDOM"
  grep -E "MGID|PortGid" /tmp/members
}
members >/tmp/before
ipoib-conform run --fabric verbs:vib1,second=vib2,sm-key=1 --dut sa --allow fabric --quiet --no-color \
  --json /tmp/results.json >/tmp/said 2>&1
code=$?
tail -n 40 /tmp/said
check "the suite ends with a verdict" test $code = 1
check "it has opened two ports" grep -q '"device": "vib1/1, vib2/1"' /tmp/results.json
members >/tmp/after
check "the memberships are those of before" diff /tmp/before /tmp/after
ipoib-conform audit --fabric verbs:vib2,sm-key=1 >/tmp/said 2>&1
check "an audit finds nothing wrong" test $? = 0
file results.json /tmp/results.json
finish
