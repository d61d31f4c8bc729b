// SPDX-License-Identifier: GPL-2.0-or-later
// The story that the plugin shows: which frame tells what of which.
#include "dissector/story.hpp"

#include "catch2.hpp"
#include "dissector/words.hpp"
#include "protocol/build/management.hpp"
#include "protocol/build/samples.hpp"
#include "protocol/wire/rmpp_segments.hpp"
#include "protocol/wire/text.hpp"

#include <type_traits>

using namespace ipoib;
using namespace ipoib::build;
using namespace ipoib::wire;
using namespace ipoib::dissector;

// What the plugin holds while Wireshark may leave by longjmp needs no destructor.
static_assert(std::is_trivially_destructible_v<Remark> && std::is_trivially_destructible_v<LinkShot> &&
              std::is_trivially_destructible_v<Around> && std::is_trivially_destructible_v<Exchange> &&
              std::is_trivially_destructible_v<Membership> && std::is_trivially_destructible_v<TableShown> &&
              std::is_trivially_destructible_v<Announcement> && std::is_trivially_destructible_v<Packet>);

namespace {

const Node a = samples::host(1), b = samples::host(2), sa = samples::sa();
const build::Link plain{};
constexpr auto mask = McMemberRecord::component::join;

/// Frames a millisecond apart, from 1.
class Told {
public:
    FrameNumber operator()(const PacketBuilder& packet) { return octets(packet.build()); }
    FrameNumber octets(std::vector<std::uint8_t> frame) {
        frame_ = std::move(frame);
        time_ += 1'000'000;
        story.take({.octets = frame_, .sight = {++number_, time_, 0}});
        return static_cast<FrameNumber>(number_);
    }
    void pause(std::int64_t ns) { time_ += ns; }
    /// The frame of the answer.
    FrameNumber exchange(const Node& port, Method method, const Gid& mgid, std::uint8_t state,
                         std::uint16_t status = 0) {
        const auto record = group_record(port, plain, mgid, 0xc007, state);
        (*this)(mc_member(port, sa, method, ++transaction_, record, mask));
        const auto answer = method == Method::del ? Method::delete_resp : Method::get_resp;
        return (*this)(mc_member(sa, port, answer, transaction_, record, mask).set(Mad::status, status));
    }
    FrameNumber join(const Node& port, const Gid& mgid, std::uint8_t state = 1) {
        return exchange(port, Method::set, mgid, state);
    }
    Story story{{}};

private:
    std::vector<std::uint8_t> frame_;
    std::uint64_t number_ = 0, transaction_ = 0;
    std::int64_t time_ = 0;
};

Gid group(const char* address) { return mgid_for_ipv4(parse_ipv4(address).value(), plain.p_key, plain.scope); }

}  // namespace

TEST_CASE("Story: request, answer, report and data lead to each other") {
    Told told;
    told.join(a, plain.broadcast_gid());
    const auto joined = told.join(a, group("239.1.2.3"));
    const auto report = told(group_report(sa, b, trap::multicast_group_created, group("239.1.2.3")));
    const auto data = told(udp_to_group(a, parse_ipv4("239.1.2.3").value(), 0xc007, plain, 5));

    CHECK(told.story.exchange(joined)->request == joined - 1);
    CHECK(told.story.exchange(joined - 1)->answer == joined);
    CHECK(told.story.exchange(joined)->asked == Method::set);
    CHECK(told.story.exchange(report)->cause == joined);
    CHECK(told.story.exchange(joined)->report == report);
    const auto* around = told.story.around(data);
    REQUIRE(around);
    CHECK(around->joined == joined);
    CHECK(around->join_state == join_state::full_member);
    CHECK(around->link->learned == 2);
    CHECK(std::string(around->link->name) == "fe80::/0xffff");
}

