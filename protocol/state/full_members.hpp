// SPDX-License-Identifier: GPL-2.0-or-later
// The FullMembers of groups by the MLID that each was told, so that an answer of the SA costs the same however many
// there are. IBTA Vol 1, 15.2.5.17.
#pragma once

#include "protocol/state/tables.hpp"

namespace ipoib::state {

class FullMembers {
public:
    /// Octets that a member takes, at most.
    static constexpr std::size_t cost = 24 + Index<std::uint64_t>::cost;

    /// For as many members as that.
    explicit FullMembers(std::size_t most) : front_(most) {}

    /// The member, by its index, is one of the group's and was told this MLID.
    void put(std::uint32_t member, GroupIndex group, std::uint16_t mlid) {
        take(member);
        if (member >= told_.size()) told_.resize(member + std::size_t{1});
        const auto key = this->key(group, mlid);
        told_[member] = {key, true};
        front_.set(key, chains_.put(front_.find(key), member));
    }
    /// It is none any more; nothing where it was none.
    void take(std::uint32_t member) {
        if (member >= told_.size() || !told_[member].is_in) return;
        const auto key = told_[member].key;
        told_[member].is_in = false;
        const auto front = chains_.take(front_.find(key), member);
        if (front == none)
            front_.erase(key);
        else
            front_.set(key, front);
    }
    /// One of those of the group that were told this MLID, other than `except`, for which `is_meant(member)`; `none`
    /// where there is none. Those for which it is false are taken out.
    template <class IsMeant>
    [[nodiscard]] std::uint32_t other_than(std::uint32_t except, GroupIndex group, std::uint16_t mlid,
                                           IsMeant is_meant) {
        for (auto member = front_.find(key(group, mlid)); member != none;) {
            const auto next = chains_.after(member);
            if (member != except && is_meant(member)) return member;
            if (member != except) take(member);
            member = next;
        }
        return none;
    }

private:
    struct Told {
        std::uint64_t key = 0;
        bool is_in = false;
    };
    static std::uint64_t key(GroupIndex group, std::uint16_t mlid) noexcept {
        return std::uint64_t{group} << 16 | mlid;
    }

    Chains chains_;
    std::vector<Told> told_;  ///< by member
    Index<std::uint64_t> front_;
};

}  // namespace ipoib::state
