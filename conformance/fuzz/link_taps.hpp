// SPDX-License-Identifier: GPL-2.0-or-later
// The cable of the node under test: what comes over it can be lied in, what the node says is listened to.
#pragma once

#include "fabric/simulated/subnet.hpp"
#include "fabric/socket/unix_socket.hpp"
#include "protocol/wire/packet.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ipoib::conformance::fuzz {

/// Lies in what others say to the node.
struct Spell {
    std::string of;  ///< one of `answerers`
    std::vector<std::string> lies;
    unsigned after = 0, times = 1;
};

/// The raw port of the one node that connects, plugged into the subnet. Who connects later takes its place.
class LinkTaps {
public:
    /// Throws std::runtime_error where nothing can listen at this path. The subnet must live longer.
    LinkTaps(fabric::Subnet& subnet, const std::string& path);
    ~LinkTaps();
    LinkTaps(const LinkTaps&) = delete;
    LinkTaps& operator=(const LinkTaps&) = delete;

    [[nodiscard]] bool is_plugged() const noexcept { return switch_port_ != nullptr; }
    /// Past the switches, as it is; both CRCs zero are filled in.
    void inject(wire::Octets frame);
    void cast(Spell spell) { spells_.push_back(std::move(spell)); }
    void clear() { spells_.clear(); }
    /// The cable is out, and in again: the subnet manager brings the port up anew.
    void replug();

    /// Told of every frame of the node.
    std::function<void(const wire::Packet& packet)> heard;
    /// Kinds of frames that the node has sent since they were last taken.
    [[nodiscard]] std::set<std::uint64_t> take_kinds() { return std::exchange(kinds_, {}); }

private:
    struct Down final : fabric::FrameSink {
        explicit Down(LinkTaps& t) : taps(t) {}
        void receive(const fabric::Frame& frame) override;
        LinkTaps& taps;
    };
    struct Up final : fabric::FrameSink {
        explicit Up(LinkTaps& t) : taps(t) {}
        void receive(const fabric::Frame& frame) override;
        LinkTaps& taps;
    };
    void accept(std::unique_ptr<fabric::RawPort> port);
    void plug();
    void unplug();
    /// The frame with the lies of the spell that it is for; none where it is lost on purpose.
    [[nodiscard]] std::optional<fabric::Frame> changed(const fabric::Frame& frame);

    fabric::Subnet& subnet_;
    Down down_{*this};
    Up up_{*this};
    std::unique_ptr<fabric::RawPort> port_;
    fabric::SwitchPort* switch_port_ = nullptr;
    std::vector<Spell> spells_;
    std::set<std::uint64_t> kinds_;
    fabric::RawPortListener listener_;
};

}  // namespace ipoib::conformance::fuzz
