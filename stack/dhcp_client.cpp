// SPDX-License-Identifier: GPL-2.0-or-later
// A DHCP client.
#include "stack/dhcp_client.hpp"

#include "stack/dhcp_message.hpp"
#include "stack/interface.hpp"
#include "stack/octets.hpp"

#include <bit>

namespace ipoib::stack {
using namespace wire;
using namespace std::chrono_literals;

namespace {

constexpr fabric::Duration between_messages = 4s;
constexpr std::uint32_t usual_lease = 3600;  // seconds

fabric::Duration seconds_of(std::uint32_t seconds) { return std::chrono::seconds{seconds}; }

}  // namespace

void DhcpClient::start() {
    if (is_started()) return;
    discover();
}

void DhcpClient::stop() {
    if (lease_) send(DhcpType::release, DhcpPurpose::release);
    give_up_address();
    interface_.loop().cancel(timer_);
    timer_ = {};
    state_ = State::stopped;
}

void DhcpClient::enter(State state, fabric::Duration patience) {
    interface_.loop().cancel(timer_);
    state_ = state;
    timer_ = interface_.loop().after(patience, lifetime_.guard([this] { patience_is_over(); }));
}

/// Nobody answered, or it is time for the next state. RFC 2131, 4.4.5.
void DhcpClient::patience_is_over() {
    timer_ = {};
    switch (state_) {
        case State::bound:
            enter(State::renewing, lease_->rebinding - lease_->renewal);
            return send(DhcpType::request, DhcpPurpose::renewal);
        case State::renewing:
            enter(State::rebinding, lease_->end - lease_->rebinding);
            return send(DhcpType::request, DhcpPurpose::rebinding);
        case State::rebinding:
            give_up_address();
            [[fallthrough]];
        case State::selecting:
        case State::requesting:
            return discover();
        case State::stopped:
            return;
    }
}

void DhcpClient::discover() {
    xid_ = interface_.next_communication_id();
    server_ = offered_ = 0;
    enter(State::selecting, between_messages);
    send(DhcpType::discover, DhcpPurpose::address);
}

void DhcpClient::request() {
    enter(State::requesting, between_messages);
    send(DhcpType::request, DhcpPurpose::address);
}

void DhcpClient::receive(const IpDatagram& datagram) {
    const auto message = dhcp_in(datagram, dhcp_client_port);
    const auto dhcp = View<Dhcp>::at(message);
    if (!is_started() || !dhcp || dhcp[Dhcp::op] != Dhcp::reply || dhcp[Dhcp::xid] != xid_) return;
    const auto server = dhcp_number(message, dhcp_option::server_identifier);
    const auto type = dhcp_type(message);
    if (state_ == State::selecting && type == DhcpType::offer && server && dhcp[Dhcp::yiaddr] != 0) {
        server_ = *server;
        offered_ = dhcp[Dhcp::yiaddr];
        return request();
    }
    const bool has_asked = state_ == State::requesting || state_ == State::renewing || state_ == State::rebinding;
    if (has_asked && type == DhcpType::ack && dhcp[Dhcp::yiaddr] != 0) return bind(message);
    if (has_asked && type == DhcpType::nak) {
        give_up_address();
        discover();
    }
}

void DhcpClient::bind(Octets ack) {
    constexpr std::uint32_t whole_class_c = 0xffffff00;
    const auto lease = std::max(dhcp_number(ack, dhcp_option::lease_time).value_or(usual_lease), 1u);
    const auto renewal = std::min(dhcp_number(ack, dhcp_option::renewal_time).value_or(lease / 2), lease);
    const auto seven_eighths = static_cast<std::uint32_t>(std::uint64_t{lease} * 7 / 8);
    const auto rebinding =
        std::clamp(dhcp_number(ack, dhcp_option::rebinding_time).value_or(seven_eighths), renewal, lease);
    const auto mask = dhcp_number(ack, dhcp_option::subnet_mask).value_or(whole_class_c);
    const IpNetwork network{IpAddress::v4(View<Dhcp>::at(ack)[Dhcp::yiaddr]),
                            static_cast<std::uint8_t>(std::countl_one(mask))};
    if (lease_ && lease_->network != network) give_up_address();
    if (const auto why = interface_.add_address(network); !why.empty()) {
        interface_.log("DHCP gave " + text(network) + ": " + why);
        return discover();
    }
    lease_ = Lease{.network = network,
                   .server = dhcp_number(ack, dhcp_option::server_identifier).value_or(server_),
                   .renewal = seconds_of(renewal),
                   .rebinding = seconds_of(rebinding),
                   .end = seconds_of(lease)};
    enter(State::bound, lease_->renewal);
}

void DhcpClient::give_up_address() {
    if (lease_) (void)interface_.remove_address(lease_->network);
    lease_.reset();
}

/// RFC 4390, 2: no hardware address, but an identifier; by broadcast where the client has no address to be reached at.
void DhcpClient::send(DhcpType type, DhcpPurpose purpose) {
    const auto& policy = interface_.policy();
    const bool is_bound = purpose != DhcpPurpose::address;
    const bool to_server = purpose == DhcpPurpose::renewal || purpose == DhcpPurpose::release;
    const auto address = lease_ ? lease_->network.address.v4() : offered_;
    auto message = octets_of(Bytes<Dhcp>{}
                                 .set(Dhcp::op, Dhcp::request)
                                 .set(Dhcp::htype, policy.dhcp_htype)
                                 .set(Dhcp::hlen, policy.dhcp_hlen(purpose))
                                 .set(Dhcp::xid, xid_)
                                 .set(Dhcp::broadcast, policy.dhcp_broadcast(purpose))
                                 .set(Dhcp::ciaddr, policy.dhcp_ciaddr(purpose, address))
                                 .set(Dhcp::chaddr, policy.dhcp_chaddr(interface_.hardware_address()))
                                 .set(Dhcp::cookie, Dhcp::magic));
    append_dhcp_option(message, dhcp_option::message_type, std::array{static_cast<std::uint8_t>(type)});
    if (const auto identifier = this->identifier(); !identifier.empty() && policy.dhcp_names_client(purpose))
        append_dhcp_option(message, dhcp_option::client_identifier, identifier);
    if (!is_bound && type == DhcpType::request) {
        append_dhcp_number(message, dhcp_option::requested_address, offered_);
        append_dhcp_number(message, dhcp_option::server_identifier, server_);
    }
    if (type == DhcpType::release) append_dhcp_number(message, dhcp_option::server_identifier, lease_->server);
    send_dhcp(interface_, IpAddress::v4(is_bound ? address : 0),
              to_server ? IpAddress::v4(lease_->server) : IpAddress::v4(0xffffffff), dhcp_client_port,
              std::move(message));
}

/// RFC 4361, 6.1: the same in all messages.
std::vector<std::uint8_t> DhcpClient::identifier() {
    const auto& policy = interface_.policy();
    auto identifier = policy.dhcp_client_identifier(interface_.port().gid.interface_id());
    const auto difference = policy.dhcp_iaid_of_its_own(messages_++);
    if (const auto whole = client_identifier(identifier); whole && difference != 0)
        set_field(identifier, DhcpClientId::iaid, whole->iaid ^ difference);
    return identifier;
}

}  // namespace ipoib::stack
