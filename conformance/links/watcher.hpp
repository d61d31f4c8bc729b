// SPDX-License-Identifier: GPL-2.0-or-later
// Troubles that no text forbids and users suffer from: who looks for them among the packets.
#pragma once

#include "conformance/judge/judge.hpp"
#include "conformance/links/ledger.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace ipoib::links {

inline constexpr std::int64_t second_ns = 1'000'000'000;

/// A packet, and what is known around it, its own news included.
struct Moment {
    const wire::Packet& packet;
    const state::Known& known;
    const state::Subnet& subnet;
};

/// What a watcher has found.
struct Trouble {
    std::string name;  ///< permanent, such as "duplicate-address"
    std::string text;  ///< a sentence or two; "{0}" stands for the first of the ports
    const state::Subnet* subnet = nullptr;
    std::uint16_t p_key = 0;         ///< of the link; 0: not known
    bool may_be_of_no_link = false;  ///< told also where the link is not in sight
    std::vector<wire::Gid> ports{};
    std::vector<state::Sight> frames{};
    std::uint64_t count = 0;

    static constexpr std::size_t most_frames = 10;
    void show(const state::Sight& sight) {
        ++count;
        if (frames.size() < most_frames) frames.push_back(sight);
    }
};

/// Kinds of packets, as bits: a watcher is told of those that it looks at, since most packets are of no use to most.
namespace packets {
inline constexpr unsigned all = 1, management = 2;
/// On a link whose P_Key is known: all, ARP and Neighbour Discovery, what is answered or acknowledged (ICMP, TCP), and
/// UDP that is long enough for DHCP.
inline constexpr unsigned of_links = 4, resolution = 8, dialogues = 16, leases = 32;
/// More than all of these together.
inline constexpr std::size_t combinations = 64;
}  // namespace packets

/// Looks for troubles of one kind, packet by packet, in memory that is bounded whatever it sees.
class Watcher {
public:
    Watcher() = default;
    virtual ~Watcher() = default;
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

    /// Bits of `packets`. May be others after a packet of management or resolution.
    [[nodiscard]] virtual unsigned looks_at() const noexcept = 0;
    virtual void take(const Moment& moment) = 0;
    /// What was found up to now.
    [[nodiscard]] virtual std::vector<Trouble> troubles() const = 0;
};

// One for each file in watchers/.
[[nodiscard]] std::unique_ptr<Watcher> watch_addresses();
[[nodiscard]] std::unique_ptr<Watcher> watch_partitions();
[[nodiscard]] std::unique_ptr<Watcher> watch_silence();
[[nodiscard]] std::unique_ptr<Watcher> watch_sizes();
[[nodiscard]] std::unique_ptr<Watcher> watch_leases();
[[nodiscard]] std::unique_ptr<Watcher> watch_notices();

/// All that looks on while a judge reads a capture. Stays where it is.
class Observer {
public:
    Observer();
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;

    /// To be given to the judge.
    [[nodiscard]] conformance::Judge::Listener listener() { return ledger_.listener(); }
    [[nodiscard]] conformance::Judge::Onlooker onlooker() {
        return [this](const wire::Packet& packet, const state::Known& known, const state::Subnet& subnet) {
            take({packet, known, subnet});
        };
    }
    void take(const Moment& moment) {
        const auto kinds = kinds_of(moment);
        for (auto* watcher : by_kinds_[kinds]) watcher->take(moment);
        if ((kinds & (packets::management | packets::resolution)) != 0) ask_for_kinds();
    }
    [[nodiscard]] const Ledger& ledger() const noexcept { return ledger_; }
    [[nodiscard]] std::vector<Trouble> troubles() const;

private:
    static unsigned kinds_of(const Moment& moment) noexcept;
    void ask_for_kinds();

    Ledger ledger_;
    std::vector<std::unique_ptr<Watcher>> watchers_;
    std::vector<unsigned> looks_at_;  ///< each of them
    /// Who is told of a packet of these kinds.
    std::array<std::vector<Watcher*>, packets::combinations> by_kinds_;
};

}  // namespace ipoib::links
