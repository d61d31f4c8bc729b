// SPDX-License-Identifier: GPL-2.0-or-later
// What a port of the tester does in a case.
#include "conformance/bench/tester_port.hpp"

#include "conformance/bench/case_context.hpp"
#include "conformance/bench/case_ends.hpp"

#include <algorithm>
#include <utility>

namespace ipoib::conformance {
using namespace wire;

GroupFacts TesterPort::join(const Gid& mgid, JoinState state) {
    const auto answer = tester_.join(mgid, static_cast<std::uint8_t>(state));
    const auto record = answer.first<McMemberRecord>();
    if (!answer.is_ok() || !record)
        throw CaseEnds::inconclusive("the tester cannot join " + text(mgid) + ": " + status_text(answer));
    GroupFacts facts{.mgid = mgid, .record = {}};
    std::ranges::copy(record.octets(), facts.record.octets.begin());
    return facts;
}

fabric::SaAnswer TesterPort::ask_to_remove(const Gid& mgid, const Gid& port_gid, JoinState states) {
    using R = McMemberRecord;
    const auto record =
        Bytes<R>{}.set(R::mgid, mgid).set(R::port_gid, port_gid).set(R::join_state, static_cast<std::uint8_t>(states));
    return tester_.ask({.method = Method::del,
                        .attribute = attribute::mc_member_record,
                        .component_mask = R::component::join,
                        .record = {record.octets.begin(), record.octets.end()}});
}

void TesterPort::listen_to(const GroupFacts& group) {
    if (const auto why = tester_.port().attach(group.mgid, group.mlid()); !why.empty())
        throw CaseEnds::inconclusive("the tester cannot listen to " + text(group.mgid) + ": " + why);
    heard_.emplace_back(group.mgid, group.mlid());
}

fabric::SaAnswer TesterPort::subscribe(std::uint16_t trap_number) {
    auto answer = tester_.ask(subscription(trap_number, {}, true));
    if (answer.is_ok()) subscribed_.push_back(trap_number);
    return answer;
}

fabric::SaAnswer TesterPort::unsubscribe(std::uint16_t trap_number) {
    std::erase(subscribed_, trap_number);
    return tester_.ask(subscription(trap_number, {}, false));
}

void TesterPort::end_listening() {
    for (const auto trap_number : std::exchange(subscribed_, {}))
        (void)tester_.ask(subscription(trap_number, {}, false));
    for (const auto& [mgid, mlid] : heard_) tester_.port().detach(mgid, mlid);
    heard_.clear();
}

void TesterPort::send(const Message& message) {
    auto& situation = context_.situation();
    situation.nonce = context_.session.next_nonce();
    context_.observation.stimulate();
    auto own = situation;
    own.tester = tester_.self();
    own.tester.ipv4 = situation.tester.ipv4;
    if (const auto why = tester_.port().send(message.make(own).build()); !why.empty())
        throw CaseEnds::not_applicable("the tester cannot send " + message.what() + ": " + why);
}

bool TesterPort::takes_it(Within time) {
    const auto& recorder = context_.recorder;
    const auto is_here = [&] {
        Packet packet;
        for (auto i = context_.observation.stimulus().frame; i < recorder.size(); ++i) {
            if (!recorder.has_arrived(i, number_)) continue;
            recorder.decode(i, packet);
            if (packet.udp && packet.udp[Udp::source] == context_.situation().nonce) return true;
        }
        return false;
    };
    return context_.observation.comes_true_by_frames(is_here, time);
}

}  // namespace ipoib::conformance
