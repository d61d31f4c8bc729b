// SPDX-License-Identifier: GPL-2.0-or-later
// PathRecord. Statuses and values as OpenSM 3.3.23 gives them.
#include "fabric/simulated/sa_parameters.hpp"
#include "fabric/simulated/sa_test_bench.hpp"

namespace ipoib::fabric {
using namespace testing;
using P = PathRecord;
using PC = P::component;

namespace {

constexpr auto pair_of_gids = PC::sgid | PC::dgid;

Bytes<P> path(unsigned from, unsigned to) {
    return Bytes<P>{}
        .set(P::sgid, Bench::gid(from))
        .set(P::dgid, Bench::gid(to))
        .set(P::slid, Bench::lid(from))
        .set(P::dlid, Bench::lid(to))
        .set(P::reversible, true)
        .set(P::number_of_paths, 1)
        .set(P::p_key, 0xffff);
}

int get(Bench& bench, std::uint64_t mask, const Bytes<P>& like) {
    return bench.ask(1, Method::get, attribute::path_record, mask, like);
}

/// Ports 1 to 3 in the default partition, 1 and 2 in 0x0001 (2 as limited member), 4 only there.
struct FourPorts : Bench {
    FourPorts() {
        add(1, {0xffff, 0x8001});
        add(2, {0xffff, 0x0001});
        add(3, {0xffff}, 3, 2);
        add(4, {0x0001});
    }
};

}  // namespace

TEST_CASE("A path has both ends, the lesser MTU and rate, and no hops") {
    FourPorts bench;
    REQUIRE(get(bench, pair_of_gids | PC::p_key | PC::reversible | PC::number_of_paths, path(1, 3)) == ok);
    const auto answer = bench.answer<P>();
    CHECK(answer[P::sgid] == Bench::gid(1));
    CHECK(answer[P::dgid] == Bench::gid(3));
    CHECK(answer[P::slid] == Bench::lid(1));
    CHECK(answer[P::dlid] == Bench::lid(3));
    CHECK(answer[P::mtu] == 3);
    CHECK(answer[P::rate] == 2);
    CHECK(answer[P::mtu_selector] == selector::exactly);
    CHECK(answer[P::rate_selector] == selector::exactly);
    CHECK(answer[P::lifetime] == 18);
    CHECK(answer[P::hop_limit] == 0);
    CHECK(answer[P::reversible]);
    CHECK(answer[P::number_of_paths] == 0);
    CHECK(answer[P::p_key] == 0xffff);
    CHECK(bench.last.sa()[SaHeader::attribute_offset] == 8);
}

TEST_CASE("A request for a path is answered by what it gives") {
    struct Row {
        const char* what;
        std::uint64_t mask;
        std::function<void(Bytes<P>&)> change;
        int status;
    };
    const auto foreign = [](unsigned n) { return Gid::of(0x2000000000000000, Bench::gid(n).interface_id()); };
    const Row rows[]{
        {"LIDs", PC::slid | PC::dlid, {}, ok},
        {"source only", PC::sgid, {}, ok},
        {"destination only", PC::dgid, {}, ok},
        {"nothing", 0, {}, ok},
        {"unknown DGID", pair_of_gids, [](auto& p) { p.set(P::dgid, Gid::of(default_prefix, 7)); }, no_records},
        {"unknown SGID", pair_of_gids, [](auto& p) { p.set(P::sgid, Gid::of(default_prefix, 7)); }, no_records},
        {"DGID of another subnet", pair_of_gids, [&](auto& p) { p.set(P::dgid, foreign(2)); }, no_records},
        {"unknown DLID", PC::slid | PC::dlid, [](auto& p) { p.set(P::dlid, 99); }, no_records},
        {"DGID with another's DLID", PC::dgid | PC::dlid, [](auto& p) { p.set(P::dlid, Bench::lid(3)); }, invalid},
        {"P_Key", pair_of_gids | PC::p_key, {}, ok},
        {"P_Key that neither has", pair_of_gids | PC::p_key, [](auto& p) { p.set(P::p_key, 0x8055); }, no_records},
        {"half of a ServiceID", pair_of_gids | 1, {}, insufficient},
        {"MTU above", pair_of_gids | PC::mtu | PC::mtu_selector, [](auto& p) { p.set(P::mtu, 4); }, no_records},
        {"MTU that is none", pair_of_gids | PC::mtu | PC::mtu_selector, [](auto& p) { p.set(P::mtu, 9); }, invalid},
        {"MTU selector alone", pair_of_gids | PC::mtu_selector, [](auto& p) { p.set(P::mtu, 5); }, ok},
        {"rate that the path has not", pair_of_gids | PC::rate | PC::rate_selector,
         [](auto& p) { p.set(P::rate, 2).set(P::rate_selector, selector::exactly); }, no_records},
        {"port without a common partition", PC::dgid, [](auto& p) { p.set(P::dgid, Bench::gid(9)); }, no_records},
    };
    for (const auto& [what, mask, change, status] : rows) {
        CAPTURE(what);
        FourPorts bench;
        bench.add(9, {0x8055});
        auto like = path(1, 2);
        if (change) change(like);
        CHECK(get(bench, mask, like) == status);
    }
}

TEST_CASE("Without P_Key in the mask the first partition that both share is chosen") {
    FourPorts bench;
    REQUIRE(get(bench, pair_of_gids, path(1, 2)) == ok);
    CHECK(bench.answer<P>()[P::p_key] == 0x8001);
    REQUIRE(get(bench, pair_of_gids, path(2, 1)) == ok);
    CHECK(bench.answer<P>()[P::p_key] == 0x0001);
    // Two limited members of a partition cannot communicate in it.
    REQUIRE(get(bench, pair_of_gids, path(2, 4)) == no_records);
    REQUIRE(get(bench, pair_of_gids | PC::p_key, path(2, 4).set(P::p_key, 0x8001)) == no_records);
    REQUIRE(get(bench, pair_of_gids | PC::p_key, path(1, 4).set(P::p_key, 0x8001)) == ok);
}

TEST_CASE("A limited member is told of the path to a full one, and of none to a limited one, as itself is") {
    FourPorts bench;
    const auto own = pair_of_gids | PC::p_key;
    CHECK(bench.ask(4, Method::get, attribute::path_record, own, path(4, 1).set(P::p_key, 0x0001)) == ok);
    CHECK(bench.ask(4, Method::get, attribute::path_record, own, path(4, 4).set(P::p_key, 0x0001)) == no_records);
    CHECK(bench.ask(4, Method::get, attribute::path_record, own, path(4, 2).set(P::p_key, 0x0001)) == no_records);
}

TEST_CASE("A path through a router has its SL, and the link's TClass and FlowLabel unless others are asked for") {
    FourPorts bench;
    bench.sa->create_broadcast_group({.p_key = 0x8001, .sl = 3, .traffic_class = 0x20, .flow_label = 0x12345});
    const auto routed = Gid::of(0x2000000000000000, 5);
    bench.sa->set_route(routed, Bench::lid(2), 6);
    const auto like = path(1, 2).set(P::p_key, 0x8001).set(P::dgid, routed).set(P::traffic_class, 0x40).set(P::sl, 1);
    REQUIRE(get(bench, pair_of_gids | PC::p_key, like) == ok);
    CHECK(bench.answer<P>()[P::sl] == 6);
    CHECK(bench.answer<P>()[P::traffic_class] == 0x20);
    CHECK(bench.answer<P>()[P::flow_label] == 0x12345);
    REQUIRE(get(bench, pair_of_gids | PC::p_key | PC::traffic_class | PC::sl, like) == ok);
    CHECK(bench.answer<P>()[P::sl] == 1);
    CHECK(bench.answer<P>()[P::traffic_class] == 0x40);
    REQUIRE(get(bench, pair_of_gids | PC::p_key, path(1, 2).set(P::p_key, 0x8001)) == ok);
    CHECK(bench.answer<P>()[P::sl] == 3);
    CHECK(bench.answer<P>()[P::flow_label] == 0);
}

TEST_CASE("A path has the SL of its partition's link unless another is asked for") {
    FourPorts bench;
    bench.sa->create_broadcast_group({.p_key = 0x8001, .sl = 3});
    REQUIRE(get(bench, pair_of_gids | PC::p_key, path(1, 2).set(P::p_key, 0x8001)) == ok);
    CHECK(bench.answer<P>()[P::sl] == 3);
    REQUIRE(get(bench, pair_of_gids | PC::p_key, path(1, 2)) == ok);
    CHECK(bench.answer<P>()[P::sl] == 0);
    REQUIRE(get(bench, pair_of_gids | PC::sl, path(1, 2).set(P::sl, 5)) == ok);
    CHECK(bench.answer<P>()[P::sl] == 5);
}

TEST_CASE("A link that a join set up gives its SL to paths too") {
    Bench bench;
    bench.add(1, {0x8001});
    bench.add(2, {0x8001});
    const auto link = Bench::record(1, broadcast_gid(0x8001, 2), 1).set(M::p_key, 0x8001).set(M::sl, 6);
    REQUIRE(bench.set(1, link) == ok);
    REQUIRE(get(bench, pair_of_gids, path(1, 2)) == ok);
    CHECK(bench.answer<P>()[P::sl] == 6);
}

TEST_CASE("A path's MTU may be made smaller, its lifetime too") {
    FourPorts bench;
    const auto asks = [&](std::uint8_t how, std::uint8_t mtu) {
        const auto like = path(1, 2).set(P::mtu_selector, how).set(P::mtu, mtu);
        return get(bench, pair_of_gids | PC::mtu | PC::mtu_selector, like) == ok ? int{bench.answer<P>()[P::mtu]} : -1;
    };
    CHECK(asks(selector::exactly, 3) == 3);
    CHECK(asks(selector::exactly, 5) == -1);
    CHECK(asks(selector::less, 4) == 3);
    CHECK(asks(selector::less, 5) == 4);
    CHECK(asks(selector::less, 1) == -1);
    CHECK(asks(selector::greater, 3) == 4);
    CHECK(asks(selector::largest, 1) == 4);
    const auto lifetime = [&](std::uint8_t how, std::uint8_t asked) {
        const auto like = path(1, 2).set(P::lifetime_selector, how).set(P::lifetime, asked);
        const auto mask = pair_of_gids | PC::lifetime | PC::lifetime_selector;
        return get(bench, mask, like) == ok ? int{bench.answer<P>()[P::lifetime]} : -1;
    };
    CHECK(lifetime(selector::less, 10) == 9);
    CHECK(lifetime(selector::less, 20) == 18);
    CHECK(lifetime(selector::greater, 18) == -1);
    CHECK(lifetime(selector::exactly, 5) == 5);
    REQUIRE(get(bench, pair_of_gids, path(1, 1)) == ok);
    CHECK(bench.answer<P>()[P::lifetime] == 0);
}

TEST_CASE("A table of paths has every pair that its ends allow") {
    FourPorts bench;
    const auto count = [&](std::uint64_t mask, const Bytes<P>& like) {
        return bench.table<P>(1, attribute::path_record, mask, like).size();
    };
    CHECK(count(pair_of_gids, path(1, 2)) == 1);
    CHECK(count(PC::sgid, path(1, 2)) == 4);
    CHECK(count(PC::dgid, path(1, 3)) == 3);
    CHECK(count(PC::sgid | PC::number_of_paths, path(1, 2).set(P::number_of_paths, 0)) == 0);
    CHECK(count(pair_of_gids, path(1, 2).set(P::dgid, Gid::of(default_prefix, 7))) == 0);
    // 3 * 3 of the default partition, port 4 with 1 both ways, and neither with itself nor with 2.
    CHECK(count(0, {}) == 11);
}

TEST_CASE("A path to a group has the group's parameters") {
    FourPorts bench;
    REQUIRE(bench.join(1, broadcast) == ok);
    const auto to_group = path(1, 2).set(P::dgid, broadcast).set(P::p_key, 0xffff);
    REQUIRE(get(bench, pair_of_gids | PC::p_key, to_group) == ok);
    CHECK(bench.answer<P>()[P::dlid] == 0xc000);
    CHECK(bench.answer<P>()[P::sgid] == Bench::gid(1));
    CHECK(bench.answer<P>()[P::mtu] == 4);
    CHECK_FALSE(bench.answer<P>()[P::reversible]);
    CHECK(bench.answer<P>()[P::number_of_paths] == 1);
    CHECK(get(bench, PC::dgid | PC::sl, path(1, 2).set(P::dgid, broadcast).set(P::sl, 3)) == no_records);
    CHECK(get(bench, PC::dgid, path(1, 2).set(P::dgid, group_mgid)) == no_records);
    CHECK(get(bench, pair_of_gids, path(2, 1).set(P::dgid, broadcast)) == no_records);
}

TEST_CASE("Rates are compared by speed, not by code") {
    using namespace sa;
    CHECK(lesser(rate_quantity, 5, 3) == 5);
    CHECK(lesser(rate_quantity, 10, 16) == 16);
    CHECK(fulfils(rate_quantity, selector::greater, 5, 3));
    CHECK_FALSE(fulfils(rate_quantity, selector::less, 4, 4));
    CHECK(fulfils(rate_quantity, selector::exactly, 12, 12));
    CHECK(rate_quantity.rank(1) == 0);
    CHECK(rate_quantity.rank(26) == 0);
    for (const auto& [code, name] : rate_names) {
        CAPTURE(name);
        const auto rank = rate_quantity.rank(static_cast<std::uint8_t>(code));
        CHECK(rank != 0);
        CHECK(rate_quantity.code(rank) == code);
    }
}

TEST_CASE("A table of paths tells of routed GIDs too, a path to one GID of that one") {
    FourPorts bench;
    const auto routed = Gid::of(0x2000000000000000, 5);
    bench.sa->set_route(routed, Bench::lid(2));
    const auto leads_there = [&](const Bytes<P>& one) { return one[P::dgid] == routed; };
    const auto all = bench.table<P>(1, attribute::path_record, PC::sgid, path(1, 2));
    REQUIRE(std::ranges::count_if(all, leads_there) == 1);
    const auto& record = *std::ranges::find_if(all, leads_there);
    CHECK(record[P::dlid] == Bench::lid(2));
    CHECK(record[P::hop_limit] == 64);
    const auto one = bench.table<P>(1, attribute::path_record, pair_of_gids, path(1, 2));
    CHECK(std::ranges::none_of(one, leads_there));
    bench.sa->set_route(routed, 0);
    CHECK(std::ranges::none_of(bench.table<P>(1, attribute::path_record, PC::sgid, path(1, 2)), leads_there));
}

}  // namespace ipoib::fabric
