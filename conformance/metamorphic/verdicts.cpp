// SPDX-License-Identifier: GPL-2.0-or-later
// Frames to the judge's inspector, and its answers as numbers: no words, no files.
#include "conformance/metamorphic/verdicts.hpp"

#include "protocol/requirements/catalogue.hpp"

#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <unordered_map>

namespace ipoib::metamorphic {
namespace {

using requirements::Strength;

struct NameTable {
    std::deque<std::string> names{""};
    std::unordered_map<std::string, std::uint16_t> numbers{{"", 0}};
    std::mutex mutex;
};
NameTable& name_table() {
    static NameTable table;
    return table;
}

/// What a violation of a rule is: which requirements, by number, and whether it is a FAIL.
struct RuleWeight {
    std::array<std::uint16_t, 2> requirements{};
    std::size_t count = 0;
    bool is_fail = false;
};

std::uint16_t requirement_number(std::string_view id) {
    static const auto numbers = [] {
        std::map<std::string_view, std::uint16_t> by_id;
        for (const auto* requirement : requirements::all())
            by_id.emplace(requirement->id, static_cast<std::uint16_t>(by_id.size()));
        return by_id;
    }();
    return numbers.at(id);
}

const std::vector<RuleWeight>& weights() {
    static const auto all = [] {
        std::vector<RuleWeight> list;
        for (const auto& rule : rules::all()) {
            auto& weight = list.emplace_back();
            for (const auto* requirement : rule.checks)
                if (requirement) weight.requirements[weight.count++] = requirement_number(requirement->id);
            weight.is_fail = rule.weight.value_or(rule.checks[0]->strength) == Strength::must;
        }
        return list;
    }();
    return all;
}

inspection::FrameView view_of(const Frame& frame, std::size_t position) {
    return {.octets = frame.octets,
            .wire_length = frame.wire_length,
            .medium = frame.medium,
            .sight = {position + 1, frame.time, frame.capture},
            .interface = frame.interface,
            .origin = frame.origin,
            .lost = frame.lost};
}

/// Takes the inspector's answers.
class Counter {
public:
    Counter(const std::vector<Frame>& frames, const Parties& parties, Verdicts& verdicts, Decisions* decisions,
            Suspicions* suspicions)
        : frames_(frames), parties_(parties), verdicts_(verdicts), decisions_(decisions), suspicions_(suspicions) {}

    void at(std::size_t position) noexcept { position_ = position; }
    void end() noexcept { is_end_ = true; }

    void unjudged(std::size_t, state::Facts) const noexcept {}
    void observed(std::size_t rule) const {
        if (decisions_) ++decisions_->observed[rule];
    }
    void kept(std::size_t rule) const { observed(rule); }
    void overlooked(std::size_t) const noexcept {}
    void noted(std::size_t) const noexcept {}
    void violated(std::size_t rule) const {
        const auto who = parties_.of(frames_[position_]);
        charge(rule, who.sender, who.link, position_);
    }
    void accused(const inspection::Accusation& accusation) const {
        const auto position = static_cast<std::size_t>(accusation.sight.frame) - 1;
        const auto who = parties_.of(frames_[position]);
        const bool is_duty = rules::all()[accusation.rule].duty.has_value();
        charge(accusation.rule, is_duty ? who.asker : who.sender, who.link, position);
    }
    /// What is undecided is no verdict.
    void undecided(const inspection::Accusation& accusation, const state::Reason& lacks) const {
        if (decisions_) --decisions_->observed[accusation.rule];
        if (!suspicions_) return;
        const auto& weight = weights()[accusation.rule];
        for (std::size_t i = 0; i < weight.count; ++i)
            suspicions_->push_back(
                {.requirement = weight.requirements[i],
                 .position = static_cast<std::uint32_t>(accusation.sight.frame - 1),
                 .doubt = std::string(state::spec(lacks.doubt).name) + ": " + std::string(lacks.text)});
    }

private:
    void charge(std::size_t rule, std::uint16_t subject, std::uint16_t link, std::size_t position) const {
        const auto& weight = weights()[rule];
        for (std::size_t i = 0; i < weight.count; ++i)
            verdicts_.add({.requirement = weight.requirements[i],
                           .subject = subject,
                           .link = link,
                           .is_fail = weight.is_fail,
                           .rule = static_cast<std::uint16_t>(rule),
                           .position = static_cast<std::uint32_t>(position),
                           .is_by_end = is_end_});
    }

    const std::vector<Frame>& frames_;
    const Parties& parties_;
    Verdicts& verdicts_;
    Decisions* decisions_;
    Suspicions* suspicions_;
    std::size_t position_ = 0;
    bool is_end_ = false;
};

/// As the statistics at the end of a capture tell it, for each interface.
void tell_losses(inspection::Inspector& inspector, const std::vector<Frame>& frames, std::uint64_t count) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> told;
    for (const auto& frame : frames) {
        if (!told.emplace(frame.capture, frame.interface).second) continue;
        inspector.tell_loss(frame.interface, frame.origin,
                            {.before = {frames.size() + 1, frames.back().time, frame.capture}, .count = count});
    }
}

std::string link_text(const wire::Packet& packet, const state::Link* link, const state::Subnet& subnet) {
    state::Known known;
    known.link = link;
    return inspection::link_name(packet, known, subnet);
}

}  // namespace

