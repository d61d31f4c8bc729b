// SPDX-License-Identifier: GPL-2.0-or-later
// Troubles that no text forbids and users suffer from: who looks for them among the packets.
#pragma once

#include "conformance/judge/judge.hpp"
#include "conformance/links/ledger.hpp"

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

/// Looks for troubles of one kind, packet by packet, in memory that is bounded whatever it sees.
class Watcher {
public:
    Watcher() = default;
    virtual ~Watcher() = default;
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

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
        for (const auto& watcher : watchers_) watcher->take(moment);
    }
    [[nodiscard]] const Ledger& ledger() const noexcept { return ledger_; }
    [[nodiscard]] std::vector<Trouble> troubles() const;

private:
    Ledger ledger_;
    std::vector<std::unique_ptr<Watcher>> watchers_;
};

}  // namespace ipoib::links
