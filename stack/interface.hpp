// SPDX-License-Identifier: GPL-2.0-or-later
// One IPoIB interface: a queue pair on one port in one partition, and everything that RFC 4391 asks of it.
#pragma once

#include "fabric/node/sa_client.hpp"
#include "stack/arp.hpp"
#include "stack/connected.hpp"
#include "stack/dhcp_client.hpp"
#include "stack/dhcp_server.hpp"
#include "stack/echo.hpp"
#include "stack/egress.hpp"
#include "stack/link_setup.hpp"
#include "stack/mapping.hpp"
#include "stack/membership.hpp"
#include "stack/neighbour_discovery.hpp"
#include "stack/neighbours.hpp"
#include "stack/paths.hpp"
#include "stack/router.hpp"
#include "stack/udp.hpp"

namespace ipoib::stack {

class Node;

/// Times that a test may shorten.
struct Timers {
    fabric::Duration reachable = std::chrono::seconds{30};   ///< until a neighbour is asked again
    fabric::Duration gc = std::chrono::seconds{60};          ///< until an unused neighbour is forgotten
    fabric::Duration membership = std::chrono::seconds{20};  ///< until a group that nothing is sent to is left
};

class Interface {
public:
    static constexpr std::size_t most_addresses = 32;
    /// `p_key` 0: index 0 of the port's table.
    Interface(Node& node, std::string name, std::uint16_t p_key);
    ~Interface();
    Interface(const Interface&) = delete;
    Interface& operator=(const Interface&) = delete;

