// SPDX-License-Identifier: GPL-2.0-or-later
// Headers of one packet in another one.
#pragma once

#include "protocol/build/packet_builder.hpp"

#include <algorithm>

namespace ipoib::build {

/// Appends the headers of these types that `from` has, the last of each, in this order, for build() to fill in anew.
template <class... Header>
PacketBuilder& append_headers(PacketBuilder& to, const PacketBuilder& from) {
    const auto append = [&to]<class H>(wire::View<H> view) {
        if (!view) return;
        wire::Bytes<H> header;
        std::copy_n(view.data(), H::size, header.octets.begin());
        to.add(header);
    };
    (append(from.get<Header>()), ...);
    return to;
}

}  // namespace ipoib::build
