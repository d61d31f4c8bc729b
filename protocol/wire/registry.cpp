// SPDX-License-Identifier: GPL-2.0-or-later
// The rows. A new header, or a new attribute of a management class, gets one here, in the order of packets.
#include "protocol/wire/registry.hpp"

#include "protocol/wire/class_port_info.hpp"
#include "protocol/wire/cm.hpp"
#include "protocol/wire/dhcp.hpp"
#include "protocol/wire/igmp.hpp"
#include "protocol/wire/inform_info.hpp"
#include "protocol/wire/link_record.hpp"
#include "protocol/wire/mld.hpp"
#include "protocol/wire/node_record.hpp"
#include "protocol/wire/notice.hpp"
#include "protocol/wire/p_key_table_record.hpp"
#include "protocol/wire/path_record.hpp"
#include "protocol/wire/port_info.hpp"
#include "protocol/wire/service_record.hpp"
#include "protocol/wire/smp.hpp"
#include "protocol/wire/switch_info_record.hpp"

#include <algorithm>

namespace ipoib::wire {
namespace {

// ---- The ways ----

constexpr Way path{.kind = Way::Kind::path};

constexpr Way sa(std::uint16_t attribute_id) {
    return {.kind = Way::Kind::attribute, .mgmt_class = MgmtClass::subn_adm, .attribute_id = attribute_id};
}
constexpr Way smp(std::uint16_t attribute_id) {
    return {.kind = Way::Kind::attribute, .mgmt_class = MgmtClass::subn_lid_routed, .attribute_id = attribute_id};
}
constexpr Way cm(std::uint16_t attribute_id) {
    return {.kind = Way::Kind::attribute, .mgmt_class = MgmtClass::communication, .attribute_id = attribute_id};
}

bool always(Octets) { return true; }

/// From a row of `Outer` on, where `Outer` and what is behind it say so.
template <const auto& field, bool (*is_there)(Octets from_outer) = always>
constexpr Way within() {
    using Outer = typename std::remove_cvref_t<decltype(field)>::header;
    return {.kind = Way::Kind::inside, .outer = &spec_of<Outer>, .field = &field, .find = [](Octets o, std::size_t i) {
                return i == 0 && o.size() >= Outer::size && is_there(o) ? o.subspan(field.at.bit / 8) : Octets{};
            }};
}
/// Behind `Outer`, as often as `find` says.
template <class Outer>
constexpr Way behind(Octets (*find)(Octets from_outer, std::size_t index)) {
    return {.kind = Way::Kind::inside, .outer = &spec_of<Outer>, .find = find};
}
template <class Outer, bool (*is_it)(Octets message)>
constexpr Way instead_of() {
    return {.kind = Way::Kind::instead, .outer = &spec_of<Outer>, .find = [](Octets o, std::size_t i) {
                return i == 0 && o.size() >= Outer::size && is_it(o) ? o : Octets{};
            }};
}
constexpr Way told_by_others(Way way) {
    way.needs_context = true;
    return way;
}

// ---- Where a header is there, and where not ----

bool is_group_packet(Octets grh) { return View<Grh>::at(grh)[Grh::dgid].is_multicast(); }
bool is_group_of_ipoib(Octets record) {
    return has_ipoib_signature(View<McMemberRecord>::at(record)[McMemberRecord::mgid]);
}
bool has_gid_details(Octets notice) { return static_cast<bool>(gid_details(View<Notice>::at(notice))); }
bool has_lid_details(Octets notice) { return static_cast<bool>(lid_details(View<Notice>::at(notice))); }
bool has_key_details(Octets notice) { return static_cast<bool>(key_details(View<Notice>::at(notice))); }
bool has_switch_key_details(Octets notice) { return static_cast<bool>(switch_key_details(View<Notice>::at(notice))); }
bool is_request_of_ipoib(Octets req) { return asks_for_ipoib(View<CmReq>::at(req)); }

template <MgmtClass mgmt_class>
bool is_of_class(Octets mad) {
    return View<Mad>::at(mad)[Mad::mgmt_class] == mgmt_class;
}
/// Only its length tells a query of the later version. RFC 3376, 7.1; RFC 3810, 8.1.
template <class Query, std::uint8_t type>
bool is_long_query(Octets message) {
    const auto query = View<Query>::at(message);
    return query && query[Query::type] == type;
}

Octets client_id(Octets message, std::size_t index) {
    const auto value = find_dhcp_option(message, dhcp_option::client_identifier);
    const auto head = index == 0 && value ? View<DhcpClientId>::at(*value) : View<DhcpClientId>{};
    return head && head[DhcpClientId::type] == DhcpClientId::iaid_and_duid ? *value : Octets{};
}
Octets igmp_record(Octets message, std::size_t index) {
    Octets found;
    for_each_igmp_record(message, [&](View<IgmpRecord> record, Octets) {
        if (index-- == 0) found = record.octets();
    });
    return found;
}
Octets mld_record(Octets message, std::size_t index) {
    Octets found;
    for_each_mld_record(message, [&](View<MldRecord> record, Octets) {
        if (index-- == 0) found = record.octets();
    });
    return found;
}

// ---- The rows ----

constexpr auto by_wireshark = RegistryRow::Shown::by_wireshark;

constexpr auto rows = std::to_array<RegistryRow>({
    {&spec_of<Lrh>, "IBTA Vol 1, 7.7", {path}, by_wireshark},
    {&spec_of<Grh>, "IBTA Vol 1, 8.3", {path}, by_wireshark},
    {&spec_of<Mgid>,
     "RFC 4391, 4",
     {within<Grh::dgid, is_group_packet>(), within<McMemberRecord::mgid, is_group_of_ipoib>()}},
    {&spec_of<Bth>, "IBTA Vol 1, 9.2", {path}, by_wireshark},
    {&spec_of<Deth>, "IBTA Vol 1, 9.3.2", {path}, by_wireshark},
    {&spec_of<ImmDt>, "IBTA Vol 1, 9.3.6", {path}, by_wireshark},
    {&spec_of<Aeth>, "IBTA Vol 1, 9.3.5", {path}, by_wireshark},
    {&spec_of<Reth>, "IBTA Vol 1, 9.3.3", {path}, by_wireshark},
    {&spec_of<LinkAddress>, "RFC 4391, 9.1.1", {path}},
    {&spec_of<Encap>, "RFC 4391, 6", {path}},
    {&spec_of<Arp>, "RFC 826", {path}, by_wireshark},
    {&spec_of<ArpAddresses>, "RFC 4391, 9.2", {path}, by_wireshark},
    {&spec_of<Ipv4>, "RFC 791, 3.1", {path}, by_wireshark},
    {&spec_of<Ipv6>, "RFC 8200, 3", {path}, by_wireshark},
    {&spec_of<Udp>, "RFC 768", {path}, by_wireshark},
    {&spec_of<Dhcp>, "RFC 2131, 2 and 3", {path}, by_wireshark},
    {&spec_of<DhcpClientId>, "RFC 4361, 6.1", {behind<Dhcp>(client_id)}, by_wireshark},
    {&spec_of<Icmp>, "RFC 792", {path}, by_wireshark},
    {&spec_of<Igmp>, "RFC 2236, 2", {path}, by_wireshark},
    {&spec_of<IgmpV3Query>,
     "RFC 3376, 4.1",
     {instead_of<Igmp, is_long_query<IgmpV3Query, igmp_type::query>>()},
     by_wireshark},
    {&spec_of<IgmpV3Report>, "RFC 3376, 4.2", {path}, by_wireshark},
    {&spec_of<IgmpRecord>, "RFC 3376, 4.2", {behind<IgmpV3Report>(igmp_record)}, by_wireshark},
    {&spec_of<Icmpv6>, "RFC 4443, 2.1", {path}, by_wireshark},
    {&spec_of<NdTarget>, "RFC 4861, 4.3 to 4.5", {path}, by_wireshark},
    {&spec_of<LinkAddressOption>, "RFC 4391, 9.3", {path}},
    {&spec_of<Mld>, "RFC 2710, 3", {path}, by_wireshark},
    {&spec_of<MldV2Query>,
     "RFC 3810, 5.1",
     {instead_of<Mld, is_long_query<MldV2Query, mld_type::query>>()},
     by_wireshark},
    {&spec_of<MldV2Report>, "RFC 3810, 5.2", {path}, by_wireshark},
    {&spec_of<MldRecord>, "RFC 3810, 5.2", {behind<MldV2Report>(mld_record)}, by_wireshark},
    {&spec_of<Mad>, "IBTA Vol 1, 13.4.3", {path}},
    // Subnet management
    {&spec_of<LidSmp>,
     "IBTA Vol 1, 14.2.1.1",
     {instead_of<Mad, is_of_class<MgmtClass::subn_lid_routed>>()},
     by_wireshark},
    {&spec_of<DirectedSmp>,
     "IBTA Vol 1, 14.2.1.2",
     {instead_of<Mad, is_of_class<MgmtClass::subn_directed_route>>()},
     by_wireshark},
    {&spec_of<NodeInfo>, "IBTA Vol 1, 14.2.5.3", {smp(smp_attribute::node_info), within<NodeRecord::node_info>()}},
    {&spec_of<PortInfo>, "IBTA Vol 1, 14.2.5.6", {smp(smp_attribute::port_info), within<PortInfoRecord::port_info>()}},
    {&spec_of<SwitchInfo>,
     "IBTA Vol 1, 14.2.5.4",
     {smp(smp_attribute::switch_info), within<SwitchInfoRecord::switch_info>()}},
    // Subnet administration
    {&spec_of<Rmpp>, "IBTA Vol 1, 13.6.2.1", {path}},
    {&spec_of<SaHeader>, "IBTA Vol 1, 15.2.1.1", {path}},
    {&spec_of<ClassPortInfo>, "IBTA Vol 1, 13.4.8.1", {sa(attribute::class_port_info)}},
    {&spec_of<Notice>, "IBTA Vol 1, 13.4.8.2", {sa(attribute::notice), smp(smp_attribute::notice)}},
    {&spec_of<GidDetails>, "IBTA Vol 1, 14.2.5.1", {within<Notice::data_details, has_gid_details>()}},
    {&spec_of<LidDetails>, "IBTA Vol 1, 14.2.5.1", {within<Notice::data_details, has_lid_details>()}},
    {&spec_of<KeyDetails>, "IBTA Vol 1, 14.2.5.1", {within<Notice::data_details, has_key_details>()}},
    {&spec_of<SwitchKeyDetails>, "IBTA Vol 1, 14.2.5.1", {within<Notice::data_details, has_switch_key_details>()}},
    {&spec_of<InformInfo>, "IBTA Vol 1, 13.4.8.3", {sa(attribute::inform_info)}},
    {&spec_of<NodeRecord>, "IBTA Vol 1, 15.2.5.2", {sa(attribute::node_record)}},
    {&spec_of<PortInfoRecord>, "IBTA Vol 1, 15.2.5.3", {sa(attribute::port_info_record)}},
    {&spec_of<SwitchInfoRecord>, "IBTA Vol 1, 15.2.5.4", {sa(attribute::switch_info_record)}},
    {&spec_of<PKeyTableRecord>, "IBTA Vol 1, 15.2.5.11", {sa(attribute::p_key_table_record)}},
    {&spec_of<LinkRecord>, "IBTA Vol 1, 15.2.5.13", {sa(attribute::link_record)}},
    {&spec_of<ServiceRecord>, "IBTA Vol 1, 15.2.5.14", {sa(attribute::service_record)}},
    {&spec_of<PathRecord>, "IBTA Vol 1, 15.2.5.16", {sa(attribute::path_record)}},
    {&spec_of<McMemberRecord>, "IBTA Vol 1, 15.2.5.17", {sa(attribute::mc_member_record)}},
    // Communication management
    {&spec_of<CmReq>, "IBTA Vol 1, 12.6.5", {cm(cm_attribute::req)}},
    {&spec_of<CmMra>, "IBTA Vol 1, 12.6.6", {cm(cm_attribute::mra)}},
    {&spec_of<CmRej>, "IBTA Vol 1, 12.6.7", {cm(cm_attribute::rej)}},
    {&spec_of<CmRep>, "IBTA Vol 1, 12.6.8", {cm(cm_attribute::rep)}},
    {&spec_of<CmRtu>, "IBTA Vol 1, 12.6.9", {cm(cm_attribute::rtu)}},
    {&spec_of<CmDreq>, "IBTA Vol 1, 12.6.10", {cm(cm_attribute::dreq)}},
    {&spec_of<CmDrep>, "IBTA Vol 1, 12.6.11", {cm(cm_attribute::drep)}},
    {&spec_of<IpoibServiceId>, "RFC 4755, 3.5", {within<CmReq::service_id, is_request_of_ipoib>()}},
    {&spec_of<CmPrivateData>,
     "RFC 4755, 6",
     {within<CmReq::private_data, is_request_of_ipoib>(), told_by_others(within<CmRep::private_data>())}},
});

/// The attributes alone, by class and number, for decoding: two look-ups.
class Attributes {
public:
    constexpr Attributes() {
        for (const auto& row : rows)
            for (const auto& way : row.ways)
                if (way.kind == Way::Kind::attribute) enter(way, row.header);
        place_of(MgmtClass::subn_directed_route) = place_of(MgmtClass::subn_lid_routed);
    }
    [[nodiscard]] const HeaderSpec* find(MgmtClass mgmt_class, std::uint16_t id) const noexcept {
        return id < most_ids ? headers_[places_[static_cast<std::uint8_t>(mgmt_class)]][id] : nullptr;
    }

private:
    /// More than either needs: what does not fit does not compile.
    static constexpr std::size_t most_ids = 256, most_classes = 8;
    constexpr void enter(const Way& way, const HeaderSpec* header) {
        auto& place = place_of(way.mgmt_class);
        if (place == 0) place = ++classes_;
        headers_.at(place).at(way.attribute_id) = header;
    }
    constexpr std::uint8_t& place_of(MgmtClass mgmt_class) { return places_[static_cast<std::uint8_t>(mgmt_class)]; }

