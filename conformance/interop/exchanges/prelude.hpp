// SPDX-License-Identifier: GPL-2.0-or-later
// What the files of exchanges have in common.
#pragma once

#include "conformance/interop/exchange.hpp"
#include "protocol/requirements/rfc4390.hpp"
#include "protocol/requirements/rfc4391.hpp"
#include "protocol/requirements/rfc4755.hpp"

#include <algorithm>
#include <array>

namespace ipoib::conformance::interop {

using namespace std::chrono_literals;

/// What each echo exchange charges, by what is missing.
inline constexpr std::array of_ipv4{&rfc4391::ipv4_resolved_by_arp, &rfc4391::unicast_to_peer_qp,
                                    &rfc4391::encap_type_demultiplexing};
inline constexpr std::array of_ipv6{&rfc4391::link_local_format, &rfc4391::receiver_full_member_join,
                                    &rfc4391::ipv6_resolved_by_nd, &rfc4391::unicast_to_peer_qp,
                                    &rfc4391::encap_type_demultiplexing};
inline constexpr std::array of_groups{&rfc4391::receiver_full_member_join, &rfc4391::sender_joins_first,
                                      &rfc4391::encap_type_demultiplexing};

/// Each once.
template <class... List>
std::vector<const requirements::Requirement*> joined(const List&... lists) {
    std::vector<const requirements::Requirement*> all;
    const auto add = [&](const auto& list) {
        for (const auto* one : list)
            if (std::ranges::find(all, one) == all.end()) all.push_back(one);
    };
    (add(lists), ...);
    return all;
}

}  // namespace ipoib::conformance::interop
