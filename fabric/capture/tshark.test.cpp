// SPDX-License-Identifier: GPL-2.0-or-later
// Wireshark as the second opinion: frame numbers, lengths, times and interface names are the same as ours.
#include "catch2.hpp"
#include "fabric/capture/test_files.hpp"
#include "fabric/capture/writer.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iomanip>
#include <sstream>

using namespace ipoib::capture;
using namespace ipoib::capture::test;

namespace {

std::string output_of(const std::string& command) {
    std::FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
    if (!pipe) return {};
    std::string output;
    std::array<char, 4096> part{};
    while (const auto count = std::fread(part.data(), 1, part.size(), pipe)) output.append(part.data(), count);
    pclose(pipe);
    return output;
}

bool is_installed(const std::string& command) {
    if (!output_of("command -v " + command).empty()) return true;
    WARN(command << " is not installed");
    return false;
}

/// One line a frame: number, wire length, captured length, time.
std::string as_tshark_says(const std::string& path) {
    return output_of("tshark -r " + path +
                     " -T fields -e frame.number -e frame.len -e frame.cap_len -e frame.time_epoch");
}
std::string as_we_say(const std::string& path) {
    constexpr std::int64_t second = 1'000'000'000;
    std::ostringstream lines;
    for (const auto& frame : read_all(path).frames)
        lines << frame.number << '\t' << frame.wire_length << '\t' << frame.octets.size() << '\t'
              << frame.time_ns / second << '.' << std::setw(9) << std::setfill('0') << frame.time_ns % second << '\n';
    return lines.str();
}

constexpr std::int64_t start = 1'700'000'000'000'000'000;

/// An LRH (LNH: IBA local), a BTH of a UD packet and some more, so that the dissector has something to read.
File packet(unsigned size) {
    auto octets = octets_of(size);
    const File beginning{0x00, 0x02, 0x00, 0x01, 0x00, static_cast<std::uint8_t>(size / 4 - 1), 0x00, 0x02, 0x64};
    std::copy(beginning.begin(), beginning.end(), octets.begin());
    return octets;
}

}  // namespace

TEST_CASE("tshark: reads an ERF pcap of ours with the same numbers, lengths and times") {
    if (!is_installed("tshark")) return;
    const Folder folder;
    const auto path = folder / "x.pcap";
    {
        auto writer = Writer::pcap(path, LinkType::erf);
        for (unsigned i = 0; i < 40; ++i) writer.write(start + i * 25'641'025, packet(60 + 4 * i), 0, i % 5 ? 0 : 500);
    }
    const auto ours = as_we_say(path);
    CHECK(std::count(ours.begin(), ours.end(), '\n') == 40);
    CHECK(as_tshark_says(path) == ours);
    CHECK_THAT(output_of("tshark -c 1 -T fields -e frame.protocols -r " + path), ContainsSubstring("erf:infiniband"));
}

TEST_CASE("tshark: reads a pcapng of ours with mixed link types, its names, comments and nanoseconds") {
    if (!is_installed("tshark")) return;
    const Folder folder;
    const auto path = folder / "x.pcapng";
    {
        auto writer = Writer::pcapng(path);
        writer.add_interface(LinkType::infiniband, "dut");
        writer.add_interface(LinkType::linux_sll, "tester");
        for (unsigned i = 0; i < 10; ++i)
            writer.write(start + i * 123'456'789, packet(60 + i), i % 2, i % 3 ? 0 : 500, i == 3 ? "the proof" : "");
    }
    CHECK(as_tshark_says(path) == as_we_say(path));
    CHECK(output_of("tshark -c 2 -T fields -e frame.interface_name -r " + path) == "dut\ntester\n");
    CHECK(output_of("tshark -Y frame.comment -T fields -e frame.number -e frame.comment -r " + path) ==
          "4\tthe proof\n");
}

TEST_CASE("tshark: ERF records with extension headers, padding and other types have the same numbers") {
    if (!is_installed("tshark")) return;
    const Folder folder;
    const auto record = [](unsigned type, unsigned wire_length, const File& rest) {
        const auto fraction = std::uint64_t{0x87654321};
        const auto length = static_cast<unsigned>(16 + rest.size());
        return pcap_record(Order::little, 1, 0,
                           join({Pack{Order::little}.u64(std::uint64_t{1'700'000'000} << 32 | fraction).file(),
                                 Pack{Order::big}.u8(type).u8(4).u16(length).u16(0).u16(wire_length).file(), rest}));
    };
    const File extension{0x04, 1, 2, 3, 4, 5, 6, 7};
    const auto path = folder.add(
        "x.pcap", join({pcap_header(Order::little, microsecond_magic, 197), record(21, 60, packet(60)),
                        record(2, 60, octets_of(62)), record(0x80 | 21, 60, join({extension, packet(60)}))}));
    const auto theirs = as_tshark_says(path);
    REQUIRE(std::count(theirs.begin(), theirs.end(), '\n') == 3);
    std::istringstream lines{theirs};
    std::string first, second, third;
    std::getline(lines, first);
    std::getline(lines, second);
    std::getline(lines, third);
    CHECK(as_we_say(path) == first + "\n" + third + "\n");
}

TEST_CASE("tshark: an ERF interface of a pcapng has the same numbers and lengths") {
    if (!is_installed("tshark")) return;
    const Folder folder;
    const auto path = folder / "x.pcapng";
    {
        auto writer = Writer::pcapng(path);
        writer.add_interface(LinkType::erf, "sniffer");
        writer.write(start + 1'000, packet(60));
        writer.write(start + 999'999'999, packet(64), 0, 100);
    }
    CHECK(as_tshark_says(path) == as_we_say(path));
}

TEST_CASE("capinfos: counts our frames and knows our writer") {
    if (!is_installed("capinfos")) return;
    const Folder folder;
    const auto path = folder / "x.pcapng";
    {
        auto writer = Writer::pcapng(path);
        writer.add_interface(LinkType::infiniband, "dut");
        for (unsigned i = 0; i < 7; ++i) writer.write(start + i, packet(60));
    }
    const auto output = output_of("capinfos -M " + path);
    CHECK_THAT(output, ContainsSubstring("Number of packets:   7"));
    CHECK_THAT(output, ContainsSubstring("ipoib-conform"));
    CHECK_THAT(output, ContainsSubstring("Name = dut"));
    CHECK_THAT(output, ContainsSubstring("nanoseconds (9)"));
}
