// SPDX-License-Identifier: GPL-2.0-or-later
// What there is to know about an interface's driver and adapter.
#pragma once

#include "conformance/dut/linux/line_protocol.hpp"

namespace ipoib::host {

/// driver, kernel and, where they can be told, firmware, device, guid.
[[nodiscard]] Json facts_of(const std::string& interface, const std::string& link_address);
[[nodiscard]] std::string kernel_release();
/// An IPoIB interface whose driver has datagrams only, as its flags tell (RFC 4755, 3.1): those of Linux say RC in
/// either mode.
[[nodiscard]] bool lacks_connected_mode(const std::string& link_address);
/// The port GUID in a link address of 20 octets: "0x0002c9b200000001"; empty for any other.
[[nodiscard]] std::string guid_in(const std::string& link_address);

}  // namespace ipoib::host
