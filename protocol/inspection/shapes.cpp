// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol/inspection/shapes.hpp"

#include "protocol/state/likeness.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ipoib::inspection {
using namespace wire;

namespace {

std::uint64_t word(const std::uint8_t* at) noexcept {
    std::uint64_t value = 0;
    std::memcpy(&value, at, sizeof value);
    return value;
}

using Words __attribute__((vector_size(16))) = std::uint64_t;

Words words(const std::uint8_t* at) noexcept {
    Words value{};
    std::memcpy(&value, at, sizeof value);
    return value;
}

/// Of the fields that differ most between flows; nothing where a frame is too short for that. Only this process sees
/// it, and who makes frames that share one only makes them cost what they cost without shapes.
std::optional<std::uint64_t> hash_of(Octets frame) noexcept {
    constexpr auto ports = sizeof(std::uint32_t);
    if (frame.size() < Lrh::size) return {};
    const auto bth = Lrh::size + (View<Lrh>::at(frame)[Lrh::lnh] == Lnh::global ? Grh::size : 0);
    const auto deth = bth + Bth::size, ip = deth + Deth::size + Encap::size;
    if (frame.size() < ip + Ipv4::size + ports) return {};
    const auto* at = frame.data();
    std::uint64_t hash = frame.size();
    const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15u; };
    mix(word(at));
    mix(word(at + bth));
    mix(word(at + deth) + word(at + ip + Ipv4::source.at.bit / 8));
    const auto ipv4 = View<Ipv4>::at(frame.subspan(ip));
    if (ipv4[Ipv4::protocol] == IpProtocol::udp) {
        std::uint32_t both = 0;
        std::memcpy(&both, at + ip + Ipv4::size, ports);
        mix(both);
    }
    return hash;
}

/// Those that packets can have of which there are others of their shape.
template <class Visit>
void visit_plain_headers(Packet& p, Visit&& visit) {
    visit(p.lrh), visit(p.grh), visit(p.bth), visit(p.deth), visit(p.encap), visit(p.arp), visit(p.arp_addresses);
    visit(p.ipv4), visit(p.ipv6), visit(p.udp), visit(p.icmp), visit(p.icmpv6);
}

/// Whether it has no other headers.
bool has_plain_headers(Packet& packet) {
    int all = 0, plain = 0;
    wire::detail::visit_headers(packet, [&](const auto& view) { all += view ? 1 : 0; });
    visit_plain_headers(packet, [&](const auto& view) { plain += view ? 1 : 0; });
    return all == plain && !packet.nd_options.data() && !packet.wrong_option.data();
}

bool is_echo(Icmpv6Type type) noexcept { return type == Icmpv6Type::echo_request || type == Icmpv6Type::echo_reply; }

}  // namespace

void Shape::move_to(const std::uint8_t* to) noexcept {
    auto& p = packet;
    const auto* from = p.octets.data();
    const auto place = [&](Octets& octets) {
        if (octets.data()) octets = {to + (octets.data() - from), octets.size()};
    };
    const auto view = [&]<class Header>(View<Header>& header) {
        if (header) header = View<Header>::at({to + (header.data() - from), Header::size});
    };
    view(p.mgid);
    for (auto* octets : {&p.octets, &p.sender_hardware, &p.ip_payload, &p.payload}) place(*octets);
    if (has_others()) return visit_plain_headers(p, view);
    wire::detail::visit_headers(p, view);
    for (auto* octets : {&p.nd_options, &p.wrong_option}) place(*octets);
}

bool Shape::fits(Octets octets, std::size_t length_on_wire, Origin from) const noexcept {
    if (compared_ == 0 || octets.size() != packet.octets.size() || length_on_wire != wire_length || from != origin)
        return false;
    // Two words at a time: what the machine does at once.
    const auto differs = [&](std::size_t at) {
        return (words(octets.data() + at) ^ words(head_.data() + at)) & words(mask_.data() + at);
    };
    Words differences{};
    std::size_t at = 0;
    for (; at + sizeof differences <= compared_; at += sizeof differences) differences |= differs(at);
    differences |= differs(compared_ - sizeof differences);
    return (differences[0] | differences[1]) == 0;
}

void Shape::pass_over(const std::uint8_t* at, std::size_t octets) noexcept {
    std::fill_n(mask_.begin() + (at - packet.octets.data()), octets, std::uint8_t{0});
}

template <class Header, class T>
void Shape::pass_over(View<Header> view, const Field<Header, T>& field) noexcept {
    pass_over(view.data() + field.at.bit / 8, field.width / 8);
}

/// What decoding looks at, and the rules, is in the headers. Of these the numbers that count packets and the checksums
/// are passed over; what a datagram carries is looked at only in the protocols that IPoIB itself uses.
void Shape::learn() noexcept {
    compared_ = 0;
    const auto& p = packet;
    const bool is_plain = has_plain_headers(packet) && p.medium == Medium::infiniband && p.deth && p.is_ipoib() &&
                          p.encap && p.foreign == Foreign::none && !p.stop && !p.is_truncated && !p.is_fragment &&
                          p.others_count == 0 && !p.has(Part::nd) && p.content != EtherType{} &&
                          p.encap[Encap::type] == p.content;
    if (!is_plain || (!p.arp_addresses && !p.ipv4 && !p.ipv6)) return;
    const auto* end = p.arp_addresses ? p.arp_addresses.octets().data() + ArpAddresses::size : p.ip_payload.data();
    if (p.udp) end = p.udp.data() + Udp::size;
    if (p.icmp) end = p.icmp.data() + Icmp::size;
    if (p.icmpv6) end = p.icmpv6.data() + Icmpv6::size;
    if (!end) return;
    const auto length = static_cast<std::size_t>(end - p.octets.data());
    if (length > longest) return;
    compared_ = length;
    std::copy_n(p.octets.data(), length, head_.begin());
    mask_.fill(0xff);
    pass_over(p.bth, Bth::psn);
    if (p.ipv4) {
        pass_over(p.ipv4, Ipv4::identification);
        pass_over(p.ipv4, Ipv4::checksum);
    }
    if (p.udp) pass_over(p.udp, Udp::checksum);
    if (p.icmp) {
        pass_over(p.icmp, Icmp::checksum);
        pass_over(p.icmp, Icmp::identifier);
        pass_over(p.icmp, Icmp::sequence);
    }
    if (p.icmpv6) pass_over(p.icmpv6, Icmpv6::checksum);
    if (p.icmpv6 && is_echo(p.icmpv6[Icmpv6::type])) pass_over(p.icmpv6, Icmpv6::body);
}

