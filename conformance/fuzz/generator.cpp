// SPDX-License-Identifier: GPL-2.0-or-later
// Chance.
#include "conformance/fuzz/generator.hpp"

#include "conformance/fuzz/life.hpp"
#include "conformance/fuzz/material.hpp"

#include <algorithm>
#include <iterator>

namespace ipoib::conformance::fuzz {
namespace {

/// Of lies that are made without a fabric, and only for the rows of their headers.
Scene any_scene() {
    Scene scene;
    scene.self = {.lid = 2, .gid = wire::Gid::of(1, 2), .qpn = 0x48, .ipv4 = 0x0a010001};
    scene.dut = {.lid = 3, .gid = wire::Gid::of(1, 3), .qpn = 0x49, .ipv4 = 0x0a010009};
    scene.manager = {.lid = 1, .gid = wire::Gid::of(1, 1), .qpn = 1};
    return scene;
}

/// What answers are like, for lies about them.
std::string_view material_like(std::string_view answerer, std::size_t choice) {
    constexpr std::array<std::string_view, 3> of_sa{"member-answer", "path-answer", "group-report"};
    constexpr std::array<std::string_view, 4> of_cm{"connection-reply", "connection-ready", "connection-request",
                                                    "disconnection"};
    if (answerer == "sa") return of_sa[choice % of_sa.size()];
    if (answerer == "cm") return of_cm[choice % of_cm.size()];
    if (answerer == "sm") return "question-port-info";
    return answerer == "arp" ? "arp-reply" : "echo";
}

}  // namespace

std::set<Area> areas_of(std::string_view target) {
    std::set<Area> areas{Area::link, Area::host};
    if (target == "ipoib" || target == "all") areas.insert(Area::datagrams);
    if (target == "cm" || target == "all") areas.insert(Area::connections);
    if (target == "sa" || target == "all") areas.insert(Area::administration);
    constexpr std::size_t of_none = 2;
    return areas.size() == of_none ? std::set<Area>{} : areas;
}

Generator::Generator(std::uint64_t seed, std::set<Area> areas, std::string scenario)
    : random_(seed), areas_(std::move(areas)), scenario_(std::move(scenario)) {
    for (const auto& verb : all_verbs())
        // A session has an end of its own.
        if (verb.name != "settle" && (verb.has_lies || areas_.contains(verb.area))) verbs_.push_back(&verb);
}

std::uint32_t Generator::value_of(const Verb& verb) {
    if (verb.most == 0) return 0;
    const auto range = verb.most - verb.least;
    // Long waits cost sessions, and some of what can go wrong comes at the end of a timer only.
    constexpr std::uint32_t usual_ms = 60, longer_ms = 600;
    const bool is_time = verb.words.find(" ms") != std::string_view::npos;
    if (is_time) {
        const auto most = is_patient_ ? range : below(8) ? usual_ms : longer_ms;
        return verb.least + static_cast<std::uint32_t>(below(std::min(range, most)));
    }
    switch (random_() % 4) {
        case 0:
            return verb.least;
        case 1:
            return verb.most;
        default:
            return verb.least + static_cast<std::uint32_t>(random_() % (std::uint64_t{range} + 1));
    }
}

bool Generator::is_allowed(const Operation& operation) const {
    if (!operation.verb->has_lies) return areas_.contains(operation.verb->area);
    if (operation.packet.empty()) return true;
    return areas_.contains(find_material(operation.packet)->area);
}

std::string Generator::lie_about(const Operation& operation) {
    auto scene = any_scene();
    if (!operation.octets.empty()) return random_lie(made_to_fit(scene, operation.octets), random_);
    constexpr unsigned seldom = 8;
    if (operation.packet.empty() && below(seldom) == 0) return "lost=1";
    const auto name =
        operation.packet.empty() ? material_like(operation.of, below(12)) : std::string_view{operation.packet};
    return random_lie(find_material(name)->make(scene), random_);
}

Operation Generator::operation() {
    Operation made;
    // Every other one is a packet.
    made.verb = below(2) == 0 ? find_verb("send") : verbs_[below(verbs_.size())];
    made.value = value_of(*made.verb);
    if (made.verb->name == "send") {
        std::vector<const Material*> some;
        for (const auto& one : all_materials())
            if (areas_.contains(one.area)) some.push_back(&one);
        made.packet = some[below(some.size())]->name;
    }
    if (made.verb->name == "answers") made.of = answerers[below(std::size(answerers))];
    if (made.verb->has_lies) {
        for (auto lies = made.verb->name == "answers" ? 1 + below(2) : below(3); lies > 0; --lies)
            made.lies.push_back(lie_about(made));
        constexpr unsigned many = 20;
        made.times = below(4) ? 1 : static_cast<std::uint32_t>(1 + below(many));
        if (made.verb->name == "answers") made.after = static_cast<std::uint32_t>(below(3));
    }
    made.pause = pause();
    return made;
}

/// Requests to an SA are given up after seconds, messages of connection management come again after as long.
std::uint32_t Generator::pause() {
    constexpr unsigned short_pause = 8, of_exchange = 400, of_timer = 1100, more = 1400;
    if (below(3) != 0) return 0;
    if (!is_patient_) return static_cast<std::uint32_t>(1 + below(short_pause));
    return static_cast<std::uint32_t>(below(2) ? 1 + below(of_exchange) : of_timer + below(more));
}

void Generator::choose_patience() {
    constexpr unsigned seldom = 6;
    is_patient_ = below(seldom) == 0;
}

/// Something that comes to be, is used and ends, and begins anew perhaps, in an order of chance.
Session Generator::life() {
    Session session{.scenario = scenario_, .operations = {}};
    auto& operations = session.operations;
    const auto lives = all_lives();
    const auto& life = lives[below(lives.size())];
    const auto begin = [&] { operations.insert(operations.end(), life.begins.begin(), life.begins.end()); };
    begin();
    constexpr std::size_t most = 12, many = 20;
    bool has_ended = false;
    for (auto count = 2 + below(most); count > 0; --count) {
        if (has_ended && below(3) == 0) {
            begin();
            has_ended = false;
            continue;
        }
        const bool is_end = below(5) == 0;
        const auto& some = is_end ? life.ends : life.uses;
        auto operation = some[below(some.size())];
        has_ended |= is_end;
        if (operation.verb->has_lies) {
            if (operation.packet.empty()) operation.after = static_cast<std::uint32_t>(below(3));
            if (below(2)) operation.times = static_cast<std::uint32_t>(1 + below(many));
            if (below(4) == 0) operation.lies.push_back(lie_about(operation));
        }
        if (operation.pause == 0) operation.pause = pause();
        operations.push_back(std::move(operation));
    }
    return session;
}

std::vector<Session> Generator::sweeps() {
    constexpr std::size_t in_one = 20;
    std::vector<Session> all;
    for (const auto& material : all_materials()) {
        if (!areas_.contains(material.area)) continue;
        auto scene = any_scene();
        std::vector<Operation> some;
        for (const auto& sweep : sweeps_of(material.make(scene)))
            some.push_back({.verb = find_verb("send"),
                            .packet = std::string(material.name),
                            .lies = {sweep.lie},
                            .times = sweep.values});
        std::ranges::shuffle(some, random_);
        for (std::size_t at = 0; at < some.size(); at += in_one) {
            Session session{.scenario = scenario_, .operations = {}};
            const auto end = std::min(at + in_one, some.size());
            for (auto i = at; i < end; ++i) session.operations.push_back(some[i]);
            all.push_back(std::move(session));
        }
    }
    std::ranges::shuffle(all, random_);
    return all;
}

Session Generator::fresh() {
    choose_patience();
    if (below(2)) {
        auto session = life();
        std::erase_if(session.operations, [this](const Operation& one) { return !is_allowed(one); });
        if (!session.operations.empty()) return session;
    }
    Session session{.scenario = scenario_, .operations = {}};
    constexpr std::size_t most = 10;
    for (auto count = 1 + below(most); count > 0; --count) session.operations.push_back(operation());
    return session;
}

void Generator::change(Operation& one) {
    if (!one.verb->has_lies) {
        one.value = value_of(*one.verb);
        return;
    }
    switch (below(6)) {
        case 0:
            one.times = static_cast<std::uint32_t>(1 + below(20));
            break;
        case 1:
            if (!one.lies.empty())
                one.lies.erase(one.lies.begin() + static_cast<std::ptrdiff_t>(below(one.lies.size())));
            break;
        case 2:
            if (!one.lies.empty()) one.lies[below(one.lies.size())] = lie_about(one);
            break;
        default:
            constexpr std::size_t most_lies = 6;
            if (one.lies.size() < most_lies) one.lies.push_back(lie_about(one));
    }
}

Session Generator::changed(std::span<const Session> corpus) {
    if (corpus.empty()) return fresh();
    choose_patience();
    // Those that came last have been changed least.
    const auto recent = std::min<std::size_t>(corpus.size(), 32);
    auto session = corpus[below(2) ? corpus.size() - 1 - below(recent) : below(corpus.size())];
    session.scenario = scenario_;
    auto& operations = session.operations;
    const auto somewhere = [&] {
        return operations.begin() + static_cast<std::ptrdiff_t>(below(operations.size() + 1));
    };
    for (auto changes = 1 + below(4); changes > 0; --changes) {
        const auto kind = operations.empty() ? 0 : below(7);
        if (kind == 0) {
            operations.insert(somewhere(), operation());
        } else if (kind == 1) {
            operations.erase(operations.begin() + static_cast<std::ptrdiff_t>(below(operations.size())));
        } else if (kind == 2) {
            const auto copy = operations[below(operations.size())];
            operations.insert(somewhere(), copy);
        } else if (kind == 3) {
            const auto& other = corpus[below(corpus.size())].operations;
            if (other.empty()) continue;
            const auto first = below(other.size());
            const auto count = std::min<std::size_t>(other.size() - first, 1 + below(6));
            operations.insert(somewhere(), other.begin() + static_cast<std::ptrdiff_t>(first),
                              other.begin() + static_cast<std::ptrdiff_t>(first + count));
        } else if (kind == 4) {
            // What was done is done again.
            const auto first = below(operations.size());
            const auto count = std::min<std::size_t>(operations.size() - first, 1 + below(6));
            const std::vector<Operation> again(operations.begin() + static_cast<std::ptrdiff_t>(first),
                                               operations.begin() + static_cast<std::ptrdiff_t>(first + count));
            operations.insert(operations.begin() + static_cast<std::ptrdiff_t>(first + count), again.begin(),
                              again.end());
        } else {
            change(operations[below(operations.size())]);
        }
    }
    std::erase_if(operations, [this](const Operation& one) { return !is_allowed(one); });
    if (operations.size() > usual_operations) operations.resize(usual_operations);
    return session;
}

std::vector<Session> Generator::seeds() const {
    std::vector<Session> all;
    for (const auto& one : all_materials())
        if (areas_.contains(one.area)) {
            Operation operation{.verb = find_verb("send"), .packet = std::string(one.name)};
            all.push_back({scenario_, {operation}});
        }
    for (const auto* verb : verbs_) {
        if (verb->has_lies) continue;
        Operation operation{.verb = verb};
        operation.value = verb->least;
        all.push_back({scenario_, {operation}});
        // Long waits cost sessions.
        constexpr std::uint32_t few = 200;
        if (verb->most == verb->least || verb->words.find(" ms") != std::string_view::npos) continue;
        operation.value = std::min(verb->most, verb->least + few);
        all.push_back({scenario_, {operation}});
    }
    add_lives(all);
    return all;
}

/// All uses, and each end with a use behind it.
void Generator::add_lives(std::vector<Session>& all) const {
    const auto is_within = [this](const Operation& one) { return is_allowed(one); };
    for (const auto& life : all_lives()) {
        if (!std::ranges::all_of(life.begins, is_within)) continue;
        const auto add = [&](std::span<const Operation> more) {
            Session session{scenario_, life.begins};
            std::ranges::copy_if(more, std::back_inserter(session.operations), is_within);
            all.push_back(std::move(session));
        };
        add(life.uses);
        for (const auto& end : life.ends) add(std::array{end, life.uses.front()});
    }
}

}  // namespace ipoib::conformance::fuzz
