// SPDX-License-Identifier: GPL-2.0-or-later
// Every member of Policy decides something: a node that differs in it behaves differently, and in the family only whose
// policy differs.
#include "stack/policy_day.hpp"

using namespace ipoib;
using namespace ipoib::stack;
using namespace ipoib::stack::test;
using namespace ipoib::wire;

namespace {

/// Which family's policy decides it: "ipv4" is also what is of no family.
enum class Of : std::uint8_t { both, ipv4, ipv6 };

struct Change {
    std::string_view member;
    void (*apply)(Policy&);
    Of of = Of::both;
};

// Wrong answers, one for each member, in its order.
const std::vector<Change> mapping_and_link{
    {"mgid_flags", [](Policy& p) { p.mgid_flags = [](const IpAddress&) { return std::uint8_t{0}; }; }},
    {"ipv4_signature", [](Policy& p) { p.ipv4_signature = 0x401c; }, Of::ipv4},
    {"ipv6_signature", [](Policy& p) { p.ipv6_signature = 0x601c; }, Of::ipv6},
    {"mgid_p_key", [](Policy& p) { p.mgid_p_key = [](const Link& l) -> std::uint16_t { return l.p_key & 0x7fff; }; }},
    {"ipv6_group_id", [](Policy& p) { p.ipv6_group_id = [](const Gid& g) {
                                          return GroupId{0x77, g.interface_id()};
                                      }; },
     Of::ipv6},
    {"ipv4_group_id", [](Policy& p) { p.ipv4_group_id = [](std::uint32_t g) {
                                          return GroupId{0, g};
                                      }; }, Of::ipv4},
    {"limited_broadcast",
     [](Policy& p) { p.limited_broadcast = [](const Link& l) { return mgid_for_ipv4(0xefffffff, l.p_key, l.scope); }; },
     Of::ipv4},
    {"broadcast_gid",
     [](Policy& p) { p.broadcast_gid = [](std::uint16_t k, unsigned) { return broadcast_gid(k, 8); }; }, Of::ipv4},
    {"mgid_scope", [](Policy& p) { p.mgid_scope = [](const Link&, const IpAddress&) -> std::uint8_t { return 8; }; }},
    {"search_scopes",
     [](Policy& p) {
         p.search_scopes = {14, 8, 5, 2};
     },
     Of::ipv4},
    {"joined_scope", [](Policy& p) { p.joined_scope = [](std::uint8_t) -> std::uint8_t { return 5; }; }, Of::ipv4},
    {"joins_broadcast_group", [](Policy& p) { p.joins_broadcast_group = false; }, Of::ipv4},
    {"needs_broadcast_group", [](Policy& p) { p.needs_broadcast_group = false; }, Of::ipv4},
    {"broadcast_join_state", [](Policy& p) { p.broadcast_join_state = join_state::non_member; }, Of::ipv4},
    {"needs_join", [](Policy& p) { p.needs_join = false; }, Of::ipv4},
    {"supports_link_mtu", [](Policy& p) { p.supports_link_mtu = [](std::uint8_t, std::uint8_t) { return true; }; },
     Of::ipv4},
    {"retries_setup", [](Policy& p) { p.retries_setup = false; }, Of::ipv4},
    {"adopted_q_key", [](Policy& p) { p.adopted_q_key = [](const Group&) { return 0x0b1bu; }; }, Of::ipv4},
    {"adopted_mtu", [](Policy& p) { p.adopted_mtu = [](const Group&) -> std::uint8_t { return 3; }; }, Of::ipv4},
    {"adopted_sl", [](Policy& p) { p.adopted_sl = [](const Group&) -> std::uint8_t { return 0; }; }, Of::ipv4},
    {"adopted_traffic_class",
     [](Policy& p) { p.adopted_traffic_class = [](const Group&) -> std::uint8_t { return 0; }; }, Of::ipv4},
    {"adopted_flow_label", [](Policy& p) { p.adopted_flow_label = [](const Group&) { return 0u; }; }, Of::ipv4},
    {"adopted_hop_limit", [](Policy& p) { p.adopted_hop_limit = [](const Group&) -> std::uint8_t { return 0; }; },
     Of::ipv4},
    {"adopts_anew", [](Policy& p) { p.adopts_anew = false; }, Of::ipv4},
    {"adopts_mtu_anew", [](Policy& p) { p.adopts_mtu_anew = false; }, Of::ipv4},
    {"returns_with_port", [](Policy& p) { p.returns_with_port = false; }, Of::ipv4},
    {"returns_with_p_key", [](Policy& p) { p.returns_with_p_key = false; }, Of::ipv4},
    {"is_directed_broadcast",
     [](Policy& p) { p.is_directed_broadcast = [](const IpAddress&, const IpNetwork&) { return false; }; }, Of::ipv4},
    {"follows_p_key", [](Policy& p) { p.follows_p_key = false; }},
    {"follows_lid", [](Policy& p) { p.follows_lid = false; }, Of::ipv4},
    {"follows_manager", [](Policy& p) { p.follows_manager = false; }, Of::ipv4},
    {"heeds_first_p_key", [](Policy& p) { p.heeds_first_p_key = false; }, Of::ipv4},
    {"when_down (answers)", [](Policy& p) { p.when_down = WhenDown::answers; }, Of::ipv4},
    {"when_down (finishes)", [](Policy& p) { p.when_down = WhenDown::finishes; }, Of::ipv4},
    {"restarts_to_rejoin", [](Policy& p) { p.restarts_to_rejoin = true; }, Of::ipv4},
    {"rejoins", [](Policy& p) { p.rejoins = false; }, Of::ipv4},
    {"resubscribes", [](Policy& p) { p.resubscribes = false; }, Of::ipv4},
};

const std::vector<Change> frames{
    {"encap_reserved", [](Policy& p) { p.encap_reserved = 1; }},
    {"accepts_encap_reserved", [](Policy& p) { p.accepts_encap_reserved = [](std::uint16_t r) { return r == 0; }; }},
    {"encap_type",
     [](Policy& p) { p.encap_type = [](EtherType t) { return t == EtherType::arp ? t : EtherType{0x88b5}; }; }},
    {"demultiplexed",
     [](Policy& p) {
         p.demultiplexed = [](EtherType t, Octets) { return t == EtherType::arp ? t : EtherType{0x1234}; };
     }},
    {"survives_unknown_type", [](Policy& p) { p.survives_unknown_type = false; }, Of::ipv4},
    {"survives",
     [](Policy& p) { p.survives = [](const Packet& packet) { return packet.is_multicast || !packet.grh; }; }},
    {"survives_overlap", [](Policy& p) { p.survives_overlap = [](bool) { return false; }; }},
    {"grh_on_multicast", [](Policy& p) { p.grh_on_multicast = false; }},
    {"grh_on_unicast", [](Policy& p) { p.grh_on_unicast = true; }},
    {"grh_across_subnets", [](Policy& p) { p.grh_across_subnets = false; }},
    {"takes_from_group", [](Policy& p) { p.takes_from_group = [](View<Grh>, const Link&) { return false; }; }},
    {"accepts_packet", [](Policy& p) { p.accepts_packet = [](const Packet& packet) { return !packet.grh; }; }},
    {"between_echo_replies", [](Policy& p) { p.between_echo_replies = std::chrono::hours{1}; }},
    {"accepts_grh",
     [](Policy& p) { p.accepts_grh = [](bool has, bool is_multicast, bool) { return has == is_multicast; }; }},
    {"accepts_arp_reserved",
     [](Policy& p) { p.accepts_arp_reserved = [](std::uint16_t reserved) { return reserved == 0; }; }, Of::ipv4},
    {"multicast_dest_qp", [](Policy& p) { p.multicast_dest_qp = 0xfffffe; }},
    {"multicast_dlid",
     [](Policy& p) { p.multicast_dlid = [](const Link& l, const Group&) { return l.broadcast_mlid; }; }},
    {"multicast_sl", [](Policy& p) { p.multicast_sl = [](const Link&, const Group&) -> std::uint8_t { return 0; }; }},
    {"multicast_traffic_class",
     [](Policy& p) { p.multicast_traffic_class = [](const Link& l, const Group&) { return l.traffic_class; }; }},
    {"multicast_flow_label",
     [](Policy& p) { p.multicast_flow_label = [](const Link& l, const Group&) { return l.flow_label; }; }},
    {"multicast_hop_limit",
     [](Policy& p) { p.multicast_hop_limit = [](const Link& l, const Group&) { return l.hop_limit; }; }},
    {"ip_mtu", [](Policy& p) { p.ip_mtu = [](std::size_t m) { return m - 16; }; }},
    {"longest_sent", [](Policy& p) { p.longest_sent = [](std::size_t) { return std::size_t{4000}; }; }},
    {"accepts_length", [](Policy& p) { p.accepts_length = [](std::size_t n) { return n <= 2000; }; }},
    {"can_have_mtu", [](Policy& p) { p.can_have_mtu = [](std::size_t, std::size_t) { return true; }; }, Of::ipv4},
    {"keeps_lowered_mtu", [](Policy& p) { p.keeps_lowered_mtu = false; }, Of::ipv4},
    {"raises_mtu", [](Policy& p) { p.raises_mtu = false; }, Of::ipv4},
    {"is_modified_eui64", [](Policy& p) { p.is_modified_eui64 = [](std::uint64_t) { return true; }; }, Of::ipv6},
    {"interface_id", [](Policy& p) { p.interface_id = [](std::uint64_t g, bool) { return g; }; }, Of::ipv6},
    {"link_local", [](Policy& p) { p.link_local = [](std::uint64_t id) { return Gid::of(0xfec0ull << 48, id); }; },
     Of::ipv6},
    {"on_send", [](Policy& p) { p.on_send = [](build::PacketBuilder& b) { b.set(Bth::psn, 7); }; }},
};

const std::vector<Change> unicast{
    {"datagram_flags", [](Policy& p) { p.datagram_flags = 1; }},
    {"accepts_flags", [](Policy& p) { p.accepts_flags = [](std::uint8_t f) { return f == 0; }; }},
    {"kept_flags", [](Policy& p) { p.kept_flags = [](std::uint8_t, bool) -> std::uint8_t { return 0; }; }},
    {"own_qpn", [](Policy& p) { p.own_qpn = [](std::uint32_t q) { return q + 1; }; }},
    {"own_gid", [](Policy& p) { p.own_gid = [](const Gid& g) { return Gid::of(g.prefix(), 1); }; }},
    {"renews_own_gid", [](Policy& p) { p.renews_own_gid = false; }},
    {"peer_qpn", [](Policy& p) { p.peer_qpn = [](const HardwareAddress&, std::uint32_t q) { return q; }; }},
    {"asks_path", [](Policy& p) { p.asks_path = false; }},
    {"asks_for_path_table", [](Policy& p) { p.asks_for_path_table = true; }},
    {"asks_path_again", [](Policy& p) { p.asks_path_again = false; }},
    {"path_answer (oldest)", [](Policy& p) { p.path_answer = AnswerOf::oldest_question; }},
    {"path_answer (newest)", [](Policy& p) { p.path_answer = AnswerOf::newest_question; }},
    {"waits_for_path (data)", [](Policy& p) { p.waits_for_path = [](bool is_resolution) { return is_resolution; }; }},
    {"waits_for_path (resolution)",
     [](Policy& p) { p.waits_for_path = [](bool is_resolution) { return !is_resolution; }; }},
    {"asks_path_from_new_gid", [](Policy& p) { p.asks_path_from_new_gid = false; }},
    {"renews_paths", [](Policy& p) { p.renews_paths = false; }, Of::ipv4},
    {"keeps_paths", [](Policy& p) { p.keeps_paths = true; }, Of::ipv4},
    {"unicast_dlid", [](Policy& p) { p.unicast_dlid = [](std::uint16_t l) -> std::uint16_t { return l ^ 0x40; }; }},
    {"unicast_q_key", [](Policy& p) { p.unicast_q_key = [](const Link&) { return 0x0b1bu; }; }},
    {"multicast_q_key", [](Policy& p) { p.multicast_q_key = [](const Link&, const Group&) { return 0x0b1bu; }; }},
    {"accepted_q_key", [](Policy& p) { p.accepted_q_key = [](const Link&) { return 0x0b1bu; }; }, Of::ipv4},
    {"unicast_sl",
     [](Policy& p) { p.unicast_sl = [](const Link&, std::uint8_t s) -> std::uint8_t { return (s + 1) & 0xf; }; }},
    {"uses_flow_of_path", [](Policy& p) { p.uses_flow_of_path = false; }},
    {"unicast_hop_limit",
     [](Policy& p) { p.unicast_hop_limit = [](const Link&, std::uint8_t) { return std::uint8_t{1}; }; }},
    {"unicast_p_key",
     [](Policy& p) { p.unicast_p_key = [](const Link& l) -> std::uint16_t { return l.p_key & 0x7fff; }; }},
    {"arp_hardware", [](Policy& p) { p.arp_hardware = 1; }, Of::ipv4},
    {"arp_protocol", [](Policy& p) { p.arp_protocol = 0x0806; }, Of::ipv4},
    {"arp_hardware_length", [](Policy& p) { p.arp_hardware_length = [](std::uint8_t) -> std::uint8_t { return 6; }; },
     Of::ipv4},
    {"arp_protocol_length", [](Policy& p) { p.arp_protocol_length = 16; }, Of::ipv4},
    {"arp_address_size", [](Policy& p) { p.arp_address_size = 8; }, Of::ipv4},
    {"arp_request_group",
     [](Policy& p) { p.arp_request_group = [](const Link& l) { return mgid_for_ipv4(0xe0000001, l.p_key, l.scope); }; },
     Of::ipv4},
    {"answers_arp", [](Policy& p) { p.answers_arp = false; }, Of::ipv4},
    {"arp_reply_is_unicast", [](Policy& p) { p.arp_reply_is_unicast = false; }, Of::ipv4},
    {"arp_reply_qpn", [](Policy& p) { p.arp_reply_qpn = [](const HardwareAddress&, std::uint32_t q) { return q; }; },
     Of::ipv4},
    {"answers_for_former", [](Policy& p) { p.answers_for_former = true; }},
    {"asks_from_former", [](Policy& p) { p.asks_from_former = true; }},
    {"asks_again_as_before", [](Policy& p) { p.asks_again_as_before = true; }},
    {"answers_solicitations", [](Policy& p) { p.answers_solicitations = false; }, Of::ipv6},
    {"solicited_hop_limit", [](Policy& p) { p.solicited_hop_limit = 64; }, Of::ipv6},
    {"advertised_hop_limit", [](Policy& p) { p.advertised_hop_limit = 64; }, Of::ipv6},
    {"says_solicited", [](Policy& p) { p.says_solicited = false; }, Of::ipv6},
    {"answers_for", [](Policy& p) { p.answers_for = [](bool) { return false; }; }},
    {"sends_nd_option", [](Policy& p) { p.sends_nd_option = [](bool) { return false; }; }, Of::ipv6},
    {"nd_source", [](Policy& p) { p.nd_source = LinkAddressOption::target; }, Of::ipv6},
    {"nd_target", [](Policy& p) { p.nd_target = LinkAddressOption::source; }, Of::ipv6},
    {"nd_option",
     [](Policy& p) {
         p.nd_option = [](std::uint8_t type, const HardwareAddress& address) {
             auto option = answers::nd_option(type, address);
             std::rotate(option.begin() + 2, option.begin() + 4, option.end());
             return option;
         };
     },
     Of::ipv6},
    {"solicitation_group", [](Policy& p) { p.solicitation_group = [](const Gid&) { return all_nodes(false).octets; }; },
     Of::ipv6},
    {"revalidates", [](Policy& p) { p.revalidates = false; }},
    {"forgets_silent", [](Policy& p) { p.forgets_silent = false; }},
    {"replaces_neighbour",
     [](Policy& p) {
         p.replaces_neighbour = [](const IpAddress&, const HardwareAddress&, const HardwareAddress&) { return false; };
     }},
    {"keeps_neighbours_apart", [](Policy& p) { p.keeps_neighbours_apart = false; }},
    {"tells_newest_address", [](Policy& p) { p.tells_newest_address = false; }},
    {"told_address", [](Policy& p) { p.told_address = [](const HardwareAddress&) { return HardwareAddress{}; }; }},
};

const std::vector<Change> multicast{
    {"checks_group", [](Policy& p) { p.checks_group = false; }},
    {"joins_to_send", [](Policy& p) { p.joins_to_send = false; }},
    {"send_join_state", [](Policy& p) { p.send_join_state = join_state::full_member; }},
    {"send_creates_with", [](Policy& p) { p.send_creates_with = join_state::full_member; }},
    {"is_redirected", [](Policy& p) { p.is_redirected = [](const IpAddress&) { return true; }; }},
    {"with_all_router", [](Policy& p) { p.with_all_router = Fallback::broadcast; }},
    {"without_all_router", [](Policy& p) { p.without_all_router = Fallback::broadcast; }},
    {"caches_groups", [](Policy& p) { p.caches_groups = false; }},
    {"asks_group_again", [](Policy& p) { p.asks_group_again = false; }},
    {"survives_burst", [](Policy& p) { p.survives_burst = false; }},
    {"asks_refused_group_again", [](Policy& p) { p.asks_refused_group_again = false; }},
    {"subscribes (66)",
     [](Policy& p) {
         p.subscribes = [](std::uint16_t trap_number) { return trap_number != trap::multicast_group_created; };
     },
     Of::ipv4},
    {"subscribes (67)",
     [](Policy& p) {
         p.subscribes = [](std::uint16_t trap_number) { return trap_number != trap::multicast_group_deleted; };
     },
     Of::ipv4},
    {"forgets_left_groups", [](Policy& p) { p.forgets_left_groups = false; }},
    {"heeds_creation", [](Policy& p) { p.heeds_creation = false; }},
    {"heeds_one_creation", [](Policy& p) { p.heeds_one_creation = true; }},
    {"heeds_deletion", [](Policy& p) { p.heeds_deletion = false; }},
    {"forgets_sent_groups", [](Policy& p) { p.forgets_sent_groups = false; }},
    {"leaves_idle_groups", [](Policy& p) { p.leaves_idle_groups = false; }},
    {"joins_ip_groups", [](Policy& p) { p.joins_ip_groups = false; }},
    {"asks_before_joining", [](Policy& p) { p.asks_before_joining = true; }},
    {"member_join_state", [](Policy& p) { p.member_join_state = join_state::non_member; }},
    {"created_p_key", [](Policy& p) { p.created_p_key = [](const Link&) -> std::uint16_t { return 0xffff; }; }},
    {"created_q_key", [](Policy& p) { p.created_q_key = [](const Link&) { return 1u; }; }},
    {"created_sl", [](Policy& p) { p.created_sl = [](const Link&) -> std::uint8_t { return 0; }; }},
    {"created_mtu", [](Policy& p) { p.created_mtu = [](const Link&) -> std::uint8_t { return 1; }; }},
    {"created_hop_limit", [](Policy& p) { p.created_hop_limit = [](const Link&) -> std::uint8_t { return 0; }; }},
    {"created_traffic_class",
     [](Policy& p) { p.created_traffic_class = [](const Link&) -> std::uint8_t { return 0; }; }},
    {"created_flow_label", [](Policy& p) { p.created_flow_label = [](const Link&) { return 0u; }; }},
    {"interface_p_key", [](Policy& p) { p.interface_p_key = [](std::uint16_t, std::uint16_t first) { return first; }; },
     Of::ipv4},
    {"created_rate", [](Policy& p) { p.created_rate = [](const Link&) -> std::uint8_t { return 2; }; }},
    {"created_lifetime", [](Policy& p) { p.created_lifetime = [](const Link&) -> std::uint8_t { return 16; }; }},
    {"created_scope", [](Policy& p) { p.created_scope = [](const Link&) -> std::uint8_t { return 14; }; }},
    {"join_answer (oldest)", [](Policy& p) { p.join_answer = AnswerOf::oldest_question; }},
    {"join_answer (newest)", [](Policy& p) { p.join_answer = AnswerOf::newest_question; }},
    {"tells_all_of_renewal", [](Policy& p) { p.tells_all_of_renewal = false; }, Of::ipv4},
    {"tells_all_of_reports", [](Policy& p) { p.tells_all_of_reports = false; }, Of::ipv4},
    {"heeds_other_interfaces", [](Policy& p) { p.heeds_other_interfaces = false; }},
    {"leaves_unwanted", [](Policy& p) { p.leaves_unwanted = false; }},
    {"leaves_unanswered_when_down", [](Policy& p) { p.leaves_unanswered_when_down = false; }},
    {"leaves_groups", [](Policy& p) { p.leaves_groups = false; }},
    {"keeps_shared_groups", [](Policy& p) { p.keeps_shared_groups = false; }, Of::ipv6},
    {"leave_join_state", [](Policy& p) { p.leave_join_state = join_state::non_member; }},
    {"joins_on_link",
     [](Policy& p) { p.joins_on_link = [](const IpAddress&, bool, Beginning b) { return b == Beginning::first; }; }},
    {"retries_joins", [](Policy& p) { p.retries_joins = false; }},
    {"joins_beside_refused", [](Policy& p) { p.joins_beside_refused = BesideRefused::never; }},
    {"pause_before_rejoin",
     [](Policy& p) {
         p.pause_before_rejoin = [](fabric::Duration) -> fabric::Duration { return std::chrono::milliseconds{10}; };
     }},
    {"repeats_leaves", [](Policy& p) { p.repeats_leaves = false; }},
    {"leaves_broadcast_group", [](Policy& p) { p.leaves_broadcast_group = false; }, Of::ipv4},
    {"rejoins_deleted", [](Policy& p) { p.rejoins_deleted = false; }},
    {"leaves_when_down", [](Policy& p) { p.leaves_when_down = false; }, Of::ipv4},
    {"joins_beside_sending", [](Policy& p) { p.joins_beside_sending = [](const IpAddress&) { return false; }; }},
    {"attaches", [](Policy& p) { p.attaches = [](bool was_sender) { return !was_sender; }; }},
    {"keeps_for_others", [](Policy& p) { p.keeps_for_others = [](const IpAddress&) { return false; }; }},
    {"answers_groups_with_errors", [](Policy& p) { p.answers_groups_with_errors = true; }},
    {"checks_checksums", [](Policy& p) { p.checks_checksums = false; }},
    {"delivers", [](Policy& p) { p.delivers = [](const IpAddress&) { return false; }; }},
    {"told_source", [](Policy& p) { p.told_source = [](const IpAddress&, const IpAddress& to) { return to; }; }},
    {"told_payload", [](Policy& p) { p.told_payload = [](Octets) { return std::vector<std::uint8_t>{}; }; }},
    {"router_lists_groups", [](Policy& p) { p.router_lists_groups = false; }},
    {"router_join_state", [](Policy& p) { p.router_join_state = join_state::full_member; }},
    {"router_wants", [](Policy& p) { p.router_wants = [](const Gid&, const Link&) { return false; }; }},
    {"router_heeds_creation", [](Policy& p) { p.router_heeds_creation = false; }},
    {"logs_failures", [](Policy& p) { p.logs_failures = false; }},
    {"logs_failures_of_senders", [](Policy& p) { p.logs_failures_of_senders = false; }},
    {"logs_silence", [](Policy& p) { p.logs_silence = false; }},
    {"tells_failed_joins", [](Policy& p) { p.tells_failed_joins = false; }},
    {"join_awaits_answer", [](Policy& p) { p.join_awaits_answer = false; }},
    {"logs_each_failure", [](Policy& p) { p.logs_each_failure = false; }},
};

const std::vector<Change> connected{
    {"connected_flags", [](Policy& p) { p.connected_flags = 0xc1; }},
    {"begins_connection", [](Policy& p) { p.begins_connection = [](bool, std::uint8_t) { return false; }; }, Of::ipv4},
    {"accepts_datagrams",
     [](Policy& p) { p.accepts_datagrams = [](bool is_connected, std::size_t) { return !is_connected; }; }},
    {"accepts_over_connection",
     [](Policy& p) { p.accepts_over_connection = [](bool, std::size_t, std::size_t) { return false; }; }},
    {"connection_qpn", [](Policy& p) { p.connection_qpn = [](std::uint32_t, std::uint32_t ud) { return ud; }; },
     Of::ipv4},
    {"keeps_connections", [](Policy& p) { p.keeps_connections = false; }, Of::ipv4},
    {"private_qpn", [](Policy& p) { p.private_qpn = [](std::uint32_t) { return 0u; }; }, Of::ipv4},
    {"rej_has_qpn", [](Policy& p) { p.rej_has_qpn = false; }, Of::ipv4},
    {"accepts_crossing",
     [](Policy& p) {
         p.accepts_crossing = [](const HardwareAddress& a, const HardwareAddress& b) {
             return !answers::accepts_crossing(a, b);
         };
     },
     Of::ipv4},
    {"disconnects", [](Policy& p) { p.disconnects = false; }, Of::ipv4},
    {"service_id", [](Policy& p) { p.service_id = [](std::uint32_t q) { return std::uint64_t{0x10} << 56 | q; }; },
     Of::ipv4},
    {"receive_mtu", [](Policy& p) { p.receive_mtu = [](std::size_t) { return 0u; }; }, Of::ipv4},
    {"private_reserved", [](Policy& p) { p.private_reserved = 1; }, Of::ipv4},
    {"accepts_private_reserved", [](Policy& p) { p.accepts_private_reserved = [](std::uint8_t r) { return r == 0; }; },
     Of::ipv4},
};

const std::vector<Change> dhcp{
    {"dhcp_htype", [](Policy& p) { p.dhcp_htype = 1; }, Of::ipv4},
    {"dhcp_hlen", [](Policy& p) { p.dhcp_hlen = [](DhcpPurpose) { return std::uint8_t{20}; }; }, Of::ipv4},
    {"dhcp_chaddr", [](Policy& p) { p.dhcp_chaddr = [](const HardwareAddress&) { return OctetArray<16>{1}; }; },
     Of::ipv4},
    {"dhcp_client_identifier",
     [](Policy& p) { p.dhcp_client_identifier = [](std::uint64_t) { return std::vector<std::uint8_t>{}; }; }, Of::ipv4},
    {"dhcp_broadcast", [](Policy& p) { p.dhcp_broadcast = [](DhcpPurpose) { return false; }; }, Of::ipv4},
    {"dhcp_names_client", [](Policy& p) { p.dhcp_names_client = [](DhcpPurpose) { return false; }; }, Of::ipv4},
    {"dhcp_reply_is_broadcast", [](Policy& p) { p.dhcp_reply_is_broadcast = [](std::uint32_t) { return false; }; },
     Of::ipv4},
    {"dhcp_ciaddr", [](Policy& p) { p.dhcp_ciaddr = [](DhcpPurpose, std::uint32_t) { return 0x0a010001u; }; },
     Of::ipv4},
};

void check_all(const std::vector<Change>& changes) {
    const auto right = day_of({});
    REQUIRE(right == day_of({}));
    for (const auto& change : changes) {
        CAPTURE(change.member);
        Policy changed;
        change.apply(changed);
        CHECK((day_of({changed, {}}) != right) == (change.of != Of::ipv6));
        CHECK((day_of({{}, changed}) != right) == (change.of != Of::ipv4));
    }
}

}  // namespace

TEST_CASE("Policy: each decision about mapping and link setup shows in what a node does", "[breadth]") {
    check_all(mapping_and_link);
}
TEST_CASE("Policy: each decision about frames shows in what a node does", "[breadth]") { check_all(frames); }
TEST_CASE("Policy: each decision about unicast shows in what a node does", "[breadth]") { check_all(unicast); }
TEST_CASE("Policy: each decision about multicast shows in what a node does", "[breadth]") { check_all(multicast); }
TEST_CASE("Policy: each decision about connections shows in what a node does", "[breadth]") { check_all(connected); }
TEST_CASE("Policy: each decision about DHCP shows in what a node does", "[breadth]") { check_all(dhcp); }
