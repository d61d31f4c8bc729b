// SPDX-License-Identifier: GPL-2.0-or-later
// An end node: one channel adapter, an interface on it, and child interfaces in further partitions.
#pragma once

#include "stack/interface.hpp"
#include "stack/log.hpp"
#include "stack/subscriptions.hpp"

#include <memory>

namespace ipoib::stack {

class Node {
public:
    static constexpr std::size_t most_children = 16, most_faults = 64;
    /// `p_key` is that of "ib0"; 0: index 0 of the port's table. The adapter and its SA client must outlive the node.
    Node(fabric::Hca& hca, fabric::SaClient& sa, const Policies& policies = {}, std::uint16_t p_key = 0);
    ~Node();
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    /// "ib0".
    [[nodiscard]] Interface& interface() noexcept { return *interfaces_.front(); }
    /// Null for a name that is none.
    [[nodiscard]] Interface* find(std::string_view name) noexcept;
    [[nodiscard]] std::vector<std::string> names() const;
    /// A child of "ib0", down at first, named as Linux does: "ib0.8123". Null when it is there already, the P_Key is
    /// none, or there are too many.
    Interface* create_child(std::uint16_t p_key);
    /// False: there is no such child.
    bool delete_child(std::string_view name);
    /// The states in which the other interfaces hold a group: to the SA the port is one member. IBTA Vol 1, 15.2.5.17.
    [[nodiscard]] std::uint8_t states_of_others(const wire::Gid& mgid, const Interface& but) const;
    /// Takes everything down and ends the subscriptions.
    void close();

    /// Something that must never happen has happened.
    void fault(std::string text);
    /// The faults since the last call.
    [[nodiscard]] std::vector<std::string> take_faults() { return std::exchange(faults_, {}); }

    /// What decides about one family; without one, about what is of none.
    [[nodiscard]] const Policy& policy(Family family = Family::ipv4) const noexcept { return policies_.of(family); }
    [[nodiscard]] fabric::Hca& hca() const noexcept { return hca_; }
    [[nodiscard]] fabric::SaClient& sa() const noexcept { return sa_; }
    [[nodiscard]] fabric::Loop& loop() const noexcept { return hca_.loop(); }
    [[nodiscard]] Log& log() noexcept { return log_; }
    [[nodiscard]] Subscriptions& subscriptions() noexcept { return subscriptions_; }
    [[nodiscard]] std::uint32_t next_communication_id() noexcept { return ++communication_id_; }

private:
    void port_event(fabric::PortEvent event);
    void report(wire::View<wire::Notice> notice);
    void communication(const fabric::Datagram& datagram);
    void reject(const wire::Packet& packet, wire::View<wire::CmReq> req);

    fabric::Hca& hca_;
    fabric::SaClient& sa_;
    Policies policies_;
    Log log_;
    Subscriptions subscriptions_{*this};
    std::vector<std::unique_ptr<Interface>> interfaces_;
    std::vector<std::string> faults_;
    std::uint32_t communication_id_ = 0;
    std::uint32_t listener_ = 0;
};

}  // namespace ipoib::stack
