// SPDX-License-Identifier: GPL-2.0-or-later
// Which requests are answered and how; faults on purpose; whatever octets come; a large subnet.
#include "fabric/simulated/sa_test_bench.hpp"

#include <random>

namespace ipoib::fabric {
using namespace testing;

namespace {

constexpr int busy = mad_status::busy, bad_version = mad_status::bad_version,
              unsupported_method = mad_status::unsupported_method,
              unsupported = mad_status::unsupported_method_attribute;

/// Random octets, most of them behind headers that the administrator looks behind.
MadOctets hostile_mad(std::mt19937& random) {
    constexpr std::array attributes{
        attribute::class_port_info,    attribute::inform_info,    attribute::node_record, attribute::port_info_record,
        attribute::p_key_table_record, attribute::service_record, attribute::path_record, attribute::mc_member_record,
        attribute::mc_member_record,   attribute::notice};
    constexpr std::array methods{Method::get, Method::set, Method::get_table, Method::del, Method::report_resp};
    MadOctets mad{};
    for (auto& octet : mad) octet = static_cast<std::uint8_t>(random());
    const MutableOctets all{mad};
    set_field(all, Mad::mgmt_class, MgmtClass::subn_adm);
    if (random() % 8 != 0) {
        set_field(all, Mad::base_version, 1);
        set_field(all, Mad::class_version, 2);
        set_field(all, Mad::method, methods[random() % methods.size()]);
        set_field(all, Mad::attribute_id, attributes[random() % attributes.size()]);
        set_field(all, Mad::transaction_id, random() % 4);
    }
    const auto sa = all.subspan(Mad::size + Rmpp::size), record = all.subspan(SaHeader::data_offset);
    if (random() % 4 != 0) set_field(sa, SaHeader::sm_key, random() % 2);
    if (random() % 2 != 0) {
        std::uint64_t mask = random();
        for (const unsigned shift : {1u, 2u}) mask &= random() >> shift;
        set_field(sa, SaHeader::component_mask, mask);
    }
    if (random() % 4 != 0) set_field(all.subspan(Mad::size), Rmpp::active, false);
    if (random() % 2 != 0) {
        set_field(record, M::mgid, random() % 2 ? group_mgid : broadcast);
        set_field(record, M::port_gid, Bench::gid(1 + random() % 4));
    }
    return mad;
}

}  // namespace

TEST_CASE("An answer goes back the way that its request came") {
    Bench bench;
    bench.add(1);
    auto mad = Bench::request(Method::get, attribute::mc_member_record, C::mgid, Bench::record(1, broadcast, 0).octets,
                              0x1122334455667788);
    bench.node.hca.receive(mad_frame(
        {.slid = Bench::lid(1), .dlid = sm_lid, .sl = 5, .p_key = 0x7fff, .src_qp = 0x123, .dest_qp = 1}, mad));
    const auto all = bench.mail();
    REQUIRE(all.size() == 1);
    CHECK(all[0].dlid == Bench::lid(1));
    CHECK(all[0].dest_qp == 0x123);
    CHECK(all[0].sl == 5);
    CHECK(all[0].q_key == gsi_q_key);
    // A limited member would drop an answer in its own, limited, P_Key.
    CHECK(all[0].p_key == 0xffff);
    CHECK(all[0].header()[Mad::transaction_id] == 0x1122334455667788);
    CHECK(all[0].header()[Mad::method] == Method::get_resp);
}

TEST_CASE("An answer takes the time that it is said to take") {
    Bench bench(SaConfig{.answer_after = std::chrono::microseconds{300}});
    bench.add(1);
    bench.send(1, Bench::request(Method::get, attribute::mc_member_record, 0, {}));
    CHECK(bench.mail().empty());
    CHECK(bench.mail().empty());
    CHECK(bench.mail().size() == 1);
}

TEST_CASE("What the administrator does not do is answered with the reason, or not at all") {
    struct Row {
        const char* what;
        Method method;
        std::uint16_t attribute;
        int status;
    };
    const Row rows[]{
        {"an attribute that it does not have", Method::get, 0x7777, unanswered},
        {"another one", Method::get_table, attribute::sm_info_record, unanswered},
        {"Get(Notice)", Method::get, attribute::notice, unanswered},
        {"Set(PathRecord)", Method::set, attribute::path_record, unsupported},
        {"Delete(NodeRecord)", Method::del, attribute::node_record, unsupported},
        {"Set(P_KeyTableRecord)", Method::set, attribute::p_key_table_record, unsupported},
        {"Set(PortInfoRecord)", Method::set, attribute::port_info_record, unsupported},
        {"Set(ClassPortInfo)", Method::set, attribute::class_port_info, unsupported},
        {"Get(InformInfo)", Method::get, attribute::inform_info, unsupported},
        {"GetMulti(MCMemberRecord)", Method::get_multi, attribute::mc_member_record, unsupported},
        {"GetMulti(ServiceRecord)", Method::get_multi, attribute::service_record, unsupported},
        {"a method that is none", static_cast<Method>(0x33), attribute::class_port_info, unsupported_method},
        {"a Trap", Method::trap, attribute::notice, unanswered},
        {"a Report", Method::report, attribute::notice, unanswered},
        {"an answer", Method::get_resp, attribute::mc_member_record, unanswered},
        {"an answer to no report", Method::report_resp, attribute::notice, unanswered},
    };
    for (const auto& [what, method, attribute, status] : rows) {
        CAPTURE(what);
        Bench bench;
        bench.add(1);
        CHECK(bench.ask(1, Bench::request(method, attribute, 0, {})) == status);
    }
}

TEST_CASE("A class version that is not the SA's is refused") {
    Bench bench;
    bench.add(1);
    auto mad = Bench::request(Method::get, attribute::class_port_info, 0, {});
    set_field(MutableOctets{mad}, Mad::class_version, 1);
    CHECK(bench.ask(1, mad) == bad_version);
}

TEST_CASE("A port that the manager does not know gets no answer") {
    Bench bench;
    bench.add(1);
    CHECK(bench.ask(2, Bench::request(Method::get, attribute::mc_member_record, 0, {})) == unanswered);
}

TEST_CASE("A refusal brings the request's record back") {
    Bench bench;
    bench.add(1);
    REQUIRE(bench.set(1, Bench::record(1, broadcast, 1).set(M::q_key, 0xdead)) == invalid);
    CHECK(bench.answer<M>()[M::q_key] == 0xdead);
    CHECK(bench.last.sa()[SaHeader::attribute_offset] == 0);
}

TEST_CASE("Faults come when they are asked for and leave no trace") {
    Bench bench;
    bench.add(1);
    auto& faults = bench.sa->faults;
    faults.drop_next = 2;
    CHECK(bench.join(1, group_mgid) == unanswered);
    CHECK(bench.join(1, group_mgid) == unanswered);
    CHECK_FALSE(bench.exists(group_mgid));
    faults.busy_next = 1;
    CHECK(bench.join(1, group_mgid) == busy);
    CHECK_FALSE(bench.exists(group_mgid));
    faults.refuse_joins = sa_status::denied;
    CHECK(bench.join(1, group_mgid) == sa_status::denied);
    faults.refuse_only = broadcast;
    CHECK(bench.join(1, broadcast) == sa_status::denied);
    CHECK(bench.join(1, group_mgid) == ok);
    CHECK(bench.leave(1, group_mgid) == ok);
    faults = {};
    faults.is_silent = true;
    CHECK(bench.join(1, group_mgid) == unanswered);
    CHECK_FALSE(bench.exists(group_mgid));
    faults = {};
    faults.delay = std::chrono::seconds{2};
    CHECK(bench.join(1, group_mgid) == unanswered);
    bench.node.loop.run_for(std::chrono::milliseconds{1999});
    CHECK(bench.node.cable.sent.empty());
    bench.node.loop.run_for(std::chrono::milliseconds{1});
    CHECK(bench.mail().size() == 1);
    CHECK(bench.exists(group_mgid));
}

TEST_CASE("An administrator that ends takes its answers along") {
    Bench bench;
    bench.add(1);
    bench.send(1, Bench::request(Method::get, attribute::mc_member_record, 0, {}));
    bench.sa.reset();
    CHECK(bench.mail().empty());
    CHECK(bench.ask(1, Bench::request(Method::get, attribute::mc_member_record, 0, {})) == unanswered);
}

TEST_CASE("More requests than can wait for their answers are dropped") {
    Bench bench;
    bench.add(1);
    bench.sa->faults.delay = std::chrono::seconds{1};
    constexpr std::size_t flood = 20000;
    for (std::size_t i = 0; i < flood; ++i)
        bench.send(1, Bench::request(Method::get, attribute::mc_member_record, 0, {}));
    bench.node.loop.run_for(std::chrono::seconds{2});
    const auto answered = bench.mail().size();
    CHECK(answered > 0);
    CHECK(answered < flood);
    bench.sa->faults = {};
    CHECK(bench.ask(1, Bench::request(Method::get, attribute::mc_member_record, 0, {})) == ok);
}

TEST_CASE("A MAD that is cut short is dropped wherever it is cut") {
    Bench bench;
    bench.add(1);
    const auto whole_frame = mad_frame(
        {.slid = Bench::lid(1), .dlid = sm_lid, .dest_qp = 1},
        Bench::request(Method::set, attribute::mc_member_record, whole, Bench::record(1, group_mgid, 1).octets));
    for (std::size_t length = 0; length < whole_frame.octets().size(); ++length) {
        std::vector<std::uint8_t> cut(whole_frame.octets().begin(),
                                      whole_frame.octets().begin() + static_cast<std::ptrdiff_t>(length));
        const auto words = static_cast<std::uint16_t>(length / 4);
        if (length >= Lrh::size) set_field(MutableOctets{cut}, Lrh::packet_length, words);
        bench.node.hca.receive(Frame{cut});
    }
    CHECK(bench.mail().empty());
    CHECK_FALSE(bench.exists(group_mgid));
}

TEST_CASE("Random octets in a MAD do no harm") {
    Bench bench(SaConfig{.most_groups = 16, .most_subscriptions = 16, .most_services = 16});
    for (unsigned n = 1; n <= 4; ++n) bench.add(n, {0xffff, 0x8001});
    std::mt19937 random{20};
    for (unsigned i = 0; i < 20000; ++i) {
        const auto mad = hostile_mad(random);
        bench.send(1 + random() % 4, mad);
        if (i % 16 == 0) (void)bench.mail();
    }
    bench.node.loop.run_for(std::chrono::seconds{5});
    CHECK(bench.sa->groups().size() <= 16);
    CHECK(bench.sa->subscriptions() <= 16);
    (void)bench.mail();
    CHECK(bench.ask(1, Bench::request(Method::get, attribute::mc_member_record, C::mgid,
                                      Bench::record(1, broadcast, 0).octets)) == ok);
}

TEST_CASE("The same requests bring the same octets") {
    const auto run = [] {
        Bench bench(SaConfig{.seed = 7});
        std::vector<MadOctets> all;
        for (unsigned n = 1; n <= 8; ++n) bench.add(n);
        for (unsigned n = 1; n <= 8; ++n) {
            const auto info = Bytes<InformInfo>{}
                                  .set(InformInfo::lid_range_begin, InformInfo::all)
                                  .set(InformInfo::is_generic, 1)
                                  .set(InformInfo::subscribe, 1)
                                  .set(InformInfo::type, InformInfo::all)
                                  .set(InformInfo::trap_number, trap::all)
                                  .set(InformInfo::producer_type, InformInfo::all_producers);
            bench.send(n, Bench::request(Method::set, attribute::inform_info, 0, info.octets));
            bench.send(n, Bench::request(Method::set, attribute::mc_member_record, whole,
                                         Bench::record(n, mgid_for_ipv4(0xe0000000 + n, 0xffff, 2), 1).octets));
            for (const auto& mail : bench.mail()) all.push_back(mail.mad);
        }
        return all;
    };
    const auto first = run();
    CHECK(first.size() > 16);
    CHECK(first == run());
}

TEST_CASE("A thousand ports join three groups each and find each other, one change of routes a join") {
    Bench bench;
    constexpr unsigned ports = 1000, groups = 3, asks = 10;
    for (unsigned n = 1; n <= ports; ++n) bench.add(n);
    unsigned joined = 0, found = 0;
    for (unsigned n = 1; n <= ports; ++n)
        for (std::uint32_t g = 0; g < groups; ++g)
            joined += bench.join(n, g == 0 ? broadcast : mgid_for_ipv4(0xe0000000 + g, 0xffff, 2)) == ok;
    CHECK(joined == ports * groups);
    CHECK(bench.subnet.route_calls == ports * groups);
    CHECK(bench.subnet.routes[0xc000].to.size() == ports);
    using P = PathRecord;
    for (unsigned n = 1; n <= ports; ++n)
        for (unsigned i = 1; i <= asks; ++i) {
            const auto to = 1 + (n + i * 97) % ports;
            const auto like = Bytes<P>{}.set(P::sgid, Bench::gid(n)).set(P::dgid, Bench::gid(to));
            if (bench.ask(n, Method::get, attribute::path_record, P::component::sgid | P::component::dgid, like) == ok)
                found += bench.answer<P>()[P::dlid] == Bench::lid(to);
        }
    CHECK(found == ports * asks);
}

}  // namespace ipoib::fabric
