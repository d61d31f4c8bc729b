// SPDX-License-Identifier: GPL-2.0-or-later
// Ports of a history are matched with those of a fabric: each with one, by augmenting paths.
#include "conformance/siege/roles.hpp"

#include "protocol/wire/mc_member_record.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ipoib::conformance::siege {
namespace {

Membership membership_of(const sa_model::Port& port, std::uint16_t p_key) {
    auto most = Membership::none;
    for (const auto entry : port.p_keys)
        if (wire::is_same_partition(entry, p_key))
            most = std::max(most, wire::is_full_member(entry) ? Membership::full : Membership::limited);
    return most;
}

/// What the steps want of a port.
struct Wanted {
    Role role;
    bool asks = false, vanishes = false;
};

std::map<unsigned, Wanted> wanted_of(const History& history) {
    std::map<unsigned, Wanted> all;
    for (const auto& [port, role] : history.ports) all[port].role = role;
    for (const auto& step : history.steps) {
        if (step.what == Do::restart || !all.contains(step.port)) continue;
        const bool vanishes = step.what == Do::port_down || step.what == Do::port_up;
        (vanishes ? all[step.port].vanishes : all[step.port].asks) = true;
    }
    return all;
}

class Matching {
public:
    Matching(std::map<unsigned, Wanted> wanted, std::vector<Role> here, const Subject::Abilities& abilities)
        : wanted_(std::move(wanted)), here_(std::move(here)), abilities_(abilities) {}

    /// Whether the port of the history gets one here; those that have one may get another for it.
    bool place(unsigned port) {
        tried_.assign(here_.size(), false);
        return seek(port);
    }
    /// By the ports that are here, those of the history.
    [[nodiscard]] const std::map<unsigned, unsigned>& taken() const noexcept { return taken_; }

private:
    [[nodiscard]] bool suits(const Wanted& wanted, unsigned here) const {
        return wanted.role == here_[here] && (!wanted.asks || here < abilities_.askers) &&
               (!wanted.vanishes || (abilities_.ports_vanish && here >= abilities_.first_to_vanish));
    }
    bool seek(unsigned port) {
        // The same number first, so that nothing is renamed without need.
        for (unsigned i = 0; i < here_.size(); ++i) {
            const auto here = port < here_.size() ? (i == 0 ? port : i <= port ? i - 1 : i) : i;
            if (tried_[here] || !suits(wanted_.at(port), here)) continue;
            tried_[here] = true;
            const auto at = taken_.find(here);
            if (at != taken_.end() && !seek(at->second)) continue;
            taken_[here] = port;
            return true;
        }
        return false;
    }

    std::map<unsigned, Wanted> wanted_;
    std::vector<Role> here_;
    const Subject::Abilities& abilities_;
    std::map<unsigned, unsigned> taken_;
    std::vector<bool> tried_;
};

}  // namespace

std::vector<Role> roles_of(const sa_model::Facts& facts) {
    using M = wire::McMemberRecord;
    std::vector<Role> all(facts.ports.size());
    if (facts.administrative.empty()) return all;
    const auto& link = facts.administrative.front();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& port = facts.ports[i];
        all[i] = {.link = membership_of(port, link[M::p_key]), .is_narrow = port.mtu < link[M::mtu]};
        if (facts.administrative.size() > 1) all[i].other = membership_of(port, facts.administrative.back()[M::p_key]);
    }
    return all;
}

History with_roles(History history, const sa_model::Facts& facts) {
    const auto roles = roles_of(facts);
    const auto add = [&](unsigned port) {
        if (port < roles.size()) history.ports[port] = roles[port];
    };
    for (const auto& step : history.steps) {
        if (step.what != Do::restart) add(step.port);
        if (is_for_another(step.what)) add(step.of);
    }
    return history;
}

Fitted fitted(const History& history, const sa_model::Facts& facts, const Subject::Abilities& abilities) {
    Fitted all{.history = history};
    const auto wanted = wanted_of(history);
    Matching matching{wanted, roles_of(facts), abilities};
    for (const auto& [port, what] : wanted) {
        if (matching.place(port)) continue;
        all.why_not =
            fmt::format("port {} of the history is {}{}{}; no port that is left here is", port, words(what.role),
                        what.asks ? ", and asks by itself" : "", what.vanishes ? ", and vanishes" : "");
        return all;
    }
    std::map<unsigned, unsigned> names;
    for (const auto& [here, port] : matching.taken()) {
        names[port] = here;
        if (here != port) all.renamed.emplace_back(port, here);
    }
    const auto rename = [&](unsigned& port) {
        if (const auto at = names.find(port); at != names.end()) port = at->second;
    };
    for (auto& step : all.history.steps) {
        rename(step.port);
        rename(step.of);
    }
    std::ranges::sort(all.renamed);
    return all;
}

}  // namespace ipoib::conformance::siege
