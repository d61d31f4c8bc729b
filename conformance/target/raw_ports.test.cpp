// SPDX-License-Identifier: GPL-2.0-or-later
// Peers of the raw ports of a simulated fabric: those that come, those that leave, and those that never speak.
#include "conformance/target/raw_ports.hpp"

#include "catch2.hpp"
#include "fabric/node/hca.hpp"
#include "protocol/build/samples.hpp"
#include "temporary_folder.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <vector>

using namespace ipoib;
using namespace ipoib::conformance;
using namespace std::chrono_literals;

namespace {

struct ListeningSubnet {
    bool until(const std::function<bool()>& done) { return loop.run_until(done, loop.now() + 20s); }
    [[nodiscard]] Descriptor connect() const {
        auto connection = fabric::connect_raw_port(path);
        REQUIRE(connection.error.empty());
        return std::move(connection.descriptor);
    }

    const TemporaryFolder folder;
    const std::string path = folder / "port";
    fabric::Loop loop{fabric::Loop::Clock::real};
    fabric::Subnet subnet{loop, *fabric::find_scenario("default"), {}};
    RawPorts ports{subnet, path};
};

void say(const Descriptor& peer, wire::Octets octets) {
    REQUIRE(::write(peer.value(), octets.data(), octets.size()) == static_cast<ssize_t>(octets.size()));
}

/// A frame as it stands on the stream.
std::vector<std::uint8_t> framed() {
    const auto frame = build::udp(build::samples::host(1), build::samples::host(2), build::Link{}, 8).build();
    std::vector<std::uint8_t> octets{static_cast<std::uint8_t>(frame.size() >> 8),
                                     static_cast<std::uint8_t>(frame.size())};
    octets.insert(octets.end(), frame.begin(), frame.end());
    return octets;
}

/// Whether this side of the stream was closed by the other, after whatever that had said.
bool is_closed(const Descriptor& peer) {
    std::array<char, 4096> buffer{};
    for (;;) {
        pollfd polled{peer.value(), POLLIN, 0};
        if (::poll(&polled, 1, 0) <= 0) return false;
        if (::read(peer.value(), buffer.data(), buffer.size()) <= 0) return true;
    }
}

}  // namespace

TEST_CASE("Raw ports: nothing is kept for a peer that has left, whatever it said") {
    const auto whole = framed();
    const wire::Octets frame{whole};
    ListeningSubnet at;
    unsigned connections = 0;
    // Nothing, half a length, half a frame, a frame, link down, an impossible length.
    constexpr std::array<std::uint8_t, 2> down{}, impossible{0xff, 0xff};
    const std::array<wire::Octets, 6> sayings{{{}, frame.first(1), frame.first(20), frame, down, impossible}};
    for (unsigned round = 0; round < 100; ++round) {
        std::vector<Descriptor> peers;
        for (const auto& saying : sayings) {
            peers.push_back(at.connect());
            if (!saying.empty()) say(peers.back(), saying);
            ++connections;
        }
        if (round % 2 == 0) REQUIRE(at.until([&] { return at.ports.accepted() == connections; }));
        peers.clear();
        REQUIRE(at.until([&] { return at.ports.accepted() == connections; }));
        if (!at.until([&] { return at.ports.peers() == 0; })) break;
    }
    CHECK(at.ports.peers() == 0);
}

TEST_CASE("Raw ports: only so many peers are taken at a time, and one that leaves makes room") {
    ListeningSubnet at;
    std::vector<Descriptor> peers;
    for (std::size_t i = 0; i < RawPorts::most_peers; ++i) peers.push_back(at.connect());
    CHECK(at.until([&] { return at.ports.peers() == RawPorts::most_peers; }));
    const auto refused = at.connect();
    CHECK(at.until([&] { return is_closed(refused); }));
    CHECK_FALSE(is_closed(peers.back()));
    CHECK(at.ports.peers() == RawPorts::most_peers);

    peers.pop_back();
    CHECK(at.until([&] { return at.ports.peers() < RawPorts::most_peers; }));
    const auto last = at.connect();
    CHECK(at.until([&] { return at.ports.peers() == RawPorts::most_peers; }));
    CHECK_FALSE(is_closed(last));
}

TEST_CASE("Raw ports: a peer is told that its cable was pulled, and needs no word when it is in again") {
    constexpr std::uint64_t guid = 0x0002c90300001234;
    ListeningSubnet at;
    fabric::RawPort peer{at.loop, at.connect()};
    fabric::Hca hca{at.loop, {.port_guid = guid}};
    hca.connect(&peer);
    peer.deliver_to(&hca);
    std::vector<bool> heard;
    peer.on_link([&](bool is_up) { heard.push_back(is_up); });
    REQUIRE(at.until([&] { return hca.is_active(); }));
    CHECK(heard == std::vector<bool>{});

    REQUIRE(at.subnet.set_link(guid, false));
    CHECK(at.until([&] { return heard == std::vector<bool>{false}; }));
    REQUIRE(at.subnet.set_link(guid, true));
    CHECK(at.until([&] { return heard == std::vector<bool>{false, true}; }));
}
