// SPDX-License-Identifier: GPL-2.0-or-later
// P_Keys that a port has lost, or of which it has become a limited member, as the blocks of its table tell.
#include "conformance/links/watcher.hpp"
#include "protocol/wire/node_record.hpp"
#include "protocol/wire/smp.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace ipoib::links {
using namespace wire;

namespace {

class Partitions : public Watcher {
public:
    [[nodiscard]] unsigned looks_at() const noexcept override {
        return changes_.empty() ? packets::management : packets::all;
    }
    void take(const Moment& moment) override {
        if (!changes_.empty()) look_for_use(moment);
        if (moment.packet.mad && moment.known.managed) look_at_table(moment);
    }
    [[nodiscard]] std::vector<Trouble> troubles() const override {
        std::vector<Trouble> all;
        for (const auto& [key, change] : changes_) all.push_back(told(key, change));
        return all;
    }

private:
    static constexpr std::size_t in_block = 32, most_blocks = 16'384;
    static constexpr std::uint16_t partition = 0x7fff;

    using Block = std::array<std::uint16_t, in_block>;
    struct Key {
        const state::Subnet* subnet;
        Gid port;
        std::uint32_t block;
        friend auto operator<=>(const Key&, const Key&) = default;
    };
    enum class What : std::uint8_t { lost, limited, replaced };
    struct ChangeKey {
        const state::Subnet* subnet;
        Gid port;
        std::uint16_t p_key;  ///< without membership bit
        friend auto operator<=>(const ChangeKey&, const ChangeKey&) = default;
    };
    struct Change {
        What what{};
        std::uint16_t instead = 0;  ///< at index 0
        Trouble seen;
        std::uint64_t used = 0;  ///< packets with the P_Key since
    };

    void compare(const Moment& moment, const Key& key, const Block& before, const Block& after) {
        for (std::size_t i = 0; i < in_block; ++i) {
            const auto old = before[i];
            const auto number = static_cast<std::uint16_t>(old & partition);
            if (number == 0 || old == after[i]) continue;
            const auto is_same = [&](std::uint16_t one) { return (one & partition) == number; };
            const ChangeKey at{key.subnet, key.port, number};
            // A port may be full and limited member at once: the better of both counts.
            const bool was_full = is_in(before, number, true), is_full = is_in_any(key, after, number, true);
            if (is_full) {
                changes_.erase(at);
                if (i != 0 || key.block != 0 || is_same(after[0])) continue;
                note(moment, at, What::replaced, after[0]);
            } else if (!is_in_any(key, after, number, false)) {
                note(moment, at, i == 0 && key.block == 0 && after[0] != 0 ? What::replaced : What::lost, after[0]);
            } else if (was_full) {
                note(moment, at, What::limited, 0);
            }
        }
        // What has come back is lost no more.
        for (const auto one : after)
            if ((one & full_membership) != 0)
                if (const auto found =
                        changes_.find({key.subnet, key.port, static_cast<std::uint16_t>(one & partition)});
                    found != changes_.end() && found->second.what != What::replaced)
                    changes_.erase(found);
    }
    static bool is_in(const Block& block, std::uint16_t number, bool full) {
        return std::ranges::any_of(block, [&](std::uint16_t one) {
            return (one & partition) == number && (!full || (one & full_membership) != 0);
        });
    }
    /// In this block, or in another one of the port.
    [[nodiscard]] bool is_in_any(const Key& key, const Block& block, std::uint16_t number, bool full) const {
        if (is_in(block, number, full)) return true;
        for (auto one = blocks_.lower_bound({key.subnet, key.port, 0});
             one != blocks_.end() && one->first.subnet == key.subnet && one->first.port == key.port; ++one)
            if (one->first.block != key.block && is_in(one->second, number, full)) return true;
        return false;
    }
    void note(const Moment& moment, const ChangeKey& at, What what, std::uint16_t instead) {
        if (changes_.size() >= most_blocks) return;
        auto& change = changes_[at];
        change = {.what = what, .instead = instead, .seen = {}};
        change.seen.show(moment.known.now);
    }
    void look_at_table(const Moment& moment) {
        const auto& packet = moment.packet;
        if (packet.mad[Mad::attribute_id] != smp_attribute::p_key_table) return;
        constexpr std::uint32_t blocks_of_port = 32;
        const auto number = packet.mad[Mad::attribute_modifier];
        if (number >= blocks_of_port) return;
        const auto smp = packet.octets.subspan(packet.offset_of(packet.mad.data()));
        constexpr std::size_t data = DirectedSmp::data.at.bit / 8;
        if (smp.size() < data + 2 * in_block) return;
        Block block{};
        for (std::size_t i = 0; i < in_block; ++i)
            block[i] = static_cast<std::uint16_t>(read_bits(smp.data() + data + 2 * i, {0}, 16));
        const Key key{&moment.subnet, moment.known.managed->gid, number};
        const auto found = blocks_.find(key);
        if (found != blocks_.end()) {
            compare(moment, key, found->second, block);
            found->second = block;
        } else if (blocks_.size() < most_blocks) {
            blocks_.emplace(key, block);
        }
    }
    void look_for_use(const Moment& moment) {
        if (!moment.packet.bth || !moment.packet.encap || !moment.known.sender) return;
        const auto p_key = static_cast<std::uint16_t>(moment.packet.bth[Bth::p_key] & partition);
        const auto found = changes_.find({&moment.subnet, moment.known.sender->gid, p_key});
        if (found != changes_.end()) ++found->second.used;
    }
    static Trouble told(const ChangeKey& key, const Change& change) {
        auto trouble = change.seen;
        trouble.subnet = key.subnet;
        trouble.p_key = static_cast<std::uint16_t>(key.p_key | full_membership);
        trouble.ports = {key.port};
        const auto name = hex(trouble.p_key, 4);
        if (change.what == What::lost) {
            trouble.name = "p-key-lost";
            trouble.text = "{0} has lost the P_Key " + name + ": its adapter drops all packets of this link.";
        } else if (change.what == What::limited) {
            trouble.name = "p-key-limited";
            trouble.text =
                "{0} is only a limited member of the partition " + name +
                " any more: it cannot join the broadcast group as FullMember, and other limited members do not hear "
                "it.";
        } else {
            trouble.name = "p-key-replaced";
            trouble.text =
                "At index 0 of the P_Key table of {0} " + hex(change.instead, 4) + " has replaced " + name +
                ": its interface changes to another link, and groups that it does not join anew stay behind.";
        }
        if (change.used > 0)
            trouble.text += " It has sent " + std::to_string(change.used) +
                            (change.used == 1 ? " packet" : " packets") + " with the old P_Key since.";
        return trouble;
    }

    std::map<Key, Block> blocks_;
    std::map<ChangeKey, Change> changes_;
};

}  // namespace

std::unique_ptr<Watcher> watch_partitions() { return std::make_unique<Partitions>(); }

}  // namespace ipoib::links
