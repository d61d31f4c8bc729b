// SPDX-License-Identifier: GPL-2.0-or-later
// What a multicast router listens to.
#include "stack/router.hpp"

#include "stack/interface.hpp"
#include "stack/octets.hpp"

namespace ipoib::stack {
using namespace wire;

void Router::enable() {
    if (std::exchange(is_enabled_, true)) return;
    for (const bool is_v4 : {true, false}) interface_.membership().hold(all_routers(is_v4));
    if (interface_.is_running()) link_up();
}

void Router::disable() {
    if (!std::exchange(is_enabled_, false)) return;
    lifetime_.renew();
    for (const bool is_v4 : {true, false}) interface_.membership().release(all_routers(is_v4));
    for (const auto& mgid : std::exchange(joined_, {}))
        interface_.groups().leave(mgid, interface_.policy(family_of_group(mgid)).router_join_state);
}

void Router::link_up() {
    if (!joined_.empty() && !interface_.policy().router_begins_anew) return;
    lifetime_.renew();
    joined_.clear();
    if (is_enabled_ && interface_.policy().router_lists_groups) list_groups();
}

/// RFC 4391, 11 A: the groups that exist, from the SA.
void Router::list_groups() {
    auto on_answer = [this](const fabric::SaAnswer& answer) {
        if (!answer.is_ok()) {
            if (interface_.policy().logs_failures) interface_.log("list of groups failed: " + reason_of(answer));
            return;
        }
        const auto size = answer.record_size == 0 ? answer.data.size() : answer.record_size;
        for (Octets rest{answer.data}; rest.size() >= McMemberRecord::size;
             rest = rest.subspan(std::min(size, rest.size()))) {
            const auto mgid = View<McMemberRecord>::at(rest)[McMemberRecord::mgid];
            if (interface_.policy(family_of_group(mgid)).router_lists_groups) join(mgid);
        }
    };
    const Bytes<McMemberRecord> any;
    interface_.sa().ask(
        {.method = Method::get_table, .attribute = attribute::mc_member_record, .record = octets_of(any)},
        lifetime_.guard(std::move(on_answer)));
}

/// RFC 4391, 11 B. The broadcast group has the interface as a FullMember already.
void Router::join(const Gid& mgid) {
    const auto& policy = interface_.policy(family_of_group(mgid));
    if (!policy.router_wants(mgid, interface_.link()) || mgid == interface_.link().broadcast_gid()) return;
    if (joined_.size() >= Groups::most_groups || !joined_.insert(mgid).second) return;
    const auto answered = [this, mgid](const Groups::Answer& answer) {
        if (answer.outcome != Groups::Outcome::ok) joined_.erase(mgid);
    };
    interface_.groups().join(mgid, policy.router_join_state, false, lifetime_.guard(answered));
}

/// RFC 4391, 11 C.
void Router::group_created(const Gid& mgid) {
    const auto& policy = interface_.policy(family_of_group(mgid));
    if (!is_enabled_ || !policy.router_heeds_creation) return;
    // It has ended before, whether that was reported or not.
    if (policy.router_forgets_deleted && policy.router_begins_anew) joined_.erase(mgid);
    join(mgid);
}

void Router::group_deleted(const Gid& mgid) {
    if (interface_.policy(family_of_group(mgid)).router_forgets_deleted) joined_.erase(mgid);
}

}  // namespace ipoib::stack