bool Examiner::holds(const rules::Rule& rule, const Packet& packet) {
    if (rule.holds && !rule.holds(packet)) return false;
    return !rule.notes || !rule.notes(packet);
}

void Examiner::decide(Shape& shape) {
    const auto& packet = shape.packet;
    shape.observed.clear();
    shape.asked.clear();
    shape.passed.clear();
    shape.judged.generation = 0;
    shape.recollection.version = 0;
    const auto& plan = plans_.of(packet, shape.origin);
    shape.is_decided = false;
    for (const auto index : plan.alone) {
        const auto& rule = *(*rules_)[index];
        if (rule.applies && !rule.applies(packet)) continue;
        if (!holds(rule, packet)) return;
        shape.observed.push_back(index);
    }
    for (const auto index : plan.around) {
        const auto& rule = *(*rules_)[index];
        const bool is_concerned = !rule.concerns || rule.concerns(packet);
        if (is_concerned && (!rule.applies || !rule.applies.is_alone() || rule.applies(packet))) {
            shape.asked.push_back(index);
        } else if (rule.knows != 0) {
            shape.passed.push_back(index);
        }
    }
    shape.is_decided = true;
}

void Examiner::look_at(Shape& shape, Octets octets, std::size_t wire_length, Medium medium, Origin origin) {
    decode(octets, shape.packet, medium, wire_length);
    shape.origin = origin;
    shape.wire_length = wire_length;
    shape.forget_others();
    decide(shape);
}

namespace {

/// What is another one's in each frame of a shape.
Examined of_frame(Shape& shape, Octets octets) noexcept {
    const auto& packet = shape.packet;
    Examined examined{.shape = &shape};
    if (!packet.lrh) return examined;
    examined.crcs = check_crcs(octets, packet.tail);
    if (packet.deth) examined.likeness = state::likeness_of(packet, octets.data());
    return examined;
}

}  // namespace

Examined Examiner::examine(Octets octets, std::size_t wire_length, Medium medium, Origin origin) {
    const auto hash = medium == Medium::infiniband && habit_.pays() ? hash_of(octets) : std::nullopt;
    if (!hash) return examine_alone(octets, wire_length, medium, origin);
    if (latest_.empty()) latest_.resize(slots);
    auto* latest = &latest_[slot_of(*hash)];
    for (std::size_t i = 0; i < 2; ++i)
        if (latest[i] && latest[i]->fits(octets, wire_length, origin)) {
            habit_.found();
            return of_frame(*latest[i], octets);
        }
    look_at(*lone_, octets, wire_length, medium, origin);
    lone_->learn();
    auto* shape = lone_.get();
    if (shape->has_others()) {
        std::swap(latest[0], latest[1]);
        std::swap(lone_, latest[0]);
        if (!lone_) lone_ = std::make_unique<Shape>();
    }
    return of_frame(*shape, octets);
}

Examined Examiner::examine_alone(Octets octets, std::size_t wire_length, Medium medium, Origin origin) {
    decode(octets, lone_->packet, medium, wire_length);
    lone_->origin = origin;
    lone_->is_decided = false;
    lone_->forget_others();
    return of_frame(*lone_, octets);
}

Examined Examiner::examine_and_keep(Octets octets, std::size_t wire_length, Medium medium, Origin origin) {
    const auto hash = medium == Medium::infiniband && habit_.pays() ? hash_of(octets) : std::nullopt;
    if (latest_kept_.empty()) latest_kept_.resize(slots);
    auto* latest = hash ? &latest_kept_[slot_of(*hash)] : nullptr;
    for (std::size_t i = 0; latest && i < 2 && latest[i]; ++i)
        if (latest[i]->fits(octets, wire_length, origin)) {
            habit_.found();
            return of_frame(*latest[i], octets);
        }
    const auto free_one = [](std::vector<std::unique_ptr<Shape>> & among, std::size_t count) -> auto& {
        if (count == among.size()) among.emplace_back();
        if (!among[count]) among[count] = std::make_unique<Shape>();
        return among[count];
    };
    auto& lone = free_one(lone_kept_, lone_count_);
    auto& shape = *lone;
    look_at(shape, octets, wire_length, medium, origin);
    if (latest) shape.learn();
    if (latest && shape.has_others()) {
        std::swap(lone, free_one(kept_, kept_count_++));
        latest[1] = std::exchange(latest[0], &shape);
    } else {
        ++lone_count_;
    }
    return of_frame(shape, octets);
}

void Examiner::forget() noexcept {
    lone_count_ = 0;
    if (kept_count_ < most_kept) return;
    kept_count_ = 0;
    std::ranges::fill(latest_kept_, nullptr);
}

}  // namespace ipoib::inspection
