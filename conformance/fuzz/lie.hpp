// SPDX-License-Identifier: GPL-2.0-or-later
// What is wrong with a frame: fields by the rows of the wire tables, and its octets. Lengths, checksums, CRCs and PSNs
// are right but for the lie.
#pragma once

#include "protocol/build/packet_builder.hpp"

#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ipoib::conformance::fuzz {

using Random = std::mt19937_64;

/// "Encap.Reserved=0x1", as `ipoib-gen --set` has it, where the packet has the header; or one of
/// "cut=N": the last N octets of the payload are not there; "tail=N": so many more are;
/// "octet=OFFSET:XOR": of the whole frame, once it is built; "icrc=XOR", "vcrc=XOR"; "lost=1": the frame does not
/// arrive. Throws std::invalid_argument with what is wrong.
void check_lie(std::string_view lie);

/// The same lies about packets that follow each other: lists and ranges of values ("BTH.OpCode=0..255") go on from one
/// to the next. Throws what check_lie does.
class Lies {
public:
    explicit Lies(std::span<const std::string> lies);
    Lies(Lies&&) noexcept;
    Lies& operator=(Lies&&) noexcept;
    ~Lies();
    /// The frame with these lies, LRH to VCRC. A lie about a header that it has not is none.
    [[nodiscard]] std::vector<std::uint8_t> build(build::PacketBuilder packet);

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// Of one frame.
[[nodiscard]] std::vector<std::uint8_t> build_with(build::PacketBuilder packet, std::span<const std::string> lies);

/// Whether the frame is not to arrive.
[[nodiscard]] bool loses(std::span<const std::string> lies);

/// A lie about a packet like this one.
[[nodiscard]] std::string random_lie(const build::PacketBuilder& packet, Random& random);

/// One field through its values: all of them where it is an octet at most, else the least, the greatest, those that
/// have names, and their neighbours. Or one other length of the payload.
struct Sweep {
    std::string lie;
    std::uint32_t values = 0;
};
/// Some lies with half of the values that one of them goes through.
struct LiesHalf {
    std::vector<std::string> lies;
    std::uint32_t values = 0;
};
/// Both halves, where just one goes through several values, as a list or range; else nothing.
[[nodiscard]] std::vector<LiesHalf> halves_of(std::span<const std::string> lies);
/// Of every field of a packet like this one that is no wider than 64 bits, and of its length.
[[nodiscard]] std::vector<Sweep> sweeps_of(const build::PacketBuilder& packet);

}  // namespace ipoib::conformance::fuzz
