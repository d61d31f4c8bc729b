// SPDX-License-Identifier: GPL-2.0-or-later
// What a stack makes of answers that come late, or in another order than it asked; and of what was true before.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {

using stack::AnswerOf;

const Mutant oldest_path{
    .name = "path-of-oldest-question",
    .what = "takes each path that it is told for the peer that it has asked for first and knows none to yet",
    .breaks = {&rfc4391::lid_by_iba_methods},
    .stack = [](Policy& policy) { policy.path_answer = AnswerOf::oldest_question; },
    .spares = {"IPOIB-4391-5-VAL-013", "IPOIB-4391-9.1.1-VAL-007", "IPOIB-4391-9.1.2-VAL-002",
               "IPOIB-4391-9.1.2-VAL-005", "IPOIB-4391-9.1.2-VAL-006", "IPOIB-4391-9.1.2-VAL-007"},
    .twin = Twin{},
};

const Mutant newest_path{
    .name = "path-of-newest-question",
    .what = "takes each path that it is told for the peer that it has asked for last and knows none to yet",
    .breaks = {&rfc4391::lid_by_iba_methods},
    .stack = [](Policy& policy) { policy.path_answer = AnswerOf::newest_question; },
    .spares = {"IPOIB-4391-5-VAL-013", "IPOIB-4391-9.1.1-VAL-007", "IPOIB-4391-9.1.2-VAL-002",
               "IPOIB-4391-9.1.2-VAL-005", "IPOIB-4391-9.1.2-VAL-006", "IPOIB-4391-9.1.2-VAL-007"},
    .twin = Twin{},
};

const Mutant oldest_join{
    .name = "join-of-oldest-question",
    .what = "takes the answer to each join for that to the first one that is not answered yet",
    .breaks = {&rfc4391::mlid_as_dlid},
    .stack = [](Policy& policy) { policy.join_answer = AnswerOf::oldest_question; },
    .spares = {"IPOIB-4391-10-VAL-019"},
    .twin = Twin{},
};

const Mutant newest_join{
    .name = "join-of-newest-question",
    .what = "takes the answer to each join for that to the last one that is not answered yet",
    .breaks = {&rfc4391::mlid_as_dlid},
    .stack = [](Policy& policy) { policy.join_answer = AnswerOf::newest_question; },
    // The groups of a link are all asked for at once.
    .sometimes = {&rfc4391::receiver_full_member_join, &rfc4392::receiver_joins, &rfc4391::ipv6_resolved_by_nd,
                  &rfc4391::ip_to_advertised_qpn},
    .spares = {"IPOIB-4391-10-VAL-019"},
    .twin = Twin{},
};

const Mutant stays_in_unwanted_groups{
    .name = "stays-in-unwanted-groups",
    .what = "stays in a group whose join is answered when its program has left it already",
    .breaks = {&rfc4391::leaves_group},
    .stack = [](Policy& policy) { policy.leaves_unwanted = false; },
    .spares = {"IPOIB-4391-10-VAL-008", "IPOIB-4391-10-VAL-015", "IPOIB-4391-10-VAL-023", "IPOIB-4391-10-VAL-026",
               "IPOIB-4391-10-VAL-031"},
    .twin = Twin{},
};

const Mutant leaks_unanswered_joins{
    .name = "leaks-unanswered-joins",
    .what = "does not leave the groups whose joins are not answered yet when it is taken down",
    .breaks = {&rfc4391::leaves_group},
    .stack = [](Policy& policy) { policy.leaves_unanswered_when_down = false; },
    .spares = {"IPOIB-4391-10-VAL-008", "IPOIB-4391-10-VAL-015", "IPOIB-4391-10-VAL-023", "IPOIB-4391-10-VAL-026",
               "IPOIB-4391-10-VAL-030"},
    .twin = Twin{},
};

const Mutant answers_for_former_address{
    .name = "answers-for-former-address",
    .what = "answers for addresses that were taken away from it",
    .breaks = {&rfc4391::ipv4_resolved_by_arp, &rfc4391::ipv6_resolved_by_nd},
    .stack = [](Policy& policy) { policy.answers_for_former = true; },
    .spares = {"IPOIB-4391-9.1.2-VAL-007", "IPOIB-4391-9.2-VAL-002", "IPOIB-4391-9.3-VAL-002",
               "IPOIB-4391-9.2-VAL-003"},
    .twin = Twin{.breaks = Broken{&rfc4391::ipv6_resolved_by_nd},
                 .spares = Spared{"IPOIB-4391-9.1.2-VAL-007", "IPOIB-4391-9.3-VAL-002"}},
};

