// SPDX-License-Identifier: GPL-2.0-or-later
// Where the key comes from.
#include "base/secret_hash.hpp"

#include <sys/random.h>

#include <random>

namespace ipoib {
namespace {

std::array<std::uint64_t, 2> drawn() {
    std::array<std::uint64_t, 2> key{};
    if (::getrandom(key.data(), sizeof key, 0) == static_cast<ssize_t>(sizeof key)) return key;
    // A sandbox may forbid the call; this throws where there is no other source.
    std::random_device device;
    for (auto& word : key) word = std::uint64_t{device()} << 32 | device();
    return key;
}

}  // namespace

const std::array<std::uint64_t, 2> hash_key = drawn();

}  // namespace ipoib
