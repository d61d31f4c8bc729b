// SPDX-License-Identifier: GPL-2.0-or-later
// What fuzzers share: a claim that must hold, and values made of the octets that are tried.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/descriptor.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace ipoib::fuzz {

using Octets = std::span<const std::uint8_t>;

/// Ends the process where a claim does not hold, and tells its line: libFuzzer keeps the input.
inline void demand(bool is_kept, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    if (is_kept) return;
    std::fprintf(stderr, "%s:%d: this does not hold\n", file, line);
    std::abort();
}

/// A complaint that can be shown at a terminal: not empty, not long, with line feeds as its only control characters.
inline void demand_sentence(std::string_view what, std::size_t longest = 1100, const char* file = __builtin_FILE(),
                            int line = __builtin_LINE()) {
    demand(!what.empty() && what.size() <= longest, file, line);
    for (const char c : what) demand(c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f), file, line);
}

inline std::string_view as_text(Octets octets) { return {reinterpret_cast<const char*>(octets.data()), octets.size()}; }
inline Octets as_octets(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// Values from the front of the octets; zero and nothing behind their end.
class Input {
public:
    Input(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

    [[nodiscard]] bool is_empty() const noexcept { return rest_.empty(); }
    template <class T = std::uint8_t>
    T number() {
        static_assert(std::is_unsigned_v<T>);
        std::uint64_t value = 0;
        for (const auto octet : octets(sizeof(T))) value = value << 8 | octet;
        return static_cast<T>(value);
    }
    Octets octets(std::size_t most) {
        const auto taken = rest_.first(std::min(most, rest_.size()));
        rest_ = rest_.subspan(taken.size());
        return taken;
    }
    /// As many as two octets before them say.
    Octets counted() { return octets(number<std::uint16_t>()); }
    std::string text() { return std::string(as_text(counted())); }
    Octets rest() { return octets(rest_.size()); }

private:
    Octets rest_;
};

/// The octets as a file, read from its beginning.
inline Descriptor file_of(Octets octets) {
    Descriptor descriptor{::memfd_create("input", MFD_CLOEXEC)};
    demand(::pwrite(descriptor.value(), octets.data(), octets.size(), 0) == static_cast<ssize_t>(octets.size()));
    return descriptor;
}

}  // namespace ipoib::fuzz
