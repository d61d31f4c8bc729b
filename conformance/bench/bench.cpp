// SPDX-License-Identifier: GPL-2.0-or-later
// The conversation of a case: sends, waits, judges.
#include "conformance/bench/bench.hpp"

#include "conformance/bench/case_context.hpp"
#include "conformance/bench/case_ends.hpp"
#include "conformance/bench/profile.hpp"
#include "conformance/judge/notation.hpp"

namespace ipoib::conformance {
using namespace wire;
namespace {

constexpr std::uint32_t hosts_of_link = 0xff;
constexpr const char* no_address = "the DUT has every IPv4 address that the tester could take for another's";

}  // namespace

Bench::Bench(CaseContext& context)
    : tester(context),
      sa(*this, context),
      dut(*this, context),
      connection(*this, context),
      fabric(*this, context),
      context_(context) {}

void Bench::continue_step(std::string_view title, const std::vector<const requirements::Requirement*>& judged) {
    context_.findings.step(title, judged);
}

void Bench::begin_step(std::string_view title, const std::vector<const requirements::Requirement*>& judged) {
    context_.observation.begin_step();
    is_controlled_ = is_at_rest_ = judges_leaving_ = false;
    sa.begin_step();
    continue_step(title, judged);
}

void Bench::send(const Message& message) {
    auto& session = context_.session;
    session.situation().nonce = session.next_nonce();
    const auto frame = message.make(session.situation()).build();
    Packet packet;
    decode(frame, packet);
    context_.observation.stimulate(packet.is_multicast && packet.grh ? std::optional{packet.grh[Grh::dgid]}
                                                                     : std::nullopt);
    if (const auto why = session.tester().port().send(frame); !why.empty())
        throw CaseEnds::not_applicable("the tester cannot send " + message.what() + ": " + why);
}

void Bench::send_until(const Message& message, const Expectation& expectation, Within each) {
    constexpr int attempts = 3;
    for (int i = 0; i < attempts; ++i) {
        send(message);
        if (happens(expectation, each)) return;
    }
}

bool Bench::happens(const Expectation& expectation, Within time) {
    return context_.observation.await(expectation, time).has_value();
}

std::size_t Bench::count(const Expectation& expectation) {
    auto& observation = context_.observation;
    observation.demand_sight(expectation);
    std::size_t times = 0;
    for (auto found = observation.find_in_step(expectation); found;
         found = observation.find(expectation, situation(), *found + 1))
        ++times;
    return times;
}

bool Bench::comes_before(const Expectation& first, const Expectation& second) {
    auto& observation = context_.observation;
    observation.demand_sight(first);
    observation.demand_sight(second);
    const auto begin = observation.find_in_step(first);
    const auto end = observation.find_in_step(second);
    return begin && (!end || *begin < *end);
}

void Bench::pass_time(Within time) { context_.observation.pass(time); }

std::string Bench::name_of(const FieldSpec& field, const std::uint8_t* header) {
    return std::string(field.name) + ' ' + value_text(field, header);
}

void Bench::precondition(const Expectation& expectation, Within time) {
    const auto found = context_.observation.demand(expectation, time);
    Packet packet;
    context_.recorder.decode(found, packet);
    for (const auto& claim : expectation.claims()) {
        const auto* at = claim.header_at(packet);
        if (!at || !claim.holds(at, situation()))
            throw CaseEnds::inconclusive(context_.findings.where() + expectation.what() + " (" + frame_name(found) +
                                         "): " + std::string(claim.header->name) + '.' +
                                         std::string(claim.field->name) + " is not " + claim.expected);
    }
}

void Bench::precondition(bool holds, std::string_view words) {
    if (!holds) throw CaseEnds::inconclusive(context_.findings.where() + "not given: " + std::string(words));
}

void Bench::inspect(const Expectation& expectation, Within time) {
    const auto found = context_.observation.demand(expectation, time);
    context_.findings.judge_claims(expectation, found, situation());
}

void Bench::demand(const Expectation& expectation, Within time, Packet& packet) {
    context_.recorder.decode(context_.observation.demand(expectation, time), packet);
}

void Bench::require(const Expectation& expectation, Within time) {
    auto& findings = context_.findings;
    const auto found = context_.observation.await(expectation, time);
    std::string actual;
    std::size_t before = 0;
    if (!found) {
        (void)dut.is_reached();
        before = context_.recorder.size();
        actual = context_.observation.what_came_instead();
        demand_rest();
        demand_answers();
    }
    findings.observed();
    if (found) {
        findings.judge_claims(expectation, *found, situation());
        return;
    }
    const auto when = context_.observation.limit_text(time);
    findings.violated({.expected = expectation.what() + when, .actual = actual},
                      "no " + expectation.what() + when + "; " + actual, before);
    throw CaseEnds::as_judged();
}

void Bench::require(bool holds, std::string_view expected, std::string_view actual) {
    auto& findings = context_.findings;
    const auto found = actual.empty() && !holds ? context_.observation.what_came_instead() : std::string(actual);
    const auto before = context_.recorder.size();
    if (!holds && !judges_leaving_) {
        demand_rest();
        demand_answers();
    }
    findings.observed();
    if (holds) return;
    findings.violated({.expected = std::string(expected), .actual = found},
                      "expected " + std::string(expected) + (actual.empty() ? "; " : ", found ") + found, before);
}

void Bench::ask_for_life() {
    if (is_asked_in_group_) return;
    auto question = arp_request();
    if (situation().is_ipv6())
        question = neighbour_solicitation(sa.join(IpAddress::v6(solicited_node_group(situation().dut.ipv6))).mlid());
    send_until(question, address_reply(), within(1s));
    is_asked_in_group_ = true;
    if (happens(address_reply(), within(0ms))) question_in_group_ = question;
}

void Bench::demand_life_after(const std::vector<Message>& messages) {
    ask_for_life();
    for (const auto& message : messages) send(message);
    send_until(echo_request(), echo_reply(), within(1s));
    require(echo_reply(), within(0ms));
    if (!question_in_group_) return;
    send_until(*question_in_group_, address_reply(), within(1s));
    require(address_reply(), within(0ms));
}

void Bench::demand_control_before(std::string_view what) const {
    if (!is_controlled_)
        throw CaseEnds::error("step \"" + context_.findings.step_title() + "\" forbids " + std::string(what) +
                              " without a positive control before");
}

void Bench::judge_forbidden(const Expectation& expectation, std::optional<std::size_t> found) {
    if (found) demand_rest();
    context_.findings.observed();
    if (!found) return;
    Packet packet;
    context_.recorder.decode(*found, packet);
    context_.findings.violated(
        {.frame = *found + 1,
         .expected = "no " + expectation.what(),
         .actual = in_one_line(packet),
         .subject = packet.lrh ? "LID " + hex(packet.lrh[Lrh::slid], 4) : std::string{}},
        "there must be no " + expectation.what() + ", but " + frame_name(*found) + " is " + in_one_line(packet));
}

bool Bench::forbid(const Expectation& expectation, Within time) {
    auto& observation = context_.observation;
    demand_control_before("something");
    const auto asked = situation();
    const auto since = observation.stimulus().frame;
    time.is_before_control = true;
    auto found = observation.await(expectation, asked, since, time, Damaged::was_sent);
    control();
    if (!found) found = observation.find(expectation, asked, since, Damaged::was_sent);
    judge_forbidden(expectation, found);
    return !found;
}

std::optional<std::size_t> Bench::answer_to_any(std::span<const Message> messages, const Expectation& expectation) {
    auto& observation = context_.observation;
    struct Question {
        Situation asked;
        std::size_t since;
    };
    std::vector<Question> questions;
    for (const auto& message : messages) {
        send(message);
        questions.push_back({situation(), observation.stimulus().frame});
    }
    std::optional<std::size_t> found;
    const auto is_answered = [&] {
        for (auto one = questions.begin(); one != questions.end() && !found; ++one)
            found = observation.find(expectation, one->asked, one->since, Damaged::was_sent);
        return found.has_value();
    };
    (void)observation.comes_true_by_frames(is_answered, {.time = 300ms, .is_before_control = true});
    control();
    (void)is_answered();
    return found;
}

void Bench::forbid_each(const std::vector<Message>& messages, const Expectation& expectation) {
    // More could be more than a receive queue takes at once.
    constexpr std::size_t together = 32;
    demand_control_before("answers");
    context_.observation.demand_sight(expectation);
    for (std::size_t first = 0; first < messages.size(); first += together) {
        const auto part = std::span{messages}.subspan(first, std::min(together, messages.size() - first));
        const auto found = answer_to_any(part, expectation);
        bool is_named = false;
        for (auto one = part.begin(); found && one != part.end(); ++one) {
            send(*one);
            is_named |= !forbid(expectation, within(300ms));
        }
        if (!is_named) judge_forbidden(expectation, found);
    }
}

void Bench::forbid_so_far(const Expectation& expectation) {
    context_.observation.demand_sight(expectation);
    judge_forbidden(expectation, context_.observation.find_in_step(expectation, Damaged::was_sent));
}

std::optional<std::size_t> Bench::echo_answer() {
    auto& session = context_.session;
    send(echo_request());
    const auto asked_at = session.loop().now();
    const auto answered = context_.observation.await(echo_reply(), within(1s));
    if (answered) session.answered_after(session.loop().now() - asked_at);
    return answered;
}

std::string Bench::try_control() {
    if (const auto& now = situation(); now.is_ipv6() ? now.dut.ipv6.is_zero() : now.dut.ipv4 == 0)
        not_applicable(std::string("the DUT tells no IPv") + (now.is_ipv6() ? "6" : "4") + " address");
    auto& observation = context_.observation;
    const auto before = situation().nonce;
    const auto stimulus = observation.stimulus();
    constexpr int attempts = 3;
    std::optional<std::size_t> answered;
    for (int i = 0; i < attempts && !answered; ++i) answered = echo_answer();
    auto came = answered ? std::string{} : observation.what_came_instead();
    context_.situation().nonce = before;
    observation.resume(stimulus);
    is_controlled_ = answered.has_value();
    return came;
}

void Bench::control() {
    auto came = try_control();
    // Who has begun anew may have another queue pair, and is looked for as any neighbour would do.
    const auto& dut = situation().dut;
    if (const auto before = std::pair{dut.lid, dut.qpn};
        !is_controlled_ && context_.session.find_dut() && std::pair{dut.lid, dut.qpn} != before)
        came = try_control();
    if (!is_controlled_)
        throw CaseEnds::inconclusive(context_.findings.where() +
                                     "the positive control failed: no answer to an ordinary echo request; " + came);
}

void Bench::require_traffic(Within time) {
    std::string came;
    is_controlled_ = false;
    // First it goes on by itself; then it hears of the tester once more, whose address it may not be able to ask for.
    bool is_told = false;
    const auto is_answered = [&] {
        if (std::exchange(is_told, true)) {
            send(address_request());
            // An interface that has begun anew may have told another QPN.
            (void)context_.session.find_dut();
        }
        came = try_control();
        return is_controlled_;
    };
    require(context_.observation.comes_true(is_answered, time), "an answer to an ordinary echo request",
            came.empty() ? "none" : "none; " + came);
}

void Bench::control6() {
    if (situation().dut.ipv6.is_zero()) context_.session.look_for_ipv6();
    if (situation().dut.ipv6.is_zero()) not_applicable("the DUT tells no IPv6 address");
    // What it holds of the tester may be of a case before.
    send(unicast_neighbour_solicitation());
    (void)happens(neighbour_advertisement(), within(1s));
    send_until(echo_request6(), echo_reply6(), within(2s));
    precondition(echo_reply6(), within(0ms));
}

void Bench::note(std::string_view text) { context_.findings.note(std::string(text)); }

void Bench::recommend(bool holds, std::string_view expected, std::string_view actual) {
    context_.findings.observed();
    if (holds) return;
    context_.findings.warned({.expected = std::string(expected), .actual = std::string(actual)},
                             "expected " + std::string(expected) + ", found " + std::string(actual));
}

void Bench::recommend_sent(bool is_sent, std::string_view expected, std::string_view actual) {
    if (!is_sent) {
        demand_rest();
        demand_answers();
    }
    recommend(is_sent, expected, actual);
}

void Bench::not_applicable(std::string_view why) { throw CaseEnds::not_applicable(std::string(why)); }

const Situation& Bench::situation() const noexcept { return context_.situation(); }
const build::Link& Bench::link() const noexcept { return situation().link; }
bool Bench::waits_long() const noexcept { return context_.session.options().allows_long; }
const Profile& Bench::profile() const noexcept { return context_.profile; }

IpAddress Bench::all_nodes(Family family) noexcept {
    constexpr auto all_hosts4 = IpAddress::v4(0xe0000001);
    constexpr auto all_nodes6 = IpAddress::v6(Gid::of(std::uint64_t{0xff02} << 48, 1));
    return family == Family::ipv6 ? all_nodes6 : all_hosts4;
}

IpAddress Bench::all_routers() const noexcept {
    constexpr auto all_routers4 = IpAddress::v4(0xe0000002);
    constexpr auto all_routers6 = IpAddress::v6(Gid::of(std::uint64_t{0xff02} << 48, 2));
    return situation().is_ipv6() ? all_routers6 : all_routers4;
}

IpAddress Bench::fresh_group() { return situation().is_ipv6() ? fresh_group6() : fresh_group4(); }

IpAddress Bench::fresh_link_local_group() {
    return situation().is_ipv6() ? fresh_link_local_group6() : fresh_link_local_group4();
}

IpAddress Bench::fresh_group4() {
    auto& session = context_.session;
    const auto number = session.next_number();
    return IpAddress::v4(0xef000000u | std::uint32_t{session.group_range()} << 8 * 2 | std::uint32_t{number});
}

IpAddress Bench::fresh_link_local_group4() {
    constexpr std::uint32_t local_control_block = 0xe0000000, first = 200, groups = 40;
    return IpAddress::v4(local_control_block + first + context_.session.next_number() % groups);
}

IpAddress Bench::fresh_group6(std::uint64_t prefix) {
    const auto number = context_.session.next_number();
    return IpAddress::v6(Gid::of(prefix << 48, std::uint64_t{context_.session.group_range()} << 16 | number));
}

IpAddress Bench::fresh_group6() {
    constexpr std::uint64_t transient_site_local = 0xff15;
    return fresh_group6(transient_site_local);
}

IpAddress Bench::fresh_link_local_group6() {
    constexpr std::uint64_t transient_link_local = 0xff12;
    return fresh_group6(transient_link_local);
}

std::uint16_t Bench::fresh_port() { return context_.session.next_nonce(); }

bool Bench::stops_routing() {
    if (profile().role != Role::router) return true;
    if (!dut->can("router")) return false;
    dut->router(false);
    return true;
}

std::uint32_t Bench::free_address(std::uint8_t first) {
    for (std::uint32_t host = first; host < hosts_of_link; ++host)
        if (const auto address = beside_tester(host); !is_taken(address)) return address;
    not_applicable(no_address);
}

std::uint32_t Bench::beside_tester(std::uint32_t host) const {
    return (situation().tester.ipv4 & ~hosts_of_link) | host;
}

bool Bench::is_taken(std::uint32_t address) const {
    const auto& s = situation();
    return address == s.tester.ipv4 || address == s.dut.ipv4 || context_.session.is_told_of_dut(address);
}

IpAddress Bench::fresh_neighbour() { return situation().is_ipv6() ? fresh_neighbour6() : fresh_neighbour4(); }

IpAddress Bench::fresh_neighbour6() {
    constexpr std::uint64_t beside = 0x5a00'0000;
    const auto& own = situation().tester.ipv6;
    return IpAddress::v6(Gid::of(own.prefix(), own.interface_id() ^ (beside | context_.session.next_number())));
}

IpAddress Bench::fresh_neighbour4() {
    constexpr std::uint32_t first = 130, count = 70;
    for (std::uint32_t tries = 0; tries < count; ++tries)
        if (const auto address = beside_tester(first + context_.session.next_number() % count); !is_taken(address))
            return IpAddress::v4(address);
    not_applicable(no_address);
}

Message Bench::address_request_to_group() {
    if (!situation().is_ipv6()) return arp_request();
    return neighbour_solicitation(sa.join(IpAddress::v6(solicited_node_group(situation().dut.ipv6))).mlid());
}

Gid Bench::mgid_of(const IpAddress& group) const {
    return group.is_v4() ? mgid_for_ipv4(group.v4(), link().p_key, link().scope)
                         : mgid_for_ipv6(group.octets, link().p_key, link().scope);
}

std::string Bench::undo() {
    const CleaningUp anyhow;
    auto problem = fabric.undo();
    loses_nothing_ = is_asked_in_group_ = false;
    question_in_group_.reset();
    sa.undo();
    tester.undo();
    return problem;
}

}  // namespace ipoib::conformance
