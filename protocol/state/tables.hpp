// SPDX-License-Identifier: GPL-2.0-or-later
// Where the entities are kept: bounded, found in constant time, never moved.
#pragma once

#include "base/secret_hash.hpp"
#include "protocol/state/entities.hpp"
#include "protocol/state/habit.hpp"
#include "protocol/state/shelf.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <vector>

#if __has_include(<tsl/robin_map.h>)
#include <tsl/robin_map.h>
#else
#include <unordered_map>
#endif

namespace ipoib::state {

/// How much more is kept, of all subnets that share it. What comes beyond is not kept, and counted.
struct Limits {
    std::size_t octets = std::size_t{256} << 20;  ///< of memory, for all of these but segments
    std::size_t ports = 65536, groups = 65536, members = std::size_t{1} << 18, requests = 4096;
    std::size_t neighbours = std::size_t{1} << 17, paths = std::size_t{1} << 17, connections = 4096;
    std::size_t informed = std::size_t{1} << 18;
    std::size_t queue_pairs = std::size_t{1} << 17, connected = std::size_t{1} << 17, requesters = 65536;
    std::size_t links = 65536, routes = 65536, p_keys = std::size_t{1} << 21;
    std::size_t duties = 65536;                   ///< open at a time
    std::size_t segments = std::size_t{1} << 17;  ///< of tables that have not come whole yet, 200 octets each
};

/// Whether there is as much left, which then is taken.
[[nodiscard]] inline bool take_from(std::size_t& left, std::size_t wanted = 1) noexcept {
    if (left < wanted) return false;
    left -= wanted;
    return true;
}

/// Of the keys that tables have.
struct KeyHash {
    std::size_t operator()(std::uint64_t key) const noexcept { return SecretHash::of(key); }
    std::size_t operator()(const wire::Gid& gid) const noexcept {
        return SecretHash::of(gid.prefix(), gid.interface_id());
    }
    std::size_t operator()(const std::pair<std::uint64_t, std::uint64_t>& key) const noexcept {
        return SecretHash::of(key.first, key.second);
    }
    std::size_t operator()(const std::pair<wire::Gid, std::uint16_t>& key) const noexcept {
        return SecretHash::of(key.first.prefix(), key.first.interface_id(), std::uint64_t{key.second});
    }
};

/// Of the same, cheap and known to everybody: for what may collide.
struct QuickHash {
    static constexpr std::uint64_t spread = 0x9e3779b97f4a7c15u;
    std::uint64_t operator()(std::uint64_t key) const noexcept { return key * spread; }
    std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const noexcept {
        return (a * spread ^ b ^ b >> 32) * spread;
    }
    std::uint64_t operator()(const wire::Gid& gid) const noexcept { return (*this)(gid.prefix(), gid.interface_id()); }
    std::uint64_t operator()(const std::pair<std::uint64_t, std::uint64_t>& key) const noexcept {
        return (*this)(key.first, key.second);
    }
    std::uint64_t operator()(const std::pair<wire::Gid, std::uint16_t>& key) const noexcept {
        return (*this)(key.first.prefix() + key.second, key.first.interface_id());
    }
};

/// Numbers by key. Open addressing where there is a library for it: what is looked for lies in one or two lines of the
/// cache, however many keys there are.
template <class Key>
class Index {
public:
    /// That a key takes of memory, in octets, at most.
    static constexpr std::size_t cost = 4 * (sizeof(Key) + 8);

    /// For as many keys as that. So many go into a quarter of the buckets: more are never made, whatever the keys are.
    explicit Index(std::size_t most) : most_(most), most_buckets_(std::bit_ceil(4 * most)) {}

