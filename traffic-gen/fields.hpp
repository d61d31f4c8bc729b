// SPDX-License-Identifier: GPL-2.0-or-later
// `--set field=value`: any field of any header, by the names of the wire tables, with a value for each packet.
#pragma once

#include "protocol/build/packet_builder.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace ipoib::traffic {

/// One override.
class Override {
public:
    /// "Encap.Reserved=0x1", "BTH.DestQP=1,2,3", "UDP.SourcePort=1000..2000", "UDP.SourcePort=1000..2000/10",
    /// "DETH.Q_Key=random", "LRH.SL=random 1..3", "GRH.DGID=ff12:401b::1", "IPv4.Source=10.1.0.9". Lists and ranges are
    /// gone through from packet to packet, and begin anew. Upper and lower case are the same. Throws
    /// std::invalid_argument with what is wrong: an unknown header or field, a value out of its range.
    explicit Override(std::string_view text);

    /// Sets the next value, where the packet has the header, also within another one (registry.hpp); says whether it
    /// has.
    bool apply(build::PacketBuilder& packet, std::mt19937_64& random);
    [[nodiscard]] const wire::FieldSpec& field() const noexcept { return *field_; }
    /// "Encap.Reserved"
    [[nodiscard]] std::string name() const;

private:
    using Value = std::vector<std::uint8_t>;
    void take_values(std::string_view text);
    void take_range(std::string_view text);
    [[nodiscard]] std::uint64_t number(std::string_view text) const;
    [[nodiscard]] Value value(std::string_view text) const;
    [[noreturn]] void refuse(std::string_view text, const std::string& why) const;
    [[nodiscard]] std::uint64_t most() const noexcept;

    const wire::HeaderSpec* header_ = nullptr;
    const wire::FieldSpec* field_ = nullptr;
    std::vector<Value> list_;  ///< empty: a range
    std::uint64_t first_ = 0, last_ = 0, step_ = 1;
    bool is_random_ = false;
    std::uint64_t next_ = 0;
};

}  // namespace ipoib::traffic
