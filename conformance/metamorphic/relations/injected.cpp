// SPDX-License-Identifier: GPL-2.0-or-later
// One violation is put into a capture in which nothing is wrong: it is found at its frame, and nothing else is.
#include "conformance/metamorphic/checksums.hpp"
#include "conformance/metamorphic/mutated.hpp"
#include "conformance/metamorphic/relation.hpp"
#include "protocol/wire/ip_address.hpp"

#include <map>

namespace ipoib::metamorphic {
namespace {

using wire::Packet;

/// What of a frame is wrong by itself, whatever lies around it.
void judge_alone(const Source& source, const Frame& frame, Verdicts& verdicts) {
    thread_local std::vector<Frame> alone;
    alone.assign(1, frame);
    judge(alone, source.is_one_subnet, source.parties(), verdicts);
}

/// Takes what is wrong with the changed frame alone for what must be found. False where that is nothing.
bool expect(const Source& source, const Frame& changed, Choice& choice) {
    thread_local Verdicts verdicts;
    judge_alone(source, changed, verdicts);
    for (const auto& charge : verdicts.charges) choice.expected.push_back(charge.requirement);
    if (choice.expected.empty()) return false;
    choice.numbers[0] = verdicts.charges.front().rule;
    for (const auto number : choice.expected)
        for (const auto also : numbers_of({requirements::all()[number]})) choice.allowed.push_back(also);
    return true;
}

void settle(std::vector<std::uint16_t>& numbers) {
    std::ranges::sort(numbers);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

/// Whether others, who act in the capture as if nothing had been wrong, contradict the changed frame: it announces an
/// address, a record or a path, or goes to another group or address, which has duties of its own.
bool teaches(const Packet& before, wire::Octets changed) {
    Packet after;
    wire::decode(changed, after);
    const auto is_announcement = [](const Packet& packet) {
        return packet.mad || packet.arp || packet.has(wire::Part::nd);
    };
    const auto group = [](const Packet& packet) { return packet.grh ? packet.grh[wire::Grh::dgid] : wire::Gid{}; };
    const auto address = [](const Packet& packet) {
        return packet.ipv4   ? wire::IpAddress::v4(packet.ipv4[wire::Ipv4::destination])
               : packet.ipv6 ? wire::IpAddress::v6(packet.ipv6[wire::Ipv6::destination])
                             : wire::IpAddress{};
    };
    return is_announcement(before) || is_announcement(after) || group(before) != group(after) ||
           address(before) != address(after);
}

const std::vector<const traffic::Mutation*>& mutations() {
    static const auto all = traffic::all_mutations();
    return all;
}

/// Number n: mutation n, at the first frame from one of chance on that it is about.
bool choose_mutation(const Source& source, const Sources&, std::size_t number, Random& random, Choice& choice) {
    if (!source.is_legal() || source.size() == 0) return false;
    const auto which = number < mutations().size() ? number : random.below(mutations().size());
    const auto& mutation = *mutations()[which];
    const auto begin = random.below(source.size());
    Packet packet;
    for (std::size_t i = 0; i < source.size(); ++i) {
        const auto index = (begin + i) % source.size();
        auto frame = source.frames()[index];
        if (!can_be_built_again(frame, packet)) continue;
        const auto octets = mutated(mutation, packet);
        if (octets.empty()) continue;
        frame.octets = octets;
        frame.wire_length = static_cast<std::uint32_t>(octets.size());
        if (!expect(source, frame, choice)) return false;
        choice.frames = {index};
        choice.numbers[1] = which;
        for (const auto also : numbers_of(mutation.breaks)) choice.allowed.push_back(also);
        choice.may_break_more = teaches(packet, octets);
        settle(choice.expected);
        settle(choice.allowed);
        return true;
    }
    return false;
}

void put_mutated(const Source& source, Kept kept, const Choice& choice, Trace& variant) {
    variant.is_one_subnet = source.is_one_subnet;
    Packet packet;
    for (const auto index : kept) {
        put(source, index, variant);
        if (!has(choice.frames, index)) continue;
        auto& frame = variant.frames.back();
        (void)can_be_built_again(frame, packet);
        frame.octets = variant.store.keep(mutated(*mutations()[choice.numbers[1]], packet));
        frame.wire_length = static_cast<std::uint32_t>(frame.octets.size());
    }
}

/// A field that rules on single frames point at, in a header that tells nobody who or where somebody is.
bool is_plain(const wire::HeaderSpec& header, const wire::FieldSpec& field) {
    static const auto pointed_at = [] {
        std::map<std::pair<const wire::HeaderSpec*, std::uint16_t>, bool> fields;
        for (const auto& rule : rules::all())
            if (rule.points_at.spec() && rule.knows == 0 && !rule.duty)
                fields[{rule.points_at.header(), rule.points_at.spec()->at.bit}] = true;
        return fields;
    }();
    constexpr std::array<std::string_view, 6> plain{"encap",     "arp",          "arp_addresses",
                                                    "nd_option", "link_address", "udp"};
    const bool is_about_itself = std::ranges::find(plain, header.key) != plain.end();
    constexpr unsigned widest = 64;
    return is_about_itself && field.width <= widest && pointed_at.contains({&header, field.at.bit});
}

struct Place {
    std::size_t bit;
    unsigned width;
};
std::vector<Place> plain_fields(const Packet& packet) {
    std::vector<Place> places;
    constexpr std::size_t octet = 8;
    packet.for_each_header([&](const wire::HeaderSpec& header, const std::uint8_t* at) {
        for (const auto& field : header.fields)
            if (is_plain(header, field)) places.push_back({packet.offset_of(at) * octet + field.at.bit, field.width});
    });
    return places;
}

/// Inverts bits of a field; checksums and CRCs follow.
void invert(const Frame& before, wire::MutableOctets octets, std::size_t bit, unsigned width, std::uint64_t mask) {
    constexpr std::size_t octet = 8;
    auto* at = octets.data() + bit / octet;
    const wire::At where{static_cast<std::uint16_t>(bit % octet)};
    wire::write_bits(at, where, width, wire::read_bits(at, where, width) ^ mask);
    follow_up_crcs(before, octets);
}

bool choose_field(const Source& source, const Sources&, std::size_t number, Random& random, Choice& choice) {
    if (!source.is_legal() || source.size() == 0) return false;
    const auto index = number < source.size() ? number : random.below(source.size());
    const auto& frame = source.frames()[index];
    Packet packet;
    if (!can_be_built_again(frame, packet)) return false;
    const auto places = plain_fields(packet);
    if (places.empty()) return false;
    const auto& [bit, width] = places[random.below(places.size())];
    const auto mask = 1 + random.below((std::size_t{1} << std::min(width, 63u)) - 1);
    thread_local Store store;
    store.clear();
    auto changed = frame;
    const auto octets = store.copy(frame.octets);
    invert(frame, octets, bit, width, mask);
    changed.octets = octets;
    if (!expect(source, changed, choice)) return false;
    choice.frames = {index};
    choice.numbers = {choice.numbers[0], bit, width, mask};
    settle(choice.expected);
    settle(choice.allowed);
    return true;
}

void put_field(const Source& source, Kept kept, const Choice& choice, Trace& variant) {
    variant.is_one_subnet = source.is_one_subnet;
    for (const auto index : kept) {
        put(source, index, variant);
        if (!has(choice.frames, index)) continue;
        const auto& frame = source.frames()[index];
        const auto octets = variant.store.copy(frame.octets);
        invert(frame, octets, choice.numbers[1], static_cast<unsigned>(choice.numbers[2]), choice.numbers[3]);
        variant.frames.back().octets = octets;
    }
}

const Relation mutation_injected{.name = "injected-mutation",
                                 .what =
                                     "one frame of a legal capture is wrong in a way of which the frame alone is "
                                     "proof: that is found at that frame, and nothing that does not follow from it",
                                 .moves = Moves::injected,
                                 .systematic = [](const Source&) { return mutations().size(); },
                                 .choose = choose_mutation,
                                 .change = put_mutated};
const Relation field_injected{.name = "injected-field",
                              .what =
                                  "one field of a legal capture is wrong, and the frame alone is proof of it: that "
                                  "is found at that frame, and nothing that does not follow from it",
                              .moves = Moves::injected,
                              .systematic = [](const Source& source) { return source.size(); },
                              .choose = choose_field,
                              .change = put_field};

}  // namespace
}  // namespace ipoib::metamorphic