    [[nodiscard]] std::uint32_t find(const Key& key) const {
        if (numbers_.empty()) return none;
        if (!habit_.pays()) return look_up(key);
        auto& recent = recent_[quick(key)];
        if (recent.key == key && (recent.number != none || recent.changes == changes_)) {
            habit_.found();
            return recent.number;
        }
        recent = {key, look_up(key), changes_};
        return recent.number;
    }
    /// The key has this number from now on; false where there is no room for a new one.
    bool set(const Key& key, std::uint32_t number) {
        if (const auto found = numbers_.find(key); found != numbers_.end()) {
            numbers_.erase(found);
        } else if (numbers_.size() >= most_ || numbers_.bucket_count() > most_buckets_) {
            return false;
        }
        if (!recent_) recent_ = std::make_unique<Recent[]>(recent_count);
        numbers_.emplace(key, number);
        recent_[quick(key)] = {key, number, ++changes_};
        return true;
    }
    void erase(const Key& key) {
        numbers_.erase(key);
        ++changes_;
        if (recent_ && recent_[quick(key)].key == key) recent_[quick(key)] = {};
    }

private:
    /// An answer: a number, which stays, or `none` as long as nothing has changed. A packet asks for much that those
    /// before it have asked for. Keys that fall together here only cost what they cost without it.
    struct Recent {
        Key key{};
        std::uint32_t number = none;
        std::uint64_t changes = ~std::uint64_t{0};
    };
    static constexpr std::size_t recent_count = 128;
    [[nodiscard]] std::uint32_t look_up(const Key& key) const {
        const auto found = numbers_.find(key);
        return found == numbers_.end() ? none : found->second;
    }
    static std::size_t quick(const Key& key) noexcept { return QuickHash{}(key) >> 57; }

    std::size_t most_, most_buckets_;
    std::uint64_t changes_ = 0;
    mutable std::unique_ptr<Recent[]> recent_;
    mutable Habit habit_;
#if __has_include(<tsl/robin_map.h>)
    tsl::robin_map<Key, std::uint32_t, KeyHash, std::equal_to<>, std::allocator<std::pair<Key, std::uint32_t>>>
        numbers_;
#else
    std::unordered_map<Key, std::uint32_t, KeyHash> numbers_;
#endif
};

/// Values by numbers of 16 bits, 0 as long as they are not set. Only what is near a number that was set takes memory,
/// so that a small capture costs little.
template <class Value>
class Pages {
public:
    [[nodiscard]] Value operator[](std::uint16_t number) const noexcept {
        const auto& page = pages_[number / page_size];
        return page ? (*page)[number % page_size] : Value{};
    }
    [[nodiscard]] Value& at(std::uint16_t number) {
        auto& page = pages_[number / page_size];
        if (!page) page = std::make_unique<Page>();
        return (*page)[number % page_size];
    }

private:
    static constexpr std::size_t page_size = 256;
    using Page = std::array<Value, page_size>;
    std::array<std::unique_ptr<Page>, 256> pages_;
};

/// Entities by key. They stay where they are until the table goes. `beside`: octets that are kept elsewhere for each.
template <class Key, class Entity, std::size_t beside = 0>
class Table {
public:
    /// Takes from both for each entity; they may be shared, and outlive the table.
    Table(std::size_t& left, std::size_t& octets_left) : left_(left), octets_left_(octets_left), index_(left) {}

    [[nodiscard]] std::uint32_t find(const Key& key) const { return index_.find(key); }
    /// The entity with this key, made if it is new; `none` when the table is full.
    std::uint32_t find_or_add(const Key& key) {
        if (const auto found = find(key); found != none) return found;
        const auto index = static_cast<std::uint32_t>(entities_.size());
        if (left_ == 0 || !take_from(octets_left_, cost) || !index_.set(key, index)) {
            ++refused_;
            return none;
        }
        --left_;
        entities_.add();
        return index;
    }
    [[nodiscard]] Entity& operator[](std::uint32_t index) { return entities_[index]; }
    [[nodiscard]] const Entity& operator[](std::uint32_t index) const { return entities_[index]; }
    [[nodiscard]] const Entity* get(std::uint32_t index) const { return index == none ? nullptr : &entities_[index]; }
    [[nodiscard]] const Shelf<Entity>& all() const noexcept { return entities_; }
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }

private:
    static constexpr std::size_t cost = sizeof(Entity) + Index<Key>::cost + beside;
    std::size_t &left_, &octets_left_;
    Shelf<Entity> entities_;
    Index<Key> index_;
    std::uint64_t refused_ = 0;
};

