// SPDX-License-Identifier: GPL-2.0-or-later
// Which rules can say something of a packet: those that its parts, and where it comes from, leave.
#include "protocol/inspection/plans.hpp"

#include "protocol/wire/rebuilt.hpp"

namespace ipoib::inspection {
namespace {

bool binds_party(const rules::Rule& rule, Party party) {
    using requirements::Binds;
    const auto binds = rule.checks[0]->binds;
    switch (party) {
        case Party::anyone:
            return true;
        case Party::tester:
        case Party::bystander:
            return false;
        case Party::sa:
            return has(binds, Binds::sa | Binds::administrator);
        case Party::dut:
            return has(binds, Binds::interface | Binds::router | Binds::hca | Binds::dhcp_client);
    }
    return true;
}

/// A frame that was rebuilt proves nothing of a field that was filled in.
bool is_told(const rules::FieldRef& field, bool is_multicast) {
    return !field.spec() || !field.header() || wire::is_told_by_rebuilt(*field.header(), *field.spec(), is_multicast);
}

Party party_named(std::string_view name) noexcept {
    // "against" is the second of two that are judged: `run --against`.
    if (name == "dut" || name == "against") return Party::dut;
    if (name == "tester") return Party::tester;
    if (name == "sa") return Party::sa;
    if (name == "other") return Party::bystander;
    return Party::anyone;
}

}  // namespace

Origin origin_of(std::string_view interface_name) noexcept {
    const bool is_rebuilt = interface_name.ends_with(rebuilt_suffix);
    if (is_rebuilt) interface_name.remove_suffix(rebuilt_suffix.size());
    return {party_named(interface_name), is_rebuilt};
}

void Plans::make(Plan& plan, std::uint64_t key, const wire::Packet& packet, Origin origin) const {
    plan.key = key;
    for (auto* list : {&plan.rules, &plan.alone, &plan.around}) list->clear();
    for (std::size_t i = 0; i < rules_->size(); ++i) {
        const auto& rule = *(*rules_)[i];
        const bool may_say = !rule.duty && (rule.needs & ~packet.found) == 0 && binds_party(rule, origin.party) &&
                             (!origin.is_rebuilt || is_told(rule.points_at, packet.is_multicast));
        if (!may_say) continue;
        const auto index = static_cast<std::uint16_t>(i);
        plan.rules.push_back(index);
        (rule.is_alone() ? plan.alone : plan.around).push_back(index);
    }
}

}  // namespace ipoib::inspection
