// SPDX-License-Identifier: GPL-2.0-or-later
// Subscriptions and reports.
#include "fabric/simulated/sa_test_bench.hpp"

namespace ipoib::fabric {
using namespace testing;
using I = InformInfo;

namespace {

constexpr auto created = trap::multicast_group_created, deleted = trap::multicast_group_deleted;

Bytes<I> wanted(std::uint16_t trap_number) {
    return Bytes<I>{}
        .set(I::lid_range_begin, I::all)
        .set(I::is_generic, 1)
        .set(I::subscribe, 1)
        .set(I::type, I::all)
        .set(I::trap_number, trap_number)
        .set(I::resp_time_value, 18)
        .set(I::producer_type, I::all_producers);
}
/// As it ends: QPN is the subscriber's.
Bytes<I> ended(std::uint16_t trap_number) { return wanted(trap_number).set(I::subscribe, 0).set(I::qpn, 1); }

struct Reported : Bench {
    explicit Reported(SaConfig config = {}) : Bench(config) {
        for (const unsigned n : {1u, 2u, 3u}) add(n);
    }
    int inform(unsigned n, const Bytes<I>& info) { return ask(n, Method::set, attribute::inform_info, 0, info); }
    /// Sends a request and gives the reports that follow it; they are answered unless `is_deaf`.
    std::vector<Mail> reports_after(unsigned n, Method method, const McRecord& record, bool is_deaf = false) {
        send(n, request(method, attribute::mc_member_record, method == Method::set ? whole : C::join, record.octets));
        return collect(is_deaf);
    }
    std::vector<Mail> collect(bool is_deaf = false) {
        std::vector<Mail> reports;
        for (auto all = mail(); !all.empty(); all = mail())
            for (const auto& one : all) {
                if (one.header()[Mad::method] != Method::report) continue;
                reports.push_back(one);
                if (!is_deaf) acknowledge(one);
            }
        return reports;
    }
    void acknowledge(const Mail& report) {
        auto mad = report.mad;
        set_field(MutableOctets{mad}, Mad::method, Method::report_resp);
        send(report.dlid - lid(0), mad);
    }
};

std::uint16_t trap_of(const Mail& mail) { return mail.record<Notice>()[Notice::trap_number]; }

}  // namespace

TEST_CASE("A subscription begins, is confirmed as it was asked for, and ends") {
    Reported bench;
    CHECK(bench.inform(1, wanted(created)) == ok);
    CHECK(bench.answer<I>()[I::trap_number] == created);
    CHECK(bench.answer<I>()[I::subscribe] == 1);
    CHECK(bench.answer<I>()[I::qpn] == 0);
    CHECK(bench.inform(1, wanted(created)) == ok);
    CHECK(bench.sa->subscriptions() == 1);
    CHECK(bench.inform(1, wanted(deleted)) == ok);
    CHECK(bench.inform(2, wanted(created)) == ok);
    CHECK(bench.sa->subscriptions() == 3);
    CHECK(bench.inform(1, ended(created)) == ok);
    CHECK(bench.inform(1, ended(created)) == invalid);
    CHECK(bench.sa->subscriptions() == 2);
}

TEST_CASE("A subscription that is refused is told so") {
    struct Row {
        const char* what;
        Bytes<I> info;
        int status;
    };
    const Row rows[]{
        {"GID of a group", wanted(created).set(I::gid, broadcast), invalid},
        {"GID of a port", wanted(created).set(I::gid, Bench::gid(2)), ok},
        {"one LID", wanted(created).set(I::lid_range_begin, Bench::lid(2)), ok},
        {"LIDs that nobody has", wanted(created).set(I::lid_range_begin, 500), invalid},
        {"Subscribe 2", wanted(created).set(I::subscribe, 2), invalid},
        {"a vendor's notices", wanted(created).set(I::is_generic, 0), ok},
        {"QPN 5", wanted(created).set(I::qpn, 5), ok},
        {"the end of none", ended(created), invalid},
    };
    for (const auto& [what, info, status] : rows) {
        CAPTURE(what);
        Reported bench;
        CHECK(bench.inform(1, info) == status);
        CHECK(bench.sa->subscriptions() == (status == ok));
        if (status != ok) CHECK(bench.answer<I>()[I::subscribe] == 0);
    }
}

TEST_CASE("A subscription ends by the QPN of who has it, with all that it was asked with") {
    Reported bench;
    REQUIRE(bench.inform(1, wanted(created).set(I::qpn, 5)) == ok);
    CHECK(bench.inform(1, ended(created).set(I::qpn, 5)) == invalid);
    CHECK(bench.inform(1, ended(created).set(I::resp_time_value, 19)) == invalid);
    CHECK(bench.inform(2, ended(created)) == invalid);
    CHECK(bench.inform(1, ended(created)) == ok);
}

TEST_CASE("The table of subscriptions is bounded") {
    Reported bench(SaConfig{.most_subscriptions = 2});
    CHECK(bench.inform(1, wanted(created)) == ok);
    CHECK(bench.inform(1, wanted(deleted)) == ok);
    CHECK(bench.inform(2, wanted(created)) == no_resources);
    CHECK(bench.inform(1, ended(created)) == ok);
    CHECK(bench.inform(2, wanted(created)) == ok);
}

TEST_CASE("Beginning and end of a group are reported to those who asked for them") {
    Reported bench;
    REQUIRE(bench.inform(1, wanted(created)) == ok);
    REQUIRE(bench.inform(2, wanted(deleted)) == ok);
    const auto first = bench.reports_after(3, Method::set, Bench::record(3, group_mgid, 1));
    REQUIRE(first.size() == 1);
    CHECK(first[0].dlid == Bench::lid(1));
    CHECK(first[0].dest_qp == 1);
    CHECK(first[0].q_key == gsi_q_key);
    CHECK(first[0].p_key == 0xffff);
    CHECK(first[0].header()[Mad::attribute_id] == attribute::notice);
    const auto notice = first[0].record<Notice>();
    CHECK(notice[Notice::is_generic]);
    CHECK(notice[Notice::type] == 3);
    CHECK(notice[Notice::producer_type] == 4);
    CHECK(notice[Notice::trap_number] == created);
    CHECK(notice[Notice::issuer_lid] == sm_lid);
    CHECK(notice[Notice::issuer_gid] == bench.node.hca.facts().gid);
    CHECK(gid_details(notice)[GidDetails::gid] == group_mgid);

    CHECK(bench.reports_after(2, Method::set, Bench::record(2, group_mgid, 1)).empty());
    CHECK(bench.reports_after(3, Method::del, Bench::record(3, group_mgid, 1)).empty());
    const auto last = bench.reports_after(2, Method::del, Bench::record(2, group_mgid, 1));
    REQUIRE(last.size() == 1);
    CHECK(last[0].dlid == Bench::lid(2));
    CHECK(trap_of(last[0]) == deleted);
    CHECK(gid_details(last[0].record<Notice>())[GidDetails::gid] == group_mgid);
    // They were answered.
    bench.node.loop.run_for(std::chrono::seconds{5});
    CHECK(bench.mail().empty());
    CHECK(bench.sa->subscriptions() == 2);
}

TEST_CASE("What a subscription selects decides whether a report matches") {
    const std::pair<Bytes<I>, bool> rows[]{{wanted(created), true},
                                           {wanted(trap::all), true},
                                           {wanted(deleted), false},
                                           {wanted(created).set(I::type, 3), true},
                                           {wanted(created).set(I::type, 1), false},
                                           {wanted(created).set(I::producer_type, 4), true},
                                           {wanted(created).set(I::producer_type, 2), false},
                                           {wanted(created).set(I::is_generic, 0), false},
                                           {wanted(created).set(I::gid, Bench::gid(2)), false},
                                           {wanted(created).set(I::lid_range_begin, 1).set(I::lid_range_end, 40), true},
                                           {wanted(created).set(I::lid_range_begin, 1), true},
                                           {wanted(created).set(I::lid_range_begin, Bench::lid(1)), false}};
    for (const auto& [info, matches] : rows) {
        CAPTURE(&info - &rows[0].first);
        Reported bench;
        REQUIRE(bench.inform(1, info) == ok);
        CHECK(bench.reports_after(3, Method::set, Bench::record(3, group_mgid, 1)).size() == matches);
    }
}

TEST_CASE("A group in a partition is not reported to a port outside it") {
    Reported bench;
    bench.add(4, {0x8001});
    REQUIRE(bench.inform(1, wanted(created)) == ok);
    REQUIRE(bench.inform(4, wanted(created)) == ok);
    CHECK(bench.reports_after(3, Method::set, Bench::record(3, group_mgid, 1)).size() == 1);
    const auto in_other = Bench::record(4, foreign_mgid, 1).set(M::p_key, 0x8001);
    const auto reports = bench.reports_after(4, Method::set, in_other);
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].dlid == Bench::lid(4));
}

