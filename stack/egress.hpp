// SPDX-License-Identifier: GPL-2.0-or-later
// How a packet for an IP multicast group leaves. RFC 4391, 10.
#pragma once

#include "fabric/loop.hpp"
#include "stack/groups.hpp"

namespace ipoib::stack {

/// What the SA said about groups that packets go to is kept; the reports of traps 66 and 67 keep it true.
class Egress {
public:
    static constexpr std::size_t most_targets = 256, most_waiting = 8;
    explicit Egress(Interface& interface) : interface_(interface) {}

    void send(const wire::IpAddress& group, wire::EtherType protocol, wire::Octets datagram);
    /// Traps 66 and 67.
    void group_created(const wire::Gid& mgid);
    void group_deleted(const wire::Gid& mgid);
    void clear();
    /// There is something to leave once it was idle for long enough.
    void expect_idle();
    /// The times of timers() are others now.
    void timers_changed();

private:
    enum class State : std::uint8_t {
        asking,      ///< packets wait for the SA's answer
        redirected,  ///< the group does not exist: packets go to `via`
        missing      ///< nor does the all-router group: packets are dropped
    };
    struct Waiting {
        wire::EtherType protocol{};
        std::vector<std::uint8_t> datagram;
    };
    struct Target {
        State state = State::asking;
        wire::IpAddress group;
        wire::Gid via;
        fabric::Time until{};      ///< a decision holds so long
        bool was_created = false;  ///< while the SA was asked
        bool is_stuck = false;     ///< more came than could wait: Policy::survives_burst
        std::vector<Waiting> waiting;
    };
    void wait(Target& target, wire::EtherType protocol, wire::Octets datagram);
    void ask(const wire::Gid& mgid);
    void join(const wire::Gid& target, const Group& group);
    void target_is_missing(const wire::Gid& target);
    void create(const wire::Gid& target);
    /// Null: there is none.
    void all_router_group(const wire::Gid& target, const Group* routers);
    void ready(const wire::Gid& target, const wire::Gid& via);
    void undeliverable(const wire::Gid& target, fabric::Time until);
    [[nodiscard]] bool is_known_missing(const wire::Gid& mgid) const;
    [[nodiscard]] fabric::Time decided_until() const;
    void failed(const wire::Gid& target, bool was_refused = false);
    void arm_sweep();
    void sweep();
    [[nodiscard]] bool make_room();

    Interface& interface_;
    std::map<wire::Gid, Target> targets_;
    fabric::TimerId sweep_timer_;
    Lifetime lifetime_;
};

}  // namespace ipoib::stack
