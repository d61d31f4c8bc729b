// SPDX-License-Identifier: GPL-2.0-or-later
// Every decision that RFC 4391 prescribes to an end node, in the order of its sections; RFC 4392, 4755
// and 4390 where used.
#pragma once

#include "protocol/wire/cm.hpp"
#include "protocol/wire/dhcp.hpp"
#include "stack/answers.hpp"
#include "stack/family.hpp"

namespace ipoib::stack {

/// Where a packet goes whose group does not exist.
enum class Fallback : std::uint8_t { drop, all_router, broadcast };

/// What becomes of unicast to a peer that rejected the connection, or never answered.
enum class Unconnected : std::uint8_t {
    datagrams,  ///< it goes to the peer's UD queue pair, and a connection is tried again later
    silence,    ///< nothing is sent to that peer any more
};

/// What a connection does once as many messages as it holds wait for their acknowledgement.
enum class FullRing : std::uint8_t {
    waits,          ///< loses what does not fit until there is room
    stays_full,     ///< takes nothing any more, though there is room again
    ends_the_peer,  ///< takes nothing any more, and no other connection is made
};

/// Which open question of its kind, and family, an answer of the SA is taken for.
enum class AnswerOf : std::uint8_t { its_question, oldest_question, newest_question };

/// What an interface that was taken down does still.
enum class WhenDown : std::uint8_t {
    silent,    ///< nothing
    answers,   ///< takes packets, and answers them
    finishes,  ///< sends what has waited for the path to its neighbour
};

/// When groups are joined while one whose join was refused waits for its next try.
enum class BesideRefused : std::uint8_t { at_once, with_its_next_try, never };

/// What a DHCP client sends a message for.
enum class DhcpPurpose : std::uint8_t { address, renewal, rebinding, release };

/// Why a link begins.
enum class Beginning : std::uint8_t {
    first,      ///< the first one since the interface was made
    interface,  ///< the interface was taken up again
    port,       ///< the port, or its P_Key, was gone
    renewal,    ///< the subnet manager asked for it, or is another one; or the SA had not let the port in
};

/// One member for each decision; the default is the RFC's answer. A wrong stack differs in one member. The ids are
/// those of protocol/requirements.
struct Policy {
    // 4. Multicast mapping.

    /// The four flags of a group's MGID, T the lowest. RFC4391-4-02.
    std::uint8_t (*mgid_flags)(const wire::IpAddress& group) = [](const auto&) { return std::uint8_t{1}; };
    /// The signature of IPv4 groups. RFC4391-4-03.
    std::uint16_t ipv4_signature = wire::ipv4_signature;
    /// The signature of IPv6 groups. RFC4391-4-04.
    std::uint16_t ipv6_signature = wire::ipv6_signature;
    /// The P_Key in a group's MGID. RFC4391-4-05.
    std::uint16_t (*mgid_p_key)(const Link&) = [](const Link& link) -> std::uint16_t {
        return link.p_key | wire::full_membership;
    };
    /// How an IPv6 group becomes a group ID. RFC4391-4-06.
    GroupId (*ipv6_group_id)(const wire::Gid& group) = answers::ipv6_group_id;
    /// How an IPv4 group becomes a group ID. RFC4391-4-07, RFC4391-4-08.
    GroupId (*ipv4_group_id)(std::uint32_t group) = answers::ipv4_group_id;
    /// The group that 255.255.255.255 goes to. RFC4391-4-09.
    wire::Gid (*limited_broadcast)(const Link&) = [](const Link& link) { return link.broadcast_gid(); };
    /// The MGID of the broadcast group of a partition. RFC4391-4-10.
    wire::Gid (*broadcast_gid)(std::uint16_t p_key, unsigned scope) = wire::broadcast_gid;
    /// The scope of a group's MGID. RFC4391-4-11.
    std::uint8_t (*mgid_scope)(const Link&, const wire::IpAddress& group) = [](const Link& link, const auto&) {
        return link.scope;
    };

    // 5. Setting up a link.

