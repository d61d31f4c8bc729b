// SPDX-License-Identifier: GPL-2.0-or-later
// Wireshark as the second opinion: frame numbers, lengths, times and interface names are the same as ours.
#include "catch2.hpp"
#include "fabric/capture/test_files.hpp"
#include "fabric/capture/wholeness.hpp"
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
        for (unsigned i = 0; i < 40; ++i) writer.write(start + i * 25'641'025L, packet(60 + 4 * i), 0, i % 5 ? 0 : 500);
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
            writer.write(start + i * 123'456'789L, packet(60 + i), i % 2, i % 3 ? 0 : 500, i == 3 ? "the proof" : "");
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

TEST_CASE("tshark: reads the same losses of packets as we do") {
    if (!is_installed("tshark")) return;
    const Folder folder;
    constexpr auto order = Order::little;
    const auto drops = [&](std::uint64_t count) { return option(order, 4, Pack{order}.u64(count).file()); };
    const auto in_pcapng = folder.add(
        "x.pcapng",
        join({section(order), interface(order, 1), enhanced(order, 0, 1, packet(60)),
              enhanced(order, 0, 2, packet(60), 0, drops(7)),
              block(order, 2, Pack{order}.u16(0).u16(9).u64(3).u32(60).u32(60).octets(packet(60)).file()),
              block(order, 2, Pack{order}.u16(0).u16(0xffff).u64(4).u32(60).u32(60).octets(packet(60)).file())}));
    const auto erf = [](unsigned lost) {
        return join({Pack{order}.u64(std::uint64_t{5} << 32).file(),
                     Pack{Order::big}.u8(21).u8(4).u16(76).u16(lost).u16(60).file(), packet(60)});
    };
    auto in_erf = pcap_header(order, microsecond_magic, 197);
    for (const unsigned lost : {0u, 5u, 65535u}) in_erf = join({in_erf, pcap_record(order, 5, 0, erf(lost))});
    const auto as_we_read = [](const std::string& path) {
        std::string lines;
        for (const auto& frame : read_all(path).frames) lines += std::to_string(frame.lost) + "\n";
        return lines;
    };
    CHECK(as_we_read(in_pcapng) == "0\n7\n9\n0\n");
    CHECK(output_of("tshark -r " + in_pcapng + " -T fields -e frame.drop_count") == "\n7\n9\n\n");
    const auto erf_path = folder.add("x.pcap", in_erf);
    CHECK(as_we_read(erf_path) == "0\n5\n65535\n");
    CHECK(output_of("tshark -r " + erf_path + " -T fields -e erf.lctr") == as_we_read(erf_path));
}

TEST_CASE("capinfos: shows the mark of a whole capture, and reads a file with it") {
    if (!is_installed("capinfos")) return;
    const Folder folder;
    Census census;
    census.add(start, "dut", packet(60));
    const auto path = folder / "x.pcapng";
    {
        auto writer = Writer::pcapng(path, census.mark());
        writer.write(start, packet(60), writer.add_interface(LinkType::erf, "dut"));
    }
    CHECK_THAT(output_of("capinfos " + path), ContainsSubstring(census.mark()) && ContainsSubstring("1"));
}