/// Numbers in lists, each in one at most. A list is known by the number at its front, `none` if it is empty.
class Chains {
public:
    /// Puts a number that is in no list before that front; the new front.
    std::uint32_t put(std::uint32_t front, std::uint32_t number) {
        if (number >= places_.size()) places_.resize(number + std::size_t{1});
        places_[number] = {none, front};
        if (front != none) places_[front].before = number;
        return number;
    }
    /// Takes a number out of the list with that front; the new front.
    std::uint32_t take(std::uint32_t front, std::uint32_t number) {
        const auto [before, after] = places_[number];
        if (after != none) places_[after].before = before;
        if (before == none) return after;
        places_[before].after = after;
        return front;
    }
    /// The one behind it in its list, or `none`.
    [[nodiscard]] std::uint32_t after(std::uint32_t number) const { return places_[number].after; }

private:
    struct Place {
        std::uint32_t before = none, after = none;
    };
    std::vector<Place> places_;
};

/// Ports by LID and by GID.
class Ports {
public:
    /// Takes from both for each port; they may be shared, and outlive this.
    Ports(std::size_t& left, std::size_t& octets_left) : left_(left), octets_left_(octets_left), by_gid_(2 * left) {}

    /// The port that was seen with this LID last, made if there is none; `none` for a LID of no port, or when there is
    /// no room.
    PortIndex of(std::uint16_t lid);
    /// The port with this GID, which has been seen with this LID (0: not known), made if it is new.
    PortIndex of(std::uint16_t lid, const wire::Gid& gid, const Sight& now);
    /// The one that was seen with this LID last, or `none`.
    [[nodiscard]] PortIndex find(std::uint16_t lid) const { return lid < by_lid_.size() ? by_lid_[lid].latest : none; }
    [[nodiscard]] PortIndex find(const wire::Gid& gid) const;
    /// Several ports are at this LID, by their GIDs, so it names none of them.
    [[nodiscard]] bool is_shared(std::uint16_t lid) const {
        const auto first = first_at(lid);
        return first != none && next_at_lid(first) != none;
    }
    /// The first of those that are at this LID, in no order, and the one behind each; `none` where there is none.
    [[nodiscard]] PortIndex first_at(std::uint16_t lid) const {
        return lid < by_lid_.size() ? by_lid_[lid].first : none;
    }
    [[nodiscard]] PortIndex next_at_lid(PortIndex port) const { return by_place_.after(port); }
    /// It is at this LID from now on; at 0: nobody knows where.
    void move(PortIndex port, std::uint16_t lid);
    /// The ports with this prefix have another one besides.
    void rename(std::uint64_t from, std::uint64_t to);

    [[nodiscard]] Port& operator[](PortIndex index) { return ports_[index]; }
    [[nodiscard]] const Port* get(PortIndex index) const { return index == none ? nullptr : &ports_[index]; }
    [[nodiscard]] const Shelf<Port>& all() const noexcept { return ports_; }
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }
    /// Grows with whatever changes: ports, their LIDs and GIDs, what stands at a LID.
    [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }

private:
    struct Place {
        PortIndex latest = none, first = none;
    };
    /// As far as LIDs have been seen, so that a small capture costs little.
    Place& place(std::uint16_t lid) {
        if (lid >= by_lid_.size()) by_lid_.resize(std::min<std::size_t>(end_of_lids, 2 * std::size_t{lid} + 1));
        return by_lid_[lid];
    }
    PortIndex add();

    static constexpr std::uint16_t end_of_lids = 0xc000;
    static constexpr std::size_t cost = sizeof(Port) + 2 * Index<wire::Gid>::cost;
    std::size_t &left_, &octets_left_;
    Shelf<Port> ports_;
    std::vector<Place> by_lid_;
    Chains by_place_;
    Index<wire::Gid> by_gid_;
    std::uint64_t refused_ = 0, changes_ = 0;
};

}  // namespace ipoib::state