    /// The scopes in which the broadcast group is searched for, in this order. RFC4391-4.1-07, RFC4391-4.1-08.
    std::array<std::uint8_t, 4> search_scopes{2, 5, 8, 14};
    /// The scope whose broadcast group is joined, given that of the group found. RFC4391-4-11.
    std::uint8_t (*joined_scope)(std::uint8_t found) = [](std::uint8_t found) { return found; };
    /// The P_Key of an interface, by what it was configured with and the first of the port's table. RFC4391-9.1.2-04.
    std::uint16_t (*interface_p_key)(std::uint16_t configured, std::uint16_t first) =
        [](std::uint16_t configured, std::uint16_t) { return configured; };
    /// Whether an interface without a broadcast group stays down. RFC4391-5-01.
    bool needs_broadcast_group = true;
    /// False: the SA is asked for the parameters only. RFC4391-5-02.
    bool joins_broadcast_group = true;
    /// RFC4391-5-02.
    std::uint8_t broadcast_join_state = wire::join_state::full_member;
    /// Whether an interface whose join was refused stays down. RFC4392-4-02.
    bool needs_join = true;
    /// Whether a port can take part in a link, by the MTU codes of both. RFC4391-7-01.
    bool (*supports_link_mtu)(std::uint8_t group, std::uint8_t port) = [](std::uint8_t group, std::uint8_t port) {
        return group <= port;
    };
    /// Whether a link that could not be set up is tried again. RFC4391-5-02.
    bool retries_setup = true;
    /// What the interface takes over from the answer to its join. RFC4391-5-03; the Q_Key RFC4391-9.1.2-03, the MTU
    /// RFC4391-7-01, the SL RFC4391-4.1-05, the others RFC4391-4.1-09.
    std::uint32_t (*adopted_q_key)(const Group&) = [](const Group& group) { return group.q_key; };
    std::uint8_t (*adopted_mtu)(const Group&) = [](const Group& group) { return group.mtu; };
    std::uint8_t (*adopted_sl)(const Group&) = [](const Group& group) { return group.sl; };
    std::uint8_t (*adopted_traffic_class)(const Group&) = [](const Group& group) { return group.traffic_class; };
    std::uint32_t (*adopted_flow_label)(const Group&) = [](const Group& group) { return group.flow_label; };
    std::uint8_t (*adopted_hop_limit)(const Group&) = [](const Group& group) { return group.hop_limit; };
    /// Whether a later join's answer counts as the first one did. RFC4391-5-03.
    bool adopts_anew = true;
    /// Whether the MTU of a later join's answer does. RFC4391-5-03, RFC4391-7-01.
    bool adopts_mtu_anew = true;
    /// That MTU, by the one before. RFC4391-7-02.
    std::size_t (*mtu_anew)(std::size_t before, std::size_t now) = [](std::size_t, std::size_t now) { return now; };
    /// Whether a link that was lost with its port, or with its P_Key, begins again with that. RFC4391-5-02.
    bool returns_with_port = true;
    bool returns_with_p_key = true;
    /// Whether the broadcast group carries a network's directed broadcasts. RFC4391-5-04.
    bool (*is_directed_broadcast)(const wire::IpAddress&, const wire::IpNetwork&) = answers::is_directed_broadcast;
    /// Whether the queue pair of a link goes on with its P_Key when that stands elsewhere in the port's table; else it
    /// has what stands there now. RFC4392-4-01.
    bool follows_p_key = true;
    /// Whether an interface of the first P_Key of the table goes to the link of another one that stands there now.
    /// RFC4391-5-02.
    bool heeds_first_p_key = true;
    /// What it does once it was taken down, and has left its groups. RFC4392-4.2.5-02.
    WhenDown when_down = WhenDown::silent;
    /// Whether everything is joined again when the SM asks for it or has changed. RFC4391-5-02, RFC4392-4.2.5-02.
    bool rejoins = true;
    /// Whether the interface is taken down and up for that, which gives it another queue pair.
    bool restarts_to_rejoin = false;
    /// Whether questions go to the manager that the port was told last; else to the first one. RFC4391-5-02.
    bool follows_manager = true;
    /// Whether packets have the LID that the port has now; else the one that it had first. RFC4391-2-01.
    bool follows_lid = true;
    /// Whether the interfaces beside the first one hear of that. RFC4391-5-02.
    bool tells_all_of_renewal = true;
    /// Whether the subscriptions are renewed then. RFC4391-10-12.
    bool resubscribes = true;

    // 6. Frame format.

    /// RFC4391-6-02.
    std::uint16_t encap_reserved = 0;
    /// Whether a packet with this Reserved field is taken. RFC4391-6-03.
    bool (*accepts_encap_reserved)(std::uint16_t) = [](std::uint16_t) { return true; };
    /// The Type of a packet of this protocol. RFC4391-6-04.
    wire::EtherType (*encap_type)(wire::EtherType protocol) = [](wire::EtherType protocol) { return protocol; };
    /// The protocol that a packet is given to, by its Type and what stands behind it. RFC4391-6-05.
    wire::EtherType (*demultiplexed)(wire::EtherType type, wire::Octets) = [](wire::EtherType type, wire::Octets) {
        return type;
    };
    /// Whether reception goes on after a Type that is not known. RFC4391-6-05, RFC4391-6-06.
    bool survives_unknown_type = true;
    /// Whether reception goes on after such a datagram, whatever it holds. RFC4391-6-05.
    bool (*survives)(const wire::Packet&) = [](const wire::Packet&) { return true; };
    /// Whether it goes on after a fragment that overlaps one before, in IPv4 or IPv6. RFC4391-6-05.
    bool (*survives_overlap)(bool is_v4) = [](bool) { return true; };
    /// RFC4391-6-07, UDMC-01.
    bool grh_on_multicast = true;
    /// Of a packet within the IB subnet. RFC4391-6-08.
    bool grh_on_unicast = false;
    /// Of a packet that leaves it. RFC4391-9.1-02.
    bool grh_across_subnets = true;
    /// Whether a packet is taken that is right in all else. RFC4391-2-01, RFC4391-6-09.
    bool (*accepts_packet)(const wire::Packet&) = [](const wire::Packet&) { return true; };
    /// Whether what came to a group is taken, by its GRH. RFC4391-6-09.
    bool (*takes_from_group)(wire::View<wire::Grh>, const Link&) = [](wire::View<wire::Grh>, const Link&) {
        return true;
    };
    /// Least time between two answers to echo requests; what comes earlier gets none. RFC 1122, 3.2.2; RFC 4443, 2.4.
    fabric::Duration between_echo_replies{};
    /// Whether a packet with or without a GRH is taken; `is_resolution`: ARP or Neighbour Discovery. RFC4391-6-09.
    bool (*accepts_grh)(bool has_grh, bool is_multicast, bool is_resolution) = [](bool, bool, bool) { return true; };
    /// Whether ARP with this Reserved field is taken. RFC4391-6-03.
    bool (*accepts_arp_reserved)(std::uint16_t) = [](std::uint16_t) { return true; };

