// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/capture/pool.hpp"

namespace ipoib::capture {

Pool& Pool::memory() noexcept {
    static Pool all{std::size_t{168} << 20};
    return all;
}

Pool& Pool::disk() noexcept {
    static Pool all{std::size_t{2} << 30};
    return all;
}

bool Pool::take(std::size_t octets, std::size_t leaving) noexcept {
    auto held = held_.load();
    do {
        const auto most = most_.load();
        if (leaving > most || octets > most - leaving || held > most - leaving - octets) return false;
    } while (!held_.compare_exchange_weak(held, held + octets));
    return true;
}

}  // namespace ipoib::capture
