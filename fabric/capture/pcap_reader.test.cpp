// SPDX-License-Identifier: GPL-2.0-or-later
// Classic pcap (draft-ietf-opsawg-pcap): both byte orders, both time units, its ends, and what is no capture at all.
#include "catch2.hpp"
#include "fabric/capture/test_files.hpp"

#include <sys/wait.h>

#include <array>

using namespace ipoib;
using namespace ipoib::capture;
using namespace ipoib::capture::test;

namespace {

constexpr unsigned ipoib_link = 242, infiniband_link = 247;

}  // namespace

TEST_CASE("pcap: golden octets of a little-endian microsecond file are read") {
    // Laid out by hand after draft-ietf-opsawg-pcap, figures 1 (file header) and 2 (packet record).
    const File file{
        0xd4, 0xc3, 0xb2, 0xa1, 0x02, 0x00, 0x04, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00, 0xf7, 0x00, 0x00, 0x00,  // snap length 262144, link type 247
        0x00, 0xf1, 0x53, 0x65, 0x40, 0xe2, 0x01, 0x00,                          // 1700000000 s, 123456 us
        0x03, 0x00, 0x00, 0x00, 0x09, 0x00, 0x00, 0x00,                          // 3 octets captured of 9
        0xaa, 0xbb, 0xcc};
    const auto outcome = read_all(file);
    CHECK(outcome.status == Status::end);
    CHECK(outcome.error.empty());
    CHECK(outcome.format == "pcap");
    CHECK(outcome.file_link_type == 247);
    REQUIRE(outcome.frames.size() == 1);
    CHECK(outcome.frames[0] == Kept{1, 1'700'000'000'123'456'000, LinkType::infiniband, 0, {0xaa, 0xbb, 0xcc}, 9, 24});
}

TEST_CASE("pcap: either byte order and time unit gives the same frames") {
    const auto order = GENERATE(Order::little, Order::big);
    const bool is_nano = GENERATE(false, true);
    CAPTURE(static_cast<int>(order), is_nano);
    const unsigned fraction = 999'999;
    const auto file =
        join({pcap_header(order, is_nano ? nanosecond_magic : microsecond_magic, ipoib_link),
              pcap_record(order, 7, fraction, octets_of(44), 100), pcap_record(order, 0xffffffff, 0, octets_of(1, 3))});
    const auto outcome = read_all(file);
    CHECK(outcome.status == Status::end);
    REQUIRE(outcome.frames.size() == 2);
    CHECK(outcome.frames[0] ==
          Kept{1, 7'000'000'000 + (is_nano ? 999'999 : 999'999'000), LinkType::ipoib, 0, octets_of(44), 100, 24});
    CHECK(outcome.frames[1] == Kept{2, 4'294'967'295'000'000'000, LinkType::ipoib, 0, octets_of(1, 3), 1, 84});
}

TEST_CASE("pcap: a link type passes through whether it is known or not") {
    const unsigned link_type = GENERATE(1u, 113u, 242u, 247u, 276u, 101u, 147u);
    const auto outcome = read_all(join(
        {pcap_header(Order::little, microsecond_magic, link_type), pcap_record(Order::little, 1, 2, octets_of(20))}));
    CHECK(outcome.file_link_type == static_cast<int>(link_type));
    REQUIRE(outcome.frames.size() == 1);
    CHECK(static_cast<unsigned>(outcome.frames[0].link_type) == link_type);
}

TEST_CASE("LinkType: known ones have their registered names, unknown ones none") {
    CHECK(name(LinkType::erf) == "ERF");
    CHECK(name(LinkType::linux_sll) == "LINUX_SLL");
    CHECK(name(LinkType::linux_sll2) == "LINUX_SLL2");
    CHECK(name(LinkType::infiniband) == "INFINIBAND");
    CHECK(name(LinkType::ipoib) == "IPOIB");
    CHECK(name(LinkType::ethernet) == "ETHERNET");
    CHECK(name(static_cast<LinkType>(147)).empty());
}

