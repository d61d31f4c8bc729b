// SPDX-License-Identifier: GPL-2.0-or-later
// Asks the subnet administrator, hears its reports, and ends what was begun there.
#include "conformance/bench/bench_sa.hpp"

#include "conformance/bench/bench.hpp"
#include "conformance/bench/case_context.hpp"
#include "conformance/bench/case_ends.hpp"
#include "protocol/wire/inform_info.hpp"

#include <algorithm>

namespace ipoib::conformance {
using namespace wire;
using reports::NotJudged;

std::string status_text(const fabric::SaAnswer& answer) {
    if (!answer.is_answered) return "the SA does not answer";
    const auto name = std::ranges::find(sa_status_names, answer.status, &Named::value);
    return "status " + hex(answer.status, 4) +
           (name == sa_status_names.end() ? std::string{} : " (" + std::string(name->name) + ")");
}

GroupFacts BenchSa::join(const IpAddress& group) { return join(bench_.mgid_of(group), JoinState::full_member); }

GroupFacts BenchSa::join(const Gid& mgid, JoinState state) { return bench_.tester.first().join(mgid, state); }

void BenchSa::leave(const Gid& mgid, JoinState state) {
    auto& tester = context_.session.tester();
    if (tester.keeps(mgid))
        throw CaseEnds::not_applicable(NotJudged::safety,
                                       "the host uses this port for IPoIB: it stays in " + text(mgid));
    (void)tester.leave(mgid, static_cast<std::uint8_t>(state));
}

fabric::SaAnswer BenchSa::ask_to_join(const Bytes<McMemberRecord>& record, std::uint64_t mask) {
    return context_.session.tester().join(record, mask);
}

fabric::SaAnswer BenchSa::ask_to_leave(const Gid& mgid, JoinState states) {
    return bench_.tester.first().ask_to_leave(mgid, states);
}

Bytes<McMemberRecord> BenchSa::new_group_record() {
    return context_.session.tester().new_group(bench_.mgid_of(bench_.fresh_group4()));
}

std::uint64_t BenchSa::creation_mask() noexcept { return Tester::creation_mask(); }

std::optional<GroupFacts> BenchSa::group(const Gid& mgid) {
    const auto record = context_.session.tester().find(mgid);
    if (!record) return {};
    return GroupFacts{.mgid = mgid, .record = *record};
}

bool BenchSa::has_group(const Gid& mgid, Within time) {
    return context_.observation.comes_true([&] { return group(mgid).has_value(); }, time);
}

bool BenchSa::gives_up(const Gid& mgid, Within time) {
    return context_.observation.comes_true([&] { return !group(mgid); }, time);
}

fabric::SaAnswer BenchSa::ask(const fabric::SaRequest& request) {
    auto answer = context_.session.tester().ask(request);
    if (answer.is_cut) throw CaseEnds::not_applicable("this fabric carries only the begin of the SA's table");
    return answer;
}

fabric::SaAnswer BenchSa::subscribe(std::uint16_t trap_number, const Gid& gid) {
    context_.session.tester().port().on_report([this](View<Notice> notice) {
        if (const auto details = gid_details(notice))
            reports_.emplace_back(notice[Notice::trap_number], details[GidDetails::gid]);
    });
    auto answer = ask(subscription(trap_number, gid, true));
    if (answer.is_ok()) subscriptions_.emplace_back(trap_number, gid);
    return answer;
}

fabric::SaAnswer BenchSa::unsubscribe(std::uint16_t trap_number, const Gid& gid) {
    std::erase(subscriptions_, std::pair{trap_number, gid});
    return ask(subscription(trap_number, gid, false));
}

bool BenchSa::reports(std::uint16_t trap_number, const Gid& mgid, Within time) {
    const auto is_here = [&] {
        return std::ranges::find(reports_.begin() + static_cast<std::ptrdiff_t>(reports_before_step_), reports_.end(),
                                 std::pair{trap_number, mgid}) != reports_.end();
    };
    return context_.observation.comes_true_by_frames(is_here, time);
}

bool BenchSa::hears_join(const Gid& mgid, Within time) {
    if (!context_.observation.sees_all()) return has_group(mgid, time);
    return bench_.happens(join_of(mgid), time);
}

std::uint8_t BenchSa::join_state_of_dut(const Gid& mgid) {
    if (!context_.has(fabric::Ability::trusted_sa))
        throw CaseEnds::not_applicable("this SA does not tell who is a member of a group");
    return context_.session.tester().join_state(mgid, context_.situation().dut.gid);
}

bool BenchSa::has_dut_as_full_member(const Gid& mgid, Within time) {
    return context_.observation.comes_true([&] { return (join_state_of_dut(mgid) & join_state::full_member) != 0; },
                                           time);
}

bool BenchSa::has_dut_as_full_member(const IpAddress& group, Within time) {
    const bool is_member = has_dut_as_full_member(bench_.mgid_of(group), time);
    if (!is_member && context_.observation.sees_all()) look_for_join(group);
    return is_member;
}

void BenchSa::look_for_join(const IpAddress& group) {
    const auto mgid = bench_.mgid_of(group);
    const auto as_full_member = [](const Packet& packet, const Situation&) {
        return (packet.mc_member[McMemberRecord::join_state] & join_state::full_member) != 0;
    };
    if (bench_.count(join_of(mgid).such_that("as FullMember", as_full_member)) > 0)
        throw CaseEnds::inconclusive(context_.findings.where() + "the DUT asks to join " + text(mgid) +
                                     " as FullMember, and the SA does not have it");
    // All nodes of both families end alike.
    const auto is_another = [mgid,
                             other = bench_.mgid_of(Bench::all_nodes(group.is_v4() ? Family::ipv6 : Family::ipv4))](
                                const Packet& packet, const Situation&) {
        constexpr std::uint64_t group_bits = 0x0fffffff;
        const auto asked = packet.mc_member[McMemberRecord::mgid];
        return asked != other && ((asked.interface_id() ^ mgid.interface_id()) & group_bits) == 0;
    };
    if (bench_.count(join_of(mgid)) == 0 && bench_.count(join_like(group).such_that("by another MGID", is_another)) > 0)
        throw CaseEnds::inconclusive(context_.findings.where() + "the DUT asks to join another MGID than " +
                                     text(mgid) + " for " + text(group));
}

std::uint8_t BenchSa::join_state_asked(const Gid& mgid) {
    const auto join = join_of(mgid);
    context_.observation.demand_sight(join);
    const auto& recorder = context_.recorder;
    std::uint8_t state = 0;
    Packet packet;
    for (std::size_t i = 0; i < recorder.size(); ++i) {
        if (recorder.party(i) != Party::dut) continue;
        recorder.decode(i, packet);
        if (join.is_it(packet, context_.situation())) state = packet.mc_member[McMemberRecord::join_state];
    }
    return state;
}

template <class IsIt>
bool BenchSa::has_told_dut(const IsIt& is_it) const {
    const auto& recorder = context_.recorder;
    Packet packet;
    for (auto i = context_.observation.step_begin(); i < recorder.size(); ++i) {
        if (recorder.party(i) != Party::sa) continue;
        recorder.decode(i, packet);
        if (packet.lrh && packet.lrh[Lrh::dlid] == context_.situation().dut.lid && is_it(packet)) return true;
    }
    return false;
}

bool BenchSa::has_answered_join(const Gid& mgid) {
    // A refusal need not have the record that was asked for.
    const auto question = context_.observation.find_in_step(join_of(mgid));
    if (!question) return false;
    Packet asked;
    context_.recorder.decode(*question, asked);
    const auto transaction = asked.mad[Mad::transaction_id];
    return has_told_dut([&](const Packet& p) {
        return p.mad && p.mad[Mad::method] == Method::get_resp && p.mad[Mad::transaction_id] == transaction;
    });
}

bool BenchSa::reports_to_dut(std::uint16_t trap_number) {
    return has_told_dut([&](const Packet& p) {
        const auto notice = p.get<Notice>();
        return notice && p.mad[Mad::method] == Method::report && notice[Notice::trap_number] == trap_number;
    });
}

void BenchSa::require_grant(const fabric::SaAnswer& answer) {
    if (!answer.is_answered) throw CaseEnds::inconclusive(context_.findings.where() + "the SA does not answer");
    bench_.require(answer.is_ok(), "that the SA grants it", status_text(answer));
}

void BenchSa::require_refusal(const fabric::SaAnswer& answer) {
    if (!answer.is_answered) throw CaseEnds::inconclusive(context_.findings.where() + "the SA does not answer");
    bench_.require(answer.status != 0, "a refusal", status_text(answer));
    if (answer.status != 0) bench_.note(context_.findings.step_title() + ": refused with " + status_text(answer));
}

void BenchSa::undo() {
    auto& tester = context_.session.tester();
    for (const auto& [trap_number, gid] : std::exchange(subscriptions_, {}))
        (void)tester.ask(subscription(trap_number, gid, false));
    tester.port().on_report({});
}

// Whoever is told later would find nobody here.
BenchSa::~BenchSa() { context_.session.fabric().ports()[0]->on_report({}); }

}  // namespace ipoib::conformance
