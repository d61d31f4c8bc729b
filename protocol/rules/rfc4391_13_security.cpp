// SPDX-License-Identifier: GPL-2.0-or-later
// RFC 4391, 13: what keeps unprivileged software off the link.
#include "protocol/requirements/catalogue.hpp"
#include "protocol/rules/common.hpp"

namespace ipoib::rules {
namespace {

constexpr Rule rules_of_rfc4391_13[] = {
    // Where the group has an ordinary Q_Key its members must use that; RULE-RFC4391-4.1-02 charges the administrator.
    // Without its record it cannot be told who is to blame.
    {.id = "RULE-RFC4391-13-02",
     .checks = {&rfc4391::controlled_qkey_in_all_packets},
     .title = "packets carry a controlled Q_Key",
     .needs = over_ib | parts(Part::deth),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::q_key),
     .over = since_told_q_key,
     .applies = [](const Packet&, const Known& known) { return is_controlled(known.broadcast->q_key); },
     .holds = [](const Packet& p,
                 const Known& known) { return is_controlled(p.deth[Deth::q_key]) || has_q_key_of_its_group(p, known); },
     .points_at = Deth::q_key,
     .expected = "the high bit set"},
};
static_assert(are_declared(rules_of_rfc4391_13));

}  // namespace

std::span<const Rule> rfc4391_13() { return rules_of_rfc4391_13; }

}  // namespace ipoib::rules
