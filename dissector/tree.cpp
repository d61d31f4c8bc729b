// SPDX-License-Identifier: GPL-2.0-or-later
// Our part of a packet's tree.
#include "dissector/tree.hpp"

#include "dissector/expert.hpp"
#include "dissector/fields.hpp"
#include "dissector/preferences.hpp"
#include "dissector/strings.hpp"
#include "protocol/wire/cm.hpp"
#include "protocol/wire/registry.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>

namespace ipoib::dissector {
using namespace wire;

namespace {

constexpr int most_members_shown = 32, most_members_looked_at = 1000, most_records_shown = 1000;

proto_item* generated(proto_item* item) {
    proto_item_set_generated(item);
    return item;
}
void add_number(proto_tree* tree, int id, std::uint32_t value) {
    generated(proto_tree_add_uint(tree, id, shown.tvb, 0, 0, value));
}
void add_frame(proto_tree* tree, int id, FrameNumber frame) {
    if (frame) add_number(tree, id, frame);
}
void add_text(proto_tree* tree, int id, const char* text) {
    generated(proto_tree_add_string(tree, id, shown.tvb, 0, 0, text));
}
void add_gid(proto_tree* tree, int id, const Gid& gid) {
    if (gid.is_zero()) return;
    ws_in6_addr address;
    memcpy(&address, gid.octets.data(), sizeof address);
    generated(proto_tree_add_ipv6(tree, id, shown.tvb, 0, 0, &address));
}

int offset_of(const std::uint8_t* at) { return static_cast<int>(shown.packet->offset_of(at)); }

// ---- What is known of this frame's link, its ports and its group ----

const char* source_name(state::Source source) {
    switch (source) {
        case state::Source::sa:
            return "the SA's answer";
        case state::Source::assumed:
            return "what the user assumes";
        case state::Source::file:
            return "the SA's records that the user gave";
        case state::Source::packets:
            return "packets sent to the group";
        case state::Source::nothing:
            break;
    }
    return "nothing yet";
}

void add_link(proto_tree* tree, const LinkSnapshot& link) {
    auto* item = generated(proto_tree_add_string(tree, hf.link, shown.tvb, 0, 0, link.name));
    auto* rows = proto_item_add_subtree(item, ett.link);
    if (link.is_disputed) proto_item_append_text(item, ", told in two ways");
    add_text(rows, hf.source, source_name(link.source));
    add_frame(rows, hf.learned, link.learned);
    add_gid(rows, hf.broadcast_gid, link.broadcast_gid);
    if (!link.has_record) return;
    const auto& record = link.broadcast;
    const auto octets = state::mtu_octets(record.mtu);
    if (record.mlid) add_number(rows, hf.broadcast_mlid, record.mlid);
    add_number(rows, hf.q_key, record.q_key);
    if (octets) add_number(rows, hf.mtu, static_cast<std::uint32_t>(octets - Encap::size));
    add_number(rows, hf.sl, record.sl);
    add_number(rows, hf.traffic_class, record.traffic_class);
    add_number(rows, hf.flow_label, record.flow_label);
    add_number(rows, hf.hop_limit, record.hop_limit);
}

/// Empty where it is not known.
const char* host_of(const Gid& gid) { return capture_state() ? capture_state()->hosts().of(gid.interface_id()) : ""; }

struct PortIds {
    const char* title;
    int host, address, gid, lid, qpn, announced;
};

void add_port(proto_tree* tree, const PortSnapshot& port, const Announcement* announced, const PortIds& ids) {
    auto* rows = proto_tree_add_subtree_format(tree, shown.tvb, 0, 0, ett.port, nullptr, "%s %s", ids.title,
                                               announced ? announced->address : "");
    if (const char* host = host_of(port.gid); *host) {
        add_text(rows, ids.host, host);
        proto_item_append_text(proto_tree_get_parent(rows), announced ? ", %s" : "%s", host);
    }
    add_gid(rows, ids.gid, port.gid);
    if (port.lid) add_number(rows, ids.lid, port.lid);
    if (!announced) return;
    add_text(rows, ids.address, announced->address);
    add_number(rows, ids.qpn, announced->qpn);
    add_frame(rows, ids.announced, announced->frame);
}

const char* port_string(packet_info* pinfo, const PortSnapshot& port) {
    if (const char* host = host_of(port.gid); *host) return host;
    return in_packet(pinfo, port.gid.is_zero() ? "LID " + hex(port.lid, 4) : text(port.gid));
}
const char* join_state_string(packet_info* pinfo, std::uint8_t state) {
    return in_packet(pinfo, std::string(join_state_names[state & 0xf].name));
}

void add_members(packet_info* pinfo, proto_tree* tree, const state::Group& group) {
    const auto* all = capture_state()->members(group);
    if (!all) return;
    proto_tree* rows = nullptr;
    int looked_at = 0, count = 0;
    // The latest first: those who have left are rather among the others.
    auto at = std::ranges::upper_bound(*all, shown.number, {}, &Membership::from);
    while (at != all->begin() && count <= most_members_shown) {
        const auto& one = *--at;
        if (++looked_at > most_members_looked_at) count = most_members_shown;
        if (count < most_members_shown && one.to && one.to <= shown.number) continue;
        if (!rows) rows = proto_tree_add_subtree(tree, shown.tvb, 0, 0, ett.members, nullptr, "Members so far");
        const char* port = port_string(pinfo, *one.port);
        const char* state = join_state_string(pinfo, one.join_state);
        if (count++ == most_members_shown)
            proto_tree_add_subtree(rows, shown.tvb, 0, 0, ett.members, nullptr, "...");
        else
            generated(proto_tree_add_string_format(rows, hf.member, shown.tvb, 0, 0, port, "%s, %s, since frame %u",
                                                   port, state, one.from));
    }
}

void add_group(packet_info* pinfo, proto_tree* tree, const Conversation& conversation) {
    const auto& group = *conversation.group;
    const char* name = in_packet(pinfo, group_text(group.mgid));
    if (!*name) name = in_packet(pinfo, text(group.mgid));
    auto* rows =
        proto_item_add_subtree(generated(proto_tree_add_string(tree, hf.group, shown.tvb, 0, 0, name)), ett.group);
    add_gid(rows, hf.group_mgid, group.mgid);
    if (group.has_record) {
        add_number(rows, hf.group_mlid, group.mlid);
        add_frame(rows, hf.group_learned, group.learned);
    }
    if (conversation.join_state) add_text(rows, hf.join_state, join_state_string(pinfo, conversation.join_state));
    add_frame(rows, hf.joined, conversation.joined);
    add_members(pinfo, rows, *group.group);
}

// ---- Management ----

void add_exchange(proto_tree* tree, const Exchange& exchange) {
    add_frame(tree, hf.request, exchange.request);
    add_frame(tree, hf.answer, exchange.answer);
    add_frame(tree, hf.cause, exchange.cause);
    add_frame(tree, hf.report, exchange.report);
}

void add_table(packet_info* pinfo, proto_tree* tree, const ReassembledTable& table) {
    const auto* record = attribute_header(MgmtClass::subn_adm, table.attribute_id);
    const auto length = static_cast<guint>(table.records.size());
    auto* octets = tvb_new_child_real_data(shown.tvb, table.records.data(), length, static_cast<gint>(length));
    add_new_data_source(pinfo, octets, "SA table");
    const auto stride = table.stride ? table.stride : table.records.size();
    auto* rows = proto_tree_add_subtree_format(tree, octets, 0, static_cast<int>(length), ett.table, nullptr,
                                               "Table whole, %u octets", length);
    if (!record || stride < record->size) return;
    int count = 0;
    for (std::size_t at = 0; at + record->size <= table.records.size() && count < most_records_shown; at += stride) {
        auto* item = add_header(rows, octets, static_cast<int>(at), *record);
        proto_item_append_text(item, " %d", ++count);
        if (record != &spec_of<McMemberRecord>) {
            for_each_inside(*record, table.records.subspan(at), Context::frame,
                            [&](const HeaderSpec& inner, const std::uint8_t* begin) {
                                add_header(proto_item_get_subtree(item), octets,
                                           static_cast<int>(begin - table.records.data()), inner);
                            });
            continue;
        }
        const auto view = View<McMemberRecord>::at(table.records.subspan(at));
        const char* name = in_packet(pinfo, group_text(view[McMemberRecord::mgid]));
        if (*name) proto_item_append_text(item, ": %s", name);
    }
}

void add_mgid(packet_info* pinfo, proto_tree* tree, const Gid& mgid, tvbuff_t* tvb, int offset) {
    add_rows(tree, tvb, offset, spec_of<Mgid>);
    const char* group = in_packet(pinfo, group_text(mgid));
    if (*group) generated(proto_tree_add_string(tree, hf.ip_group, tvb, offset, static_cast<int>(Mgid::size), group));
}

/// A header, and what is within it.
void add_whole(proto_tree* tree, const HeaderSpec& header, const std::uint8_t* at) {
    add_header(tree, shown.tvb, offset_of(at), header);
    const bool is_connection = capture_state() && capture_state()->sets_up_connection(shown.number);
    for_each_inside(header, Octets{at, shown.packet->octets.data() + shown.packet->octets.size()},
                    is_connection ? Context::capture : Context::frame,
                    [&](const HeaderSpec& inner, const std::uint8_t* begin) {
                        add_header(tree, shown.tvb, offset_of(begin), inner);
                    });
}

void add_management(packet_info* pinfo, proto_tree* tree) {
    const auto& p = *shown.packet;
    add_header(tree, shown.tvb, offset_of(p.mad.data()), spec_of<Mad>);
    if (p.rmpp) add_header(tree, shown.tvb, offset_of(p.rmpp.data()), spec_of<Rmpp>);
    if (p.sa) {
        add_header(tree, shown.tvb, offset_of(p.sa.data()), spec_of<SaHeader>);
        const auto mask = p.sa[SaHeader::component_mask];
        if (p.mc_member && mask) {
            const char* components = in_packet(pinfo, component_list(mask));
            add_text(tree, hf.components, components);
        }
    }
    if (p.mc_member) {
        const auto offset = offset_of(p.mc_member.data());
        auto* rows = proto_item_add_subtree(add_header(tree, shown.tvb, offset, spec_of<McMemberRecord>), ett.header);
        const auto mgid = p.mc_member[McMemberRecord::mgid];
        if (has_ipoib_signature(mgid)) {
            auto* split = proto_tree_add_subtree(rows, shown.tvb, offset, static_cast<int>(Mgid::size), ett.header,
                                                 nullptr, "IPoIB multicast GID");
            add_mgid(pinfo, split, mgid, shown.tvb, offset);
        }
    }
    for (std::size_t i = 0; i < p.others_count; ++i) add_whole(tree, *p.others[i].header, p.others[i].at);
}

// ---- What stands in other dissectors' trees ----

/// The first item of a field under `tree`, where the tree is being shown; null otherwise. By name: several fields of
/// one dissector may share it.
proto_node* find_item(proto_node* tree, const char* name, int start) {
    for (auto* node = tree->first_child; node; node = node->next) {
        const auto* field = node->finfo;
        const bool is_it = field && field->hfinfo && field->start == start && strcmp(field->hfinfo->abbrev, name) == 0;
        if (is_it) return node;
        if (auto* found = find_item(node, name, start)) return found;
    }
    return nullptr;
}

/// Where a header's parts go: below the item that another dissector made for it, or else into our own tree.
proto_tree* below(proto_tree* tree, const char* builtin, bool wanted, const std::uint8_t* at, std::size_t length,
                  const char* title, int before = 0) {
    const auto start = tvb_raw_offset(shown.tvb) + offset_of(at) + before;
    if (wanted)
        if (auto* item = find_item(tree, builtin, start)) return proto_item_add_subtree(item, ett.header);
    return proto_tree_add_subtree(own_tree(tree), shown.tvb, offset_of(at), static_cast<int>(length), ett.header,
                                  nullptr, title);
}

/// With the name of the host whose it is.
void add_link_address(proto_tree* rows, const std::uint8_t* at) {
    add_rows(rows, shown.tvb, offset_of(at), spec_of<LinkAddress>);
    const auto address = View<LinkAddress>::at({at, LinkAddress::size});
    if (const char* host = host_of(address[LinkAddress::gid]); *host) add_text(rows, hf.host, host);
}

void split_arp(proto_tree* tree) {
    const auto& p = *shown.packet;
    if (!p.arp_addresses) return;
    const bool in_place = preferences.splits_addresses != 0;
    const auto* sender = p.arp_addresses.data() + ArpAddresses::sha_flags.at.bit / 8;
    const auto* target = p.arp_addresses.data() + ArpAddresses::tha_flags.at.bit / 8;
    add_link_address(below(tree, "arp.src.hw", in_place, sender, LinkAddress::size, "Sender's link-layer address"),
                     sender);
    add_link_address(below(tree, "arp.dst.hw", in_place, target, LinkAddress::size, "Target's link-layer address"),
                     target);
}

void split_option(proto_tree* tree, View<LinkAddressOption> option) {
    if (!option) return;
    auto* rows =
        below(tree, "icmpv6.opt.linkaddr", preferences.splits_addresses != 0, option.data(), LinkAddressOption::size,
              "Link-layer address option", static_cast<int>(LinkAddressOption::padding.at.bit / 8));
    add_rows(rows, shown.tvb, offset_of(option.data()), spec_of<LinkAddressOption>);
    add_link_address(rows, option.data() + LinkAddressOption::flags.at.bit / 8);
}

void split_mgid(packet_info* pinfo, proto_tree* tree) {
    const auto& p = *shown.packet;
    if (!p.grh || !p.mgid || !has_ipoib_signature(p.grh[Grh::dgid])) return;
    auto* rows = below(tree, "infiniband.grh.dgid", true, p.mgid.data(), Mgid::size, "IPoIB multicast GID");
    add_mgid(pinfo, rows, p.grh[Grh::dgid], shown.tvb, offset_of(p.mgid.data()));
}

void add_decoding(proto_tree* rows) {
    const auto& p = *shown.packet;
    if (p.lrh) {
        const auto crcs = check_crcs(p.octets, p.tail);
        add_number(rows, hf.icrc, static_cast<std::uint32_t>(crcs.icrc));
        add_number(rows, hf.vcrc, static_cast<std::uint32_t>(crcs.vcrc));
        if (p.is_ipoib()) generated(proto_tree_add_boolean(rows, hf.has_grh, shown.tvb, 0, 0, p.grh ? 1 : 0));
    }
    if (p.stop)
        generated(proto_tree_add_string_format_value(
            rows, hf.truncated, shown.tvb, static_cast<int>(p.stop.offset), 0, p.stop.layer.data(),
            "%.*s: it needs %u octets, the capture has %u", static_cast<int>(p.stop.layer.size()), p.stop.layer.data(),
            static_cast<unsigned>(p.stop.needed), static_cast<unsigned>(p.stop.available)));
}

/// An SA that refuses a join need not repeat which: the state of the capture has it.
const char* headline_string(packet_info* pinfo) {
    const auto* conversation = capture_state() ? capture_state()->conversation(shown.number) : nullptr;
    const auto* exchange = capture_state() ? capture_state()->exchange(shown.number) : nullptr;
    return in_packet(
        pinfo,
        headline(*shown.packet, {.group = conversation && conversation->group ? &conversation->group->mgid : nullptr,
                                 .method = exchange ? exchange->asked : Method{}}));
}

void add_columns(packet_info* pinfo) {
    const auto& p = *shown.packet;
    if (!p.mad) return;
    const bool is_connection = capture_state() && capture_state()->sets_up_connection(shown.number);
    const char* line = is_connection ? in_packet(pinfo, connection_headline(p)) : headline_string(pinfo);
    if (*line) col_prepend_fstr(pinfo->cinfo, COL_INFO, "%s, ", line);
}

bool is_management_shown() {
    const auto& p = *shown.packet;
    if (!p.mad) return false;
    return p.mad[Mad::mgmt_class] == MgmtClass::subn_adm ||
           (capture_state() && capture_state()->sets_up_connection(shown.number));
}

}  // namespace

proto_tree* own_tree(proto_tree* tree, int offset, int length) {
    if (shown.item || !tree) return shown.tree;
    shown.item = proto_tree_add_item(tree, hf.protocol, shown.tvb, offset, length, ENC_NA);
    shown.tree = proto_item_add_subtree(shown.item, ett.packet);
    return shown.tree;
}

void dissect_rfc4391(packet_info* pinfo, proto_tree* tree) {
    add_columns(pinfo);
    const auto* expert_infos = capture_state() ? capture_state()->expert_infos(shown.number) : nullptr;
    const auto& p = *shown.packet;
    if (is_wanted(tree)) {
        const auto* conversation = capture_state() ? capture_state()->conversation(shown.number) : nullptr;
        const auto* exchange = capture_state() ? capture_state()->exchange(shown.number) : nullptr;
        const auto* table = capture_state() ? capture_state()->table(shown.number) : nullptr;
        const bool has_management = is_management_shown();
        if (is_ipoib() || has_management || p.foreign != Foreign::none) {
            auto* rows = own_tree(tree);
            shown.lead = rows->last_child;
            if (has_management) {
                const char* line = headline_string(pinfo);
                if (!*line) line = in_packet(pinfo, connection_headline(p));
                proto_item_append_text(shown.item, ", %s", *line ? line : kind_of(p));
                if (*line) add_text(rows, hf.headline, line);
                shown.lead = rows->last_child;
                if (exchange) add_exchange(rows, *exchange);
                add_management(pinfo, rows);
                if (table) add_table(pinfo, rows, *table);
            }
            if (p.foreign != Foreign::none) add_text(rows, hf.foreign, name(p.foreign).data());
            add_decoding(rows);
            if (conversation && conversation->link) add_link(rows, *conversation->link);
            if (conversation && conversation->sender)
                add_port(rows, *conversation->sender, conversation->sender_announced,
                         {"Sender", hf.sender_host, hf.sender_address, hf.sender_gid, hf.sender_lid, hf.sender_qpn,
                          hf.sender_announced});
            if (conversation && conversation->receiver)
                add_port(rows, *conversation->receiver, conversation->receiver_announced,
                         {"Receiver", hf.receiver_host, hf.receiver_address, hf.receiver_gid, hf.receiver_lid,
                          hf.receiver_qpn, hf.receiver_announced});
            if (conversation && conversation->group) add_group(pinfo, rows, *conversation);
            split_mgid(pinfo, tree);
            split_arp(tree);
            split_option(tree, p.source_option);
            split_option(tree, p.target_option);
        }
    }
    add_expert_infos(pinfo, tree, expert_infos);
}

}  // namespace ipoib::dissector
