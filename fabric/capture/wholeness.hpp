// SPDX-License-Identifier: GPL-2.0-or-later
// A pcapng's own word that nothing is missing in it, which does not survive that packets are taken out.
#pragma once

#include "fabric/capture/reader.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace ipoib::capture {

/// Counts packets and sums up what they are: time, interface's name, length and octets.
class Census {
public:
    void add(std::int64_t time_ns, std::string_view interface_name, wire::Octets octets) noexcept;
    /// The comment of a capture of which the writer knows that it has all these packets and that there were no others.
    [[nodiscard]] std::string mark() const;

private:
    void mix(wire::Octets octets) noexcept;
    void mix(std::uint64_t number) noexcept;

    std::uint64_t count_ = 0;
    std::uint64_t sum_ = 0xcbf29ce484222325;  ///< FNV-1a
};

enum class Wholeness : std::uint8_t {
    unmarked,  ///< it does not say that it is whole, or is no regular file
    whole,     ///< it has the packets that its mark is of
    changed,   ///< it has others, fewer or more, or tells of a loss
};
/// What a file says of itself. One that has a mark is read to its end.
[[nodiscard]] Wholeness wholeness_of(const std::string& path);

}  // namespace ipoib::capture
