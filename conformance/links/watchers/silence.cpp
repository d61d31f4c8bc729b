// SPDX-License-Identifier: GPL-2.0-or-later
// Ports that spoke before a subnet manager took over or restarted, and that answer nobody since.
#include "conformance/links/watcher.hpp"
#include "protocol/wire/ip_address.hpp"

#include <map>

namespace ipoib::links {
using namespace wire;

namespace {

class Silence : public Watcher {
public:
    void take(const Moment& moment) override {
        const auto& restart = moment.subnet.sm_restarted();
        if (!restart || !moment.known.link || moment.known.link->p_key == 0) return;
        const auto& packet = moment.packet;
        if (!packet.encap) return;
        const auto p_key = moment.known.link->p_key;
        if (!asked_.empty() && moment.known.sender) asked_.erase({&moment.subnet, p_key, moment.known.sender->gid});
        Gid address;
        if (packet.arp_addresses && packet.arp[Arp::operation] == Arp::request)
            address = state::mapped(packet.arp_addresses[ArpAddresses::tpa]);
        else if (packet.icmpv6 && packet.nd_target && packet.icmpv6[Icmpv6::type] == Icmpv6Type::neighbour_solicitation)
            address = packet.nd_target[NdTarget::target];
        if (!address.is_zero()) ask(moment, address);
    }
    [[nodiscard]] std::vector<Trouble> troubles() const override {
        std::vector<Trouble> all;
        for (const auto& [key, asked] : asked_) {
            if (asked.seen.count < enough || asked.last.steady - asked.first.steady < patience) continue;
            auto trouble = asked.seen;
            trouble.name = "silent-after-failover";
            trouble.subnet = std::get<0>(key);
            trouble.p_key = std::get<1>(key);
            trouble.ports = {std::get<2>(key)};
            trouble.text =
                "{0} has said nothing on the link since the subnet manager restarted or another one took over in "
                "frame " +
                std::to_string(asked.restart.frame) + ", though it was asked for " + text(IpAddress{asked.address}) +
                ' ' + std::to_string(asked.seen.count) +
                " times: it may have lost its groups, or its way to those who ask.";
            all.push_back(std::move(trouble));
        }
        return all;
    }

private:
    static constexpr std::int64_t patience = 10 * second_ns;
    static constexpr unsigned enough = 3;
    static constexpr std::size_t most_ports = 16'384;

    using Key = std::tuple<const state::Subnet*, std::uint16_t, Gid>;  ///< subnet, P_Key, port
    struct Asked {
        Gid address;
        state::Sight restart, first, last;
        Trouble seen;
    };

    /// Only of who had the address before the restart.
    void ask(const Moment& moment, const Gid& address) {
        const auto& restart = moment.subnet.sm_restarted();
        const auto* neighbour = moment.subnet.neighbour(address, moment.known.link->p_key);
        if (!neighbour || neighbour->announced.frame >= restart.frame) return;
        if (moment.known.sender && moment.known.sender->gid == neighbour->gid) return;
        const Key key{&moment.subnet, moment.known.link->p_key, neighbour->gid};
        auto found = asked_.find(key);
        if (found == asked_.end()) {
            if (asked_.size() >= most_ports) return;
            found =
                asked_
                    .emplace(key, Asked{.address = address, .restart = restart, .first = moment.known.now, .seen = {}})
                    .first;
        }
        found->second.last = moment.known.now;
        found->second.seen.show(moment.known.now);
    }

    std::map<Key, Asked> asked_;
};

}  // namespace

std::unique_ptr<Watcher> watch_silence() { return std::make_unique<Silence>(); }

}  // namespace ipoib::links
