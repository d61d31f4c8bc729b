// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol/build/dhcp.hpp"
#include "traffic-gen/profile.hpp"

namespace ipoib::traffic {
using namespace wire;

namespace {

constexpr std::uint32_t first_xid = 0x49500000;
constexpr build::Lease an_hour{.renewal = 1800, .rebinding = 3150, .end = 3600, .mask = 0xffff0000};

/// A lease from its beginning to its end. RFC 2131, 4.4; a client may renew before its time (4.4.5).
void lease(Stage& stage, const Net& net, std::size_t number, std::uint32_t xid) {
    const auto &server = net.host(0), &client = net.host(number);
    const auto& link = net.link;
    auto granted = an_hour;
    granted.address = client.ipv4;
    const auto ask = [&](const build::PacketBuilder& message, DhcpType answer) {
        stage.send(message);
        stage.send(build::dhcp_reply(server, client, link, answer, message.get<Dhcp>(), granted));
    };
    ask(build::dhcp_discover(client, link, xid), DhcpType::offer);
    ask(build::dhcp_request(client, link, xid, client.ipv4, server.ipv4), DhcpType::ack);
    resolve(stage, net, number, 0);
    ask(build::dhcp_renewal(client, server, link, xid + 1, client.ipv4), DhcpType::ack);
    ask(build::dhcp_rebinding(client, link, xid + 2, client.ipv4), DhcpType::ack);
    stage.send(build::dhcp_release(client, server, link, xid + 3, client.ipv4));
}

}  // namespace

/// RFC 4390.
const Profile dhcp{
    .name = "dhcp",
    .what = "hosts get an address from the first one by DHCP, renew it, rebind, and give it back",
    .impact = Impact::link,
    .families = Families::ipv4,
    .play =
        [](Stage& stage) {
            const auto& net = stage.scene().net();
            auto xid = first_xid;
            for (std::size_t i = 0; stage.goes_on(); ++i, xid += 4)
                lease(stage, net, 1 + i % (net.hosts.size() - 1), xid);
        },
};

}  // namespace ipoib::traffic
