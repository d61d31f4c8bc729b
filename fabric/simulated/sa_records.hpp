// SPDX-License-Identifier: GPL-2.0-or-later
// What the administrator tells of itself and of the ports: ClassPortInfo, NodeRecord, PortInfoRecord,
// P_KeyTableRecord. IBTA Vol 1, 15.2.5.
#pragma once

#include "fabric/simulated/sa_exchange.hpp"

namespace ipoib::fabric::sa {

[[nodiscard]] Reply class_port_info(const SaConfig& config);
[[nodiscard]] Reply node_records(const Request& request, const SubnetView& subnet);
[[nodiscard]] Reply port_info_records(const Request& request, const SubnetView& subnet);
/// Only to those who are trusted.
[[nodiscard]] Reply p_key_table_records(const Request& request, const SubnetView& subnet, const SaConfig& config);

}  // namespace ipoib::fabric::sa