    // UD multicast, as RFC 4392, 4.2 has it.

    /// BTH.DestQP. UDMC-02.
    std::uint32_t multicast_dest_qp = wire::Bth::multicast_qp;
    /// LRH.DLID. RFC4391-10-03, UDMC-04.
    std::uint16_t (*multicast_dlid)(const Link&, const Group&) = [](const Link&, const Group& group) {
        return group.mlid;
    };
    /// LRH.SL. RFC4391-4.1-05.
    std::uint8_t (*multicast_sl)(const Link&, const Group&) = [](const Link&, const Group& group) { return group.sl; };
    /// GRH.TClass, FlowLabel and HopLimit. RFC4391-4.1-09.
    std::uint8_t (*multicast_traffic_class)(const Link&, const Group&) = [](const Link&, const Group& group) {
        return group.traffic_class;
    };
    std::uint32_t (*multicast_flow_label)(const Link&, const Group&) = [](const Link&, const Group& group) {
        return group.flow_label;
    };
    std::uint8_t (*multicast_hop_limit)(const Link&, const Group&) = [](const Link&, const Group& group) {
        return group.hop_limit;
    };

    // 7. Maximum transmission unit.

    /// The IP MTU of a link with so many octets of payload. RFC4391-7-01, RFC4391-7-02, RFC4391-7-04.
    std::size_t (*ip_mtu)(std::size_t link_mtu) = [](std::size_t link_mtu) { return link_mtu - wire::Encap::size; };
    /// The longest IP packet that is sent in one piece. RFC4391-7-05.
    std::size_t (*longest_sent)(std::size_t mtu) = [](std::size_t mtu) { return mtu; };
    /// Whether IP fragments what a program sends that is longer than that; else the program is refused. RFC4391-7-05.
    bool fragments_for_programs = true;
    /// Whether a received datagram of this length is taken. RFC4391-7-02.
    bool (*accepts_length)(std::size_t datagram) = [](std::size_t) { return true; };
    /// Whether an interface can be set to an MTU, by what the link has. RFC4391-7-05.
    bool (*can_have_mtu)(std::size_t wanted, std::size_t of_link) = [](std::size_t wanted, std::size_t of_link) {
        return wanted <= of_link;
    };
    /// Whether an MTU that was lowered stays when the link begins anew. RFC4391-7-02.
    bool keeps_lowered_mtu = true;
    /// Whether an MTU that was lowered can be raised again. RFC4391-7-02.
    bool raises_mtu = true;

    // 8. IPv6 stateless autoconfiguration.

    /// What the u bit of the GUID tells. RFC4391-8-04.
    bool (*is_modified_eui64)(std::uint64_t guid) = answers::is_modified_eui64;
    /// RFC4391-8-03, RFC4391-8-05, RFC4391-8-06.
    std::uint64_t (*interface_id)(std::uint64_t guid, bool is_modified) = answers::interface_id;
    /// RFC4391-8.1-01.
    wire::Gid (*link_local)(std::uint64_t id) = [](std::uint64_t id) {
        return wire::Gid::of(std::uint64_t{0xfe80} << 48, id);
    };

    // 9.1.1. The link-layer address.

    /// The flags octet without connected modes. RFC4391-9.1.1-02, RFC4755-3.1-06.
    std::uint8_t datagram_flags = 0;
    /// Whether a peer with these flags is talked to. RFC4391-9.1.1-03, RFC4755-3.1-03, RFC4755-3.1-05.
    bool (*accepts_flags)(std::uint8_t) = [](std::uint8_t) { return true; };
    /// What is kept of a peer's flags, to be compared and given back. RFC4391-9.1.1-03, RFC4755-3.1-05.
    std::uint8_t (*kept_flags)(std::uint8_t heard, bool is_connected_mode) = [](std::uint8_t heard, bool is_connected) {
        return static_cast<std::uint8_t>(is_connected ? heard & (wire::flag_rc | wire::flag_uc) : 0);
    };
    /// The QPN in the own link-layer address. RFC4391-9.1.1-01, RFC4391-9.1.1-04.
    std::uint32_t (*own_qpn)(std::uint32_t ud_qpn) = [](std::uint32_t ud_qpn) { return ud_qpn; };
    /// The GID in the own link-layer address. RFC4391-9.1.1-07, RFC4391-9.1.1-08.
    wire::Gid (*own_gid)(const wire::Gid& port_gid) = [](const wire::Gid& port_gid) { return port_gid; };
    /// Whether it follows the port's GID. RFC4391-9.1.1-07.
    bool renews_own_gid = true;
    /// The queue pair that IP for a peer goes to, by its address and the SrcQP heard. RFC4391-9.1.1-04.
    std::uint32_t (*peer_qpn)(const HardwareAddress&, std::uint32_t) = [](const HardwareAddress& peer, std::uint32_t) {
        return peer[wire::LinkAddress::qpn];
    };

