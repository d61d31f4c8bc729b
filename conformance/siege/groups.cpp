// SPDX-License-Identifier: GPL-2.0-or-later
// MGIDs and parameters.
#include "conformance/siege/groups.hpp"

#include "protocol/wire/mgid.hpp"
#include "protocol/wire/notice.hpp"

namespace ipoib::conformance::siege {
using namespace wire;
using M = McMemberRecord;

namespace {

constexpr unsigned of_link = 3, chosen_by_sa = 2, probes = 8;
constexpr std::uint32_t per_history = 16;
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

std::vector<unsigned> groups_of(const sa_model::Facts& facts, Broadcast broadcast) {
    using namespace group_number;
    if (facts.administrative.empty()) return {};
    const bool has_other = facts.administrative.size() > 1;
    std::vector<unsigned> all;
    for (unsigned number = 0; number < group_names.size(); ++number) {
        const bool is_broadcast = number == group_number::broadcast || number == other_broadcast;
        const bool is_other = number == other_ip || number == other_broadcast;
        if ((!is_other || has_other) && (!is_broadcast || broadcast == Broadcast::included)) all.push_back(number);
    }
    return all;
}

void add_groups(Ground& ground, std::uint32_t number, Broadcast broadcast) {
    using namespace group_number;
    if (ground.facts.administrative.empty()) return;
    const auto& link = ground.facts.administrative.front();
    const auto& other = ground.facts.administrative.back();
    auto next = number * per_history;
    for (const auto group : groups_of(ground.facts, broadcast)) {
        auto& record = ground.groups[group];
        if (group < ip + of_link)
            record = like(link, ip_group(link, next++));
        else if (group == not_ip)
            record = like(link, Gid::of(other_mgids, next++))
                         .set(M::q_key, 0x1234)
                         .set(M::traffic_class, 0x20)
                         .set(M::flow_label, 0x12345);
        else if (group < chosen + chosen_by_sa)
            record = like(link, {}).set(M::scope, link[M::scope]);
        else if (group == other_ip)
            record = like(other, ip_group(other, next++));
        else
            record = group == group_number::broadcast ? like(link, link[M::mgid]) : like(other, other[M::mgid]);
    }
    for (unsigned i = 0; i < probes; ++i) ground.probes.push_back(like(link, ip_group(link, next++)));
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
