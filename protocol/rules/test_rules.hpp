// SPDX-License-Identifier: GPL-2.0-or-later
// For tests: one packet judged by all rules, and packets that break some of them.
#pragma once

#include "catch2.hpp"
#include "protocol/build/samples.hpp"
#include "protocol/rules/rule.hpp"
#include "protocol/wire/golden.hpp"
#include "protocol/wire/text.hpp"

#include <set>
#include <string>
#include <vector>

namespace ipoib::rules::testing {

using namespace build;
using namespace wire;

using Ids = std::set<std::string>;

inline const Node a = samples::host(1), b = samples::host(2);
inline const build::Link plain{};
inline constexpr std::uint16_t mlid = 0xc005;
inline const std::uint32_t group = parse_ipv4("239.255.1.2").value();
inline const std::uint32_t local_group = parse_ipv4("224.0.0.251").value();
inline const Gid group6 = parse_gid("ff05:0:0:1234:5678:9abc:def0:1").value();
inline const Gid local_group6 = parse_gid("ff02::fb").value();

/// What a judge would know of the link from the SA's answer.
struct Knowledge {
    explicit Knowledge(const build::Link& link) : broadcast(state::parameters_of(broadcast_record(a, link).view())) {
        known.facts = state::facts(state::Fact::broadcast_gid, state::Fact::broadcast_record) | state::whole_record;
        known.broadcast = &broadcast;
        known.broadcast_gid = &broadcast.mgid;
        known.speaker = &speaker;
    }
    Knowledge(const Knowledge&) = delete;
    Knowledge& operator=(const Knowledge&) = delete;

    state::GroupParameters broadcast;
    state::Neighbour speaker{.announced = {.frame = 1}};  ///< of the IP source
    state::Known known;
};

struct Outcome {
    Ids violated;         ///< without "RULE-"
    Ids noted, observed;  ///< whole ids
};

inline Outcome judge(Octets frame, const state::Known& known, Medium medium = Medium::infiniband) {
    Packet packet;
    decode(frame, packet, medium);
    Outcome outcome;
    for (const auto& rule : all()) {
        if ((rule.needs & ~packet.found) != 0 || (rule.knows & ~known.facts) != 0) continue;
        if (rule.applies && !rule.applies(packet, known)) continue;
        outcome.observed.emplace(rule.id);
        if (rule.holds && !rule.holds(packet, known)) {
            outcome.violated.emplace(rule.id.substr(5));
            // What a report writes must be there and must not throw.
            if (rule.expected_of) CHECK_FALSE(rule.expected_of(packet, known).empty());
            if (!rule.expected_of) CHECK_FALSE(rule.expected.empty());
            if (rule.actual_of) CHECK_FALSE(rule.actual_of(packet, known).empty());
            if (const auto* at = rule.at ? rule.at(packet) : rule.points_at.in(packet)) {
                CHECK(at >= frame.data());
                CHECK(at + rule.points_at.header()->size <= frame.data() + frame.size());
            }
        } else if (rule.notes && rule.notes(packet, known)) {
            outcome.noted.emplace(rule.id);
        }
    }
    return outcome;
}
inline Outcome judge(Octets frame, const build::Link& link = plain, Medium medium = Medium::infiniband) {
    return judge(frame, Knowledge{link}.known, medium);
}

inline Ids violated(const PacketBuilder& packet, const build::Link& link = plain) {
    return judge(packet.build(), link).violated;
}

/// Whether a packet that breaks no rule is noted by this one.
inline bool noted(const PacketBuilder& packet, const std::string& id) {
    const auto outcome = judge(packet.build());
    CHECK(outcome.violated == Ids{});
    return outcome.noted.count("RULE-" + id) == 1;
}

/// One wrong packet and exactly the rules that it breaks.
struct Wrong {
    const char* what;
    PacketBuilder packet;
    Ids breaks;
    build::Link link{};
};

/// By the file of the rules that they are about.
[[nodiscard]] std::vector<Wrong> wrong_rfc4391();
[[nodiscard]] std::vector<Wrong> wrong_joins();
[[nodiscard]] std::vector<Wrong> wrong_rfc4392();
[[nodiscard]] std::vector<Wrong> wrong_rfc4755();
[[nodiscard]] std::vector<Wrong> wrong_rfc4390();

template <class Change>
PacketBuilder with(PacketBuilder packet, Change&& change) {
    change(packet);
    return packet;
}
template <class Header, class T>
PacketBuilder lie(PacketBuilder packet, const Field<Header, T>& field, const std::type_identity_t<T>& value) {
    return packet.set(field, value);
}
inline PacketBuilder to_mgid(PacketBuilder packet, std::string_view mgid) {
    return packet.set(Grh::dgid, parse_gid(mgid).value());
}

}  // namespace ipoib::rules::testing
