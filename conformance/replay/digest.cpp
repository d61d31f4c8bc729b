// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/replay/digest.hpp"

#include "protocol/wire/text.hpp"

#include <nettle/sha2.h>
#include <array>

namespace ipoib::conformance::replay {

std::string sha256(std::string_view octets) {
    sha256_ctx context{};
    sha256_init(&context);
    sha256_update(&context, octets.size(), reinterpret_cast<const std::uint8_t*>(octets.data()));
    std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
    sha256_digest(&context, digest.size(), digest.data());
    return wire::hex_octets(digest, digest.size());
}

}  // namespace ipoib::conformance::replay
