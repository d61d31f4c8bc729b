// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/node/test_node.hpp"

namespace ipoib::fabric {
namespace {

using namespace testing;

Octets data_of(const MadOctets& mad) { return Octets{mad}.subspan(smp_data_at, 64); }
std::uint16_t p_key_at(const MadOctets& mad, std::size_t index) {
    return static_cast<std::uint16_t>(read_bits(data_of(mad).data() + 2 * index, At{0}, 16));
}
std::uint64_t guid_at(const MadOctets& mad, std::size_t index) {
    return read_bits(data_of(mad).data() + 8 * index, At{0}, 64);
}

TEST_CASE("SMA: a directed-route Get comes back the way it came") {
    Node node;
    auto request = directed(Method::get, smp_attribute::node_info);
    request[DirectedSmp::initial_path.at.bit / 8 + 1] = 1;
    request[DirectedSmp::initial_path.at.bit / 8 + 2] = 17;
    request[DirectedSmp::return_path.at.bit / 8 + 1] = 3;
    node.hca.receive(smp_frame(request));

    REQUIRE(node.cable.sent.size() == 1);
    Packet packet;
    decode(node.cable.sent[0].octets(), packet);
    CHECK(packet.lrh[Lrh::vl] == 15);
    CHECK(packet.lrh[Lrh::slid] == permissive_lid);
    CHECK(packet.lrh[Lrh::dlid] == permissive_lid);
    CHECK(packet.bth[Bth::dest_qp] == 0);
    CHECK(packet.deth[Deth::src_qp] == 0);

    const auto answer = node.cable.take_mad();
    const auto smp = View<DirectedSmp>::at(answer);
    CHECK(smp[DirectedSmp::method] == Method::get_resp);
    CHECK(smp[DirectedSmp::is_returning]);
    CHECK(smp[DirectedSmp::status] == 0);
    CHECK(smp[DirectedSmp::hop_pointer] == 2);
    CHECK(smp[DirectedSmp::hop_count] == 2);
    CHECK(smp[DirectedSmp::transaction_id] == 0x1234);
    const auto initial = smp[DirectedSmp::initial_path], back = smp[DirectedSmp::return_path];
    CHECK(initial[1] == 1);
    CHECK(initial[2] == 17);
    CHECK(back[1] == 3);
    CHECK(back[2] == 1);
}

TEST_CASE("SMA: a LID-routed Get is answered to its sender") {
    Node node;
    node.bring_up();
    node.hca.receive(smp_frame(lid_routed(Method::get, smp_attribute::node_info), test_lid));
    REQUIRE(node.cable.sent.size() == 1);
    const auto lrh = View<Lrh>::at(node.cable.sent[0].octets());
    CHECK(lrh[Lrh::vl] == 15);
    CHECK(lrh[Lrh::slid] == test_lid);
    CHECK(lrh[Lrh::dlid] == test_sm_lid);
    const auto answer = node.cable.take_mad();
    CHECK(View<LidSmp>::at(answer)[LidSmp::method] == Method::get_resp);
    CHECK(View<LidSmp>::at(answer)[LidSmp::status] == 0);
}

TEST_CASE("SMA: an SMP to another LID is none of ours") {
    Node node;
    node.bring_up();
    node.hca.receive(smp_frame(lid_routed(Method::get, smp_attribute::node_info), test_lid + 1));
    CHECK(node.cable.sent.empty());
    CHECK(node.hca.drops().other_lid == 1);
}

TEST_CASE("SMA: NodeDescription is what the adapter was made with") {
    Node node{{.port_guid = test_guid, .description = "a node"}};
    const auto answer = node.ask(directed(Method::get, smp_attribute::node_description));
    const std::string text(answer.begin() + smp_data_at, answer.begin() + smp_data_at + 64);
    CHECK(text == std::string("a node") + std::string(58, '\0'));

    Node wordy{{.port_guid = test_guid, .description = std::string(100, 'x')}};
    const auto full = wordy.ask(directed(Method::get, smp_attribute::node_description));
    CHECK(std::all_of(full.begin() + smp_data_at, full.begin() + smp_data_at + 64, [](auto o) { return o == 'x'; }));
    CHECK(full[smp_data_at + 64] == 0);
}

TEST_CASE("SMA: NodeInfo tells of a channel adapter with one port") {
    Node node;
    const auto answer = node.ask(directed(Method::get, smp_attribute::node_info));
    const auto info = smp_data<NodeInfo>(answer);
    CHECK(info[NodeInfo::node_type] == NodeInfo::channel_adapter);
    CHECK(info[NodeInfo::num_ports] == 1);
    CHECK(info[NodeInfo::local_port_num] == 1);
    CHECK(info[NodeInfo::port_guid] == test_guid);
    CHECK(info[NodeInfo::node_guid] == (test_guid ^ 1));
    CHECK(info[NodeInfo::partition_cap] == 128);
    CHECK(info[NodeInfo::vendor_id] == 0x0002c9);
    CHECK(info[NodeInfo::base_version] == 1);
    CHECK(info[NodeInfo::class_version] == 1);
}

TEST_CASE("SMA: GUIDInfo begins with the port GUID, which stays") {
    Node node;
    std::vector<std::uint8_t> guids(64);
    write_bits(guids.data(), At{0}, 64, 0xdead);
    write_bits(guids.data() + 8, At{0}, 64, 0x1111);
    const auto answer = node.ask(directed(Method::set, smp_attribute::guid_info, 0, guids));
    CHECK(status_of(answer) == 0);
    CHECK(guid_at(answer, 0) == test_guid);
    CHECK(guid_at(answer, 1) == 0x1111);
    CHECK(guid_at(answer, 2) == 0);
    CHECK(node.ask(directed(Method::get, smp_attribute::guid_info)) !=
          node.ask(directed(Method::get, smp_attribute::guid_info, 1)));
    CHECK(status_of(node.ask(directed(Method::get, smp_attribute::guid_info, 1))) == mad_status::invalid_field);
}

TEST_CASE("SMA: P_KeyTable holds the default partition first, then what is set, by blocks of 32") {
    Node node;
    const auto before = node.ask(directed(Method::get, smp_attribute::p_key_table));
    CHECK(p_key_at(before, 0) == 0xffff);
    CHECK(p_key_at(before, 1) == 0);
    CHECK(node.hca.facts().p_keys == std::vector<std::uint16_t>{0xffff});

    node.set_p_keys({0x8123, 0, 0x7fff});
    CHECK(node.events == std::vector{PortEvent::p_key_change});
    const auto after = node.ask(directed(Method::get, smp_attribute::p_key_table));
    CHECK(p_key_at(after, 0) == 0x8123);
    CHECK(p_key_at(after, 2) == 0x7fff);
    CHECK(node.hca.facts().p_keys == std::vector<std::uint16_t>{0x8123, 0, 0x7fff});

    node.set_p_keys({0x8123, 0, 0x7fff});
    CHECK(node.events.size() == 1);

    (void)node.ask(directed(Method::set, smp_attribute::p_key_table, 3, p_key_block({0x8001})));
    CHECK(node.hca.facts().p_keys.size() == 97);
    CHECK(node.hca.facts().p_keys.back() == 0x8001);
    const auto beyond = node.ask(directed(Method::set, smp_attribute::p_key_table, 4, p_key_block({0x8002})));
    CHECK(status_of(beyond) == mad_status::invalid_field);
    CHECK(node.hca.facts().p_keys.size() == 97);
}

TEST_CASE("SMA: SLtoVLMappingTable and VLArbitrationTable keep what is set") {
    Node node;
    const std::vector<std::uint8_t> values{1, 2, 3, 4, 5, 6, 7, 8};
    for (const auto& [attribute, modifier] : {std::pair{smp_attribute::sl_to_vl_mapping_table, 0u},
                                              {smp_attribute::vl_arbitration_table, 0x10000u},
                                              {smp_attribute::vl_arbitration_table, 0x40000u}}) {
        CAPTURE(attribute, modifier);
        CHECK(status_of(node.ask(directed(Method::set, attribute, modifier, values))) == 0);
        const auto answer = node.ask(directed(Method::get, attribute, modifier));
        CHECK(std::equal(values.begin(), values.end(), data_of(answer).begin()));
    }
    const auto other = node.ask(directed(Method::get, smp_attribute::vl_arbitration_table, 0x20000));
    CHECK(data_of(other)[0] == 0);
    for (const auto modifier : {0u, 0x50000u})
        CHECK(status_of(node.ask(directed(Method::get, smp_attribute::vl_arbitration_table, modifier))) ==
              mad_status::invalid_field);
}

TEST_CASE("SMA: what an adapter does not have is answered so") {
    Node node;
    const auto status = [&](Method method, std::uint16_t attribute) {
        return status_of(node.ask(directed(method, attribute)));
    };
    CHECK(status(Method::get, smp_attribute::switch_info) == mad_status::unsupported_method_attribute);
    CHECK(status(Method::get, smp_attribute::sm_info) == mad_status::unsupported_method_attribute);
    CHECK(status(Method::get, 0xff00) == mad_status::unsupported_method_attribute);
    CHECK(status(Method::set, smp_attribute::node_info) == mad_status::unsupported_method_attribute);
    CHECK(status(Method::set, smp_attribute::node_description) == mad_status::unsupported_method_attribute);
    CHECK(status(Method::del, smp_attribute::node_info) == mad_status::unsupported_method);

    auto newer = directed(Method::get, smp_attribute::node_info);
    set_field(MutableOctets{newer}, DirectedSmp::class_version, 2);
    CHECK(status_of(node.ask(newer)) == mad_status::bad_version);
}

TEST_CASE("SMA: SMPs that are lost on their way, or none at all, are dropped") {
    Node node;
    const auto dropped = [&](auto&& change) {
        auto mad = directed(Method::get, smp_attribute::node_info);
        change(MutableOctets{mad});
        const auto before = node.hca.drops().malformed;
        node.hca.receive(smp_frame(mad));
        return node.cable.sent.empty() && node.hca.drops().malformed == before + 1;
    };
    CHECK(dropped([](auto smp) { set_field(smp, DirectedSmp::hop_pointer, 1); }));
    CHECK(dropped([](auto smp) { set_field(smp, DirectedSmp::hop_pointer, 3); }));
    CHECK(dropped(
        [](auto smp) { set_field(smp, DirectedSmp::hop_pointer, 255), set_field(smp, DirectedSmp::hop_count, 255); }));
    CHECK(dropped(
        [](auto smp) { set_field(smp, DirectedSmp::hop_pointer, 64), set_field(smp, DirectedSmp::hop_count, 64); }));
    CHECK(dropped([](auto smp) { set_field(smp, DirectedSmp::dr_dlid, 5); }));
    CHECK(dropped([](auto smp) { set_field(smp, DirectedSmp::mgmt_class, MgmtClass::performance); }));
    // A manager's answer at a node without one: not malformed, nobody is there.
    auto answer = directed(Method::get_resp, smp_attribute::node_info);
    set_field(MutableOctets{answer}, DirectedSmp::is_returning, true);
    set_field(MutableOctets{answer}, DirectedSmp::hop_pointer, 1);
    node.hca.receive(smp_frame(answer));
    CHECK(node.cable.sent.empty());
    CHECK(node.hca.drops().no_queue_pair == 1);
}

TEST_CASE("SMA: the farthest directed route, of 63 hops, is answered") {
    Node node;
    auto mad = directed(Method::get, smp_attribute::node_info);
    set_field(MutableOctets{mad}, DirectedSmp::hop_pointer, 63);
    set_field(MutableOctets{mad}, DirectedSmp::hop_count, 63);
    const auto answer = node.ask(mad);
    const auto back = View<DirectedSmp>::at(answer)[DirectedSmp::return_path];
    CHECK(back[63] == 1);
}

TEST_CASE("SMA: responses, traps and SMInfo go to a subnet manager on the node") {
    Node node;
    std::vector<Method> heard;
    node.hca.on_smp([&](const Datagram& d) { heard.push_back(d.packet->mad[Mad::method]); });
    auto answer = directed(Method::get_resp, smp_attribute::node_info);
    set_field(MutableOctets{answer}, DirectedSmp::is_returning, true);
    set_field(MutableOctets{answer}, DirectedSmp::hop_pointer, 1);
    node.hca.receive(smp_frame(answer));
    node.hca.receive(smp_frame(directed(Method::trap, smp_attribute::notice)));
    node.hca.receive(smp_frame(directed(Method::get, smp_attribute::sm_info)));
    CHECK(heard == std::vector{Method::get_resp, Method::trap, Method::get});
    CHECK(node.cable.sent.empty());
    // The agent's own work goes on.
    CHECK(status_of(node.ask(directed(Method::get, smp_attribute::node_info))) == 0);
}

TEST_CASE("SMA: a manager reaches its own node by a route of no hops, and by its own LID") {
    Node node;
    std::vector<std::uint16_t> heard;
    node.hca.on_smp([&](const Datagram& d) { heard.push_back(d.packet->mad[Mad::attribute_id]); });
    auto own = directed(Method::get, smp_attribute::port_info);
    set_field(MutableOctets{own}, DirectedSmp::hop_pointer, 0);
    set_field(MutableOctets{own}, DirectedSmp::hop_count, 0);
    node.hca.send(smp_frame(own));
    node.loop.run_for(std::chrono::seconds{1});
    CHECK(heard == std::vector{smp_attribute::port_info});
    CHECK(node.cable.sent.empty());

    node.bring_up();
    node.hca.send(mad_frame({.slid = test_lid, .dlid = test_lid, .src_qp = 0, .dest_qp = 0},
                            lid_routed(Method::get, smp_attribute::node_info)));
    node.loop.run_for(std::chrono::seconds{1});
    CHECK(heard == std::vector{smp_attribute::port_info, smp_attribute::node_info});
    CHECK(node.cable.sent.empty());
}

}  // namespace
}  // namespace ipoib::fabric
