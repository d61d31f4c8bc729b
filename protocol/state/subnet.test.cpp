// SPDX-License-Identifier: GPL-2.0-or-later
// A subnet's state: what is learned, what is not believed, and what is not kept.
#include "protocol/state/subnet.hpp"

#include "catch2.hpp"
#include "protocol/build/connection.hpp"
#include "protocol/build/management.hpp"
#include "protocol/build/samples.hpp"
#include "protocol/wire/text.hpp"

using namespace ipoib;
using namespace ipoib::build;
using namespace ipoib::wire;
using state::Fact;
using state::Subnet;

namespace {

const Node a = samples::host(1), b = samples::host(2), sa = samples::sa();
constexpr auto mask = McMemberRecord::component::join;

/// Feeds packets one after the other.
class Feed {
public:
    explicit Feed(const state::Limits& limits = {}) : subnet(std::make_shared<state::Limits>(limits)) {}
    const state::Known& operator()(const PacketBuilder& packet, state::Recollection* memory = nullptr) {
        octets_ = packet.build();
        decode(octets_, packet_);
        ++frame_;
        return subnet.take(packet_, {frame_, static_cast<std::int64_t>(frame_) * 1'000'000, 0}, false, memory);
    }
    void join(const Node& port, const Bytes<McMemberRecord>& record, std::uint16_t status = 0,
              std::uint64_t components = mask) {
        (*this)(mc_member(port, sa, Method::set, ++transaction_, record, components));
        (*this)(mc_member(sa, port, Method::get_resp, transaction_, record, components).set(Mad::status, status));
    }
    Subnet subnet;

private:
    std::vector<std::uint8_t> octets_;
    Packet packet_;
    std::uint64_t frame_ = 0, transaction_ = 0;
};

const build::Link plain{};
Gid group(const char* address) { return mgid_for_ipv4(parse_ipv4(address).value(), plain.p_key, plain.scope); }
const state::Member& only_member(const Subnet& subnet, const Gid& mgid) {
    for (const auto& member : subnet.members())
        if (subnet.groups()[member.group].mgid == mgid) return member;
    FAIL("no member");
    return subnet.members().front();
}

}  // namespace

TEST_CASE("State: a join and its answer tell the link, the port and its membership") {
    Feed feed;
    feed.join(a, broadcast_record(a, plain));
    REQUIRE(feed.subnet.links().size() == 2);
    const auto& link = feed.subnet.links().back();
    CHECK(link.p_key == 0xffff);
    CHECK(link.source == state::Source::sa);
    CHECK(link.broadcast->q_key == plain.q_key);
    CHECK(link.learned.frame == 2);
    const auto& port = feed.subnet.port(feed.subnet.port_with(a.lid));
    CHECK(port.gid == a.gid);
    CHECK(feed.subnet.sa_lid() == sa.lid);
    CHECK(only_member(feed.subnet, plain.broadcast_gid()).joined == join_state::full_member);
    CHECK(feed(arp_request(a, b.ipv4, plain)).knows(Fact::watched));
}

TEST_CASE("State: a late answer of the manager before is no restart") {
    Feed feed;
    feed.join(a, broadcast_record(a, plain));
    auto other = sa;
    other.lid = 0x77;
    const auto record = broadcast_record(a, plain);
    feed(mc_member(a, sa, Method::set, 0x70, record, mask));
    feed(mc_member(a, other, Method::set, 0x71, record, mask));
    feed(mc_member(other, a, Method::get_resp, 0x71, record, mask));
    CHECK(feed.subnet.sm_restarts() == 1);
    feed(mc_member(sa, a, Method::get_resp, 0x70, record, mask));
    CHECK(feed.subnet.sm_restarts() == 1);
    CHECK(feed.subnet.sa_lid() == other.lid);
}

TEST_CASE("State: an answer from a port that was not asked is not believed, and counted") {
    Feed feed;
    feed.join(a, broadcast_record(a, plain));
    auto other = plain;
    other.q_key = 0x80004242;
    feed(mc_member(b, a, Method::get_resp, 0x99, broadcast_record(a, other), mask));
    CHECK(feed.subnet.doubts().unbelieved == 1);
    CHECK(feed.subnet.links().back().broadcast->q_key == plain.q_key);
    // One that pretends to be the SA can only make the link disputed.
    feed(mc_member(sa, a, Method::get_resp, 0x98, broadcast_record(a, other), mask));
    CHECK(feed.subnet.doubts().disputes == 1);
    CHECK(feed.subnet.links().back().is_disputed);
    CHECK_FALSE(feed(arp_request(a, b.ipv4, plain)).knows(Fact::broadcast_record));
}

