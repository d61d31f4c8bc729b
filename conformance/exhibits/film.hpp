// SPDX-License-Identifier: GPL-2.0-or-later
// The last frames of a capture that is being read.
#pragma once

#include "fabric/capture/reader.hpp"
#include "protocol/inspection/inspector.hpp"
#include "protocol/wire/packet.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ipoib::conformance {

/// A frame that is kept.
struct Shot {
    std::uint64_t number = 0;
    std::int64_t time_ns = 0;
    capture::LinkType link_type{};
    std::size_t wire_length = 0;
    inspection::Party party{};  ///< of an evidence capture
    std::vector<std::uint8_t> octets;
    std::string comment;

    /// The packet points into `octets`.
    void decode(wire::Packet& packet) const noexcept;
};

class Film {
public:
    /// So many frames are kept, and so many octets, but always the last frame.
    static constexpr std::size_t most = 256, most_octets = std::size_t{16} << 20;
    static constexpr std::size_t longest_comment = 8192;

    explicit Film(const std::string& path) : reader_(capture::Reader::open(path)) {}

    /// Takes the next frame; whether there was one.
    bool next();
    /// The last ones, the oldest first.
    [[nodiscard]] const std::deque<Shot>& shots() const noexcept { return shots_; }
    /// Whether interfaces are parties, as in evidence.
    [[nodiscard]] bool is_evidence() const noexcept { return is_evidence_; }
    /// Who was seen to send from a LID, in evidence.
    [[nodiscard]] std::optional<inspection::Party> party_at(std::uint16_t lid) const;
    /// Whether a subnet administrator was seen to answer from there.
    [[nodiscard]] bool is_sa(std::uint16_t lid) const { return lid != 0 && lid == sa_lid_; }

private:
    void learn(const Shot& shot);
    /// Makes room for so many octets; the last frame that had to go.
    Shot make_room(std::size_t octets);

    capture::Reader reader_;
    std::deque<Shot> shots_;
    std::map<std::uint16_t, inspection::Party> parties_;
    std::size_t octets_ = 0;
    std::uint16_t sa_lid_ = 0;
    bool is_evidence_ = false;
};

}  // namespace ipoib::conformance
