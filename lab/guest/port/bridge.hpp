// SPDX-License-Identifier: GPL-2.0-or-later
// What goes over a port to the host while one host is connected. Who writes waits for who reads; nothing is dropped for
// want of room.
#pragma once

#include "conformance/dut/linux/process.hpp"

#include <string>

namespace ipoib::lab {

// Each bridge runs until the host has gone or `stop` is readable. The port does not block. All throw std::runtime_error
// where the device or the command cannot be had, or writes nonsense.

/// The raw port's frames to and from a device that takes and gives one a write and read. The device is open, its link
/// up, while the host is there and has not said "link down".
void bridge_raw(int port, int stop, const std::string& device);
/// The frames of a capture device to the host.
void bridge_tap(int port, int stop, const std::string& device);
/// What the device says, as it is.
void bridge_capture(int port, int stop, const std::string& device);
/// A command's standard input and output. At the end it is told so by the end of its input, then by SIGTERM, and then
/// killed, `grace` after each.
void bridge_command(int port, int stop, const host::Arguments& command, host::milliseconds grace);

}  // namespace ipoib::lab
