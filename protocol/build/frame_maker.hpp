// SPDX-License-Identifier: GPL-2.0-or-later
// From many packets to their frames.
#pragma once

#include "protocol/build/packet_builder.hpp"

#include <vector>

namespace ipoib::build {

/// Makes the frame of each packet that it is given, as PacketBuilder::build() does. What is to be filled in follows
/// from the headers that a packet has, whatever is in them: it is found out once for all packets that have the same
/// ones.
class FrameMaker {
public:
    FrameMaker();
    ~FrameMaker();
    FrameMaker(FrameMaker&&) noexcept;
    FrameMaker& operator=(FrameMaker&&) noexcept;

    /// The whole frame, LRH to VCRC, valid until the next call.
    [[nodiscard]] wire::MutableOctets make(const PacketBuilder& packet);
    /// That of one packet alone.
    [[nodiscard]] static std::vector<std::uint8_t> one(const PacketBuilder& packet);

private:
    static void make_by(const PacketBuilder::Plan& plan, const PacketBuilder& packet, std::vector<std::uint8_t>& frame);
    [[nodiscard]] const PacketBuilder::Plan& plan_of(const PacketBuilder& packet);

    std::vector<std::uint8_t> frame_;
    std::vector<PacketBuilder::Plan> plans_;  ///< by a hash of the headers; bounded, so that another may take its place
};

}  // namespace ipoib::build
