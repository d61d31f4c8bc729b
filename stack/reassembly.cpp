// SPDX-License-Identifier: GPL-2.0-or-later
// Fragments put together again.
#include "stack/reassembly.hpp"

#include <algorithm>

namespace ipoib::stack {
using namespace wire;

void Reassembly::make_room(fabric::Time now) {
    std::erase_if(datagrams_, [&](const auto& item) { return now - item.second.began >= patience; });
    if (datagrams_.size() < most_datagrams) return;
    const auto is_older = [](const auto& a, const auto& b) { return a.second.began < b.second.began; };
    datagrams_.erase(std::min_element(datagrams_.begin(), datagrams_.end(), is_older));
}

Octets Reassembly::add(const Key& key, std::size_t offset, bool has_more, Octets piece, fabric::Time now) {
    const auto end = offset + piece.size();
    has_overlapped_ = false;
    if (piece.empty() || end > longest || offset % unit != 0 || (has_more && piece.size() % unit != 0)) return {};
    auto found = datagrams_.find(key);
    if (found == datagrams_.end() || now - found->second.began >= patience) {
        make_room(now);
        found = datagrams_.insert_or_assign(key, Datagram{.began = now}).first;
    }
    auto& datagram = found->second;
    const bool contradicts = datagram.length != 0 && (end > datagram.length || (!has_more && end != datagram.length));
    if (contradicts || (!has_more && end < datagram.octets.size())) {
        datagrams_.erase(found);
        return {};
    }
    if (!has_more) datagram.length = end;
    if (datagram.octets.size() < end) datagram.octets.resize(end);
    std::copy(piece.begin(), piece.end(), datagram.octets.begin() + static_cast<std::ptrdiff_t>(offset));
    for (auto i = offset / unit; i < (end + unit - 1) / unit; ++i) {
        has_overlapped_ = has_overlapped_ || datagram.units.test(i);
        datagram.units.set(i);
    }
    if (datagram.length == 0 || datagram.units.count() != (datagram.length + unit - 1) / unit) return {};
    whole_ = std::move(datagram.octets);
    datagrams_.erase(found);
    return whole_;
}

}  // namespace ipoib::stack
