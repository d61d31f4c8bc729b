// SPDX-License-Identifier: GPL-2.0-or-later
// MGIDs and parameters.
#include "conformance/siege/groups.hpp"

#include "protocol/wire/mgid.hpp"
#include "protocol/wire/notice.hpp"

namespace ipoib::conformance::siege {
using namespace wire;
using M = McMemberRecord;

namespace {

constexpr unsigned of_first_link = 3, chosen_by_sa = 2;
constexpr std::uint32_t per_history = 8;
/// Of groups that are no IPoIB group: 4.1.1 leaves transient MGIDs to whoever uses them.
constexpr std::uint64_t other_mgids = 0xff12'0b0b'0000'0000;

sa_model::Record like(const sa_model::Record& broadcast, const Gid& mgid) {
    auto record = broadcast;
    return record.set(M::mgid, mgid)
        .set(M::mlid, 0)
        .set(M::port_gid, {})
        .set(M::join_state, 0)
        .set(M::proxy_join, false)
        .set(M::scope, mgid_of(mgid)[Mgid::scope])
        .set(M::mtu_selector, selector::exactly)
        .set(M::rate_selector, selector::exactly)
        .set(M::lifetime_selector, selector::exactly);
}

Gid ip_group(const sa_model::Record& broadcast, std::uint32_t number) {
    const auto parts = mgid_of(broadcast[M::mgid]);
    return mgid_for_ipv4(0xef00'0000 | (number & 0x00ff'ffff), parts[Mgid::p_key], parts[Mgid::scope]);
}

}  // namespace

unsigned group_count_of(const sa_model::Facts& facts, Broadcast broadcast) noexcept {
    const auto links = static_cast<unsigned>(facts.administrative.size());
    if (links == 0) return 0;
    return (broadcast == Broadcast::included ? links : 0) + of_first_link + (links - 1) + 1 + chosen_by_sa;
}

void add_groups(Ground& ground, std::uint32_t number, Broadcast broadcast) {
    const auto& links = ground.facts.administrative;
    if (links.empty()) return;
    for (const auto& link : links)
        if (broadcast == Broadcast::included) ground.groups.push_back(like(link, link[M::mgid]));
    auto next = number * per_history;
    for (std::size_t i = 0; i < links.size(); ++i)
        for (unsigned k = 0; k < (i == 0 ? of_first_link : 1); ++k)
            ground.groups.push_back(like(links[i], ip_group(links[i], next++)));
    ground.groups.push_back(like(links.front(), Gid::of(other_mgids, next++)));
    ground.groups.back().set(M::q_key, 0x1234).set(M::traffic_class, 0x20).set(M::flow_label, 0x12345);
    for (unsigned i = 0; i < chosen_by_sa; ++i) {
        ground.groups.push_back(like(links.front(), {}));
        ground.groups.back().set(M::scope, links.front()[M::scope]);
    }
    ground.probe = like(links.front(), ip_group(links.front(), next));
}

Bytes<InformInfo> subscription(std::uint16_t trap, bool begins) {
    return Bytes<InformInfo>{}
        .set(InformInfo::lid_range_begin, InformInfo::all)
        .set(InformInfo::is_generic, 1)
        .set(InformInfo::subscribe, begins)
        .set(InformInfo::type, notice_type_of_subnet_management)
        .set(InformInfo::trap_number, trap)
        .set(InformInfo::qpn, 1)
        .set(InformInfo::producer_type, InformInfo::all_producers);
}

}  // namespace ipoib::conformance::siege
