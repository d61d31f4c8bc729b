// SPDX-License-Identifier: GPL-2.0-or-later
// The stage of a case: sends, waits, judges, and remembers what must be undone.
#include "conformance/bench/bench.hpp"

#include "conformance/bench/bench_state.hpp"
#include "conformance/bench/case.hpp"
#include "conformance/judge/notation.hpp"

#include <algorithm>

namespace ipoib::conformance {
using namespace wire;
using reports::NotJudged;

void Bench::continue_step(std::string_view title, std::vector<const requirements::Requirement*> judged) {
    auto& s = state_;
    s.step_title = title;
    s.judged.clear();
    for (std::size_t i = 0; i < s.tallies.size(); ++i)
        if (judged.empty() || std::ranges::find(judged, s.tallies[i].requirement) != judged.end())
            s.judged.push_back(i);
    if (s.judged.size() < judged.size())
        throw CaseDefect("step \"" + s.step_title + "\" judges a requirement that the case does not list");
    std::vector<std::string_view> ids;
    for (const auto index : s.judged) ids.push_back(s.tallies[index].requirement->id);
    s.recorder.step(title, std::move(ids));
}

void Bench::begin_step(std::string_view title, std::vector<const requirements::Requirement*> judged) {
    auto& s = state_;
    s.step_begin = s.mark = s.recorder.size();
    s.is_controlled = false;
    s.asked_group.reset();
    s.reports_before_step = s.reports.size();
    continue_step(title, std::move(judged));
}

void Bench::send(const Message& message) {
    auto& s = state_;
    s.situation().nonce = s.session.next_nonce();
    s.mark = s.recorder.size();
    const auto frame = message.make(s.situation()).build();
    Packet packet;
    decode(frame, packet);
    s.asked_group.reset();
    if (packet.is_multicast && packet.grh) s.asked_group = packet.grh[Grh::dgid];
    if (const auto why = s.session.tester().port().send(frame); !why.empty())
        throw NotApplicable{NotJudged::tester, "the tester cannot send " + message.what() + ": " + why};
}

bool Bench::reached_dut() {
    auto& s = state_;
    if (!s.asked_group) return true;
    const auto abilities = s.session.fabric().abilities();
    const auto mgid = *s.asked_group;
    std::uint8_t state = 0;
    if (abilities.has(fabric::Ability::trusted_sa)) {
        state = dut_join_state(mgid);
    } else {
        if (abilities.has(fabric::Ability::see_all)) state = join_state_asked(mgid);
        if (state == 0) return false;
    }
    if ((state & (join_state::full_member | join_state::non_member)) == 0)
        throw Inconclusive("step \"" + s.step_title + "\": the message cannot have reached the DUT: its JoinState in " +
                           text(mgid) + " is " + std::to_string(state));
    return true;
}

void Bench::send_until(const Message& message, const Expectation& expectation, Within each) {
    constexpr int attempts = 3;
    for (int i = 0; i < attempts; ++i) {
        send(message);
        if (happens(expectation, each)) return;
    }
}

GroupFacts Bench::join(const IpAddress& group) { return join(mgid_of(group), JoinState::full_member); }

GroupFacts Bench::join(const Gid& mgid, JoinState state) { return first().join(mgid, state); }

void Bench::leave(const Gid& mgid, JoinState state) {
    if (state_.session.tester().keeps(mgid))
        throw NotApplicable{NotJudged::safety, "the host uses this port for IPoIB: it stays in " + text(mgid)};
    (void)state_.session.tester().leave(mgid, static_cast<std::uint8_t>(state));
}

fabric::SaAnswer Bench::ask_sa(const fabric::SaRequest& request) {
    auto answer = state_.session.tester().ask(request);
    if (answer.is_cut) throw NotApplicable{NotJudged::tester, "this fabric carries only the begin of the SA's table"};
    return answer;
}

fabric::SaAnswer Bench::ask_to_join(const Bytes<McMemberRecord>& record, std::uint64_t mask) {
    return state_.session.tester().join(record, mask);
}

std::optional<GroupFacts> Bench::group_at_sa(const Gid& mgid) {
    const auto record = state_.session.tester().find(mgid);
    if (!record) return {};
    return GroupFacts{.mgid = mgid, .record = *record};
}

bool Bench::exists_at_sa(const Gid& mgid, Within time) {
    return state_.comes_true([&] { return group_at_sa(mgid).has_value(); }, time);
}

bool Bench::vanishes_at_sa(const Gid& mgid, Within time) {
    return state_.comes_true([&] { return !group_at_sa(mgid); }, time);
}

bool Bench::reaches_sa(const Gid& mgid, Within time) {
    if (!state_.session.fabric().abilities().has(fabric::Ability::see_all)) return exists_at_sa(mgid, time);
    return state_.await(join_of(mgid), situation(), state_.mark, time).has_value();
}

void Bench::maps_rightly(const IpAddress& group) {
    auto& s = state_;
    if (!s.session.fabric().abilities().has(fabric::Ability::see_all)) return;
    const auto asked = s.await(request_like(group), situation(), s.mark, within(1s));
    if (!asked) return;
    Packet packet;
    s.recorder.decode(*asked, packet);
    const auto mgid = packet.mc_member[McMemberRecord::mgid];
    if (mgid != mgid_of(group))
        throw Inconclusive("the DUT maps " + text(group) + " to " + text(mgid) + ", not to " + text(mgid_of(group)));
}

Bytes<McMemberRecord> Bench::new_group_record() { return state_.session.tester().new_group(mgid_of(fresh_group4())); }

std::uint64_t Bench::creation_mask() noexcept { return Tester::creation_mask(); }

std::uint8_t Bench::join_state_asked(const Gid& mgid) {
    const auto join = join_of(mgid);
    state_.demand_sight(join);
    std::uint8_t state = 0;
    Packet packet;
    for (std::size_t i = 0; i < state_.recorder.size(); ++i) {
        if (state_.recorder.party(i) != Party::dut) continue;
        state_.recorder.decode(i, packet);
        if (join.is_it(packet, situation())) state = packet.mc_member[McMemberRecord::join_state];
    }
    return state;
}

std::string Bench::name_of(const FieldSpec& field, const std::uint8_t* header) {
    return std::string(field.name) + ' ' + value_text(field, header);
}

std::uint8_t Bench::dut_join_state(const Gid& mgid) {
    if (!state_.session.fabric().abilities().has(fabric::Ability::trusted_sa))
        throw NotApplicable{NotJudged::tester, "this SA does not tell who is a member of a group"};
    return state_.session.tester().join_state(mgid, situation().dut.gid);
}

void Bench::answer_resolution(bool does_answer) { state_.session.tester().answer_resolution(does_answer); }

void Bench::change_fabric(const fabric::FabricChange& change) {
    const auto answer = state_.session.fabric().change(change);
    state_.changed_fabric = true;
    if (!answer.is_done())
        throw NotApplicable{NotJudged::tester,
                            "the fabric cannot do " + fabric::text(change) + " here: " + answer.message};
    state_.changed(change);
}

build::Node Bench::second_tester() {
    const auto ports = state_.session.fabric().ports();
    if (ports.size() < 2) throw NotApplicable{NotJudged::tester, "this fabric gives the tester one port only"};
    const auto facts = ports[1]->facts();
    auto node = situation().tester;
    node.lid = facts.lid;
    node.gid = facts.gid;
    node.qpn = facts.qpn;
    return node;
}

void Bench::precondition(const Expectation& expectation, Within time) {
    auto& s = state_;
    const auto found = s.demand(expectation, time);
    Packet packet;
    s.recorder.decode(found, packet);
    for (const auto& claim : expectation.claims()) {
        const auto* at = claim.header_at(packet);
        if (!at || !claim.holds(at, s.situation()))
            throw Inconclusive("step \"" + s.step_title + "\": " + expectation.what() + " (" + frame_name(found) +
                               "): " + std::string(claim.header->name) + '.' + std::string(claim.field->name) +
                               " is not " + claim.expected);
    }
}

void Bench::precondition(bool holds, std::string_view words) {
    if (!holds) throw Inconclusive("step \"" + state_.step_title + "\": not given: " + std::string(words));
}

void Bench::inspect(const Expectation& expectation, Within time) {
    auto& s = state_;
    const auto found = s.demand(expectation, time);
    s.judge_claims(expectation, found);
}

void Bench::require(const Expectation& expectation, Within time) {
    auto& s = state_;
    const auto found = s.await(expectation, s.situation(), s.mark, time);
    if (!found) (void)reached_dut();
    s.observed();
    if (found) {
        s.judge_claims(expectation, *found);
        return;
    }
    const auto actual = s.what_came_instead(s.mark);
    s.violated({.expected = expectation.what() + " within " + milliseconds(time.time), .actual = actual},
               "no " + expectation.what() + " within " + milliseconds(time.time) + "; " + actual);
    throw CaseEnded{};
}

void Bench::require(bool holds, std::string_view expected, std::string_view actual) {
    auto& s = state_;
    s.observed();
    if (holds) return;
    const auto found = actual.empty() ? s.what_came_instead(s.mark) : std::string(actual);
    s.violated({.expected = std::string(expected), .actual = found},
               "expected " + std::string(expected) + (actual.empty() ? "; " : ", found ") + found);
}

void Bench::forbid(const Expectation& expectation, Within time) {
    auto& s = state_;
    if (!s.is_controlled)
        throw CaseDefect("step \"" + s.step_title + "\" forbids something without a positive control before");
    const auto asked = s.situation();
    const auto since = s.mark;
    auto found = s.await(expectation, asked, since, time);
    control();
    if (!found) found = s.find(expectation, asked, since);
    s.observed();
    if (!found) return;
    Packet packet;
    s.recorder.decode(*found, packet);
    s.violated({.frame = *found + 1,
                .expected = "no " + expectation.what(),
                .actual = in_one_line(packet),
                .subject = "LID " + hex(asked.dut.lid, 4)},
               "there must be no " + expectation.what() + ", but " + frame_name(*found) + " is " + in_one_line(packet));
}

void Bench::forbid_so_far(const Expectation& expectation) {
    auto& s = state_;
    s.demand_sight(expectation);
    s.observed();
    const auto found = s.find(expectation, s.situation(), s.step_begin);
    if (!found) return;
    Packet packet;
    s.recorder.decode(*found, packet);
    s.violated({.frame = *found + 1, .expected = "no " + expectation.what(), .actual = in_one_line(packet)},
               "there must be no " + expectation.what() + ", but " + frame_name(*found) + " is " + in_one_line(packet));
}

void Bench::control() {
    auto& s = state_;
    const auto before = s.situation().nonce;
    const auto mark = s.mark;
    const auto asked_group = s.asked_group;
    constexpr int attempts = 3;
    std::optional<std::size_t> answered;
    for (int i = 0; i < attempts && !answered; ++i) {
        send(echo_request());
        answered = s.await(echo_reply(), s.situation(), s.mark, within(1s));
    }
    s.situation().nonce = before;
    s.mark = mark;
    s.asked_group = asked_group;
    if (!answered)
        throw Inconclusive("step \"" + s.step_title +
                           "\": the positive control failed: no answer to an ordinary echo "
                           "request");
    s.is_controlled = true;
}

bool Bench::happens(const Expectation& expectation, Within time) {
    return state_.await(expectation, state_.situation(), state_.mark, time).has_value();
}

std::size_t Bench::count(const Expectation& expectation) {
    auto& s = state_;
    s.demand_sight(expectation);
    std::size_t times = 0;
    for (auto found = s.find(expectation, s.situation(), s.step_begin); found;
         found = s.find(expectation, s.situation(), *found + 1))
        ++times;
    return times;
}

bool Bench::comes_before(const Expectation& first, const Expectation& second) {
    auto& s = state_;
    s.demand_sight(first);
    s.demand_sight(second);
    const auto begin = s.find(first, s.situation(), s.step_begin);
    const auto end = s.find(second, s.situation(), s.step_begin);
    return begin && (!end || *begin < *end);
}

void Bench::pass_time(Within time) { state_.session.loop().run_for(state_.scaled(time)); }

void Bench::note(std::string_view text) { state_.result.notes.emplace_back(text); }

void Bench::warn(std::string_view expected, std::string_view actual) {
    state_.observed();
    state_.warned({.expected = std::string(expected), .actual = std::string(actual)},
                  "expected " + std::string(expected) + ", found " + std::string(actual));
}

void Bench::not_applicable(std::string_view why) { throw NotApplicable{NotJudged::tester, std::string(why)}; }

const Situation& Bench::situation() const noexcept { return state_.session.situation(); }
const build::Link& Bench::link() const noexcept { return situation().link; }
const Profile& Bench::profile() const noexcept { return state_.profile; }

IpAddress Bench::fresh_group4() {
    const auto number = state_.session.next_number();
    return IpAddress::v4(0xef000000u | std::uint32_t{state_.session.group_range()} << 8 * 2 | std::uint32_t{number});
}

IpAddress Bench::fresh_link_local_group4() {
    constexpr std::uint32_t local_control_block = 0xe0000000, first = 200, groups = 40;
    return IpAddress::v4(local_control_block + first + state_.session.next_number() % groups);
}

IpAddress Bench::fresh_group6() {
    constexpr std::uint64_t transient_site_local = 0xff15;
    const auto number = state_.session.next_number();
    return IpAddress::v6(
        Gid::of(transient_site_local << 48, std::uint64_t{state_.session.group_range()} << 16 | number));
}

IpAddress Bench::fresh_link_local_group6() {
    constexpr std::uint64_t transient_link_local = 0xff12;
    const auto number = state_.session.next_number();
    return IpAddress::v6(
        Gid::of(transient_link_local << 48, std::uint64_t{state_.session.group_range()} << 16 | number));
}

std::uint16_t Bench::fresh_port() { return state_.session.next_nonce(); }

Gid Bench::mgid_of(const IpAddress& group) const {
    return group.is_v4() ? mgid_for_ipv4(group.v4(), link().p_key, link().scope)
                         : mgid_for_ipv6(group.octets, link().p_key, link().scope);
}

fabric::PortFacts Bench::port() const { return state_.session.tester().port().facts(); }

}  // namespace ipoib::conformance
