// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissector/statistics.hpp"

#include "dissector/expert.hpp"
#include "dissector/strings.hpp"

namespace ipoib::dissector {
namespace {

int tap = -1;

/// What one frame adds. It lives as long as the packet is shown.
struct Count {
    const char *kind, *group, *join;
    const ExpertInfo* expert_infos;
};

constexpr const char *packets = "Packets by type", *broken = "Requirements not kept", *groups = "Groups",
                     *joins = "Joins and leaves";
int packets_node, broken_node, groups_node, joins_node;

void begin(stats_tree* tree) {
    const auto node = [&](const char* name) { return stats_tree_create_node(tree, name, 0, STAT_DT_INT, TRUE); };
    packets_node = node(packets);
    broken_node = node(broken);
    groups_node = node(groups);
    joins_node = node(joins);
}

tap_packet_status count(stats_tree* tree, const void* data) {
    const auto& one = *static_cast<const Count*>(data);
    const auto tick = [&](const char* name, int id, const char* value) {
        tick_stat_node(tree, name, 0, TRUE);
        tick_stat_node(tree, value, id, FALSE);
    };
    tick(packets, packets_node, one.kind);
    if (*one.group) tick(groups, groups_node, one.group);
    if (*one.join) tick(joins, joins_node, one.join);
    for (const auto* info = one.expert_infos; info; info = info->next) {
        if (info->is_note || info->is_suspicion || !is_shown(*info)) continue;
        for (const auto* requirement : info->rule->checks)
            if (requirement) tick(broken, broken_node, requirement->id.data());
    }
    return TAP_PACKET_REDRAW;
}

/// The callback has one more argument from 4.2 on.
template <class Callback>
struct Adapter;
template <class... More>
struct Adapter<tap_packet_status (*)(stats_tree*, packet_info*, epan_dissect_t*, const void*, More...)> {
    static tap_packet_status call(stats_tree* tree, packet_info*, epan_dissect_t*, const void* data, More...) {
        return count(tree, data);
    }
};

}  // namespace

void register_statistics() {
    if (tap < 0) tap = register_tap("rfc4391");
    stats_tree_register_plugin("rfc4391", "rfc4391", "RFC 4391", 0, Adapter<stat_tree_packet_cb>::call, begin, nullptr);
}

void count_frame(packet_info* pinfo) {
    if (!have_tap_listener(tap)) return;
    const auto* expert_infos = capture_state() ? capture_state()->expert_infos(shown.number) : nullptr;
    if (!is_ipoib() && !shown.packet->mad && !expert_infos) return;
    auto* one = wmem_new(pinfo->pool, Count);
    one->kind = kind_of(*shown.packet);
    const auto* exchange = capture_state() ? capture_state()->exchange(shown.number) : nullptr;
    const auto* conversation = capture_state() ? capture_state()->conversation(shown.number) : nullptr;
    const Asked asked{.group = conversation && conversation->group ? &conversation->group->mgid : nullptr,
                      .method = exchange ? exchange->asked : wire::Method{}};
    // Each name is a node, and Wireshark looks through them one by one.
    one->group = counted(group_of(*shown.packet, asked));
    one->join = counted(join_result(*shown.packet, asked));
    one->expert_infos = expert_infos;
    tap_queue_packet(tap, pinfo, one);
}

}  // namespace ipoib::dissector