    /// Whether IP for a peer goes to the queue pair that IP of it came from last. RFC4391-9.1.1-04.
    bool follows_source_qp = false;

    // 9.1.2. The rest of what unicast needs.

    /// Whether the SA tells LID, SL and rate; else the LID heard serves. RFC4391-9.1.2-01, -05, -06, RFC4391-9.1-06.
    bool asks_path = true;
    /// How it asks: for all paths from its port at once, by GetTable; else for the one that it needs, by Get.
    /// RFC4391-9.1.2-01.
    bool asks_for_path_table = false;
    /// Whether a path that was refused, or not answered for, is asked for again by later packets. RFC4391-9.1.2-01.
    bool asks_path_again = true;
    /// The peer whose path an answer tells. RFC4391-9.1.2-01.
    AnswerOf path_answer = AnswerOf::its_question;
    /// Whether what is sent to a peer whose path is unknown waits for it; `is_resolution`: ARP or Neighbour Discovery.
    /// RFC4391-9.1.2-01.
    bool (*waits_for_path)(bool is_resolution) = [](bool) { return true; };
    /// Whether paths are asked for anew after the subnet manager has asked for it. RFC4391-9.1.2-01.
    bool renews_paths = true;
    /// Whether they are asked for from the GID that the port has now; else from the one before. RFC4391-9.1.2-01.
    bool asks_path_from_new_gid = true;
    /// Whether paths that are known outlive the interface being taken down. RFC4391-9.1.2-01.
    bool keeps_paths = false;
    /// LRH.DLID of unicast, by what the path has. RFC4391-9.1.2-01, RFC4391-9.1-01.
    std::uint16_t (*unicast_dlid)(std::uint16_t path) = [](std::uint16_t path) { return path; };
    /// DETH.Q_Key of unicast and of multicast. RFC4391-9.1.2-03, RFC4392-4-01.
    std::uint32_t (*unicast_q_key)(const Link&) = [](const Link& link) { return link.q_key; };
    std::uint32_t (*multicast_q_key)(const Link&, const Group&) = [](const Link& link, const Group&) {
        return link.q_key;
    };
    /// What the queue pair accepts. RFC4391-9.1-04, RFC4391-3-01.
    std::uint32_t (*accepted_q_key)(const Link&) = [](const Link& link) { return link.q_key; };
    /// LRH.SL of unicast, by what the path has. RFC4391-9.1.2-05.
    std::uint8_t (*unicast_sl)(const Link&, std::uint8_t path) = [](const Link&, std::uint8_t path) { return path; };
    /// Whether TClass and FlowLabel of a unicast packet with a GRH are those of the path. RFC4391-4.1-09.
    bool uses_flow_of_path = true;
    /// HopLimit of a unicast packet that leaves the IB subnet, by that of the broadcast group and of the path.
    /// RFC4391-4.1-09.
    std::uint8_t (*unicast_hop_limit)(const Link&, std::uint8_t path) = [](const Link&, std::uint8_t path) {
        return path;
    };
    /// BTH.P_Key of unicast, as the port's own table has it. RFC4392-4-01.
    std::uint16_t (*unicast_p_key)(const Link&) = [](const Link& link) { return link.p_key; };

    // 9.2. Address resolution in IPv4.

    /// RFC4391-9.2-01, RFC4391-14-01.
    std::uint16_t arp_hardware = wire::Arp::infiniband;
    /// RFC4391-9.2-02.
    std::uint16_t arp_protocol = 0x0800;
    std::uint8_t arp_protocol_length = 4;
    /// Octets of each hardware address that are sent. RFC4391-9.2-03, RFC4391-9.2-04.
    std::uint8_t arp_address_size = wire::LinkAddress::size;
    /// What the packet says of them. RFC4391-9.2-04.
    std::uint8_t (*arp_hardware_length)(std::uint8_t size) = [](std::uint8_t size) { return size; };
    /// The group that requests go to. RFC4391-5-04, RFC4391-9-01.
    wire::Gid (*arp_request_group)(const Link&) = [](const Link& link) { return link.broadcast_gid(); };
    /// Whether an address of this node is answered for. RFC4391-9-01.
    bool answers_arp = true;
    /// Whether an address is answered for, by whether it is an own one; in IPv6 too. RFC4391-9-01, RFC4391-9-02.
    bool (*answers_for)(bool is_own) = [](bool is_own) { return is_own; };
    /// Whether an address that was taken away is answered for; in IPv6 too. RFC4391-9-01, RFC4391-9-02.
    bool answers_for_former = false;
    /// Whether who is not known is asked from an address of the same network that was taken away; in IPv6 too.
    /// RFC4391-9-01, RFC4391-9-02.
    bool asks_from_former = false;
    /// Whether a known neighbour is asked from the address that it was first asked from; in IPv6 too. RFC4391-9-01,
    /// RFC4391-9-02.
    bool asks_again_as_before = false;
    /// Whether an answer that all heard is heeded as one to this node alone; in IPv6 too. RFC4391-9.1.1-04.
    bool heeds_answers_to_all = true;
    /// Whether who did not answer is asked for again; in IPv6 too. RFC4391-9-01, RFC4391-9-02.
    bool asks_silent_again = true;
    /// False: replies go to the broadcast group. RFC4391-9.1.1-05.
    bool arp_reply_is_unicast = true;
    /// The queue pair that a reply goes to, by the requester's address and its SrcQP. RFC4391-9.1.1-05.
    std::uint32_t (*arp_reply_qpn)(const HardwareAddress&, std::uint32_t) =
        [](const HardwareAddress& requester, std::uint32_t) { return requester[wire::LinkAddress::qpn]; };

