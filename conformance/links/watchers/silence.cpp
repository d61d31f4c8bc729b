// SPDX-License-Identifier: GPL-2.0-or-later
// Ports that spoke before a subnet manager took over or restarted, and that answer nobody since.
#include "base/secret_hash.hpp"
#include "conformance/links/watcher.hpp"
#include "protocol/wire/ip_address.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace ipoib::links {
using namespace wire;

namespace {

class Silence : public Watcher {
public:
    [[nodiscard]] unsigned looks_at() const noexcept override { return packets::of_links; }
    void take(const Moment& moment) override {
        const auto& packet = moment.packet;
        if (!packet.encap) return;
        if (moment.known.sender) speaks(moment);
        if (packet.arp_addresses || packet.nd_target) look_for_question(moment);
    }
    [[nodiscard]] std::vector<Trouble> troubles() const override {
        std::map<Key, Trouble> found;
        for (const auto& [key, port] : ports_) {
            if (port.seen.count < enough || port.last.steady - port.first.steady < patience) continue;
            auto trouble = port.seen;
            trouble.name = "silent-after-failover";
            trouble.subnet = key.subnet;
            trouble.p_key = key.p_key;
            trouble.ports = {key.port};
            trouble.text =
                "{0} has said nothing on the link since the subnet manager asked it to register anew or another one "
                "took "
                "over in frame " +
                std::to_string(port.restart.frame) + ", though it was asked for " + text(IpAddress{port.address}) +
                ' ' + std::to_string(port.seen.count) +
                " times: it may have lost its groups, or its way to those who ask.";
            found.emplace(key, std::move(trouble));
        }
        // Where a key lies in the table says nothing.
        std::vector<Trouble> all;
        for (auto& [key, trouble] : found) all.push_back(std::move(trouble));
        return all;
    }

private:
    static constexpr std::int64_t patience = 10 * second_ns;
    /// Who has said nothing for so long before it was asked anew may have been gone already.
    static constexpr std::int64_t recently = 300 * second_ns;
    static constexpr unsigned enough = 3;
    static constexpr std::size_t most_ports = 65'536;

    struct Key {
        const state::Subnet* subnet;
        std::uint16_t p_key;
        Gid port;
        friend auto operator<=>(const Key&, const Key&) = default;
    };
    /// Each packet is looked up.
    struct Hash {
        std::size_t operator()(const Key& key) const noexcept {
            return SecretHash::of(key.port.prefix(), key.port.interface_id(), std::uint64_t{key.p_key});
        }
    };
    struct Speaker {
        state::Sight spoke;              ///< the last time, on the link
        bool was_asked_in_vain = false;  ///< since then
        // Since the SM asked it anew:
        Gid address;
        state::Sight restart, first, last;
        Trouble seen;
    };

    /// The last time that another SA answered, or several ports were asked to register anew: one alone has come up
    /// itself.
    [[nodiscard]] state::Sight restart_of_all(const state::Subnet& subnet) {
        constexpr std::int64_t together = 10 * second_ns;
        const auto& latest = subnet.sm_restarted();
        auto& known = restarts_[&subnet];
        if (known.seen == latest.order) return known.at;
        known.seen = latest.order;
        const auto asked = std::ranges::count_if(subnet.ports(), [&](const state::Port& port) {
            return port.renewal && latest.steady - port.renewal.steady <= together;
        });
        const auto& last = asked > 1 ? latest : subnet.sa_changed();
        if (last.order > known.at.order) known.at = last;
        return known.at;
    }
    /// Null where there is no room for one more.
    Speaker* speaker(const Key& key, std::uint16_t lid) {
        auto& recent = recent_[lid % recent_.size()];
        if (recent && recent->first == key) return &recent->second;
        auto found = ports_.find(key);
        if (found == ports_.end()) {
            if (ports_.size() >= most_ports) return nullptr;
            found = ports_.emplace(key, Speaker{}).first;
        }
        recent = &*found;
        return &found->second;
    }
    void speaks(const Moment& moment) {
        const auto& sender = *moment.known.sender;
        auto* found = speaker({&moment.subnet, moment.known.link->p_key, sender.gid}, sender.lid);
        if (!found) return;
        auto& port = *found;
        port.spoke = moment.known.now;
        port.was_asked_in_vain = false;
        if (port.seen.count != 0) port.seen = {};
    }
    void look_for_question(const Moment& moment) {
        const auto& packet = moment.packet;
        Gid address;
        if (packet.arp_addresses && packet.arp[Arp::operation] == Arp::request)
            address = state::mapped(packet.arp_addresses[ArpAddresses::tpa]);
        else if (packet.icmpv6 && packet.nd_target && packet.icmpv6[Icmpv6::type] == Icmpv6Type::neighbour_solicitation)
            address = packet.nd_target[NdTarget::target];
        if (!address.is_zero()) ask(moment, address);
    }
    /// Only of who has spoken before the restart, not long before, and was asked for nothing in vain until then.
    void ask(const Moment& moment, const Gid& address) {
        const auto p_key = moment.known.link->p_key;
        const auto* neighbour = moment.subnet.neighbour(address, p_key);
        if (!neighbour || neighbour->port == state::none) return;
        if (moment.known.sender && moment.known.sender->gid == neighbour->gid) return;
        const auto found = ports_.find({&moment.subnet, p_key, neighbour->gid});
        if (found == ports_.end()) return;
        auto& port = found->second;
        const auto& of_port = moment.subnet.port(neighbour->port).renewal;
        const auto of_all = restart_of_all(moment.subnet);
        const auto restart = of_port.order > of_all.order ? of_port : of_all;
        if (restart.order <= port.spoke.order) {
            port.was_asked_in_vain = true;
            return;
        }
        if (port.was_asked_in_vain || restart.steady - port.spoke.steady > recently) return;
        if (port.seen.count == 0) {
            port.first = moment.known.now;
            port.restart = restart;
            port.address = address;
        }
        port.last = moment.known.now;
        port.seen.show(moment.known.now);
    }

    struct Restart {
        std::uint64_t seen = 0;  ///< the latest that was looked at, by Sight::order
        state::Sight at;
    };

    using Speakers = std::unordered_map<Key, Speaker, Hash>;
    Speakers ports_;                                  ///< none is ever taken out
    std::array<Speakers::value_type*, 64> recent_{};  ///< those found last, by LID
    std::map<const state::Subnet*, Restart> restarts_;
};

}  // namespace

std::unique_ptr<Watcher> watch_silence() { return std::make_unique<Silence>(); }

}  // namespace ipoib::links
