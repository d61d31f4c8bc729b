// SPDX-License-Identifier: GPL-2.0-or-later
// What ports are called: by a file that the user has, and by what nodes tell of themselves in the capture.
#pragma once

#include "protocol/wire/packet.hpp"
#include "protocol/wire/smp.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace ipoib::dissector {

/// Names by port GUID. The first one stays, and so does its text.
class HostNames {
public:
    static constexpr std::size_t most = 65'536;

    /// Reads lines of a GUID and a name, in quotes or not, as the node-name-map of OpenSM and infiniband-diags has
    /// them;
    /// "#" begins a comment. Throws std::invalid_argument with file and line.
    void read(const std::string& path);
    void add(std::uint64_t guid, std::string_view name);
    /// Learns from a NodeRecord, or from NodeInfo and NodeDescription that came back on one directed route.
    void take(const wire::Packet& packet);
    /// The same from the records of a table.
    void take_records(wire::Octets records, std::size_t stride);
    /// "mlx5_0 of node1"; empty where it is not known.
    [[nodiscard]] const char* of(std::uint64_t guid) const noexcept;

private:
    void take_record(wire::Octets record);
    void take_directed(wire::View<wire::DirectedSmp> smp);

    std::unordered_map<std::uint64_t, std::string> names_;
    std::unordered_map<std::string, std::uint64_t> by_route_;  ///< GUIDs at the end of directed routes
};

}  // namespace ipoib::dissector
