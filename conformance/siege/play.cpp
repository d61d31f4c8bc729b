// SPDX-License-Identifier: GPL-2.0-or-later
// Histories step by step.
#include "conformance/siege/play.hpp"

#include "protocol/wire/text.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace ipoib::conformance::siege {
using namespace sa_model;
using M = wire::McMemberRecord;
using C = M::component;

namespace {

/// The components that give a request everything: MTU and rate exactly.
constexpr std::uint64_t usual =
    C::create | C::mtu | C::mtu_selector | C::rate | C::rate_selector | C::hop_limit | C::scope;
constexpr std::uint8_t slowest = 2;  ///< rate code
/// Until the administrator shows which of so many it is, no further port gets another LID.
constexpr std::size_t most_worlds = 64;

class Player {
public:
    Player(Subject& subject, const Playing& playing)
        : subject_(subject),
          playing_(playing),
          abilities_(subject.abilities()),
          ground_(subject.begin(playing.is_anew)),
          worlds_(ground_.facts) {}

    Outcome execute(const History& history) {
        const auto before = probe(0);
        for (; step_ < history.steps.size() && !is_over(); ++step_) {
            const auto& step = history.steps[step_];
            if (!can(step) || !take(step)) outcome_.skipped.push_back(step_);
            see();
        }
        step_ = history.steps.size();
        if (!is_over()) end(before);
        return std::move(outcome_);
    }

private:
    [[nodiscard]] bool is_over() const {
        return (playing_.ends_at_first && !outcome_.violations.empty()) || !subject_.problem().empty();
    }
    void tell(std::vector<Deviation> deviations) {
        if (outcome_.is_disturbed) return;
        for (auto& one : deviations) outcome_.violations.push_back({std::move(one), step_});
    }
    /// What it holds, or may hold at most.
    [[nodiscard]] const Model& model() const noexcept { return worlds_.most(); }
    [[nodiscard]] const std::vector<Port>& ports() const noexcept { return model().facts().ports; }
    [[nodiscard]] bool is_there(unsigned port) const { return port < ports().size() && ports()[port].is_there; }

    /// Whether the step is of ports and groups that there are, and of what can be done to them.
    [[nodiscard]] bool can(const Step& step) const;
    /// False where it could not be done here.
    bool take(const Step& step);
    void request(const Step& step);
    bool set_port(unsigned port, bool is_up);
    /// Whether there is no reason why not. What was tried on a fabric of others may have been done in part.
    bool is_done(const std::string& reason) {
        outcome_.is_disturbed |= abilities_.lasts && !reason.empty();
        return reason.empty();
    }
    [[nodiscard]] Request request_of(const Step& step) const;
    Answer ask(const Request& request);
    void ask_again(const Request& request, const Answer& first);
    /// What an answer, or none, says against the model; behind one that came late nothing is certain.
    void weigh(const Answer& answer, std::vector<Deviation> deviations) {
        const bool is_silent = !answer.is_answered;
        if (is_silent || !answer.is_to_repeated) tell(std::move(deviations));
        outcome_.is_disturbed |= is_silent || answer.is_to_repeated;
    }
    /// Groups whose MGID the SA has chosen are asked for by that, as long as they are there.
    void forget_chosen();
    void subscribe(unsigned port, std::uint16_t trap, bool begins);
    void reregister(unsigned port);

    /// Reports and records after a step.
    void see();
    void compare(const wire::Gid& mgid);
    void hear();
    /// All leave what they have, and end their subscriptions.
    void end(std::uint16_t mlid_before);
    void tell_leaks(std::uint16_t mlid_before);
    /// The MLID of a group that is made and left; 0: it was refused.
    std::uint16_t probe(std::size_t which);
    [[nodiscard]] Request request_of_probe(std::size_t which) const;
    /// Whether one of so many further groups gets the MLID, or a group of the configuration has it.
    [[nodiscard]] bool is_free(std::uint16_t mlid, std::size_t groups);

