// SPDX-License-Identifier: GPL-2.0-or-later
// The fields of the transport that a completion tells.
#include "protocol/wire/rebuilt.hpp"

#include "protocol/wire/bth.hpp"
#include "protocol/wire/lrh.hpp"

namespace ipoib::wire {
namespace {

template <class... Field>
bool is_one_of(const FieldSpec& field, const Field&... those) noexcept {
    return ((field.at.bit == those.at.bit) || ...);
}

}  // namespace

bool is_told_by_rebuilt(const HeaderSpec& header, const FieldSpec& field, bool is_multicast) noexcept {
    if (header.key == Lrh::key)
        return is_one_of(field, Lrh::sl, Lrh::lnh, Lrh::packet_length, Lrh::slid) ||
               (!is_multicast && is_one_of(field, Lrh::dlid));
    if (header.key == Bth::key)
        return is_one_of(field, Bth::opcode) || (!is_multicast && is_one_of(field, Bth::dest_qp));
    if (header.key == Deth::key) return is_one_of(field, Deth::q_key, Deth::src_qp);
    return true;
}

}  // namespace ipoib::wire
