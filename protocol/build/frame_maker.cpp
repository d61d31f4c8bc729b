// SPDX-License-Identifier: GPL-2.0-or-later
// What is filled in: lengths, padding, next headers, checksums, CRCs.
#include "protocol/build/frame_maker.hpp"

#include <algorithm>
#include <bit>

namespace ipoib::build {
using namespace wire;

namespace {

IpProtocol protocol_of(const HeaderSpec* header) {
    if (header == &spec_of<Udp>) return IpProtocol::udp;
    return header == &spec_of<Icmp> ? IpProtocol::icmp : IpProtocol::icmpv6;
}
bool has_protocol(const HeaderSpec* header) {
    return header == &spec_of<Udp> || header == &spec_of<Icmp> || header == &spec_of<Icmpv6>;
}

std::uint32_t sum_of(Octets octets) { return 0xffffu ^ internet_checksum(octets); }

void write_pair(std::uint8_t* at, unsigned value) {
    at[0] = static_cast<std::uint8_t>(value >> 8);
    at[1] = static_cast<std::uint8_t>(value);
}

constexpr std::size_t both_crcs = icrc_size + vcrc_size;

}  // namespace

/// What build() does to a packet that has these headers.
class PacketBuilder::Plan {
public:
    Plan() = default;
    explicit Plan(const PacketBuilder& packet) : layers_(packet.layers_), kept_(packet.kept_) {
        if (layers_.size() > 0 && !layers_[layers_.size() - 1].header) layers_[layers_.size() - 1].size = 0;
        // Inner headers first: an outer checksum or length covers them.
        for (std::size_t i = layers_.size(); i-- > 0;) {
            upper(i);
            ip(i);
        }
        for (std::size_t i = 0; i < layers_.size(); ++i) infiniband(i);
    }

    /// How much is behind the last header makes no difference.
    [[nodiscard]] bool is_of(const PacketBuilder& packet) const noexcept {
        const auto count = packet.layers_.size();
        if (count != layers_.size() || !std::ranges::equal(kept_, packet.kept_)) return false;
        for (std::size_t i = 0; i < count; ++i) {
            const auto &one = layers_[i], &other = packet.layers_[i];
            const bool is_payload = !one.header && i + 1 == count;
            if (one.header != other.header || one.begin != other.begin || (!is_payload && one.size != other.size))
                return false;
        }
        return true;
    }
    [[nodiscard]] static std::size_t hash(const PacketBuilder& packet) noexcept {
        std::size_t value = packet.kept_.size();
        // Headers lie a few words apart.
        for (const auto& layer : packet.layers_)
            value = std::rotl(value, 5) ^ reinterpret_cast<std::uintptr_t>(layer.header) / alignof(HeaderSpec);
        return value * 0x9e3779b97f4a7c15 >> 32;
    }

    /// `frame`: the packet's octets, padding, and room for both CRCs.
    void fill(MutableOctets frame, std::size_t size) const {
        for (const auto& step : steps_) fill(step, frame, size);
    }

private:
    struct Step {
        enum class Kind : std::uint8_t {
            octet,          ///< bits of an octet, but for those of `keep`
            octet_if_zero,  ///< as octet, unless they are something already
            pair,
            arp_type,       ///< the Type of ARP, unless it is RARP's
            length,         ///< in a pair: octets from `begin` to the end of the packet
            padded_length,  ///< with padding and ICRC, less what `shift` takes
            padding,
            ipv4_checksum,
            checksum,
        };
        // All zero, unless it is said.
        Kind kind;
        std::uint8_t shift;
        std::uint16_t keep;   ///< bits that stay as they are
        std::uint16_t value;  ///< or the protocol of a pseudo-header
        std::uint32_t at;     ///< octets from the beginning of the frame, as all of these
        std::uint32_t begin;
        std::uint32_t addresses, addresses_size;  ///< of a pseudo-header; of size 0: none
    };
    using Kind = Step::Kind;

