// SPDX-License-Identifier: GPL-2.0-or-later
// libFuzzer target: whatever compressed octets hold, they end within bounds and come out the same in whatever pieces;
// what was compressed is read back. The first octet chooses: the compression, and whether the rest is compressed
// already.
#include "fabric/capture/byte_source.hpp"
#include "fuzz/compress.hpp"
#include "fuzz/fuzzer.hpp"

#include <vector>

using namespace ipoib;
using namespace ipoib::capture;
using fuzz::demand;
using fuzz::Octets;

namespace {

/// Compressed octets may stand for very many: the first ones are as good as any.
constexpr std::size_t enough = std::size_t{1} << 20;

struct Decoded {
    std::vector<std::uint8_t> octets;
    bool is_sound = true, is_whole = false;
};

/// By the decompressor itself, from pieces of the input into pieces of the output.
Decoded decoded(Compression compression, Octets data, std::size_t piece, std::size_t room) {
    Decoded all;
    const auto decompressor = make_decompressor(compression);
    if (!decompressor) return all;
    std::vector<std::uint8_t> out(room);
    while (all.octets.size() < enough) {
        auto in = data.first(std::min(piece, data.size()));
        const auto given = in.size();
        wire::MutableOctets left{out};
        all.is_sound = decompressor->decode(in, left);
        const auto used = given - in.size(), made = room - left.size();
        demand(in.size() <= given && left.size() <= room);
        all.octets.insert(all.octets.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(made));
        data = data.subspan(used);
        if (!all.is_sound) fuzz::demand_sentence(decompressor->error());
        if (!all.is_sound || (used == 0 && made == 0)) break;
    }
    all.is_whole = all.is_sound && data.empty() && decompressor->is_between_members();
    return all;
}

/// libzstd reads members of before its format was settled, too, each as it comes: what it makes of damaged ones is its
/// own.
bool has_old_member(Octets data) {
    constexpr std::array<std::uint8_t, 3> magic{0xb5, 0x2f, 0xfd};
    for (std::size_t i = 1; i + magic.size() <= data.size(); ++i)
        if (std::ranges::equal(data.subspan(i, magic.size()), magic) && data[i - 1] != 0x28) return true;
    return false;
}

/// As a file is read; whether it ended cleanly.
bool read_file(Octets file, std::vector<std::uint8_t>& octets) {
    ByteSource source{fuzz::file_of(file), "fuzz"};
    std::vector<std::uint8_t> piece(4096);
    while (octets.size() < enough) {
        const auto count = source.read(piece);
        if (count == 0) break;
        octets.insert(octets.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(count));
    }
    if (octets.size() >= enough) return false;
    demand(source.end() != End::not_yet && source.offset() == octets.size());
    demand(source.error().empty() == (source.end() == End::clean));
    if (!source.error().empty()) fuzz::demand_sentence(source.error());
    return source.end() == End::clean;
}

void read_back(Compression compression, Octets plain) {
    // Two members: one behind the other is as one.
    const auto half = plain.size() / 2;
    auto file = fuzz::compressed(compression, plain.first(half));
    const auto more = fuzz::compressed(compression, plain.subspan(half));
    file.insert(file.end(), more.begin(), more.end());
    std::vector<std::uint8_t> octets;
    demand(read_file(file, octets) && std::ranges::equal(octets, plain));
    octets.clear();
    demand(!read_file(Octets{file}.first(file.size() - 1), octets));
    demand(octets.size() <= plain.size() && std::equal(octets.begin(), octets.end(), plain.begin()));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    constexpr std::array kinds{Compression::gzip, Compression::zstd, Compression::lz4};
    const auto kind = kinds[data[0] % kinds.size()];
    const Octets rest{data + 2, size - 2};
    if ((data[0] & 0x80U) != 0) {
        read_back(kind, rest);
        return 0;
    }
    const auto whole = decoded(kind, rest, rest.size() + 1, 65536);
    const auto pieces = decoded(kind, rest, 1 + data[1] / std::size_t{4}, 64 + data[1]);
    if (has_old_member(rest)) return 0;
    if (whole.octets.size() < enough && pieces.octets.size() < enough) {
        demand(whole.is_sound == pieces.is_sound && whole.is_whole == pieces.is_whole);
        if (whole.is_sound) demand(whole.octets == pieces.octets);
    }
    std::vector<std::uint8_t> octets;
    if (detect_compression(rest) == kind && whole.octets.size() < enough)
        demand(read_file(rest, octets) == whole.is_whole);
    return 0;
}
