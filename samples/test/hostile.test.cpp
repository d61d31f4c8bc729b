// SPDX-License-Identifier: GPL-2.0-or-later
// The sample node, built with AddressSanitizer and UndefinedBehaviorSanitizer, among frames, streams and commands that
// are wrong in every way.
#include "samples/test/subnet_bench.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <random>

using namespace ipoib;
using namespace ipoib::samples::test;

namespace {

const std::string program = "exec " IPOIB_NODE_SANITIZED " --port @";

using Random = std::mt19937_64;
using Octets = std::vector<std::uint8_t>;

/// Makes what the mutation would be dropped for right again, up to where it is.
void fix_lengths(Octets& frame) {
    using namespace wire;
    if (frame.size() < Lrh::size) return;
    const MutableOctets octets{frame};
    set_field(octets, Lrh::packet_length, static_cast<std::uint16_t>((frame.size() - 2) / 4));
    const bool has_grh = View<Lrh>::at(frame)[Lrh::lnh] == Lnh::global && frame.size() > Lrh::size + Grh::size + 2;
    if (has_grh)
        set_field(octets.subspan(Lrh::size), Grh::payload_length,
                  static_cast<std::uint16_t>(frame.size() - Lrh::size - Grh::size - 2));
    const auto ip = Lrh::size + (has_grh ? Grh::size : 0) + Bth::size + Deth::size + Encap::size;
    if (frame.size() < ip + 20 + 6) return;
    const auto header = std::size_t{frame[ip] & 0xfu} * 4;
    if (header < 20 || ip + header > frame.size()) return;
    frame[ip + 10] = frame[ip + 11] = 0;
    std::uint32_t sum = 0;
    for (std::size_t i = ip; i < ip + header; i += 2) sum += static_cast<std::uint32_t>(frame[i] << 8 | frame[i + 1]);
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    frame[ip + 10] = static_cast<std::uint8_t>(~sum >> 8);
    frame[ip + 11] = static_cast<std::uint8_t>(~sum);
}

Octets mutated(Random& random, wire::Octets original) {
    Octets frame(original.begin(), original.end());
    const auto kind = random() % 8;
    if (kind == 0) frame.resize(fabric::shortest_frame + random() % (frame.size() - fabric::shortest_frame + 1));
    if (kind == 1) frame.resize(frame.size() + random() % 600);
    if (kind == 2) frame.assign(fabric::shortest_frame + random() % 4000, static_cast<std::uint8_t>(random()));
    for (auto count = random() % 5 + (kind > 2); count > 0; --count) {
        constexpr std::size_t headers = 100;
        const auto reach = random() % 2 ? frame.size() : std::min(frame.size(), headers);
        frame[random() % reach] = random() % 2 ? static_cast<std::uint8_t>(random()) : (random() % 2 ? 0xff : 0);
    }
    if (random() % 4 != 0) fix_lengths(frame);
    if (frame.size() > fabric::longest_frame) frame.resize(fabric::longest_frame);
    return frame;
}

/// The fabric's end of a raw port, bare.
class BarePort {
public:
    BarePort() {
        ::unlink(path.c_str());
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        listener_ = Descriptor{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        REQUIRE(::bind(listener_.value(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
        REQUIRE(::listen(listener_.value(), 4) == 0);
    }
    ~BarePort() { ::unlink(path.c_str()); }
    BarePort(const BarePort&) = delete;
    BarePort& operator=(const BarePort&) = delete;
    /// A connection of the node's.
    Descriptor accept() {
        pollfd polled{listener_.value(), POLLIN, 0};
        REQUIRE(::poll(&polled, 1, 20000) == 1);
        return Descriptor{::accept4(listener_.value(), nullptr, nullptr, SOCK_CLOEXEC)};
    }
    static void write(const Descriptor& connection, const Octets& octets) {
        static_cast<void>(::send(connection.value(), octets.data(), octets.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
    }
    /// Whether the node closes the connection; what it writes is of no interest.
    static bool is_closed(const Descriptor& connection) {
        std::array<char, 4096> buffer{};
        pollfd polled{connection.value(), POLLIN, 0};
        while (::poll(&polled, 1, 10000) == 1)
            if (::read(connection.value(), buffer.data(), buffer.size()) <= 0) return true;
        return false;
    }
    const std::string path = "/tmp/ipoib-sample-bare-" + std::to_string(::getpid()) + ".sock";

private:
    Descriptor listener_;
};

}  // namespace

TEST_CASE("C node: no frame harms it, whatever is wrong with it") {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
        INFO("seed " << seed);
        Random random{seed};
        SubnetBench bench{program, seed % 2 ? "default" : "controlled"};
        bench.start();
        unsigned count = 0;
        bench.tap.before = [&](const fabric::Frame& frame) {
            for (int i = 0; i < 8 && bench.port; ++i, ++count)
                bench.port->receive(fabric::Frame{mutated(random, frame.octets())});
        };
        for (int round = 0; round < 60; ++round) {
            // Traffic of every kind, whose frames are the pattern; it may well fail.
            const auto group = "239.0.0." + std::to_string(round % 7 + 1);
            const std::vector<std::string> commands{
                "join " + group, "leave " + group, "send 239.0.1.9 9 8 aabb", "send 10.1.0.1 9 8 aabb",
                "flush",         "neighbours",     "resolve 10.1.0.200",      "listen 10.1.0.9 7"};
            for (const auto& command : commands) CHECK(bench.node->ask(command, 10s).error.empty());
            const Octets payload(random() % 1000, 0x5a);
            bench.ib0().neighbours().flush();  // ARP requests are broadcast
            for (const auto& to : {std::string("10.1.0.9"), group, std::string("255.255.255.255")})
                static_cast<void>(bench.ib0().sockets().send(ip(to), 7, payload, 64));
            static_cast<void>(bench.ib0().echo().ping(ip("10.1.0.9"), 56, 1s, [](bool) {}));
            bench.fabric.loop().run_for(5ms);
            CHECK_THAT(bench.ask("received"), ContainsSubstring("ok"));
            if (round % 20 == 19) bench.disconnect();  // it is brought up anew
        }
        bench.tap.before = nullptr;
        const auto connections = bench.connections;
        bench.disconnect();
        CHECK(count > 1000);
        CHECK(bench.until([&] { return bench.connections > connections; }));
        CHECK(bench.is_up());
        CHECK(bench.ping("10.1.0.9"));
    }
}

TEST_CASE("C node: no stream harms it, and one that carries no frames is closed") {
    BarePort port;
    fabric::Loop loop{fabric::Loop::Clock::real};
    conformance::AdapterProcess node{loop, "exec " IPOIB_NODE_SANITIZED " --port " + port.path};
    for (const unsigned length : {1u, 25u, 4301u, 0xffffu}) {
        INFO(length);
        const auto connection = port.accept();
        Octets octets(70000, 0);
        octets[0] = static_cast<std::uint8_t>(length >> 8);
        octets[1] = static_cast<std::uint8_t>(length);
        BarePort::write(connection, octets);
        CHECK(BarePort::is_closed(connection));
    }
    Random random{4};
    for (int round = 0; round < 40; ++round) {
        const auto connection = port.accept();
        Octets octets;
        for (int frame = 0; frame < 20; ++frame) {
            const auto length = random() % 3 == 0 ? 0 : fabric::shortest_frame + random() % 400;
            octets.push_back(static_cast<std::uint8_t>(length >> 8));
            octets.push_back(static_cast<std::uint8_t>(length));
            for (std::size_t i = 0; i < length; ++i) octets.push_back(static_cast<std::uint8_t>(random()));
        }
        octets.resize(random() % octets.size());  // and closed in the middle of one
        BarePort::write(connection, octets);
    }
    CHECK_THAT(node.ask("interface", 20s).line, ContainsSubstring("ok up=0 "));
}

TEST_CASE("C node: no command harms it") {
    SubnetBench bench{program};
    bench.start();
    Random random{5};
    const std::vector<std::string> words{
        "interface", "add",         "remove",     "join",        "leave",      "send",
        "listen",    "received",    "resolve",    "flush",       "timers",     "neighbours",
        "10.1.0.9",  "10.1.0.1/24", "239.1.2.3",  "0.0.0.0/0",   "65535",      "4294967296",
        "-1",        "0",           "aabbccddee", "abc",         "x",          "255.255.255.255",
        "10.1.0.1",  "1",           "224.0.0.1",  "10.1.0.9/32", "10.1.0.9/31"};
    for (int round = 0; round < 1500; ++round) {
        std::string line = words[random() % 12];
        for (auto count = random() % 6; count > 0; --count) line += ' ' + words[random() % words.size()];
        if (random() % 10 == 0) line[random() % line.size()] = static_cast<char>(random() % 255 + 1);
        std::erase(line, '\n');
        if (line.starts_with("join 2") || line.starts_with("listen 2")) line.resize(5);  // these wait for the SA
        const auto answer = bench.ask(line);
        INFO(line);
        CHECK((answer.starts_with("ok") || answer.starts_with("failed ") || answer == "unsupported"));
    }
    CHECK(bench.ask("send 10.1.0.1 9 1 " + std::string(14000, 'a')).starts_with("failed "));
}