TEST_CASE("A report is repeated until it is answered, three times at most, then the subscription ends") {
    Reported bench;
    REQUIRE(bench.inform(1, wanted(created)) == ok);
    REQUIRE(bench.inform(1, wanted(deleted)) == ok);
    const auto first = bench.reports_after(3, Method::set, Bench::record(3, group_mgid, 1), true);
    REQUIRE(first.size() == 1);
    bench.node.loop.run_for(std::chrono::milliseconds{250});
    const auto second = bench.collect(true);
    REQUIRE(second.size() == 1);
    CHECK(second[0].header()[Mad::transaction_id] == first[0].header()[Mad::transaction_id]);
    bench.node.loop.run_for(std::chrono::milliseconds{250});
    CHECK(bench.collect(true).size() == 1);
    CHECK(bench.sa->subscriptions() == 2);
    bench.node.loop.run_for(std::chrono::seconds{5});
    CHECK(bench.collect(true).empty());
    CHECK(bench.sa->subscriptions() == 1);
}

TEST_CASE("A report that was lost is answered the second time") {
    Reported bench;
    REQUIRE(bench.inform(1, wanted(created)) == ok);
    REQUIRE(bench.reports_after(3, Method::set, Bench::record(3, group_mgid, 1), true).size() == 1);
    bench.node.loop.run_for(std::chrono::milliseconds{250});
    CHECK(bench.collect().size() == 1);
    bench.node.loop.run_for(std::chrono::seconds{5});
    CHECK(bench.collect().empty());
    CHECK(bench.sa->subscriptions() == 1);
}

