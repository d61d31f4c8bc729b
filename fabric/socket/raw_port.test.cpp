// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/socket/raw_port.hpp"

#include "protocol/build/samples.hpp"

#include "catch2.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>

namespace ipoib::fabric {
namespace {

using namespace wire;
using namespace std::chrono_literals;
using Bytestring = std::vector<std::uint8_t>;

Bytestring udp(std::size_t size) {
    return build::udp(build::samples::host(1), build::samples::host(2), build::Link{}, size).build();
}
Bytestring without_crcs(Bytestring octets) {
    std::fill(octets.end() - 6, octets.end(), std::uint8_t{0});
    return octets;
}
Bytestring framed(const Bytestring& octets) {
    Bytestring stream{static_cast<std::uint8_t>(octets.size() >> 8), static_cast<std::uint8_t>(octets.size())};
    stream.insert(stream.end(), octets.begin(), octets.end());
    return stream;
}
Bytestring operator+(Bytestring a, const Bytestring& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}
const Bytestring link_down{0, 0};

/// A raw port, and the other end of its stream in the test's hands.
struct Bench : FrameSink {
    explicit Bench(RawPort::Patience patience = {}) {
        std::array<int, 2> ends{};
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
        peer = Descriptor{ends[1]};
        port = std::make_unique<RawPort>(loop, Descriptor{ends[0]}, patience);
        port->deliver_to(this);
        port->on_link([this](bool is_up) { log.push_back(is_up ? "up" : "down"); });
        port->on_closed([this](const std::string& error) {
            log.push_back("closed");
            errors.push_back(error);
        });
    }

    ~Bench() override { hang_up(); }
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    void receive(const Frame& frame) override {
        log.push_back("frame");
        frames.emplace_back(frame.octets().begin(), frame.octets().end());
    }
    void write(const Bytestring& octets) const {
        for (std::size_t at = 0; at < octets.size();) {
            const auto count = ::send(peer.value(), octets.data() + at, octets.size() - at, MSG_NOSIGNAL);
            REQUIRE(count > 0);
            at += static_cast<std::size_t>(count);
        }
    }
    /// What is there to be read, without waiting.
    [[nodiscard]] Bytestring read() const {
        Bytestring octets(1 << 20);
        const auto count = ::recv(peer.value(), octets.data(), octets.size(), MSG_DONTWAIT);
        octets.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
        return octets;
    }
    /// Reads exactly so much, while the loop runs.
    [[nodiscard]] Bytestring read(std::size_t size) {
        Bytestring octets;
        const auto read_on = [&] {
            octets = octets + read();
            return octets.size() >= size;
        };
        loop.watch(peer.value(), POLLIN, [](short) {});
        CHECK(loop.run_until(read_on, loop.now() + 1min));
        loop.unwatch(peer.value());
        return octets;
    }
    void hang_up() { peer.close(); }
    bool run_until_log(std::size_t size) {
        return loop.run_until([&] { return log.size() >= size; }, loop.now() + 1min);
    }

