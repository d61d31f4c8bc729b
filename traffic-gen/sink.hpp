// SPDX-License-Identifier: GPL-2.0-or-later
// Where the packets of a profile go, and who answers what it asks of the subnet administrator.
#pragma once

#include "protocol/build/ipoib.hpp"

#include <chrono>

namespace ipoib::traffic {

using Time = std::chrono::nanoseconds;  ///< since the first packet

/// Whose packet it is, whatever is changed in it.
struct Sender {
    std::uint16_t lid = 0;
    std::uint32_t qpn = 0;
    friend auto operator<=>(const Sender&, const Sender&) = default;
};

/// A subnet administrator that is really there. All are asked in the name of a host; one that is not ours asks by
/// itself. Each throws std::runtime_error when the fabric is gone.
class Administrator {
public:
    virtual ~Administrator() = default;
    /// Whether it was granted.
    virtual bool join(Time time, const build::Node& host, const wire::Gid& mgid, std::uint8_t state) = 0;
    virtual bool leave(Time time, const build::Node& host, const wire::Gid& mgid, std::uint8_t state) = 0;
    virtual bool subscribe(Time time, const build::Node& host, std::uint16_t trap) = 0;
    /// Of a group that was joined; 0: none was.
    [[nodiscard]] virtual std::uint16_t mlid(const wire::Gid& mgid) const = 0;
    [[nodiscard]] virtual bool is_ours(const build::Node& host) const = 0;
};

/// Takes whole frames, LRH to VCRC, in order of time. Throws std::runtime_error.
class Sink {
public:
    virtual ~Sink() = default;
    /// False: the sender is none of ours, or such a capture shows no such packets; nothing was sent.
    virtual bool take(Time time, const Sender& sender, wire::Octets frame) = 0;
    /// Null: what profiles ask is played, the answers too.
    [[nodiscard]] virtual Administrator* administrator() noexcept { return nullptr; }
    /// Adapters send what is taken: they number what leaves their queue pairs.
    [[nodiscard]] virtual bool has_adapters() const noexcept { return false; }
    /// The time since the first packet, where that is real; a capture has no other than that of its packets.
    [[nodiscard]] virtual Time elapsed() { return {}; }
    /// Everything that was taken is on its way; for a capture, in the file.
    virtual void finish() {}
};

}  // namespace ipoib::traffic
