// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/dut/linux/kernel_log.hpp"

#include "catch2.hpp"

using namespace ipoib::host;

TEST_CASE("Kernel log: a record's message ends with its first line") {
    CHECK(parse_kmsg("6,339,5140900,-;ib0: joined\n SUBSYSTEM=net\n DEVICE=n3\n") == "ib0: joined");
    CHECK(parse_kmsg("4,1,2,c;a;b") == "a;b");
    CHECK_FALSE(parse_kmsg(" SUBSYSTEM=net;x\n"));
    CHECK_FALSE(parse_kmsg("6,339"));
    CHECK_FALSE(parse_kmsg(""));
}

TEST_CASE("Kernel log: warnings, oopses and sanitizer reports are faults, other lines are none") {
    for (const auto* line : {"WARNING: CPU: 0 PID: 1 at net/core/dev.c:1 f+0x1/0x2", "BUG: unable to handle page fault",
                             "Oops: 0002 [#1] SMP", "BUG: KASAN: use-after-free in ipoib_start_xmit",
                             "WARNING: possible circular locking dependency detected",
                             "unregister_netdevice: waiting for ib0 to become free. Usage count = 2",
                             "INFO: task kworker/u4:1:37 blocked for more than 120 seconds.",
                             "BUG kmalloc-64 (Tainted: G           OE     ): Poison overwritten",
                             "Freed in ipoib_cm_tx_destroy+0x1/0x2 [ib_ipoib] age=3 cpu=0 pid=9",
                             "kernel BUG at mm/slub.c:1!", "Kernel panic - not syncing: Fatal exception"}) {
        CAPTURE(line);
        CHECK(FaultFilter{}.is_fault(line));
    }
    for (const auto* line :
         {"ib0: multicast join failed for ff12::1, status -22", "Budget exhausted after napi rescheduled",
          "ib_query: Couldn't create new SM AH", "INFO: lockdep is turned off.", "",
          "IPv6: ADDRCONF(NETDEV_CHANGE): ib0: link becomes ready",
          "platform vib.0 ib0: NETDEV WATCHDOG: CPU: 1: transmit queue 0 timed out 1012 ms"}) {
        CAPTURE(line);
        CHECK_FALSE(FaultFilter{}.is_fault(line));
    }
}

TEST_CASE("Kernel log: rdmavt's warning of a field-spanning write is known, and only that one") {
    const auto* const note =
        "memcpy: detected field-spanning write (size 40) of single field \"&wqe->wr\" at "
        "drivers/infiniband/sw/rdmavt/qp.c:2012 (size 32)";
    const auto* const warning = "WARNING: CPU: 1 PID: 9 at drivers/infiniband/sw/rdmavt/qp.c:2012 rvt_post_one_wr";
    FaultFilter filter;
    CHECK(filter.is_fault(warning));
    CHECK_FALSE(filter.is_fault(note));
    CHECK_FALSE(filter.is_fault(warning));
    CHECK(filter.is_fault(warning));
    CHECK_FALSE(filter.is_fault(note));
    CHECK(filter.is_fault("WARNING: CPU: 1 PID: 9 at drivers/infiniband/ulp/ipoib/ipoib_ib.c:1 f"));
}

TEST_CASE("Kernel log: lines about InfiniBand are told from the rest") {
    CHECK(concerns_infiniband("ib0: enabling connected mode", "ib0"));
    CHECK(concerns_infiniband("mlx5_core 0000:01:00.0: firmware version", "ib7"));
    CHECK_FALSE(concerns_infiniband("e1000: link is up", "ib0"));
    CHECK_FALSE(concerns_infiniband("e1000: link is up", ""));
}
