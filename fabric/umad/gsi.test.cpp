// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/umad/gsi.hpp"

#include "fabric/node/test_administrator.hpp"
#include "fabric/umad/port.hpp"
#include "protocol/wire/notice.hpp"

#include <deque>
#include <stdexcept>

namespace ipoib::fabric {
namespace {

using namespace testing;

/// What a test lets the MAD layer say and sees it send.
struct Device : MadDevice {
    PortFacts facts() override {
        return {.is_active = true, .lid = test_lid, .sm_lid = test_sm_lid, .gid = {}, .p_keys = {0xffff}};
    }
    std::string send(const MadPath& path, const MadOctets& mad, Duration patience) override {
        sent.push_back({path, mad, patience});
        if (answers) answers(mad);
        return {};
    }
    std::optional<ReceivedMad> receive() override {
        if (is_gone) throw std::runtime_error("gone");
        if (arrived.empty()) return {};
        auto first = std::move(arrived.front());
        arrived.pop_front();
        return first;
    }
    int descriptor() const noexcept override { return -1; }
    bool hears_reports() const noexcept override { return true; }

    void arrive(std::vector<std::uint8_t> octets, bool is_own = false) {
        arrived.push_back(
            {.path = {.slid = test_sm_lid, .dlid = test_lid}, .octets = std::move(octets), .is_own = is_own});
    }
    /// An answer as long as the MAD layer says it is: the headers, RMPP active, and `data`.
    void arrive_table(const MadOctets& request, RmppType type, Octets data) {
        auto head = answer_to(request);
        const auto rmpp = MutableOctets{head}.subspan(Mad::size);
        set_field(rmpp, Rmpp::active, true);
        set_field(rmpp, Rmpp::type, type);
        set_field(rmpp.subspan(Rmpp::size), SaHeader::attribute_offset, record_size / 8);
        std::vector<std::uint8_t> octets{head.begin(), head.begin() + SaHeader::data_offset};
        octets.insert(octets.end(), data.begin(), data.end());
        arrive(std::move(octets));
    }

