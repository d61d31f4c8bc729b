// SPDX-License-Identifier: GPL-2.0-or-later
// Decompression of a stream of gzip (RFC 1952), zstd (RFC 8878) or lz4 (LZ4 frame format) members, piece by piece.
#pragma once

#include "protocol/wire/field.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace ipoib::capture {

enum class Compression : std::uint8_t { none, gzip, zstd, lz4 };

/// "gzip", "zstd", "lz4"; empty for `none`.
[[nodiscard]] std::string_view name(Compression);

/// What a stream is compressed with, told by its first octets (four are enough).
[[nodiscard]] Compression detect_compression(wire::Octets beginning) noexcept;

/// Decodes one compressed stream; members that follow each other are joined, as the command line tools do.
class Decompressor {
public:
    virtual ~Decompressor() = default;

    /// Decodes from the front of `in` to the front of `out` and shrinks both by what was used. An empty `in` flushes
    /// what is held back. False when the data cannot be decoded: error() says why, as "are damaged: ...".
    virtual bool decode(wire::Octets& in, wire::MutableOctets& out) = 0;

    /// Octets of memory that it holds. They may have become more with the last call of decode().
    [[nodiscard]] virtual std::size_t memory() const noexcept = 0;

    /// Whether the stream may end here: every member begun so far is complete.
    [[nodiscard]] bool is_between_members() const noexcept { return is_between_members_; }
    [[nodiscard]] const std::string& error() const noexcept { return error_; }

protected:
    bool is_between_members_ = false;
    std::string error_;
};

/// A decompressor in its initial state; null when this build has none of that kind.
[[nodiscard]] std::unique_ptr<Decompressor> make_decompressor(Compression);

}  // namespace ipoib::capture
