// SPDX-License-Identifier: GPL-2.0-or-later
// The byte source: plain and compressed, joined members, cut and damaged streams, and pipes that deliver bit by bit.
#include "fabric/capture/byte_source.hpp"
#include "catch2.hpp"
#include "fabric/capture/test_files.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <thread>

using namespace ipoib;
using namespace ipoib::capture;
using namespace ipoib::capture::test;

namespace {

/// A capture of `count` frames, large enough to need many buffers when count is.
File capture_of(unsigned count) {
    auto file = pcap_header(Order::little, nanosecond_magic, 247);
    for (unsigned i = 0; i < count; ++i) {
        const auto record = pcap_record(Order::little, i, i, octets_of(100 + i % 50, i));
        file.insert(file.end(), record.begin(), record.end());
    }
    return file;
}

struct Kind {
    const char* name;
    const char* command;
};

/// The file as the command compresses it; empty when the command is not installed or the library not built in.
File compressed(const Kind& kind, const File& file) {
    const auto compression = std::array{Compression::gzip, Compression::zstd, Compression::lz4};
    for (const auto each : compression)
        if (name(each) == kind.name && !make_decompressor(each)) return {};
    const Folder folder;
    const auto plain = folder.add("plain", file), packed = folder / "packed";
    const auto line = std::string{kind.command} + " < " + plain + " > " + packed + " 2>/dev/null";
    return std::system(line.c_str()) == 0 ? contents(packed) : File{};
}

constexpr std::array kinds{Kind{"gzip", "gzip -c"}, Kind{"zstd", "zstd -c"}, Kind{"lz4", "lz4 -c -B4"}};

File read_source(ByteSource& source) {
    File file(7);
    File whole;
    while (const auto count = source.read(file))
        whole.insert(whole.end(), file.begin(), file.begin() + static_cast<std::ptrdiff_t>(count));
    return whole;
}

void write_to(const Pipe& pipe, const File& octets) {
    REQUIRE(::write(pipe.writer.value(), octets.data(), octets.size()) == static_cast<ssize_t>(octets.size()));
}

}  // namespace

TEST_CASE("ByteSource: peek shows octets, consume and read pass them, offset counts them") {
    ByteSource source{in_memory(octets_of(300)), "x"};
    CHECK(source.error().empty());
    const auto shown = source.peek(200);
    REQUIRE(shown.size() >= 200);
    CHECK(shown[199] == 199);
    source.consume(150);
    CHECK(source.offset() == 150);
    std::array<std::uint8_t, 10> few{};
    CHECK(source.read(few) == 10);
    CHECK(few[0] == 150);
    CHECK(source.offset() == 160);
    CHECK(source.end() == End::not_yet);
    CHECK(source.peek(1000).size() == 140);
    CHECK(source.end() == End::clean);
    source.consume(140);
    CHECK(source.read(few) == 0);
    CHECK(source.position() == 300);
    CHECK(source.size() == 300);
}

TEST_CASE("ByteSource: a peek longer than the buffer shows one run of octets") {
    const auto file = octets_of(3'000'000);
    ByteSource source{in_memory(file), "x"};
    source.peek(1000);
    source.consume(1000);
    const auto shown = source.peek(2'999'000);
    REQUIRE(shown.size() == 2'999'000);
    const bool is_same = std::equal(shown.begin(), shown.end(), file.begin() + 1000);
    CHECK(is_same);
}

