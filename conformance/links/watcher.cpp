// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/links/watcher.hpp"

#include <algorithm>
#include <iterator>

namespace ipoib::links {

Observer::Observer() {
    for (const auto make : {watch_addresses, watch_partitions, watch_silence, watch_sizes, watch_leases, watch_notices})
        watchers_.push_back(make());
}

std::vector<Trouble> Observer::troubles() const {
    std::vector<Trouble> all;
    for (const auto& watcher : watchers_) std::ranges::move(watcher->troubles(), std::back_inserter(all));
    return all;
}

}  // namespace ipoib::links
