// SPDX-License-Identifier: GPL-2.0-or-later
// The chapter on UD multicasting: the headers of a multicast packet.
#include "protocol/requirements/catalogue.hpp"
#include "protocol/rules/common.hpp"

namespace ipoib::rules {
namespace {

constexpr Rule rules_of_udmc[] = {
    {.id = "RULE-UDMC-02",
     .checks = {&udmc::multicast_destqp},
     .title = "DestQP of a multicast packet is 0xFFFFFF",
     .needs = over_ib | parts(Part::lrh, Part::deth),
     .evidence = Evidence::one_frame,
     .applies = [](const Packet& p) { return p.is_multicast; },
     .holds = [](const Packet& p) { return p.bth[Bth::dest_qp] == Bth::multicast_qp; },
     .points_at = Bth::dest_qp,
     .expected = "0xffffff"},
    {.id = "RULE-UDMC-04",
     .checks = {&udmc::multicast_destination},
     .title = "DLID is an MLID where DGID is an MGID, and only there",
     .needs = over_ib | parts(Part::lrh, Part::grh),
     .evidence = Evidence::one_frame,
     .applies = [](const Packet& p) { return p.is_multicast; },
     .holds = [](const Packet& p) { return is_multicast_lid(p.lrh[Lrh::dlid]) && static_cast<bool>(p.mgid); },
     .points_at = Lrh::dlid,
     .expected = "an MLID and an MGID",
     .actual_of = [](const Packet& p,
                     const Known&) { return "DLID " + hex(p.lrh[Lrh::dlid], 4) + ", DGID " + text(p.grh[Grh::dgid]); }},
};
static_assert(are_declared(rules_of_udmc));

}  // namespace

std::span<const Rule> udmc() { return rules_of_udmc; }

}  // namespace ipoib::rules