    Loop loop{Loop::Clock::real};
    Descriptor peer;
    std::unique_ptr<RawPort> port;
    std::vector<Bytestring> frames;
    std::vector<std::string> log, errors;
};

TEST_CASE("Raw port: a frame goes out behind its length, most significant octet first") {
    Bench bench;
    const auto packet = udp(1000);
    bench.port->receive(Frame{packet});
    CHECK(packet.size() == 1066);
    const auto seen = bench.read();
    CHECK(seen == framed(packet));
    CHECK(seen[0] == 0x04);
    CHECK(seen[1] == 0x2a);
    CHECK(bench.port->counters().sent == 1);
    bench.port->send_link_down();
    CHECK(bench.read() == link_down);
}

TEST_CASE("Raw port: both CRCs zero are filled in on the way out, others stay as they are") {
    Bench bench;
    bench.port->receive(Frame{without_crcs(udp(10))});
    CHECK(bench.read() == framed(udp(10)));
    auto damaged = udp(10);
    damaged.back() ^= 1;
    bench.port->receive(Frame{damaged});
    CHECK(bench.read() == framed(damaged));
}

TEST_CASE("Raw port: both CRCs zero are filled in on the way in, others stay as they are") {
    Bench bench;
    auto damaged = udp(10);
    damaged.back() ^= 1;
    bench.write(framed(without_crcs(udp(10))) + framed(damaged));
    CHECK(bench.run_until_log(2));
    CHECK(bench.frames == std::vector<Bytestring>{udp(10), damaged});
}

TEST_CASE("Raw port: frames are put together however the stream is cut") {
    Bench bench;
    const auto stream = framed(udp(10)) + framed(udp(200)) + framed(udp(0));
    for (std::size_t i = 0; i < stream.size(); ++i) {
        bench.write({stream[i]});
        bench.loop.run_for(0s);
    }
    CHECK(bench.run_until_log(3));
    CHECK(bench.frames == std::vector<Bytestring>{udp(10), udp(200), udp(0)});
    bench.write(stream);
    CHECK(bench.run_until_log(6));
    CHECK(bench.port->counters().received == 6);
}

TEST_CASE("Raw port: the shortest and the longest frame pass") {
    Bench bench;
    Bytestring shortest(26), longest(4298);
    set_field(MutableOctets{shortest}, Lrh::packet_length, 6);
    set_field(MutableOctets{longest}, Lrh::packet_length, 4296 / 4);
    bench.write(framed(shortest) + framed(longest));
    CHECK(bench.run_until_log(2));
    CHECK(bench.frames.at(0).size() == 26);
    CHECK(bench.frames.at(1).size() == 4298);
}

TEST_CASE("Raw port: a frame that the stream cannot carry is counted and dropped, not sent as something else") {
    Bench bench;
    bench.port->receive(Frame{});
    bench.port->receive(Frame{Bytestring(25)});
    bench.port->receive(Frame{udp(1)});
    CHECK(bench.read() == framed(udp(1)));
    CHECK(bench.port->counters().malformed == 2);
    CHECK(bench.port->counters().sent == 1);
}

TEST_CASE("Raw port: a length of 0 takes the link down until the next frame") {
    Bench bench;
    bench.write(framed(udp(1)) + link_down + link_down + framed(udp(2)) + framed(udp(3)) + link_down);
    CHECK(bench.run_until_log(6));
    CHECK(bench.log == std::vector<std::string>{"frame", "down", "up", "frame", "frame", "down"});
    CHECK(bench.port->is_open());
}

TEST_CASE("Raw port: an impossible length closes the stream and says so, after the frames before it") {
    for (const std::size_t length : {1u, 25u, 4301u, 65535u}) {
        CAPTURE(length);
        Bench bench;
        bench.write(framed(udp(1)) +
                    Bytestring{static_cast<std::uint8_t>(length >> 8), static_cast<std::uint8_t>(length)} +
                    framed(udp(2)));
        CHECK(bench.run_until_log(2));
        CHECK(bench.log == std::vector<std::string>{"frame", "closed"});
        CHECK(bench.errors.at(0) == "a frame of " + std::to_string(length) + " octets, not 26 to 4300");
        CHECK_FALSE(bench.port->is_open());
        char octet = 0;
        CHECK(::recv(bench.peer.value(), &octet, 1, MSG_DONTWAIT) <= 0);
        bench.port->receive(Frame{udp(1)});
        bench.port->send_link_down();
        bench.loop.run_for(1ms);
        CHECK(bench.log.size() == 2);
    }
}

TEST_CASE("Raw port: a frame whose PktLen is not its length is counted and dropped, the stream goes on") {
    Bench bench;
    auto lying = udp(10);
    set_field(MutableOctets{lying}, Lrh::packet_length, 5);
    bench.write(framed(lying) + framed(Bytestring(4300, 0xff)) + framed(udp(10)));
    CHECK(bench.run_until_log(1));
    CHECK(bench.frames == std::vector<Bytestring>{udp(10)});
    CHECK(bench.port->counters().malformed == 2);
    CHECK(bench.port->counters().received == 1);
}

TEST_CASE("Raw port: an end behind a whole frame is no error, one within is") {
    const auto stream = framed(udp(10));
    for (std::size_t size = 0; size <= stream.size(); ++size) {
        Bench bench;
        bench.write({stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(size)});
        bench.hang_up();
        const bool is_whole = size == 0 || size == stream.size();
        CHECK(bench.loop.run_until([&] { return !bench.errors.empty(); }, bench.loop.now() + 1min));
        CHECK(bench.errors == std::vector<std::string>{is_whole ? "" : "the stream ended within a frame"});
        CHECK(bench.frames.size() == (size == stream.size() ? 1 : 0));
    }
}

TEST_CASE("Raw port: what a peer sent before it closed is heard, also when it did not read") {
    Bench bench;
    bench.port->receive(Frame{udp(10)});
    bench.write(framed(udp(20)));
    bench.hang_up();
    bench.port->receive(Frame{udp(10)});
    CHECK(bench.run_until_log(2));
    CHECK(bench.frames == std::vector<Bytestring>{udp(20)});
    CHECK(bench.errors == std::vector<std::string>{""});
}

TEST_CASE("Raw port: nothing is lost to a peer that reads late, and its own frames arrive meanwhile") {
    Bench bench;
    Bytestring expected;
    for (std::size_t i = 0; i < 400; ++i) {
        bench.port->receive(Frame{udp(1000 + i)});
        expected = expected + framed(udp(1000 + i));
    }
    bench.write(framed(udp(5)));
    CHECK(bench.run_until_log(1));
    CHECK(bench.frames == std::vector<Bytestring>{udp(5)});
    CHECK(bench.read(expected.size()) == expected);
    CHECK(bench.port->counters().sent == 400);
}

TEST_CASE("Raw port: a full queue waits for the peer and loses nothing") {
    Bench bench{{.queue = 10000}};
    constexpr std::size_t count = 2000;
    std::size_t seen = 0, size = 0;
    std::thread slow{[&] {
        Bytestring buffer(3000);
        while (true) {
            const auto read = ::recv(bench.peer.value(), buffer.data(), buffer.size(), 0);
            if (read <= 0) break;
            size += static_cast<std::size_t>(read);
        }
    }};
    for (std::size_t i = 0; i < count; ++i) {
        const auto packet = udp(i % 1500);
        seen += 2 + packet.size();
        bench.port->receive(Frame{packet});
    }
    bench.port.reset();
    slow.join();
    CHECK(size == seen);
}

TEST_CASE("Raw port: two that write to each other with full queues both come on") {
    // Each writes more than the stream holds before it reads.
    Bench bench{{.queue = 300'000}};
    constexpr std::size_t from_peer = 300, to_peer = 1000;
    const auto packet = udp(1400);
    const auto stream = framed(packet);
    std::size_t read_by_peer = 0;
    std::thread peer{[&, end = bench.peer.value()] {
        for (std::size_t i = 0; i < from_peer; ++i)
            if (::send(end, stream.data(), stream.size(), MSG_NOSIGNAL) < 0) return;
        Bytestring buffer(100'000);
        while (read_by_peer < to_peer * stream.size()) {
            const auto count = ::recv(end, buffer.data(), buffer.size(), 0);
            if (count <= 0) return;
            read_by_peer += static_cast<std::size_t>(count);
        }
    }};
    for (std::size_t i = 0; i < to_peer; ++i) bench.port->receive(Frame{packet});
    CHECK(bench.loop.run_until([&] { return bench.frames.size() == from_peer; }, bench.loop.now() + 1min));
    bench.port.reset();
    peer.join();
    CHECK(read_by_peer == to_peer * stream.size());
}

TEST_CASE("Raw port: a peer that never reads is given up after a while") {
    Bench bench{{.queue = 10000, .stall = 20ms}};
    for (std::size_t i = 0; i < 1000 && bench.port->is_open(); ++i) bench.port->receive(Frame{udp(1400)});
    CHECK_FALSE(bench.port->is_open());
    CHECK(bench.run_until_log(1));
    CHECK_THAT(bench.errors.at(0), ContainsSubstring("the peer has not read"));
}

TEST_CASE("Raw port: a stop ends the waiting for a peer that does not read") {
    Bench bench{{.queue = 10000}};
    Loop::request_stop();
    for (std::size_t i = 0; i < 1000; ++i) bench.port->receive(Frame{udp(1400)});
    Loop::clear_stop();
    CHECK(bench.port->is_open());
    bench.hang_up();
}

TEST_CASE("Raw port: without a sink frames wait in the stream") {
    Bench bench;
    bench.port->deliver_to(nullptr);
    bench.write(framed(udp(1)));
    bench.loop.run_for(2ms);
    CHECK(bench.log.empty());
    bench.port->deliver_to(&bench);
    CHECK(bench.run_until_log(1));
    CHECK(bench.frames == std::vector<Bytestring>{udp(1)});
}

TEST_CASE("Raw port: without a sink a peer that hangs up does not keep the loop busy") {
    Bench bench;
    bench.port->deliver_to(nullptr);
    for (std::size_t i = 0; i < 400; ++i) bench.port->receive(Frame{udp(1400)});
    bench.write(framed(udp(1)));
    bench.hang_up();
    int asked = 0;
    bench.loop.run_until([&] { return ++asked > 100; }, bench.loop.now() + 5ms);
    CHECK(asked < 100);
    bench.port->deliver_to(&bench);
    CHECK(bench.run_until_log(2));
    CHECK(bench.frames.size() == 1);
}

TEST_CASE("Raw port: the listener may destroy the port when it is told that it is closed") {
    Bench bench;
    bench.port->on_closed([&](const std::string&) {
        bench.port.reset();
        bench.log.push_back("gone");
    });
    bench.hang_up();
    CHECK(bench.run_until_log(1));
    CHECK(bench.port == nullptr);
}

TEST_CASE("Raw port: one that is gone tells nothing more") {
    Bench bench;
    bench.write(framed(udp(1)) + link_down + Bytestring{0, 1});
    // The frames are read, but have not arrived yet.
    bench.loop.run_until([&] { return bench.port->counters().received == 1; }, bench.loop.now() + 1min);
    bench.port.reset();
    bench.loop.run_for(1ms);
    CHECK(bench.log.empty());
}

}  // namespace
}  // namespace ipoib::fabric
