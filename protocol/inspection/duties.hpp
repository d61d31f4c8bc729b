// SPDX-License-Identifier: GPL-2.0-or-later
// What ports still have to do: a rule's duty begins with one event and ends with another, or is not kept.
#pragma once

#include "protocol/rules/rule.hpp"

#include <deque>
#include <map>

namespace ipoib::inspection {

/// A port that did not do what it had to.
struct Neglect {
    std::size_t rule = 0;
    state::Sight began;
    state::PortIndex port = state::none;
    state::GroupIndex group = state::none;
    const state::Link* link = nullptr;
};

/// The open duties of one subnet.
class Duties {
public:
    /// RFC 4391 names no time. Linux waits 16 s at most between two tries to join; this is the time that a fabric's
    /// worst day needs, and ours.
    static constexpr std::int64_t patience = 30'000'000'000;  // ns

    /// Takes from `room` for each duty that is open, and gives it back; it may be shared, and outlives this.
    Duties(const std::vector<const rules::Rule*>& rules, state::Limits& room);

    /// Takes what a packet has brought about. Calls `kept(rule)` for each duty that this ends, or that was done before
    /// it began, and `overlooked(rule)` for one that there was no room for.
    template <class Kept, class Overlooked>
    void take(const state::Subnet& subnet, const state::Event& event, Kept&& kept, Overlooked&& overlooked) {
        for (const auto index : by_event_[static_cast<std::size_t>(event.kind)]) {
            const auto& duty = *rules_[index]->duty;
            if (event.kind == duty.begins) {
                if (!event.is_watched || (duty.is_due && !duty.is_due(subnet, event))) continue;
                if (duty.is_done && duty.is_done(subnet, event))
                    kept(index);
                else if (!begin(index, event))
                    overlooked(index);
            } else if (event.kind != duty.ceases || !is_neglected(subnet, index, event)) {
                for (auto count = end(index, event); count > 0; --count) kept(index);
            }
        }
    }
    /// Calls `neglected(Neglect)` for each duty whose time is over, once its port has shown that it still lives on the
    /// link. Of a port that is not watched any more, or that could not do it, nothing is said.
    template <class Neglected>
    void expire(const state::Subnet& subnet, std::int64_t now, Neglected&& neglected) {
        if (!late_.empty()) look_at_late(subnet, neglected);
        while (!open_.empty() &&
               (open_.front().is_over || state::elapsed(open_.front().what.began.time, now) > patience)) {
            const auto [what, is_over] = open_.front();
            open_.pop_front();
            if (!is_over) index_.erase(key(what));
            if (!is_over && is_silent(subnet, what)) {
                late_.emplace(key(what), what);
                continue;
            }
            give_back();
            if (!is_over) close(subnet, what, neglected);
        }
    }

private:
    static constexpr std::size_t most_looks = 64;

    struct Open {
        Neglect what;
        bool is_over = false;
    };
    using Key = std::pair<std::uint64_t, std::uint64_t>;
    /// In octets, with what the index takes.
    static constexpr std::size_t cost = sizeof(Open) + sizeof(Key) + 48;

    /// Those of the port that has just spoken.
    template <class Neglected>
    void look_at_late(const state::Subnet& subnet, Neglected&& neglected) {
        // However many are late, a packet costs the same.
        auto left = most_looks;
        for (auto one = late_.lower_bound(key(0, subnet.speaker(), 0));
             one != late_.end() && one->second.port == subnet.speaker() && left > 0; --left) {
            if (is_silent(subnet, one->second)) {
                ++one;
                continue;
            }
            const auto what = one->second;
            one = late_.erase(one);
            give_back();
            close(subnet, what, neglected);
        }
    }

    static Key key(std::size_t rule, state::PortIndex port, state::GroupIndex group) {
        return {std::uint64_t{port} << 32 | rule, group};
    }
    static Key key(const Neglect& what) { return key(what.rule, what.port, what.group); }
    void give_back() {
        ++room_.duties;
        room_.octets += cost;
    }
    template <class Neglected>
    void close(const state::Subnet& subnet, const Neglect& what, Neglected&& neglected) {
        const auto& duty = *rules_[what.rule]->duty;
        const state::Event event{duty.begins, what.port, what.group, what.link, true, what.began};
        // Another GID of the port may have done it for all.
        if (duty.is_done && duty.is_done(subnet, event)) return;
        if (!is_void(subnet, what) && subnet.is_watched(what.port, *what.link)) neglected(what);
    }
    /// A host that is gone, its link down, its P_Key taken away, has nothing to do any more; one that is asking the SA
    /// is about to do it.
    [[nodiscard]] static bool is_silent(const state::Subnet& subnet, const Neglect& one);
    /// What happened since that leaves nothing to do: the link was down, the group is gone, or the port has left it.
    [[nodiscard]] static bool is_void(const state::Subnet& subnet, const Neglect& one);
    /// One that expire() will find.
    [[nodiscard]] bool is_neglected(const state::Subnet& subnet, std::size_t rule, const state::Event& event) const;
    [[nodiscard]] bool begin(std::size_t rule, const state::Event& event);
    std::size_t end(std::size_t rule, const state::Event& event);

    std::vector<const rules::Rule*> rules_;
    state::Limits& room_;
    std::array<std::vector<std::uint16_t>, 16> by_event_;
    std::deque<Open> open_;        ///< in the order of their beginning
    std::map<Key, Open*> index_;   ///< those of them that are not over
    std::map<Key, Neglect> late_;  ///< whose time is over, of ports that were silent since; those of a port together
};

}  // namespace ipoib::inspection
