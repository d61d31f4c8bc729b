// SPDX-License-Identifier: GPL-2.0-or-later
// The writers: golden octets of each format, round trips through the reader, and errors that are not lost.
#include "fabric/capture/writer.hpp"
#include "catch2.hpp"
#include "fabric/capture/test_files.hpp"

#include <fcntl.h>
#include <sys/wait.h>

#include <bit>
#include <functional>
#include <limits>

using namespace ipoib::capture;
using namespace ipoib::capture::test;

namespace {

std::string error_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "";
}

constexpr std::int64_t second = 1'000'000'000;

}  // namespace

TEST_CASE("Writer: golden octets of an ERF pcap, as ibdump writes it") {
    const Folder folder;
    const auto path = folder / "x.pcap";
    auto writer = Writer::pcap(path, LinkType::erf);
    writer.write(1'700'000'000 * second + 500'000'000, File{0xf0, 0x02, 0x00, 0x01}, 0, 9);
    writer.close();
    // draft-ietf-opsawg-pcap, sections 4 and 5, in this machine's byte order, around the header of ibdump.
    constexpr auto native = std::endian::native == std::endian::little ? Order::little : Order::big;
    const File erf{0xe0, 0x3f, 0x00, 0x80, 0x00, 0xf1, 0x53, 0x65, 0x15, 0x04, 0x00, 0x19, 0x00, 0x00, 0x00, 0x09};
    const auto file =
        join({Pack{native}.u32(0xa1b2c3d4).u16(2).u16(4).u32(0).u32(0).u32(262144).u32(197).file(),
              Pack{native}.u32(1'700'000'000).u32(500'000).u32(20).u32(25).file(), erf, File{0xf0, 0x02, 0x00, 0x01}});
    CHECK(contents(path) == file);
}

TEST_CASE("Writer: golden octets of a pcapng with a name and a comment") {
    const Folder folder;
    const auto path = folder / "x.pcapng";
    auto writer = Writer::pcapng(path);
    CHECK(writer.add_interface(LinkType::infiniband, "dut") == 0);
    writer.write(0x100000002, File{0xaa, 0xbb, 0xcc}, 0, 9, "why");
    writer.close();
    constexpr auto order = Order::little;
    const File end_of_options(4);
    // draft-ietf-opsawg-pcapng, sections 4.1, 4.2 and 4.3.
    const auto header = block(order, 0x0a0d0d0a,
                              Pack{order}
                                  .u32(0x1a2b3c4d)
                                  .u16(1)
                                  .u16(0)
                                  .u64(0xffffffffffffffff)
                                  .octets(option(order, 4, text("ipoib-conform")))
                                  .octets(end_of_options)
                                  .file());
    const auto dut =
        interface(order, 247, join({option(order, 2, text("dut")), option(order, 9, {9}), end_of_options}));
    const auto packet = block(order, 6,
                              Pack{order}
                                  .u32(0)
                                  .u32(1)
                                  .u32(2)
                                  .u32(3)
                                  .u32(9)
                                  .octets({0xaa, 0xbb, 0xcc, 0})
                                  .octets(option(order, 1, text("why")))
                                  .octets(end_of_options)
                                  .file());
    CHECK(contents(path) == join({header, dut, packet}));
}

TEST_CASE("Writer: a pcap of any link type is read back to the nanosecond") {
    const auto link_type =
        GENERATE(LinkType::infiniband, LinkType::ipoib, LinkType::linux_sll, LinkType::linux_sll2, LinkType::ethernet);
    const Folder folder;
    const auto path = folder / "x.pcap";
    {
        auto writer = Writer::pcap(path, link_type);
        writer.write(0, {});
        writer.write(7 * second + 123'456'789, octets_of(60), 0, 90);
        writer.write(4'294'967'295 * second + 999'999'999, octets_of(200'000));
    }
    const auto outcome = read_all(path);
    CHECK(outcome.status == Status::end);
    CHECK(outcome.file_link_type == static_cast<int>(link_type));
    REQUIRE(outcome.frames.size() == 3);
    CHECK(outcome.frames[0] == Kept{1, 0, link_type, 0, {}, 0, 24});
    CHECK(outcome.frames[1] == Kept{2, 7 * second + 123'456'789, link_type, 0, octets_of(60), 90, 40});
    CHECK(outcome.frames[2] ==
          Kept{3, 4'294'967'295 * second + 999'999'999, link_type, 0, octets_of(200'000), 200'000, 116});
}

TEST_CASE("Writer: an ERF pcap is read back as InfiniBand, its time as exact as ibdump's header is") {
    const Folder folder;
    const auto path = folder / "x.pcap";
    {
        auto writer = Writer::pcap(path, LinkType::erf);
        writer.write(9 * second, octets_of(30));
        writer.write(9 * second + 1'000, octets_of(30), 0, 2000);
        writer.write(9 * second + 999'999'000, octets_of(65519));
    }
    const auto outcome = read_all(path);
    CHECK(outcome.status == Status::end);
    REQUIRE(outcome.frames.size() == 3);
    CHECK(outcome.frames[0] == Kept{1, 9 * second, LinkType::infiniband, 0, octets_of(30), 30, 24});
    CHECK(outcome.frames[1] == Kept{2, 9 * second + 1'000, LinkType::infiniband, 0, octets_of(30), 2000, 86});
    // 4295 in place of 4294.967296 for each microsecond makes 6.6 us in a second.
    CHECK(outcome.frames[2].time_ns == 10 * second + 6'614);
    CHECK(outcome.frames[2].octets == octets_of(65519));
}

TEST_CASE("Writer: a pcapng keeps parties, link types, times and truncation") {
    const Folder folder;
    const auto path = folder / "x.pcapng";
    {
        auto writer = Writer::pcapng(path);
        CHECK(writer.add_interface(LinkType::infiniband, "dut") == 0);
        writer.write(1, octets_of(9), 0);
        CHECK(writer.add_interface(LinkType::ipoib, "tester") == 1);
        CHECK(writer.add_interface(LinkType::erf, "sniffer") == 2);
        writer.write(std::numeric_limits<std::int64_t>::max(), octets_of(262'000), 1, 0, std::string(100'000, 'c'));
        writer.write(3 * second, octets_of(40), 2, 50);
        writer.write(4, {}, 0);
    }
    auto reader = Reader::open(path);
    const auto outcome = read_all(path);
    CHECK(outcome.status == Status::end);
    CHECK(outcome.format == "pcapng");
    REQUIRE(outcome.frames.size() == 4);
    const auto offset = [&](std::size_t i) { return outcome.frames[i].file_offset; };
    CHECK(outcome.frames[0] == Kept{1, 1, LinkType::infiniband, 0, octets_of(9), 9, offset(0)});
    CHECK(outcome.frames[1] == Kept{2, std::numeric_limits<std::int64_t>::max(), LinkType::ipoib, 1, octets_of(262'000),
                                    262'000, offset(1)});
    CHECK(outcome.frames[2] == Kept{3, 3 * second, LinkType::infiniband, 2, octets_of(40), 50, offset(2)});
    CHECK(outcome.frames[3] == Kept{4, 4, LinkType::infiniband, 0, {}, 0, offset(3)});
    Frame frame;
    while (reader.next(frame) == Status::frame) continue;
    CHECK(reader.interface_name(0) == "dut");
    CHECK(reader.interface_name(1) == "tester");
    CHECK(reader.interface_name(2) == "sniffer");
}

TEST_CASE("Writer: a wire length below the frame's own is raised to it") {
    const Folder folder;
    const auto path = folder / "x.pcapng";
    {
        auto writer = Writer::pcapng(path);
        writer.add_interface(LinkType::infiniband, "");
        writer.write(1, octets_of(9), 0, 5);
    }
    CHECK(read_all(path).frames.at(0).wire_length == 9);
}

TEST_CASE("Writer: a full disk is reported, with path and reason, when writing or at the latest when closing") {
    const bool is_pcapng = GENERATE(false, true);
    const bool is_large = GENERATE(false, true);
    CAPTURE(is_pcapng, is_large);
    auto writer = is_pcapng ? Writer::pcapng("/dev/full") : Writer::pcap("/dev/full", LinkType::erf);
    const auto error = error_of([&] {
        if (is_pcapng) writer.add_interface(LinkType::infiniband, "dut");
        for (int i = 0; i < (is_large ? 1000 : 1); ++i) writer.write(i, octets_of(1000));
        writer.close();
    });
    CHECK(error == "cannot write /dev/full: No space left on device");
}

TEST_CASE("Writer: flush reports a full disk too, and hands the frames to a reader when there is room") {
    const bool is_pcapng = GENERATE(false, true);
    const auto open = [&](const std::string& path) {
        auto writer = is_pcapng ? Writer::pcapng(path) : Writer::pcap(path, LinkType::erf);
        if (is_pcapng) writer.add_interface(LinkType::infiniband, "dut");
        writer.write(0, octets_of(30));
        return writer;
    };
    auto full = open("/dev/full");
    CHECK(error_of([&] { full.flush(); }) == "cannot write /dev/full: No space left on device");
    const Folder folder;
    auto writer = open(folder / "x");
    writer.flush();
    CHECK(read_all(folder / "x").frames.size() == 1);
}

TEST_CASE("Writer: what cannot be written is refused with the reason") {
    const Folder folder;
    const auto path = folder / "x", prefix = "cannot write " + path + ": ";
    CHECK(error_of([&] { Writer::pcap(folder / "none/x", LinkType::erf); }) ==
          "cannot write " + (folder / "none/x") + ": No such file or directory");
    CHECK(error_of([&] { Writer::pcapng(folder / ""); }) == "cannot write " + (folder / "") + ": Is a directory");

    auto pcap = Writer::pcap(path, LinkType::erf);
    CHECK(error_of([&] { pcap.add_interface(LinkType::erf, "x"); }) == prefix + "a pcap has just one interface");
    CHECK(error_of([&] { pcap.write(0, octets_of(4), 1); }) == prefix + "there is no interface 1");
    CHECK(error_of([&] { pcap.write(-1, octets_of(4)); }) == prefix + "a capture holds no time before 1970");
    CHECK(error_of([&] { pcap.write(4'294'967'296 * second, octets_of(4)); }) ==
          prefix + "a pcap holds no time after 2106");
    CHECK(error_of([&] { pcap.write(0, octets_of(4), 0, 65520); }) ==
          prefix + "a frame is longer than an ERF record may be");
    CHECK(error_of([&] { pcap.write(0, octets_of(300'000)); }) == prefix + "a frame is longer than a record may be");
    pcap.close();
    CHECK(error_of([&] { pcap.close(); }).empty());
    CHECK(error_of([&] { pcap.write(0, octets_of(4)); }) == prefix + "it is closed");
    CHECK(read_all(path).frames.empty());

    auto pcapng = Writer::pcapng(path);
    CHECK(error_of([&] { pcapng.write(0, octets_of(4)); }) == prefix + "there is no interface 0");
}

TEST_CASE("Writer: \"-\" writes to standard output and leaves it open") {
    const Folder folder;
    const auto path = folder / "out";
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        dup2(::open(path.c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
        {
            auto writer = Writer::pcap("-", LinkType::infiniband);
            writer.write(1, octets_of(30));
        }
        const char mark = 'x';
        _exit(::write(STDOUT_FILENO, &mark, 1) == 1 ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    auto file = contents(path);
    REQUIRE(!file.empty());
    CHECK(file.back() == 'x');
    file.pop_back();
    CHECK(read_all(file).frames.size() == 1);
}

TEST_CASE("Writer: the comments of frames are read again, whatever their length") {
    const Folder folder;
    const auto path = folder / "x.pcapng";
    const std::vector<std::string> comments{"", "a", "STEP: the whole of it\nFAIL: and more", std::string(70, 'x'), ""};
    auto writer = Writer::pcapng(path);
    writer.add_interface(LinkType::infiniband, "dut");
    for (std::size_t i = 0; i < comments.size(); ++i) writer.write(1, octets_of(20 + i), 0, 0, comments[i]);
    writer.close();
    auto reader = Reader::open(path);
    Frame frame;
    for (const auto& comment : comments) {
        REQUIRE(reader.next(frame) == Status::frame);
        CHECK(frame.comment == comment);
    }
}
