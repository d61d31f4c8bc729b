// SPDX-License-Identifier: GPL-2.0-or-later
// An IP packet that stands where no encapsulation header of RFC 4391 leads to.
#include "protocol/wire/misplaced.hpp"

#include "protocol/wire/decoder.hpp"

namespace ipoib::wire {

bool is_misplaced_ip(const Packet& packet) {
    constexpr std::size_t type = 2, ethernet = 14;
    const auto payload = packet.payload;
    const auto is_ip_at = [&](std::size_t at) {
        return payload.size() > at && detail::is_exact_ip(payload.subspan(at), packet.payload_length - at);
    };
    // The two octets before name it, unless nothing is before.
    const auto is_named_at = [&](std::size_t at) {
        return is_ip_at(at) && EtherType{detail::be16(payload, at - type)} == detail::content_of(payload.subspan(at));
    };
    if (is_ip_at(Encap::size)) return false;
    return is_ip_at(0) || is_named_at(type) || is_named_at(ethernet);
}

}  // namespace ipoib::wire
