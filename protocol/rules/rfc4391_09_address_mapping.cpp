// SPDX-License-Identifier: GPL-2.0-or-later
// RFC 4391, 9: link-layer addresses, ARP and Neighbour Discovery.
#include "protocol/requirements/catalogue.hpp"
#include "protocol/rules/common.hpp"
#include "protocol/wire/decoder.hpp"
#include "protocol/wire/nd_option.hpp"

namespace ipoib::rules {
namespace {

constexpr std::uint8_t rfc4755_flags = flag_rc | flag_uc;

bool is_to_one(const Packet& p) { return !p.is_multicast; }
bool is_port_gid(const Gid& gid) { return !gid.is_multicast() && !gid.is_zero(); }

Icmpv6Type nd_type(const Packet& p) { return p.icmpv6[Icmpv6::type]; }

/// The Link-layer Address options of the right length.
std::array<View<LinkAddressOption>, 2> options_of(const Packet& p) { return {p.source_option, p.target_option}; }
bool has_option(const Packet& p) { return p.source_option || p.target_option; }

/// A solicitation for address detection has no source address and so no option. A unicast one may leave it out, and so
/// may an advertisement that nobody has asked for (RFC 4861, 4.4).
bool asks_in_group(const Packet& p) {
    return nd_type(p) == Icmpv6Type::neighbour_solicitation && p.ipv6[Ipv6::destination].is_multicast() &&
           !p.ipv6[Ipv6::source].is_zero();
}
bool must_have_option(const Packet& p, const Known& known) {
    return asks_in_group(p) && known.speaker && known.speaker->announced;
}
bool has_option_or_is_cut(const Packet& p) {
    return has_option(p) || p.has(Part::nd_wrong) || p.is_truncated || p.is_fragment || p.stop;
}
/// Of an address that is still being tested a solicitation has no option. RFC 4429, 3.2.
bool may_be_in_test(const Known& known) {
    return known.speaker && known.speaker->tested && known.now.steady - known.speaker->tested.steady < grace;
}
/// Since the address was tested, the last time.
state::Span since_test(const Packet& p, const Known& known) {
    if (!known.speaker || !known.speaker->tested)
        return {.doubts = state::Reason{
                    .doubt = Doubt::life_before,
                    .text = "the capture does not show how the address began: it may be one that is still being tested",
                    .holds_in_evidence = true,
                    .also = state::assumptions(state::Assumption::whole)}};
    state::Span span{.since = known.speaker->tested};
    if (p.lrh && p.deth) span.senders[0] = {{p.lrh[Lrh::slid], p.deth[Deth::src_qp]}, span.since};
    return span;
}

/// Whether the option's address reads better two octets earlier: the padding was put behind it.
bool is_padded_behind(const Packet& p, View<LinkAddressOption> option) {
    const auto shifted = View<LinkAddress>::at(option.octets().subspan(2, LinkAddress::size))[LinkAddress::gid];
    const auto gid = option[LinkAddressOption::gid];
    const auto tail = option.octets().subspan(2 + LinkAddress::size);
    if (tail[0] != 0 || tail[1] != 0) return false;
    if (p.grh) return shifted == p.grh[Grh::sgid] && gid != shifted;
    // A QPN that ends so, before a prefix of zeros alone, is not to be met.
    const auto is_usual = [](const Gid& candidate) { return candidate.prefix() == std::uint64_t{0xfe80} << 48; };
    return is_usual(shifted) && !is_usual(gid);
}

/// The first option, of those that the claim is about, that breaks it; absent when none does.
using Claim = bool (*)(const Packet&, View<LinkAddressOption>);
template <Claim Applies, Claim Holds>
View<LinkAddressOption> wrong_option(const Packet& p) {
    for (const auto option : options_of(p))
        if (option && Applies(p, option) && !Holds(p, option)) return option;
    return {};
}
template <Claim Applies>
bool any_option(const Packet& p) {
    for (const auto option : options_of(p))
        if (option && Applies(p, option)) return true;
    return false;
}
template <Claim Applies, Claim Holds>
bool no_wrong_option(const Packet& p) {
    return !wrong_option<Applies, Holds>(p);
}
template <Claim Applies, Claim Holds>
const std::uint8_t* at_wrong_option(const Packet& p) {
    return wrong_option<Applies, Holds>(p).data();
}

bool always(const Packet&, View<LinkAddressOption>) { return true; }
bool is_aligned(const Packet& p, View<LinkAddressOption> option) { return !is_padded_behind(p, option); }
bool is_padded(const Packet& p, View<LinkAddressOption> option) {
    return option[LinkAddressOption::padding] == 0 && !is_padded_behind(p, option);
}
bool has_right_flags(const Packet&, View<LinkAddressOption> option) {
    return (option[LinkAddressOption::flags] & ~rfc4755_flags & 0xff) == 0;
}
bool has_address(const Packet&, View<LinkAddressOption> option) {
    return is_port_qpn(option[LinkAddressOption::qpn]) && is_port_gid(option[LinkAddressOption::gid]);
}
bool has_right_type(const Packet& p, View<LinkAddressOption> option) {
    const bool is_source = option[LinkAddressOption::type] == LinkAddressOption::source;
    return is_source ? !takes_target_option(nd_type(p)) : !takes_source_option(nd_type(p));
}

/// The sender's own address in Neighbour Discovery, where it can be compared with the GRH: padding and GID are right.
bool tells_own_gid(const Packet& p) {
    const auto option = own_option(p);
    return option && is_padded(p, option) && is_port_gid(option[LinkAddressOption::gid]);
}
/// Both are GIDs of one port: it also answers to the default prefix.
bool is_same_port(const Gid& one, const Gid& other) {
    constexpr std::uint64_t default_prefix = std::uint64_t{0xfe80} << 48;
    const bool may_differ = one.prefix() == default_prefix || other.prefix() == default_prefix;
    return one == other || (may_differ && one.interface_id() == other.interface_id());
}
std::string sgid_text(const Packet& p, const Known&) { return text(p.grh[Grh::sgid]) + ", the GRH's SGID"; }

/// IANA, "ARP Parameters": 1 to 25 are assigned.
constexpr std::uint16_t last_assigned_operation = 25;
bool is_operation(std::uint16_t operation) { return operation >= Arp::request && operation <= last_assigned_operation; }

std::string hardware_text(const Packet& p, const Known&) {
    const auto length = std::to_string(p.arp[Arp::hardware_length]);
    return p.foreign == Foreign::draft_2001_address ? length + ": " + std::string(name(p.foreign)) : length;
}

constexpr Rule rules_of_rfc4391_09[] = {
    {.id = "RULE-RFC4391-9.1-03",
     .checks = {&rfc4391::unicast_to_peer_qp},
     .title = "a unicast packet is directed at a queue pair of the peer",
     .needs = over_ib | parts(Part::lrh, Part::deth),
     .evidence = Evidence::one_frame,
     .applies = is_to_one,
     .holds = [](const Packet& p) { return is_port_qpn(p.bth[Bth::dest_qp]); },
     .points_at = Bth::dest_qp,
     .expected = "a queue pair that is not 0, 1 or 0xffffff"},
    {.id = "RULE-RFC4391-9.1.1-01-arp",
     .checks = {&rfc4391::link_address_format},
     .title = "the sender hardware address of ARP is flags, QPN and GID",
     .needs = parts(Part::ipoib, Part::arp_addresses),
     .evidence = Evidence::one_frame,
     .holds = [](const Packet& p) { return is_port_qpn(p.arp_addresses[ArpAddresses::sha_qpn]); },
     .points_at = ArpAddresses::sha_qpn,
     .expected = "the QPN of a UD queue pair"},
    {.id = "RULE-RFC4391-9.1.1-02-arp",
     .checks = {&rfc4391::link_address_flags_tx, &rfc4755::cm_flags_reserved_tx},
     .title = "reserved flags of the sender's link-layer address in ARP are 0",
     .needs = parts(Part::ipoib, Part::arp_addresses),
     .evidence = Evidence::one_frame,
     .holds = [](const Packet& p) { return (p.arp_addresses[ArpAddresses::sha_flags] & ~rfc4755_flags & 0xff) == 0; },
     .notes = [](const Packet& p) { return p.arp_addresses[ArpAddresses::sha_flags] != 0; },
     .note = "addresses with the connected-mode flags of RFC 4755",
     .points_at = ArpAddresses::sha_flags,
     .expected = "0 but for 0x80 and 0x40 of RFC 4755"},
    {.id = "RULE-RFC4391-9.1.1-02-nd",
     .checks = {&rfc4391::link_address_flags_tx, &rfc4755::cm_flags_reserved_tx},
     .title = "reserved flags of a link-layer address in Neighbour Discovery are 0",
     .needs = parts(Part::ipoib, Part::nd),
     .evidence = Evidence::one_frame,
     .applies = any_option<is_aligned>,
     .holds = no_wrong_option<is_aligned, has_right_flags>,
     .notes =
         [](const Packet& p) {
             const auto has_flags = [](auto option) { return option && option[LinkAddressOption::flags] != 0; };
             return has_flags(p.source_option) || has_flags(p.target_option);
         },
     .note = "addresses with the connected-mode flags of RFC 4755",
     .points_at = LinkAddressOption::flags,
     .expected = "0 but for 0x80 and 0x40 of RFC 4755",
     .at = at_wrong_option<is_aligned, has_right_flags>},
    {.id = "RULE-RFC4391-9.1.1-06",
     .checks = {&rfc4391::qpn_choice},
     .title = "an interface may choose the queue pair of its IP and ARP traffic",
     .needs = over_ib | parts(Part::deth, Part::arp_addresses),
     .evidence = Evidence::one_frame,
     .notes = [](const Packet& p) { return p.deth[Deth::src_qp] != p.arp_addresses[ArpAddresses::sha_qpn]; },
     .note = "packets sent from another queue pair than the one that they announce",
     .points_at = ArpAddresses::sha_qpn},
    {.id = "RULE-RFC4391-9.1.1-07-arp",
     .checks = {&rfc4391::link_address_gid},
     .title = "the GID of the sender's link-layer address in ARP can be a port's",
     .needs = parts(Part::ipoib, Part::arp_addresses),
     .evidence = Evidence::one_frame,
     .holds = [](const Packet& p) { return is_port_gid(p.arp_addresses[ArpAddresses::sha_gid]); },
     .points_at = ArpAddresses::sha_gid,
     .expected = "a unicast GID"},
    {.id = "RULE-RFC4391-9.1.1-08-arp",
     .checks = {&rfc4391::link_address_port_gid},
     .title = "the GID in ARP is the one that the sender's port uses",
     .needs = over_ib | parts(Part::grh, Part::arp_addresses),
     .evidence = Evidence::one_frame,
     .applies = [](const Packet& p) { return is_port_gid(p.arp_addresses[ArpAddresses::sha_gid]); },
     .holds = [](const Packet& p) { return is_same_port(p.arp_addresses[ArpAddresses::sha_gid], p.grh[Grh::sgid]); },
     .points_at = ArpAddresses::sha_gid,
     .expected_of = sgid_text},
    {.id = "RULE-RFC4391-9.1.1-08-nd",
     .checks = {&rfc4391::link_address_port_gid},
     .title = "the GID in Neighbour Discovery is the one that the sender's port uses",
     .needs = over_ib | parts(Part::grh, Part::nd),
     .evidence = Evidence::one_frame,
     .applies = tells_own_gid,
     .holds = [](const Packet& p) { return is_same_port(own_option(p)[LinkAddressOption::gid], p.grh[Grh::sgid]); },
     .points_at = LinkAddressOption::gid,
     .expected_of = sgid_text,
     .at = [](const Packet& p) { return own_option(p).data(); }},
    {.id = "RULE-RFC4391-9.1.2-03",
     .checks = {&rfc4391::qkey_of_broadcast_group, &rfc4391::adopts_broadcast_parameters},
     .title = "all IPoIB packets have the broadcast group's Q_Key",
     .needs = over_ib | parts(Part::deth),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::q_key),
     .over = since_told_q_key,
     // A queue pair may have moved to another partition, whose group says another Q_Key.
     .applies =
         [](const Packet& p, const Known& known) {
             return !known.link || is_same_partition(p.bth[Bth::p_key], known.link->p_key);
         },
     .holds =
         [](const Packet& p, const Known& known) {
             return p.deth[Deth::q_key] == known.broadcast->q_key || has_q_key_of_its_group(p, known);
         },
     .notes = [](const Packet&,
                 const Known& known) { return known.broadcast->q_key == state::usual_broadcast_group.q_key; },
     .note = usual_default,
     .points_at = Deth::q_key,
     .expected_of = of_group<&GroupParameters::q_key, 8>},
    {.id = "RULE-RFC4391-9.2-01",
     .checks = {&rfc4391::arp_hardware_type},
     .title = "the hardware type of ARP is 32",
     .needs = parts(Part::ipoib, Part::arp),
     .evidence = Evidence::one_frame,
     .holds = [](const Packet& p) { return p.arp[Arp::hardware] == Arp::infiniband; },
     .points_at = Arp::hardware,
     .expected = "32 (InfiniBand)"},
    {.id = "RULE-RFC4391-9.2-02-protocol",
     .checks = {&rfc4391::arp_fields},
     .title = "ARP is for IPv4 addresses of 4 octets",
     .needs = parts(Part::ipoib, Part::arp),
     .evidence = Evidence::one_frame,
     // RFC 826: ARP is for other protocols, too, each by its EtherType.
     .applies = [](const Packet& p) { return !wire::detail::is_of_another_protocol(EtherType{p.arp[Arp::protocol]}); },
     .holds = [](const Packet& p) { return p.arp[Arp::protocol] == 0x0800 && p.arp[Arp::protocol_length] == 4; },
     .points_at = Arp::protocol,
     .expected = "protocol 0x0800, length 4",
     .actual_of =
         [](const Packet& p, const Known&) {
             return "protocol " + hex(p.arp[Arp::protocol], 4) + ", length " +
                    std::to_string(p.arp[Arp::protocol_length]);
         }},
    {.id = "RULE-RFC4391-9.2-02-operation",
     .checks = {&rfc4391::arp_fields},
     .title = "the operation of ARP is a request or a reply",
     .needs = parts(Part::ipoib, Part::arp),
     .evidence = Evidence::one_frame,
     .holds = [](const Packet& p) { return is_operation(p.arp[Arp::operation]); },
     .points_at = Arp::operation,
     .expected = "an assigned operation (1 to 25)"},
    {.id = "RULE-RFC4391-9.2-03",
     .checks = {&rfc4391::arp_hardware_address},
     .title = "ARP holds both 20-octet hardware addresses whole",
     .needs = parts(Part::ipoib, Part::arp),
     .evidence = Evidence::one_frame,
     .applies =
         [](const Packet& p) {
             return p.arp[Arp::hardware_length] == LinkAddress::size && p.arp[Arp::protocol_length] == 4;
         },
     .holds =
         [](const Packet& p) {
             const auto before = static_cast<std::size_t>(p.arp.data() - p.payload.data());
             return before + Arp::size + ArpAddresses::size <= p.payload_length;
         },
     .points_at = Arp::hardware_length,
     .expected = "48 octets of addresses",
     .actual_of = [](const Packet& p, const Known&) { return std::to_string(p.payload_length) + " octets in all"; }},
    {.id = "RULE-RFC4391-9.2-04",
     .checks = {&rfc4391::arp_hardware_length},
     .title = "the hardware address length of ARP is 20",
     .needs = parts(Part::ipoib, Part::arp),
     .evidence = Evidence::one_frame,
     .holds = [](const Packet& p) { return p.arp[Arp::hardware_length] == LinkAddress::size; },
     .points_at = Arp::hardware_length,
     .expected = "20",
     .actual_of = hardware_text},
    {.id = "RULE-RFC4391-9.3-01",
     .checks = {&rfc4391::nd_option_used},
     .title = "a solicitation that is sent to a group carries the link-layer address",
     .needs = parts(Part::ipoib, Part::nd),
     .evidence = Evidence::one_frame,
     .applies = must_have_option,
     .holds = has_option_or_is_cut,
     .points_at = Icmpv6::type,
     .expected = "a Source Link-layer Address option",
     .actual_of = [](const Packet&, const Known&) { return std::string("none"); }},
    {.id = "RULE-RFC4391-9.3-01-unannounced",
     .checks = {&rfc4391::nd_option_used},
     .title = "a solicitation that is sent to a group, by an address that nobody has announced, carries the link-layer "
              "address",
     .needs = parts(Part::ipoib, Part::nd),
     .evidence = Evidence::nothing_between,
     .over = since_test,
     .applies = [](const Packet& p, const Known& known) { return asks_in_group(p) && !must_have_option(p, known); },
     .fades = [](const Packet&, const Known& known) { return known.speaker && known.speaker->tested; },
     .holds = [](const Packet& p, const Known& known) { return has_option_or_is_cut(p) || may_be_in_test(known); },
     .points_at = Icmpv6::type,
     .expected = "a Source Link-layer Address option",
     .actual_of = [](const Packet&, const Known&) { return std::string("none"); }},
    {.id = "RULE-RFC4391-9.3-02",
     .checks = {&rfc4391::nd_option_type},
     .title = "the option's type is 1 for the source and 2 for the target",
     .needs = parts(Part::ipoib, Part::nd),
     .evidence = Evidence::one_frame,
     .applies = has_option,
     .holds = no_wrong_option<always, has_right_type>,
     .points_at = LinkAddressOption::type,
     .expected_of =
         [](const Packet& p, const Known&) {
             return std::string(takes_source_option(nd_type(p)) ? "1 (source)" : "2 (target)");
         },
     .at = at_wrong_option<always, has_right_type>},
    {.id = "RULE-RFC4391-9.3-03",
     .checks = {&rfc4391::nd_option_length},
     .title = "the option's length is 3",
     .needs = parts(Part::ipoib, Part::nd),
     .evidence = Evidence::one_frame,
     .applies = [](const Packet& p) { return has_option(p) || p.has(Part::nd_wrong); },
     .holds = [](const Packet& p) { return !p.has(Part::nd_wrong); },
     .points_at = LinkAddressOption::length,
     .expected = "3",
     .actual_of = [](const Packet& p, const Known&) { return std::to_string(p.wrong_option[1]); },
     .at = [](const Packet& p) { return p.wrong_option.data(); }},
    {.id = "RULE-RFC4391-9.3-04",
     .checks = {&rfc4391::nd_option_address},
     .title = "the option holds flags, QPN and GID",
     .needs = parts(Part::ipoib, Part::nd),
     .evidence = Evidence::one_frame,
     .applies = any_option<is_padded>,
     .holds = no_wrong_option<is_padded, has_address>,
     .points_at = LinkAddressOption::qpn,
     .expected = "the QPN of a UD queue pair and a unicast GID",
     .actual_of =
         [](const Packet& p, const Known&) {
             const auto option = wrong_option<is_padded, has_address>(p);
             return "QPN " + hex(option[LinkAddressOption::qpn], 6) + ", GID " + text(option[LinkAddressOption::gid]);
         },
     .at = at_wrong_option<is_padded, has_address>},
    {.id = "RULE-RFC4391-9.3-05",
     .checks = {&rfc4391::nd_option_padding},
     .title = "two zero octets stand before the option's address",
     .needs = parts(Part::ipoib, Part::nd),
     .evidence = Evidence::one_frame,
     .applies = has_option,
     .holds = no_wrong_option<always, is_padded>,
     .points_at = LinkAddressOption::padding,
     .expected = "00 00, then the address",
     .actual_of = [](const Packet& p, const Known&) { return hex_octets(wrong_option<always, is_padded>(p).octets()); },
     .at = at_wrong_option<always, is_padded>},
};
static_assert(are_declared(rules_of_rfc4391_09));

}  // namespace

std::span<const Rule> rfc4391_09() { return rules_of_rfc4391_09; }

}  // namespace ipoib::rules
