// SPDX-License-Identifier: GPL-2.0-or-later
// Wireshark's fields: those of the wire tables, made from the tables, and those that no packet holds.
#pragma once

#include "dissector/epan.hpp"
#include "protocol/wire/field.hpp"

namespace ipoib::dissector {

/// Fields beside those of the wire tables. All are told by the plugin, none is in the packet, but for the flags.
struct Ids {
    int protocol;
    int requirement, level, rule, note;
    int icrc, vcrc, foreign, truncated;
    int rc, uc, full_member, non_member, send_only_non_member, send_only_full_member;
    int ip_group, components, headline, has_grh;
    int link, broadcast_gid, broadcast_mlid, q_key, mtu, sl, traffic_class, flow_label, hop_limit, source, learned;
    int sender_address, sender_gid, sender_lid, sender_qpn, sender_announced;
    int receiver_address, receiver_gid, receiver_lid, receiver_qpn, receiver_announced;
    int group, group_mgid, group_mlid, group_learned, joined, join_state, member;
    int request, answer, cause, report;
};
extern Ids hf;

/// Subtrees: one each for what may be opened and closed by itself.
struct Subtrees {
    int packet, header, flags, link, port, group, members, exchange, table, record, requirement;
};
extern Subtrees ett;

/// Registers the protocol, all fields and all subtrees.
void register_fields();

/// Whether anybody wants to see what a tree holds: a window, -V, a filter or a column on one of our fields.
bool is_wanted(proto_tree* tree);

/// Adds the rows of a header whose first octet is `offset` octets into `tvb`, all of it captured.
void add_rows(proto_tree* tree, tvbuff_t* tvb, int offset, const wire::HeaderSpec& header);
/// The same below an item of its own with the header's title; gives that item.
proto_item* add_header(proto_tree* tree, tvbuff_t* tvb, int offset, const wire::HeaderSpec& header);

}  // namespace ipoib::dissector