    // Control.
    /// Why not, or empty. The link is then set up as soon as the port and the SA let it.
    [[nodiscard]] std::string up();
    /// Leaves every group, ends every connection.
    void down();
    [[nodiscard]] bool is_up() const noexcept { return queue_pair_ != nullptr && !lingers_; }
    /// Whether the link is set up.
    [[nodiscard]] bool is_running() const noexcept { return is_running_ && !lingers_; }
    /// Calls `done(whether it is running)` once it is, at the latest after `patience`.
    void when_running(fabric::Duration patience, std::function<void(bool)> done);
    /// Why the link is not there.
    [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }
    [[nodiscard]] std::string add_address(const wire::IpNetwork& network);
    [[nodiscard]] std::string remove_address(const wire::IpNetwork& network);
    [[nodiscard]] const std::vector<wire::IpNetwork>& addresses() const noexcept { return addresses_; }
    /// At most what the link allows; in connected mode what connections allow.
    [[nodiscard]] std::string set_mtu(std::size_t mtu);
    [[nodiscard]] std::size_t mtu(Family family = Family::ipv4) const noexcept;
    /// Of what goes to a neighbour: by the connection with it, or by datagrams. RFC 4755, 7.2.
    [[nodiscard]] std::size_t mtu_to(const wire::IpAddress& neighbour) const;
    /// Of what goes by datagrams.
    [[nodiscard]] std::size_t datagram_mtu(Family family) const noexcept;
    /// The scope of the broadcast group; 0: searched for. A link is set up anew.
    void set_scope(std::uint8_t scope);
    [[nodiscard]] std::uint8_t scope() const noexcept { return scope_; }
    [[nodiscard]] std::uint16_t p_key() const noexcept { return p_key_; }
    void set_timers(const Timers& timers);
    [[nodiscard]] const Timers& timers() const noexcept { return timers_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    // From the node.
    void port_event(fabric::PortEvent event);
    void report(std::uint16_t trap_number, const wire::Gid& mgid);

    // From the link setup.
    void link_up(const Link& link, const Group& broadcast);
    void link_lost(const std::string& reason);

    // What the parts need of the whole.
    /// What decides about one family; without one, about what is of none.
    [[nodiscard]] const Policy& policy(Family family = Family::ipv4) const noexcept;
    [[nodiscard]] fabric::Loop& loop() const noexcept;
    [[nodiscard]] fabric::SaClient& sa() const noexcept;
    void log(std::string_view text) const;
    /// Takes nothing any more until it comes up again: the fault of a wrong stack.
    void stall(const std::string& at);
    /// Takes the queue pair that a neighbour's packet came from for its own.
    void follow(const wire::Packet& packet);
    [[nodiscard]] const Link& link() const noexcept { return link_; }
    [[nodiscard]] const fabric::PortFacts& port() const noexcept { return port_; }
    /// Of the port, before its last change.
    [[nodiscard]] const wire::Gid& previous_gid() const noexcept { return previous_gid_; }
    [[nodiscard]] build::Node self() const noexcept;
    [[nodiscard]] std::uint32_t ud_qpn() const noexcept { return queue_pair_ ? queue_pair_->qpn : 0; }
    /// The own link-layer address.
    [[nodiscard]] HardwareAddress hardware_address(Family family = Family::ipv4) const noexcept;
    [[nodiscard]] bool is_connected_mode() const noexcept { return connections_.is_enabled(); }
    [[nodiscard]] bool has_address(const wire::IpAddress& address) const noexcept;
    /// Whether it is one that address resolution answers for.
    [[nodiscard]] bool answers_at(const wire::IpAddress& address) const noexcept;
    [[nodiscard]] bool is_on_link(const wire::IpAddress& address) const noexcept;
    [[nodiscard]] bool is_directed_broadcast(const wire::IpAddress& address) const noexcept;
    /// The own address to speak to `to` from.
    [[nodiscard]] std::optional<wire::IpAddress> source_for(const wire::IpAddress& to) const noexcept;
    /// The same for a question about `to`, which is known or not.
    [[nodiscard]] std::optional<wire::IpAddress> asks_from(const wire::IpAddress& to, bool is_known);
    /// Asks who has an address: everyone, or one peer.
    void solicit(const wire::IpAddress& address, const Peer* peer);
    /// From its queue pair, or from QP1, with the next PSN of that.
    void transmit(build::PacketBuilder& packet);
    void transmit_mad(build::PacketBuilder& packet);
    /// Over a connection.
    void transmit_frame(const fabric::Frame& frame);
    [[nodiscard]] bool attach(const Group& group);
    void detach(const Group& group);
    /// Of a connection that this side has requested, or the peer.
    [[nodiscard]] fabric::QueuePair* create_queue_pair(bool is_requester, std::size_t receive_mtu);
    void destroy_queue_pair(fabric::QueuePair* queue_pair);
    [[nodiscard]] std::uint32_t next_communication_id() noexcept;

    /// The states in which other interfaces of the node hold a group.
    [[nodiscard]] std::uint8_t states_of_others(const wire::Gid& mgid) const;

    [[nodiscard]] Groups& groups() noexcept { return groups_; }
    [[nodiscard]] Paths& paths() noexcept { return paths_; }
    [[nodiscard]] Neighbours& neighbours() noexcept { return neighbours_; }
    [[nodiscard]] NeighbourDiscovery& neighbour_discovery() noexcept { return neighbour_discovery_; }
    [[nodiscard]] InternetProtocol& ip() noexcept { return ip_; }
    [[nodiscard]] Echo& echo() noexcept { return echo_; }
    [[nodiscard]] Sockets& sockets() noexcept { return sockets_; }
    [[nodiscard]] Membership& membership() noexcept { return membership_; }
    [[nodiscard]] Egress& egress() noexcept { return egress_; }
    [[nodiscard]] Router& router() noexcept { return router_; }
    [[nodiscard]] Connections& connections() noexcept { return connections_; }
    [[nodiscard]] DhcpClient& dhcp() noexcept { return dhcp_; }
    [[nodiscard]] DhcpServer& dhcp_server() noexcept { return dhcp_server_; }

private:
    void look_at_port();
    void receive(const fabric::Datagram& datagram);
    void receive_over_connection(const wire::Packet& packet, bool is_requester, std::size_t receive_mtu);
    void begin(Beginning beginning);
    void end_link();
    void end_lingering();
    [[nodiscard]] bool keeps_p_key() const;
    void leave_old_link();
    void tell_waiting();
    void add_link_local();
    [[nodiscard]] std::size_t link_mtu(Family family) const noexcept;
    [[nodiscard]] std::size_t largest_mtu(Family family) const noexcept;
    void hold_groups_of(const wire::IpNetwork& network, bool is_held);

    Node& node_;
    std::string name_;
    std::uint16_t p_key_;
    std::uint8_t scope_ = 0;
    std::size_t mtu_limit_ = 0;  ///< 0: none but the link's
    Timers timers_;
    fabric::QueuePair* queue_pair_ = nullptr;
    fabric::PortFacts port_;
    wire::Gid first_gid_, previous_gid_;  ///< of the port: when the first link was set up, and before it changed
    std::size_t p_key_index_ = 0;         ///< of the link in the port's table, when it was set up
    Link link_;
    std::size_t link_octets_ = 0;  ///< the link's MTU; 0 before there was a link
    bool is_running_ = false, has_stalled_ = false, had_link_ = false;
    bool lingers_ = false;                    ///< it is down, and does something still: Policy::when_down
    Beginning beginning_ = Beginning::first;  ///< of the link that is set up
    std::string trouble_ = "the interface is down";
    std::vector<wire::IpNetwork> addresses_;
    std::vector<wire::IpNetwork> former_addresses_;                ///< that were taken away, the last ones
    std::map<wire::IpAddress, wire::IpAddress> first_asked_from_;  ///< Policy::asks_again_as_before
    struct Waiting {
        std::uint64_t number;
        std::function<void(bool)> done;
    };
    std::vector<Waiting> waiting_;
    std::uint64_t next_waiting_ = 0;
    Lifetime lifetime_;

    Groups groups_{*this};
    LinkSetup link_setup_{*this};
    Paths paths_{*this};
    Neighbours neighbours_{*this};
    AddressResolution arp_{*this};
    NeighbourDiscovery neighbour_discovery_{*this};
    InternetProtocol ip_{*this};
    Echo echo_{*this};
    Sockets sockets_{*this};
    Egress egress_{*this};
    Membership membership_{*this};
    Router router_{*this};
    Connections connections_{*this};
    DhcpClient dhcp_{*this};
    DhcpServer dhcp_server_{*this};
};

}  // namespace ipoib::stack
