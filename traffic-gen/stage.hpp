// SPDX-License-Identifier: GPL-2.0-or-later
// Where a profile puts its packets: they are changed as the user asked, counted, and given to a sink at their time.
#pragma once

#include "traffic-gen/scene.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>

namespace ipoib::traffic {

using Time = std::chrono::nanoseconds;  ///< since the first packet

/// Takes whole frames, LRH to VCRC, in order of time.
class Sink {
public:
    virtual ~Sink() = default;
    /// Throws std::runtime_error.
    virtual void take(Time time, wire::Octets frame) = 0;
};

/// What is done to every packet of a profile before it is built; false leaves it out.
using Change = std::function<bool(build::PacketBuilder& packet)>;
/// What is done to a frame, behind its CRCs.
using Damage = std::function<void(wire::MutableOctets frame)>;

struct StageOptions {
    std::uint64_t count = 1000;  ///< packets; what comes before a profile's own is not counted
    std::uint64_t seed = 1;
    Time spacing = std::chrono::milliseconds{1};  ///< from packet to packet
    Time duration = Time::max();                  ///< of the profile's own packets
    std::size_t least_size = 64, most_size = 64;  ///< payload octets of packets that have some
    bool keeps_crc = false;                       ///< the CRCs are those of the packet as it was before changes
};

class Stage {
public:
    Stage(Scene& scene, const StageOptions& options, Sink& sink)
        : scene_(scene), options_(options), sink_(sink), random_(options.seed) {}

    [[nodiscard]] Scene& scene() noexcept { return scene_; }
    [[nodiscard]] std::mt19937_64& random() noexcept { return random_; }
    /// A number below `bound`.
    [[nodiscard]] std::size_t any(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }
    /// The next payload's size.
    [[nodiscard]] std::size_t size();
    /// How many of its own packets the profile has sent.
    [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
    /// The states in which a port is a member of a group.
    [[nodiscard]] std::uint8_t& membership(const wire::Gid& port, const wire::Gid& mgid) {
        return memberships_[{port, mgid}];
    }
    /// A transaction ID that was not used yet.
    [[nodiscard]] std::uint64_t transaction() noexcept { return ++transaction_; }

    /// What comes before a profile's own packets is neither counted nor changed.
    void begin() noexcept { has_begun_ = true; }
    /// Whether the profile is to send more.
    [[nodiscard]] bool goes_on() const noexcept;
    /// Nothing more is sent once enough was.
    void send(build::PacketBuilder packet);
    void pause(Time time) noexcept { now_ += time; }

    Change change{};  ///< mutations and --set
    bool (*is_stopped)() = nullptr;
    Damage damage{};
    [[nodiscard]] Time now() const noexcept { return now_; }

private:
    [[nodiscard]] std::vector<std::uint8_t> whole(build::PacketBuilder& packet, bool& is_left_out) const;

    Scene& scene_;
    StageOptions options_;
    Sink& sink_;
    std::mt19937_64 random_;
    std::map<std::pair<wire::Gid, wire::Gid>, std::uint8_t> memberships_;
    Time now_{}, begun_{};
    std::uint64_t sent_ = 0, transaction_ = 0;
    bool has_begun_ = false;
};

}  // namespace ipoib::traffic
