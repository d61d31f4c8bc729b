// SPDX-License-Identifier: GPL-2.0-or-later
// Addresses that a DHCP server gave to a port and gives it no more, since it calls itself something else: a boot loader
// and an operating system, or two clients of one host, have client identifiers of their own.
#include "conformance/links/watcher.hpp"
#include "protocol/wire/dhcp_message.hpp"
#include "protocol/wire/ip_address.hpp"

#include <algorithm>
#include <map>

namespace ipoib::links {
using namespace wire;

namespace {

class LeaseWatcher : public Watcher {
public:
    [[nodiscard]] unsigned looks_at() const noexcept override { return packets::leases; }
    void take(const Moment& moment) override {
        const auto& packet = moment.packet;
        const auto message = udp_payload(packet);
        const auto dhcp = View<Dhcp>::at(message);
        const auto type = dhcp ? dhcp_type(message) : std::nullopt;
        if (!type) return;
        if (dhcp[Dhcp::op] == Dhcp::request && *type == DhcpType::request && is_of_client(moment, dhcp))
            asked(moment, dhcp, message);
        else if (dhcp[Dhcp::op] == Dhcp::reply && (*type == DhcpType::ack || *type == DhcpType::nak))
            answered(moment, dhcp, *type == DhcpType::ack);
    }
    [[nodiscard]] std::vector<Trouble> troubles() const override {
        std::vector<Trouble> all;
        for (const auto& [key, one] : lost_) {
            auto trouble = one;
            trouble.name = "dhcp-lease-lost";
            trouble.subnet = key.subnet;
            trouble.p_key = key.p_key;
            trouble.ports = {key.port};
            all.push_back(std::move(trouble));
        }
        return all;
    }

private:
    static constexpr std::size_t most_ports = 16'384, most_requests = 1024, most_clients = 4;

    struct Key {
        const state::Subnet* subnet;
        std::uint16_t p_key;
        Gid port;
        friend auto operator<=>(const Key&, const Key&) = default;
    };
    struct Lease {
        std::uint32_t address = 0;
        std::string client;  ///< identifier in hex
        state::Sight at;
    };
    /// Two interfaces on one port are two clients, which each keep their lease.
    struct Leases {
        std::vector<Lease> held;  ///< the latest last, one for each client
        bool are_of_several = false;
    };
    struct Request {
        Key key;
        std::string client;
    };

    /// Not what a relay or a router hands on.
    static bool is_of_client(const Moment& moment, View<Dhcp> dhcp) {
        const auto& packet = moment.packet;
        if (!moment.known.sender || !packet.ipv4 || dhcp[Dhcp::giaddr] != 0) return false;
        if (packet.is_multicast) return true;
        const auto* own = moment.subnet.neighbour(state::mapped(packet.ipv4[Ipv4::source]), moment.known.link->p_key);
        return own && own->gid == moment.known.sender->gid;
    }
    void asked(const Moment& moment, View<Dhcp> dhcp, Octets message) {
        constexpr std::size_t most_shown = 24;
        const auto identifier = find_dhcp_option(message, dhcp_option::client_identifier);
        const auto client = identifier ? hex_octets(*identifier, most_shown) : std::string("none");
        if (requests_.size() >= most_requests) requests_.clear();
        requests_[dhcp[Dhcp::xid]] = {{&moment.subnet, moment.known.link->p_key, moment.known.sender->gid}, client};
    }
    void answered(const Moment& moment, View<Dhcp> dhcp, bool is_granted) {
        const auto found = requests_.find(dhcp[Dhcp::xid]);
        if (found == requests_.end() || found->second.key.subnet != &moment.subnet) return;
        const auto request = found->second;
        requests_.erase(found);
        const auto address = is_granted ? dhcp[Dhcp::yiaddr] : 0;
        if (leases_.size() >= most_ports && !leases_.contains(request.key)) return;
        auto& [held, are_of_several] = leases_[request.key];
        const auto own = std::ranges::find(held, request.client, &Lease::client);
        if (own != held.end() && own + 1 != held.end() && own->address == address) {
            are_of_several = true;
            lost_.erase(request.key);
        }
        if (!held.empty() && !are_of_several && held.back().client != request.client && held.back().address != address)
            lose(moment, request, held.back(), address);
        if (!is_granted) return;
        if (own != held.end()) held.erase(own);
        if (held.size() >= most_clients) held.erase(held.begin());
        held.push_back({address, request.client, moment.known.now});
    }
    void lose(const Moment& moment, const Request& request, const Lease& lease, std::uint32_t address) {
        const auto found = lost_.find(request.key);
        if (found == lost_.end() && lost_.size() >= most_ports) return;
        auto& trouble = lost_[request.key];
        trouble.show(moment.known.now);
        trouble.text =
            "{0} had " + ipv4_text(lease.address) + " by DHCP as client " + lease.client + " (frame " +
            std::to_string(lease.at.frame) + "), calls itself " + request.client + " now, and " +
            (address ? "gets " + ipv4_text(address) : std::string("is refused")) +
            ": to the server it is another client. Set one client identifier for all that boot and run on it.";
    }

    std::map<std::uint32_t, Request> requests_;  ///< by transaction
    std::map<Key, Leases> leases_;
    std::map<Key, Trouble> lost_;
};

}  // namespace

std::unique_ptr<Watcher> watch_leases() { return std::make_unique<LeaseWatcher>(); }

}  // namespace ipoib::links
