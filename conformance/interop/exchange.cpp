// SPDX-License-Identifier: GPL-2.0-or-later
// The list of exchanges.
#include "conformance/interop/exchange.hpp"

#include "conformance/interop/interop.hpp"
#include "conformance/judge/passive.hpp"

#include <algorithm>

namespace ipoib::conformance::interop {

const std::vector<const Exchange*>& all_exchanges() {
    static const auto sorted = [] {
        auto all = Registered<Exchange>::list();
        std::ranges::sort(all, {}, [](const Exchange* one) { return std::pair{one->order, one->id}; });
        return all;
    }();
    return sorted;
}

namespace {

Selectable selectable(const Exchange& one) {
    Selectable candidate{
        .id = one.id, .requirements = {}, .strength = "must", .tags = {"interop"}, .status = status_of(one.checks)};
    for (const auto* requirement : one.checks) candidate.requirements.push_back(requirement->id);
    return candidate;
}

}  // namespace

std::vector<Selectable> selectable_exchanges() {
    std::vector<Selectable> all;
    for (const auto* one : all_exchanges()) all.push_back(selectable(*one));
    return all;
}

std::vector<const Exchange*> selected_exchanges(const Selection& selection) {
    std::vector<const Exchange*> all;
    for (const auto* one : all_exchanges())
        if (selection.matches(selectable(*one))) all.push_back(one);
    return all;
}

}  // namespace ipoib::conformance::interop
