// SPDX-License-Identifier: GPL-2.0-or-later
// Sets connections up, from either end. RFC 4755.
#include "conformance/bench/bench_connection.hpp"

#include "conformance/bench/bench.hpp"
#include "conformance/bench/case_context.hpp"
#include "conformance/bench/connection.hpp"

namespace ipoib::conformance {
using namespace wire;

void BenchConnection::dut_takes_part() {
    bench_.control();
    bench_.dut->set_mode("connected");
    bench_.send_until(arp_request(), arp_reply(), within(1s));
    const auto address = bench_.obtain<ArpAddresses>(arp_reply(), within(1s));
    if ((address[ArpAddresses::sha_flags] & flag_rc) == 0)
        bench_.not_applicable("the DUT announces no reliable connections");
    context_.situation().dut.link_flags = address[ArpAddresses::sha_flags];
}

void BenchConnection::request() {
    constexpr std::uint16_t invalid_service_id = 8;
    constexpr std::uint8_t as_linux_writes_it = 0x10;
    auto& prefix = context_.situation().service_prefix;
    bench_.send(cm_req());
    if (!bench_.happens(answer_to_req(), within(2s)) || bench_.happens(rep_of_dut(), within(0s))) return;
    const auto rej = bench_.obtain<CmRej>(rej_of_dut(), within(0s));
    if (rej[CmRej::reason] != invalid_service_id || prefix == as_linux_writes_it)
        bench_.not_applicable("the DUT rejects the connection: reason " + std::to_string(rej[CmRej::reason]));
    prefix = as_linux_writes_it;
    request();
    bench_.note("the DUT takes connections at Service-ID 10h ..., which is not that of RFC 4755, 3.5");
}

Bytes<CmRep> BenchConnection::establish() {
    request();
    const auto rep = bench_.obtain<CmRep>(rep_of_dut(), within(1s));
    bench_.precondition(rep[CmRep::local_qpn] != bench_.situation().dut.qpn,
                        "the connection has a queue pair of its own");
    bench_.send(cm_rtu(rep));
    return rep;
}

Bytes<CmReq> BenchConnection::requested_by_dut() {
    bench_.dut->flush_neighbours();
    bench_.send_until(arp_request(), arp_reply(), within(1s));
    bench_.precondition(arp_reply(), within(1s));
    bench_.dut.sends(IpAddress::v4(bench_.situation().tester.ipv4), bench_.fresh_port());
    if (!bench_.happens(req_of_dut(), within(5s)))
        bench_.not_applicable("the DUT begins no connection, which is its choice");
    return bench_.obtain<CmReq>(req_of_dut(), within(0s));
}

}  // namespace ipoib::conformance
