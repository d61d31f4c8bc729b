// SPDX-License-Identifier: GPL-2.0-or-later
// Frames that carry a MAD.
#include "fabric/node/mad_frame.hpp"

#include <algorithm>

namespace ipoib::fabric {
using namespace wire;

namespace {

constexpr std::size_t headers_size = Lrh::size + Bth::size + Deth::size;
constexpr std::size_t to_icrc_end = headers_size + mad_size + icrc_size;
static_assert(to_icrc_end % 4 == 0);

}  // namespace

MadPath MadPath::back(const Packet& packet, std::uint16_t own_lid) noexcept {
    return {.slid = own_lid,
            .dlid = packet.lrh[Lrh::slid],
            .sl = packet.lrh[Lrh::sl],
            .p_key = packet.bth[Bth::p_key],
            .src_qp = packet.bth[Bth::dest_qp],
            .dest_qp = packet.deth[Deth::src_qp]};
}

Frame mad_frame(const MadPath& path, const MadOctets& mad, std::uint32_t psn) {
    std::array<std::uint8_t, to_icrc_end + vcrc_size> octets{};
    const bool is_smp = path.dest_qp == 0;
    const MutableOctets lrh{octets.data(), Lrh::size}, bth{octets.data() + Lrh::size, Bth::size},
        deth{octets.data() + Lrh::size + Bth::size, Deth::size};
    set_field(lrh, Lrh::vl, is_smp ? management_vl : std::uint8_t{0});
    set_field(lrh, Lrh::sl, path.sl);
    set_field(lrh, Lrh::lnh, Lnh::local);
    set_field(lrh, Lrh::dlid, path.dlid);
    set_field(lrh, Lrh::packet_length, to_icrc_end / 4);
    set_field(lrh, Lrh::slid, path.slid);
    set_field(bth, Bth::opcode, Opcode::ud_send_only);
    set_field(bth, Bth::migration, true);
    set_field(bth, Bth::p_key, path.p_key);
    set_field(bth, Bth::dest_qp, path.dest_qp);
    set_field(bth, Bth::psn, psn);
    set_field(deth, Deth::q_key, is_smp ? 0 : gsi_q_key);
    set_field(deth, Deth::src_qp, path.src_qp);
    std::copy(mad.begin(), mad.end(), octets.begin() + headers_size);
    return Frame{octets};
}

Frame with_psn(const Frame& mad_frame, std::uint32_t psn) {
    std::array<std::uint8_t, to_icrc_end + vcrc_size> octets{};
    const auto before = mad_frame.octets();
    std::copy_n(before.begin(), std::min(before.size(), octets.size()), octets.begin());
    set_field(MutableOctets{octets.data() + Lrh::size, Bth::size}, Bth::psn, psn);
    return Frame{octets};
}

}  // namespace ipoib::fabric