TEST_CASE("Only the subscriber's own answer ends a report") {
    Reported bench;
    REQUIRE(bench.inform(1, wanted(created)) == ok);
    auto reports = bench.reports_after(3, Method::set, Bench::record(3, group_mgid, 1), true);
    REQUIRE(reports.size() == 1);
    reports[0].dlid = Bench::lid(2);
    bench.acknowledge(reports[0]);
    bench.node.loop.run_for(std::chrono::milliseconds{250});
    CHECK(bench.collect().size() == 1);
}

TEST_CASE("More reports than may be on their way wait and all arrive") {
    Reported bench;
    constexpr unsigned many = 600;
    for (unsigned n = 4; n < many; ++n) bench.add(n);
    for (unsigned n = 1; n < many; ++n) REQUIRE(bench.inform(n, wanted(trap::all)) == ok);
    const auto reports = bench.reports_after(3, Method::set, Bench::record(3, group_mgid, 1));
    CHECK(reports.size() == many - 1);
    std::set<std::uint16_t> lids;
    for (const auto& report : reports) lids.insert(report.dlid);
    CHECK(lids.size() == many - 1);
}

TEST_CASE("OpenSM says of the broadcast group that it begins and ends with its FullMembers") {
    Reported bench;
    REQUIRE(bench.inform(1, wanted(trap::all)) == ok);
    const auto record = Bench::record(3, broadcast, 1);
    CHECK(bench.reports_after(3, Method::set, Bench::record(2, broadcast, 2)).empty());
    auto reports = bench.reports_after(3, Method::set, record);
    REQUIRE(reports.size() == 1);
    CHECK(trap_of(reports[0]) == created);
    reports = bench.reports_after(3, Method::del, record);
    REQUIRE(reports.size() == 1);
    CHECK(trap_of(reports[0]) == deleted);
    CHECK(bench.exists(broadcast));
}

TEST_CASE("Strictly read, the broadcast group that lives on is not reported deleted") {
    Reported bench(SaConfig{.behaviour = {.is_strict = true}});
    REQUIRE(bench.inform(1, wanted(deleted)) == ok);
    const auto record = Bench::record(3, broadcast, 1);
    REQUIRE(bench.reports_after(3, Method::set, record).empty());
    CHECK(bench.reports_after(3, Method::del, record).empty());
}

TEST_CASE("Groups that the administrator makes and ends, and those of a port that vanished, are reported") {
    Reported bench;
    REQUIRE(bench.inform(1, wanted(trap::all)) == ok);
    // Nobody was told of the broadcast group.
    bench.sa->delete_group(broadcast);
    CHECK(bench.collect().empty());
    bench.sa->create_broadcast_group({});
    REQUIRE(bench.sa->create_group(group_mgid, {}));
    auto reports = bench.collect();
    REQUIRE(reports.size() == 1);
    CHECK(trap_of(reports[0]) == created);
    CHECK(bench.reports_after(2, Method::set, Bench::record(2, group_mgid, 1)).empty());
    CHECK(bench.reports_after(3, Method::set, Bench::record(3, group_mgid, 2)).empty());
    CHECK(bench.reports_after(3, Method::del, Bench::record(3, group_mgid, 2)).empty());
    bench.sa->delete_group(group_mgid);
    reports = bench.collect();
    REQUIRE(reports.size() == 1);
    CHECK(trap_of(reports[0]) == deleted);
    REQUIRE(bench.reports_after(3, Method::set, Bench::record(3, foreign_mgid, 8)).size() == 1);
    bench.sa->port_vanished(Bench::gid(3));
    reports = bench.collect();
    REQUIRE(reports.size() == 1);
    CHECK(trap_of(reports[0]) == deleted);
}

TEST_CASE("Subscriptions end with their port and with a restart") {
    Reported bench;
    REQUIRE(bench.inform(1, wanted(created)) == ok);
    REQUIRE(bench.inform(2, wanted(created)) == ok);
    REQUIRE(bench.reports_after(3, Method::set, Bench::record(3, group_mgid, 1), true).size() == 2);
    bench.sa->port_vanished(Bench::gid(1));
    CHECK(bench.sa->subscriptions() == 1);
    bench.sa->forget_all();
    CHECK(bench.sa->subscriptions() == 0);
    bench.node.loop.run_for(std::chrono::seconds{5});
    CHECK(bench.collect().empty());
}

}  // namespace ipoib::fabric
