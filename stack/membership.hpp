// SPDX-License-Identifier: GPL-2.0-or-later
// The IP groups that an interface listens to. RFC 4391, 10; RFC 4392, 4.2.2 and 4.2.5.
#pragma once

#include "fabric/loop.hpp"
#include "stack/group_reports.hpp"
#include "stack/groups.hpp"

namespace ipoib::stack {

/// Joins at the SA what IP joins, again on each new link, and leaves it with IP.
class Membership {
public:
    static constexpr std::size_t most_groups = 256;
    explicit Membership(Interface& interface) : interface_(interface), reports_(interface) {}

    /// Why it failed, or empty.
    using Joined = std::function<void(const std::string& reason)>;
    /// Programs that are in a group: one that asked for it, and those that listen on sockets, which stay.
    enum class User : std::uint8_t { program, socket };
    /// On a program's behalf: a failure is told, and ends the membership. RFC4391-12-01.
    void join(const wire::IpAddress& group, Joined joined, User user = User::program);
    /// The program's; false: it is no member.
    bool leave(const wire::IpAddress& group);
    /// On IP's own behalf (all nodes, solicited nodes): repeated until it succeeds. Counted.
    void hold(const wire::IpAddress& group);
    void release(const wire::IpAddress& group);

    void link_up(Beginning beginning);
    void link_lost();
    /// Trap 67: a group that is wanted is created again.
    void group_deleted(const wire::Gid& mgid);
    /// IGMP and MLD queries.
    void receive_query(const IpDatagram& datagram);
    [[nodiscard]] bool is_member(const wire::IpAddress& group) const { return entries_.contains(group); }
    [[nodiscard]] std::vector<wire::IpAddress> groups() const;

private:
    struct Entry {
        unsigned holders = 0;  ///< IP itself
        bool is_for_program = false, is_for_socket = false;
        bool is_joined = false, is_joining = false;
        bool was_joined = false;  ///< once: from now on a refusal is no program's matter
        fabric::Duration backoff{};
        std::vector<Joined> waiting;
    };
    void begin(const wire::IpAddress& group);
    void join_at_sa(const wire::IpAddress& group, const wire::Gid& mgid);
    void leave_if_unwanted(const wire::IpAddress& group, const Groups::Answer& answer);
    void answered(const wire::IpAddress& group, const Groups::Answer& answer);
    void retry(const wire::IpAddress& group);
    void dropped(const wire::IpAddress& group);
    void leave_if_unused(const wire::IpAddress& group);
    [[nodiscard]] bool is_shared(const wire::IpAddress& group) const;
    /// Whether one that was refused more often waits for its next try.
    [[nodiscard]] bool is_another_waiting(const wire::IpAddress& group) const;
    /// Whether the interface is in the group for sending already, and that is taken for enough.
    [[nodiscard]] bool is_content(const wire::Gid& mgid, const wire::IpAddress& group);

    Interface& interface_;
    GroupReports reports_;
    std::map<wire::IpAddress, Entry> entries_;
    unsigned lives_ = 0;  ///< of the link: an answer may belong to one before
    Lifetime lifetime_;   ///< of what is for one life of the link
    Lifetime existence_;
};

}  // namespace ipoib::stack
