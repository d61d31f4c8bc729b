// SPDX-License-Identifier: GPL-2.0-or-later
// The table of packets.
#include "conformance/fuzz/material.hpp"

#include "protocol/build/management.hpp"

#include <algorithm>

namespace ipoib::conformance::fuzz {
using namespace wire;
using build::PacketBuilder;

namespace {

constexpr std::uint32_t all_hosts = 0xe0000001;
constexpr std::size_t usual_payload = 56, long_payload = 1900;
constexpr std::uint32_t first_id = 0x4000'0000, first_connection_qpn = 0x2000, qpn_mask = 0xffffff;

std::uint16_t sequence(const Scene& scene) { return static_cast<std::uint16_t>(scene.number); }
build::ConnectionEnd new_end(const Scene& scene) {
    return {.id = first_id + scene.number,
            .qpn = (first_connection_qpn + scene.number) & qpn_mask,
            .psn = scene.number & qpn_mask};
}
/// Of a connection that there is not, something in its place.
Connection of(const std::optional<Connection>& connection, const Scene& scene) {
    return connection ? *connection : Connection{.own = new_end(scene), .dut = {.id = 1, .qpn = 2, .psn = 3}};
}

PacketBuilder over(std::optional<Connection>& connection, Scene& scene, PacketBuilder datagram) {
    auto otherwise = of(connection, scene);
    auto& used = connection ? *connection : otherwise;
    const auto psn = next_psn(used);
    return build::over_connection(std::move(datagram), used.dut.qpn, psn);
}
std::optional<Connection>& any_connection(Scene& scene) { return scene.requested ? scene.requested : scene.accepted; }

/// At the Service-ID of RFC 4755, 3.5, or with the prefix that Linux has in its place.
PacketBuilder connection_request(Scene& scene, std::uint8_t prefix) {
    scene.asked = new_end(scene);
    const auto data = Bytes<CmPrivateData>{}
                          .set(CmPrivateData::ud_qpn, scene.self.qpn)
                          .set(CmPrivateData::receive_mtu, std::uint32_t{128} << scene.link.mtu);
    OctetArray<92> private_data{};
    std::ranges::copy(data.octets, private_data.begin());
    return build::connection_request(scene.self, scene.dut, scene.link, scene.asked)
        .choose(CmReq::service_id, std::uint64_t{prefix} << 56 | scene.dut.qpn)
        .choose(CmReq::private_data, private_data);
}

PacketBuilder path_answer(Scene& scene) {
    constexpr std::uint8_t rate = 3;
    return build::path_record(scene.manager, scene.dut, Method::get_resp, scene.number, scene.dut, scene.self,
                              scene.link.sl, rate);
}

/// A question of any manager, LID-routed.
PacketBuilder question(Scene& scene, std::uint16_t attribute) {
    return build::smp(scene.manager, scene.dut,
                      {.method = Method::get, .attribute = attribute, .transaction = scene.number},
                      std::array<std::uint8_t, 64>{});
}

template <class Header>
Bytes<Header> copy_of(View<Header> header) {
    Bytes<Header> copy;
    std::ranges::copy(header.octets(), copy.octets.begin());
    return copy;
}

constexpr std::array materials{
    Material{"arp-request", Area::datagrams, [](Scene& s) { return build::arp_request(s.self, s.dut.ipv4, s.link); }},
    Material{"arp-reply", Area::datagrams, [](Scene& s) { return build::arp_reply(s.self, s.dut, s.link); }},
    Material{"echo", Area::datagrams,
             [](Scene& s) { return build::echo_request(s.self, s.dut, s.link, sequence(s), usual_payload); }},
    Material{"long-echo", Area::datagrams,
             [](Scene& s) { return build::echo_request(s.self, s.dut, s.link, sequence(s), long_payload); }},
    Material{"echo-reply", Area::datagrams,
             [](Scene& s) { return build::echo_reply(s.self, s.dut, s.link, sequence(s), usual_payload); }},
    Material{"echo6", Area::datagrams,
             [](Scene& s) { return build::echo_request6(s.self, s.dut, s.link, sequence(s), usual_payload); }},
    Material{"udp", Area::datagrams, [](Scene& s) { return build::udp(s.self, s.dut, s.link, usual_payload); }},
    Material{"udp-with-grh", Area::datagrams,
             [](Scene& s) {
                 const auto plain = build::udp(s.self, s.dut, s.link, usual_payload);
                 return build::unicast_with_grh(s.self, s.dut, s.link)
                     .add(copy_of(plain.get<Ipv4>()))
                     .add(copy_of(plain.get<Udp>()))
                     .add(build::pattern(usual_payload));
             }},
    Material{
        "udp-to-all", Area::datagrams,
        [](Scene& s) { return build::udp_to_group(s.self, all_hosts, s.link.broadcast_mlid, s.link, usual_payload); }},
    Material{"solicitation", Area::datagrams,
             [](Scene& s) { return build::neighbour_solicitation(s.self, s.dut.ipv6, s.link.broadcast_mlid, s.link); }},
    Material{"advertisement", Area::datagrams,
             [](Scene& s) { return build::neighbour_advertisement(s.self, s.dut, s.link); }},
    Material{"encapsulation-alone", Area::datagrams, [](Scene& s) { return build::unicast(s.self, s.dut, s.link); }},
    Material{
        "group-report", Area::administration,
        [](Scene& s) { return build::group_report(s.manager, s.dut, s.number % 2 ? 66 : 67, s.link.broadcast_gid()); }},
    Material{"member-answer", Area::administration,
             [](Scene& s) {
                 return build::mc_member(s.manager, s.dut, Method::get_resp, s.number,
                                         build::broadcast_record(s.dut, s.link), 0);
             }},
    Material{"path-answer", Area::administration, path_answer},
    Material{"question-port-info", Area::administration,
             [](Scene& s) { return question(s, smp_attribute::port_info); }},
    Material{"question-p-keys", Area::administration, [](Scene& s) { return question(s, smp_attribute::p_key_table); }},
    Material{"question-vl-arbitration", Area::administration,
             [](Scene& s) { return question(s, smp_attribute::vl_arbitration_table); }},
    Material{"directed-question", Area::administration,
             [](Scene& s) {
                 constexpr std::array<std::uint8_t, 1> route{1};
                 return build::smp(
                     {.method = Method::get, .attribute = smp_attribute::node_info, .transaction = s.number}, route,
                     std::array<std::uint8_t, 64>{});
             }},
    Material{"question-node-info", Area::administration,
             [](Scene& s) { return question(s, smp_attribute::node_info); }},
    Material{"connection-request", Area::connections,
             [](Scene& s) { return connection_request(s, IpoibServiceId::ietf); }},
    Material{"connection-request-to-linux", Area::connections,
             [](Scene& s) { return connection_request(s, IpoibServiceId::prefix_names[1].value & 0xff); }},
    Material{"connection-reply", Area::connections,
             [](Scene& s) {
                 return build::connection_reply(s.self, s.dut, s.link, of(s.requested, s).own,
                                                of(s.requested, s).dut.id);
             }},
    Material{"connection-rejection", Area::connections,
             [](Scene& s) {
                 constexpr std::uint16_t by_consumer = 28;
                 return build::connection_rejection(s.self, s.dut, s.link, of(any_connection(s), s).dut.id,
                                                    by_consumer);
             }},
    Material{"connection-ready", Area::connections,
             [](Scene& s) {
                 const auto c = of(s.accepted, s);
                 return build::connection_ready(s.self, s.dut, s.link, c.own, c.dut);
             }},
    Material{"disconnection", Area::connections,
             [](Scene& s) {
                 const auto c = of(any_connection(s), s);
                 return build::disconnection_request(s.self, s.dut, s.link, c.own, c.dut);
             }},
    Material{"disconnection-reply", Area::connections,
             [](Scene& s) {
                 const auto c = of(any_connection(s), s);
                 return build::disconnection_reply(s.self, s.dut, s.link, c.own, c.dut);
             }},
    Material{"echo-where-requested", Area::connections,
             [](Scene& s) {
                 return over(s.requested, s, build::echo_request(s.self, s.dut, s.link, sequence(s), usual_payload));
             }},
    Material{"echo-where-accepted", Area::connections,
             [](Scene& s) {
                 return over(s.accepted, s, build::echo_request(s.self, s.dut, s.link, sequence(s), usual_payload));
             }},
    Material{"udp-over-connection", Area::connections,
             [](Scene& s) { return over(any_connection(s), s, build::udp(s.self, s.dut, s.link, usual_payload)); }},
};

}  // namespace

std::span<const Material> all_materials() { return materials; }

const Material* find_material(std::string_view name) {
    const auto found = std::ranges::find(materials, name, &Material::name);
    return found == materials.end() ? nullptr : &*found;
}

}  // namespace ipoib::conformance::fuzz
