// SPDX-License-Identifier: GPL-2.0-or-later
// libFuzzer target: whatever a peer sends over a raw port, in whatever pieces, the frames that arrive are those of the
// stream, the lab's reader sees the same ones, and an impossible length ends it with a sentence. The first octet is the
// size of the pieces.
#include "fabric/socket/raw_port.hpp"
#include "fuzz/fuzzer.hpp"
#include "lab/guest/port/framing.hpp"
#include "protocol/wire/crc.hpp"
#include "protocol/wire/lrh.hpp"

#include <sys/socket.h>

#include <array>

using namespace ipoib;
using fuzz::demand;
using fuzz::Octets;

namespace {

/// What the stream holds, read by the lab's program.
struct Expected {
    explicit Expected(Octets stream) {
        lab::FrameReader reader;
        reader.feed(stream);
        while (const auto frame = reader.next()) {
            if (!frame->empty()) take(*frame);
            reader.used();
        }
        is_broken = reader.is_broken();
        is_cut = !is_broken && reader.waiting() != 0;
    }
    void take(Octets frame) {
        const auto length = wire::View<wire::Lrh>::at(frame)[wire::Lrh::packet_length] * std::size_t{4};
        if (length + wire::vcrc_size != frame.size())
            ++malformed;
        else
            frames.emplace_back(frame.begin(), frame.end());
    }
    std::vector<std::vector<std::uint8_t>> frames;
    std::uint64_t malformed = 0;
    bool is_broken = false, is_cut = false;
};

class Sink : public fabric::FrameSink {
public:
    void receive(const fabric::Frame& frame) override {
        frames.emplace_back(frame.octets().begin(), frame.octets().end());
    }
    std::vector<std::vector<std::uint8_t>> frames;
};

/// But for CRCs, which are filled in where they are zero.
bool is_same(Octets read, Octets sent) {
    constexpr auto crcs = wire::icrc_size + wire::vcrc_size;
    if (read.size() != sent.size()) return false;
    const auto head = sent.size() - crcs;
    const auto tail = sent.subspan(head);
    const bool is_filled_in = std::ranges::all_of(tail, [](auto octet) { return octet == 0; });
    return std::ranges::equal(read.first(head), sent.first(head)) &&
           (is_filled_in || std::ranges::equal(read.subspan(head), tail));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::size_t piece = data[0] ? std::size_t{data[0]} * 16 : 65536;
    const Octets stream{data + 1, size - 1};
    fabric::Loop loop{fabric::Loop::Clock::real};
    std::array<int, 2> ends{};
    demand(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    Descriptor peer{ends[1]};
    Sink sink;
    unsigned closed = 0, changes = 0;
    bool is_up = true;
    std::string error;
    fabric::RawPort port{loop, Descriptor{ends[0]}};
    port.deliver_to(&sink);
    port.on_link([&](bool now_up) {
        demand(now_up != is_up);
        is_up = now_up;
        ++changes;
    });
    port.on_closed([&](const std::string& why) {
        ++closed;
        error = why;
    });
    for (std::size_t at = 0; at < stream.size() && port.is_open(); at += piece) {
        const auto part = stream.subspan(at, std::min(piece, stream.size() - at));
        demand(::send(peer.value(), part.data(), part.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(part.size()));
        const auto before = port.counters().octets_read;
        loop.run_until([&] { return port.counters().octets_read == before + part.size() || !port.is_open(); },
                       loop.now() + std::chrono::seconds{5});
    }
    peer.close();
    loop.run_until([&] { return closed != 0; }, loop.now() + std::chrono::seconds{5});

    const Expected expected{stream};
    demand(closed == 1 && !port.is_open());
    demand(error.empty() == (!expected.is_broken && !expected.is_cut));
    if (!error.empty()) fuzz::demand_sentence(error);
    demand(port.counters().received == expected.frames.size() && port.counters().malformed == expected.malformed);
    demand(sink.frames.size() == expected.frames.size());
    for (std::size_t i = 0; i < sink.frames.size(); ++i) demand(is_same(sink.frames[i], expected.frames[i]));
    return 0;
}
