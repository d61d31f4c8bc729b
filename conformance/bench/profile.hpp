// SPDX-License-Identifier: GPL-2.0-or-later
// DUT.toml: what a DUT is and how it is controlled. interfaces.md; unknown keys are errors.
#pragma once

#include "conformance/bench/case.hpp"
#include "protocol/wire/ip_address.hpp"
#include "reports/loaded.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ipoib::conformance {

struct Profile {
    /// [dut]: name, vendor, model, os, driver, firmware, as given; they go into the reports.
    std::vector<std::pair<std::string, std::string>> dut;
    // [profile]
    Role role = Role::host;
    std::vector<std::string> modes;           ///< "datagram", "connected"; empty: not stated
    std::size_t mtu = 0;                      ///< octets of an IP packet, as it is configured; 0: not stated
    std::string guid_format = "unknown";      ///< "eui64", "modified-eui64"
    std::string interface_id;                 ///< "guid", "stable-opaque", "lid"; empty: not stated
    std::chrono::seconds send_only_leave{0};  ///< after so long without traffic a send-only membership ends; 0: never
    unsigned multicast_limit = 0;             ///< groups it can join; 0: not stated
    // [control]
    std::string adapter, interface;
    std::vector<wire::IpNetwork> addresses, tester;
};

/// Reads a profile; the error names file, line and key.
[[nodiscard]] reports::Loaded<Profile> load_profile(const std::filesystem::path& path);
[[nodiscard]] reports::Loaded<Profile> parse_profile(std::string_view text, std::string_view source);
/// What is claimed, each with its value, "not stated" where it says nothing: an implementation conformance statement.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> claims_of(const Profile& profile);
/// A commented DUT.toml.
[[nodiscard]] std::string to_toml(const Profile& profile);

}  // namespace ipoib::conformance
