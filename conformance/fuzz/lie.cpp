// SPDX-License-Identifier: GPL-2.0-or-later
// Lies as text, as chance makes them, and in a frame.
#include "conformance/fuzz/lie.hpp"

#include "fabric/frame.hpp"
#include "protocol/wire/registry.hpp"
#include "protocol/wire/text.hpp"
#include "traffic-gen/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <set>
#include <stdexcept>

namespace ipoib::conformance::fuzz {
using namespace wire;

namespace {

enum class Trick : std::uint8_t { cut, tail, octet, icrc, vcrc, lost };
constexpr std::array<std::pair<std::string_view, Trick>, 6> tricks{{{"cut=", Trick::cut},
                                                                    {"tail=", Trick::tail},
                                                                    {"octet=", Trick::octet},
                                                                    {"icrc=", Trick::icrc},
                                                                    {"vcrc=", Trick::vcrc},
                                                                    {"lost=", Trick::lost}}};

struct Tricked {
    Trick trick;
    std::uint64_t value = 0;
    std::uint8_t pattern = 0;
};

std::uint64_t value_in(std::string_view lie, std::string_view text, std::uint64_t most) {
    const auto value = parse_number(text);
    if (!value || *value > most)
        throw std::invalid_argument(fmt::format("'{}' has no number of at most {}", lie.substr(0, 60), most));
    return *value;
}

/// None: it is about a field.
std::optional<Tricked> trick_of(std::string_view lie) {
    const auto found = std::ranges::find_if(tricks, [&](const auto& one) { return lie.starts_with(one.first); });
    if (found == tricks.end()) return std::nullopt;
    const auto rest = lie.substr(found->first.size());
    Tricked tricked{found->second};
    constexpr std::uint64_t whole_octet = 0xff, whole_vcrc = 0xffff, whole_icrc = 0xffffffff;
    if (tricked.trick == Trick::octet) {
        const auto colon = rest.find(':');
        if (colon == std::string_view::npos)
            throw std::invalid_argument(fmt::format("'{}' is no octet=OFFSET:XOR", lie.substr(0, 60)));
        tricked.value = value_in(lie, rest.substr(0, colon), fabric::longest_frame);
        tricked.pattern = static_cast<std::uint8_t>(value_in(lie, rest.substr(colon + 1), whole_octet));
    } else {
        tricked.value = value_in(lie, rest,
                                 tricked.trick == Trick::icrc   ? whole_icrc
                                 : tricked.trick == Trick::vcrc ? whole_vcrc
                                                                : fabric::longest_frame);
    }
    return tricked;
}

/// As the builder, from the octets of a packet whose headers keep what they say: only the padding and the length of the
/// LRH and of the GRH follow.
std::vector<std::uint8_t> resized(std::vector<std::uint8_t> frame, std::uint64_t cut, std::uint64_t tail) {
    constexpr std::size_t crcs = icrc_size + vcrc_size, unit = 4;
    Packet packet;
    decode(frame, packet);
    if (!packet.bth || frame.size() < crcs) return frame;
    const auto begin = packet.offset_of(packet.bth.data()) + Bth::size;
    const std::size_t pad = packet.bth[Bth::pad];
    if (frame.size() < begin + pad + crcs) return frame;
    const auto payload = frame.size() - crcs - pad - begin;
    const auto kept = payload - std::min<std::size_t>(cut, payload);
    const auto most = fabric::longest_frame - begin - crcs - unit;
    const auto size = std::min(kept + tail, most);
    const auto new_pad = (unit - size % unit) % unit;
    std::vector<std::uint8_t> made(frame.begin(),
                                   frame.begin() + static_cast<std::ptrdiff_t>(begin + std::min(kept, size)));
    constexpr std::uint8_t filler = 0x5a;
    made.resize(begin + size, filler);
    made.resize(begin + size + new_pad + crcs);
    const auto bth_at = begin - Bth::size;
    set_field(MutableOctets{made}.subspan(bth_at), Bth::pad, static_cast<std::uint8_t>(new_pad));
    set_field(MutableOctets{made}, Lrh::packet_length, static_cast<std::uint16_t>((made.size() - vcrc_size) / unit));
    if (packet.grh && bth_at >= Lrh::size + Grh::size)
        set_field(MutableOctets{made}.subspan(Lrh::size), Grh::payload_length,
                  static_cast<std::uint16_t>(made.size() - Lrh::size - Grh::size - vcrc_size));
    return made;  // CRCs that are zero are filled in where it is sent
}

/// Both zero: whoever sends the frame fills them in.
void ask_for_crcs(std::vector<std::uint8_t>& frame) {
    constexpr std::size_t crcs = icrc_size + vcrc_size;
    if (frame.size() >= crcs) std::fill(frame.end() - crcs, frame.end(), std::uint8_t{0});
}

/// The headers that the packet has, also within others: the innermost is the last.
std::vector<const HeaderSpec*> headers_of(const build::PacketBuilder& packet) {
    std::vector<std::pair<std::size_t, const HeaderSpec*>> found;  // with the octets from there to the end
    for (const auto& row : registry()) {
        // Others of that name may be found first.
        if (header_named(row.header->key) != row.header) continue;
        if (packet.has(*row.header)) found.emplace_back(packet.from(*row.header).size(), row.header);
        for (const auto& way : row.ways) {
            if (way.kind != Way::Kind::inside || !way.outer || !way.find || !packet.has(*way.outer)) continue;
            const auto octets = way.find(packet.from(*way.outer), 0);
            if (octets.size() >= row.header->size) found.emplace_back(octets.size(), row.header);
        }
    }
    std::ranges::stable_sort(found, std::ranges::greater{}, &std::pair<std::size_t, const HeaderSpec*>::first);
    std::vector<const HeaderSpec*> headers;
    for (const auto& [size, header] : found)
        if (std::ranges::find(headers, header) == headers.end()) headers.push_back(header);
    return headers;
}

std::string wide_value(const FieldSpec& field, Random& random) {
    std::string octets;
    const bool is_constant = random() % 2 == 0;
    const auto constant = random() % 2 == 0 ? 0u : 0xffu;
    for (unsigned i = 0; i < field.width / 8u; ++i)
        octets += fmt::format("{:02x}", is_constant ? constant : static_cast<unsigned>(random() % 256));
    if (field.show != Show::gid && field.show != Show::ipv6) return octets;
    Gid gid;
    for (auto& octet : gid.octets) octet = static_cast<std::uint8_t>(is_constant ? constant : random());
    return text(gid);
}

std::uint64_t greatest(const FieldSpec& field) {
    return field.width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << field.width) - 1;
}

std::uint64_t narrow_value(const FieldSpec& field, Random& random) {
    const auto most = greatest(field);
    if (!field.names.empty() && random() % 2 == 0) return field.names[random() % field.names.size()].value & most;
    const std::array<std::uint64_t, 8> of_interest{
        0, 1, 2, most, most - 1, most / 2, most / 2 + 1, std::uint64_t{1} << random() % field.width};
    if (random() % 3 != 0) return of_interest[random() % of_interest.size()] & most;
    return random() & most;
}

}  // namespace