TEST_CASE("ByteSource: compressed streams give the frames of the plain one") {
    const auto kind = GENERATE(from_range(kinds));
    const unsigned count = GENERATE(3u, 20'000u);
    CAPTURE(kind.name, count);
    const auto file = capture_of(count);
    const auto packed = compressed(kind, file);
    if (packed.empty()) {
        WARN(kind.name << " is not available here");
        return;
    }
    const auto expected = read_all(file), outcome = read_all(packed);
    CHECK(outcome.status == Status::end);
    CHECK(outcome.error.empty());
    CHECK(outcome.format == std::string{"pcap, "} + kind.name);
    REQUIRE(outcome.frames.size() == count);
    CHECK(outcome.frames.back().file_offset == file.size() - 16 - outcome.frames.back().octets.size());
    const bool is_same = outcome.frames == expected.frames;
    CHECK(is_same);

    ByteSource source{in_memory(packed), "packed"};
    CHECK(read_source(source).size() == file.size());
    CHECK(source.end() == End::clean);
    CHECK(source.offset() == file.size());
    CHECK(source.position() == packed.size());
    CHECK(source.size() == packed.size());
}

TEST_CASE("ByteSource: members that follow each other are joined, even empty ones") {
    const auto kind = GENERATE(from_range(kinds));
    CAPTURE(kind.name);
    const auto file = capture_of(5);
    const File head(file.begin(), file.begin() + 50), tail(file.begin() + 50, file.end());
    const auto first = compressed(kind, head), second = compressed(kind, tail), none = compressed(kind, {});
    if (first.empty()) {
        WARN(kind.name << " is not available here");
        return;
    }
    const auto outcome = read_all(join({none, first, none, second, none}));
    CHECK(outcome.status == Status::end);
    CHECK(outcome.frames == read_all(file).frames);
}

TEST_CASE("ByteSource: a compressed stream that ends early is cut wherever it ends") {
    const auto kind = GENERATE(from_range(kinds));
    CAPTURE(kind.name);
    const auto packed = compressed(kind, capture_of(40));
    if (packed.empty()) {
        WARN(kind.name << " is not available here");
        return;
    }
    for (std::size_t size = 4; size < packed.size(); ++size) {
        CAPTURE(size);
        ByteSource source{in_memory({packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(size)}), "packed"};
        read_source(source);
        REQUIRE(source.end() == End::cut);
        REQUIRE(source.error() == std::string{"the "} + kind.name + " data end too early");
    }
}

TEST_CASE("Reader: a compressed capture that ends early gives its frames and is cut") {
    const auto kind = GENERATE(from_range(kinds));
    CAPTURE(kind.name);
    auto packed = compressed(kind, capture_of(30'000));
    if (packed.empty()) {
        WARN(kind.name << " is not available here");
        return;
    }
    packed.resize(packed.size() * 3 / 4);
    const auto outcome = read_all(packed);
    CHECK(outcome.status == Status::cut);
    CHECK(outcome.frames.size() > 1000);
    CHECK_THAT(outcome.error, ContainsSubstring(std::string{"the "} + kind.name + " data end too early"));
}

TEST_CASE("Reader: damaged compressed data are corrupt, and the frames before the damage are read") {
    const auto kind = GENERATE(from_range(kinds));
    CAPTURE(kind.name);
    const auto first = compressed(kind, capture_of(7));
    if (first.empty()) {
        WARN(kind.name << " is not available here");
        return;
    }
    SECTION("octets behind the last member are none of a member") {
        const auto outcome = read_all(join({first, text("no member at all")}));
        CHECK(outcome.frames.size() == 7);
        CHECK(outcome.status == Status::corrupt);
        CHECK_THAT(outcome.error, ContainsSubstring("corrupt after frame 7 at offset "));
        CHECK_THAT(outcome.error, ContainsSubstring(std::string{"the "} + kind.name + " data are damaged: "));
    }
    SECTION("a flipped check sum is noticed") {
        auto damaged = first;
        // gzip ends with check sum and length, the others with the check sum.
        damaged[damaged.size() - (std::string{kind.name} == "gzip" ? 5 : 1)] ^= 1;
        const auto outcome = read_all(damaged);
        CHECK(outcome.status == Status::corrupt);
        CHECK_THAT(outcome.error, ContainsSubstring(" data are damaged: "));
    }
}

TEST_CASE("Reader: a window that would take too much memory is no damage") {
    // The window of a member with a size is no larger than that: nothing is known of what comes from a pipe.
    const auto packed = compressed({"zstd", "cat | zstd -c --long=31"}, capture_of(7));
    if (packed.empty()) {
        WARN("zstd is not available here");
        return;
    }
    const auto outcome = read_all(packed);
    CHECK(outcome.status == Status::corrupt);
    CHECK_THAT(outcome.error, ContainsSubstring("the zstd data have a window of more than 128 MiB; ") &&
                                  ContainsSubstring("zstd -d --long=31"));
}

TEST_CASE("Reader: a mutated octet of a compressed capture never crashes, hangs, or is taken for the whole capture") {
    const auto kind = GENERATE(from_range(kinds));
    const auto plain = capture_of(5);
    const auto packed = compressed(kind, plain);
    if (packed.empty()) {
        WARN(kind.name << " is not available here");
        return;
    }
    const auto expected = read_all(plain);
    for (std::size_t at = 0; at < packed.size(); ++at) {
        for (const unsigned flipped : {0x01u, 0x80u, 0xffu}) {
            CAPTURE(kind.name, at, flipped);
            auto mutated = packed;
            mutated[at] = static_cast<std::uint8_t>(mutated[at] ^ flipped);
            const auto outcome = read_all(mutated);
            // Some octets of the head (gzip's time and system) do not matter; else check sums guard the content.
            if (outcome.status == Status::end) REQUIRE(outcome.frames == expected.frames);
            REQUIRE(outcome.error.empty() == (outcome.status == Status::end));
        }
    }
}

TEST_CASE("ByteSource: a compression that is not built in is named") {
    const auto kind = GENERATE(Compression::gzip, Compression::zstd, Compression::lz4);
    const File magic = kind == Compression::gzip   ? File{0x1f, 0x8b, 8, 0}
                       : kind == Compression::zstd ? File{0x28, 0xb5, 0x2f, 0xfd}
                                                   : File{0x04, 0x22, 0x4d, 0x18};
    CHECK(detect_compression(magic) == kind);
    const ByteSource source{in_memory(magic), "x"};
    const std::string known{name(kind)};
    if (make_decompressor(kind))
        CHECK(source.error().empty());
    else
        CHECK(source.error() == "x is compressed with " + known + ", and " + known + " is not built in");
}

TEST_CASE("Reader: a frame is delivered while the writer keeps the pipe open") {
    const bool is_pcapng = GENERATE(false, true);
    constexpr auto order = Order::little;
    const auto header =
        is_pcapng ? join({section(order), interface(order, 247)}) : pcap_header(order, microsecond_magic, 247);
    const auto frame_of = [&](unsigned i) {
        return is_pcapng ? enhanced(order, 0, i, octets_of(60, i)) : pcap_record(order, i, 0, octets_of(60, i));
    };
    auto pipe = make_pipe();
    write_to(pipe, header);
    auto reader = Reader::from_descriptor(std::move(pipe.reader), "pipe");
    REQUIRE(reader.error().empty());
    Frame frame;
    for (unsigned i = 1; i <= 3; ++i) {
        write_to(pipe, frame_of(i));
        // Were the reader to wait for more than this frame, the alarm would end the test program.
        alarm(30);
        REQUIRE(reader.next(frame) == Status::frame);
        alarm(0);
        CHECK(frame.number == i);
        CHECK(File(frame.octets.begin(), frame.octets.end()) == octets_of(60, i));
    }
    pipe.writer.close();
    CHECK(reader.next(frame) == Status::end);
}

TEST_CASE("Reader: octets that trickle in one by one make the same frames") {
    const auto kind = GENERATE(Kind{"", ""}, kinds[0], kinds[1], kinds[2]);
    CAPTURE(kind.name);
    const auto plain = capture_of(4);
    const auto file = *kind.name ? compressed(kind, plain) : plain;
    if (file.empty()) {
        WARN(kind.name << " is not available here");
        return;
    }
    auto pipe = make_pipe();
    std::thread writer{[&] {
        for (const auto octet : file) {
            if (::write(pipe.writer.value(), &octet, 1) != 1) break;
            std::this_thread::yield();
        }
        pipe.writer.close();
    }};
    const auto outcome = read_all(Reader::from_descriptor(std::move(pipe.reader), "pipe"));
    writer.join();
    CHECK(outcome.status == Status::end);
    CHECK(outcome.frames == read_all(plain).frames);
}

TEST_CASE("Reader: standard input is read, and a stop request ends the waiting on a silent pipe") {
    auto pipe = make_pipe();
    write_to(pipe, capture_of(1));
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        dup2(pipe.reader.value(), STDIN_FILENO);
        // With SA_RESTART the system would go on waiting after the signal.
        struct sigaction action {};
        action.sa_handler = [](int) { request_stop(); };
        action.sa_flags = SA_RESTART;
        sigaction(SIGALRM, &action, nullptr);
        auto reader = Reader::open("-");
        Frame frame;
        const bool is_read = reader.next(frame) == Status::frame;
        ualarm(50'000, 0);
        const bool is_stopped = reader.next(frame) == Status::end && stop_requested() && reader.error().empty();
        _exit(is_read && is_stopped ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}
