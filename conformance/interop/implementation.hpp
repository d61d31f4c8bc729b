// SPDX-License-Identifier: GPL-2.0-or-later
// Implementations that take part in a matrix, as the files say by which they are registered. docs/registering.md;
// unknown keys are errors.
#pragma once

#include "reports/loaded.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ipoib::conformance::interop {

/// One [[implementation]] of a file.
struct Implementation {
    std::string name;       ///< letters, digits, "-", "_" and "."
    std::string about;      ///< one line for people
    std::string url;        ///< where to find out more
    std::string dut;        ///< as --dut takes it: reference, mutant:NAME, exec:COMMAND (key adapter)
    std::string start;      ///< runs as long as it takes part; empty: nothing
    std::string interface;  ///< as its adapter names it; empty: its first
    std::string mode;       ///< that it is set to: "datagram", "connected"; empty: as it is
    std::size_t mtu = 0;    ///< that it is set to, octets of an IP packet; 0: as it is
    /// Seconds until its adapter greets, where it takes longer than usual; 0: it does not.
    std::size_t starts_within = 0;
};

/// The error names file, line and key. "{here}" in a command is the file's folder.
[[nodiscard]] reports::Loaded<std::vector<Implementation>> load_implementations(const std::filesystem::path& path);
/// The same of a text, which comes from there.
[[nodiscard]] reports::Loaded<std::vector<Implementation>> parse_implementations(std::string_view text,
                                                                                 const std::filesystem::path& path);

}  // namespace ipoib::conformance::interop
