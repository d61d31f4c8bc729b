// SPDX-License-Identifier: GPL-2.0-or-later
// What a port of the tester does in a case.
#include "conformance/bench/tester_port.hpp"

#include "conformance/bench/bench_state.hpp"

#include <algorithm>

namespace ipoib::conformance {
using namespace wire;
using reports::NotJudged;

GroupFacts TesterPort::join(const Gid& mgid, JoinState state) {
    const auto answer = tester_.join(mgid, static_cast<std::uint8_t>(state));
    const auto record = answer.first<McMemberRecord>();
    if (!answer.is_ok() || !record)
        throw Inconclusive("the tester cannot join " + text(mgid) + ": " + status_text(answer));
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
        throw Inconclusive("the tester cannot listen to " + text(group.mgid) + ": " + why);
    heard_.emplace_back(group.mgid, group.mlid());
}

void TesterPort::end_listening() {
    for (const auto& [mgid, mlid] : heard_) tester_.port().detach(mgid, mlid);
    heard_.clear();
}

void TesterPort::send(const Message& message) {
    auto& s = state_;
    s.situation().nonce = s.session.next_nonce();
    s.mark = s.recorder.size();
    auto own = s.situation();
    own.tester = tester_.self();
    own.tester.ipv4 = s.situation().tester.ipv4;
    if (const auto why = tester_.port().send(message.make(own).build()); !why.empty())
        throw NotApplicable{NotJudged::tester, "the tester cannot send " + message.what() + ": " + why};
}

bool TesterPort::takes_it(Within time) {
    auto& s = state_;
    const auto is_here = [&] {
        Packet packet;
        for (auto i = s.mark; i < s.recorder.size(); ++i) {
            if (!s.recorder.has_arrived(i, number_)) continue;
            s.recorder.decode(i, packet);
            if (packet.udp && packet.udp[Udp::source] == s.situation().nonce) return true;
        }
        return false;
    };
    auto& loop = s.session.loop();
    (void)loop.run_until(is_here, loop.now() + s.scaled(time));
    return is_here();
}

}  // namespace ipoib::conformance