    // 9.3. Address resolution in IPv6.

    /// Whether a solicitation is answered. RFC4391-9-02.
    bool answers_solicitations = true;
    /// What is sent with; 255 is what the others take. RFC4391-9-02.
    std::uint8_t solicited_hop_limit = 255, advertised_hop_limit = 255;
    /// Whether only what has that Hop Limit is taken. RFC4391-9-02.
    bool demands_link_local_discovery = true;
    /// Whether an answer has the Solicited flag. RFC4391-9-02.
    bool says_solicited = true;
    /// Whether who asks without an address is answered. RFC4391-9-02.
    bool defends_address = true;
    /// Whether options that are not known are passed over. RFC4391-9-02.
    bool ignores_unknown_options = true;
    /// Whether solicitations and advertisements carry the option, by whether it is the answer to a unicast
    /// solicitation: that one may do without (RFC 4861, 7.2.4). RFC4391-9.3-01.
    bool (*sends_nd_option)(bool answers_unicast) = [](bool) { return true; };
    /// RFC4391-9.3-02.
    std::uint8_t nd_source = wire::LinkAddressOption::source, nd_target = wire::LinkAddressOption::target;
    /// The octets of an option. RFC4391-9.3-03, RFC4391-9.3-04, RFC4391-9.3-05.
    std::vector<std::uint8_t> (*nd_option)(std::uint8_t type, const HardwareAddress&) = answers::nd_option;
    /// The IP group that a solicitation for an address goes to. RFC4391-9-02.
    wire::Gid (*solicitation_group)(const wire::Gid& target) = wire::solicited_node_group;

    // 9.4. QPN caching.

    /// Whether a neighbour that was not heard of for a while is asked again. RFC4391-9.4-02.
    bool revalidates = true;
    /// Whether one that does not answer then is forgotten. RFC4391-9.4-02.
    bool forgets_silent = true;
    /// Whether what a known neighbour tells of itself later replaces what is known. RFC4391-9.1.1-04.
    bool (*replaces_neighbour)(const wire::IpAddress&, const HardwareAddress& known, const HardwareAddress& told) =
        [](const wire::IpAddress&, const HardwareAddress&, const HardwareAddress&) { return true; };
    /// Whether addresses at one GID have a QPN each. RFC4391-9.1.1-04.
    bool keeps_neighbours_apart = true;
    /// What people are told of a neighbour's link-layer address. RFC4391-9.1.1-01.
    HardwareAddress (*told_address)(const HardwareAddress&) = [](const HardwareAddress& address) { return address; };
    /// Whether it is the one that the neighbour told last; else the first. RFC4391-9.1.1-01.
    bool tells_newest_address = true;

    // 10. Sending to IP multicast groups.

    /// Whether a group's record is asked for before the first packet. RFC4391-10-02.
    bool checks_group = true;
    /// Whether a sender joins before it sends. RFC4391-10-08.
    bool joins_to_send = true;
    /// Whether a group that was left is joined anew before more is sent to it. RFC4391-10-08.
    bool forgets_left_groups = true;
    /// How. RFC4391-10-09.
    std::uint8_t send_join_state = wire::join_state::send_only_non_member;
    /// The JoinState with which a sender creates a missing group; zero: never. RFC4391-10-04, RFC4391-10-07.
    std::uint8_t send_creates_with = 0;
    /// Whether the packets of a missing group may leave the link. RFC4391-10-04, RFC4391-10-07.
    bool (*is_redirected)(const wire::IpAddress& group) = answers::is_beyond_link_local;
    /// Where they go while the all-router group exists. RFC4391-10-04, RFC4391-10-05.
    Fallback with_all_router = Fallback::all_router;
    /// And where while it does not. RFC4391-10-06.
    Fallback without_all_router = Fallback::drop;
    /// Whether the SA is spared what it has answered. RFC4391-10-11.
    bool caches_groups = true;
    /// Whether it is asked again, after a moment, where it has refused or did not answer. RFC4391-10-02.
    bool asks_group_again = true;
    /// The same where it has refused.
    bool asks_refused_group_again = true;
    /// Whether a group that more is sent to than can wait for the SA's answer is sent to afterwards. RFC4391-10-08.
    bool survives_burst = true;
    /// Whether reports of this trap, 66 or 67, are subscribed to. RFC4391-10-12, RFC4391-11-04.
    bool (*subscribes)(std::uint16_t trap_number) = [](std::uint16_t) { return true; };
    /// Whether the interfaces beside the first one hear of reports. RFC4391-10-13.
    bool tells_all_of_reports = true;
    /// Whether a redirected group's packets go to the group once it is there. RFC4391-10-13.
    bool heeds_creation = true;
    /// The same of the first one alone.
    bool heeds_one_creation = false;
    /// Whether the MLID of a deleted group is forgotten. RFC4392-1.3.2.3-02, RFC4392-4.2.5-03.
    bool heeds_deletion = true;
    /// Whether it stays on the link though a report says that the broadcast group is deleted. RFC4392-4.2.5-02.
    bool outlives_broadcast_report = true;
    /// Whether the groups that are only sent to are forgotten when the SA has forgotten them. RFC4392-4.2.5-02.
    bool forgets_sent_groups = true;
    /// Whether a group that nothing was sent to for a while is left. RFC4392-4.2.5-01.
    bool leaves_idle_groups = true;

