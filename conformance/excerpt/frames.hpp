// SPDX-License-Identifier: GPL-2.0-or-later
// The frames of a capture in memory, up to the one where something is seen.
#pragma once

#include "fabric/capture/reader.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ipoib::excerpt {

class Frames {
public:
    /// Throws std::invalid_argument for what is no capture.
    explicit Frames(const std::string& path);

    /// Reads the next frame; false at the end of what can be read. Throws std::runtime_error beyond so many octets.
    [[nodiscard]] bool read(std::size_t most_octets);

    [[nodiscard]] std::size_t size() const noexcept { return frames_.size(); }
    /// As read, with its number in the capture; the octets stay until the next read.
    [[nodiscard]] capture::Frame operator[](std::size_t index) const;
    [[nodiscard]] std::string_view interface_name(std::uint32_t interface) const {
        return reader_.interface_name(interface);
    }

private:
    struct Place {
        std::size_t begin, size;
    };
    capture::Reader reader_;
    std::vector<capture::Frame> frames_;  ///< without octets
    std::vector<Place> places_;
    std::vector<std::uint8_t> octets_;
};

}  // namespace ipoib::excerpt
