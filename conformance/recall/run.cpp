// SPDX-License-Identifier: GPL-2.0-or-later
// Jobs, and what is counted of them.
#include "conformance/recall/run.hpp"

#include "base/parallel.hpp"

#include <ctime>
#include <set>
#include <tuple>

namespace ipoib::recall {
namespace {

using metamorphic::Charge, metamorphic::Random, metamorphic::Suspicion, metamorphic::Suspicions, metamorphic::Verdicts;

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// What is the same statement, or a part of the one that is broken, or what that is a part of.
std::set<std::uint16_t> numbers_of_kin(const Requirement& broken) {
    const auto wider = metamorphic::numbers_of({&broken});
    std::set<std::uint16_t> kin(wider.begin(), wider.end());
    const auto all = requirements::all();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto ids = requirements::closure(*all[i]);
        if (std::ranges::find(ids, broken.id) != ids.end()) kin.insert(static_cast<std::uint16_t>(i));
    }
    return kin;
}
bool is_kin(std::uint16_t number, const Claim& claim) {
    static const auto all = [] {
        std::map<const Requirement*, std::set<std::uint16_t>> kin;
        for (const auto* requirement : requirements::all()) kin.emplace(requirement, numbers_of_kin(*requirement));
        return kin;
    }();
    return std::ranges::any_of(claim, [&](const auto* requirement) { return all.at(requirement).contains(number); });
}

struct Room {
    Trace variant;
    Verdicts verdicts;
    Suspicions suspicions;
};
Room& room() {
    thread_local Room one;
    return one;
}

Said answer_to(const Claim& claim, const World& world, const Violation& violation, const Room& judged) {
    const auto is_edited = [&](std::uint32_t position) {
        const auto from = judged.variant.frames[position].from;
        return std::ranges::any_of(violation.edits, [&](const Edit& edit) { return edit.frame == from; });
    };
    Said said;
    for (const auto& charge : judged.verdicts.charges) {
        if (world.source->verdicts.has_exactly(charge)) continue;
        const bool is_at_place = is_edited(charge.position);
        if (is_kin(charge.requirement, claim) && (is_at_place || violation.is_late))
            return {Answer::found, {}, charge.rule};
        if (is_at_place) said.answer = Answer::other;
    }
    if (said.answer == Answer::other) return said;
    for (const auto& suspicion : judged.suspicions)
        if (is_kin(suspicion.requirement, claim) && (violation.is_late || is_edited(suspicion.position)))
            return {Answer::suspected, kind_of(suspicion.doubt)};
    return said;
}

/// FAILs that a legal world gets when frames of it are lost. One that lacks only what no packet shows to be lost stands
/// by that nothing in the capture shows a loss.
void judge_losses(const World& world, std::uint64_t seed, std::vector<FalseCharge>& found) {
    auto& [variant, verdicts, suspicions] = room();
    lose(world, seed, variant);
    metamorphic::judge(variant.frames, variant.is_one_subnet, world.source->parties(), verdicts);
    for (const auto& charge : verdicts.charges)
        if (charge.is_fail && !charge.is_by_end && !world.source->verdicts.has(charge))
            found.push_back({&world, std::string(requirements::all()[charge.requirement]->id),
                             world.source->size() - variant.frames.size(), seed});
}

class Runner {
public:
    explicit Runner(const Run& run) : run_(run) {}

    Outcome go() {
        const auto begun = cpu_seconds();
        judge_legal();
        const auto tasks = tasks_of(run_);
        constexpr std::size_t at_once = 4096, in_job = 32;
        for (std::size_t done = 0; done < tasks.size(); done += at_once) {
            if (run_.is_stopped && run_.is_stopped()) {
                outcome_.is_interrupted = true;
                break;
            }
            const auto count = std::min(at_once, tasks.size() - done);
            std::vector<std::vector<Said>> said(count), vouched(count);
            in_parallel((count + in_job - 1) / in_job, [&](std::size_t job) {
                for (auto i = job * in_job; i < std::min(count, (job + 1) * in_job); ++i) {
                    const auto& [world, violation] = tasks[done + i];
                    const auto& at = run_.worlds[world];
                    said[i] = judge(at, at.violations[violation]);
                    if (!at.has_psns) vouched[i] = judge(at, at.violations[violation], {.is_vouched_for = true});
                }
            });
            for (std::size_t i = 0; i < count; ++i) take(tasks[done + i], said[i], vouched[i]);
            if (run_.progress) run_.progress(done + count, tasks.size());
        }
        for (auto& [key, cell] : cells_) outcome_.cells.push_back(std::move(cell));
        outcome_.seconds = cpu_seconds() - begun;
        return std::move(outcome_);
    }

private:
    void judge_legal() {
        std::vector<std::vector<FalseCharge>> found(run_.worlds.size());
        in_parallel(run_.worlds.size(), [&](std::size_t i) {
            const auto& world = run_.worlds[i];
            for (const auto& charge : world.source->verdicts.charges)
                if (charge.is_fail)
                    found[i].push_back({&world, std::string(requirements::all()[charge.requirement]->id)});
            Random random{metamorphic::hash_of(world.name) ^ run_.seed};
            for (std::size_t n = 0; n < run_.losses_each; ++n) judge_losses(world, random(), found[i]);
        });
        for (const auto& some : found)
            outcome_.false_charges.insert(outcome_.false_charges.end(), some.begin(), some.end());
        outcome_.worlds = run_.worlds.size();
        outcome_.losses = run_.worlds.size() * run_.losses_each;
    }