    // 10. Receiving from IP multicast groups.

    /// Whether IP's groups are joined at the SA. RFC4391-10-15, RFC4392-1.2-03.
    bool joins_ip_groups = true;
    /// Whether the SA is asked before whether the group exists. RFC4391-10-15.
    bool asks_before_joining = false;
    /// How. RFC4391-10-15.
    std::uint8_t member_join_state = wire::join_state::full_member;
    /// What a group that does not exist yet is created with. RFC4391-10-16 for the MTU, RFC4391-10-17 for P_Key, Q_Key,
    /// SL, MTU and HopLimit, RFC4391-10-18 for the others.
    std::uint16_t (*created_p_key)(const Link&) = [](const Link& link) -> std::uint16_t {
        return link.p_key | wire::full_membership;
    };
    std::uint32_t (*created_q_key)(const Link&) = [](const Link& link) { return link.q_key; };
    std::uint8_t (*created_sl)(const Link&) = [](const Link& link) { return link.sl; };
    std::uint8_t (*created_mtu)(const Link&) = [](const Link& link) { return link.mtu; };
    std::uint8_t (*created_hop_limit)(const Link&) = [](const Link& link) { return link.hop_limit; };
    std::uint8_t (*created_traffic_class)(const Link&) = [](const Link& link) { return link.traffic_class; };
    std::uint32_t (*created_flow_label)(const Link&) = [](const Link& link) { return link.flow_label; };
    std::uint8_t (*created_rate)(const Link&) = [](const Link& link) { return link.rate; };
    /// 0: the SA is left to choose.
    std::uint8_t (*created_lifetime)(const Link&) = [](const Link& link) { return link.lifetime; };
    /// RFC4392-1.3.1-01.
    std::uint8_t (*created_scope)(const Link&) = [](const Link& link) { return link.scope; };
    /// Whether a group that IP leaves is left at the SA. RFC4391-10-20, RFC4392-4.2.2-02.
    bool leaves_groups = true;
    /// Whether it stays while another IP group has the same MGID. UDMC-11.
    bool keeps_shared_groups = true;
    /// The group that the answer to a join tells of. RFC4391-10-03.
    AnswerOf join_answer = AnswerOf::its_question;
    /// Whether a group is left whose join is answered when nobody wants it any more. RFC4391-10-20.
    bool leaves_unwanted = true;
    /// Whether an interface that is taken down leaves the groups whose join is not answered yet. RFC4391-10-20.
    bool leaves_unanswered_when_down = true;
    /// Whether a group is held at the SA while another interface of the port is in it. RFC4391-10-15.
    bool heeds_other_interfaces = true;
    /// Whether a group is asked for while its leave is on its way; else it is taken for joined still. RFC4391-10-15.
    bool joins_behind_leave = true;
    /// Whether a leave that was not answered is sent again. RFC4391-10-20.
    bool repeats_leaves = true;
    /// Whether an interface that is taken down leaves the broadcast group. RFC4391-10-20.
    bool leaves_broadcast_group = true;
    /// The JoinState that is left. RFC4391-10-20.
    std::uint8_t leave_join_state = wire::join_state::full_member;
    /// Whether a group is joined when a link begins; of a program's, or IP's own. RFC4391-10-15.
    bool (*joins_on_link)(const wire::IpAddress& group, bool is_for_program,
                          Beginning) = [](const wire::IpAddress&, bool, Beginning) { return true; };
    /// Whether a group that is wanted still is asked for again where its join has failed. RFC4391-10-15.
    bool retries_joins = true;
    /// When other groups are asked for while the next try of one is waited for. RFC4391-10-15.
    BesideRefused joins_beside_refused = BesideRefused::at_once;
    /// After which pause, by what is usual. RFC4391-10-15.
    fabric::Duration (*pause_before_rejoin)(fabric::Duration usual) = [](fabric::Duration usual) { return usual; };
    /// Whether one that is wanted is created again when it was deleted. RFC4391-10-15.
    bool rejoins_deleted = true;
    /// Whether an interface that is taken down leaves its groups. RFC4391-10-20.
    bool leaves_when_down = true;
    /// Whether it leaves those that it has sent to. RFC4392-4.2.5-01.
    bool leaves_sent_groups_when_down = true;
    /// Whether a group is joined as FullMember by who is in it for sending only. RFC4391-10-15.
    bool (*joins_beside_sending)(const wire::IpAddress& group) = [](const wire::IpAddress&) { return true; };
    /// Whether the queue pair is attached to a joined group, by whether it was sent to before. RFC4391-2-01.
    bool (*attaches)(bool was_sender) = [](bool) { return true; };
    /// Whether a group of two programs is kept when one leaves it. UDMC-11.
    bool (*keeps_for_others)(const wire::IpAddress& group) = [](const wire::IpAddress&) { return true; };
    /// Whether what came with a wrong checksum is dropped. RFC4391-2-01.
    bool checks_checksums = true;
    /// Whether a datagram that came for a program is given to it. RFC4391-2-01.
    bool (*delivers)(const wire::IpAddress& to) = [](const wire::IpAddress&) { return true; };
    /// Whether what came to a group, and not to this host alone, is answered with an error of ICMP. RFC4391-2-02.
    bool answers_groups_with_errors = false;
    /// The source and the payload that the program is told. RFC4391-2-01.
    wire::IpAddress (*told_source)(const wire::IpAddress& from, const wire::IpAddress& to) =
        [](const wire::IpAddress& from, const wire::IpAddress&) { return from; };
    std::vector<std::uint8_t> (*told_payload)(wire::Octets) = [](wire::Octets payload) {
        return std::vector<std::uint8_t>{payload.begin(), payload.end()};
    };