    struct Sent {
        MadPath path;
        MadOctets mad;
        Duration patience;
    };
    std::vector<Sent> sent;
    std::deque<ReceivedMad> arrived;
    std::function<void(const MadOctets&)> answers;
    bool is_gone = false;
};

struct Place {
    Loop loop;
    Device device;
    UmadGsi gsi{loop, device};
    UmadPort port{gsi};
};

std::vector<std::uint8_t> octets_of(const MadOctets& mad) { return {mad.begin(), mad.end()}; }

TEST_CASE("MAD layer: a request goes to the SA and its answer comes back") {
    Place place;
    place.device.answers = [&](const MadOctets& request) {
        place.device.arrive(octets_of(answer_to(request, sa_status::invalid_request, records(1))));
    };
    const auto answer = place.port.ask_sa(get_member, 1s);
    CHECK(answer.is_answered);
    CHECK_FALSE(answer.is_cut);
    CHECK(answer.status == sa_status::invalid_request);
    REQUIRE(place.device.sent.size() == 1);
    const auto& sent = place.device.sent[0];
    CHECK(sent.path.dlid == test_sm_lid);
    CHECK(sent.path.slid == test_lid);
    CHECK(sent.path.p_key == 0xffff);
    CHECK(sent.patience == 1s);
}

TEST_CASE("MAD layer: an SA that is silent is asked three times, what comes back unanswered is no answer") {
    Place place;
    place.device.answers = [&](const MadOctets& request) { place.device.arrive(octets_of(answer_to(request)), true); };
    CHECK_FALSE(place.port.ask_sa(get_member, 1s).is_answered);
    CHECK(place.loop.now() == 3s);
    CHECK(place.device.sent.size() == 3);
}

TEST_CASE("MAD layer: a table that it put together is whole, and nothing is acknowledged") {
    Place place;
    const auto table = records(GENERATE(std::size_t{0}, 1u, 3u, 4u, 25u, 100u, 1000u));
    place.device.answers = [&](const MadOctets& request) { place.device.arrive_table(request, RmppType::data, table); };
    const auto answer = place.port.ask_sa(get_table, 1s);
    CHECK(answer.is_ok());
    CHECK_FALSE(answer.is_cut);
    CHECK(answer.record_size == record_size);
    CHECK(answer.data == table);
    CHECK(place.device.sent.size() == 1);
}

TEST_CASE("MAD layer: a table in one MAD ends with its last record, one that fills the MAD may be cut") {
    Place place;
    std::size_t count = 0;
    place.device.answers = [&](const MadOctets& request) {
        auto data = records(count);
        data.resize(std::min<std::size_t>(data.size(), 200));
        place.device.arrive_table(request, RmppType::none, data);
    };
    for (count = 0; count < 4; ++count) {
        const auto answer = place.port.ask_sa(get_table, 1s);
        CHECK(answer.is_ok());
        CHECK_FALSE(answer.is_cut);
        CHECK(answer.data == records(count));
    }
    CHECK(place.port.ask_sa(get_table, 1s).is_cut);
}

TEST_CASE("MAD layer: segments add up as those on the wire") {
    const auto request = MadOctets{};
    const auto table = records(20);
    auto whole = octets_of(segment_of(request, table, 1));
    whole.resize(SaHeader::data_offset);
    whole.insert(whole.end(), table.begin(), table.end());
    const auto segments = segments_of(whole);
    REQUIRE(segments.size() == 6);
    for (std::uint32_t number = 1; number <= 6; ++number)
        CHECK(segments[number - 1] == segment_of(request, table, number));
}

TEST_CASE("MAD layer: octets that are no MAD of the SA harm nobody") {
    Place place;
    std::size_t shown = 0;
    place.gsi.tap = [&](const Frame&, bool) { ++shown; };
    for (const std::size_t size : {0u, 1u, 23u, 24u, 35u, 36u, 55u, 56u, 57u, 255u, 256u, 257u, 5000u}) {
        place.device.arrive(std::vector<std::uint8_t>(size));
        place.device.arrive(std::vector<std::uint8_t>(size, 0xff));
    }
    place.loop.run_for(10ms);
    CHECK(place.device.arrived.empty());
    // Those that have a MAD's header.
    CHECK(shown == 20);
    CHECK(place.device.sent.empty());
    CHECK(place.gsi.problem().empty());
}

TEST_CASE("MAD layer: a flood does not stop the clock") {
    Place place;
    for (int i = 0; i < 1000; ++i) place.device.arrive(std::vector<std::uint8_t>(256));
    place.loop.run_for(1ms);
    CHECK(place.device.arrived.size() == 744);
}

TEST_CASE("MAD layer: a table without an end is not waited for longer than an answer") {
    Place place;
    place.device.answers = [&](const MadOctets& request) {
        place.device.arrive_table(request, RmppType::data, std::vector<std::uint8_t>(std::size_t{2} << 20));
    };
    CHECK_FALSE(place.port.ask_sa(get_table, 1s).is_answered);
    CHECK(place.loop.now() < 4s);
}

TEST_CASE("MAD layer: a report is told of and answered") {
    Place place;
    std::vector<std::uint16_t> traps;
    place.port.on_report([&](View<Notice> notice) { traps.push_back(notice[Notice::trap_number]); });
    MadOctets report{};
    const MutableOctets all{report};
    set_field(all, Mad::base_version, 1);
    set_field(all, Mad::mgmt_class, MgmtClass::subn_adm);
    set_field(all, Mad::method, Method::report);
    set_field(all, Mad::attribute_id, attribute::notice);
    set_field(all.subspan(SaHeader::data_offset), Notice::is_generic, true);
    set_field(all.subspan(SaHeader::data_offset), Notice::trap_number, trap::multicast_group_created);
    place.device.arrive(octets_of(report));
    place.loop.run_for(10ms);
    CHECK(traps == std::vector{trap::multicast_group_created});
    REQUIRE(place.device.sent.size() == 1);
    CHECK(header(place.device.sent[0].mad)[Mad::method] == Method::report_resp);
    CHECK(place.device.sent[0].path.dlid == test_sm_lid);
    CHECK(place.device.sent[0].patience == 0s);
}

TEST_CASE("MAD layer: every MAD of either way is shown as a frame") {
    Place place;
    std::vector<bool> sent;
    place.gsi.tap = [&](const Frame& frame, bool is_sent) {
        Packet packet;
        decode(frame.octets(), packet);
        CHECK(packet.mc_member);
        CHECK(packet.lrh[Lrh::slid] == (is_sent ? test_lid : test_sm_lid));
        sent.push_back(is_sent);
    };
    place.device.answers = [&](const MadOctets& request) { place.device.arrive(octets_of(answer_to(request))); };
    (void)place.port.ask_sa(get_member, 1s);
    CHECK(sent == std::vector{true, false});
}

TEST_CASE("MAD layer: when the device is gone, nobody is asked any more") {
    Place place;
    place.device.is_gone = true;
    place.loop.run_for(10ms);
    CHECK(place.gsi.problem() == "gone");
    CHECK_FALSE(place.port.ask_sa(get_member, 1s).is_answered);
    CHECK(place.device.sent.empty());
    CHECK(place.loop.now() == 10ms);
}

TEST_CASE("MAD layer: there is no way for data") {
    Place place;
    CHECK_THAT(place.port.send(std::vector<std::uint8_t>(100)), ContainsSubstring("management datagrams only"));
    CHECK_THAT(place.port.attach({}, 0xc000), ContainsSubstring("management datagrams only"));
    CHECK(place.port.facts().qpn == 0);
}

TEST_CASE("MAD layer: the port's MTU is the SA's to tell") {
    Place place;
    CHECK_THAT(place.port.learn_mtu(1, 1s), ContainsSubstring("does not answer"));
    place.device.answers = [&](const MadOctets& request) {
        place.device.arrive(octets_of(answer_to(request, sa_status::no_records)));
    };
    CHECK_THAT(place.port.learn_mtu(1, 1s), ContainsSubstring("0x0300"));
    place.device.answers = [&](const MadOctets& request) {
        auto answer = answer_to(request);
        constexpr std::size_t head = 4;
        set_field(MutableOctets{answer}.subspan(SaHeader::data_offset + head), PortInfo::neighbor_mtu, 5);
        place.device.arrive(octets_of(answer));
    };
    CHECK(place.port.learn_mtu(1, 1s).empty());
    CHECK(place.port.facts().mtu == 5);
}

}  // namespace
}  // namespace ipoib::fabric
