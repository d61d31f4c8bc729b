// SPDX-License-Identifier: GPL-2.0-or-later
// libFuzzer target: what the lab's guest reads of streams and frames. Captures come out the same in whatever pieces;
// the kernel module's pure parts stay within the octets that they are given. The first octet chooses.
#include "fuzz/fuzzer.hpp"
#include "lab/guest/port/framing.hpp"
#include "lab/kernel/vib_pure.hpp"

#include <array>
#include <cstring>

using namespace ipoib;
using fuzz::demand;
using fuzz::Octets;

namespace {

struct Read {
    std::vector<lab::Octets> frames;
    std::string error;
    std::uint64_t passed_over = 0;
    friend bool operator==(const Read&, const Read&) = default;
};

Read capture_in(Octets stream, std::size_t piece) {
    lab::CaptureReader reader;
    Read read;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
        reader.feed(stream.subspan(at, std::min(piece, stream.size() - at)));
        while (auto frame = reader.next()) {
            demand(frame->size() >= lab::shortest_frame && frame->size() <= lab::longest_frame);
            read.frames.push_back(std::move(*frame));
        }
    }
    read.error = reader.error();
    read.passed_over = reader.passed_over();
    return read;
}

void capture(Octets octets) {
    if (octets.empty()) return;
    const auto whole = capture_in(octets.subspan(1), octets.size());
    demand(capture_in(octets.subspan(1), 1 + octets[0]) == whole);
}

/// As it is written in the table of vib_command.h.
std::string text_of(const vib_command& command) {
    const std::string name = command.name;
    const std::string way = command.is_inward ? " in " : " out ", value = ' ' + std::to_string(command.value);
    switch (command.kind) {
        case VIB_COMMAND_LINK_DOWN:
            return "link " + name + " down";
        case VIB_COMMAND_LINK_UP:
            return "link " + name + " up";
        case VIB_COMMAND_FAULT_OFF:
            return "fault " + name + " off";
        case VIB_COMMAND_DROP:
            return "fault " + name + way + "drop" + value;
        case VIB_COMMAND_DUPLICATE:
            return "fault " + name + way + "duplicate" + value;
        case VIB_COMMAND_CORRUPT:
            return "fault " + name + way + "corrupt" + value;
        case VIB_COMMAND_DELAY:
            break;
    }
    return "fault " + name + way + "delay" + value;
}

void command(Octets octets) {
    const auto text = fuzz::as_text(octets);
    vib_command command{}, again{};
    if (!vib_command_parse(&command, text.data(), text.size())) return;
    demand(std::memchr(command.name, 0, sizeof command.name) != nullptr);
    demand(command.value <= (command.kind == VIB_COMMAND_DELAY ? VIB_DELAY_MAX : VIB_PERMILLE));
    const auto written = text_of(command);
    demand(vib_command_parse(&again, written.data(), written.size()));
    demand(again.kind == command.kind && again.value == command.value && again.is_inward == command.is_inward);
    demand(std::string_view(again.name) == command.name);
}

void frame(Octets octets) {
    vib_frame frame{};
    if (vib_frame_parse(&frame, octets.data(), octets.size()) != VIB_FRAME_GOOD) return;
    demand(frame.bth >= VIB_LRH_SIZE && frame.extension >= frame.bth + VIB_BTH_SIZE);
    demand(frame.end >= frame.extension && frame.end + std::size_t{VIB_CRC_SIZE} == octets.size());
    demand(vib_frame_payload(&frame) <= octets.size());
}

void hop(Octets octets) {
    fuzz::Input input{octets.data(), octets.size()};
    const auto in_port = input.number(), ports = input.number();
    std::array<std::uint8_t, 256> mad{};
    std::ranges::copy(input.octets(mad.size()), mad.begin());
    const auto next = vib_take_hop(mad.data(), in_port, ports);
    demand(next.to != VIB_HOP_PORT || next.port <= ports);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::array parts{capture, command, frame, hop};
    if (size == 0) return 0;
    parts[data[0] % parts.size()]({data + 1, size - 1});
    return 0;
}
