// SPDX-License-Identifier: GPL-2.0-or-later
// Compares sets of charges, and shrinks what breaks a relation.
#include "conformance/metamorphic/trial.hpp"

#include "conformance/metamorphic/foreign.hpp"
#include "conformance/shrink/shrink.hpp"

namespace ipoib::metamorphic {
namespace {

bool is_excepted(const Relation& relation, const Charge& charge) {
    const auto id = requirements::all()[charge.requirement]->id;
    return std::ranges::any_of(relation.exceptions, [&](const auto* requirement) {
        const auto also = requirements::closure(*requirement);
        return std::ranges::find(also, id) != also.end();
    });
}

/// Whether it holds only if nothing is missing.
bool needs_all(const Charge& charge) { return rules::all()[charge.rule].evidence == rules::Evidence::nothing_between; }

bool has_number(const std::vector<std::uint16_t>& numbers, std::uint16_t number) {
    return std::ranges::binary_search(numbers, number);
}

}  // namespace

const Verdicts& Trial::judge_before(const Relation& relation, const Source& source, Kept kept, const Choice& choice) {
    const bool is_whole = kept.size() == source.size();
    if (is_whole && relation.moves != Moves::sum) return source.verdicts;
    if (relation.is_of_one_subnet) return judge_apart(source, choice);
    before_trace_.clear();
    for (const auto index : kept) put(source, index, before_trace_);
    judge(before_trace_.frames, source.is_one_subnet, source.parties(), before_);
    if (relation.moves != Moves::sum) return before_;
    before_trace_.clear();
    for (const auto index : choice.frames) put(*choice.other, index, before_trace_);
    judge(before_trace_.frames, false, choice.other->parties(), alone_);
    return add_alone();
}

const Verdicts& Trial::add_alone() {
    for (const auto& charge : alone_.charges) before_.add(charge);
    before_.settle();
    return before_;
}

/// Each as it was, and at the times of the other's frames those of a foreign program: time passes for whoever has to do
/// something.
const Verdicts& Trial::judge_apart(const Source& source, const Choice& choice) {
    const auto take = [&](const Source& of, bool is_mixed_in) {
        before_trace_.clear();
        const auto own = std::ranges::find(variant_.frames, is_mixed_in, &Frame::is_mixed_in);
        if (own == variant_.frames.end()) return;
        const auto shift = own->time - of.frames()[own->from].time;
        for (const auto& frame : variant_.frames) {
            if (frame.is_mixed_in == is_mixed_in) {
                put(of, frame.from, before_trace_);
                continue;
            }
            auto foreign = foreign_programs().front()->frames().front();
            foreign.time = frame.time - shift;
            foreign.is_without_who = true;
            before_trace_.frames.push_back(foreign);
        }
    };
    take(source, false);
    judge(before_trace_.frames, source.is_one_subnet, source.parties(), before_);
    take(*choice.other, true);
    judge(before_trace_.frames, false, choice.other->parties(), alone_);
    return add_alone();
}

const std::vector<Moved>& Trial::execute(const Relation& relation, const Source& source, Kept kept,
                                         const Choice& choice) {
    moved_.clear();
    variant_.clear();
    relation.change(source, kept, choice, variant_);
    Parties parties{source.who, {}};
    if (choice.other) parties.of_mixed_in = choice.other->who;
    judge(variant_.frames, variant_.is_one_subnet, parties, after_,
          {.suspicions = &suspicions_, .rules = rules_, .lost_somewhere = variant_.lost_somewhere});
    const auto& before = judge_before(relation, source, kept, choice);
    if (relation.moves == Moves::injected)
        compare_injected(before, choice);
    else
        compare(relation, source, before);
    return moved_;
}

void Trial::compare(const Relation& relation, const Source& source, const Verdicts& before) {
    const bool is_less_proven = relation.moves == Moves::less_proven;
    for (const auto& charge : after_.charges) {
        if (is_less_proven && needs_all(charge)) moved_.push_back({charge, false});
        if (before.has(charge) || is_excepted(relation, charge)) continue;
        if (relation.may_be_traceless && charge.is_by_end) continue;
        // Whoever is shown to break what is broken is not accused wrongly.
        const bool is_true = relation.moves == Moves::nothing_new && has_number(source.broken, charge.requirement);
        if (!is_true) moved_.push_back({charge, false});
    }
    if (relation.moves == Moves::nothing_new) return;
    for (const auto& charge : before.charges)
        if (!after_.has(charge) && !is_excepted(relation, charge) && !(is_less_proven && needs_all(charge)))
            moved_.push_back({charge, true});
}

void Trial::compare_injected(const Verdicts& before, const Choice& choice) {
    const auto at = std::ranges::find_if(
        variant_.frames, [&](const Frame& frame) { return !frame.is_mixed_in && frame.from == choice.frames.front(); });
    if (at == variant_.frames.end()) return;
    const auto position = static_cast<std::uint32_t>(at - variant_.frames.begin());
    for (const auto& charge : after_.charges)
        if (!choice.may_break_more && !before.has(charge) && !has_number(choice.allowed, charge.requirement))
            moved_.push_back({charge, false});
    for (const auto requirement : choice.expected) {
        const auto is_it = [&](const Charge& charge) { return charge.requirement == requirement; };
        const bool is_found = std::ranges::any_of(
            after_.charges, [&](const Charge& charge) { return is_it(charge) && charge.position == position; });
        const bool was_before = std::ranges::any_of(before.charges, is_it);
        if (!is_found && !was_before)
            moved_.push_back({{.requirement = requirement,
                               .rule = static_cast<std::uint16_t>(choice.numbers[0]),
                               .position = position},
                              true});
    }
}

Reduced reduce(Trial& trial, const Relation& relation, const Source& source, const Choice& choice, const Moved& moved) {
    Reduced reduced{.kept = source.everything, .choice = choice, .moved = moved};
    const auto is_broken = [&](Kept kept, const Choice& chosen) {
        for (const auto& one : trial.execute(relation, source, kept, chosen))
            if (one.is_like(moved) && one.charge.key() == moved.charge.key()) {
                reduced.moved = one;
                return true;
            }
        return false;
    };
    constexpr std::size_t most_tries = 3000;
    const auto picked = [](const std::vector<std::size_t>& from, shrink::Items items) {
        std::vector<std::size_t> list;
        for (const auto item : items) list.push_back(from[item]);
        return list;
    };
    const bool is_injected = relation.moves == Moves::injected;
    if (!is_injected && !choice.frames.empty()) {
        auto fewer = choice;
        const auto shrunk = shrink::fewest(
            choice.frames.size(),
            [&](shrink::Items items) {
                fewer.frames = picked(choice.frames, items);
                return is_broken(reduced.kept, fewer);
            },
            most_tries);
        reduced.choice.frames = picked(choice.frames, shrunk.items);
    }
    const auto all = reduced.kept;
    const auto shrunk = shrink::fewest(
        all.size(), [&](shrink::Items items) { return is_broken(picked(all, items), reduced.choice); }, most_tries);
    reduced.kept = picked(all, shrunk.items);
    // What is told of it is that of the last that holds.
    (void)is_broken(reduced.kept, reduced.choice);
    return reduced;
}

}  // namespace ipoib::metamorphic