    template <class Header, class T>
    void add(std::size_t index, const Field<Header, T>& field, Kind kind, std::type_identity_t<T> value,
             Step step = {}) {
        const auto is_this = [&](const Kept& one) { return one.layer == index && one.bit == field.at.bit; };
        if (std::ranges::any_of(kept_, is_this)) return;
        const unsigned width = field.width > 8 ? 16 : 8, first = field.at.bit % 8;
        // A pair begins where its field's octet does; PktLen is the low end of one.
        const unsigned right = width - first - field.width, mask = ((1u << field.width) - 1) << right;
        step.kind = kind;
        step.at = layers_[index].begin + field.at.bit / 8;
        step.keep = static_cast<std::uint16_t>(~mask);
        if (step.value == 0) step.value = static_cast<std::uint16_t>(static_cast<unsigned>(value) << right);
        steps_.push_back(step);
    }
    [[nodiscard]] const HeaderSpec* next(std::size_t index) const {
        return index + 1 < layers_.size() ? layers_[index + 1].header : nullptr;
    }
    [[nodiscard]] std::uint32_t end(std::size_t index) const { return layers_[index].begin + layers_[index].size; }

    void upper(std::size_t index);
    void ip(std::size_t index);
    void infiniband(std::size_t index);
    [[nodiscard]] Step checksum(std::size_t index, IpProtocol protocol) const;
    static void fill(const Step& step, MutableOctets frame, std::size_t size);

