// SPDX-License-Identifier: GPL-2.0-or-later
// What the plugin knows of a capture: which frame leads to which, and the strings made of packets.
#include "dissector/capture_state.hpp"

#include "catch2.hpp"
#include "dissector/strings.hpp"
#include "protocol/build/management.hpp"
#include "protocol/build/samples.hpp"
#include "protocol/wire/igmp.hpp"
#include "protocol/wire/rmpp_segments.hpp"
#include "protocol/wire/text.hpp"

#include <type_traits>

using namespace ipoib;
using namespace ipoib::build;
using namespace ipoib::wire;
using namespace ipoib::dissector;

// What the plugin holds while Wireshark may leave by longjmp needs no destructor.
static_assert(std::is_trivially_destructible_v<ExpertInfo> && std::is_trivially_destructible_v<LinkSnapshot> &&
              std::is_trivially_destructible_v<Conversation> && std::is_trivially_destructible_v<Exchange> &&
              std::is_trivially_destructible_v<Membership> && std::is_trivially_destructible_v<ReassembledTable> &&
              std::is_trivially_destructible_v<Announcement> && std::is_trivially_destructible_v<Packet>);

namespace {

const Node a = samples::host(1), b = samples::host(2), sa = samples::sa();
const build::Link plain{};
constexpr auto mask = McMemberRecord::component::join;

/// Frames a millisecond apart, from 1.
class TestCapture {
public:
    FrameNumber operator()(const PacketBuilder& packet) { return octets(packet.build()); }
    FrameNumber octets(std::vector<std::uint8_t> frame) {
        frame_ = std::move(frame);
        time_ += 1'000'000;
        state.take({.octets = frame_, .sight = {++number_, time_, 0}});
        return static_cast<FrameNumber>(number_);
    }
    void pause(std::int64_t ns) { time_ += ns; }
    /// The frame of the answer.
    FrameNumber exchange(const Node& port, Method method, const Gid& mgid, std::uint8_t join_as,
                         std::uint16_t status = 0) {
        const auto record = build::group_record(port, plain, mgid, 0xc007, join_as);
        (*this)(mc_member(port, sa, method, ++transaction_, record, mask));
        const auto answer = method == Method::del ? Method::delete_resp : Method::get_resp;
        return (*this)(mc_member(sa, port, answer, transaction_, record, mask).set(Mad::status, status));
    }
    FrameNumber join(const Node& port, const Gid& mgid, std::uint8_t join_as = 1) {
        return exchange(port, Method::set, mgid, join_as);
    }
    CaptureState state{{}};

private:
    std::vector<std::uint8_t> frame_;
    std::uint64_t number_ = 0, transaction_ = 0;
    std::int64_t time_ = 0;
};

Gid group(const char* address) { return mgid_for_ipv4(parse_ipv4(address).value(), plain.p_key, plain.scope); }

}  // namespace

TEST_CASE("Capture state: request, answer, report and data lead to each other") {
    TestCapture capture;
    capture.join(a, plain.broadcast_gid());
    const auto joined = capture.join(a, group("239.1.2.3"));
    const auto report = capture(group_report(sa, b, trap::multicast_group_created, group("239.1.2.3")));
    const auto data = capture(udp_to_group(a, parse_ipv4("239.1.2.3").value(), 0xc007, plain, 5));

    CHECK(capture.state.exchange(joined)->request == joined - 1);
    CHECK(capture.state.exchange(joined - 1)->answer == joined);
    CHECK(capture.state.exchange(joined)->asked == Method::set);
    CHECK(capture.state.exchange(report)->cause == joined);
    CHECK(capture.state.exchange(joined)->report == report);
    const auto* conversation = capture.state.conversation(data);
    REQUIRE(conversation);
    CHECK(conversation->joined == joined);
    CHECK(conversation->join_state == join_state::full_member);
    CHECK(conversation->link->learned == 2);
    CHECK(std::string(conversation->link->name) == "fe80::/0xffff");
}

TEST_CASE("Capture state: members come and go with the SA's answers") {
    TestCapture capture;
    const auto came = capture.join(a, group("239.1.2.3"));
    capture.join(b, group("239.1.2.3"), join_state::send_only_non_member);
    const auto went = capture.exchange(a, Method::del, group("239.1.2.3"), 1);
    const auto* conversation = capture.state.conversation(went);
    REQUIRE(conversation);
    const auto& members = *capture.state.members(*conversation->group->group);
    REQUIRE(members.size() == 2);
    CHECK(members[0].from == came);
    CHECK(members[0].to == went);
    CHECK(members[1].to == 0);
    CHECK(members[1].join_state == join_state::send_only_non_member);
}

