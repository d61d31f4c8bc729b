// SPDX-License-Identifier: GPL-2.0-or-later
// What the user vouches for, and what in a capture contradicts it.
#include "protocol/state/doubt.hpp"

#include "protocol/state/subnet.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>

namespace ipoib::state {

std::string in_words(Assumptions assumptions) {
    std::string words;
    for (const auto& one : assumption_specs)
        if (assumptions & state::assumptions(one.assumption)) {
            if (!words.empty()) words += ", ";
            words += one.name;
        }
    return words;
}

Trust Subnet::trust(const Port* port) const {
    Trust trust{.port = port};
    for (const auto& [assumption, guid] : vouched_) {
        if (guid == 0)
            trust.in_all |= assumptions(assumption);
        else if (port && port->gid.interface_id() == guid)
            trust.in_port |= assumptions(assumption);
    }
    return trust;
}

/// The clock is the capture's, whosever packets are timed by it.
bool Subnet::lifts(const Trust& trust, const Reason& reason, const Sight& since, const Sight& at, Proof& proof) const {
    const auto own = spec(reason.doubt).lifted_by;
    if (!own || reason.is_shown) return false;
    const auto needed = static_cast<Assumptions>(assumptions(*own) | reason.also);
    const auto trusted = reason.is_of_other ? trust.in_all : trust.in_port | trust.in_all;
    if ((needed & ~trusted) != 0) return false;
    if (needed & assumptions(Assumption::steady_clock)) {
        const auto is_between = [&](const Sight& one) { return one.order > since.order && one.order <= at.order; };
        const bool are_more = set_back_.size() == most_set_back && at.order > set_back_.back().order;
        if (are_more || std::ranges::any_of(set_back_, is_between)) return false;
    }
    if ((needed & assumptions(Assumption::from_start)) && trust.port && !reason.is_of_other) {
        const auto seen = seen_up(*trust.port);
        if (seen && (!since || seen.order < since.order)) return false;
    }
    proof.rests_on |= needed;
    proof.is_of_all = proof.is_of_all || reason.is_of_other;
    return true;
}

void Subnet::is_set_back(const Sight& at) {
    auto sight = at;
    sight.order = order_ + 1;
    if (set_back_.size() < most_set_back) set_back_.push_back(sight);
}

/// The first frame that shows a port to be active, or on its link, where nothing shows it come up.
Sight Subnet::seen_up(const Port& port) const {
    const auto* requester = requesters_.get(requesters_.find(port.lid));
    if (requester && requester->down) return {};
    const auto used =
        std::ranges::find_if(used_before_, [&](const auto& one) { return ports_.get(one.first) == &port; });
    if (used == used_before_.end()) return port.told_lmc;
    return port.told_lmc && port.told_lmc.order < used->second.order ? port.told_lmc : used->second;
}

std::vector<std::string> Subnet::contradictions() const {
    std::vector<std::string> all;
    const auto add = [&](Assumption assumption, const std::string& what) {
        all.push_back("--assume " + std::string(name(assumption)) + " does not hold there: " + what);
    };
    const auto is_vouched = [&](Assumption assumption, const Port* port) {
        const auto all_of_it = trust(port);
        return ((all_of_it.in_port | all_of_it.in_all) & assumptions(assumption)) != 0;
    };
    const auto is_vouched_of_any = [&](Assumption assumption) {
        return std::ranges::find(vouched_, assumption, &Vouch::assumption) != vouched_.end();
    };
    if (!losses_.empty() && is_vouched_of_any(Assumption::whole)) {
        const auto& first = losses_.front();
        add(Assumption::whole, in_words(first));
    }
    if (!set_back_.empty() && is_vouched_of_any(Assumption::steady_clock))
        add(Assumption::steady_clock, "the clock goes back before frame " + std::to_string(set_back_.front().frame));
    if (!is_vouched_of_any(Assumption::from_start)) return all;
    constexpr std::size_t most_told = 3;
    std::size_t told = 0, more = 0;
    for (const auto& port : ports_.all()) {
        if (!is_vouched(Assumption::from_start, &port)) continue;
        const auto seen = seen_up(port);
        if (!seen || port.lid == sa_lid_) continue;
        if (told++ < most_told)
            add(Assumption::from_start, "frame " + std::to_string(seen.frame) + " shows port " + wire::text(port.gid) +
                                            " up, and nothing before shows it come up");
        else
            ++more;
    }
    if (more != 0) add(Assumption::from_start, "the same of " + std::to_string(more) + " more");
    return all;
}

}  // namespace ipoib::state
