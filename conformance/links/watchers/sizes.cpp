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
    std::size_t data = 0;   ///< octets
    std::size_t takes = 0;  ///< numbers of the sequence: those, and one for SYN
    bool has_acknowledgement = false;
};
std::optional<Segment> segment_of(const Packet& packet) {
    constexpr std::size_t least = 20;
    constexpr std::uint8_t syn = 0x02, ack = 0x10;
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
                   .takes = octets.size() - header + ((octets[13] & syn) != 0 ? 1 : 0),
                   .has_acknowledgement = (octets[13] & ack) != 0};
}
/// What is quoted of a packet that is too large for a link on its way: IP addresses, and ports where it is TCP.
struct Quoted {
    Gid from, to;
    std::uint32_t ports = 0;
};
/// RFC 1191, 4 and RFC 4443, 3.2.
std::optional<Quoted> quoted_as_too_big(const Packet& packet) {
    constexpr std::size_t header = 8;
    constexpr std::uint8_t unreachable = 3, must_fragment = 4, too_big = 2;
    const auto octets = packet.ip_payload;
    if (packet.is_fragment || octets.size() < header) return {};
    const auto inner = octets.subspan(header);
    const auto ports = [&](std::size_t at) {
        return inner.size() < at + 4 ? std::uint32_t{0}
                                     : static_cast<std::uint32_t>(read_bits(inner.data() + at, {0}, 32));
    };
    if (packet.icmp && octets[0] == unreachable && octets[1] == must_fragment) {
        const auto ip = View<Ipv4>::at(inner);
        if (!ip) return {};
        const bool is_tcp = ip[Ipv4::protocol] == IpProtocol::tcp;
        return Quoted{state::mapped(ip[Ipv4::source]), state::mapped(ip[Ipv4::destination]),
                      is_tcp ? ports(std::size_t{4} * (inner[0] & 0xfU)) : 0};
    }
    if (packet.icmpv6 && octets[0] == too_big) {
        const auto ip = View<Ipv6>::at(inner);
        if (!ip) return {};
        const bool is_tcp = ip[Ipv6::next_header] == IpProtocol::tcp;
        return Quoted{ip[Ipv6::source], ip[Ipv6::destination], is_tcp ? ports(Ipv6::size) : 0};
    }
    return {};
}
/// Whether a neighbour is still there, asked of it alone, or its answer.
struct Probe {
    Gid from, to;  ///< IP addresses
    bool is_answer = false;
};
std::optional<Probe> probe_of(const Packet& packet) {
    if (const auto& arp = packet.arp_addresses)
        return Probe{state::mapped(arp[ArpAddresses::spa]), state::mapped(arp[ArpAddresses::tpa]),
                     packet.arp[Arp::operation] == Arp::reply};
    if (!packet.icmpv6 || !packet.nd_target) return {};
    if (packet.icmpv6[Icmpv6::type] == Icmpv6Type::neighbour_solicitation)
        return Probe{packet.ipv6[Ipv6::source], packet.nd_target[NdTarget::target]};
    if (packet.icmpv6[Icmpv6::type] != Icmpv6Type::neighbour_advertisement) return {};
    return Probe{packet.nd_target[NdTarget::target], packet.ipv6[Ipv6::destination], true};
}
/// Whether a sequence number is at or behind another, as they count around.
constexpr bool is_after(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) >= 0; }

