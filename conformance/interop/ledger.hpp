// SPDX-License-Identifier: GPL-2.0-or-later
// What an exchange comes to for each of the two: what was owed and kept, and what was not.
#pragma once

#include "conformance/interop/side.hpp"
#include "protocol/requirements/requirement.hpp"

#include <map>
#include <string>
#include <vector>

namespace ipoib::conformance::interop {

/// Something that one of them owed the other and that did not come.
struct Charge {
    const requirements::Requirement* requirement;
    std::string sentence;   ///< "dut to against, ping of 56 octets: no ARP reply"
    std::size_t frame = 0;  ///< from 1: the one that asked for it, or went astray; 0: none
    std::string expected, actual;
};

/// Of one of them.
struct Account {
    std::map<const requirements::Requirement*, std::uint64_t> kept;
    std::vector<Charge> charges;
    std::vector<std::string> notes;
    std::vector<std::pair<std::string, std::string>> findings;  ///< name and text: what no text forbids

    [[nodiscard]] std::uint64_t observed() const noexcept {
        std::uint64_t count = charges.size();
        for (const auto& [requirement, times] : kept) count += times;
        return count;
    }
};

using Ledger = Each<Account>;

}  // namespace ipoib::conformance::interop