    void take(const Task& task, const std::vector<Said>& said, const std::vector<Said>& vouched) {
        const auto& world = run_.worlds[task.world];
        const auto& violation = world.violations[task.violation];
        for (std::size_t i = 0; i < said.size(); ++i) {
            const std::string statement{violation.claims[i].front()->id};
            auto& cell = cells_[{statement, violation.kind}];
            cell.statement = statement;
            cell.kind = violation.kind;
            cell.is_at_rest = violation.is_at_rest;
            cell.is_provable = violation.is_provable;
            (world.has_psns ? cell.with_psns : cell.without).add(said[i].answer, said[i].doubt);
            if (!world.has_psns) cell.vouched.add(vouched[i].answer, vouched[i].doubt);
            if (said[i].answer != Answer::found)
                outcome_.misses.push_back({&world, &violation, i, said[i].answer, said[i].doubt});
        }
    }

    const Run& run_;
    Outcome outcome_;
    std::map<std::pair<std::string, std::string>, Cell> cells_;
};

}  // namespace

void lose(const World& world, std::uint64_t seed, Trace& variant) {
    variant.clear();
    variant.is_one_subnet = world.source->is_one_subnet;
    Random random{seed};
    constexpr std::array<std::size_t, 4> rates{10, 40, 150, 400};
    const auto one_of = rates[random.below(rates.size())];
    std::ranges::copy_if(world.source->frames(), std::back_inserter(variant.frames),
                         [&](const Frame&) { return random.below(one_of) != 0; });
}

void Count::add(Answer answer, const std::string& doubt) {
    ++places;
    if (answer == Answer::found) ++found;
    if (answer == Answer::other) ++other;
    if (answer == Answer::silent) ++silent;
    if (answer == Answer::suspected) ++doubts[doubt];
}

std::string kind_of(const std::string& doubt) {
    std::string kind;
    for (const char c : doubt) {
        const bool is_digit = c >= '0' && c <= '9';
        if (!is_digit)
            kind += c;
        else if (kind.empty() || kind.back() != '#')
            kind += '#';
    }
    return kind;
}

std::vector<Task> tasks_of(const Run& run) {
    std::vector<Task> all;
    std::map<std::tuple<std::string_view, std::string, bool>, std::vector<Task>> by_cell;
    for (std::size_t w = 0; w < run.worlds.size(); ++w)
        for (std::size_t v = 0; v < run.worlds[w].violations.size(); ++v) {
            const auto& one = run.worlds[w].violations[v];
            by_cell[{one.claims.front().front()->id, one.kind, run.worlds[w].has_psns}].push_back({w, v});
        }
    Random random{run.seed};
    for (auto& [cell, tasks] : by_cell) {
        const auto most = run.most_each == 0 ? tasks.size() : std::min(tasks.size(), run.most_each);
        for (std::size_t i = 0; i < most; ++i) {
            if (most < tasks.size()) std::swap(tasks[i], tasks[i + random.below(tasks.size() - i)]);
            all.push_back(tasks[i]);
        }
    }
    std::ranges::sort(all, {}, [](const Task& task) { return std::pair{task.world, task.violation}; });
    return all;
}

std::vector<Said> judge(const World& world, const Violation& violation, metamorphic::Way way) {
    auto& one = room();
    put(world, violation, one.variant);
    way.suspicions = &one.suspicions;
    metamorphic::judge(one.variant.frames, one.variant.is_one_subnet, world.source->parties(), one.verdicts, way);
    std::vector<Said> said;
    for (const auto& claim : violation.claims) said.push_back(answer_to(claim, world, violation, one));
    return said;
}

Outcome execute(const Run& run) { return Runner{run}.go(); }

}  // namespace ipoib::recall