void check_lie(std::string_view lie) {
    if (!trick_of(lie)) static_cast<void>(traffic::Override(lie));
}

namespace {

/// "BTH.OpCode=0..7" as "BTH.OpCode=0..3" and "BTH.OpCode=4..7", "LRH.SL=1,3,7" as "LRH.SL=1" and "LRH.SL=3,7"; nothing
/// for a lie of one value, or of values by chance.
std::vector<Sweep> parts_of(const std::string& lie) {
    const auto begin = lie.find('=') + 1;
    if (begin == 0 || trick_of(lie)) return {};
    const auto field = lie.substr(0, begin), values = lie.substr(begin);
    if (const auto commas = static_cast<std::uint32_t>(std::ranges::count(values, ',')); commas > 0) {
        std::size_t cut = 0;
        const auto in_first = (commas + 1) / 2;
        for (std::uint32_t i = 0; i < in_first; ++i) cut = values.find(',', cut) + 1;
        return {{field + values.substr(0, cut - 1), in_first}, {field + values.substr(cut), commas + 1 - in_first}};
    }
    constexpr std::string_view to = "..";
    const auto middle = values.find(to);
    if (middle == std::string::npos) return {};
    const auto least = parse_number(values.substr(0, middle)), most = parse_number(values.substr(middle + to.size()));
    if (!least || !most || *least >= *most || *most - *least > std::numeric_limits<std::uint32_t>::max()) return {};
    const auto half = *least + (*most - *least) / 2;
    const auto part = [&](std::uint64_t first, std::uint64_t last) {
        return Sweep{first == last ? fmt::format("{}{:#x}", field, first)
                                   : fmt::format("{}{:#x}{}{:#x}", field, first, to, last),
                     static_cast<std::uint32_t>(last - first + 1)};
    };
    return {part(*least, half), part(half + 1, *most)};
}

}  // namespace

std::vector<LiesHalf> halves_of(std::span<const std::string> lies) {
    std::vector<LiesHalf> halves;
    for (std::size_t i = 0; i < lies.size(); ++i) {
        const auto parts = parts_of(lies[i]);
        if (!parts.empty() && !halves.empty()) return {};
        for (const auto& part : parts) {
            halves.push_back({{lies.begin(), lies.end()}, part.values});
            halves.back().lies[i] = part.lie;
        }
    }
    return halves;
}

