// SPDX-License-Identifier: GPL-2.0-or-later
// What the administrator tells of itself and of the ports: ClassPortInfo, NodeRecord, PortInfoRecord,
// P_KeyTableRecord. IBTA Vol 1, 15.2.5.
#pragma once

#include "fabric/simulated/sa_exchange.hpp"

namespace ipoib::fabric::sa {

[[nodiscard]] Reply class_port_info(const SaConfig& config);

/// Answers a Get or a GetTable of one kind of records.
using RecordQuery = Reply (*)(const Request& request, const SubnetView& subnet, const SaConfig& config);
/// For records of ports and links; null for attributes that are none.
[[nodiscard]] RecordQuery record_query(std::uint16_t attribute_id) noexcept;

}  // namespace ipoib::fabric::sa