class Sizes : public Watcher {
public:
    [[nodiscard]] unsigned looks_at() const noexcept override { return packets::resolution | packets::dialogues; }
    void take(const Moment& moment) override {
        const auto& packet = moment.packet;
        if (packet.is_multicast) return;
        if (const auto probe = probe_of(packet)) is_probed(moment, *probe);
        if (!packet.ipv4 && !packet.ipv6) return;
        // Of an echo request in fragments the first one stands for all: it is answered when all have arrived.
        if (const auto quoted = quoted_as_too_big(packet))
            is_told(moment, *quoted);
        else if (packet.icmp)
            echo(moment, packet.icmp[Icmp::type] == Icmp::echo_request, packet.icmp[Icmp::type] == Icmp::echo_reply,
                 std::uint32_t{packet.icmp[Icmp::identifier]} << 16 | packet.icmp[Icmp::sequence]);
        else if (packet.icmpv6 && packet.ip_payload.size() >= 8)
            echo(moment, packet.icmpv6[Icmpv6::type] == Icmpv6Type{128}, packet.icmpv6[Icmpv6::type] == Icmpv6Type{129},
                 static_cast<std::uint32_t>(read_bits(packet.ip_payload.data() + 4, {0}, 32)));
        else if (const auto segment = segment_of(packet))
            tcp(moment, *segment);
    }
    [[nodiscard]] std::vector<Trouble> troubles() const override {
        std::map<Key, Trouble> found;
        for (const auto& [key, flow] : flows_) {
            if (flow.seen.count < enough) continue;
            const auto found_pair = flows_.find({key.subnet, key.p_key, key.from, key.to, 0});
            if (found_pair == flows_.end()) continue;
            const auto& pair = found_pair->second;
            const auto arrived = std::max(flow.arrived, pair.arrived);
            if (arrived == 0 || flow.least_lost <= arrived) continue;
            // Who answers nothing at all any more is not there; and what another exchange of the two has carried since
            // the way does carry.
            const auto& first = flow.seen.frames.front();
            if (pair.alive.order <= first.order) continue;
            if (pair.largest >= flow.least_lost && pair.largest_at.order > first.order) continue;
            auto trouble = flow.seen;
            trouble.name = "mtu-black-hole";
            trouble.subnet = key.subnet;
            trouble.p_key = key.p_key;
            trouble.ports = {flow.sender};
            trouble.text =
                "From {0} to " + text(IpAddress{key.to}) + " packets of up to " + std::to_string(arrived) +
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
        // Of all between the two, where it is theirs.
        state::Sight alive;   ///< the last sign that something has arrived
        state::Sight probed;  ///< the last time that it was asked by itself whether it is there
        std::size_t largest = 0;
        state::Sight largest_at;  ///< the last time that so much or more has arrived
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
    /// A small packet that arrives: the question, which its answer shows.
    void is_probed(const Moment& moment, const Probe& probe) {
        auto* pair = probe.is_answer ? flow(moment, probe.to, probe.from, 0, false)
                                     : flow(moment, probe.from, probe.to, 0, false);
        if (!pair) return;
        const auto& now = moment.known.now;
        if (!probe.is_answer)
            pair->probed = now;
        else if (pair->probed && now.steady - pair->probed.steady <= second_ns)
            pair->alive = now;
    }
    void arrives(const Moment& moment, Flow& one, const Gid& from, const Gid& to, std::size_t size) {
        if (auto* pair = flow(moment, from, to, 0, true); pair && size >= pair->largest) {
            pair->largest = size;
            pair->largest_at = moment.known.now;
        }
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
    /// The sender is told, and what it tries from then on counts.
    void is_told(const Moment& moment, const Quoted& quoted) {
        for (const auto ports : {std::uint32_t{0}, quoted.ports})
            if (auto* one = flow(moment, quoted.from, quoted.to, ports, false)) {
                one->least_lost = 0;
                one->seen = {};
                one->open = {};
            }
    }
    void echo(const Moment& moment, bool is_request, bool is_reply, std::uint32_t number) {
        if (!is_request && !is_reply) return;
        const auto [from, to] = ends(moment.packet);
        auto* one = is_request ? flow(moment, from, to, 0, true) : flow(moment, to, from, 0, false);
        if (!one) return;
        if (is_reply) {
            for (auto& sent : one->open)
                if (sent.size != 0 && sent.number == number) {
                    arrives(moment, *one, to, from, sent.size);
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
                    arrives(moment, *other, to, from, sent.size);
                    sent = {};
                }
            // Without data of its own it acknowledges something, if only what came behind a gap.
            if (segment.data == 0) is_alive(moment, to, from);
        }
        if (segment.takes == 0) return;
        auto* one = flow(moment, from, to, ports, true);
        if (!one) return;
        if (moment.known.sender) one->sender = moment.known.sender->gid;
        const auto number = segment.sequence + static_cast<std::uint32_t>(segment.takes);
        for (auto& sent : one->open)
            if (sent.size != 0 && sent.number == number) {
                if (moment.known.now.steady - sent.at.steady < least_wait) return;
                if (segment.data > 0 && sent.size > one->arrived) is_lost(*one, sent.size, moment.known.now);
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