    Subject& subject_;
    const Playing& playing_;
    const Subject::Abilities abilities_;
    Ground ground_;
    Worlds worlds_;
    std::set<std::pair<unsigned, std::uint16_t>> subscriptions_;
    std::set<wire::Gid> touched_;
    std::set<unsigned> chosen_;  ///< groups whose MGID the SA has chosen
    std::size_t step_ = 0;
    Outcome outcome_;
};

Request Player::request_of(const Step& step) const {
    const auto of = step.what == Do::join_for || step.what == Do::leave_for ? step.of : step.port;
    Request request{.is_leave = step.what == Do::leave || step.what == Do::leave_for,
                    .asker = step.port,
                    .record = ground_.groups.at(step.group),
                    .mask = C::join};
    auto& record = request.record;
    record.set(M::port_gid, ports()[of].gid).set(M::join_state, static_cast<std::uint8_t>(step.states));
    if (!request.is_leave) request.mask = usual;
    if (step.components != 0) request.mask = step.components;
    switch (step.fault) {
        case Fault::none:
            break;
        case Fault::p_key:
            record.set(M::p_key, static_cast<std::uint16_t>(record[M::p_key] ^ 1));
            break;
        case Fault::q_key:
            record.set(M::q_key, record[M::q_key] ^ 1);
            break;
        case Fault::sl:
            record.set(M::sl, static_cast<std::uint8_t>(record[M::sl] ^ 1));
            break;
        case Fault::flow:
            record.set(M::flow_label, record[M::flow_label] ^ 1);
            break;
        case Fault::rate:
            record.set(M::rate, slowest);
            break;
        case Fault::no_port:
            request.mask &= ~C::port_gid;
            break;
        case Fault::no_state:
            request.mask &= ~C::join_state;
            break;
        case Fault::no_q_key:
            request.mask &= ~C::q_key;
            break;
    }
    return request;
}

Answer Player::ask(const Request& request) {
    ++outcome_.requests;
    auto answer = subject_.ask(request);
    touched_.insert(request.record[M::mgid].is_zero() ? answer.record[M::mgid] : request.record[M::mgid]);
    weigh(answer, worlds_.take(request, answer));
    return answer;
}

void Player::ask_again(const Request& request, const Answer& first) {
    ++outcome_.requests;
    subject_.repeat();
    const auto again = subject_.ask(request);
    weigh(again, worlds_.take_again(request, first, again));
}

void Player::forget_chosen() {
    const auto is_gone = [&](unsigned group) { return !model().find(ground_.groups.at(group)[M::mgid]); };
    for (const auto group : chosen_)
        if (is_gone(group)) ground_.groups.at(group).set(M::mgid, {});
    std::erase_if(chosen_, [&](unsigned group) { return ground_.groups.at(group)[M::mgid].is_zero(); });
}

void Player::subscribe(unsigned port, std::uint16_t trap, bool begins) {
    ++outcome_.requests;
    const auto answer = subject_.subscribe(port, trap, begins);
    weigh(answer, worlds_.take_subscription(port, trap, begins, answer));
    if (begins && answer.is_ok())
        subscriptions_.insert({port, trap});
    else if (!begins)
        subscriptions_.erase({port, trap});
}

/// What a port does when it is asked to reregister: it asks again for what it has.
void Player::reregister(unsigned port) {
    for (const auto& [number, record] : ground_.groups) {
        const auto states = model().states(record[M::mgid], port);
        if (states == 0) continue;
        Request request{.asker = port, .record = record, .mask = usual};
        request.record.set(M::port_gid, ports()[port].gid).set(M::join_state, states);
        (void)ask(request);
    }
    const auto held = subscriptions_;
    for (const auto& [subscriber, trap] : held)
        if (subscriber == port) subscribe(port, trap, true);
}

bool Player::can(const Step& step) const {
    if (step.what == Do::restart) return subject_.abilities().restarts;
    const bool is_membership = is_of_group(step.what);
    if (step.port >= abilities_.askers || (is_membership && !ground_.groups.contains(step.group))) return false;
    if (step.of >= ports().size()) return false;
    if (step.what == Do::port_moves) return subject_.abilities().ports_move && worlds_.count() <= most_worlds;
    const bool is_of_port = step.what == Do::port_down || step.what == Do::port_up;
    return !is_of_port || (abilities_.ports_vanish && step.port >= abilities_.first_to_vanish);
}

void Player::request(const Step& step) {
    forget_chosen();
    const auto request = request_of(step);
    const auto answer = ask(request);
    const bool is_chosen = request.record[M::mgid].is_zero();
    // Of a group whose MGID the SA chooses the second request may make another, which nobody would leave.
    if (step.is_twice && !is_chosen) ask_again(request, answer);
    if (!is_chosen || request.is_leave || !answer.is_ok()) return;
    ground_.groups.at(step.group).set(M::mgid, answer.record[M::mgid]);
    chosen_.insert(step.group);
}

bool Player::set_port(unsigned port, bool is_up) {
    if (is_there(port) == is_up) return true;
    if (!is_done(subject_.set_port(port, is_up))) return false;
    if (is_up) {
        worlds_.come_back(port);
        return true;
    }
    worlds_.vanish(port);
    std::erase_if(subscriptions_, [&](const auto& one) { return one.first == port; });
    return true;
}

/// Who is not there does nothing.
bool Player::take(const Step& step) {
    if (step.what != Do::restart && step.what != Do::port_up && !is_there(step.port)) return true;
    switch (step.what) {
        case Do::join:
        case Do::join_for:
        case Do::leave:
        case Do::leave_for:
            request(step);
            return true;
        case Do::subscribe:
        case Do::unsubscribe:
            subscribe(step.port, step.trap, step.what == Do::subscribe);
            if (!step.is_twice) return true;
            subject_.repeat();
            subscribe(step.port, step.trap, step.what == Do::subscribe);
            return true;
        case Do::reregister:
            reregister(step.port);
            return true;
        case Do::port_down:
        case Do::port_up:
            if (!set_port(step.port, step.what == Do::port_up)) return false;
            break;
        case Do::port_moves:
            if (!is_done(subject_.move_port(step.port))) return false;
            abilities_.lasts ? worlds_.move_somehow(step.port) : worlds_.move(step.port);
            break;
        case Do::restart:
            if (!is_done(subject_.restart())) return false;
            worlds_.restart();
            break;
    }
    for (const auto& [number, record] : ground_.groups) touched_.insert(record[M::mgid]);
    return true;
}

void Player::hear() {
    if (!abilities_.hears) return (void)worlds_.take_reports({});
    auto heard = subject_.heard(worlds_.reports_due());
    // Others have groups, too.
    const auto is_ours = [&](const wire::Gid& mgid) {
        const auto is_it = [&](const Record& record) { return record[M::mgid] == mgid; };
        return std::ranges::any_of(ground_.groups, is_it, &std::pair<const unsigned, Record>::second) ||
               std::ranges::any_of(ground_.probes, is_it) || model().find(mgid);
    };
    std::erase_if(heard, [&](const Heard& one) { return !is_ours(one.mgid) && !worlds_.is_due(one.mgid); });
    tell(worlds_.take_reports(heard));
}

void Player::compare(const wire::Gid& mgid) {
    if (!abilities_.tells_members) return;
    auto told = subject_.look(mgid);
    const auto may_follow = [&] {
        std::vector<std::string> keys;
        for (const auto& one : worlds_.differences(mgid, told)) keys.push_back(one.key());
        return !keys.empty() && subject_.may_follow(keys);
    };
    while (abilities_.lasts && !told.empty() && may_follow()) told = subject_.look(mgid);
    if (!told.empty()) tell(worlds_.look(mgid, told));
}

void Player::see() {
    // Records tell what it has kept, and so which reports have to come.
    const bool looks_first = worlds_.count() > 1;
    if (!looks_first) hear();
    touched_.erase(wire::Gid{});
    for (const auto& mgid : std::exchange(touched_, {})) compare(mgid);
    if (looks_first) hear();
}

Request Player::request_of_probe(std::size_t which) const {
    Request request{.asker = 0, .record = ground_.probes.at(which), .mask = usual};
    request.record.set(M::port_gid, ports()[0].gid).set(M::join_state, wire::join_state::full_member);
    return request;
}

std::uint16_t Player::probe(std::size_t which) {
    auto request = request_of_probe(which);
    ++outcome_.requests;
    const auto answer = subject_.ask(request);
    if (answer.status == wire::sa_status::no_resources) outcome_.is_exhausted = true;
    weigh(answer, worlds_.take(request, answer));
    if (!answer.is_ok()) return 0;
    const auto mlid = answer.record[M::mlid];
    outcome_.mlids.push_back(mlid);
    request.is_leave = true;
    request.mask = C::join;
    (void)ask(request);
    see();
    return mlid;
}

bool Player::is_free(std::uint16_t mlid, std::size_t groups) {
    for (const auto& record : ground_.facts.administrative)
        for (const auto& seen : subject_.look(record[M::mgid]))
            if (seen.record[M::mlid] == mlid) return true;
    std::vector<Request> made;
    bool is_found = false;
    while (!is_found && made.size() < groups && made.size() < ground_.probes.size()) {
        const auto request = request_of_probe(made.size());
        ++outcome_.requests;
        const auto answer = subject_.ask(request);
        auto deviations = worlds_.take(request, answer);
        // That there is no room is what is suspected.
        if (answer.is_ok() || !answer.is_answered) weigh(answer, std::move(deviations));
        if (!answer.is_ok()) break;
        made.push_back(request);
        is_found = answer.record[M::mlid] == mlid;
    }
    for (auto& request : made) {
        request.is_leave = true;
        request.mask = C::join;
        (void)ask(request);
    }
    see();
    return is_found;
}

void Player::end(std::uint16_t mlid_before) {
    for (unsigned port = 0; port < ports().size(); ++port) (void)set_port(port, true);
    see();
    for (const auto& [number, record] : ground_.groups) {
        const auto mgid = record[M::mgid];
        for (unsigned port = 0; port < ports().size(); ++port) {
            const auto states = model().states(mgid, port);
            if (states == 0) continue;
            const auto asker = port < abilities_.askers ? port : 0;
            Request request{.is_leave = true, .asker = asker, .record = record, .mask = C::join};
            request.record.set(M::port_gid, ports()[port].gid).set(M::join_state, states);
            (void)ask(request);
        }
        see();
    }
    const auto left = subscriptions_;
    for (const auto& [port, trap] : left) subscribe(port, trap, false);
    for (const auto& [number, record] : ground_.groups) touched_.insert(record[M::mgid]);
    see();
    tell_leaks(mlid_before);
}

/// Another MGID than the first probe's, since an SA may keep an MLID for the group that it was of.
void Player::tell_leaks(std::uint16_t mlid_before) {
    const auto mlid = probe(1);
    if (!playing_.tells_leaks || mlid_before == 0) return;
    const auto suspect = [&](std::string what) {
        tell({{leak, "MLIDs in use are not more than groups held", std::move(what), nullptr}});
    };
    const auto used = model().mlids().size(), held = std::max<std::size_t>(model().peak(), 1);
    if (mlid == 0)
        suspect("no group can be created any more, and nobody here holds one");
    else if (mlid != mlid_before && !is_free(mlid_before, used + 1))
        suspect("a new group has MLID " + wire::hex(mlid, 4) + ", and " + wire::hex(mlid_before, 4) +
                ", which it had before, is not free any more");
    else if (mlid == mlid_before && used > held)
        suspect(std::to_string(used) + " MLIDs were used, and at most " + std::to_string(held) +
                " groups held at one time");
}

}  // namespace

std::string_view name(Weight weight) noexcept {
    switch (weight) {
        case Weight::fail:
            return "FAIL";
        case Weight::finding:
            return "FINDING";
        case Weight::suspicion:
            return "SUSPICION";
        case Weight::once:
            return "ONCE";
    }
    return "";
}

Weight Violation::weight() const noexcept {
    if (!shows_again) return Weight::once;
    if (deviation.kind == leak) return Weight::suspicion;
    return deviation.requirement ? Weight::fail : Weight::finding;
}

Outcome play(const History& history, Subject& subject, const Playing& playing) {
    return Player{subject, playing}.execute(history);
}

bool gives_same_mlid(Subject& subject) {
    constexpr unsigned times = 3;
    std::set<std::uint16_t> mlids;
    for (unsigned i = 0; i < times; ++i) {
        const auto outcome = play({}, subject, {.is_anew = i == 0, .tells_leaks = false});
        mlids.insert(outcome.mlids.begin(), outcome.mlids.end());
    }
    return mlids.size() <= 1;
}

}  // namespace ipoib::conformance::siege
