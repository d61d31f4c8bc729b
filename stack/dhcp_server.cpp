// SPDX-License-Identifier: GPL-2.0-or-later
// A small DHCP server.
#include "stack/dhcp_server.hpp"

#include "stack/dhcp_message.hpp"
#include "stack/interface.hpp"
#include "stack/octets.hpp"

namespace ipoib::stack {
using namespace wire;

namespace {

constexpr std::uint32_t first_host = 201, lease_seconds = 3600;

std::uint32_t mask_of(const IpNetwork& network) {
    return network.length == 0 ? 0u : ~std::uint32_t{0} << (32 - network.length);
}

}  // namespace

void DhcpServer::stop() noexcept {
    is_started_ = false;
    clients_.clear();
}

std::uint32_t DhcpServer::address_for(Octets identifier, const IpNetwork& network) {
    const auto [client, is_new] = clients_.try_emplace({identifier.begin(), identifier.end()}, 0u);
    if (!is_new) return client->second;
    const auto number = first_host + static_cast<std::uint32_t>(clients_.size()) - 1;
    if (clients_.size() > most_clients || (number & mask_of(network)) != 0) {
        clients_.erase(client);
        return 0;
    }
    return client->second = (network.address.v4() & mask_of(network)) | number;
}

void DhcpServer::receive(const IpDatagram& datagram) {
    const auto message = dhcp_in(datagram, dhcp_server_port);
    const auto dhcp = View<Dhcp>::at(message);
    const auto identifier = find_dhcp_option(message, dhcp_option::client_identifier);
    const auto& networks = interface_.addresses();
    const auto own = std::find_if(networks.begin(), networks.end(), [](const auto& n) { return n.address.is_v4(); });
    if (!is_started_ || !dhcp || dhcp[Dhcp::op] != Dhcp::request || !identifier || own == networks.end()) return;
    const auto network = *own;
    const auto type = dhcp_type(message);
    const auto server = dhcp_number(message, dhcp_option::server_identifier);
    const bool is_for_another = server && *server != network.address.v4();
    if ((type != DhcpType::discover && type != DhcpType::request) || is_for_another) return;
    const auto address = address_for(*identifier, network);
    if (address == 0) return;
    const auto wanted =
        dhcp[Dhcp::ciaddr] != 0 ? dhcp[Dhcp::ciaddr] : dhcp_number(message, dhcp_option::requested_address).value_or(0);
    if (type == DhcpType::discover)
        reply(message, DhcpType::offer, network, address);
    else if (wanted == address)
        reply(message, DhcpType::ack, network, address);
}

/// RFC 4390, 2.2: by broadcast to a client without an address, whose link-layer address nobody told; to ciaddr else.
void DhcpServer::reply(Octets to, DhcpType type, const IpNetwork& network, std::uint32_t address) {
    const auto asked = View<Dhcp>::at(to);
    const auto ciaddr = asked[Dhcp::ciaddr];
    auto message = octets_of(Bytes<Dhcp>{}
                                 .set(Dhcp::op, Dhcp::reply)
                                 .set(Dhcp::htype, Dhcp::infiniband)
                                 .set(Dhcp::xid, asked[Dhcp::xid])
                                 .set(Dhcp::broadcast, asked[Dhcp::broadcast])
                                 .set(Dhcp::ciaddr, ciaddr)
                                 .set(Dhcp::yiaddr, address)
                                 .set(Dhcp::cookie, Dhcp::magic));
    append_dhcp_option(message, dhcp_option::message_type, std::array{static_cast<std::uint8_t>(type)});
    append_dhcp_number(message, dhcp_option::server_identifier, network.address.v4());
    append_dhcp_number(message, dhcp_option::lease_time, lease_seconds);
    append_dhcp_number(message, dhcp_option::subnet_mask, mask_of(network));
    const bool is_broadcast = interface_.policy().dhcp_reply_is_broadcast(ciaddr);
    send_dhcp(interface_, network.address, IpAddress::v4(is_broadcast ? 0xffffffff : address), dhcp_server_port,
              std::move(message));
}

}  // namespace ipoib::stack
