// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/links/cause.hpp"

#include <algorithm>
#include <array>

namespace ipoib::links {
namespace {

constexpr std::array<Cause, 13> causes{{
    {"RULE-RFC4391-6-07", "no-grh",
     "Multicast packets have no GRH. An adapter finds the group by the GID in it and drops them: to its members they "
     "are lost."},
    {"RULE-RFC4391-9.1.2-03", "wrong-q-key",
     "Packets carry another Q_Key than the broadcast group's. The receiving queue pair drops them without a word."},
    {"RULE-RFC4391-10-03", "dlid-not-mlid",
     "Packets to a group go to another MLID than the one in its record. Switches forward by MLID, so they reach the "
     "members of another group, or nobody."},
    {"RULE-RFC4391-4-08", "mapping-32-bit",
     "The MGID holds all 32 bits of the IPv4 group, not the low 28. It is another group than the one that receivers "
     "join."},
    {"RULE-RFC4391-4-08-join", "mapping-32-bit",
     "A port joins an MGID that holds all 32 bits of the IPv4 group, not the low 28. It is another group than the one "
     "that others use."},
    {"RULE-RFC4391-4-05", "p-key-without-membership-bit",
     "The P_Key in the MGID of a packet is not the link's with the full-membership bit. It is another group than the "
     "one that others use."},
    {"RULE-RFC4391-4-05-join", "p-key-without-membership-bit",
     "The P_Key in the MGID of a join is not the record's with the full-membership bit. It is another group than the "
     "one that others use."},
    {"RULE-RFC4391-4-11", "another-scope",
     "MGIDs have another scope than the broadcast-GID. Receivers join the group with the link's scope, which is "
     "another one."},
    {"RULE-RFC4391-10-15", "listens-without-joining",
     "IP on a port has joined a group, but the port did not join it at the SA: it gets no packet of the group."},
    {"RULE-RFC4391-5-02-sends", "uses-link-after-leaving",
     "A port uses the link although it has left the broadcast group. It hears no ARP request any more.",
     "which it left"},
    {"RULE-RFC4391-5-02-sends", "uses-link-without-joining",
     "A port uses the link although the SA has refused its join of the broadcast group. It hears no ARP request."},
    {"RULE-RFC4391-9.1.1-04-ipv4", "stale-address",
     "Unicast packets go to a queue pair that the receiver has not announced."},
    {"RULE-RFC4391-7-05", "too-large", "Packets are larger than the link MTU. They are dropped on the way."},
}};

// Rules on who has to be a member of what.
constexpr std::string_view on_groups = "RULE-RFC4391-10-", on_link = "RULE-RFC4391-5-02",
                           on_answers = "RULE-RFC4392-4.";

constexpr std::array explained{
    Explanation{"two-broadcast-groups", "wrong-q-key", Tie::link},
    Explanation{"two-broadcast-groups", "dlid-not-mlid", Tie::link},
    Explanation{"two-broadcast-groups", "another-scope", Tie::link},
    Explanation{"two-broadcast-groups", "join-refused", Tie::link},
    Explanation{"sm-restarted", "uses-link-after-leaving", Tie::port},
    Explanation{"sm-restarted", "uses-link-without-joining", Tie::port},
    Explanation{"sm-restarted", "listens-without-joining", Tie::port_and_group},
    Explanation{"sm-restarted", "sender-never-joined", Tie::port_and_group},
    Explanation{"sm-restarted", "no-such-group", Tie::port_and_group},
    Explanation{"sm-restarted", "join-refused", Tie::port_and_group},
    Explanation{"sm-restarted", "not-kept", Tie::port_and_group, on_groups},
    Explanation{"sm-restarted", "not-kept", Tie::port_and_group, on_link},
    Explanation{"mapping-32-bit", "mapping-32-bit", Tie::group},
    Explanation{"mapping-32-bit", "no-such-group", Tie::group},
    Explanation{"mapping-32-bit", "sender-never-joined", Tie::group},
    Explanation{"mapping-32-bit", "join-refused", Tie::group},
    Explanation{"mapping-32-bit", "not-kept", Tie::group, on_groups},
    Explanation{"p-key-without-membership-bit", "p-key-without-membership-bit", Tie::group},
    Explanation{"p-key-without-membership-bit", "no-such-group", Tie::group},
    Explanation{"p-key-without-membership-bit", "sender-never-joined", Tie::group},
    Explanation{"p-key-without-membership-bit", "join-refused", Tie::group},
    Explanation{"p-key-without-membership-bit", "not-kept", Tie::group, on_groups},
    Explanation{"another-scope", "no-such-group", Tie::group},
    Explanation{"another-scope", "sender-never-joined", Tie::group},
    Explanation{"another-scope", "join-refused", Tie::group},
    Explanation{"another-scope", "not-kept", Tie::group, on_groups},
    Explanation{"join-refused", "uses-link-without-joining", Tie::port},
    Explanation{"join-refused", "listens-without-joining", Tie::port_and_group},
    Explanation{"join-refused", "sender-never-joined", Tie::port_and_group},
    Explanation{"join-refused", "not-kept", Tie::port_and_group, on_groups},
    Explanation{"join-refused", "not-kept", Tie::port, on_link},
    Explanation{"join-refused", "not-kept", Tie::port_and_group, on_answers},
    Explanation{"sender-before-group", "sender-never-joined", Tie::port_and_group},
    Explanation{"sender-before-group", "not-kept", Tie::port_and_group, on_groups},
    Explanation{"group-limit", "no-such-group", Tie::port_and_group},
    Explanation{"group-limit", "listens-without-joining", Tie::port_and_group},
    Explanation{"group-limit", "sender-never-joined", Tie::port_and_group},
    Explanation{"group-limit", "not-kept", Tie::port_and_group, on_groups},
    Explanation{"no-such-group", "sender-never-joined", Tie::port_and_group},
    Explanation{"no-such-group", "not-kept", Tie::port_and_group, on_groups},
    Explanation{"uses-link-after-leaving", "not-kept", Tie::port, on_link},
    Explanation{"uses-link-after-leaving", "not-kept", Tie::frames},
    Explanation{"uses-link-without-joining", "not-kept", Tie::port, on_link},
    Explanation{"uses-link-without-joining", "not-kept", Tie::frames},
    Explanation{"listens-without-joining", "not-kept", Tie::port_and_group, on_groups},
    Explanation{"no-grh", "not-kept", Tie::frames},
    Explanation{"wrong-q-key", "not-kept", Tie::frames},
    Explanation{"dlid-not-mlid", "not-kept", Tie::frames},
    Explanation{"mapping-32-bit", "not-kept", Tie::frames},
    Explanation{"p-key-without-membership-bit", "not-kept", Tie::frames},
    Explanation{"another-scope", "not-kept", Tie::frames},
    Explanation{"stale-address", "not-kept", Tie::frames},
    Explanation{"too-large", "not-kept", Tie::frames},
};

}  // namespace

const Cause* cause_of(std::string_view rule, const reports::Detail& detail) noexcept {
    const auto found = std::ranges::find_if(causes, [&](const Cause& one) {
        return one.rule == rule && (one.when.empty() || detail.actual.find(one.when) != std::string::npos);
    });
    return found == causes.end() ? nullptr : &*found;
}

std::span<const Explanation> explanations() noexcept { return explained; }

}  // namespace ipoib::links
