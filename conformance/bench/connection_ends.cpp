// SPDX-License-Identifier: GPL-2.0-or-later
// The tester's ends of reliable connections.
#include "conformance/bench/connection_ends.hpp"

#include "protocol/build/connection.hpp"

#include <algorithm>

namespace ipoib::conformance {
using namespace wire;

namespace {

constexpr std::uint32_t psn_mask = 0xffffff, half_of_psns = 0x800000;
/// More than a case has.
constexpr std::size_t most_requests = 256;

template <class Header>
Bytes<Header> copy_of(View<Header> header) {
    Bytes<Header> copy;
    std::copy_n(header.data(), Header::size, copy.octets.begin());
    return copy;
}

}  // namespace

void ConnectionEnds::saw(const fabric::Sighting& sighting) {
    const auto lrh = View<Lrh>::at(sighting.octets);
    const bool is_of_tester = sighting.sender == fabric::Sender::tester;
    if (!lrh || (is_of_tester ? lrh[Lrh::slid] : lrh[Lrh::dlid]) != situation_.tester.lid) return;
    Packet packet;
    decode(sighting.octets, packet);
    if (!packet.bth) return;
    if (packet.mad && packet.mad[Mad::mgmt_class] == MgmtClass::communication)
        management(packet, is_of_tester);
    else if (!is_of_tester)
        message(packet);
}

void ConnectionEnds::management(const Packet& packet, bool is_of_tester) {
    const auto lid = packet.lrh[Lrh::slid];
    if (const auto req = packet.get<CmReq>()) {
        if (requests_.size() >= most_requests) requests_.clear();
        const auto id = req[CmReq::local_comm_id];
        requests_[id] = {is_of_tester, lid, id, req[CmReq::local_qpn], req[CmReq::starting_psn]};
    } else if (const auto rep = packet.get<CmRep>()) {
        const auto asked = requests_.find(rep[CmRep::remote_comm_id]);
        if (asked == requests_.end() || asked->second.is_of_tester == is_of_tester) return;
        made(asked->second,
             {is_of_tester, lid, rep[CmRep::local_comm_id], rep[CmRep::local_qpn], rep[CmRep::starting_psn]});
    } else if (const auto dreq = packet.get<CmDreq>()) {
        const auto id = is_of_tester ? dreq[CmDreq::local_comm_id] : dreq[CmDreq::remote_comm_id];
        const auto end =
            std::find_if(ends_.begin(), ends_.end(), [id](const auto& one) { return one.second.id == id; });
        if (end == ends_.end()) return;
        if (!is_of_tester)
            (void)port_.send(build::disconnection_reply(situation_.tester, situation_.dut, situation_.link,
                                                        {.id = end->second.id}, {.id = end->second.remote_id})
                                 .build());
        ends_.erase(end);
    }
}

void ConnectionEnds::made(const Said& req, const Said& rep) {
    const auto& own = req.is_of_tester ? req : rep;
    const auto& remote = req.is_of_tester ? rep : req;
    // One that is said again is the same connection.
    ends_.try_emplace(own.qpn, End{.lid = remote.lid,
                                   .id = own.id,
                                   .remote_id = remote.id,
                                   .remote_qpn = remote.qpn,
                                   .expected_psn = own.psn});
}

/// What is in sequence is taken, and what came before is acknowledged once more; what is missing comes again by itself.
void ConnectionEnds::message(const Packet& packet) {
    const auto opcode = packet.bth[Bth::opcode];
    const bool ends_message = opcode == Opcode::rc_send_last || opcode == Opcode::rc_send_only;
    if (!ends_message && opcode != Opcode::rc_send_first && opcode != Opcode::rc_send_middle) return;
    const auto found = ends_.find(packet.bth[Bth::dest_qp]);
    if (found == ends_.end() || found->second.lid != packet.lrh[Lrh::slid]) return;
    auto& end = found->second;
    const auto ahead = (packet.bth[Bth::psn] - end.expected_psn) & psn_mask;
    if (ahead != 0 && ahead < half_of_psns) return;
    if (ahead == 0) {
        end.expected_psn = (end.expected_psn + 1) & psn_mask;
        if (ends_message) end.messages = (end.messages + 1) & psn_mask;
    }
    end.lrh = copy_of(packet.lrh);
    end.bth = copy_of(packet.bth);
    end.owes_answer = true;
    // Not from within the fabric, and one answer for all that comes at once.
    constexpr auto at_once = std::chrono::microseconds{10};
    if (!does_wait_ && !timer_) timer_ = fabric_.after(at_once, [this] { answer(); });
}

void ConnectionEnds::answer() {
    timer_ = {};
    if (does_wait_) return;
    for (auto& [qpn, end] : ends_) {
        if (!std::exchange(end.owes_answer, false)) continue;
        const build::Acknowledgement what{.psn = (end.expected_psn - 1) & psn_mask, .messages = end.messages};
        (void)port_.send(
            build::acknowledgement(View<Lrh>::at(end.lrh.octets), View<Bth>::at(end.bth.octets), end.remote_qpn, what)
                .build());
    }
}

void ConnectionEnds::withhold(bool does_wait) {
    does_wait_ = does_wait;
    if (!does_wait_) answer();
}

void ConnectionEnds::clear() {
    fabric_.cancel(timer_);
    timer_ = {};
    does_wait_ = false;
    requests_.clear();
    ends_.clear();
}

}  // namespace ipoib::conformance