    // 11. IP multicast routing.

    /// Whether a router asks for the groups that exist. RFC4391-11-01, RFC4391-11-02, RFC4391-11-03.
    bool router_lists_groups = true;
    /// How a router joins. RFC4391-11-03, RFC4392-4.2.3-01.
    std::uint8_t router_join_state = wire::join_state::non_member;
    /// Which groups. RFC4391-11-03.
    bool (*router_wants)(const wire::Gid& mgid, const Link&) = answers::is_group_of_link;
    /// Whether a router joins groups that are created later. RFC4391-11-04.
    bool router_heeds_creation = true;
    /// Whether it lists and joins the groups again when the link begins again. RFC4391-11-01.
    bool router_begins_anew = true;
    /// Whether a group that was deleted is joined when it is created again. RFC4391-11-04.
    bool router_forgets_deleted = true;

    // 12. Failures.

    /// Whether failed multicast operations are logged. RFC4391-12-02.
    bool logs_failures = true;
    /// Whether it logs those of a join for sending only. RFC4391-12-02.
    bool logs_failures_of_senders = true;
    /// Whether it logs that the SA does not answer. RFC4391-12-02.
    bool logs_silence = true;
    /// Whether a program whose join of a group failed is told. RFC4391-12-01.
    bool tells_failed_joins = true;
    /// Whether a program's join ends with the SA's answer; else it has succeeded before. RFC4391-12-01.
    bool join_awaits_answer = true;
    /// Whether it logs more than the first failure. RFC4391-12-02.
    bool logs_each_failure = true;

    // 13. Security.

    /// Whether programs without privileges are kept away from the setup. RFC4391-13-01.
    bool protects_setup = true;

    // RFC 4755: connected mode.

