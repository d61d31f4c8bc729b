// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/sa_model/worlds.hpp"

#include <algorithm>
#include <iterator>

namespace ipoib::conformance::sa_model {
namespace {

std::vector<Deviation> compare(const Model& model, const wire::Gid& mgid, const std::vector<Seen>& told) {
    std::vector<Deviation> all;
    for (unsigned port = 0; port < told.size(); ++port) {
        auto deviations = model.compare(mgid, port, told[port]);
        // What is said of the group is said once.
        const bool is_told = std::ranges::any_of(all, [](const Deviation& other) { return other.kind == "group"; });
        std::erase_if(deviations, [&](const Deviation& other) { return is_told && other.kind == "group"; });
        std::ranges::move(deviations, std::back_inserter(all));
    }
    return all;
}

}  // namespace

template <class Take>
std::vector<Deviation> Worlds::weigh(const Take& take) {
    std::vector<std::vector<Deviation>> all;
    all.reserve(worlds_.size());
    for (auto& world : worlds_) all.push_back(take(world));
    const auto least = std::ranges::min_element(all, {}, &std::vector<Deviation>::size);
    if (!least->empty()) {
        worlds_ = {std::move(worlds_[static_cast<std::size_t>(least - all.begin())])};
        return std::move(*least);
    }
    std::size_t number = 0;
    std::erase_if(worlds_, [&](const Model&) { return !all[number++].empty(); });
    return {};
}

std::vector<Deviation> Worlds::take(const Request& request, const Answer& answer) {
    return weigh([&](Model& world) { return world.take(request, answer); });
}

std::vector<Deviation> Worlds::take_again(const Request& request, const Answer& first, const Answer& again) {
    return weigh([&](Model& world) { return world.take_again(request, first, again); });
}

std::vector<Deviation> Worlds::take_subscription(unsigned port, std::uint16_t trap, bool begins, const Answer& answer) {
    return weigh([&](Model& world) { return world.take_subscription(port, trap, begins, answer); });
}

std::vector<Deviation> Worlds::take_reports(const std::vector<Heard>& heard) {
    return weigh([&](Model& world) { return world.take_reports(heard); });
}

std::size_t Worlds::reports_due() const noexcept {
    std::size_t most = 0;
    for (const auto& world : worlds_) {
        std::size_t all = 0;
        for (const auto& one : world.due()) all += one.least;
        most = std::max(most, all);
    }
    return most;
}

bool Worlds::is_due(const wire::Gid& mgid) const noexcept {
    return std::ranges::any_of(worlds_, [&](const Model& world) {
        return std::ranges::any_of(world.due(), [&](const Due& due) { return due.mgid == mgid; });
    });
}

std::vector<Deviation> Worlds::differences(const wire::Gid& mgid, const std::vector<Seen>& told) const {
    std::optional<std::vector<Deviation>> least;
    for (const auto& world : worlds_) {
        auto all = compare(world, mgid, told);
        if (!least || all.size() < least->size()) least = std::move(all);
    }
    return least.value_or(std::vector<Deviation>{});
}

std::vector<Deviation> Worlds::look(const wire::Gid& mgid, const std::vector<Seen>& told) {
    auto all = weigh([&](const Model& world) { return compare(world, mgid, told); });
    for (auto& world : worlds_) {
        const auto* group = world.find(mgid);
        if (all.empty() && !(group && group->is_open)) continue;
        std::map<unsigned, Seen> seen;
        for (unsigned port = 0; port < told.size(); ++port) seen[port] = told[port];
        world.adopt(mgid, seen, !all.empty());
    }
    return all;
}

void Worlds::vanish(unsigned port) {
    for (auto& world : worlds_) world.vanish(port);
}

void Worlds::come_back(unsigned port) {
    for (auto& world : worlds_) world.come_back(port);
}

void Worlds::move(unsigned port) {
    for (auto& world : worlds_) world.move(port);
}

void Worlds::move_somehow(unsigned port) {
    auto without = worlds_;
    for (auto& world : without) {
        world.vanish(port);
        world.come_back(port);
    }
    move(port);
    std::ranges::move(without, std::back_inserter(worlds_));
    restart();
}

/// That nothing was kept is the same in whatever was before.
void Worlds::restart() {
    auto empty = worlds_.back();
    empty.restart();
    worlds_.push_back(std::move(empty));
}

}  // namespace ipoib::conformance::sa_model
