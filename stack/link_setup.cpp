// SPDX-License-Identifier: GPL-2.0-or-later
// From a port to a link.
#include "stack/link_setup.hpp"

#include "stack/backoff.hpp"
#include "stack/interface.hpp"

#include <algorithm>

namespace ipoib::stack {
using namespace std::chrono_literals;

void LinkSetup::start() {
    lifetime_.renew();
    backoff_ = shortest_backoff;
    interface_.groups().end_searches();
    begin();
}

void LinkSetup::begin() {
    if (!interface_.port().is_active) return interface_.link_lost("the port is not active");
    const auto p_key = chosen_p_key();
    if (!p_key) return interface_.link_lost("the port does not have the P_Key of the link");
    p_key_ = *p_key;
    search(0);
}

/// RFC 4391, 5: the P_Key is configuration, or the first of the port's table. Limited members have it too.
std::optional<std::uint16_t> LinkSetup::chosen_p_key() const {
    const auto& p_keys = interface_.port().p_keys;
    const auto wanted = interface_.p_key();
    std::optional<std::uint16_t> limited;
    for (const auto p_key : p_keys) {
        if ((p_key & ~wire::full_membership) == 0) continue;
        if (wanted != 0 && !wire::is_same_partition(p_key, wanted)) continue;
        if (wire::is_full_member(p_key)) return p_key;
        if (!limited) limited = p_key;
        if (wanted == 0) break;
    }
    return limited;
}

std::vector<std::uint8_t> LinkSetup::scopes() const {
    if (const auto scope = interface_.scope(); scope != 0) return {scope};
    const auto& all = interface_.policy().search_scopes;
    return {all.begin(), all.end()};
}

/// RFC 4391, 4.1: in ever greater scope, beginning with the local one.
void LinkSetup::search(std::size_t index) {
    const auto candidates = scopes();
    if (index >= candidates.size()) {
        const auto& policy = interface_.policy();
        if (policy.needs_broadcast_group) return retry("there is no broadcast group");
        const auto supposed = candidates.front();
        return adopt(supposed,
                     {.mgid = policy.broadcast_gid(p_key_, supposed), .mlid = 0xc000, .q_key = 0x0b1b, .mtu = 4});
    }
    const auto scope = candidates[index];
    const auto answered = [this, index, scope](const Groups::Answer& answer) {
        if (answer.outcome == Groups::Outcome::ok) return join(scope, *answer.group);
        if (answer.outcome == Groups::Outcome::missing) return search(index + 1);
        retry("no answer about the broadcast group: " + answer.reason);
    };
    interface_.groups().find(interface_.policy().broadcast_gid(p_key_, scope), lifetime_.guard(answered));
}

/// RFC 4391, 5: every interface is a FullMember of the broadcast group.
void LinkSetup::join(std::uint8_t found_in, const Group& found) {
    const auto& policy = interface_.policy();
    const auto scope = policy.joined_scope(found_in);
    if (!policy.joins_broadcast_group) return adopt(scope, found);
    const auto answered = [this, scope, found](const Groups::Answer& answer) {
        if (answer.outcome == Groups::Outcome::ok) return adopt(scope, *answer.group);
        if (!interface_.policy().needs_join) return adopt(scope, found);
        retry("the broadcast group cannot be joined: " + answer.reason);
    };
    interface_.groups().join(policy.broadcast_gid(p_key_, scope), policy.broadcast_join_state, false,
                             lifetime_.guard(answered));
}

/// RFC 4391, 5: what the join returned becomes the interface's.
void LinkSetup::adopt(std::uint8_t scope, const Group& group) {
    const auto& policy = interface_.policy();
    Link link;
    link.p_key = p_key_;
    link.scope = scope;
    link.q_key = policy.adopted_q_key(group);
    link.mtu = policy.adopted_mtu(group);
    link.sl = policy.adopted_sl(group);
    link.traffic_class = policy.adopted_traffic_class(group);
    link.flow_label = policy.adopted_flow_label(group);
    link.hop_limit = policy.adopted_hop_limit(group);
    link.broadcast_mlid = group.mlid;
    link.rate = group.rate;
    link.lifetime = group.lifetime;
    const bool is_supported = policy.supports_link_mtu(group.mtu, interface_.port().mtu);
    if (!is_supported || mtu_octets(link.mtu) == 0) {
        interface_.groups().leave(group.mgid, policy.broadcast_join_state);
        return retry("the port does not support the MTU of the broadcast group");
    }
    backoff_ = shortest_backoff;
    auto broadcast = group;
    broadcast.traffic_class = link.traffic_class;
    broadcast.flow_label = link.flow_label;
    broadcast.hop_limit = link.hop_limit;
    interface_.link_up(link, broadcast);
}

void LinkSetup::retry(const std::string& reason) {
    interface_.link_lost(reason);
    if (!interface_.policy().retries_setup) return;
    interface_.loop().after(backoff_, lifetime_.guard([this] { begin(); }));
    backoff_ = std::min(2 * backoff_, longest_backoff);
}

}  // namespace ipoib::stack