    /// The flags octet with connected modes. RFC4755-3.1-01, RFC4755-3.1-02.
    std::uint8_t connected_flags = wire::flag_rc;
    /// Whether a connection to a peer with these flags, as they are kept, is begun. RFC4755-3.1-05.
    bool (*begins_connection)(bool is_connected_mode, std::uint8_t flags) = [](bool is_connected, std::uint8_t flags) {
        return is_connected && (flags & wire::flag_rc) != 0;
    };
    /// Whether unicast IP over the UD queue pair is taken, with so many connections. RFC4755-2-01, RFC4755-7-01.
    bool (*accepts_datagrams)(bool is_connected_mode, std::size_t connections) = [](bool, std::size_t) { return true; };
    /// Whether IP of this length over a connection is taken; which side has requested it, and the own Receive MTU.
    /// RFC4755-5.1-02, RFC4755-5.1-03, RFC4755-7-01.
    bool (*accepts_over_connection)(bool is_requester, std::size_t datagram,
                                    std::size_t receive_mtu) = [](bool, std::size_t, std::size_t) { return true; };
    /// Whether unicast goes over a connection; which side has requested it. Each side's choice: RFC 4755, 7.
    bool (*sends_over_connection)(bool is_requester) = [](bool is_requester) { return is_requester; };
    /// The IP MTU of a connection, by both Receive MTUs. RFC4755-5.1-04.
    std::size_t (*connection_mtu)(std::size_t own, std::size_t of_peer) = answers::connection_mtu;
    /// Whether IP fragments what is longer than that; else it is lost. RFC4755-5.1-04.
    bool fragments_for_connection = true;
    /// RFC4755-2-01, where a connection does not come about.
    Unconnected (*without_connection)(bool was_rejected) = [](bool) { return Unconnected::datagrams; };
    /// RFC4755-2-01.
    FullRing full_ring = FullRing::waits;
    /// Whether the end of a connection is confirmed, and the connection forgotten then; which side has requested it.
    /// RFC4755-3.2-01.
    bool (*confirms_end)(bool is_requester) = [](bool) { return true; };
    bool (*forgets_ended)(bool is_requester) = [](bool) { return true; };
    /// Whether a connection is given up whose peer acknowledges nothing any more. RFC4755-3.2-01.
    bool gives_up_lost = true;
    /// The QPN that REQ and REP give for the connection. RFC4755-2.2-01.
    std::uint32_t (*connection_qpn)(std::uint32_t own, std::uint32_t ud_qpn) = [](std::uint32_t own, std::uint32_t) {
        return own;
    };
    /// Whether a connection outlives a further REQ of the same peer. RFC4755-3.2-01.
    bool keeps_connections = true;
    /// The QPN in the private data. RFC4755-3.2-02, RFC4755-6-01.
    std::uint32_t (*private_qpn)(std::uint32_t ud_qpn) = [](std::uint32_t ud_qpn) { return ud_qpn; };
    /// Whether a REJ carries private data. RFC4755-3.2-03.
    bool rej_has_qpn = true;
    /// Whether a REQ is accepted though an own one is on its way to the same peer. RFC4755-3.3-01.
    bool (*accepts_crossing)(const HardwareAddress& local, const HardwareAddress& remote) = answers::accepts_crossing;
    /// Whether connections end with their interface. RFC4755-3.4-01.
    bool disconnects = true;
    /// RFC4755-3.5-01.
    std::uint64_t (*service_id)(std::uint32_t ud_qpn) = answers::service_id;
    /// In octets. RFC4755-5.1-01.
    std::uint32_t (*receive_mtu)(std::size_t mtu) = [](std::size_t mtu) {
        return static_cast<std::uint32_t>(mtu + wire::Encap::size);
    };
    /// RFC4755-6-02.
    std::uint8_t private_reserved = 0;
    /// RFC4755-6-03.
    bool (*accepts_private_reserved)(std::uint8_t) = [](std::uint8_t) { return true; };

    // RFC 4390: DHCP.

    /// RFC4390-2.1-01, RFC4390-2.1-02.
    std::uint8_t dhcp_htype = wire::Dhcp::infiniband;
    std::uint8_t (*dhcp_hlen)(DhcpPurpose) = [](DhcpPurpose) { return std::uint8_t{0}; };
    /// RFC4390-2.1-03.
    wire::OctetArray<16> (*dhcp_chaddr)(const HardwareAddress&) = [](const HardwareAddress&) {
        return wire::OctetArray<16>{};
    };
    /// The client identifier; empty: the option is left out. RFC4390-2.1-04, RFC4390-2.1-05.
    std::vector<std::uint8_t> (*dhcp_client_identifier)(std::uint64_t port_guid) = answers::dhcp_client_identifier;
    /// Whether a message has it. RFC4390-2.1-04.
    bool (*dhcp_names_client)(DhcpPurpose) = [](DhcpPurpose) { return true; };
    /// What the IAID of the n-th message differs by from that of the first. RFC4390-2.1-05.
    std::uint32_t (*dhcp_iaid_of_its_own)(std::uint32_t message) = [](std::uint32_t) { return std::uint32_t{0}; };
    /// The BROADCAST flag. RFC4390-2-01, RFC4390-2.2-01, RFC4390-2.2-02.
    bool (*dhcp_broadcast)(DhcpPurpose) = [](DhcpPurpose purpose) { return purpose == DhcpPurpose::address; };
    /// ciaddr, by the address that is offered or held. RFC4390-2.2-01, RFC4390-2.2-02.
    std::uint32_t (*dhcp_ciaddr)(DhcpPurpose, std::uint32_t address) = [](DhcpPurpose purpose, std::uint32_t address) {
        return purpose == DhcpPurpose::address ? 0 : address;
    };

    /// Whether a server's reply to a client with this ciaddr goes by broadcast; else to the client's address.
    /// RFC4390-2.2-03.
    bool (*dhcp_reply_is_broadcast)(std::uint32_t ciaddr) = [](std::uint32_t ciaddr) { return ciaddr == 0; };

    /// A last word on every UD packet of IPoIB, for lies that no decision covers. Null: none.
    void (*on_send)(build::PacketBuilder&) = nullptr;
};

/// What a node decides by: usually one policy for both families.
struct Policies {
    Policy ipv4, ipv6;

    Policies() = default;
    Policies(const Policy& both) : ipv4(both), ipv6(both) {}
    Policies(const Policy& of_ipv4, const Policy& of_ipv6) : ipv4(of_ipv4), ipv6(of_ipv6) {}
    [[nodiscard]] const Policy& of(Family family) const noexcept { return family == Family::ipv6 ? ipv6 : ipv4; }
};

}  // namespace ipoib::stack
