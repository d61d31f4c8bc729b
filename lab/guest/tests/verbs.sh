# User space's verbs through rdma-core's ipathverbs provider.
. /lab/tests/common.sh
check "both adapters are active" eval '[ "$(ibv_devinfo | grep -c PORT_ACTIVE)" -ge 2 ]'
check "their link layer is InfiniBand" eval '[ "$(ibv_devinfo | grep -c "link_layer:.*InfiniBand")" -ge 2 ]'
pingpong() {
  local program=$1 server
  shift
  "$program" -d vib1 "$@" >/tmp/server 2>&1 &
  server=$!
  sleep 1
  timeout 60 "$program" -d vib0 "$@" 127.0.0.1 || { kill $server; cat /tmp/server; return 1; }
  wait $server
}
check "ibv_ud_pingpong" pingpong ibv_ud_pingpong -n 200 -s 1024
check "ibv_rc_pingpong" pingpong ibv_rc_pingpong -n 200 -s 4096
check "the subnet manager is there" sminfo
check "ibnetdiscover finds both" eval '[ "$(ibnetdiscover | grep -c "^Ca")" -ge 2 ]'
finish
