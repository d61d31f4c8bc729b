// SPDX-License-Identifier: GPL-2.0-or-later
// An end node: what its interfaces share.
#include "stack/node.hpp"

#include "fabric/node/mad_frame.hpp"

#include <algorithm>

namespace ipoib::stack {
using namespace wire;

Node::Node(fabric::Hca& hca, fabric::SaClient& sa, const Policies& policies, std::uint16_t p_key)
    : hca_(hca), sa_(sa), policies_(policies), log_(hca.loop()) {
    interfaces_.push_back(std::make_unique<Interface>(*this, "ib0", p_key));
    listener_ = hca_.on_event([this](fabric::PortEvent event) { port_event(event); });
    sa_.on_report([this](View<Notice> notice) { report(notice); });
    hca_.on_mad(MgmtClass::communication, [this](const fabric::Datagram& datagram) { communication(datagram); });
}

Node::~Node() {
    close();
    hca_.remove_listener(listener_);
    sa_.on_report({});
    hca_.on_mad(MgmtClass::communication, {});
}

void Node::close() {
    for (const auto& interface : interfaces_) interface->down();
    subscriptions_.withdraw();
}

Interface* Node::find(std::string_view name) noexcept {
    for (const auto& interface : interfaces_)
        if (interface->name() == name) return interface.get();
    return nullptr;
}

std::vector<std::string> Node::names() const {
    std::vector<std::string> names;
    for (const auto& interface : interfaces_) names.push_back(interface->name());
    return names;
}

Interface* Node::create_child(std::uint16_t p_key) {
    const std::uint16_t full = p_key | full_membership;
    const auto name = "ib0." + hex(full, 4).substr(2);
    if (full == full_membership || find(name) || interfaces_.size() > most_children) return nullptr;
    const auto& table = hca_.facts().p_keys;
    const auto given = policy().interface_p_key(full, table.empty() ? full : table.front());
    return interfaces_.emplace_back(std::make_unique<Interface>(*this, name, given)).get();
}

bool Node::delete_child(std::string_view name) {
    const auto is_it = [&](const auto& interface) { return interface->name() == name; };
    const auto found = std::find_if(interfaces_.begin() + 1, interfaces_.end(), is_it);
    if (found == interfaces_.end()) return false;
    // It leaves its groups when it goes, and is then no longer one of those who hold them.
    const auto child = std::move(*found);
    interfaces_.erase(found);
    return true;
}

std::uint8_t Node::states_of_others(const Gid& mgid, const Interface& but) const {
    std::uint8_t states = 0;
    for (const auto& interface : interfaces_)
        if (interface.get() != &but) states = static_cast<std::uint8_t>(states | interface->groups().states(mgid));
    return states;
}

void Node::fault(std::string text) {
    log_.write("fault: " + text);
    if (faults_.size() < most_faults) faults_.push_back(std::move(text));
}

/// The SA's subscriptions and memberships are gone together.
void Node::port_event(fabric::PortEvent event) {
    using fabric::PortEvent;
    const bool is_renewal = event == PortEvent::active || event == PortEvent::lid_change ||
                            event == PortEvent::sm_change || event == PortEvent::client_reregister;
    const bool is_used = std::any_of(interfaces_.begin(), interfaces_.end(),
                                     [](const auto& interface) { return interface->is_running(); });
    if (is_renewal && is_used && policy().resubscribes) subscriptions_.renew();
    const bool is_for_later = is_renewal && !is_used;
    if ((event == PortEvent::down || is_for_later) && policy().resubscribes) subscriptions_.forget();
    for (const auto& interface : interfaces_)
        if (!is_renewal || event == PortEvent::active || interface == interfaces_.front() ||
            policy().tells_all_of_renewal)
            interface->port_event(event);
}

void Node::report(View<Notice> notice) {
    const auto details = gid_details(notice);
    if (!details) return;
    const auto mgid = details[GidDetails::gid];
    for (const auto& interface : interfaces_)
        if (interface == interfaces_.front() || policy().tells_all_of_reports)
            interface->report(notice[Notice::trap_number], mgid);
}

void Node::communication(const fabric::Datagram& datagram) {
    for (const auto& interface : interfaces_)
        if (interface->connections().receive(*datagram.packet)) return;
    if (const auto req = datagram.packet->get<CmReq>()) reject(*datagram.packet, req);
}

/// Nobody listens at this Service-ID: the communication manager itself says so. IBTA Vol 1, 12.6.7.2.
void Node::reject(const Packet& packet, View<CmReq> req) {
    constexpr std::uint16_t invalid_service_id = 8;
    fabric::MadOctets mad{};
    const wire::MutableOctets head{mad.data(), Mad::size}, body{mad.data() + Mad::size, CmRej::size};
    std::copy(packet.mad.octets().begin(), packet.mad.octets().end(), head.begin());
    set_field(head, Mad::attribute_id, cm_attribute::rej);
    set_field(body, CmRej::remote_comm_id, req[CmReq::local_comm_id]);
    set_field(body, CmRej::reason, invalid_service_id);
    hca_.send(fabric::mad_frame(fabric::MadPath::back(packet, hca_.lid()), mad, hca_.next_gsi_psn()));
}

}  // namespace ipoib::stack