const Mutant asks_from_former_address{
    .name = "asks-from-former-address",
    .what = "asks for neighbours from an address that was taken away from it",
    .breaks = {&rfc4391::ipv4_resolved_by_arp, &rfc4391::ipv6_resolved_by_nd},
    .stack = [](Policy& policy) { policy.asks_from_former = true; },
    .spares = {"IPOIB-4391-9.1.2-VAL-007", "IPOIB-4391-9.2-VAL-002", "IPOIB-4391-9.3-VAL-002",
               "IPOIB-4391-9.2-VAL-003"},
    .twin = Twin{.breaks = Broken{&rfc4391::ipv6_resolved_by_nd},
                 .spares = Spared{"IPOIB-4391-9.1.2-VAL-007", "IPOIB-4391-9.3-VAL-002"}},
};

const Mutant asks_again_from_former_address{
    .name = "asks-again-from-former-address",
    .what = "asks a known neighbour from the address that it had when it asked first",
    .breaks = {&rfc4391::ipv4_resolved_by_arp, &rfc4391::ipv6_resolved_by_nd},
    .stack = [](Policy& policy) { policy.asks_again_as_before = true; },
    .spares = {"IPOIB-4391-9.1.2-VAL-007", "IPOIB-4391-9.2-VAL-002", "IPOIB-4391-9.3-VAL-002",
               "IPOIB-4391-9.2-VAL-003"},
    .twin = Twin{.breaks = Broken{&rfc4391::ipv6_resolved_by_nd},
                 .spares = Spared{"IPOIB-4391-9.1.2-VAL-007", "IPOIB-4391-9.3-VAL-002"}},
};

const Mutant hop_limit_of_link{
    .name = "unicast-hop-limit-of-link",
    .what = "sends unicast to other IB subnets with the HopLimit of the broadcast group, whatever the path has",
    .breaks = {&rfc4391::multicast_parameters_of_group},
    .stack = [](Policy& policy) { policy.unicast_hop_limit = [](const Link& link, auto) { return link.hop_limit; }; },
    .spares = {"IPOIB-4391-4.1-VAL-003"},
    .twin = Twin{},
};

const Mutant hop_limit_zero{
    .name = "unicast-hop-limit-0",
    .what = "sends unicast to other IB subnets with HopLimit 0",
    .breaks = {&rfc4391::multicast_parameters_of_group},
    .stack = [](Policy& policy) { policy.unicast_hop_limit = [](const Link&, auto) { return std::uint8_t{0}; }; },
    .spares = {"IPOIB-4391-4.1-VAL-003"},
    .twin = Twin{},
};

const Mutant hop_limit_one{
    .name = "unicast-hop-limit-1",
    .what = "sends unicast to other IB subnets with HopLimit 1",
    .breaks = {&rfc4391::multicast_parameters_of_group},
    .stack = [](Policy& policy) { policy.unicast_hop_limit = [](const Link&, auto) { return std::uint8_t{1}; }; },
    .spares = {"IPOIB-4391-4.1-VAL-003"},
    .twin = Twin{},
};

const Mutant hop_limit_two{
    .name = "unicast-hop-limit-2",
    .what = "sends unicast to other IB subnets with HopLimit 2, though the path is longer",
    .breaks = {&rfc4391::multicast_parameters_of_group},
    .stack = [](Policy& policy) { policy.unicast_hop_limit = [](const Link&, auto) { return std::uint8_t{2}; }; },
    .spares = {"IPOIB-4391-4.1-VAL-003"},
    .twin = Twin{},
};

const Mutant ignores_silence{
    .name = "ignores-silence",
    .what = "asks known neighbours again, and sends on for ever to one that answers no more",
    .breaks = {&rfc4391::arp_cache_revalidation},
    .stack = [](Policy& policy) { policy.forgets_silent = false; },
    .spares = {"IPOIB-4391-9.4-VAL-001"},
    .twin = Twin{},
};

}  // namespace ipoib::conformance
