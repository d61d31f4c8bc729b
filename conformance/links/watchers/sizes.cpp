// SPDX-License-Identifier: GPL-2.0-or-later
// Large packets that never arrive where small ones do: an MTU that the way has not, and nobody tells of it.
#include "base/secret_hash.hpp"
#include "conformance/links/watcher.hpp"
#include "protocol/wire/ip_address.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

namespace ipoib::links {
using namespace wire;

namespace {

/// TCP, as far as it is looked at. RFC 9293, 3.1.
struct Segment {
    std::uint16_t from = 0, to = 0;
    std::uint32_t sequence = 0, acknowledged = 0;
    std::size_t data = 0;
    bool has_acknowledgement = false;
};
std::optional<Segment> segment_of(const Packet& packet) {
    constexpr std::size_t least = 20;
    constexpr std::uint8_t ack = 0x10;
    const auto octets = packet.ip_payload;
    if (packet.ip_protocol != IpProtocol::tcp || packet.is_fragment || packet.is_truncated || octets.size() < least)
        return {};
    const auto number = [&](std::size_t at, unsigned bits) {
        return static_cast<std::uint32_t>(read_bits(octets.data() + at, {0}, bits));
    };
    const std::size_t header = 4 * std::size_t{number(12, 4)};
    if (header < least || header > octets.size()) return {};
    return Segment{.from = static_cast<std::uint16_t>(number(0, 16)),
                   .to = static_cast<std::uint16_t>(number(2, 16)),
                   .sequence = number(4, 32),
                   .acknowledged = number(8, 32),
                   .data = octets.size() - header,
                   .has_acknowledgement = (octets[13] & ack) != 0};
}
/// Whether a sequence number is at or behind another, as they count around.
constexpr bool is_after(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) >= 0; }

class Sizes : public Watcher {
public:
    void take(const Moment& moment) override {
        const auto& packet = moment.packet;
        if (!moment.known.link || moment.known.link->p_key == 0 || packet.is_multicast ||
            (!packet.ipv4 && !packet.ipv6))
            return;
        if (packet.icmp && !packet.is_fragment)
            echo(moment, packet.icmp[Icmp::type] == Icmp::echo_request, packet.icmp[Icmp::type] == Icmp::echo_reply,
                 std::uint32_t{packet.icmp[Icmp::identifier]} << 16 | packet.icmp[Icmp::sequence]);
        else if (packet.icmpv6 && !packet.is_fragment && packet.ip_payload.size() >= 8)
            echo(moment, packet.icmpv6[Icmpv6::type] == Icmpv6Type{128}, packet.icmpv6[Icmpv6::type] == Icmpv6Type{129},
                 static_cast<std::uint32_t>(read_bits(packet.ip_payload.data() + 4, {0}, 32)));
        else if (const auto segment = segment_of(packet))
            tcp(moment, *segment);
    }
    [[nodiscard]] std::vector<Trouble> troubles() const override {
        std::map<Key, Trouble> found;
        for (const auto& [key, flow] : flows_) {
            if (flow.seen.count < enough || flow.arrived == 0 || flow.least_lost <= flow.arrived) continue;
            // Who answers nothing at all any more is not there.
            const auto pair = flows_.find({key.subnet, key.p_key, key.from, key.to, 0});
            if (pair == flows_.end() || pair->second.alive.steady <= flow.seen.frames.front().steady) continue;
            auto trouble = flow.seen;
            trouble.name = "mtu-black-hole";
            trouble.subnet = key.subnet;
            trouble.p_key = key.p_key;
            trouble.ports = {flow.sender};
            trouble.text =
                "From {0} to " + text(IpAddress{key.to}) + " packets of up to " + std::to_string(flow.arrived) +
                " octets of IP arrive, and " + std::to_string(flow.seen.count) + " of " +
                std::to_string(flow.least_lost) +
                " or more did not, though the sender has tried again: the way may carry less than its MTU, or a "
                "receiver or switch drops large packets.";
            found.emplace(key, std::move(trouble));
        }
        // Where a key lies in the table says nothing.
        std::vector<Trouble> all;
        for (auto& [key, trouble] : found) all.push_back(std::move(trouble));
        return all;
    }

private:
    /// A copy of the same packet in another capture is no retransmission.
    static constexpr std::int64_t least_wait = second_ns / 10;
    static constexpr unsigned enough = 3;
    static constexpr std::size_t most_flows = 8192;