TEST_CASE("Story: members come and go with the SA's answers") {
    Told told;
    const auto came = told.join(a, group("239.1.2.3"));
    told.join(b, group("239.1.2.3"), join_state::send_only_non_member);
    const auto went = told.exchange(a, Method::del, group("239.1.2.3"), 1);
    const auto* around = told.story.around(went);
    REQUIRE(around);
    const auto& members = *told.story.members(*around->group->group);
    REQUIRE(members.size() == 2);
    CHECK(members[0].from == came);
    CHECK(members[0].to == went);
    CHECK(members[1].to == 0);
    CHECK(members[1].join_state == join_state::send_only_non_member);
}

TEST_CASE("Story: a table in many segments is whole in the frame that completes it") {
    Told told;
    const auto table = testing::records(20);
    FrameNumber last = 0;
    for (const auto& segment : testing::segments(table)) {
        PacketBuilder packet =
            mad(sa, a, MgmtClass::subn_adm, Method::get_table_resp, attribute::mc_member_record, segment.transaction);
        auto octets = segment.mad();
        packet.add(std::vector<std::uint8_t>(octets.begin() + Mad::size, octets.end()));
        last = told(packet);
    }
    CHECK(last > 3);
    CHECK(!told.story.table(last - 1));
    REQUIRE(told.story.table(last));
    CHECK(told.story.table(last)->records.size() == table.size());
    CHECK(told.story.table(last)->stride == 56);
}

TEST_CASE("Story: what was not done in time is told of the frame that called for it") {
    Told told;
    told.join(a, plain.broadcast_gid());
    const auto listens = told(igmp(a, 0x16, parse_ipv4("239.1.2.3").value(), 0xc000, plain));
    for (int i = 0; i < 20; ++i) {
        told.pause(2'000'000'000);
        told(arp_request(a, b.ipv4, plain));
    }
    const auto* remark = told.story.remarks(listens);
    REQUIRE(remark);
    while (remark->next && remark->rule->id != "RULE-RFC4391-10-15") remark = remark->next;
    CHECK(remark->rule->id == "RULE-RFC4391-10-15");
    CHECK(std::string(remark->text).find("nothing of it within 30 s") == 0);
}

TEST_CASE("Story: a frame shown again, or out of order, is not taken twice") {
    Told told;
    told.join(a, plain.broadcast_gid());
    const auto octets = udp_to_group(a, parse_ipv4("239.1.2.3").value(), 0xc007, plain, 5).build();
    told.octets(octets);
    CHECK(told.story.last() == 3);
    told.story.take({.octets = octets, .sight = {2, 1, 0}});
    CHECK(told.story.last() == 3);
    CHECK(!told.story.around(4));
    CHECK(!told.story.remarks(100));
}

TEST_CASE("Story: short words for management packets") {
    const auto words = [](const PacketBuilder& builder, const Asked& asked = {}) {
        const auto octets = builder.build();
        Packet packet;
        decode(octets, packet);
        return headline(packet, asked);
    };
    const auto record = group_record(a, plain, group("239.1.2.3"), 0xc007, 1);
    const auto refusal = mc_member(sa, a, Method::get_resp, 1, {}, mask).set(Mad::status, 0x0200);
    CHECK(words(mc_member(a, sa, Method::set, 1, record, mask)) == "FullMember join of 239.1.2.3");
    CHECK(words(mc_member(sa, a, Method::get_resp, 1, record, mask), {.method = Method::set}) ==
          "FullMember join of 239.1.2.3, done");
    const auto mgid = group("239.1.2.3");
    CHECK(words(refusal, {.group = &mgid, .method = Method::set}) == "Join of 239.1.2.3 refused: ERR_REQ_INVALID");
    CHECK(words(refusal, {.group = &mgid, .method = Method::get}) == "Query of 239.1.2.3 refused: ERR_REQ_INVALID");
    CHECK(words(group_report(sa, b, trap::multicast_group_deleted, group("239.1.2.3"))) == "Group 239.1.2.3 deleted");
    CHECK(words(udp(a, b, plain, 64)).empty());
    CHECK(component_list(mask) == "MGID, PortGID, JoinState");
    CHECK(component_list(0) == "none");
}
