// SPDX-License-Identifier: GPL-2.0-or-later
// One pass over captures: which subnet a frame is of, whether its CRCs let it count, which rules can say something.
#include "protocol/inspection/inspector.hpp"

#include <algorithm>

namespace ipoib::inspection {
using namespace wire;

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

}  // namespace

Party party_of(std::string_view interface_name) noexcept {
    if (interface_name == "dut") return Party::dut;
    if (interface_name == "tester") return Party::tester;
    if (interface_name == "sa") return Party::sa;
    if (interface_name == "other") return Party::bystander;
    return Party::anyone;
}

Inspector::Inspector(std::vector<const rules::Rule*> rules, Options options)
    : rules_(std::move(rules)), options_(std::move(options)) {}

/// The parties of an evidence file look at one subnet; other interfaces each at their own.
Inspector::Fabric& Inspector::fabric_of(std::uint32_t interface, Party party) {
    const bool is_shared = options_.is_one_subnet || party != Party::anyone;
    const auto index = is_shared ? 0 : std::min<std::size_t>(interface, most_fabrics - 1);
    if (index >= fabrics_.size()) fabrics_.resize(index + 1);
    if (!fabrics_[index]) {
        fabrics_[index] = std::make_unique<Fabric>(rules_);
        if (options_.assume) options_.assume(fabrics_[index]->subnet);
    }
    return *fabrics_[index];
}

bool Inspector::trust_crcs() {
    crcs_ = check_crcs(packet_.octets, packet_.tail);
    const auto slid = packet_.lrh[Lrh::slid];
    if (crcs_.icrc == Check::good) fabric_->icrc_was_right[slid] = icrc_was_ever_right_ = true;
    return crcs_.icrc != Check::bad || !fabric_->icrc_was_right[slid];
}

std::vector<const state::Subnet*> Inspector::subnets() const {
    std::vector<const state::Subnet*> all;
    for (const auto& fabric : fabrics_)
        if (fabric) all.push_back(&fabric->subnet);
    return all;
}

bool Inspector::take(const FrameView& frame) {
    now_ = frame.sight.time;
    party_ = frame.party;
    crcs_ = {};
    decode(frame.octets, packet_, frame.medium, frame.wire_length);
    fabric_ = &fabric_of(frame.interface, frame.party);
    if (packet_.lrh && !trust_crcs()) return false;
    known_ = &fabric_->subnet.take(packet_, frame.sight, frame.party == Party::tester);
    if (!is_subject(known_->sender)) party_ = Party::bystander;
    return true;
}

const Inspector::Plan& Inspector::plan_for(Parts found, Party party) {
    const auto key = std::uint64_t{found} << 8 | static_cast<std::uint64_t>(party);
    auto& plan = plans_[(key * 0x9e3779b97f4a7c15u) >> 56];
    if (plan.key == key) return plan;
    plan.key = key;
    plan.rules.clear();
    for (std::size_t i = 0; i < rules_.size(); ++i)
        if (!rules_[i]->duty && (rules_[i]->needs & ~found) == 0 && binds_party(*rules_[i], party))
            plan.rules.push_back(static_cast<std::uint16_t>(i));
    return plan;
}

}  // namespace ipoib::inspection