    std::uint8_t classes_ = 0;
    std::array<std::uint8_t, 256> places_{};  ///< of each class in `headers_`; 0: none is known
    std::array<std::array<const HeaderSpec*, most_ids>, most_classes> headers_{};
};
constexpr Attributes attributes;

}  // namespace

std::span<const RegistryRow> registry() noexcept { return rows; }

const RegistryRow* row_of(const HeaderSpec& header) noexcept {
    const auto* const found = std::ranges::find(rows, &header, &RegistryRow::header);
    return found == rows.end() ? nullptr : found;
}

const HeaderSpec* attribute_header(MgmtClass mgmt_class, std::uint16_t attribute_id) noexcept {
    return attributes.find(mgmt_class, attribute_id);
}

bool is_same_name(std::string_view one, std::string_view other) noexcept {
    const auto lower = [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); };
    return std::ranges::equal(one, other, {}, lower, lower);
}

const HeaderSpec* header_named(std::string_view name) noexcept { return field_named(name, {}).header; }

NamedField field_named(std::string_view header, std::string_view field) noexcept {
    NamedField found;
    for (const auto& row : rows) {
        const auto& known = *row.header;
        if (!is_same_name(known.name, header) && !is_same_name(known.key, header)) continue;
        if (!found.header) found.header = &known;
        for (const auto& one : known.fields)
            if (is_same_name(one.name, field)) return {&known, &one};
    }
    return found;
}

namespace detail {

Octets octets_from(const Packet& packet, const std::uint8_t* at) noexcept {
    for (const auto part : {packet.ip_payload, packet.payload, packet.octets}) {
        const auto* const end = part.data() + part.size();
        if (at >= part.data() && at < end) return {at, end};
    }
    return {};
}

const HeaderSpec& shown_for(const HeaderSpec& outer, Octets octets) noexcept {
    for (const auto& row : rows)
        for (const auto& way : row.ways)
            if (way.kind == Way::Kind::instead && way.outer == &outer && way.find(octets, 0).size() >= row.header->size)
                return *row.header;
    return outer;
}

}  // namespace detail
}  // namespace ipoib::wire
