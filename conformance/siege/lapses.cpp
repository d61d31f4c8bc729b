// SPDX-License-Identifier: GPL-2.0-or-later
// The list, and the table that is made of it.
#include "conformance/siege/lapses.hpp"

#include "conformance/siege/exhaustive.hpp"
#include "conformance/siege/paper.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ipoib::conformance::siege {
namespace {

constexpr std::size_t most_tries = 5000;

fabric::SaBehaviour behaviour_of(const Lapse& lapse) {
    fabric::SaBehaviour behaviour;
    behaviour.lapse = lapse.lapse;
    return behaviour;
}

std::string short_text(const std::optional<Found>& found) {
    if (!found) return "not found";
    return fmt::format("{} {}, history {}, {} steps", name(found->violation.weight()), found->violation.deviation.kind,
                       found->number, found->history.steps.size());
}

std::size_t found_by(const std::vector<Recalled>& all) {
    return static_cast<std::size_t>(
        std::ranges::count_if(all, [](const Recalled& one) { return one.found.has_value(); }));
}

}  // namespace

std::vector<Recalled> recall(const Recall& recall) {
    std::vector<Recalled> all;
    for (const auto& lapse : all_lapses()) {
        if (recall.is_stopped && recall.is_stopped()) break;
        if (recall.progress) recall.progress(lapse.name, all.size() + 1, all_lapses().size());
        auto& one = all.emplace_back(Recalled{.lapse = &lapse, .found = {}, .exhausted = {}});
        PaperSubject subject{behaviour_of(lapse)};
        auto sieged = lay_siege({.generator = {.seed = recall.seed},
                                 .histories = recall.histories,
                                 .ends_at_first = true,
                                 .most_tries = most_tries,
                                 .is_stopped = recall.is_stopped},
                                subject);
        if (!sieged.found.empty()) one.found = std::move(sieged.found.front());
        if (!recall.is_exhaustive) continue;
        auto exhausted = exhaust({.ends_at_first = true, .is_stopped = recall.is_stopped}, subject).sieged;
        if (!exhausted.found.empty()) one.exhausted = std::move(exhausted.found.front());
    }
    return all;
}

std::string text(const std::vector<Recalled>& all) {
    std::string lines;
    for (const auto& one : all)
        lines +=
            fmt::format("{:<9}  {:<29} {}\n", one.found ? "found" : "missed", one.lapse->name, short_text(one.found));
    return lines + fmt::format("{} of {} found\n", found_by(all), all.size());
}

std::string recall_page(const std::vector<Recalled>& all, const Recall& recall) {
    std::string page = fmt::format(
        "# What histories find in a subnet administrator\n\nMade by `ipoib-conform explore --dut sa --mutants --seeds "
        "{} "
        "--markdown FILE`. Each is the simulated subnet administrator with one mistake that shows in some histories "
        "only, "
        "[explored](explore.md#subnet-administrators) without a word of what is wrong with it: by chance, and by every "
        "transition of two ports in one group. {} of {} are found by chance, with seed {}; with another one a rare one "
        "may be "
        "missed.\n\n"
        "| mutant | the change | by chance | history | shrunk to | by every transition |\n|---|---|---|---|---|---|\n",
        recall.histories, found_by(all), all.size(), recall.seed);
    for (const auto& one : all) {
        page += fmt::format("| `{}` | {} |", one.lapse->name, one.lapse->what);
        if (one.found)
            page +=
                fmt::format(" {} {} | {} | {} steps |", name(one.found->violation.weight()),
                            one.found->violation.deviation.kind, one.found->number, one.found->history.steps.size());
        else
            page += " not found | | |";
        page += one.exhausted ? fmt::format(" {} |\n", one.exhausted->violation.deviation.kind) : std::string(" |\n");
    }
    return page;
}

}  // namespace ipoib::conformance::siege
