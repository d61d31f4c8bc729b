// SPDX-License-Identifier: GPL-2.0-or-later
// RFC 4755: connected mode, as packets over connections and requests for connections show it.
#include "protocol/requirements/catalogue.hpp"
#include "protocol/rules/common.hpp"
#include "protocol/wire/cm.hpp"

namespace ipoib::rules {
namespace {

constexpr std::uint8_t connected_flags = flag_rc | flag_uc;

/// The connected modes that the sender's own link-layer address announces, as flags.
std::uint8_t announced(const Packet& p) {
    const auto option = own_option(p);
    const unsigned flags = p.arp_addresses ? p.arp_addresses[ArpAddresses::sha_flags]
                           : option        ? option[LinkAddressOption::flags]
                                           : 0u;
    return static_cast<std::uint8_t>(flags & connected_flags);
}

bool is_over_connection(const Packet& p) {
    return service_of(p.bth[Bth::opcode]) <= TransportService::unreliable_connection;
}

/// ARP over a connection, where other programs' messages go too: every constant of it must be right.
View<Arp> arp_over_connection(const Packet& p) {
    const auto opcode = p.bth[Bth::opcode];
    const auto encap = View<Encap>::at(p.payload);
    if ((opcode != Opcode::rc_send_only && opcode != Opcode::uc_send_only) || !encap) return {};
    const auto type = encap[Encap::type];
    const auto arp = View<Arp>::at(p.payload.subspan(Encap::size));
    const bool is_arp = arp && (type == EtherType::arp || type == EtherType::rarp) && encap[Encap::reserved] == 0 &&
                        arp[Arp::hardware] == Arp::infiniband && arp[Arp::protocol] == 0x0800 &&
                        arp[Arp::hardware_length] == LinkAddress::size && arp[Arp::protocol_length] == 4 &&
                        p.payload_length >= Encap::size + Arp::size + ArpAddresses::size;
    return is_arp ? arp : View<Arp>{};
}
bool is_ipoib_over_connection(const Packet& p) { return p.has(Part::connected) || arp_over_connection(p); }
const std::uint8_t* at_payload(const Packet& p) { return p.payload.data(); }

bool is_arp_response(View<Arp> arp) {
    const auto operation = arp[Arp::operation];
    return operation == Arp::reply || operation == Arp::reverse_reply;
}
/// An answer of address resolution: over a connection, or by a sender that could have used one.
bool is_resolution_response(const Packet& p) {
    if (is_over_connection(p)) {
        const auto arp = arp_over_connection(p);
        if (arp) return is_arp_response(arp);
    } else if (announced(p) == 0) {
        return false;
    }
    if (p.arp) return is_arp_response(p.arp);
    return p.has(Part::nd) && p.icmpv6[Icmpv6::type] == Icmpv6Type::neighbour_advertisement;
}

bool is_to_ip_group(const Packet& p) {
    constexpr std::uint32_t limited_broadcast = 0xffffffff;
    if (p.ipv6) return p.ipv6[Ipv6::destination].is_multicast();
    return p.ipv4 && (is_ipv4_group(p.ipv4[Ipv4::destination]) || p.ipv4[Ipv4::destination] == limited_broadcast);
}

View<CmReq> req_of(const Packet& p) {
    const bool is_req =
        p.mad[Mad::mgmt_class] == MgmtClass::communication && p.mad[Mad::attribute_id] == cm_attribute::req;
    return is_req ? p.get<CmReq>() : View<CmReq>{};
}

/// The block that the IETF has got is IPoIB's alone. Linux begins its Service-IDs with another octet, outside of the
/// block, so the rest of the ID must prove that it is one of IPoIB.
bool is_ipoib_req(const Packet& p) {
    constexpr std::uint8_t as_linux_writes_it = 0x10;
    const auto req = req_of(p);
    if (!req) return false;
    const auto id = ipoib_service_id(req);
    if (id[IpoibServiceId::prefix] == IpoibServiceId::ietf) return true;
    return id[IpoibServiceId::prefix] == as_linux_writes_it && id[IpoibServiceId::type] == 0 &&
           id[IpoibServiceId::reserved] == 0 && is_port_qpn(id[IpoibServiceId::qpn]);
}
const std::uint8_t* at_service_id(const Packet& p) { return ipoib_service_id(req_of(p)).data(); }

/// Only for REQs.
View<CmPrivateData> private_data_of(const Packet& p) { return ipoib_private_data(req_of(p)); }
const std::uint8_t* at_private_data(const Packet& p) { return private_data_of(p).data(); }

constexpr auto cm_message = parts(Part::bth, Part::mad);

constexpr Rule rules_of_rfc4755[] = {
    {.id = "RULE-RFC4755-2.1-01",
     .checks = {&rfc4755::cm_multicast_on_ud},
     .title = "IP multicast never goes over a connection",
     .needs = over_ib,
     .evidence = Evidence::one_frame,
     // Multicast over UD counts where its sender could have done otherwise.
     .applies = [](const Packet& p) { return is_over_connection(p) || (p.is_multicast && announced(p) != 0); },
     .holds = [](const Packet& p) { return !is_over_connection(p) || !is_to_ip_group(p); },
     .points_at = Bth::opcode,
     .expected = "UD SEND Only",
     .actual_of =
         [](const Packet& p, const Known&) {
             return hex(static_cast<unsigned>(p.bth[Bth::opcode]), 2) + " for " +
                    (p.ipv6 ? text(p.ipv6[Ipv6::destination]) : ipv4_text(p.ipv4[Ipv4::destination]));
         }},
    {.id = "RULE-RFC4755-3.1-01",
     .checks = {&rfc4755::cm_flags},
     .title = "link-layer addresses announce the connected modes RC and UC",
     .needs = parts(Part::ipoib),
     .evidence = Evidence::one_frame,
     .applies = [](const Packet& p) { return announced(p) != 0; },
     .notes = [](const Packet& p) { return announced(p) != 0; },
     .note = "addresses that announce RC or UC"},
    {.id = "RULE-RFC4755-3.1-04",
     .checks = {&rfc4755::cm_flags_both},
     .title = "an interface may announce both connected modes",
     .needs = parts(Part::ipoib),
     .evidence = Evidence::one_frame,
     .applies = [](const Packet& p) { return announced(p) != 0; },
     .notes = [](const Packet& p) { return announced(p) == connected_flags; },
     .note = "addresses that announce both RC and UC"},
    {.id = "RULE-RFC4755-3.2-02",
     .checks = {&rfc4755::cm_setup_carries_ud_qpn, &rfc4755::cm_private_data_format},
     .title = "the private data of a REQ name the sender's UD queue pair",
     .needs = cm_message,
     .evidence = Evidence::one_frame,
     .applies = is_ipoib_req,
     .holds = [](const Packet& p) { return is_port_qpn(private_data_of(p)[CmPrivateData::ud_qpn]); },
     .points_at = CmPrivateData::ud_qpn,
     .expected = "a UD queue pair",
     .at = at_private_data},
    {.id = "RULE-RFC4755-3.5-01",
     .checks = {&rfc4755::cm_service_id},
     .title = "the Service-ID is 0x01, Type 0, Reserved 0 and a QPN",
     .needs = cm_message,
     .evidence = Evidence::one_frame,
     .applies = is_ipoib_req,
     .holds =
         [](const Packet& p) {
             const auto id = ipoib_service_id(req_of(p));
             return id[IpoibServiceId::prefix] == IpoibServiceId::ietf && id[IpoibServiceId::type] == 0 &&
                    id[IpoibServiceId::reserved] == 0 && is_port_qpn(id[IpoibServiceId::qpn]);
         },
     .points_at = IpoibServiceId::prefix,
     .expected = "0x0100000000, then the QPN of a UD queue pair",
     .actual_of = [](const Packet& p, const Known&) { return hex(req_of(p)[CmReq::service_id], 16); },
     .at = at_service_id},
    {.id = "RULE-RFC4755-4-01",
     .checks = {&rfc4755::cm_encap_type},
     .title = "over a connection Type is that of IPv4 or IPv6",
     .needs = parts(Part::lrh, Part::bth),
     .evidence = Evidence::one_frame,
     .applies = is_ipoib_over_connection,
     .holds =
         [](const Packet& p) {
             return p.encap && (p.ether_type == EtherType::ipv4 || p.ether_type == EtherType::ipv6);
         },
     .points_at = Encap::type,
     .expected = "0x0800 or 0x86dd",
     .at = at_payload},
    {.id = "RULE-RFC4755-5-01",
     .checks = {&rfc4755::cm_minimum_mtu},
     .title = "the Receive MTU of a REQ is that of a link that IP can use",
     .needs = cm_message,
     .evidence = Evidence::one_frame,
     .applies = [](const Packet& p) { return is_ipoib_req(p) && private_data_of(p)[CmPrivateData::receive_mtu] != 0; },
     .holds = [](const Packet& p) { return private_data_of(p)[CmPrivateData::receive_mtu] >= least_of_ipv4; },
     .points_at = CmPrivateData::receive_mtu,
     .expected = "at least 72, for the 68 octets of IPv4",
     .at = at_private_data},
    {.id = "RULE-RFC4755-5.1-01",
     .checks = {&rfc4755::cm_receive_mtu},
     .title = "a REQ states the Receive MTU",
     .needs = cm_message,
     .evidence = Evidence::one_frame,
     .applies = is_ipoib_req,
     .holds = [](const Packet& p) { return private_data_of(p)[CmPrivateData::receive_mtu] != 0; },
     .points_at = CmPrivateData::receive_mtu,
     .expected = "not 0",
     .at = at_private_data},
    {.id = "RULE-RFC4755-6-01",
     .checks = {&rfc4755::cm_private_data_format},
     .title = "the Receive MTU of a REQ is a possible one",
     .needs = cm_message,
     .evidence = Evidence::one_frame,
     .applies = is_ipoib_req,
     .holds = [](const Packet& p) { return can_be_receive_mtu(private_data_of(p)[CmPrivateData::receive_mtu]); },
     .points_at = CmPrivateData::receive_mtu,
     .expected = "1 to 2147483648, the largest message of a connection",
     .at = at_private_data},
    {.id = "RULE-RFC4755-6-02",
     .checks = {&rfc4755::cm_private_data_reserved_tx},
     .title = "the Reserved octet in the private data of a REQ is 0",
     .needs = cm_message,
     .evidence = Evidence::one_frame,
     .applies = is_ipoib_req,
     .holds = [](const Packet& p) { return private_data_of(p)[CmPrivateData::reserved] == 0; },
     .points_at = CmPrivateData::reserved,
     .expected = "0",
     .at = at_private_data},
    // A request of address resolution that goes to one port is not spoken of; its Type is RULE-RFC4755-4-01's matter.
    {.id = "RULE-RFC4755-7-02",
     .checks = {&rfc4755::cm_resolution_over_ud},
     .title = "answers of ARP and Neighbour Discovery go as UD packets",
     .needs = parts(Part::lrh, Part::bth),
     .evidence = Evidence::one_frame,
     .applies = is_resolution_response,
     .holds = [](const Packet& p) { return !is_over_connection(p); },
     .points_at = Bth::opcode,
     .expected = "UD SEND Only"},
};
static_assert(are_declared(rules_of_rfc4755));

}  // namespace

std::span<const Rule> rfc4755() { return rules_of_rfc4755; }

}  // namespace ipoib::rules
