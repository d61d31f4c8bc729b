// SPDX-License-Identifier: GPL-2.0-or-later
// Templates are what builders would have built; ramps, parts and replays.
#include "traffic-gen/stage.hpp"

#include "catch2.hpp"
#include "protocol/build/samples.hpp"
#include "protocol/wire/registry.hpp"
#include "traffic-gen/fields.hpp"
#include "traffic-gen/mutation.hpp"
#include "traffic-gen/profile.hpp"

#include <tuple>

namespace ipoib::traffic {
namespace {

using Frames = std::vector<std::vector<std::uint8_t>>;

class Keeping : public Sink {
public:
    bool take(Time time, const Sender&, wire::Octets frame) override {
        times.push_back(time);
        frames.emplace_back(frame.begin(), frame.end());
        return true;
    }
    std::vector<Time> times;
    Frames frames;
};

/// What is asked for besides a profile.
struct Changes {
    std::vector<std::string> set{};
    const Mutation* mutation = nullptr;
    unsigned damaged_one_of = 0, hidden_one_of = 0;  ///< 0: none
    unsigned hosts = 3, partitions = 1;
};

Frames played(std::string_view profile, const StageOptions& options, const Changes& changes = {}) {
    Scene scene{
        {.hosts = changes.hosts, .groups = 3, .partitions = changes.partitions, .link = build::samples::controlled()}};
    Keeping sink;
    Stage stage{scene, options, sink};
    std::vector<Override> overrides(changes.set.begin(), changes.set.end());
    if (changes.mutation) stage.mutate_by(changes.mutation->change);
    if (!overrides.empty())
        stage.change_by([&](build::PacketBuilder& packet) {
            for (auto& one : overrides) (void)one.apply(packet, stage.random());
        });
    if (changes.damaged_one_of)
        stage.damage_by([&](wire::MutableOctets frame) {
            if (stage.any(changes.damaged_one_of) == 0) frame[stage.any(frame.size())] ^= 1;
        });
    stage.hide_one_of(changes.hidden_one_of);
    play(*find_profile(profile), stage);
    return sink.frames;
}

/// Any field that is known, and any value that it may have.
std::string any_setting(std::mt19937_64& chance) {
    static constexpr std::array<std::string_view, 8> usual{"lrh", "bth", "deth", "grh", "encap", "ipv4", "ipv6", "udp"};
    const auto rows = wire::registry();
    const auto& header =
        chance() % 4 ? *wire::header_named(usual[chance() % usual.size()]) : *rows[chance() % rows.size()].header;
    const auto& field = header.fields[chance() % header.fields.size()];
    const auto name = std::string(header.key) + '.' + std::string(field.name) + '=';
    if (field.show == wire::Show::gid || field.show == wire::Show::ipv6) return name + "ff12:401b:ffff::1,::,fe80::2";
    constexpr unsigned widest = 64;
    if (field.width > widest) return name + std::string(field.width / 4, 'a');
    switch (chance() % 4) {
        case 0:
            return name + "random";
        case 1:
            return name + "0..1";
        case 2:
            return name + "1,0,1";
        default:
            return name + std::to_string(chance() >> (widest - field.width));
    }
}

template <class Things>
const auto& any_of(const Things& things, std::mt19937_64& chance) {
    return things[chance() % things.size()];
}

}  // namespace

TEST_CASE("Stage: numbered packets are octet for octet what the builder makes") {
    for (const std::size_t size : {16u, 17u, 63u, 64u, 1000u, 1996u})
        for (const std::string profile : {"udp", "udp-multicast"}) {
            CAPTURE(size, profile);
            StageOptions options{.count = 2000, .seed = size, .least_size = size, .most_size = size};
            const auto sent = played(profile, options);
            options.builds_each = true;
            CHECK(sent == played(profile, options));
        }
}

TEST_CASE("Stage: whatever is asked for, packets are octet for octet what the builder makes of each by itself") {
    std::mt19937_64 chance{20};
    const auto profiles = all_profiles();
    const auto mutations = all_mutations();
    constexpr std::array<std::size_t, 8> sizes{0, 1, 15, 16, 17, 64, 201, 1900};
    for (unsigned i = 0; i < 300; ++i) {
        Changes changes{.hosts = 2 + static_cast<unsigned>(chance() % 4), .partitions = chance() % 8 ? 1u : 2u};
        for (auto left = chance() % 4; left > 0; --left) changes.set.push_back(any_setting(chance));
        if (chance() % 3 == 0) changes.mutation = any_of(mutations, chance);
        if (chance() % 4 == 0) changes.damaged_one_of = 3;
        if (chance() % 6 == 0) changes.hidden_one_of = 5;
        StageOptions options{.count = 60, .seed = chance(), .keeps_crc = chance() % 4 == 0};
        std::tie(options.least_size, options.most_size) = std::minmax(any_of(sizes, chance), any_of(sizes, chance));
        if (chance() % 2) options.least_size = options.most_size;
        // Half of them are of the profiles whose packets are numbered.
        const std::string profile{chance() % 2 ? chance() % 2 ? "udp" : "udp-multicast"
                                               : any_of(profiles, chance)->name};
        if (profile == "replay") continue;
        CAPTURE(i, profile, changes.set, changes.mutation ? changes.mutation->name : "", options.least_size,
                options.most_size, options.seed, options.keeps_crc);
        const auto sent = played(profile, options, changes);
        options.builds_each = true;
        CHECK(sent == played(profile, options, changes));
    }
}

TEST_CASE("Stage: what is hidden happens, but no capture shows it") {
    Scene scene{{.hosts = 3}};
    Keeping sink;
    Stage stage{scene, {}, sink};
    stage.hide_one_of(1);
    bring_up(stage);
    CHECK(sink.frames.empty());
    const auto& host = scene.net().host(1);
    const auto broadcast = scene.net().link.broadcast_gid();
    CHECK(stage.memberships_of(host.gid) ==
          std::vector<std::pair<wire::Gid, std::uint8_t>>{{broadcast, wire::join_state::full_member}});
    stage.hide_one_of(0);
    stage.forget_memberships(host.gid);
    CHECK(stage.memberships_of(host.gid).empty());
    bring_up(stage);
    // One comes up and joins anew, and all tell where they are.
    CHECK(sink.frames.size() == 4 + 2 + 3);
}

TEST_CASE("Scene: another interface is none of the hosts', and an administrator may forget its MLIDs") {
    Scene scene{{.hosts = 3, .partitions = 2}};
    for (const auto& net : scene.nets())
        for (const auto& host : net.hosts) {
            CHECK(host.lid != scene.other(1).lid);
            CHECK(host.gid != scene.other(1).gid);
            CHECK(host.qpn != scene.other(1).qpn);
        }
    CHECK(scene.other(1, 0).gid == scene.other(1, 1).gid);
    CHECK(scene.other(1, 0).qpn != scene.other(1, 1).qpn);
    const auto before = scene.net().link.broadcast_mlid;
    scene.forget_mlids();
    CHECK(scene.net().link.broadcast_mlid != before);
    CHECK(scene.mlid(scene.net().link.broadcast_gid()) == scene.net().link.broadcast_mlid);
}

TEST_CASE("Templates: any number, and a checksum that would be zero") {
    using namespace build::samples;
    build::FrameTemplate::Tables tables;
    auto payload = build::pattern(64);
    const auto built = [&](std::uint64_t number) {
        Number{.run = 1, .count = number}.write(payload);
        return build::udp(host(1), host(2), controlled(), wire::Octets{payload})
            .choose(wire::Bth::psn, static_cast<std::uint32_t>(number));
    };
    build::FrameTemplate frame{built(0), Number::at_count, tables};
    std::uint64_t number = 1;
    bool has_met_zero = false;
    for (unsigned i = 0; i < 100'000; ++i) {
        // Small steps and far jumps.
        number = i % 3 ? number + 1 : number * 0x9e3779b97f4a7c15;
        frame.set(number, static_cast<std::uint32_t>(number));
        const auto expected = built(number).build();
        REQUIRE(std::ranges::equal(frame.frame(), expected));
        wire::Packet packet;
        wire::decode(expected, packet);
        has_met_zero |= packet.udp[wire::Udp::checksum] == 0xffff;
    }
    CHECK(has_met_zero);
}

TEST_CASE("Stage: packets too small for a number carry none") {
    for (const auto& frame : played("udp", {.count = 5, .least_size = 0, .most_size = 15})) {
        wire::Packet packet;
        wire::decode(frame, packet);
        if (packet.udp) CHECK_FALSE(Number::read(packet.ip_payload.subspan(wire::Udp::size)));
    }
}

TEST_CASE("Stage: a ramp rises evenly over the run") {
    Scene scene{{.hosts = 2}};
    Keeping sink;
    Stage stage{scene, {.count = 1001, .rate = Rate{"100..300"}}, sink};
    play(*find_profile("udp"), stage);
    const auto first = sink.frames.size() - 1001;
    const auto gap = [&](std::size_t i) { return (sink.times[first + i + 1] - sink.times[first + i]).count() / 1000; };
    CHECK(gap(0) == 10000);
    CHECK(gap(500) / 10 == 500);
    CHECK(gap(999) / 10 == 333);
}

TEST_CASE("Stage: what is recorded stays as it was, unless something is changed") {
    using namespace build::samples;
    Scene scene{{}};
    Keeping sink;
    Stage stage{scene, {}, sink};
    auto wrong = build::udp(host(1), host(2), controlled(), 30).damage_icrc(1).build();
    stage.begin();
    stage.send_recorded(std::chrono::seconds{1}, wrong);
    stage.change_by([](build::PacketBuilder& packet) {
        if (packet.has(wire::spec_of<wire::Arp>)) packet.set(wire::Encap::reserved, 1);
    });
    stage.send_recorded(std::chrono::seconds{2}, wrong);
    stage.send_recorded(std::chrono::seconds{3}, build::arp_request(host(1), 5, controlled()).build());
    REQUIRE(sink.frames.size() == 3);
    CHECK(sink.frames[0] == wrong);
    CHECK(sink.frames[1] == wrong);
    CHECK(sink.frames[2] == build::arp_request(host(1), 5, controlled()).set(wire::Encap::reserved, 1).build());
    CHECK(sink.times == std::vector<Time>{std::chrono::seconds{1}, std::chrono::seconds{2}, std::chrono::seconds{3}});
}

TEST_CASE("PacketBuilder: every packet of every profile can be taken apart and built again") {
    for (const auto* profile : all_profiles()) {
        if (profile->name == "replay") continue;
        CAPTURE(std::string(profile->name));
        for (const auto& frame : played(profile->name, {.count = 400, .least_size = 0, .most_size = 300})) {
            wire::Packet packet;
            wire::decode(frame, packet);
            if (packet.tail == wire::Tail::truncated) continue;
            // What is wrong in it is put right.
            if (profile->name != "malformed") CHECK(build::PacketBuilder::of(packet).build() == frame);
        }
    }
}

}  // namespace ipoib::traffic
