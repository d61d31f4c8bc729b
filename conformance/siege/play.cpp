// SPDX-License-Identifier: GPL-2.0-or-later
// Histories step by step.
#include "conformance/siege/play.hpp"

#include "protocol/wire/text.hpp"

#include <algorithm>
#include <map>
#include <tuple>
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

class Player {
public:
    Player(Subject& subject, const Playing& playing)
        : subject_(subject),
          playing_(playing),
          abilities_(subject.abilities()),
          ground_(subject.begin(playing.is_anew)),
          model_(ground_.facts) {}

    Outcome execute(const History& history) {
        const auto before = probe();
        for (; step_ < history.steps.size() && !is_over(); ++step_) {
            if (can(history.steps[step_]))
                take(history.steps[step_]);
            else
                outcome_.skipped.push_back(step_);
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
        for (auto& one : deviations) outcome_.violations.push_back({std::move(one), step_});
    }
    [[nodiscard]] bool is_there(unsigned port) const {
        return port < model_.facts().ports.size() && model_.facts().ports[port].is_there;
    }

    /// Whether the step is of ports and groups that there are, and of what can be done to them.
    [[nodiscard]] bool can(const Step& step) const;
    void take(const Step& step);
    [[nodiscard]] Request request_of(const Step& step) const;
    Answer ask(const Request& request);
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
    /// The MLID of a group that is made and left; 0: it was refused.
    std::uint16_t probe();

    Subject& subject_;
    const Playing& playing_;
    const Subject::Abilities abilities_;
    Ground ground_;
    Model model_;
    std::set<std::pair<unsigned, std::uint16_t>> subscriptions_;
    std::set<wire::Gid> touched_;
    std::set<std::size_t> chosen_;  ///< groups whose MGID the SA has chosen
    std::size_t step_ = 0;
    Outcome outcome_;
};

Request Player::request_of(const Step& step) const {
    const auto of = step.what == Do::join_for || step.what == Do::leave_for ? step.of : step.port;
    Request request{.is_leave = step.what == Do::leave || step.what == Do::leave_for,
                    .asker = step.port,
                    .record = ground_.groups[step.group],
                    .mask = C::join};
    auto& record = request.record;
    record.set(M::port_gid, model_.facts().ports[of].gid).set(M::join_state, static_cast<std::uint8_t>(step.states));
    if (request.is_leave) return request;
    request.mask = step.components != 0 ? step.components : usual;
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
    tell(model_.take(request, answer));
    return answer;
}

void Player::forget_chosen() {
    for (const auto group : chosen_)
        if (!model_.find(ground_.groups[group][M::mgid])) ground_.groups[group].set(M::mgid, {});
    std::erase_if(chosen_, [&](std::size_t group) { return ground_.groups[group][M::mgid].is_zero(); });
}

void Player::subscribe(unsigned port, std::uint16_t trap, bool begins) {
    ++outcome_.requests;
    const auto answer = subject_.subscribe(port, trap, begins);
    tell(model_.take_subscription(port, trap, begins, answer));
    if (begins && answer.is_ok())
        subscriptions_.insert({port, trap});
    else if (!begins)
        subscriptions_.erase({port, trap});
}

/// What a port does when it is asked to reregister: it asks again for what it has.
void Player::reregister(unsigned port) {
    for (const auto& record : ground_.groups) {
        const auto states = model_.states(record[M::mgid], port);
        if (states == 0) continue;
        Request request{.asker = port, .record = record, .mask = usual};
        request.record.set(M::port_gid, model_.facts().ports[port].gid).set(M::join_state, states);
        (void)ask(request);
    }
    const auto held = subscriptions_;
    for (const auto& [subscriber, trap] : held)
        if (subscriber == port) subscribe(port, trap, true);
}

bool Player::can(const Step& step) const {
    if (step.what == Do::restart) return abilities_.restarts;
    if (step.port >= abilities_.askers || step.group >= ground_.groups.size()) return false;
    if (step.of >= model_.facts().ports.size()) return false;
    const bool is_of_port = step.what == Do::port_down || step.what == Do::port_up;
    return !is_of_port || (abilities_.ports_vanish && step.port >= abilities_.first_to_vanish);
}

/// Who is not there does nothing.
void Player::take(const Step& step) {
    if (!can(step)) return;
    if (step.what != Do::restart && step.what != Do::port_up && !is_there(step.port)) return;
    switch (step.what) {
        case Do::join:
        case Do::join_for:
        case Do::leave:
        case Do::leave_for: {
            forget_chosen();
            const auto request = request_of(step);
            const auto answer = ask(request);
            if (!request.record[M::mgid].is_zero() || request.is_leave || !answer.is_ok()) return;
            ground_.groups[step.group].set(M::mgid, answer.record[M::mgid]);
            chosen_.insert(step.group);
            return;
        }
        case Do::subscribe:
        case Do::unsubscribe:
            return subscribe(step.port, step.trap, step.what == Do::subscribe);
        case Do::reregister:
            return reregister(step.port);
        case Do::port_down:
        case Do::port_up: {
            const bool is_up = step.what == Do::port_up;
            if (is_there(step.port) == is_up) return;
            if (!subject_.set_port(step.port, is_up).empty()) return;
            if (is_up) return model_.come_back(step.port);
            model_.vanish(step.port);
            std::erase_if(subscriptions_, [&](const auto& one) { return one.first == step.port; });
            break;
        }
        case Do::restart:
            if (!subject_.restart().empty()) return;
            model_.restart();
            subscriptions_.clear();
            break;
    }
    for (const auto& record : ground_.groups) touched_.insert(record[M::mgid]);
}

void Player::hear() {
    const auto due = model_.take_due();
    if (!abilities_.hears) return;
    std::size_t wanted = 0;
    for (const auto& one : due) wanted += one.least;
    auto heard = subject_.heard(wanted);
    const auto say = [&](std::string_view rule, unsigned port, std::uint16_t trap, const wire::Gid& mgid,
                         const requirements::Requirement* requirement) {
        tell({{"report", rule,
               "port " + std::to_string(port) + ", trap " + std::to_string(trap) + " on " + wire::text(mgid),
               requirement}});
    };
    using Key = std::tuple<unsigned, std::uint16_t, wire::Gid>;
    std::map<Key, Due> bounds;
    for (const auto& one : due) {
        const auto [at, is_new] = bounds.emplace(Key{one.port, one.trap, one.mgid}, one);
        if (is_new) continue;
        at->second.least += one.least;
        at->second.most += one.most;
    }
    for (const auto& entry : bounds) {
        const auto& key = entry.first;
        const auto& [port, trap, mgid, least, most, requirement] = entry.second;
        unsigned count = 0;
        for (auto at = heard.begin(); at != heard.end() && count < most;) {
            const bool is_it = Key{at->port, at->trap, at->mgid} == key;
            count += is_it;
            at = is_it ? heard.erase(at) : at + 1;
        }
        if (count < least)
            say("a group's beginning and end are reported to each subscriber (14.2.5.1)", port, trap, mgid,
                requirement);
    }
    for (const auto& one : heard) {
        const auto is_ours = [&](const Record& record) { return record[M::mgid] == one.mgid; };
        if (!std::ranges::any_of(ground_.groups, is_ours)) continue;
        say("nothing is reported but what happened, and to each subscriber once (13.4.9)", one.port, one.trap, one.mgid,
            nullptr);
    }
}

void Player::compare(const wire::Gid& mgid) {
    if (!abilities_.tells_members) return;
    std::map<unsigned, Seen> seen;
    std::vector<Deviation> all;
    const auto told = subject_.look(mgid);
    if (told.empty()) return;
    for (unsigned port = 0; port < told.size(); ++port) {
        seen[port] = told[port];
        auto deviations = model_.compare(mgid, port, told[port]);
        // What is said of the group is said once.
        const bool is_told = std::ranges::any_of(all, [](const Deviation& other) { return other.kind == "group"; });
        std::erase_if(deviations, [&](const Deviation& other) { return is_told && other.kind == "group"; });
        all.insert(all.end(), std::make_move_iterator(deviations.begin()), std::make_move_iterator(deviations.end()));
    }
    const auto* group = model_.find(mgid);
    const bool is_open = group && group->is_open;
    if (!all.empty() || is_open) model_.adopt(mgid, seen);
    tell(std::move(all));
}

void Player::see() {
    hear();
    touched_.erase(wire::Gid{});
    for (const auto& mgid : std::exchange(touched_, {})) compare(mgid);
}

std::uint16_t Player::probe() {
    Request request{.asker = 0, .record = ground_.probe, .mask = usual};
    request.record.set(M::port_gid, model_.facts().ports[0].gid).set(M::join_state, wire::join_state::full_member);
    ++outcome_.requests;
    const auto answer = subject_.ask(request);
    if (answer.status == wire::sa_status::no_resources) outcome_.is_exhausted = true;
    tell(model_.take(request, answer));
    if (!answer.is_ok()) return 0;
    const auto mlid = answer.record[M::mlid];
    request.is_leave = true;
    request.mask = C::join;
    (void)ask(request);
    see();
    return mlid;
}

void Player::end(std::uint16_t mlid_before) {
    for (unsigned port = 0; port < model_.facts().ports.size(); ++port) take({.what = Do::port_up, .port = port});
    see();
    for (const auto& record : ground_.groups) {
        const auto mgid = record[M::mgid];
        for (unsigned port = 0; port < model_.facts().ports.size(); ++port) {
            const auto states = model_.states(mgid, port);
            if (states == 0) continue;
            const auto asker = port < abilities_.askers ? port : 0;
            Request request{.is_leave = true, .asker = asker, .record = record, .mask = C::join};
            request.record.set(M::port_gid, model_.facts().ports[port].gid).set(M::join_state, states);
            (void)ask(request);
        }
        see();
    }
    const auto left = subscriptions_;
    for (const auto& [port, trap] : left) subscribe(port, trap, false);
    for (const auto& record : ground_.groups) touched_.insert(record[M::mgid]);
    see();
    const auto mlid = probe();
    if (!playing_.tells_leaks || mlid_before == 0) return;
    const auto suspect = [&](std::string what) {
        tell({{leak, "MLIDs in use are not more than groups held", std::move(what), nullptr}});
    };
    if (mlid == 0)
        suspect("no group can be created any more, and nobody here holds one");
    else if (mlid != mlid_before)
        suspect("a new group has MLID " + wire::hex(mlid, 4) + ", and " + wire::hex(mlid_before, 4) +
                ", which it had before, is not free any more");
    else if (model_.mlids().size() > std::max<std::size_t>(model_.peak(), 1))
        suspect(std::to_string(model_.mlids().size()) + " MLIDs were used, and at most " +
                std::to_string(model_.peak()) + " groups held at one time");
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
    }
    return "";
}

Weight Violation::weight() const noexcept {
    if (deviation.kind == leak) return Weight::suspicion;
    return deviation.requirement ? Weight::fail : Weight::finding;
}

Outcome play(const History& history, Subject& subject, const Playing& playing) {
    return Player{subject, playing}.execute(history);
}

bool gives_same_mlid(Subject& subject) {
    // The first history makes a group before and after: were the MLIDs to differ, it would tell of a leak.
    return std::ranges::none_of(play({}, subject).violations,
                                [](const Violation& one) { return one.deviation.kind == leak; });
}

}  // namespace ipoib::conformance::siege
