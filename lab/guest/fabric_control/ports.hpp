// SPDX-License-Identifier: GPL-2.0-or-later
// The end ports of the lab's fabric: their GUIDs and LIDs, and the names of their cables.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ipoib::lab {

struct EndPort {
    std::uint64_t guid = 0;
    std::uint16_t lid = 0;
    std::string cable;  ///< as debugfs calls it: "hca0", "raw1"
    friend bool operator==(const EndPort&, const EndPort&) = default;
};

/// What is plugged in where, of debugfs "links": "sw0.3" to "raw0".
[[nodiscard]] std::map<std::string, std::string> parse_links(const std::string& text);

/// The end ports of `ibnetdiscover`, with the cables that the links tell of.
[[nodiscard]] std::vector<EndPort> parse_topology(const std::string& text,
                                                  const std::map<std::string, std::string>& links);

}  // namespace ipoib::lab