TEST_CASE("pcap: a frame longer than the file's snap length is cut to it and the next record is found") {
    auto header = pcap_header(Order::little, microsecond_magic, infiniband_link);
    header[16] = 16;
    header[17] = 0;
    const auto outcome = read_all(join(
        {header, pcap_record(Order::little, 1, 0, octets_of(40)), pcap_record(Order::little, 2, 0, octets_of(8, 1))}));
    CHECK(outcome.status == Status::end);
    REQUIRE(outcome.frames.size() == 2);
    CHECK(outcome.frames[0].octets == octets_of(16));
    CHECK(outcome.frames[0].wire_length == 40);
    CHECK(outcome.frames[1] == Kept{2, 2'000'000'000, LinkType::infiniband, 0, octets_of(8, 1), 8, 80});
}

TEST_CASE("pcap: the longer records of the patched format of old Linux systems are found by offset too") {
    constexpr auto order = Order::little;
    constexpr std::uint32_t patched_magic = 0xa1b2cd34;
    // Behind the lengths stand interface index, protocol and packet type: struct pcap_sf_patched_pkthdr of libpcap.
    const auto record = [&](unsigned i) {
        return Pack{order}.u32(i).u32(0).u32(10).u32(10).u32(1).u16(0).u8(0).u8(0).octets(octets_of(10, i)).file();
    };
    const auto outcome =
        read_all(join({pcap_header(order, patched_magic, infiniband_link), record(1), record(2), record(3)}));
    CHECK(outcome.status == Status::end);
    REQUIRE(outcome.frames.size() == 3);
    CHECK(outcome.frames[0].file_offset == 24);
    CHECK(outcome.frames[1].file_offset == 58);
    CHECK(outcome.frames[2] == Kept{3, 3'000'000'000, LinkType::infiniband, 0, octets_of(10, 3), 10, 92});
}

TEST_CASE("pcap: a wire length below the captured length is raised to it") {
    const auto outcome = read_all(join({pcap_header(Order::big, microsecond_magic, infiniband_link),
                                        pcap_record(Order::big, 1, 0, octets_of(40), 7)}));
    REQUIRE(outcome.frames.size() == 1);
    CHECK(outcome.frames[0].wire_length == 40);
}

TEST_CASE("pcap: an absurd record length is corrupt, with frame and offset, also as the file's last octets") {
    const bool is_last = GENERATE(false, true);
    auto file = join({pcap_header(Order::little, microsecond_magic, infiniband_link),
                      pcap_record(Order::little, 1, 0, octets_of(40)),
                      Pack{Order::little}.u32(2).u32(0).u32(0x7fffffff).u32(0x7fffffff).file()});
    if (!is_last) file = join({file, octets_of(100)});
    const auto outcome = read_all(file);
    CHECK(outcome.frames.size() == 1);
    CHECK(outcome.status == Status::corrupt);
    CHECK_THAT(outcome.error, ContainsSubstring("corrupt after frame 1 at offset 0x50: "));
}

TEST_CASE("pcap: a cut last record is cut, with frame and offset") {
    auto file =
        join({pcap_header(Order::little, microsecond_magic, infiniband_link),
              pcap_record(Order::little, 1, 0, octets_of(40)), pcap_record(Order::little, 2, 0, octets_of(40))});
    file.pop_back();
    const auto outcome = read_all(file);
    CHECK(outcome.frames.size() == 1);
    CHECK(outcome.status == Status::cut);
    CHECK(outcome.error == "cut after frame 1 at offset 0x50: the file ends within a record");
}

TEST_CASE("Reader: what is no capture is refused when it is opened, and reading answers corrupt") {
    const Folder folder;
    const auto error_of = [](const std::string& path) {
        auto reader = Reader::open(path);
        std::string error = reader.error();
        Frame frame;
        CHECK(reader.next(frame) == Status::corrupt);
        CHECK(reader.next(frame) == Status::corrupt);
        CHECK(reader.error() == error);
        return error;
    };
    const auto letter = folder.add("x.txt", text("hello"));
    CHECK(error_of(letter) == letter + " is not a capture: it begins with 68 65 6c 6c, neither pcap nor pcapng");
    const auto shorter = folder.add("y", {0xd4, 0xc3});
    CHECK(error_of(shorter) == shorter + " is not a capture: it begins with d4 c3, neither pcap nor pcapng");
    const auto empty = folder.add("x.pcap", {});
    CHECK(error_of(empty) == empty + " is empty");
    CHECK(error_of(folder / "none") == (folder / "none") + ": No such file or directory");
    CHECK(error_of(folder / "") == (folder / "") + " is a directory, not a capture");
    auto header = pcap_header(Order::little, microsecond_magic, infiniband_link);
    header.pop_back();
    const auto cut = folder.add("cut.pcap", header);
    CHECK(error_of(cut) == cut + " ends within its file header");
    header[4] = 9;
    header.push_back(0);
    CHECK_THAT(error_of(folder.add("future.pcap", header)), ContainsSubstring("9.4"));
}

TEST_CASE("Reader: position grows to the size of a file and a pipe has no size") {
    const Folder folder;
    const auto file = join({pcap_header(Order::little, microsecond_magic, infiniband_link),
                            pcap_record(Order::little, 1, 0, octets_of(40))});
    auto reader = Reader::open(folder.add("x.pcap", file));
    CHECK(reader.size() == file.size());
    Frame frame;
    while (reader.next(frame) == Status::frame) continue;
    CHECK(reader.position() == file.size());

    auto pipe = make_pipe();
    REQUIRE(::write(pipe.writer.value(), file.data(), file.size()) == static_cast<ssize_t>(file.size()));
    pipe.writer.close();
    auto from_pipe = Reader::from_descriptor(std::move(pipe.reader), "pipe");
    CHECK(from_pipe.size() == 0);
    CHECK(from_pipe.next(frame) == Status::frame);
    CHECK(from_pipe.next(frame) == Status::end);
    CHECK(from_pipe.position() == file.size());
}

TEST_CASE("Reader: request_stop ends the reading as at the end of the file, before the first frame and after one") {
    const auto file =
        join({pcap_header(Order::little, microsecond_magic, infiniband_link),
              pcap_record(Order::little, 1, 0, octets_of(40)), pcap_record(Order::little, 2, 0, octets_of(40))});
    // A stop cannot be taken back, so it happens in a process of its own.
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        auto reader = Reader::from_descriptor(in_memory(file), "memory file");
        Frame frame;
        const bool is_read = reader.next(frame) == Status::frame;
        request_stop();
        const bool is_ended = reader.next(frame) == Status::end && reader.error().empty();
        auto late = Reader::from_descriptor(in_memory(file), "memory file");
        _exit(is_read && is_ended && late.next(frame) == Status::end && late.error().empty() ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
}
