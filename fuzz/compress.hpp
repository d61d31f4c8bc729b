// SPDX-License-Identifier: GPL-2.0-or-later
// Octets compressed as the command line tools do.
#pragma once

#include <lz4frame.h>
#include <zlib.h>
#include <zstd.h>

#include <vector>

#include "fabric/capture/compression.hpp"
#include "fuzz/fuzzer.hpp"

namespace ipoib::fuzz {

/// One member.
inline std::vector<std::uint8_t> compressed(capture::Compression compression, Octets plain) {
    std::vector<std::uint8_t> out(LZ4F_compressFrameBound(plain.size(), nullptr) + ZSTD_compressBound(plain.size()) +
                                  64);
    std::size_t size = 0;
    if (compression == capture::Compression::gzip) {
        constexpr int gzip_window = MAX_WBITS + 16, memory = 8;
        z_stream stream{};
        demand(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, memory, Z_DEFAULT_STRATEGY) ==
               Z_OK);
        stream.next_in = const_cast<Bytef*>(plain.data());
        stream.avail_in = static_cast<uInt>(plain.size());
        stream.next_out = out.data();
        stream.avail_out = static_cast<uInt>(out.size());
        demand(deflate(&stream, Z_FINISH) == Z_STREAM_END);
        size = out.size() - stream.avail_out;
        deflateEnd(&stream);
    } else if (compression == capture::Compression::zstd) {
        size = ZSTD_compress(out.data(), out.size(), plain.data(), plain.size(), 1);
    } else {
        size = LZ4F_compressFrame(out.data(), out.size(), plain.data(), plain.size(), nullptr);
    }
    demand(size <= out.size());
    out.resize(size);
    return out;
}

}  // namespace ipoib::fuzz