    struct Key {
        const state::Subnet* subnet;
        std::uint16_t p_key;
        Gid from, to;         ///< IP addresses
        std::uint32_t ports;  ///< of TCP; 0 for echo
        friend auto operator<=>(const Key&, const Key&) = default;
    };
    /// Each packet of TCP is looked up several times.
    struct Hash {
        std::size_t operator()(const Key& key) const noexcept {
            return SecretHash::of(key.from.prefix(), key.from.interface_id(), key.to.prefix(), key.to.interface_id(),
                                  std::uint64_t{key.ports} << 16 | key.p_key);
        }
    };
    /// A packet that waits for its answer.
    struct Sent {
        std::uint32_t number = 0;
        std::size_t size = 0;  ///< of the IP packet; 0: none
        state::Sight at;
    };
    struct Flow {
        Gid sender;
        std::size_t arrived = 0;     ///< the largest that was answered
        std::size_t least_lost = 0;  ///< the smallest that was not
        std::array<Sent, 8> open{};
        std::size_t next = 0;
        Trouble seen;
        state::Sight alive;  ///< of all between the two: the last sign that something has arrived
    };

    static std::pair<Gid, Gid> ends(const Packet& packet) {
        if (packet.ipv4)
            return {state::mapped(packet.ipv4[Ipv4::source]), state::mapped(packet.ipv4[Ipv4::destination])};
        return {packet.ipv6[Ipv6::source], packet.ipv6[Ipv6::destination]};
    }
    static std::size_t size_of(const Packet& packet) {
        return packet.ipv4 ? packet.ipv4[Ipv4::total_length]
                           : std::size_t{packet.ipv6[Ipv6::payload_length]} + Ipv6::size;
    }
    Flow* flow(const Moment& moment, const Gid& from, const Gid& to, std::uint32_t ports, bool may_add) {
        const Key key{&moment.subnet, moment.known.link->p_key, from, to, ports};
        const auto found = flows_.find(key);
        if (found != flows_.end()) return &found->second;
        if (!may_add || flows_.size() >= most_flows) return nullptr;
        return &flows_[key];
    }
    void is_alive(const Moment& moment, const Gid& from, const Gid& to) {
        if (auto* pair = flow(moment, from, to, 0, true)) pair->alive = moment.known.now;
    }
    static void arrives(Flow& one, std::size_t size) {
        one.arrived = std::max(one.arrived, size);
        // Large ones do arrive, so that those before were lost by chance.
        if (one.least_lost != 0 && size >= one.least_lost) {
            one.least_lost = 0;
            one.seen = {};
        }
    }
    static void is_lost(Flow& one, std::size_t size, const state::Sight& at) {
        one.least_lost = one.least_lost == 0 ? size : std::min(one.least_lost, size);
        one.seen.show(at);
    }
    void echo(const Moment& moment, bool is_request, bool is_reply, std::uint32_t number) {
        if (!is_request && !is_reply) return;
        const auto [from, to] = ends(moment.packet);
        auto* one = is_request ? flow(moment, from, to, 0, true) : flow(moment, to, from, 0, false);
        if (!one) return;
        if (is_reply) {
            for (auto& sent : one->open)
                if (sent.size != 0 && sent.number == number) {
                    arrives(*one, sent.size);
                    one->alive = moment.known.now;
                    sent = {};
                }
            return;
        }
        if (moment.known.sender) one->sender = moment.known.sender->gid;
        // What makes room has had no answer while others were sent; the latest may still get one.
        for (auto& sent : one->open)
            if (sent.size != 0 && sent.number != number && moment.known.now.steady - sent.at.steady >= second_ns) {
                if (sent.size > one->arrived) is_lost(*one, sent.size, sent.at);
                sent = {};
            }
        one->open[one->next++ % one->open.size()] = {number, size_of(moment.packet), moment.known.now};
    }
    void tcp(const Moment& moment, const Segment& segment) {
        const auto [from, to] = ends(moment.packet);
        const auto ports = std::uint32_t{segment.from} << 16 | segment.to;
        const auto back = std::uint32_t{segment.to} << 16 | segment.from;
        if (auto* other = segment.has_acknowledgement ? flow(moment, to, from, back, false) : nullptr) {
            for (auto& sent : other->open)
                if (sent.size != 0 && is_after(segment.acknowledged, sent.number)) {
                    arrives(*other, sent.size);
                    sent = {};
                }
            // Without data of its own it acknowledges something, if only what came behind a gap.
            if (segment.data == 0) is_alive(moment, to, from);
        }
        if (segment.data == 0) return;
        auto* one = flow(moment, from, to, ports, true);
        if (!one) return;
        if (moment.known.sender) one->sender = moment.known.sender->gid;
        const auto number = segment.sequence + static_cast<std::uint32_t>(segment.data);
        for (auto& sent : one->open)
            if (sent.size != 0 && sent.number == number) {
                if (moment.known.now.steady - sent.at.steady < least_wait) return;
                if (sent.size > one->arrived) is_lost(*one, sent.size, moment.known.now);
                sent.at = moment.known.now;
                return;
            }
        one->open[one->next++ % one->open.size()] = {number, size_of(moment.packet), moment.known.now};
    }

    std::unordered_map<Key, Flow, Hash> flows_;
};

}  // namespace

std::unique_ptr<Watcher> watch_sizes() { return std::make_unique<Sizes>(); }

}  // namespace ipoib::links
