// SPDX-License-Identifier: GPL-2.0-or-later
// What a multicast router listens to. RFC 4391, 11; RFC 4392, 4.2.3.
#pragma once

#include "stack/groups.hpp"

#include <set>

namespace ipoib::stack {

/// NonMember of every IP group of the link, those to come included. Packets are received, not forwarded.
class Router {
public:
    explicit Router(Interface& interface) : interface_(interface) {}
    void enable();
    void disable();
    [[nodiscard]] bool is_enabled() const noexcept { return is_enabled_; }

    void link_up();
    /// Traps 66 and 67.
    void group_created(const wire::Gid& mgid);
    void group_deleted(const wire::Gid& mgid);

private:
    void list_groups();
    void join(const wire::Gid& mgid);

    Interface& interface_;
    bool is_enabled_ = false;
    std::set<wire::Gid> joined_;
    Lifetime lifetime_;
};

}  // namespace ipoib::stack
