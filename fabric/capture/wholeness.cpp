// SPDX-License-Identifier: GPL-2.0-or-later
// The mark is a comment of the section, which every program shows and many keep: so it counts what it speaks of.
#include "fabric/capture/wholeness.hpp"

#include <array>
#include <filesystem>

namespace ipoib::capture {
namespace {

constexpr std::string_view beginning = "Complete: ";

std::string hex(std::uint64_t value) {
    std::string digits(16, '0');
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, value >>= 4)
        *digit = "0123456789abcdef"[value & 0xf];
    return digits;
}

}  // namespace

void Census::mix(wire::Octets octets) noexcept {
    constexpr std::uint64_t prime = 0x100000001b3;
    for (const auto octet : octets) sum_ = (sum_ ^ octet) * prime;
}

void Census::mix(std::uint64_t number) noexcept {
    std::array<std::uint8_t, sizeof number> octets{};
    for (auto& octet : octets) {
        octet = static_cast<std::uint8_t>(number);
        number >>= 8;
    }
    mix(wire::Octets{octets});
}

void Census::add(std::int64_t time_ns, std::string_view interface_name, wire::Octets octets) noexcept {
    ++count_;
    mix(static_cast<std::uint64_t>(time_ns));
    mix(std::uint64_t{interface_name.size()});
    mix(wire::Octets{reinterpret_cast<const std::uint8_t*>(interface_name.data()), interface_name.size()});
    mix(std::uint64_t{octets.size()});
    mix(octets);
}

std::string Census::mark() const {
    return std::string(beginning) + "its writer saw every packet, and these " + std::to_string(count_) +
           " are all (sum " + hex(sum_) + ").";
}

Wholeness wholeness_of(const std::string& path) {
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(path, unknown)) return Wholeness::unmarked;
    auto reader = Reader::open(path);
    const std::string said(reader.comment());
    if (!said.starts_with(beginning)) return Wholeness::unmarked;
    Census census;
    bool is_lossy = false;
    reader.on_loss([&](const Loss&) { is_lossy = true; });
    Frame frame;
    auto status = Status::frame;
    while ((status = reader.next(frame)) == Status::frame) {
        is_lossy = is_lossy || frame.lost != 0 || frame.wire_length != frame.octets.size();
        census.add(frame.time_ns, reader.interface_name(frame.interface), frame.octets);
    }
    // Of a file that another one was put behind, the comment is of the first only.
    const bool is_whole = status == Status::end && !is_lossy && reader.comment() == said && census.mark() == said;
    return is_whole ? Wholeness::whole : Wholeness::changed;
}

}  // namespace ipoib::capture
