// SPDX-License-Identifier: GPL-2.0-or-later
// Frames that were rebuilt from what a queue pair or a MAD layer tells of a datagram: which fields are as they were on
// the wire, and which are as a right sender would have had them. IBTA Vol 1, 11.4.2.1.
#pragma once

#include "protocol/wire/field.hpp"

namespace ipoib::wire {

/// Whether the completion tells the field of such a packet, or the adapter lets nothing but this value through. Neither
/// tells whether the sender's P_Key was that of a full member, nor what a multicast packet had as DLID and DestQP.
[[nodiscard]] bool is_told_by_rebuilt(const HeaderSpec& header, const FieldSpec& field, bool is_multicast) noexcept;

}  // namespace ipoib::wire
