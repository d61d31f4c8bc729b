// SPDX-License-Identifier: GPL-2.0-or-later
// Whoever opens a descriptor holds it in one of these.
#pragma once

#include <utility>

namespace ipoib {

/// Owns a descriptor and closes it once. An error that a call has left in `errno` outlives the end of its owner, and
/// the move of another descriptor into its place.
class Descriptor {
public:
    Descriptor() = default;
    /// Takes it over. A negative number is none.
    explicit Descriptor(int value) noexcept : value_(value) {}
    Descriptor(Descriptor&& other) noexcept : value_(other.release()) {}
    /// Closes what it held.
    Descriptor& operator=(Descriptor&& other) noexcept;
    ~Descriptor();

    /// Whether the system has taken all that was written; `errno` tells why not. There is nothing to close twice.
    bool close() noexcept;
    /// For somebody else to close.
    [[nodiscard]] int release() noexcept { return std::exchange(value_, -1); }
    /// Negative when it is closed.
    [[nodiscard]] int value() const noexcept { return value_; }
    [[nodiscard]] explicit operator bool() const noexcept { return value_ >= 0; }

private:
    int value_ = -1;
};

struct Pipe {
    Descriptor reader, writer;
    [[nodiscard]] explicit operator bool() const noexcept { return reader && writer; }
};
/// Both ends are above the standard streams, so that neither is overwritten on its way into a child, and inherited by
/// nobody by accident. Where there can be none `errno` tells why.
[[nodiscard]] Pipe make_pipe() noexcept;

}  // namespace ipoib