TEST_CASE("Capture state: a table in many segments is whole in the frame that completes it") {
    TestCapture capture;
    const auto table = testing::records(20);
    FrameNumber last = 0;
    for (const auto& segment : testing::segments(table)) {
        PacketBuilder packet =
            mad(sa, a, MgmtClass::subn_adm, Method::get_table_resp, attribute::mc_member_record, segment.transaction);
        auto octets = segment.mad();
        packet.add(std::vector<std::uint8_t>(octets.begin() + Mad::size, octets.end()));
        last = capture(packet);
    }
    CHECK(last > 3);
    CHECK(!capture.state.table(last - 1));
    REQUIRE(capture.state.table(last));
    CHECK(capture.state.table(last)->records.size() == table.size());
    CHECK(capture.state.table(last)->stride == 56);
}

TEST_CASE("Capture state: what was not done in time is told of the frame that called for it") {
    TestCapture capture;
    const auto comes_up = Bytes<PortInfo>{}
                              .set(PortInfo::gid_prefix, a.gid.prefix())
                              .set(PortInfo::lid, a.lid)
                              .set(PortInfo::port_state, PortState::armed);
    capture(port_info(a, sa, Method::get_resp, comes_up));
    capture.join(a, plain.broadcast_gid());
    const auto listens = capture(igmp(a, igmp_type::report_v2, parse_ipv4("239.1.2.3").value(), 0xc000, plain));
    for (int i = 0; i < 20; ++i) {
        capture.pause(2'000'000'000);
        capture(arp_request(a, b.ipv4, plain));
    }
    const auto* info = capture.state.expert_infos(listens);
    REQUIRE(info);
    while (info->next && info->rule->id != "RULE-RFC4391-10-15") info = info->next;
    CHECK(info->rule->id == "RULE-RFC4391-10-15");
    CHECK(std::string(info->text).find("nothing of it within 30 s") == 0);
}

TEST_CASE("Capture state: what is not decided is told as a suspicion, with its doubt and what settles it") {
    TestCapture capture;
    const auto joins = capture.join(a, plain.broadcast_gid(), join_state::send_only_non_member) - 1;
    capture.state.finish();
    const auto* info = capture.state.expert_infos(joins);
    REQUIRE(info);
    while (info->next && info->rule->id != "RULE-RFC4391-5-02") info = info->next;
    CHECK(info->rule->id == "RULE-RFC4391-5-02");
    CHECK(info->is_suspicion);
    CHECK(std::string(info->text).find("; innocent if another program") != std::string::npos);
    CHECK(std::string(info->text).find("; settled by a capture in which") != std::string::npos);
}

TEST_CASE("Capture state: a frame shown again, or out of order, is not taken twice") {
    TestCapture capture;
    capture.join(a, plain.broadcast_gid());
    const auto octets = udp_to_group(a, parse_ipv4("239.1.2.3").value(), 0xc007, plain, 5).build();
    capture.octets(octets);
    CHECK(capture.state.last() == 3);
    capture.state.take({.octets = octets, .sight = {2, 1, 0}});
    CHECK(capture.state.last() == 3);
    CHECK(!capture.state.conversation(4));
    CHECK(!capture.state.expert_infos(100));
}

TEST_CASE("Capture state: strings for management packets") {
    const auto line = [](const PacketBuilder& builder, const Asked& asked = {}) {
        const auto octets = builder.build();
        Packet packet;
        decode(octets, packet);
        return headline(packet, asked);
    };
    const auto record = build::group_record(a, plain, group("239.1.2.3"), 0xc007, 1);
    const auto refusal = mc_member(sa, a, Method::get_resp, 1, {}, mask).set(Mad::status, sa_status::invalid_request);
    CHECK(line(mc_member(a, sa, Method::set, 1, record, mask)) == "FullMember join of 239.1.2.3");
    CHECK(line(mc_member(sa, a, Method::get_resp, 1, record, mask), {.method = Method::set}) ==
          "FullMember join of 239.1.2.3, done");
    const auto mgid = group("239.1.2.3");
    CHECK(line(refusal, {.group = &mgid, .method = Method::set}) == "Join of 239.1.2.3 refused: ERR_REQ_INVALID");
    CHECK(line(refusal, {.group = &mgid, .method = Method::get}) == "Query of 239.1.2.3 refused: ERR_REQ_INVALID");
    CHECK(line(group_report(sa, b, trap::multicast_group_deleted, group("239.1.2.3"))) == "Group 239.1.2.3 deleted");
    CHECK(line(udp(a, b, plain, 64)).empty());
    CHECK(component_list(mask) == "MGID, PortGID, JoinState");
    CHECK(component_list(0) == "none");
}
