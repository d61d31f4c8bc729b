// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong multicast routers. RFC 4391, 11.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {

const Mutant router_lists_nothing{
    .name = "router-lists-nothing",
    .what = "as a router knows only groups that are created later",
    .breaks = {&rfc4391::router_lists_groups, &rfc4391::router_listens_to_all_groups},
    .stack = [](Policy& policy) { policy.router_lists_groups = false; },
    .twin = Twin{.breaks = Broken{&rfc4391::router_listens_to_all_groups}},
};

const Mutant router_joins_as_full_member{
    .name = "router-full-member",
    .what = "as a router joins groups as FullMember",
    .breaks = {&rfc4391::router_non_member_join, &rfc4391::router_wildcard_subscription,
               &rfc4392::router_follows_creations},
    .stack = [](Policy& policy) { policy.router_join_state = join_state::full_member; },
    .twin = Twin{},
};

const Mutant router_of_ipv4_only{
    .name = "router-ipv4-only",
    .what = "as a router joins groups of IPv4 only",
    .breaks = {&rfc4391::router_listens_to_all_groups, &rfc4391::router_wildcard_subscription,
               &rfc4392::router_follows_creations},
    .stack =
        [](Policy& policy) {
            policy.router_wants = [](const Gid& mgid, const Link& link) {
                return stack::answers::is_group_of_link(mgid, link) && ipv4_group_of(mgid).has_value();
            };
        },
    .spares = {"IPOIB-4391-11-VAL-005"},
};

const Mutant router_ignores_creation{
    .name = "router-ignores-creation",
    .what = "as a router does not join groups that are created later",
    .breaks = {&rfc4391::router_wildcard_subscription, &rfc4392::router_follows_creations},
    .stack = [](Policy& policy) { policy.router_heeds_creation = false; },
    .twin = Twin{},
};

const Mutant router_lists_once{
    .name = "router-lists-once",
    .what = "as a router joins no group again when the subnet administrator has lost its memberships",
    .breaks = {&rfc4391::router_wildcard_subscription, &rfc4392::router_follows_creations},
    .stack = [](Policy& policy) { policy.router_begins_anew = false; },
    .spares = {"IPOIB-4391-11-VAL-002"},
};

const Mutant router_joins_once{
    .name = "router-joins-once",
    .what = "as a router does not join a group again that had ended",
    .breaks = {&rfc4391::router_wildcard_subscription, &rfc4392::router_follows_creations},
    .stack = [](Policy& policy) { policy.router_forgets_deleted = false; },
    .spares = {"IPOIB-4391-11-VAL-005"},
};

const Mutant router_joins_to_send{
    .name = "router-send-only",
    .what = "as a router joins groups as SendOnlyNonMember",
    .breaks = {&rfc4391::router_non_member_join, &rfc4391::router_wildcard_subscription,
               &rfc4392::router_follows_creations},
    .stack = [](Policy& policy) { policy.router_join_state = join_state::send_only_non_member; },
    .twin = Twin{},
};

}  // namespace ipoib::conformance
