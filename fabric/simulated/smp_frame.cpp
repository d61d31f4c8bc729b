// SPDX-License-Identifier: GPL-2.0-or-later
// Telling SMPs from other frames. IBTA Vol 1, 13.5.1 and 14.2.1.
#include "fabric/simulated/smp_frame.hpp"

#include <algorithm>

namespace ipoib::fabric::simulated {
using namespace wire;

SmpFrame::SmpFrame() noexcept {
    set(Lrh::vl, management_lane).set(Lrh::lnh, Lnh::local);
    set(Lrh::packet_length, static_cast<std::uint16_t>((size - vcrc_size) / 4));
    set(Lrh::dlid, DirectedSmp::permissive_lid).set(Lrh::slid, DirectedSmp::permissive_lid);
    const MutableOctets bth{octets_.data() + Lrh::size, Bth::size};
    set_field(bth, Bth::opcode, Opcode::ud_send_only);
    set_field(bth, Bth::p_key, std::uint16_t{0xffff});
    set(DirectedSmp::base_version, 1).set(DirectedSmp::class_version, 1);
    set(DirectedSmp::mgmt_class, MgmtClass::subn_directed_route);
    set(DirectedSmp::dr_slid, DirectedSmp::permissive_lid).set(DirectedSmp::dr_dlid, DirectedSmp::permissive_lid);
}

SmpFrame::SmpFrame(Octets octets) noexcept { std::copy_n(octets.begin(), mad_offset + mad_size, octets_.begin()); }

std::optional<SmpFrame> SmpFrame::of(Octets frame) noexcept {
    if (frame.size() != size) return {};
    const auto lrh = View<Lrh>::at(frame);
    const auto bth = View<Bth>::at(frame.subspan(Lrh::size));
    const auto mad = View<Mad>::at(frame.subspan(mad_offset));
    if (lrh[Lrh::lnh] != Lnh::local || lrh[Lrh::packet_length] != (size - vcrc_size) / 4) return {};
    if (bth[Bth::opcode] != Opcode::ud_send_only || bth[Bth::dest_qp] != 0) return {};
    if (mad[Mad::base_version] != 1 || mad[Mad::class_version] != 1) return {};
    const auto mgmt_class = mad[Mad::mgmt_class];
    if (mgmt_class != MgmtClass::subn_directed_route && mgmt_class != MgmtClass::subn_lid_routed) return {};
    const auto crcs = check_crcs(frame, Tail::both);
    if (crcs.icrc == Check::bad || crcs.vcrc == Check::bad) return {};
    return SmpFrame{frame};
}

}  // namespace ipoib::fabric::simulated
