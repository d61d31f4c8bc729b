// SPDX-License-Identifier: GPL-2.0-or-later
// What the administrator tells of itself and of the ports: ClassPortInfo, NodeRecord, PortInfoRecord. IBTA Vol
// 1, 15.2.5.
#pragma once

#include "fabric/simulated/sa_exchange.hpp"

namespace ipoib::fabric::sa {

[[nodiscard]] Reply class_port_info(const SaConfig& config);
[[nodiscard]] Reply node_records(const Request& request, const SubnetView& subnet);
[[nodiscard]] Reply port_info_records(const Request& request, const SubnetView& subnet);

}  // namespace ipoib::fabric::sa
