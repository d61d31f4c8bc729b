// SPDX-License-Identifier: GPL-2.0-or-later
// Telling multicast routers which groups are listened to: IGMP and MLD in the version of the querier. RFC 2236, RFC
// 3376, RFC 2710, RFC 3810.
#pragma once

#include "stack/ip.hpp"

#include <span>

namespace ipoib::stack {

/// Reports leave as any other multicast packet does, by RFC 4391, 10: on a link without routers they are dropped.
class GroupReports {
public:
    explicit GroupReports(Interface& interface) : interface_(interface) {}
    void joined(const wire::IpAddress& group);
    void left(const wire::IpAddress& group);
    /// Answers a query about all groups or one of them.
    void answer(const IpDatagram& query, std::span<const wire::IpAddress> groups);

private:
    void report(std::span<const wire::IpAddress> groups, std::uint8_t record_type, bool is_v4);
    void old_report(const wire::IpAddress& group, bool is_leaving);
    void send(const wire::IpAddress& destination, std::vector<std::uint8_t> message);

    Interface& interface_;
    bool has_old_querier_v4_ = false, has_old_querier_v6_ = false;
};

}  // namespace ipoib::stack
