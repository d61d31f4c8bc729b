// SPDX-License-Identifier: GPL-2.0-or-later
// What every case needs to see.
#pragma once

#include "conformance/bench/bench.hpp"
#include "conformance/bench/case.hpp"
#include "conformance/bench/connection.hpp"
#include "conformance/bench/dhcp.hpp"
#include "conformance/bench/profile.hpp"
#include "conformance/bench/tester.hpp"
#include "protocol/requirements/iba.hpp"
#include "protocol/requirements/rfc4390.hpp"
#include "protocol/requirements/rfc4391.hpp"
#include "protocol/requirements/rfc4392.hpp"
#include "protocol/requirements/rfc4755.hpp"
#include "protocol/requirements/udmc.hpp"
#include "protocol/wire/inform_info.hpp"

namespace ipoib::conformance {

using namespace wire;
using fabric::Ability, fabric::PortName;
using fabric::SetGroup, fabric::SetLid, fabric::SetManager, fabric::SetPath, fabric::SetPKey, fabric::SetPort,
    fabric::SetPrefix, fabric::SetSa;

/// The DUT's port, as changes of the fabric name it.
inline PortName port_of_dut(const Bench& bench) { return {.guid = bench.situation().dut.gid.interface_id()}; }

/// The SA refuses every join of a group.
inline fabric::FabricChange refused_joins(const Gid& mgid) {
    return SetSa{.refuse_joins = sa_status::invalid_request, .refuse_only = mgid};
}

}  // namespace ipoib::conformance
