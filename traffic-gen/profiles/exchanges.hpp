// SPDX-License-Identifier: GPL-2.0-or-later
// What several profiles ask the subnet administrator beside joins, with its answers, and what hosts tell each other.
#pragma once

#include "protocol/build/headers.hpp"
#include "traffic-gen/profile.hpp"

#include <span>

namespace ipoib::traffic {

/// A host wants to be told when groups come and go: traps 66 and 67 of all groups. RFC 4391, 10.
void subscribe(Stage& stage, const build::Node& host);
/// All hosts join the broadcast groups of all links, and subscribe, as hosts do that will send to groups.
void bring_up_senders(Stage& stage);

/// In captures only; on a fabric it is known already.
/// A host asks for the record of a group, and hears that there is none.
void look_in_vain(Stage& stage, const build::Node& host, const build::Link& link, const wire::Gid& mgid);
/// A host asks for the path to another one: its LID, SL and rate. RFC 4391, 9.1.2.
void ask_for_path(Stage& stage, const build::Node& host, const build::Node& to, const build::Link& link);

/// A question of any program at a port, and the records that answer it: one, or a table that the asker acknowledges.
/// IBTA Vol 1, 15.2.2.
template <class Record>
struct Question {
    wire::Method method{};
    std::uint16_t attribute = 0;
    wire::Bytes<Record> asked{};
    std::uint64_t components = 0;
};
template <class Record>
void ask(Stage& stage, const build::Node& host, const Question<Record>& question,
         std::span<const wire::Bytes<Record>> answers) {
    if (stage.administrator()) return;
    const auto& sa = stage.scene().administrator();
    const auto transaction = stage.transaction();
    const auto [method, attribute, asked, components] = question;
    const auto response = wire::Method{static_cast<std::uint8_t>(static_cast<unsigned>(method) | 0x80)};
    const bool is_set = method == wire::Method::set;
    stage.send(build::administration(host, sa, method, attribute, transaction, asked, components));
    if (method == wire::Method::get_table) {
        stage.send(build::table(sa, host, response, attribute, transaction, answers));
        stage.send(build::table_acknowledgement(host, sa, method, attribute, transaction));
    } else {
        stage.send(build::administration(sa, host, is_set ? wire::Method::get_resp : response, attribute, transaction,
                                         answers.front(), components));
    }
}
/// A path as the administrator gives it, from one interface to another.
[[nodiscard]] wire::Bytes<wire::PathRecord> path(const build::Node& from, const build::Node& to,
                                                 const build::Link& link);

/// The place of one interface with the IP addresses of another: the next hop of what is for somebody else, and the
/// sender of what somebody else has sent.
[[nodiscard]] build::Node with_ip_of(build::Node place, const build::Node& who);
/// One more interface at a host's port, on any link of the scene: a queue pair and IP addresses of its own, the
/// identifier of IPv6 an opaque one. RFC 8064.
[[nodiscard]] build::Node child_of(const build::Node& host, const Scene& scene, std::size_t number,
                                   std::size_t net = 0);
/// An identifier of IPv6 that tells nothing of its interface. RFC 7217.
[[nodiscard]] std::uint64_t opaque_identifier(std::uint64_t secret) noexcept;
/// The same hosts with addresses that may be routed: 2001:db8:N::/64 instead of fe80::/64.
[[nodiscard]] Net with_global_addresses(Net net, std::size_t number);
/// A host behind routers of IP, which has no place on any link.
[[nodiscard]] build::Node far_host(std::size_t number);

/// An interface goes down: it leaves every group of a link that its port is in, the broadcast group last.
void leave_link(Stage& stage, const build::Node& host, const build::Link& link);
/// The group of all nodes of IPv6, of which each host of a link becomes a member.
void join_all_nodes(Stage& stage, const build::Node& host, const build::Link& link);
/// Says to the link where its addresses are: by ARP requests or replies for itself, and by unsolicited Neighbour
/// Advertisements. RFC 5227, 2.3; RFC 4861, 7.2.6.
void announce4(Stage& stage, const build::Node& node, const build::Link& link);
void announce6(Stage& stage, const build::Node& node, const build::Link& link);

/// The first link as an IB router joins it out of several subnets: its groups have more than local scope, and packets
/// may go on. RFC 4391, 4.1.
[[nodiscard]] build::Link spanning(Scene& scene);
/// A host of another subnet as this one sees it: behind a router's LID.
[[nodiscard]] build::Node behind_router(const build::Node& like, std::uint16_t router_lid = 0x7000,
                                        std::uint64_t subnet = 1);

/// A packet with a GRH, which all need that crosses IB subnets, or is for one of several GIDs of a port.
template <class... Header>
build::PacketBuilder with_grh(const build::Node& from, const build::Node& to, const build::Link& link,
                              const build::PacketBuilder& packet) {
    auto whole = build::unicast_with_grh(from, to, link);
    return build::append_headers<Header...>(whole, packet);
}

}  // namespace ipoib::traffic
