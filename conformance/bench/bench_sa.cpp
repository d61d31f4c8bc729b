// SPDX-License-Identifier: GPL-2.0-or-later
// What cases on a subnet administrator need: both ports of the tester, leaves, reports, and what is undone after them.
#include "conformance/bench/bench_state.hpp"
#include "protocol/wire/inform_info.hpp"

#include <algorithm>

namespace ipoib::conformance {
using namespace wire;
using reports::NotJudged;

namespace {

constexpr auto sa_patience = std::chrono::seconds{1};

}  // namespace

std::string status_text(const fabric::SaAnswer& answer) {
    if (!answer.is_answered) return "the SA does not answer";
    const auto name = std::ranges::find(sa_status_names, answer.status, &Named::value);
    return "status " + hex(answer.status, 4) +
           (name == sa_status_names.end() ? std::string{} : " (" + std::string(name->name) + ")");
}

TesterPort& Bench::first() {
    auto& s = state_;
    if (!s.first_port) s.first_port.emplace(s, s.session.tester(), 0);
    return *s.first_port;
}

TesterPort& Bench::second() {
    auto& s = state_;
    if (s.second_port) return *s.second_port;
    const auto ports = s.session.fabric().ports();
    if (ports.size() < 2) throw NotApplicable{NotJudged::tester, "this fabric gives the tester one port only"};
    auto& port = *ports[1];
    auto& loop = s.session.loop();
    constexpr auto longest_start = std::chrono::seconds{30};
    if (!loop.run_until([&] { return port.facts().is_active; }, loop.now() + s.session.scaled(longest_start)))
        throw Inconclusive("the tester's second port did not become active");
    s.second_tester = std::make_unique<Tester>(port, link().p_key, s.session.manners(port.facts()));
    (void)s.second_tester->end_what_was_left();
    if (const auto why = s.second_tester->enter_link(s.session.scaled(sa_patience)); !why.empty())
        throw Inconclusive("the tester's second port: " + why);
    port.on_datagram([&s](Octets frame) {
        s.recorder.arrived(frame, 1);
        s.second_tester->take(frame);
    });
    return s.second_port.emplace(s, *s.second_tester, 1);
}

bool Bench::crosses(TesterPort& from, const Message& message, TesterPort& to) {
    constexpr int attempts = 3;
    for (int i = 0; i < attempts; ++i) {
        from.send(message);
        if (to.takes_it(within(1s))) return true;
    }
    return false;
}

fabric::SaAnswer Bench::ask_to_leave(const Gid& mgid, JoinState states) { return first().ask_to_leave(mgid, states); }

void Bench::rejoin_link() {
    auto& tester = state_.session.tester();
    if (const auto why = tester.enter_link(state_.session.scaled(sa_patience)); !why.empty())
        throw Inconclusive("the tester cannot enter the link again: " + why);
    state_.situation().link = tester.link();
}

fabric::SaAnswer Bench::subscribe(std::uint16_t trap_number, const Gid& gid) {
    auto& s = state_;
    s.session.tester().port().on_report([&s](View<Notice> notice) {
        if (const auto details = gid_details(notice))
            s.reports.push_back({notice[Notice::trap_number], details[GidDetails::gid]});
    });
    auto answer = ask_sa(subscription(trap_number, gid, true));
    if (answer.is_ok()) s.subscriptions.emplace_back(trap_number, gid);
    return answer;
}

fabric::SaAnswer Bench::unsubscribe(std::uint16_t trap_number, const Gid& gid) {
    std::erase(state_.subscriptions, std::pair{trap_number, gid});
    return ask_sa(subscription(trap_number, gid, false));
}

bool Bench::is_reported(std::uint16_t trap_number, const Gid& mgid, Within time) {
    auto& s = state_;
    const auto is_here = [&] {
        return std::ranges::find(s.reports.begin() + static_cast<std::ptrdiff_t>(s.reports_before_step),
                                 s.reports.end(), std::pair{trap_number, mgid}) != s.reports.end();
    };
    auto& loop = s.session.loop();
    (void)loop.run_until(is_here, loop.now() + s.scaled(time));
    return is_here();
}

bool Bench::dut_is_told(std::uint16_t trap_number) {
    auto& s = state_;
    Packet packet;
    for (auto i = s.step_begin; i < s.recorder.size(); ++i) {
        if (s.recorder.party(i) != Party::sa) continue;
        s.recorder.decode(i, packet);
        const auto notice = packet.get<Notice>();
        if (notice && packet.lrh && packet.lrh[Lrh::dlid] == situation().dut.lid &&
            packet.mad[Mad::method] == Method::report && notice[Notice::trap_number] == trap_number)
            return true;
    }
    return false;
}

std::optional<Gid> Bench::peer_never_seen() {
    constexpr auto of_local_scope = std::uint64_t{0x02} << 56;
    const auto& s = state_.session;
    const auto range = std::uint64_t{s.group_range()} << 16;
    const auto gid = Gid::of(port().gid.prefix(), of_local_scope | range | state_.session.next_number());
    try {
        change_fabric(fabric::SetPath{gid, port().lid});
    } catch (const NotApplicable&) {
        return {};
    }
    return gid;
}

void Bench::require_grant(const fabric::SaAnswer& answer) {
    if (!answer.is_answered) throw Inconclusive("step \"" + state_.step_title + "\": the SA does not answer");
    require(answer.is_ok(), "that the SA grants it", status_text(answer));
}

void Bench::require_refusal(const fabric::SaAnswer& answer) {
    if (!answer.is_answered) throw Inconclusive("step \"" + state_.step_title + "\": the SA does not answer");
    require(answer.status != 0, "a refusal", status_text(answer));
    if (answer.status != 0) note(state_.step_title + ": refused with " + status_text(answer));
}

void Bench::State::changed(const fabric::FabricChange& change) {
    if (std::erase(to_undo, change) > 0) return;
    const auto undo = fabric::opposite(change);
    if (undo && std::ranges::find(to_undo, *undo) == to_undo.end()) to_undo.push_back(*undo);
}

std::string Bench::State::undo() {
    const CleaningUp anyhow;
    std::string problem;
    bool is_link_new = false;
    const auto broadcast = fabric::FabricChange{fabric::SetGroup{situation().link.broadcast_gid(), true}};
    while (!to_undo.empty()) {
        const auto change = std::move(to_undo.back());
        to_undo.pop_back();
        const auto answer = session.fabric().change(change);
        is_link_new = is_link_new || change == broadcast;
        if (!answer.is_done() && problem.empty())
            problem = "the fabric could not be put back, " + fabric::text(change) + ": " + answer.message;
    }
    if (is_link_new && problem.empty()) {
        if (const auto why = session.tester().enter_link(session.scaled(sa_patience)); !why.empty())
            problem = "the tester cannot enter the link again: " + why;
        situation().link = session.tester().link();
    }
    if (!subscriptions.empty()) {
        auto& tester = session.tester();
        for (const auto& [trap_number, gid] : std::exchange(subscriptions, {}))
            (void)tester.ask(subscription(trap_number, gid, false));
    }
    if (first_port) first_port->end_listening();
    if (second_port) second_port->end_listening();
    if (second_tester) second_tester->leave_all();
    stop_listening();
    return problem;
}

void Bench::State::stop_listening() noexcept {
    const auto ports = session.fabric().ports();
    ports[0]->on_report({});
    if (second_tester) ports[1]->on_datagram({});
}

Bench::State::~State() { stop_listening(); }

}  // namespace ipoib::conformance
