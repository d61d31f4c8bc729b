// SPDX-License-Identifier: GPL-2.0-or-later
// Stacks and adapters that do not live on after a malformed packet. RFC 4391, 6; RFC 4755, 6.
#include "conformance/mutants/prelude.hpp"
#include "protocol/wire/icmpv6.hpp"
#include "protocol/wire/rmpp.hpp"

#include <algorithm>

namespace ipoib::conformance {
namespace {

/// What is behind the encapsulation header of a datagram of this Type; nothing where it has another.
Octets inside(const Packet& packet, EtherType type) {
    const auto encap = View<Encap>::at(packet.payload);
    return encap && encap[Encap::type] == type ? packet.payload.subspan(Encap::size) : Octets{};
}

/// The options of a solicitation or advertisement.
Octets discovery_options(const Packet& packet) {
    constexpr auto before = Ipv6::size + Icmpv6::size + NdTarget::size;
    const auto ip = inside(packet, EtherType::ipv6);
    if (ip.size() <= before || View<Ipv6>::at(ip)[Ipv6::next_header] != IpProtocol::icmpv6) return {};
    const auto type = View<Icmpv6>::at(ip.subspan(Ipv6::size))[Icmpv6::type];
    const bool is_discovery = type == Icmpv6Type::neighbour_solicitation || type == Icmpv6Type::neighbour_advertisement;
    return is_discovery ? ip.subspan(before) : Octets{};
}

/// An ARP packet that is long enough and tells the right lengths.
View<Arp> whole_arp(const Packet& packet) {
    const auto octets = inside(packet, EtherType::arp);
    const auto arp = View<Arp>::at(octets);
    const bool is_whole = arp && octets.size() >= Arp::size + ArpAddresses::size &&
                          arp[Arp::hardware_length] == LinkAddress::size && arp[Arp::protocol_length] == 4;
    return is_whole ? arp : View<Arp>{};
}

View<ArpAddresses> arp_addresses_in(const Packet& packet) {
    return whole_arp(packet) ? View<ArpAddresses>::at(inside(packet, EtherType::arp).subspan(Arp::size))
                             : View<ArpAddresses>{};
}

/// Whether Neighbour Discovery has a link-layer address option that is so.
bool has_option(const Packet& packet, bool (*is_so)(const View<LinkAddressOption>&)) {
    bool is_there = false;
    for_each_nd_option(discovery_options(packet), [&](Octets octets) {
        const auto option = View<LinkAddressOption>::at(octets);
        is_there = is_there || (option && option[LinkAddressOption::length] == 3 && is_so(option));
    });
    return is_there;
}

bool is_general_service(const Packet& packet) { return packet.bth && packet.bth[Bth::dest_qp] == 1; }

/// The cases that judge whether reception goes on, but for those that send what it ends at.
std::vector<std::string_view> all_but(const std::vector<std::string_view>& sending) {
    std::vector<std::string_view> cases{"IPOIB-4391-6-INV-002",  "IPOIB-4391-6-INV-003",   "IPOIB-4391-6-INV-004",
                                        "IPOIB-4391-6-INV-005",  "IPOIB-4391-6-INV-006",   "IPOIB-4391-6-INV-007",
                                        "IPOIB-4391-6-INV-008",  "IPOIB-4391-9.2-INV-001", "IPOIB-4391-9.3-INV-001",
                                        "IPOIB-4391-10-INV-002", "IPOIB-4755-6-INV-002"};
    std::erase_if(cases, [&](auto id) { return std::ranges::find(sending, id) != sending.end(); });
    return cases;
}

}  // namespace

const Mutant dies_of_nothing{
    .name = "dies-of-nothing",
    .what = "receives nothing any more after an encapsulation header with nothing behind it",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack =
        [](Policy& policy) {
            policy.survives = [](const Packet& packet) { return packet.payload.size() != Encap::size; };
        },
    .spares =
        all_but({"IPOIB-4391-6-INV-004", "IPOIB-4391-6-INV-007", "IPOIB-4391-9.2-INV-001", "IPOIB-4391-9.3-INV-001"}),
    .does_not_live_on = true,
};

const Mutant dies_of_empty_datagram{
    .name = "dies-of-empty-datagram",
    .what = "receives nothing any more after a datagram without an encapsulation header",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack =
        [](Policy& policy) {
            policy.survives = [](const Packet& packet) { return packet.payload.size() >= Encap::size; };
        },
    .spares = all_but({"IPOIB-4391-6-INV-004", "IPOIB-4391-6-INV-007", "IPOIB-4391-6-INV-008", "IPOIB-4391-9.2-INV-001",
                       "IPOIB-4391-9.3-INV-001"}),
    .does_not_live_on = true,
};

const Mutant dies_of_short_arp{
    .name = "dies-of-short-arp",
    .what = "receives nothing any more after an ARP packet that is too short",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack =
        [](Policy& policy) {
            policy.survives = [](const Packet& packet) {
                const auto arp = inside(packet, EtherType::arp);
                return arp.empty() || arp.size() >= Arp::size + ArpAddresses::size;
            };
        },
    .spares = all_but({"IPOIB-4391-9.2-INV-001"}),
    .does_not_live_on = true,
};

const Mutant dies_of_long_arp{
    .name = "dies-of-long-arp",
    .what = "receives nothing any more after an ARP packet that is too long",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack =
        [](Policy& policy) {
            policy.survives = [](const Packet& packet) {
                return inside(packet, EtherType::arp).size() <= Arp::size + ArpAddresses::size;
            };
        },
    .spares = all_but({"IPOIB-4391-9.2-INV-001"}),
    .does_not_live_on = true,
};

const Mutant dies_of_arp_lengths{
    .name = "dies-of-arp-lengths",
    .what = "receives nothing any more after an ARP packet whose hardware addresses are longer than 20 octets",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack =
        [](Policy& policy) {
            policy.survives = [](const Packet& packet) {
                const auto arp = View<Arp>::at(inside(packet, EtherType::arp));
                return !arp || arp[Arp::hardware_length] <= LinkAddress::size;
            };
        },
    .spares = all_but({"IPOIB-4391-9.2-INV-001"}),
    .does_not_live_on = true,
};

const Mutant dies_of_arp_operation{
    .name = "dies-of-arp-operation",
    .what = "receives nothing any more after an ARP packet that is neither a request nor a reply",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack =
        [](Policy& policy) {
            policy.survives = [](const Packet& packet) {
                const auto arp = whole_arp(packet);
                return !arp || arp[Arp::operation] == Arp::request || arp[Arp::operation] == Arp::reply;
            };
        },
    .spares = all_but({"IPOIB-4391-9.2-INV-001"}),
    .does_not_live_on = true,
};

const Mutant dies_of_arp_multicast_sender{
    .name = "dies-of-arp-multicast-sender",
    .what = "receives nothing any more after an ARP packet whose sender has the address of an IP group",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack =
        [](Policy& policy) {
            policy.survives = [](const Packet& packet) {
                const auto addresses = arp_addresses_in(packet);
                return !addresses || !IpAddress::v4(addresses[ArpAddresses::spa]).is_multicast();
            };
        },
    .spares = all_but({"IPOIB-4391-9.2-INV-001"}),
    .does_not_live_on = true,
};

const Mutant dies_of_arp_gid_of_group{
    .name = "dies-of-arp-group-gid",
    .what = "receives nothing any more after an ARP packet whose sender's GID is that of a group",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack =
        [](Policy& policy) {
            policy.survives = [](const Packet& packet) {
                const auto addresses = arp_addresses_in(packet);
                return !addresses || !addresses[ArpAddresses::sha_gid].is_multicast();
            };
        },
    .spares = all_but({"IPOIB-4391-9.2-INV-001"}),
    .does_not_live_on = true,
};

const Mutant dies_of_arp_qpn_zero{
    .name = "dies-of-arp-qpn-zero",
    .what = "receives nothing any more after an ARP packet whose sender's QPN is 0",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack =
        [](Policy& policy) {
            policy.survives = [](const Packet& packet) {
                const auto addresses = arp_addresses_in(packet);
                return !addresses || addresses[ArpAddresses::sha_qpn] != 0;
            };
        },
    .spares = all_but({"IPOIB-4391-9.2-INV-001"}),
    .does_not_live_on = true,
};

const Mutant dies_of_nd_gid_of_group{
    .name = "dies-of-nd-group-gid",
    .what = "receives nothing any more after a link-layer address option with the GID of a group",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack =
        [](Policy& policy) {
            policy.survives = [](const Packet& packet) {
                return !has_option(packet, [](const View<LinkAddressOption>& option) {
                    return option[LinkAddressOption::gid].is_multicast();
                });
            };
        },
    .spares = all_but({"IPOIB-4391-9.3-INV-001"}),
    .does_not_live_on = true,
};

const Mutant dies_of_nd_qpn_zero{
    .name = "dies-of-nd-qpn-zero",
    .what = "receives nothing any more after a link-layer address option with QPN 0",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack =
        [](Policy& policy) {
            policy.survives = [](const Packet& packet) {
                return !has_option(
                    packet, [](const View<LinkAddressOption>& option) { return option[LinkAddressOption::qpn] == 0; });
            };
        },
    .spares = all_but({"IPOIB-4391-9.3-INV-001"}),
    .does_not_live_on = true,
};

const Mutant dies_of_arp_protocol_lengths{
    .name = "dies-of-arp-protocol-lengths",
    .what = "receives nothing any more after an ARP packet whose protocol addresses have no octet",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack =
        [](Policy& policy) {
            policy.survives = [](const Packet& packet) {
                const auto arp = View<Arp>::at(inside(packet, EtherType::arp));
                return !arp || arp[Arp::protocol_length] != 0;
            };
        },
    .spares = all_but({"IPOIB-4391-9.2-INV-001"}),
    .does_not_live_on = true,
};

const Mutant dies_of_ipv4_length{
    .name = "dies-of-ipv4-length",
    .what = "receives nothing any more after a whole IPv4 header that tells of more octets than there are",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack =
        [](Policy& policy) {
            policy.survives = [](const Packet& packet) {
                const auto octets = inside(packet, EtherType::ipv4);
                const auto ip = View<Ipv4>::at(octets);
                return !ip || ip[Ipv4::total_length] <= octets.size();
            };
        },
    .spares = all_but({"IPOIB-4391-6-INV-004", "IPOIB-4391-6-INV-005", "IPOIB-4391-6-INV-006", "IPOIB-4391-6-INV-007"}),
    .does_not_live_on = true,
};

const Mutant dies_of_ipv6_length{
    .name = "dies-of-ipv6-length",
    .what = "receives nothing any more after a whole IPv6 header that tells of more octets than there are",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack =
        [](Policy& policy) {
            policy.survives = [](const Packet& packet) {
                const auto octets = inside(packet, EtherType::ipv6);
                const auto ip = View<Ipv6>::at(octets);
                return !ip || ip[Ipv6::payload_length] + Ipv6::size <= octets.size();
            };
        },
    .spares = all_but({"IPOIB-4391-6-INV-004", "IPOIB-4391-6-INV-005", "IPOIB-4391-6-INV-006", "IPOIB-4391-6-INV-007",
                       "IPOIB-4391-9.3-INV-001"}),
    .does_not_live_on = true,
};

const Mutant dies_of_short_ipv4_length{
    .name = "dies-of-short-ipv4-length",
    .what = "receives nothing any more after an IPv4 packet that tells of fewer octets than its header has",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack =
        [](Policy& policy) {
            policy.survives = [](const Packet& packet) {
                const auto ip = View<Ipv4>::at(inside(packet, EtherType::ipv4));
                return !ip || ip[Ipv4::total_length] >= Ipv4::size;
            };
        },
    .spares = all_but({"IPOIB-4391-6-INV-002", "IPOIB-4391-6-INV-005"}),
    .does_not_live_on = true,
};

const Mutant dies_of_cut_ipv6{
    .name = "dies-of-cut-ipv6",
    .what = "receives nothing any more after an IPv6 packet that ends within its header",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack =
        [](Policy& policy) {
            policy.survives = [](const Packet& packet) {
                const auto octets = inside(packet, EtherType::ipv6);
                return octets.empty() || octets.size() >= Ipv6::size;
            };
        },
    .spares =
        all_but({"IPOIB-4391-6-INV-004", "IPOIB-4391-6-INV-005", "IPOIB-4391-6-INV-007", "IPOIB-4391-9.3-INV-001"}),
    .does_not_live_on = true,
};

const Mutant dies_of_ipv4_without_payload{
    .name = "dies-of-ipv4-without-payload",
    .what = "receives nothing any more after a right IPv4 packet of a header alone",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack =
        [](Policy& policy) {
            policy.survives = [](const Packet& packet) {
                const auto ip = View<Ipv4>::at(inside(packet, EtherType::ipv4));
                return !ip || ip[Ipv4::header_words] != 5 || ip[Ipv4::total_length] != Ipv4::size;
            };
        },
    .spares = all_but({"IPOIB-4391-6-INV-005", "IPOIB-4391-6-INV-006", "IPOIB-4391-6-INV-007"}),
    .does_not_live_on = true,
};

const Mutant dies_of_short_ipv4_header{
    .name = "dies-of-short-ipv4-header",
    .what = "receives nothing any more after an IPv4 header of fewer than 5 words",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack =
        [](Policy& policy) {
            policy.survives = [](const Packet& packet) {
                const auto ip = View<Ipv4>::at(inside(packet, EtherType::ipv4));
                return !ip || ip[Ipv4::header_words] >= 5;
            };
        },
    .spares = all_but({"IPOIB-4391-6-INV-002", "IPOIB-4391-6-INV-006"}),
    .does_not_live_on = true,
};

const Mutant dies_of_ipv6_fragment_alone{
    .name = "dies-of-ipv6-fragment-alone",
    .what = "receives nothing any more after an IPv6 header that announces a fragment, and nothing behind",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack =
        [](Policy& policy) {
            policy.survives = [](const Packet& packet) {
                const auto octets = inside(packet, EtherType::ipv6);
                return octets.size() != Ipv6::size || View<Ipv6>::at(octets)[Ipv6::next_header] != IpProtocol::fragment;
            };
        },
    .spares = all_but({"IPOIB-4391-6-INV-006", "IPOIB-4391-6-INV-007"}),
    .does_not_live_on = true,
};

const Mutant dies_of_udp_length{
    .name = "dies-of-udp-length",
    .what = "receives nothing any more after a UDP datagram whose length is below its header's",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack =
        [](Policy& policy) {
            policy.survives = [](const Packet& packet) { return !packet.udp || packet.udp[Udp::length] >= Udp::size; };
        },
    .spares = all_but({"IPOIB-4391-6-INV-005"}),
    .does_not_live_on = true,
};

const Mutant dies_of_long_fragments{
    .name = "dies-of-long-fragments",
    .what = "receives nothing any more after an IPv4 fragment beyond the longest datagram",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack =
        [](Policy& policy) {
            policy.survives = [](const Packet& packet) {
                constexpr std::size_t unit = 8, longest = 0xffff;
                const auto octets = inside(packet, EtherType::ipv4);
                const auto ip = View<Ipv4>::at(octets);
                return !ip || ip[Ipv4::fragment_offset] * unit + octets.size() <= longest;
            };
        },
    .spares = all_but({"IPOIB-4391-6-INV-007"}),
    .does_not_live_on = true,
};

const Mutant dies_of_fragments_overlapping{
    .name = "dies-of-overlapping-fragments",
    .what = "receives nothing any more after a fragment that holds octets of one before",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack = [](Policy& policy) { policy.survives_overlap = [](bool) { return false; }; },
    .spares = all_but({"IPOIB-4391-6-INV-007"}),
    .does_not_live_on = true,
};

const Mutant dies_of_fragments_overlapping6{
    .name = "dies-of-overlapping-fragments6",
    .what = "receives nothing any more after an IPv6 fragment that holds octets of one before",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack = [](Policy& policy) { policy.survives_overlap = [](bool is_v4) { return is_v4; }; },
    .spares = all_but({"IPOIB-4391-6-INV-007"}),
    .does_not_live_on = true,
};

const Mutant dies_of_option_of_length_zero{
    .name = "dies-of-nd-option-zero",
    .what = "receives nothing any more after Neighbour Discovery with an option of length 0",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack =
        [](Policy& policy) {
            policy.survives = [](const Packet& packet) {
                const auto rest = for_each_nd_option(discovery_options(packet), [](Octets) {});
                return rest.size() < 2 || rest[1] != 0;
            };
        },
    .spares = all_but({"IPOIB-4391-9.3-INV-001"}),
    .does_not_live_on = true,
};

const Mutant dies_of_option_beyond_the_end{
    .name = "dies-of-nd-option-beyond",
    .what =
        "receives nothing any more after a whole option of Neighbour Discovery that tells of more octets than there "
        "are",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .stack =
        [](Policy& policy) {
            policy.survives = [](const Packet& packet) {
                constexpr std::size_t unit = 8;
                const auto rest = for_each_nd_option(discovery_options(packet), [](Octets) {});
                return rest.size() < LinkAddressOption::size || rest[1] * unit <= rest.size();
            };
        },
    .spares = all_but({"IPOIB-4391-9.3-INV-001"}),
    .does_not_live_on = true,
};

const Mutant dies_of_next_header_in_grh{
    .name = "hca-dies-of-grh-next-header",
    .what = "the HCA takes no datagram any more after a GRH with another next header",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .hca =
        [](HcaBehaviour& hca) {
            hca.survives = [](const Packet& packet) {
                return !packet.grh || packet.grh[Grh::next_header] == Grh::iba_transport;
            };
        },
    .spares = all_but({"IPOIB-4391-6-INV-008"}),
    .does_not_live_on = true,
};

const Mutant dies_of_mad_length{
    .name = "hca-dies-of-mad-length",
    .what = "the HCA takes no datagram any more after a MAD that is longer than 256 octets",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .hca =
        [](HcaBehaviour& hca) {
            hca.survives = [](const Packet& packet) {
                return !is_general_service(packet) || packet.payload.size() <= mad_size;
            };
        },
    .spares = all_but({"IPOIB-4391-10-INV-002", "IPOIB-4755-6-INV-002"}),
    .does_not_live_on = true,
};

const Mutant dies_of_unasked_report{
    .name = "hca-dies-of-unasked-report",
    .what = "the HCA takes no datagram any more after the report of a trap that nobody subscribes to",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .hca =
        [](HcaBehaviour& hca) {
            hca.survives = [](const Packet& packet) {
                const auto notice = packet.get<Notice>();
                return !notice || packet.mad[Mad::method] != Method::report ||
                       notice[Notice::trap_number] != trap::link_state_changed;
            };
        },
    .spares = all_but({"IPOIB-4391-10-INV-002"}),
    .does_not_live_on = true,
};

const Mutant dies_of_unasked_trap{
    .name = "hca-dies-of-unasked-trap",
    .what = "the HCA takes no datagram any more after a trap of subnet administration",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .hca =
        [](HcaBehaviour& hca) {
            hca.survives = [](const Packet& packet) {
                return !is_general_service(packet) || !packet.mad || packet.mad[Mad::method] != Method::trap;
            };
        },
    .spares = all_but({"IPOIB-4391-10-INV-002"}),
    .does_not_live_on = true,
};

const Mutant dies_of_rmpp_length{
    .name = "hca-dies-of-rmpp-length",
    .what = "the HCA takes no datagram any more after a segment that tells of more octets than a MAD has",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .hca =
        [](HcaBehaviour& hca) {
            hca.survives = [](const Packet& packet) {
                const auto rmpp = packet.get<Rmpp>();
                return !rmpp || rmpp[Rmpp::type] != RmppType::data || rmpp[Rmpp::payload_length] != 0xffffffff;
            };
        },
    .spares = all_but({"IPOIB-4391-10-INV-002"}),
    .does_not_live_on = true,
};

const Mutant dies_of_cut_req{
    .name = "hca-dies-of-cut-req",
    .what = "the HCA takes no datagram any more after a REQ that is cut in its private data",
    .breaks = {&rfc4391::encap_type_demultiplexing},
    .hca =
        [](HcaBehaviour& hca) {
            hca.survives = [](const Packet& packet) {
                const auto mad = View<Mad>::at(packet.payload);
                const bool is_cm =
                    is_general_service(packet) && mad && mad[Mad::mgmt_class] == MgmtClass::communication;
                return !is_cm || packet.payload.size() >= mad_size || packet.payload.size() <= Mad::size + 140;
            };
        },
    .spares = all_but({"IPOIB-4755-6-INV-002"}),
    .does_not_live_on = true,
};

}  // namespace ipoib::conformance
