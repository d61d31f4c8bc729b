// SPDX-License-Identifier: GPL-2.0-or-later
// From a port to a link: the broadcast group is searched for, joined, and its parameters adopted. RFC 4391, 4.1 and 5.
#pragma once

#include "fabric/loop.hpp"
#include "stack/lifetime.hpp"
#include "stack/link.hpp"

namespace ipoib::stack {

class Interface;

class LinkSetup {
public:
    explicit LinkSetup(Interface& interface) : interface_(interface) {}
    /// Begins anew. Without an active port or its P_Key nothing happens until the next start.
    void start();
    void stop() { lifetime_.renew(); }

private:
    void begin();
    [[nodiscard]] std::optional<std::uint16_t> chosen_p_key() const;
    [[nodiscard]] std::vector<std::uint8_t> scopes() const;
    void search(std::size_t index);
    void join(std::uint8_t scope, const Group& found);
    void adopt(std::uint8_t scope, const Group& group);
    void retry(const std::string& reason);

    Interface& interface_;
    std::uint16_t p_key_ = 0;
    fabric::Duration backoff_{};
    Lifetime lifetime_;
};

}  // namespace ipoib::stack