    Layers layers_;
    KeptFields kept_;
    InlineVector<Step, 24> steps_;
};

/// The sum of the nearest IP header's addresses with the upper layer's length and protocol. RFC 768; RFC 8200, 8.1.
PacketBuilder::Plan::Step PacketBuilder::Plan::checksum(std::size_t index, IpProtocol protocol) const {
    Step step{.value = static_cast<std::uint16_t>(protocol), .begin = layers_[index].begin};
    for (std::size_t i = index; i-- > 0 && step.addresses_size == 0;) {
        if (layers_[i].header == &spec_of<Ipv4>) step.addresses = layers_[i].begin + 12, step.addresses_size = 8;
        if (layers_[i].header == &spec_of<Ipv6>) step.addresses = layers_[i].begin + 8, step.addresses_size = 32;
    }
    return step;
}

void PacketBuilder::Plan::upper(std::size_t index) {
    const auto* const header = layers_[index].header;
    if (header == &spec_of<Udp>) {
        add(index, Udp::length, Kind::length, 0, {.begin = layers_[index].begin});
        add(index, Udp::checksum, Kind::checksum, 0, checksum(index, IpProtocol::udp));
    } else if (header == &spec_of<Icmp>) {
        add(index, Icmp::checksum, Kind::checksum, 0, {.begin = layers_[index].begin});
    } else if (header == &spec_of<Icmpv6>) {
        add(index, Icmpv6::checksum, Kind::checksum, 0, checksum(index, IpProtocol::icmpv6));
    }
}

void PacketBuilder::Plan::ip(std::size_t index) {
    const auto *const header = layers_[index].header, *const behind = next(index);
    if (header == &spec_of<Encap>) {
        if (behind == &spec_of<Ipv4>) add(index, Encap::type, Kind::pair, EtherType::ipv4);
        if (behind == &spec_of<Ipv6>) add(index, Encap::type, Kind::pair, EtherType::ipv6);
        if (behind == &spec_of<Arp>) add(index, Encap::type, Kind::arp_type, EtherType::arp);
    } else if (header == &spec_of<Ipv4>) {
        add(index, Ipv4::version, Kind::octet, 4);
        add(index, Ipv4::header_words, Kind::octet_if_zero, 5);
        add(index, Ipv4::ttl, Kind::octet_if_zero, 64);
        add(index, Ipv4::total_length, Kind::length, 0, {.begin = layers_[index].begin});
        if (has_protocol(behind)) add(index, Ipv4::protocol, Kind::octet, protocol_of(behind));
        add(index, Ipv4::checksum, Kind::ipv4_checksum, 0, {.begin = layers_[index].begin});
    } else if (header == &spec_of<Ipv6>) {
        add(index, Ipv6::version, Kind::octet, 6);
        add(index, Ipv6::hop_limit, Kind::octet_if_zero, 64);
        add(index, Ipv6::payload_length, Kind::length, 0, {.begin = end(index)});
        if (has_protocol(behind)) add(index, Ipv6::next_header, Kind::octet, protocol_of(behind));
    }
}

void PacketBuilder::Plan::infiniband(std::size_t index) {
    const auto* const header = layers_[index].header;
    if (header == &spec_of<Lrh>) {
        constexpr std::uint8_t in_words = 2;
        add(index, Lrh::packet_length, Kind::padded_length, 0, {.shift = in_words});
        add(index, Lrh::lnh, Kind::octet, next(index) == &spec_of<Grh> ? Lnh::global : Lnh::local);
    } else if (header == &spec_of<Grh>) {
        add(index, Grh::version, Kind::octet, 6);
        add(index, Grh::next_header, Kind::octet, Grh::iba_transport);
        add(index, Grh::payload_length, Kind::padded_length, 0, {.begin = end(index)});
    } else if (header == &spec_of<Bth>) {
        add(index, Bth::pad, Kind::padding, 0);
    }
}

void PacketBuilder::Plan::fill(const Step& step, MutableOctets frame, std::size_t size) {
    auto* const at = frame.data() + step.at;
    const auto set = [&](unsigned value) { *at = static_cast<std::uint8_t>((*at & step.keep) | value); };
    const auto set_pair = [&](std::size_t value) {
        const unsigned old = static_cast<unsigned>(at[0] << 8 | at[1]);
        write_pair(at, (old & step.keep) | (static_cast<unsigned>(value) & ~unsigned{step.keep} & 0xffff));
    };
    switch (step.kind) {
        case Kind::octet:
            return set(step.value);
        case Kind::octet_if_zero:
            return (*at & ~step.keep & 0xff) == 0 ? set(step.value) : void();
        case Kind::pair:
            return set_pair(step.value);
        case Kind::arp_type:
            if ((at[0] << 8 | at[1]) != static_cast<int>(EtherType::rarp)) write_pair(at, step.value);
            return;
        case Kind::length:
            return set_pair(size - step.begin);
        case Kind::padded_length:
            return set_pair((frame.size() - vcrc_size - step.begin) >> step.shift);
        case Kind::padding:
            return set(static_cast<unsigned>(frame.size() - both_crcs - size) << 4);
        case Kind::ipv4_checksum: {
            write_pair(at, 0);
            const auto header = Octets{frame}.first(size).subspan(step.begin);
            const auto octets = std::min<std::size_t>((header[0] & 0xfu) * 4u, header.size());
            return write_pair(at, internet_checksum(header.first(octets)));
        }
        case Kind::checksum: {
            write_pair(at, 0);
            const auto message = Octets{frame}.first(size).subspan(step.begin);
            const auto pseudo = step.value == 0
                                    ? 0
                                    : static_cast<std::uint32_t>(message.size()) + step.value +
                                          sum_of(Octets{frame}.subspan(step.addresses, step.addresses_size));
            const auto sum = internet_checksum(message, pseudo);
            // Zero would say that there is none.
            const bool is_udp = step.value == static_cast<unsigned>(IpProtocol::udp);
            return write_pair(at, sum == 0 && is_udp ? 0xffffu : sum);
        }
    }
}

FrameMaker::FrameMaker() = default;
FrameMaker::~FrameMaker() = default;
FrameMaker::FrameMaker(FrameMaker&&) noexcept = default;
FrameMaker& FrameMaker::operator=(FrameMaker&&) noexcept = default;

const PacketBuilder::Plan& FrameMaker::plan_of(const PacketBuilder& packet) {
    constexpr std::size_t places = 64;
    if (plans_.empty()) plans_.resize(places);
    auto& plan = plans_[PacketBuilder::Plan::hash(packet) % places];
    if (!plan.is_of(packet)) plan = PacketBuilder::Plan{packet};
    return plan;
}

void FrameMaker::make_by(const PacketBuilder::Plan& plan, const PacketBuilder& packet,
                         std::vector<std::uint8_t>& frame) {
    const auto octets = packet.octets();
    const auto pad = (4 - octets.size() % 4) % 4;
    frame.resize(octets.size() + pad + both_crcs);
    std::copy(octets.begin(), octets.end(), frame.begin());
    std::fill(frame.end() - static_cast<std::ptrdiff_t>(pad + both_crcs), frame.end(), std::uint8_t{0});
    plan.fill(frame, octets.size());
    packet.finish(frame);
}

MutableOctets FrameMaker::make(const PacketBuilder& packet) {
    make_by(plan_of(packet), packet, frame_);
    return frame_;
}

std::vector<std::uint8_t> FrameMaker::one(const PacketBuilder& packet) {
    std::vector<std::uint8_t> frame;
    make_by(PacketBuilder::Plan{packet}, packet, frame);
    return frame;
}

}  // namespace ipoib::build
