// SPDX-License-Identifier: GPL-2.0-or-later
// What every mutant needs to see.
#pragma once

#include "conformance/mutants/mutant.hpp"
#include "protocol/requirements/iba.hpp"
#include "protocol/requirements/rfc4390.hpp"
#include "protocol/requirements/rfc4391.hpp"
#include "protocol/requirements/rfc4392.hpp"
#include "protocol/requirements/rfc4755.hpp"
#include "protocol/requirements/udmc.hpp"
#include "protocol/wire/notice.hpp"

namespace ipoib::conformance {

using namespace wire;
using fabric::HcaBehaviour;
using fabric::SaBehaviour;
using stack::Beginning;
using stack::BesideRefused;
using stack::Link;
using stack::Policy;

}  // namespace ipoib::conformance