struct Lies::Parts {
    std::vector<traffic::Override> fields;
    std::vector<Tricked> of_octets;
    std::uint64_t cut = 0, tail = 0;
    std::uint32_t icrc = 0;
    std::uint16_t vcrc = 0;
    Random random;
};

Lies::Lies(std::span<const std::string> lies) : parts_(std::make_unique<Parts>()) {
    auto& parts = *parts_;
    for (const auto& lie : lies) {
        const auto tricked = trick_of(lie);
        if (!tricked)
            parts.fields.emplace_back(lie);
        else if (tricked->trick == Trick::cut)
            parts.cut += tricked->value;
        else if (tricked->trick == Trick::tail)
            parts.tail += tricked->value;
        else if (tricked->trick == Trick::icrc)
            parts.icrc = static_cast<std::uint32_t>(tricked->value);
        else if (tricked->trick == Trick::vcrc)
            parts.vcrc = static_cast<std::uint16_t>(tricked->value);
        else if (tricked->trick == Trick::octet)
            parts.of_octets.push_back(*tricked);
    }
}
Lies::Lies(Lies&&) noexcept = default;
Lies& Lies::operator=(Lies&&) noexcept = default;
Lies::~Lies() = default;

std::vector<std::uint8_t> Lies::build(build::PacketBuilder packet) {
    auto& parts = *parts_;
    for (auto& field : parts.fields) static_cast<void>(field.apply(packet, parts.random));
    if (parts.icrc != 0) packet.damage_icrc(parts.icrc);
    if (parts.vcrc != 0) packet.damage_vcrc(parts.vcrc);
    auto frame = packet.build();
    if (parts.cut > 0 || parts.tail > 0) frame = resized(std::move(frame), parts.cut, parts.tail);
    for (const auto& one : parts.of_octets)
        if (one.value < frame.size()) frame[one.value] ^= one.pattern;
    if (!parts.of_octets.empty()) ask_for_crcs(frame);
    if (frame.size() > fabric::longest_frame) frame.resize(fabric::longest_frame);
    return frame;
}

std::vector<std::uint8_t> build_with(build::PacketBuilder packet, std::span<const std::string> lies) {
    return Lies(lies).build(std::move(packet));
}

bool loses(std::span<const std::string> lies) {
    return std::ranges::any_of(lies, [](const std::string& lie) {
        const auto tricked = trick_of(lie);
        return tricked && tricked->trick == Trick::lost;
    });
}

std::string random_lie(const build::PacketBuilder& packet, Random& random) {
    constexpr unsigned of_octets = 5;
    const auto all = headers_of(packet);
    const auto choice = random() % 20;
    const auto size = packet.octets().size();
    if (choice == 0) return fmt::format("cut={}", 1 + random() % (random() % 2 ? 16 : std::max<std::size_t>(1, size)));
    if (choice == 1) return fmt::format("tail={}", 1 + random() % (random() % 2 ? 64 : 4000));
    if (choice < of_octets || all.empty())
        return fmt::format("octet={}:{:#x}", random() % (size + icrc_size), 1 + random() % 255);
    // What is behind the transport headers is where parsers are.
    const auto* header = random() % 2 ? all.back() : all[random() % all.size()];
    const auto* field = &header->fields[random() % header->fields.size()];
    const bool is_wide = field->width > 64;
    return fmt::format("{}.{}={}", header->key, field->name,
                       is_wide ? wide_value(*field, random) : fmt::format("{:#x}", narrow_value(*field, random)));
}

std::vector<Sweep> sweeps_of(const build::PacketBuilder& packet) {
    constexpr unsigned widest_whole = 8, widest = 64;
    std::vector<Sweep> sweeps;
    for (const auto* header : headers_of(packet))
        for (const auto& field : header->fields) {
            if (field.width > widest) continue;
            const auto most = greatest(field);
            if (field.width <= widest_whole) {
                sweeps.push_back({fmt::format("{}.{}=0..{:#x}", header->key, field.name, most),
                                  static_cast<std::uint32_t>(most + 1)});
                continue;
            }
            std::set<std::uint64_t> values{0, 1, 2, most / 2, most / 2 + 1, most - 1, most};
            for (const auto& named : field.names)
                for (const auto near : {named.value - 1u, named.value + 0u, named.value + 1u})
                    values.insert(near & most);
            sweeps.push_back({fmt::format("{}.{}={:#x}", header->key, field.name, fmt::join(values, ",")),
                              static_cast<std::uint32_t>(values.size())});
        }
    // Where headers end is where lengths matter.
    for (const auto octets : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 128, 256})
        sweeps.push_back({fmt::format("cut={}", octets), 1});
    for (const auto octets : {1, 4, 1000, 2000}) sweeps.push_back({fmt::format("tail={}", octets), 1});
    return sweeps;
}

}  // namespace ipoib::conformance::fuzz
