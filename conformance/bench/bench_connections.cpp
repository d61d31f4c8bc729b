// SPDX-License-Identifier: GPL-2.0-or-later
// The stage of cases on connections and on DHCP. RFC 4755; RFC 4390.
#include "conformance/bench/bench_state.hpp"
#include "conformance/bench/connection.hpp"

namespace ipoib::conformance {
using namespace wire;

void Bench::demand(const Expectation& expectation, Within time, Packet& packet) {
    const auto found = state_.demand(expectation, time);
    state_.recorder.decode(found, packet);
}

void Bench::tester_presents(std::uint8_t flags, std::uint32_t qpn) {
    auto& tester = state_.session.tester();
    tester.present(flags, qpn);
    state_.situation().tester = tester.self();
}

void Bench::dut_connected_mode() {
    control();
    dut().set_mode("connected");
    send_until(arp_request(), arp_reply(), within(1s));
    const auto address = obtain<ArpAddresses>(arp_reply(), within(1s));
    if ((address[ArpAddresses::sha_flags] & flag_rc) == 0) not_applicable("the DUT announces no reliable connections");
    state_.situation().dut.link_flags = address[ArpAddresses::sha_flags];
}

void Bench::request_connection() {
    constexpr std::uint16_t invalid_service_id = 8;
    constexpr std::uint8_t as_linux_writes_it = 0x10;
    auto& prefix = state_.situation().service_prefix;
    send(cm_req());
    if (!happens(answer_to_req(), within(2s)) || happens(rep_of_dut(), within(0s))) return;
    const auto rej = obtain<CmRej>(rej_of_dut(), within(0s));
    if (rej[CmRej::reason] != invalid_service_id || prefix == as_linux_writes_it)
        not_applicable("the DUT rejects the connection: reason " + std::to_string(rej[CmRej::reason]));
    prefix = as_linux_writes_it;
    request_connection();
    note("the DUT takes connections at Service-ID 10h ..., which is not that of RFC 4755, 3.5");
}

Bytes<CmRep> Bench::connect() {
    request_connection();
    const auto rep = obtain<CmRep>(rep_of_dut(), within(1s));
    precondition(rep[CmRep::local_qpn] != situation().dut.qpn, "the connection has a queue pair of its own");
    send(cm_rtu(rep));
    return rep;
}

Bytes<CmReq> Bench::dut_requests_connection() {
    dut().flush_neighbours();
    send_until(arp_request(), arp_reply(), within(1s));
    precondition(arp_reply(), within(1s));
    dut_sends(IpAddress::v4(situation().tester.ipv4), fresh_port());
    if (!happens(req_of_dut(), within(5s))) not_applicable("the DUT begins no connection, which is its choice");
    return obtain<CmReq>(req_of_dut(), within(0s));
}

std::uint32_t Bench::free_address() const {
    constexpr std::uint32_t hosts = 0xff, first = 200;
    const auto& s = situation();
    auto address = (s.tester.ipv4 & ~hosts) | first;
    while (address == s.tester.ipv4 || address == s.dut.ipv4) ++address;
    return address;
}

}  // namespace ipoib::conformance