std::uint16_t number_of(const std::string& name) {
    auto& [names, numbers, mutex] = name_table();
    const std::lock_guard guard{mutex};
    if (const auto found = numbers.find(name); found != numbers.end()) return found->second;
    if (names.size() > 0xffff) throw std::runtime_error("more ports and links than the comparison holds");
    names.push_back(name);
    return numbers[name] = static_cast<std::uint16_t>(names.size() - 1);
}

const std::string& name_of(std::uint16_t number) {
    auto& table = name_table();
    const std::lock_guard guard{table.mutex};
    return table.names.at(number);  // which stays where it is
}

std::vector<std::uint16_t> numbers_of(const std::vector<const requirements::Requirement*>& broken) {
    std::vector<std::uint16_t> numbers;
    for (const auto* requirement : broken)
        for (const auto id : requirements::closure(*requirement)) numbers.push_back(requirement_number(id));
    std::ranges::sort(numbers);
    return numbers;
}

bool Verdicts::has_exactly(const Charge& charge) const noexcept {
    return std::ranges::binary_search(charges, charge.key(), {}, &Charge::key);
}

bool Verdicts::has(const Charge& charge) const noexcept {
    auto worse = charge;
    worse.is_fail = true;
    return has_exactly(charge) || has_exactly(worse);
}

void Verdicts::settle() {
    if (charges.size() < 2) return;
    std::ranges::stable_sort(charges, {}, &Charge::key);
    const auto is_same = [](const Charge& a, const Charge& b) { return a.key() == b.key(); };
    charges.erase(std::unique(charges.begin(), charges.end(), is_same), charges.end());
}

void judge(const std::vector<Frame>& frames, bool is_one_subnet, const Parties& parties, Verdicts& verdicts,
           const Way& way) {
    static const auto all = rules::every();
    const auto& rules = way.rules ? *way.rules : all;
    verdicts.charges.clear();
    if (way.decisions) way.decisions->observed.assign(rules.size(), 0);
    if (way.suspicions) way.suspicions->clear();
    const bool is_lossy =
        way.lost_somewhere != 0 || std::ranges::any_of(frames, [](const Frame& one) { return one.lost != 0; });
    inspection::Options options{.is_one_subnet = is_one_subnet, .tells_loss_late = is_lossy};
    if (way.is_vouched_for)
        options.assume = [](state::Subnet& subnet) { subnet.vouch({.assumption = state::Assumption::whole}); };
    inspection::Inspector inspector{rules, std::move(options)};
    Counter counter{frames, parties, verdicts, way.decisions, way.suspicions};
    for (std::size_t i = 0; i < frames.size(); ++i) {
        counter.at(i);
        if (inspector.take(view_of(frames[i], i))) inspector.judge(counter);
    }
    if (way.lost_somewhere != 0) tell_losses(inspector, frames, way.lost_somewhere);
    counter.end();
    inspector.finish(counter);
    verdicts.shows_loss = inspector.shows_loss();
    verdicts.settle();
}

std::vector<Who> parties_of(const std::vector<Frame>& frames, bool is_one_subnet) {
    /// Pointers stay valid as long as the inspector does.
    struct Seen {
        const state::Port *sender = nullptr, *asker = nullptr;
        const state::Link* link = nullptr;
        const state::Subnet* subnet = nullptr;
        std::string sender_text;
        bool is_foreign = false;
    };
    static const auto rules = rules::every();
    inspection::Inspector inspector{rules, {.is_one_subnet = is_one_subnet}};
    std::vector<Seen> seen(frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
        if (!inspector.take(view_of(frames[i], i))) {
            seen[i].sender_text = inspection::sender_name(inspector.packet(), {});
            continue;
        }
        const auto& known = inspector.known();
        seen[i] = {known.sender,
                   known.subject,
                   known.link,
                   &inspector.subnet(),
                   inspection::sender_name(inspector.packet(), known),
                   known.is_foreign};
    }
    std::vector<Who> all(frames.size());
    wire::Packet packet;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const auto& one = seen[i];
        all[i].sender = number_of(one.sender ? inspection::port_name(*one.sender) : one.sender_text);
        all[i].asker = one.asker ? number_of(inspection::port_name(*one.asker)) : all[i].sender;
        all[i].is_foreign = one.is_foreign;
        if (!one.subnet) continue;
        wire::decode(frames[i].octets, packet, frames[i].medium, frames[i].wire_length);
        all[i].link = number_of(link_text(packet, one.link, *one.subnet));
    }
    return all;
}

}  // namespace ipoib::metamorphic
