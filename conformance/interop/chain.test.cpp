// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/interop/chain.hpp"
#include "catch2.hpp"
#include "protocol/build/ipoib.hpp"
#include "protocol/requirements/rfc4391.hpp"

using namespace ipoib;
using namespace ipoib::conformance;
using namespace ipoib::conformance::interop;

namespace {

const build::Node a{.lid = 3, .gid = wire::Gid::of(std::uint64_t{0xfe80} << 48, 1), .qpn = 0x48, .ipv4 = 0x0a010001};
const build::Node b{.lid = 4, .gid = wire::Gid::of(std::uint64_t{0xfe80} << 48, 2), .qpn = 0x49, .ipv4 = 0x0a010002};

std::optional<Side> by_lid(const wire::Packet& packet) {
    const auto slid = packet.lrh[wire::Lrh::slid];
    if (slid != a.lid && slid != b.lid) return std::nullopt;
    return slid == a.lid ? Side::dut : Side::against;
}

/// A request for an address and its answer, as each of the two owes it.
std::vector<Leg> resolution() {
    const auto is = [](std::uint16_t operation) {
        return [=](const wire::Packet& p) { return p.arp && p.arp[wire::Arp::operation] == operation; };
    };
    const auto& by = rfc4391::ipv4_resolved_by_arp;
    return {
        {Side::dut, &by, "a request", is(wire::Arp::request)},
        {Side::against, &by, "a reply", is(wire::Arp::reply), [](const wire::Packet& p) {
             return p.lrh[wire::Lrh::dlid] == a.lid ? Astray{} : Astray{"elsewhere", &rfc4391::lrh_targets_peer_lid};
         }}};
}

struct Frames {
    Frames& add(const build::PacketBuilder& packet) {
        const auto octets = packet.build();
        recorder.add({.time = {}, .octets = octets});
        return *this;
    }
    [[nodiscard]] Reached come_to(const std::vector<Leg>& legs, std::size_t begin = 0) const {
        return reached(legs, recorder, begin, by_lid);
    }
    Recorder recorder;
};

const build::Link usual_link{};

}  // namespace

TEST_CASE("Chain: what was seen last tells who owes the next frame") {
    Frames frames;
    CHECK(frames.come_to(resolution()).legs == 0);
    frames.add(build::arp_request(a, b.ipv4, usual_link));
    const auto asked = frames.come_to(resolution());
    CHECK(asked.legs == 1);
    CHECK(asked.frame == 1);
    frames.add(build::arp_reply(b, a, usual_link));
    CHECK(frames.come_to(resolution()).legs == 2);
    CHECK(frames.come_to(resolution()).frame == 2);
}

TEST_CASE("Chain: how long an answer took is told from when it was asked for first") {
    Frames frames;
    frames.add(build::arp_request(a, b.ipv4, usual_link));
    CHECK(frames.come_to(resolution()).asked_frame == 0);
    frames.add(build::arp_request(a, b.ipv4, usual_link)).add(build::arp_reply(b, a, usual_link));
    frames.add(build::arp_request(a, b.ipv4, usual_link)).add(build::arp_reply(b, a, usual_link));
    CHECK(frames.come_to(resolution()).asked_frame == 1);
    CHECK(frames.come_to(resolution()).frame == 3);
}

TEST_CASE("Chain: a frame counts for who owes it only") {
    Frames frames;
    frames.add(build::arp_request(b, a.ipv4, usual_link)).add(build::arp_reply(a, b, usual_link));
    CHECK(frames.come_to(resolution()).legs == 0);
}

TEST_CASE("Chain: what was seen later makes what is before it unneeded, from where one looks") {
    Frames frames;
    frames.add(build::arp_request(a, b.ipv4, usual_link)).add(build::arp_reply(b, a, usual_link));
    CHECK(frames.come_to(resolution(), 1).legs == 2);
    CHECK(frames.come_to(resolution(), 2).legs == 0);
}

TEST_CASE("Chain: a leg that follows another one counts after it only") {
    auto legs = resolution();
    legs.back().after = 1;
    Frames frames;
    frames.add(build::arp_reply(b, a, usual_link));
    CHECK(frames.come_to(legs).legs == 0);
    frames.add(build::arp_request(a, b.ipv4, usual_link)).add(build::arp_reply(b, a, usual_link));
    CHECK(frames.come_to(legs).frame == 3);
}

TEST_CASE("Chain: a frame that goes astray has not come, and is told") {
    Frames frames;
    auto elsewhere = a;
    elsewhere.lid = 9;
    frames.add(build::arp_request(a, b.ipv4, usual_link)).add(build::arp_reply(b, elsewhere, usual_link));
    const auto far = frames.come_to(resolution());
    CHECK(far.legs == 1);
    CHECK(far.stray_frame == 2);
    CHECK(far.stray.why == "elsewhere");
    CHECK(far.stray.by == &rfc4391::lrh_targets_peer_lid);
    frames.add(build::arp_reply(b, a, usual_link));
    CHECK(frames.come_to(resolution()).stray.why.empty());
}
