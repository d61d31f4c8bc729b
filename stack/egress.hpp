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
    /// Groups of several scopes may have one MGID; where that is missing only those that go beyond the link have
    /// another way.
    struct Way {
        wire::Gid mgid;
        bool goes_beyond_link = false;
        friend auto operator<=>(const Way&, const Way&) = default;
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
    [[nodiscard]] Way way_of(const wire::IpAddress& group) const;
    void wait(Target& target, wire::EtherType protocol, wire::Octets datagram);
    void ask(const Way& way);
    void join(const Way& target, const Group& group);
    void target_is_missing(const Way& target);
    void create(const Way& target);
    /// Null: there is none.
    void all_router_group(const Way& target, const Group* routers);
    void ready(const Way& target, const wire::Gid& via);
    void undeliverable(const Way& target, fabric::Time until);
    [[nodiscard]] bool is_known_missing(const Way& way) const;
    [[nodiscard]] fabric::Time decided_until() const;
    void failed(const Way& target, bool was_refused = false);
    void arm_sweep();
    void sweep();
    [[nodiscard]] bool make_room();

    Interface& interface_;
    std::map<Way, Target> targets_;
    fabric::TimerId sweep_timer_;
    bool has_seen_creation_ = false;  ///< of a group that was sent to
    Lifetime lifetime_;
};

}  // namespace ipoib::stack