TEST_CASE("State: a flood of groups, ports and requests fills the tables and no more") {
    Feed feed{{.ports = 16, .groups = 8, .members = 8, .requests = 4, .neighbours = 8, .paths = 8, .connections = 2}};
    for (std::uint16_t i = 1; i < 500; ++i) {
        const auto from = samples::host(i);
        feed(udp_to_group(from, 0xef000000u + i, 0xc001, plain, 8));
        feed(arp_request(from, b.ipv4, plain));
        feed(mc_member(from, sa, Method::set, i, broadcast_record(from, plain), mask));
        feed(connection_request(from, b, i));
    }
    CHECK(feed.subnet.ports().size() == 16);
    CHECK(feed.subnet.groups().size() == 8);
    CHECK(feed.subnet.members().size() == 8);
    CHECK(feed.subnet.neighbours().size() == 8);
    CHECK(feed.subnet.doubts().not_kept > 1000);
    CHECK(feed.subnet.doubts().unanswered > 400);
}

TEST_CASE("State: tables share the memory that all of them may take") {
    const auto room = std::make_shared<state::Limits>();
    room->octets = 100'000;
    Subnet one{room}, other{room};
    std::vector<std::uint8_t> octets;
    Packet decoded;
    std::uint64_t frame = 0;
    for (std::uint16_t i = 1; i < 500; ++i)
        for (auto* subnet : {&one, &other}) {
            octets = udp_to_group(samples::host(i), 0xef000000u + i, 0xc001, plain, 8).build();
            decode(octets, decoded);
            subnet->take(decoded, {++frame, 1, 0});
        }
    for (const auto* subnet : {&one, &other}) {
        CHECK(subnet->ports().size() > 10);
        CHECK(subnet->doubts().not_kept > 100);
    }
    const auto kept = one.ports().size() + other.ports().size();
    CHECK(kept * sizeof(state::Port) + (one.members().size() + other.members().size()) * sizeof(state::Member) <
          100'000);
    CHECK(room->octets < 1000);
}

TEST_CASE("State: of a port of which something found no room it is not known that it has not joined") {
    Feed feed{{.members = 8}};
    feed.join(a, broadcast_record(a, plain));
    for (std::uint32_t i = 1; i < 7; ++i) feed(udp_to_group(b, 0xef000000u + i, 0xc001, plain, 8));
    const auto knows = [&](const build::Node& from, std::uint32_t group) {
        return feed(udp_to_group(from, group, 0xc002, plain, 8)).knows(Fact::watched);
    };
    CHECK(knows(a, 0xef010001));
    CHECK_FALSE(knows(a, 0xef010002));
    CHECK_FALSE(feed(arp_request(a, b.ipv4, plain)).knows(Fact::watched));
}

TEST_CASE("State: subnets share the segments of tables that are under way") {
    const auto room = std::make_shared<state::Limits>();
    room->segments = 1;
    Subnet one{room}, other{room};
    auto packet = mad(sa, a, MgmtClass::subn_adm, Method::get_table_resp, attribute::mc_member_record, 1);
    packet.add(Bytes<Rmpp>{}
                   .set(Rmpp::version, 1)
                   .set(Rmpp::type, RmppType::data)
                   .set(Rmpp::active, true)
                   .set(Rmpp::first, true)
                   .set(Rmpp::segment_number, 1));
    packet.add(Bytes<SaHeader>{}.set(SaHeader::attribute_offset, 7));
    const auto octets = packet.add(std::vector<std::uint8_t>(SaHeader::data_size)).build();
    Packet decoded;
    decode(octets, decoded);
    for (auto* subnet : {&one, &other}) subnet->take(decoded, {1, 1, 0});
    CHECK(one.doubts().broken_tables == 0);
    CHECK(other.doubts().broken_tables == 1);
}

TEST_CASE("State: tables of the SA that never end are dropped and counted") {
    Feed feed;
    for (std::uint32_t i = 1; i < 100; ++i) {
        auto packet = mad(sa, a, MgmtClass::subn_adm, Method::get_table_resp, attribute::mc_member_record, i);
        packet.add(Bytes<Rmpp>{}
                       .set(Rmpp::version, 1)
                       .set(Rmpp::type, RmppType::data)
                       .set(Rmpp::active, true)
                       .set(Rmpp::first, true)
                       .set(Rmpp::segment_number, 1));
        packet.add(Bytes<SaHeader>{}.set(SaHeader::attribute_offset, 7));
        feed(packet.add(std::vector<std::uint8_t>(SaHeader::data_size)));
    }
    CHECK(feed.subnet.doubts().broken_tables > 80);
    CHECK(feed.subnet.groups().empty());
}

TEST_CASE("State: a router that is told of more groups than one packet may bring about is not watched any more") {
    Feed feed;
    feed.join(a, broadcast_record(a, plain));
    feed.join(b, broadcast_record(b, plain));
    constexpr std::uint8_t igmp_query = 0x11;
    feed(igmp(a, igmp_query, 0xe0000001, 0xc0aa, plain));
    feed(group_table_request(a, sa, 0x900));
    feed(group_table(sa, a, 0x900, {}));
    feed.join(a, group_record(a, plain, group("239.1.2.3"), 0xc001, join_state::non_member));
    constexpr std::size_t records = 5000, stride = 56;
    std::vector<std::uint8_t> octets;
    for (std::uint32_t i = 0; i < records; ++i) {
        const auto record = group_record(a, plain, mgid_for_ipv4(0xef000000 + i, plain.p_key, plain.scope), 0xc001, 0);
        octets.insert(octets.end(), record.octets.begin(), record.octets.end());
        octets.resize((i + 1) * stride);
    }
    const auto knows = [&](const build::Node& from) {
        return feed(arp_request(from, sa.ipv4, plain)).knows(Fact::watched);
    };
    feed(group_table_request(a, sa, 0x901));
    const auto count = octets.size() / SaHeader::data_size;
    for (std::uint32_t i = 1; i <= count; ++i) {
        CHECK(knows(b));
        if (i == count) CHECK(feed.subnet.doubts().not_kept == 0);
        auto packet = mad(sa, a, MgmtClass::subn_adm, Method::get_table_resp, attribute::mc_member_record, 0x901);
        packet.add(Bytes<Rmpp>{}
                       .set(Rmpp::version, 1)
                       .set(Rmpp::type, RmppType::data)
                       .set(Rmpp::active, true)
                       .set(Rmpp::first, i == 1)
                       .set(Rmpp::last, i == count)
                       .set(Rmpp::segment_number, i)
                       .set(Rmpp::payload_length, i == count ? 220 : 0));
        packet.add(Bytes<SaHeader>{}.set(SaHeader::attribute_offset, stride / 8));
        const auto end = octets.begin() + i * std::ptrdiff_t{200};
        feed(packet.add(std::vector<std::uint8_t>(end - 200, end)));
    }
    CHECK(feed.subnet.groups().size() == records + 3);
    CHECK(feed.subnet.events().size() < records);
    CHECK(feed.subnet.doubts().not_kept != 0);
    CHECK_FALSE(knows(a));
    CHECK(knows(b));
}

TEST_CASE("State: a joiner is told another MLID than a member has if that one still has it") {
    Feed feed;
    const auto mgid = group("239.1.2.3");
    const auto asks = [&](const build::Node& port, Method method, Method answer, std::uint16_t mlid) {
        const auto record = group_record(port, plain, mgid, mlid, join_state::full_member);
        static std::uint64_t transaction = 0x100;
        feed(mc_member(port, sa, method, ++transaction, record, mask));
        return feed(mc_member(sa, port, answer, transaction, record, mask)).is_told_twice;
    };
    const auto joins = [&](const build::Node& port, std::uint16_t mlid) {
        return asks(port, Method::set, Method::get_resp, mlid);
    };
    CHECK_FALSE(joins(a, 0xc001));
    CHECK_FALSE(joins(a, 0xc002));
    CHECK(joins(b, 0xc001));
    CHECK_FALSE(joins(a, 0xc001));
    CHECK(joins(a, 0xc003));
    SECTION("it has left") {
        CHECK_FALSE(joins(b, 0xc003));
        asks(b, Method::del, Method::delete_resp, 0xc003);
        CHECK_FALSE(joins(a, 0xc004));
        CHECK(joins(b, 0xc005));
    }
    SECTION("it has looked the group up since") {
        asks(b, Method::get, Method::get_resp, 0xc006);
        CHECK(joins(a, 0xc007));
    }
    SECTION("the group was deleted meanwhile") {
        feed(group_report(sa, a, trap::multicast_group_deleted, mgid));
        CHECK_FALSE(joins(b, 0xc004));
        CHECK(joins(a, 0xc005));
        CHECK(joins(b, 0xc006));
    }
    SECTION("of two that have it one is the joiner itself") {
        CHECK_FALSE(joins(b, 0xc003));
        CHECK(joins(b, 0xc004));
        CHECK(joins(a, 0xc005));
    }
}

TEST_CASE("State: a subnet prefix that is told in too many ways is not known") {
    Feed feed;
    const auto tell = [&](std::uint64_t prefix) {
        Bytes<PortInfo> info;
        info.set(PortInfo::lid, b.lid).set(PortInfo::gid_prefix, prefix).set(PortInfo::port_state, PortState::active);
        feed(port_info(b, sa, Method::get_resp, info));
    };
    feed(arp_request(a, b.ipv4, plain));
    for (std::uint64_t i = 0; i <= state::Doubts::most_prefixes; ++i) {
        tell(0xfec0000000000000 + i);
        CHECK(feed.subnet.port(feed.subnet.port_with(a.lid)).gid.prefix() == 0xfec0000000000000 + i);
    }
    tell(0xfec00000000000ff);
    CHECK(feed.subnet.doubts().prefixes == state::Doubts::most_prefixes + 1);
    CHECK(feed.subnet.port(feed.subnet.port_with(a.lid)).gid.prefix() != 0xfec00000000000ff);
}

TEST_CASE("State: the component that a refusal is about is told by the group's record and by the port") {
    Feed feed;
    feed.join(a, broadcast_record(a, plain));
    const auto mgid = group("239.1.2.3");
    feed.join(a, group_record(a, plain, mgid, 0xc001, 1));
    using component = McMemberRecord::component;
    auto record = group_record(b, plain, mgid, 0, 1);
    const auto at_fault = [&] {
        for (const auto& member : feed.subnet.members())
            if (feed.subnet.port(member.port).lid == b.lid) return member.at_fault;
        return ~std::uint64_t{0};
    };
    SECTION("rate") {
        record.set(McMemberRecord::rate, 2);
        feed.join(b, record, sa_status::invalid_request, mask | component::rate_selector | component::rate);
        CHECK(at_fault() == component::rate);
    }
    SECTION("a selector that the group meets is not at fault") {
        record.set(McMemberRecord::rate, 2).set(McMemberRecord::rate_selector, selector::greater);
        feed.join(b, record, sa_status::invalid_request, mask | component::rate_selector | component::rate);
        CHECK(at_fault() == 0);
    }
    SECTION("the port's own link") {
        Bytes<PortInfo> info;
        info.set(PortInfo::lid, b.lid)
            .set(PortInfo::port_state, PortState::active)
            .set(PortInfo::neighbor_mtu, 3)
            .set(PortInfo::link_width_active, 2)
            .set(PortInfo::link_speed_active, 1);
        feed(port_info(b, sa, Method::get_resp, info));
        feed.join(b, record, sa_status::invalid_request);
        CHECK(at_fault() == component::mtu);
    }
    SECTION("a group that is not there") {
        feed.join(b, group_record(b, plain, group("239.9.9.9"), 0, 4), sa_status::invalid_request);
        CHECK(at_fault() == component::join_state);
    }
}

TEST_CASE("State: what the user says yields to the SA, and what differs is counted") {
    Feed feed;
    auto other = plain;
    other.q_key = 0x80004242;
    const auto record = broadcast_record(a, other);
    feed.subnet.assume(state::parameters_of(View<McMemberRecord>::at(record.octets)), state::Source::assumed,
                       state::facts(Fact::q_key));
    const auto& early = feed(arp_request(a, b.ipv4, plain));
    CHECK(early.knows(Fact::q_key));
    CHECK_FALSE(early.knows(Fact::broadcast_record));
    CHECK(early.broadcast->q_key == other.q_key);
    feed.join(a, broadcast_record(a, plain));
    CHECK(feed.subnet.doubts().contradicted == 1);
    CHECK(feed(arp_request(a, b.ipv4, plain)).broadcast->q_key == plain.q_key);
}

TEST_CASE("State: a port that comes back with another LID is the same port") {
    Feed feed;
    feed(arp_request(a, b.ipv4, plain));
    auto moved = a;
    moved.lid = 77;
    feed(arp_request(moved, b.ipv4, plain));
    CHECK(feed.subnet.port_with(77) == feed.subnet.port_with(a.lid));
    CHECK(feed.subnet.port(feed.subnet.port_with(77)).lid == 77);
}

TEST_CASE("State: a refused join of a group that is not of IPoIB is no more than that") {
    Feed feed;
    auto record = broadcast_record(a, plain);
    record.set(McMemberRecord::mgid, parse_gid("ff0e::ffff:1").value());
    feed.join(a, record, sa_status::denied);
    CHECK(feed.subnet.links().size() == 1);
    CHECK(only_member(feed.subnet, record[McMemberRecord::mgid]).refusal == sa_status::denied);
}

TEST_CASE(
    "State: packets of one shape are known and counted alike with a memory and without, until something changes") {
    Feed with, without;
    state::Recollection memory;
    std::uint32_t psn = 0;
    const auto to_group = [&] {
        auto packet = udp_to_group(a, parse_ipv4("239.1.1.1").value(), 0xc001, plain, 64);
        packet.set(Bth::psn, ++psn);
        const auto& known = with(packet, &memory);
        const auto& other = without(packet);
        CHECK(known.facts == other.facts);
        REQUIRE((known.member && other.member));
        CHECK(known.member->sent == psn);
        CHECK(known.member->sent == other.member->sent);
        CHECK(known.member->last_sent == other.member->last_sent);
        CHECK(known.member->sent_unjoined == other.member->sent_unjoined);
        CHECK(known.group->packets == other.group->packets);
        CHECK(known.sender->last == known.now);
        CHECK(known.source->psn == psn);
        CHECK(known.source->steps == other.source->steps);
        return memory.was_recalled;
    };
    const auto both = [&](const PacketBuilder& packet) {
        with(packet);
        without(packet);
    };
    with.join(a, broadcast_record(a, plain));
    without.join(a, broadcast_record(a, plain));
    for (unsigned i = 0; i < 3; ++i) to_group();
    CHECK(to_group());
    CHECK(with.subnet.doubts().foreign == 0);
    // What another one says of itself again and again changes nothing; what is new does.
    for (unsigned i = 0; i < 3; ++i) both(arp_request(b, a.ipv4, plain).set(Bth::psn, 1 + i));
    CHECK_FALSE(to_group());
    both(arp_request(b, a.ipv4, plain).set(Bth::psn, 4));
    CHECK(to_group());
    with.join(a, group_record(a, plain, group("239.1.1.1"), 0xc001, 1));
    without.join(a, group_record(a, plain, group("239.1.1.1"), 0xc001, 1));
    CHECK_FALSE(to_group());
    CHECK(to_group());
    psn += 5;  // some are missing
    for (auto* feed : {&with, &without}) {
        auto packet = udp_to_group(a, parse_ipv4("239.1.1.1").value(), 0xc001, plain, 64);
        (*feed)(packet.set(Bth::psn, psn), feed == &with ? &memory : nullptr);
    }
    CHECK_FALSE(memory.was_recalled);
    CHECK(with.subnet.shows_loss() == without.subnet.shows_loss());
}

TEST_CASE("State: a packet that has changed something is not what its like go by") {
    Feed with, without;
    state::Recollection memory;
    std::uint32_t psn = 0;
    const auto to_all = [](const Node& from, std::uint32_t number) {
        auto packet = udp_to_group(from, parse_ipv4("239.255.255.255").value(), 0xc000, plain, 64);
        return packet.set(Grh::dgid, plain.broadcast_gid()).set(Bth::psn, number);
    };
    const auto again = [&] {
        with(to_all(a, ++psn), &memory);
        without(to_all(a, psn));
        CHECK(with.subnet.links().back().q_key_used == without.subnet.links().back().q_key_used);
        return memory.was_recalled;
    };
    for (unsigned i = 0; i < 4; ++i) again();
    CHECK(again());
    // Of two Q_Keys nobody can tell which is right: the next packet begins anew.
    for (auto* feed : {&with, &without}) (*feed)(to_all(b, 1).set(Deth::q_key, 0x123));
    CHECK_FALSE(again());
    CHECK_FALSE(again());
    CHECK(again());
}

TEST_CASE("Pages: what was never set is 0, what was set stays beside all others") {
    constexpr std::array<std::uint16_t, 5> numbers{0, 255, 256, 0x7fff, 0xffff};
    state::Pages<std::uint32_t> pages;
    for (const std::uint16_t number : numbers) {
        CHECK(pages[number] == 0);
        pages.at(number) = number + 1U;
    }
    for (const std::uint16_t number : numbers) CHECK(pages[number] == number + 1U);
    CHECK(pages[1] == 0);
    CHECK(pages[0x4000] == 0);
}
