// SPDX-License-Identifier: GPL-2.0-or-later
// Captures that are open at the same time share memory: what does not fit is decompressed to a file, or refused in
// words.
#include "fabric/capture/pool.hpp"

#include "catch2.hpp"
#include "fabric/capture/byte_source.hpp"
#include "fabric/capture/test_files.hpp"

#include <array>
#include <cstdlib>
#include <map>
#include <memory>

using namespace ipoib::capture;
using namespace ipoib::capture::test;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// Somewhat more than two windows of 8 MiB, none of it twice the same.
const File& plain() {
    static const File octets = [] {
        File made(18 * mebibyte);
        std::uint64_t number = 1;
        for (auto& octet : made) {
            number = number * 6364136223846793005U + 1442695040888963407U;
            octet = static_cast<std::uint8_t>(number >> 62);
        }
        return made;
    }();
    return octets;
}

/// By a command that does not know how much comes; empty where it is missing.
const std::string& packed(const std::string& command) {
    static const Folder folder;
    static std::map<std::string, std::string> made;
    auto& path = made[command];
    if (!path.empty()) return path;
    const auto from = folder.add("plain", plain());
    path = folder / command.substr(0, command.find(' '));
    const auto line = "cat " + from + " | " + command + " > " + path + " 2>/dev/null";
    if (std::system(line.c_str()) != 0) path = "-";
    return path;
}

/// Whether the source has the octets of the plain file from there on.
bool is_plain(ByteSource& source, std::size_t from = 0) {
    File piece(100'000);
    auto at = plain().begin() + static_cast<std::ptrdiff_t>(from);
    while (const auto count = source.read(piece)) {
        const auto size = static_cast<std::ptrdiff_t>(count);
        if (plain().end() - at < size || !std::equal(piece.begin(), piece.begin() + size, at)) return false;
        at += size;
    }
    return at == plain().end() && source.end() == End::clean;
}

}  // namespace

TEST_CASE("Pool: what is taken is given back, and no more is taken than there is") {
    Pool pool{100};
    {
        Share one{pool}, other{pool};
        CHECK(one.resize(60));
        CHECK_FALSE(other.resize(50));
        CHECK(other.octets() == 0);
        CHECK(one.resize(50));
        CHECK(other.resize(50));
        CHECK_FALSE(one.resize(51));
        CHECK(one.octets() == 50);
        pool.grow(1);
        CHECK(one.resize(51));
        CHECK_FALSE(one.resize(~std::size_t{0}));
    }
    Share all{pool};
    CHECK(all.resize(101));
}

TEST_CASE("Pool: windows that do not fit beside others are decompressed to files, and nothing is lost") {
    const std::string command = GENERATE("zstd -q -c -1 --zstd=wlog=23", "lz4 -q -c -B7");
    const auto& path = packed(command);
    if (path == "-") {
        WARN(command << " is not available here");
        return;
    }
    Pool memory{8 * mebibyte}, disk{100 * mebibyte};
    std::array<std::unique_ptr<ByteSource>, 5> sources;
    for (auto& source : sources) {
        source = std::make_unique<ByteSource>(path, memory, disk);
        CHECK(source->peek(100).size() >= 100);
        CHECK(source->error() == "");
    }
    Share rest{disk};
    const auto most = 100 * mebibyte + sources.size() * 16 * contents(path).size();
    CHECK_FALSE(rest.resize(most));
    CHECK(rest.resize(most - 4 * plain().size()));
    for (auto& source : sources) {
        CHECK(is_plain(*source));
        CHECK(source->position() == source->size());
        CHECK(source->offset() == plain().size());
    }
}

TEST_CASE("Pool: what neither fits nor can be put on a disk is refused in words") {
    const auto& path = packed("zstd -q -c -1 --zstd=wlog=23");
    if (path == "-") {
        WARN("zstd is not available here");
        return;
    }
    Pool memory{12 * mebibyte}, disk{0};
    memory.shrink(contents(path).size() / 2);
    // Two are open at a time.
    disk.grow(17 * mebibyte);
    disk.shrink(2 * 16 * contents(path).size());
    ByteSource first{path, memory, disk};
    CHECK(first.peek(100).size() >= 100);
    {
        ByteSource second{path, memory, disk};
        second.peek(100);
        second.peek(4 * mebibyte);
        CHECK(second.end() == End::no_room);
        CHECK_THAT(
            second.error(),
            ContainsSubstring("to decompress it takes 9 MiB, more memory than is left beside the other captures, "
                              "and it cannot be decompressed to ") &&
                ContainsSubstring("it is too large"));
    }
    // A pipe may never end.
    const auto pipe = ipoib::make_pipe();
    const auto octets = contents(path);
    REQUIRE(::write(pipe.writer.value(), octets.data(), 60'000) == 60'000);
    ByteSource piped{ipoib::Descriptor{::dup(pipe.reader.value())}, "x", memory, disk};
    piped.peek(100);
    piped.peek(mebibyte);
    CHECK(piped.end() == End::no_room);
    CHECK_THAT(piped.error(), ContainsSubstring("takes 9 MiB, more memory than is left beside the other captures"));
    CHECK(is_plain(first));
    // Its window is free again.
    ByteSource third{path, memory, disk};
    CHECK(is_plain(third));
}

TEST_CASE("Pool: a long block is shown if there is room for it, and its room given back where it is scarce") {
    constexpr std::size_t size = 4 * mebibyte;
    Pool memory{5 * mebibyte}, disk{0};
    memory.shrink(plain().size() / 2);
    const auto descriptor = in_memory(plain());
    const auto open = [&] { return ipoib::Descriptor{::dup(descriptor.value())}; };
    ByteSource one{open(), "x", memory, disk}, other{open(), "y", memory, disk};
    memory.shrink(plain().size() / 2);
    CHECK(one.peek(size).size() >= size);
    CHECK(other.peek(size).size() < size);
    CHECK(other.end() == End::no_room);
    CHECK_THAT(other.error(), ContainsSubstring("a block takes more memory than is left"));
    one.consume(size);
    one.peek(1000);
    Share rest{memory};
    CHECK_FALSE(memory.is_scarce());
    CHECK(rest.resize(3 * mebibyte));
}
