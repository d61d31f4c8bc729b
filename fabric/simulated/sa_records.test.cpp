// SPDX-License-Identifier: GPL-2.0-or-later
// Questions: groups and members, ports, services, the administrator itself. Statuses as OpenSM 3.3.23 gives them.
#include "fabric/simulated/sa_records.hpp"
#include "fabric/simulated/sa_test_bench.hpp"
#include "protocol/wire/class_port_info.hpp"
#include "protocol/wire/p_key_table_record.hpp"
#include "protocol/wire/registry.hpp"

namespace ipoib::fabric {
using namespace testing;

namespace {

int get(Bench& bench, unsigned n, std::uint64_t mask, const McRecord& like) {
    return bench.ask(n, Method::get, attribute::mc_member_record, mask, like);
}

/// A question with an SM_Key.
MadOctets keyed(Method method, std::uint64_t mask, const McRecord& like, std::uint64_t key) {
    auto mad = Bench::request(method, attribute::mc_member_record, mask, like.octets);
    set_field(MutableOctets{mad}.subspan(Mad::size + Rmpp::size), SaHeader::sm_key, key);
    return mad;
}

Bytes<ServiceRecord> service(unsigned n) {
    return Bytes<ServiceRecord>{}
        .set(ServiceRecord::service_id, 0x1000)
        .set(ServiceRecord::service_gid, Bench::gid(n))
        .set(ServiceRecord::service_p_key, 0xffff)
        .set(ServiceRecord::service_lease, 100)
        .set(ServiceRecord::service_key, {0xab})
        .set(ServiceRecord::service_name, {'n', 'a', 'm', 'e'})
        .set(ServiceRecord::data8, {1, 2, 3});
}

/// Two ports that said what they are, and one that shares no partition with them.
struct DescribedPorts : Bench {
    DescribedPorts() {
        for (const unsigned n : {1u, 2u}) {
            auto& port = add(n);
            port.description = "node " + std::to_string(n);
            const auto info = Bytes<NodeInfo>{}.set(NodeInfo::node_type, 1).set(NodeInfo::port_guid, port.port_guid);
            port.node_info.assign(info.octets.begin(), info.octets.end());
            const auto of_port = Bytes<PortInfo>{}.set(PortInfo::m_key, 99).set(PortInfo::lid, port.lid);
            port.port_info.assign(of_port.octets.begin(), of_port.octets.end());
        }
        add(3, {0x8001});
    }
};

}  // namespace

TEST_CASE("A Get of a group is one record without member, whoever is one") {
    Bench bench;
    for (const unsigned n : {1u, 2u}) {
        bench.add(n);
        REQUIRE(bench.join(n, broadcast) == ok);
    }
    CHECK(get(bench, 1, C::mgid, Bench::record(1, broadcast, 0)) == ok);
    const auto answer = bench.answer<M>();
    CHECK(answer[M::port_gid].is_zero());
    CHECK(answer[M::join_state] == 0);
    CHECK(answer[M::mlid] == 0xc000);
    CHECK(answer[M::q_key] == 0x0b1b);
    CHECK(answer[M::mtu] == 4);
    CHECK(answer[M::mtu_selector] == selector::exactly);
    CHECK(answer[M::lifetime] == 17);
}

TEST_CASE("A Get must find exactly one group") {
    Bench bench;
    bench.add(1);
    bench.add(2, {0x8001});
    CHECK(get(bench, 1, C::mgid, Bench::record(1, group_mgid, 0)) == no_records);
    CHECK(get(bench, 1, 0, {}) == ok);
    REQUIRE(bench.join(1, group_mgid) == ok);
    CHECK(get(bench, 1, 0, {}) == too_many);
    CHECK(get(bench, 1, C::mlid, McRecord{}.set(M::mlid, 0xc001)) == ok);
    CHECK(bench.answer<M>()[M::mgid] == group_mgid);
    // A port outside the partition sees nothing of it.
    CHECK(get(bench, 2, C::mgid, Bench::record(2, broadcast, 0)) == no_records);
}

TEST_CASE("Each component narrows a question about groups") {
    Bench bench;
    bench.add(1);
    const auto like = Bench::record(1, broadcast, 0).set(M::mlid, 0xc000);
    const std::pair<std::uint64_t, std::function<void(McRecord&)>> rows[]{
        {C::q_key, [](auto& r) { r.set(M::q_key, 1); }},
        {C::mlid, [](auto& r) { r.set(M::mlid, 1); }},
        {C::traffic_class, [](auto& r) { r.set(M::traffic_class, 1); }},
        {C::p_key, [](auto& r) { r.set(M::p_key, 1); }},
        {C::sl, [](auto& r) { r.set(M::sl, 1); }},
        {C::flow_label, [](auto& r) { r.set(M::flow_label, 1); }},
        {C::hop_limit, [](auto& r) { r.set(M::hop_limit, 1); }},
        {C::scope, [](auto& r) { r.set(M::scope, 5); }},
        {C::mtu | C::mtu_selector, [](auto& r) { r.set(M::mtu, 5); }},
        {C::rate | C::rate_selector, [](auto& r) { r.set(M::rate, 6); }}};
    for (const auto& [component, change] : rows) {
        CAPTURE(component);
        CHECK(get(bench, 1, C::mgid | component, like) == ok);
        auto other = like;
        change(other);
        CHECK(get(bench, 1, C::mgid | component, other) == no_records);
        CHECK(get(bench, 1, C::mgid, other) == ok);
    }
    // The membership bit, the lifetime and ProxyJoin are not compared.
    auto same = like;
    same.set(M::p_key, 0x7fff).set(M::lifetime, 3).set(M::proxy_join, true);
    CHECK(get(bench, 1, C::mgid | C::p_key | C::lifetime | C::lifetime_selector | C::proxy_join, same) == ok);
    CHECK(get(bench, 1, C::mgid | C::mtu | C::mtu_selector, McRecord{like}.set(M::mtu, 6)) == invalid);
}

TEST_CASE("A table tells each member with its join states to those who are trusted") {
    Bench bench;
    for (const unsigned n : {1u, 2u}) bench.add(n);
    REQUIRE(bench.join(1, group_mgid) == ok);
    REQUIRE(bench.join(2, group_mgid, 4) == ok);
    const auto all = bench.table<M>(1, attribute::mc_member_record);
    REQUIRE(all.size() == 3);
    CHECK(all[0][M::mgid] == group_mgid);
    CHECK(all[0][M::port_gid] == Bench::gid(1));
    CHECK(all[0][M::join_state] == 1);
    CHECK(all[1][M::port_gid] == Bench::gid(2));
    CHECK(all[1][M::join_state] == 4);
    // The broadcast group has no member.
    CHECK(all[2][M::mgid] == broadcast);
    CHECK(all[2][M::port_gid].is_zero());
    const auto senders =
        bench.table<M>(1, attribute::mc_member_record, C::mgid | C::join_state, Bench::record(1, group_mgid, 4));
    REQUIRE(senders.size() == 1);
    CHECK(senders[0][M::port_gid] == Bench::gid(2));
    CHECK(bench.table<M>(1, attribute::mc_member_record, C::mgid, Bench::record(1, foreign_mgid, 0)).empty());
    CHECK(get(bench, 1, C::mgid | C::port_gid, Bench::record(2, group_mgid, 0)) == ok);
    CHECK(bench.answer<M>()[M::join_state] == 4);
    CHECK(get(bench, 1, C::mgid | C::port_gid, Bench::record(2, broadcast, 0)) == no_records);
}

TEST_CASE("Without trust a table has one record a group and hides its members") {
    Bench bench(SaConfig{.trusts_everyone = false});
    for (const unsigned n : {1u, 2u}) {
        bench.add(n);
        REQUIRE(bench.join(n, group_mgid) == ok);
    }
    const auto all = bench.table<M>(1, attribute::mc_member_record);
    REQUIRE(all.size() == 2);
    for (const auto& record : all) {
        CHECK(record[M::port_gid].is_zero());
        CHECK(record[M::join_state] == 0);
    }
    CHECK(get(bench, 1, C::mgid | C::port_gid, Bench::record(2, group_mgid, 0)) == ok);
    CHECK(bench.answer<M>()[M::port_gid].is_zero());
    CHECK(bench.answer<M>()[M::join_state] == 0);
}

TEST_CASE("The SM_Key brings trust, and a wrong one no answer") {
    Bench bench(SaConfig{.sm_key = 7, .trusts_everyone = false});
    for (const unsigned n : {1u, 2u}) {
        bench.add(n);
        REQUIRE(bench.join(n, group_mgid) == ok);
    }
    const auto like = Bench::record(1, group_mgid, 0);
    CHECK(bench.table<M>(1, attribute::mc_member_record, C::mgid, like, 7).size() == 2);
    CHECK(bench.ask(1, keyed(Method::get, C::mgid, like, 7)) == too_many);
    CHECK(bench.ask(1, keyed(Method::get, C::mgid, like, 8)) == unanswered);
    // A group without members is nothing then.
    CHECK(bench.table<M>(1, attribute::mc_member_record, C::mgid, Bench::record(1, broadcast, 0), 7).empty());
    CHECK(bench.last.sa()[SaHeader::sm_key] == 0);
}

TEST_CASE("ClassPortInfo says what the administrator can do") {
    Bench bench;
    bench.add(1);
    REQUIRE(bench.ask(1, Method::get, attribute::class_port_info, 0, Bytes<ClassPortInfo>{}) == ok);
    const auto info = bench.answer<ClassPortInfo>();
    CHECK(info[ClassPortInfo::base_version] == 1);
    CHECK(info[ClassPortInfo::class_version] == 2);
    CHECK((info[ClassPortInfo::capability_mask] & ClassPortInfo::ud_multicast) != 0);
    CHECK((info[ClassPortInfo::capability_mask] & ClassPortInfo::multi_path) == 0);
    CHECK((info[ClassPortInfo::capability_mask2] & ClassPortInfo::send_only_full_member) != 0);
    CHECK(info[ClassPortInfo::redirect_qp] == 1);
}

TEST_CASE("NodeRecord tells what a port said of its node") {
    DescribedPorts bench;
    using N = NodeRecord;
    const auto ask_node = [&](std::uint64_t mask, const Bytes<N>& like) {
        return bench.ask(1, Method::get, attribute::node_record, mask, like);
    };
    CHECK(ask_node(0, {}) == too_many);
    CHECK(ask_node(N::component::lid, Bytes<N>{}.set(N::lid, 99)) == no_records);
    REQUIRE(ask_node(N::component::lid, Bytes<N>{}.set(N::lid, Bench::lid(2))) == ok);
    CHECK(bench.last.sa()[SaHeader::attribute_offset] == 14);
    CHECK(node_info(bench.answer<N>())[NodeInfo::port_guid] == Bench::gid(2).interface_id());
    CHECK(bench.answer<N>()[N::node_description][5] == '2');
    const auto by_guid = Bytes<NodeInfo>{}.set(NodeInfo::port_guid, Bench::gid(1).interface_id());
    REQUIRE(ask_node(N::component::port_guid, Bytes<N>{}.set(N::node_info, by_guid.octets)) == ok);
    CHECK(bench.answer<N>()[N::lid] == Bench::lid(1));
    REQUIRE(ask_node(N::component::node_description,
                     Bytes<N>{}.set(N::node_description, {'n', 'o', 'd', 'e', ' ', '2'})) == ok);
    // A port that shares no partition is not seen.
    CHECK(bench.table<N>(1, attribute::node_record).size() == 2);
}

TEST_CASE("PortInfoRecord tells what a port said of itself") {
    DescribedPorts bench;
    using P = PortInfoRecord;
    const auto ask_port = [&](std::uint64_t mask, const Bytes<P>& like) {
        return bench.ask(1, Method::get, attribute::port_info_record, mask, like);
    };
    REQUIRE(ask_port(P::component::endport_lid, Bytes<P>{}.set(P::endport_lid, Bench::lid(2))) == ok);
    CHECK(bench.last.sa()[SaHeader::attribute_offset] == 9);
    CHECK(port_info(bench.answer<P>())[PortInfo::lid] == Bench::lid(2));
    CHECK(port_info(bench.answer<P>())[PortInfo::m_key] == 0);
    const auto by_lid = Bytes<PortInfo>{}.set(PortInfo::lid, Bench::lid(1));
    REQUIRE(ask_port(P::component::lid, Bytes<P>{}.set(P::port_info, by_lid.octets)) == ok);
    CHECK(bench.answer<P>()[P::endport_lid] == Bench::lid(1));
    CHECK(ask_port(P::component::port_num, Bytes<P>{}.set(P::port_num, 1)) == too_many);
    CHECK(ask_port(P::component::port_num, Bytes<P>{}.set(P::port_num, 2)) == no_records);
}

TEST_CASE("P_KeyTableRecord tells a port's partitions, block by block, to those who are trusted") {
    using P = PKeyTableRecord;
    constexpr std::uint64_t sm_key = 7;
    Bench bench(SaConfig{.sm_key = sm_key, .trusts_everyone = false});
    std::vector<std::uint16_t> many(P::entries, 0x8001);
    many.push_back(0xffff);
    bench.add(1, many);
    bench.add(2);
    const auto told = [&](std::uint64_t mask, const Bytes<P>& like) {
        return bench.table<P>(1, attribute::p_key_table_record, mask, like, sm_key);
    };
    CHECK(bench.ask(1, Method::get, attribute::p_key_table_record, 0, Bytes<P>{}) == invalid);
    CHECK(told(0, {}).size() == 3);
    CHECK(told(P::component::lid, Bytes<P>{}.set(P::lid, 99)).empty());
    const auto of_port = told(P::component::lid, Bytes<P>{}.set(P::lid, Bench::lid(1)));
    REQUIRE(of_port.size() == 2);
    CHECK(p_key_in(of_port[0].view(), P::entries - 1) == 0x8001);
    CHECK(of_port[1][P::block] == 1);
    CHECK(p_key_in(of_port[1].view(), 0) == 0xffff);
    CHECK(p_key_in(of_port[1].view(), 1) == 0);
    const auto second =
        told(P::component::lid | P::component::block, Bytes<P>{}.set(P::lid, Bench::lid(1)).set(P::block, 1));
    CHECK(second.size() == 1);
    CHECK(told(P::component::port_num, Bytes<P>{}.set(P::port_num, 2)).empty());
}

TEST_CASE("Every record that the administrator tells of is known to decoding") {
    unsigned count = 0;
    for (unsigned id = 0; id <= 0xffff; ++id) {
        if (!sa::record_query(static_cast<std::uint16_t>(id))) continue;
        CAPTURE(id);
        CHECK(attribute_header(MgmtClass::subn_adm, static_cast<std::uint16_t>(id)));
        ++count;
    }
    CHECK(count >= 5);
}

TEST_CASE("A service is registered, found, registered anew and taken away") {
    using S = ServiceRecord;
    using SC = S::component;
    constexpr auto id = SC::service_id, rid = id | SC::service_gid | SC::service_p_key;
    Bench bench;
    for (const unsigned n : {1u, 2u}) bench.add(n);
    bench.add(3, {0x8001});
    const auto ask = [&](unsigned n, Method method, std::uint64_t mask, const Bytes<S>& record) {
        return bench.ask(n, method, attribute::service_record, mask, record);
    };
    CHECK(ask(1, Method::get, id, service(1)) == no_records);
    CHECK(ask(1, Method::set, id | SC::service_p_key, service(1)) == invalid);
    CHECK(ask(1, Method::set, rid, service(1).set(S::service_p_key, 0x8055)) == invalid);
    CHECK(ask(1, Method::set, rid, service(9)) == invalid);
    REQUIRE(ask(1, Method::set, rid, service(1)) == ok);
    CHECK(bench.last.header()[Mad::method] == Method::get_resp);
    CHECK(bench.last.sa()[SaHeader::attribute_offset] == 22);
    CHECK(bench.answer<S>()[S::service_lease] == S::endless);
    CHECK(bench.answer<S>()[S::service_key] == OctetArray<16>{});
    REQUIRE(ask(2, Method::get, id, service(1)) == ok);
    CHECK(bench.answer<S>()[S::service_gid] == Bench::gid(1));
    CHECK(ask(3, Method::get, id, service(1)) == no_records);
    constexpr std::uint64_t second_data8 = 1u << 8;
    CHECK(ask(2, Method::get, id | second_data8, service(1)) == ok);
    CHECK(ask(2, Method::get, id | second_data8, service(1).set(S::data8, {1, 9, 3})) == no_records);
    REQUIRE(ask(1, Method::set, rid | SC::service_lease, service(1)) == ok);
    CHECK(bench.table<S>(1, attribute::service_record).size() == 1);
    REQUIRE(ask(1, Method::set, rid, service(2)) == ok);
    CHECK(bench.table<S>(1, attribute::service_record).size() == 2);
    // The lease of the first ends.
    bench.node.loop.run_for(std::chrono::seconds{101});
    CHECK(bench.table<S>(1, attribute::service_record).size() == 1);
    CHECK(ask(1, Method::del, rid, service(1)) == no_records);
    REQUIRE(ask(1, Method::del, rid, service(2)) == ok);
    CHECK(bench.last.header()[Mad::method] == Method::delete_resp);
    CHECK(ask(1, Method::del, rid, service(2)) == no_records);
}

TEST_CASE("The register of services is bounded") {
    using SC = ServiceRecord::component;
    Bench bench(SaConfig{.most_services = 2});
    bench.add(1);
    for (std::uint64_t i = 0; i < 3; ++i)
        CHECK(bench.ask(1, Method::set, attribute::service_record, SC::service_id | SC::service_gid,
                        service(1).set(ServiceRecord::service_id, i)) == (i < 2 ? ok : no_resources));
}

}  // namespace ipoib::fabric
