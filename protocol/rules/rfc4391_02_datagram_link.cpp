// SPDX-License-Identifier: GPL-2.0-or-later
// RFC 4391, 2: the transport service that carries IP.
#include "protocol/requirements/catalogue.hpp"
#include "protocol/rules/common.hpp"

namespace ipoib::rules {
namespace {

constexpr Rule rules_of_rfc4391_02[] = {
    // Connected mode is an extension beside it: what goes over a connection says nothing here.
    {.id = "RULE-RFC4391-2-01",
     .checks = {&rfc4391::ud_transport},
     .title = "datagrams go as UD SEND Only",
     .needs = over_ib | parts(Part::deth),
     .evidence = Evidence::one_frame,
     .holds =
         [](const Packet& p) {
             const auto opcode = p.bth[Bth::opcode];
             return opcode == Opcode::ud_send_only || opcode == Opcode::ud_send_only_immediate;
         },
     .points_at = Bth::opcode,
     .expected = "0x64 or 0x65"},
};
static_assert(are_declared(rules_of_rfc4391_02));

}  // namespace

std::span<const Rule> rfc4391_02() { return rules_of_rfc4391_02; }

}  // namespace ipoib::rules
