// SPDX-License-Identifier: GPL-2.0-or-later
// Sets connections up, from either end. RFC 4755.
#include "conformance/bench/bench_connection.hpp"

#include "conformance/bench/bench.hpp"
#include "conformance/bench/case_context.hpp"
#include "conformance/bench/connection.hpp"
#include "protocol/build/connection.hpp"

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

void BenchConnection::dut_takes_part_and_sends() {
    dut_takes_part();
    // By an address that it finds out itself, as it must later.
    bench_.dut->flush_neighbours();
    const auto tester = bench_.situation().tester_address();
    const auto port = bench_.fresh_port();
    const auto datagram = udp_from_dut(tester, port).that_arrives();
    bench_.dut.sends(tester, port);
    if (bench_.happens(datagram, within(5s))) return;
    bench_.dut.sends(tester, port);
    bench_.precondition(datagram, within(5s));
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

void BenchConnection::present_anew() {
    constexpr std::uint32_t nobodys = 0xa20000;
    bench_.tester.present(flag_rc, nobodys | bench_.fresh_port());
}

Bytes<CmReq> BenchConnection::taken_from_dut(std::uint32_t receive_mtu) {
    present_anew();
    auto req = requested_by_dut();
    bench_.precondition(req[CmReq::local_qpn] != bench_.situation().dut.qpn,
                        "the connection has a queue pair of its own");
    bench_.send(cm_rep(req, receive_mtu));
    bench_.precondition(rtu_of_dut(), within(3s));
    return req;
}

std::uint32_t BenchConnection::send_over(const Bytes<CmRep>& accepted, const Message& message, std::uint32_t number) {
    auto& session = context_.session;
    auto& situation = session.situation();
    situation.nonce = session.next_nonce();
    context_.observation.stimulate();
    const auto packets =
        build::message_over_connection(message.make(situation), accepted[CmRep::local_qpn],
                                       accepted[CmRep::starting_psn] + number, situation.ip_mtu() + Encap::size);
    for (const auto& packet : packets)
        if (const auto why = session.tester().port().send(packet.build()); !why.empty())
            bench_.not_applicable("the tester cannot send " + message.what() + " over a connection: " + why);
    return static_cast<std::uint32_t>(packets.size());
}

bool BenchConnection::dut_reaches_tester(std::chrono::milliseconds patience, std::uint32_t unheard,
                                         std::chrono::milliseconds pause) {
    const auto tester = bench_.situation().tester_address();
    const auto port = bench_.fresh_port();
    auto& ends = context_.session.connection_ends();
    const auto has_come =
        udp_from_dut(tester, port)
            .sent_anywhere()
            .such_that("at a queue pair of the tester", [&ends](const Packet& p, const Situation& s) {
                return p.bth && (p.bth[Bth::dest_qp] == s.tester.qpn || ends.has(p.bth[Bth::dest_qp]));
            });
    const auto to_be_heard = req_of_dut().such_that("to be answered", [&](const Packet& p, const Situation&) {
        return p.get<CmReq>()[CmReq::local_comm_id] != unheard;
    });
    for (std::chrono::milliseconds passed{}; passed < patience; passed += pause) {
        context_.observation.stimulate();
        try {
            bench_.dut.sends(tester, port);
        } catch (const ControlFailed&) {
            // It may say so that nobody is there.
        }
        const auto since = context_.observation.stimulus();
        if (bench_.happens(has_come, within(pause / 2))) return true;
        if (bench_.happens(to_be_heard, within(0s))) {
            const auto req = bench_.obtain<CmReq>(to_be_heard, within(0s));
            bench_.send(cm_rep(req));
            (void)bench_.happens(rtu_of_dut(), within(pause / 2));
            context_.observation.resume(since);
        }
        if (bench_.happens(has_come, within(pause / 2))) return true;
    }
    return false;
}

void BenchConnection::withhold_acknowledgements(bool does_wait) {
    context_.session.connection_ends().withhold(does_wait);
}

void BenchConnection::forget_all() { context_.session.connection_ends().clear(); }

}  // namespace ipoib::conformance
