// SPDX-License-Identifier: GPL-2.0-or-later
// Where the entities are kept: bounded, found in constant time, never moved.
#pragma once

#include "protocol/state/entities.hpp"

#include <algorithm>
#include <deque>
#include <vector>

#if __has_include(<tsl/robin_map.h>)
#include <tsl/robin_map.h>
#else
#include <unordered_map>
#endif

namespace ipoib::state {

/// How much is kept of one subnet. What comes beyond is not kept, and counted.
struct Limits {
    std::size_t ports = 65536, groups = 65536, members = std::size_t{1} << 19, requests = 4096;
    std::size_t neighbours = std::size_t{1} << 17, paths = std::size_t{1} << 17, connections = 4096;
    std::size_t queue_pairs = std::size_t{1} << 17;
};

/// Spreads what an attacker chooses, too: every octet counts, and tables are bounded.
struct KeyHash {
    std::size_t operator()(std::uint64_t key) const noexcept {
        key = (key ^ key >> 32) * 0x9e3779b97f4a7c15u;
        return static_cast<std::size_t>(key ^ key >> 29);
    }
    std::size_t operator()(const wire::Gid& gid) const noexcept {
        return (*this)((*this)(gid.prefix()) + gid.interface_id());
    }
    std::size_t operator()(const std::pair<std::uint64_t, std::uint64_t>& key) const noexcept {
        return (*this)((*this)(key.first) + key.second);
    }
    std::size_t operator()(const std::pair<wire::Gid, std::uint16_t>& key) const noexcept {
        return (*this)((*this)(key.first) + key.second);
    }
};

#if __has_include(<tsl/robin_map.h>)
/// Open addressing: what is looked for lies in one or two lines of the cache, however many keys there are.
template <class Key>
using Index =
    tsl::robin_map<Key, std::uint32_t, KeyHash, std::equal_to<>, std::allocator<std::pair<Key, std::uint32_t>>>;
#else
template <class Key>
using Index = std::unordered_map<Key, std::uint32_t, KeyHash>;
#endif

/// Entities by key. They stay where they are until the table goes.
template <class Key, class Entity>
class Table {
public:
    explicit Table(std::size_t limit) : limit_(limit) {}

    [[nodiscard]] std::uint32_t find(const Key& key) const {
        const auto found = index_.find(key);
        return found == index_.end() ? none : found->second;
    }
    /// The entity with this key, made if it is new; `none` when the table is full.
    std::uint32_t find_or_add(const Key& key) {
        if (const auto found = find(key); found != none) return found;
        if (entities_.size() >= limit_) {
            ++refused_;
            return none;
        }
        const auto index = static_cast<std::uint32_t>(entities_.size());
        entities_.emplace_back();
        index_.emplace(key, index);
        return index;
    }
    [[nodiscard]] Entity& operator[](std::uint32_t index) { return entities_[index]; }
    [[nodiscard]] const Entity& operator[](std::uint32_t index) const { return entities_[index]; }
    [[nodiscard]] const Entity* get(std::uint32_t index) const { return index == none ? nullptr : &entities_[index]; }
    [[nodiscard]] const std::deque<Entity>& all() const noexcept { return entities_; }
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }

private:
    std::size_t limit_;
    std::deque<Entity> entities_;
    Index<Key> index_;
    std::uint64_t refused_ = 0;
};

/// Ports by LID and by GID.
class Ports {
public:
    explicit Ports(std::size_t limit) : limit_(limit) {}

    /// The port that was seen with this LID last, made if there is none; `none` for a LID of no port, or when there is
    /// no room.
    PortIndex of(std::uint16_t lid);
    /// The port with this GID, which has been seen with this LID (0: not known), made if it is new.
    PortIndex of(std::uint16_t lid, const wire::Gid& gid, const Sight& now);
    /// The one that was seen with this LID last, or `none`.
    [[nodiscard]] PortIndex find(std::uint16_t lid) const { return lid < by_lid_.size() ? by_lid_[lid].latest : none; }
    [[nodiscard]] PortIndex find(const wire::Gid& gid) const;
    /// Several GIDs have been seen at this LID, so it names none of them.
    [[nodiscard]] bool is_shared(std::uint16_t lid) const { return lid < by_lid_.size() && by_lid_[lid].is_shared; }
    /// The ports with this prefix have another one besides.
    void rename(std::uint64_t from, std::uint64_t to);

    [[nodiscard]] Port& operator[](PortIndex index) { return ports_[index]; }
    [[nodiscard]] const Port* get(PortIndex index) const { return index == none ? nullptr : &ports_[index]; }
    [[nodiscard]] const std::deque<Port>& all() const noexcept { return ports_; }
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }

private:
    struct Place {
        PortIndex latest = none;
        bool is_shared = false;
    };
    /// As far as LIDs have been seen, so that a small capture costs little.
    Place& place(std::uint16_t lid) {
        if (lid >= by_lid_.size()) by_lid_.resize(std::min<std::size_t>(end_of_lids, 2 * std::size_t{lid} + 1));
        return by_lid_[lid];
    }
    PortIndex add();

    static constexpr std::uint16_t end_of_lids = 0xc000;
    std::size_t limit_;
    std::deque<Port> ports_;
    std::vector<Place> by_lid_;
    Index<wire::Gid> by_gid_;
    std::uint64_t refused_ = 0;
};

}  // namespace ipoib::state
