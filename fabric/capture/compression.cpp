// SPDX-License-Identifier: GPL-2.0-or-later
// Decompression through zlib, libzstd and liblz4, each of them optional when the project is built.
#include "fabric/capture/compression.hpp"

#include <algorithm>
#include <new>

#ifdef IPOIB_GZIP
#include <zlib.h>
#endif
#ifdef IPOIB_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif
#ifdef IPOIB_LZ4
#include <lz4frame.h>
#endif

namespace ipoib::capture {
namespace {

[[maybe_unused]] constexpr std::string_view damaged = "are damaged: ";

#ifdef IPOIB_GZIP
class Gzip final : public Decompressor {
public:
    Gzip() {
        constexpr int gzip_only = 16;
        if (inflateInit2(&stream_, MAX_WBITS + gzip_only) != Z_OK) throw std::bad_alloc{};
    }
    Gzip(const Gzip&) = delete;
    Gzip& operator=(const Gzip&) = delete;
    ~Gzip() override { inflateEnd(&stream_); }

    bool decode(wire::Octets& in, wire::MutableOctets& out) override {
        if (is_between_members_) {
            if (in.empty()) return true;
            inflateReset(&stream_);
            is_between_members_ = false;
        }
        stream_.next_in = const_cast<Bytef*>(in.data());
        stream_.avail_in = static_cast<uInt>(in.size());
        stream_.next_out = out.data();
        stream_.avail_out = static_cast<uInt>(out.size());
        const int result = inflate(&stream_, Z_NO_FLUSH);
        in = in.last(stream_.avail_in);
        out = out.last(stream_.avail_out);
        if (result == Z_STREAM_END) is_between_members_ = true;
        // Z_BUF_ERROR only says that there was nothing to do with so little input.
        if (result == Z_STREAM_END || result == Z_OK || result == Z_BUF_ERROR) return true;
        error_ = std::string(damaged) + (stream_.msg ? stream_.msg : zError(result));
        return false;
    }

    [[nodiscard]] std::size_t memory() const noexcept override {
        constexpr std::size_t window_and_tables = std::size_t{48} << 10;
        return window_and_tables;
    }

private:
    z_stream stream_{};
};
#endif

#ifdef IPOIB_ZSTD
class Zstd final : public Decompressor {
public:
    Zstd() : stream_{ZSTD_createDStream()} {
        if (!stream_) throw std::bad_alloc{};
    }
    Zstd(const Zstd&) = delete;
    Zstd& operator=(const Zstd&) = delete;
    ~Zstd() override { ZSTD_freeDStream(stream_); }

    bool decode(wire::Octets& in, wire::MutableOctets& out) override {
        if (is_between_members_ && in.empty()) return true;
        ZSTD_inBuffer input{in.data(), in.size(), 0};
        ZSTD_outBuffer output{out.data(), out.size(), 0};
        const std::size_t result = ZSTD_decompressStream(stream_, &output, &input);
        in = in.subspan(input.pos);
        out = out.subspan(output.pos);
        if (ZSTD_isError(result)) {
            // To decode them would take as much memory as whoever wrote them likes.
            error_ = ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge
                         ? "have a window of more than 128 MiB; \"zstd -d --long=31\" decompresses such a file"
                         : std::string(damaged) + ZSTD_getErrorName(result);
            return false;
        }
        is_between_members_ = result == 0;
        return true;
    }

    [[nodiscard]] std::size_t memory() const noexcept override { return ZSTD_sizeof_DStream(stream_); }

private:
    ZSTD_DStream* stream_;
};
#endif

#ifdef IPOIB_LZ4
class Lz4 final : public Decompressor {
public:
    Lz4() {
        if (LZ4F_isError(LZ4F_createDecompressionContext(&context_, LZ4F_VERSION))) throw std::bad_alloc{};
    }
    Lz4(const Lz4&) = delete;
    Lz4& operator=(const Lz4&) = delete;
    ~Lz4() override { LZ4F_freeDecompressionContext(context_); }

    bool decode(wire::Octets& in, wire::MutableOctets& out) override {
        if (is_between_members_ && in.empty()) return true;
        std::size_t read = in.size(), written = out.size();
        const std::size_t result = LZ4F_decompress(context_, out.data(), &written, in.data(), &read, nullptr);
        if (LZ4F_isError(result)) {
            error_ = std::string(damaged) + LZ4F_getErrorName(result);
            return false;
        }
        in = in.subspan(read);
        out = out.subspan(written);
        is_between_members_ = result == 0;
        if (!is_between_members_) keep_block_size();
        return true;
    }
    [[nodiscard]] std::size_t memory() const noexcept override { return memory_; }

private:
    /// The library has a block as it is compressed, and one as it was with what it may refer to.
    void keep_block_size() {
        LZ4F_frameInfo_t info{};
        std::size_t none = 0;
        if (LZ4F_isError(LZ4F_getFrameInfo(context_, &info, nullptr, &none))) return;
        constexpr std::size_t smallest = std::size_t{64} << 10;
        const auto steps = static_cast<unsigned>(info.blockSizeID) - static_cast<unsigned>(LZ4F_max64KB);
        if (info.blockSizeID >= LZ4F_max64KB) memory_ = std::max(memory_, 2 * (smallest << (2 * steps)) + 2 * smallest);
    }

    std::size_t memory_ = 0;
    LZ4F_dctx* context_ = nullptr;
};
#endif

}  // namespace

std::string_view name(Compression compression) {
    switch (compression) {
        case Compression::gzip:
            return "gzip";
        case Compression::zstd:
            return "zstd";
        case Compression::lz4:
            return "lz4";
        case Compression::none:
            break;
    }
    return {};
}

Compression detect_compression(wire::Octets beginning) noexcept {
    if (beginning.size() >= 2 && beginning[0] == 0x1f && beginning[1] == 0x8b) return Compression::gzip;
    if (beginning.size() < 4) return Compression::none;
    constexpr wire::At first_word = wire::octet(0);
    const auto magic = wire::read_bits(beginning.data(), first_word, 32);
    if (magic == 0x28b52ffd) return Compression::zstd;
    // Parallel zstd writers put a skippable frame first.
    if ((magic & 0xf0ffffff) == 0x502a4d18) return Compression::zstd;
    if (magic == 0x04224d18) return Compression::lz4;
    return Compression::none;
}

std::unique_ptr<Decompressor> make_decompressor(Compression compression) {
    switch (compression) {
#ifdef IPOIB_GZIP
        case Compression::gzip:
            return std::make_unique<Gzip>();
#endif
#ifdef IPOIB_ZSTD
        case Compression::zstd:
            return std::make_unique<Zstd>();
#endif
#ifdef IPOIB_LZ4
        case Compression::lz4:
            return std::make_unique<Lz4>();
#endif
        default:
            return nullptr;
    }
}

}  // namespace ipoib::capture
