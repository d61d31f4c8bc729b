// SPDX-License-Identifier: GPL-2.0-or-later
// One pass over captures: which subnet a frame is of, whether its CRCs let it count, which rules can say something.
#include "protocol/inspection/inspector.hpp"

#include "protocol/wire/rebuilt.hpp"

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

/// A frame that was rebuilt proves nothing of a field that was filled in.
bool is_told(const rules::FieldRef& field, bool is_multicast) {
    return !field.spec() || !field.header() || is_told_by_rebuilt(*field.header(), *field.spec(), is_multicast);
}

Party party_named(std::string_view name) noexcept {
    if (name == "dut") return Party::dut;
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

Inspector::Inspector(std::vector<const rules::Rule*> rules, Options options)
    : rules_(std::move(rules)), options_(std::move(options)) {}

/// The parties of an evidence file look at one subnet; other interfaces each at their own.
std::size_t Inspector::index_of(std::uint32_t interface, Party party) const noexcept {
    const bool is_shared = options_.is_one_subnet || party != Party::anyone;
    return is_shared ? 0 : std::min<std::size_t>(interface, most_fabrics - 1);
}

Inspector::Fabric& Inspector::fabric_of(std::uint32_t interface, Party party) {
    const auto index = index_of(interface, party);
    if (index >= fabrics_.size()) fabrics_.resize(index + 1);
    if (!fabrics_[index]) {
        fabrics_[index] = std::make_unique<Fabric>(rules_, room_);
        fabrics_[index]->subnet.set_whole(options_.is_whole);
        fabrics_[index]->subnet.set_all_ipoib(options_.is_all_ipoib);
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
    origin_ = frame.origin;
    crcs_ = {};
    decode(frame.octets, packet_, frame.medium, frame.wire_length);
    fabric_ = &fabric_of(frame.interface, frame.origin.party);
    look_for_loss(frame);
    if (packet_.lrh && !trust_crcs()) return false;
    known_ = &fabric_->subnet.take(packet_, frame.sight, frame.origin.party == Party::tester);
    if (!is_subject(known_->sender)) origin_.party = Party::bystander;
    return true;
}

bool Inspector::shows_loss() const noexcept {
    return std::ranges::any_of(fabrics_, [](const auto& fabric) { return fabric && fabric->subnet.shows_loss(); });
}

void Inspector::look_for_loss(const FrameView& frame) {
    if (frame.sight.capture >= latest_.size()) latest_.resize(frame.sight.capture + std::size_t{1});
    auto& of_capture = latest_[frame.sight.capture];
    const auto index = std::min<std::size_t>(frame.interface, most_latest);
    if (index >= of_capture.size()) of_capture.resize(index + 1);
    if (frame.lost != 0)
        fabric_->subnet.tell_loss({.after = index < most_latest ? of_capture[index] : state::Sight{},
                                   .before = frame.sight,
                                   .count = frame.lost,
                                   .interface = std::string(frame.lost_on),
                                   .is_told_by_next = true});
    of_capture[index] = frame.sight;
}

void Inspector::tell_loss(std::uint32_t interface, Origin origin, state::Loss loss) {
    fabric_of(interface, origin.party).subnet.tell_loss(std::move(loss));
}

Accusation Inspector::accuse(std::size_t index) const {
    Accusation accusation{.rule = index,
                          .what = describe(*rules_[index], packet_, *known_),
                          .sight = known_->now,
                          .subject = sender_name(packet_, *known_),
                          .link = link_name(packet_, *known_, fabric_->subnet),
                          .group = group_of(packet_, *known_)};
    accusation.what.at = nullptr;
    return accusation;
}

Accusation Inspector::accuse(const Neglect& neglect) const {
    const auto& subnet = fabric_->subnet;
    return {.rule = neglect.rule,
            .what = describe(*rules_[neglect.rule], neglect, subnet),
            .sight = neglect.began,
            .subject = port_name(subnet.port(neglect.port)),
            .link = link_name(subnet.prefix(), neglect.link->p_key),
            .group = neglect.group == state::none ? wire::Gid{} : subnet.groups()[neglect.group].mgid};
}

const Inspector::Plan& Inspector::plan_for(const Packet& packet, Origin origin) {
    const bool is_filled_in = origin.is_rebuilt, is_multicast = packet.is_multicast;
    const auto key = std::uint64_t{packet.found} << 8 | std::uint64_t{is_filled_in} << 7 |
                     std::uint64_t{is_filled_in && is_multicast} << 6 | static_cast<std::uint64_t>(origin.party);
    auto& plan = plans_[(key * 0x9e3779b97f4a7c15u) >> 56];
    if (plan.key == key) return plan;
    plan.key = key;
    plan.rules.clear();
    for (std::size_t i = 0; i < rules_.size(); ++i)
        if (!rules_[i]->duty && (rules_[i]->needs & ~packet.found) == 0 && binds_party(*rules_[i], origin.party) &&
            (!is_filled_in || is_told(rules_[i]->points_at, is_multicast)))
            plan.rules.push_back(static_cast<std::uint16_t>(i));
    return plan;
}

}  // namespace ipoib::inspection
