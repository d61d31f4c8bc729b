// SPDX-License-Identifier: GPL-2.0-or-later
// A broken relation is found, shrunk and told; one that holds is not. Other names are right names.
#include "catch2.hpp"
#include "conformance/metamorphic/decisiveness.hpp"
#include "conformance/metamorphic/foreign.hpp"
#include "conformance/metamorphic/text.hpp"
#include "traffic-gen/mutation.hpp"
#include "traffic-gen/profile.hpp"

#include <algorithm>
#include <set>

namespace ipoib::metamorphic {
namespace {

using wire::Encap, wire::Packet;

Sources some_sources(std::initializer_list<const char*> names) {
    Sources sources;
    for (const auto* name : names) sources.push_back(played(*traffic::find_profile(name)));
    return sources;
}

bool choose_all(const Source& source, const Sources&, std::size_t, Random&, Choice& choice) {
    choice.frames = source.everything;
    return source.size() > 0;
}

/// Sets a reserved bit in every UDP packet that is chosen: the judge must say so, whatever the relation claims.
void spoil(const Source& source, Kept kept, const Choice& choice, Trace& variant) {
    Packet packet;
    for (const auto index : kept) {
        put(source, index, variant);
        wire::decode(source.frames()[index].octets, packet);
        if (!packet.udp || !has(choice.frames, index)) continue;
        auto builder = build::PacketBuilder::of(packet);
        builder.set(Encap::reserved, 0x4000);
        variant.frames.back().octets = variant.store.keep(builder.build());
    }
}

std::size_t one(const Source&) { return 1; }

Outcome run_only(const Relation& relation, const Sources& sources) {
    return execute({.sources = sources, .relations = {&relation}});
}

}  // namespace

TEST_CASE("Metamorphic: what breaks a relation is found and shrunk to the frame that shows it") {
    static const Relation relation{.name = "test-spoils",
                                   .what = "a claim that is wrong",
                                   .moves = Moves::nothing_new,
                                   .systematic = one,
                                   .is_random = false,
                                   .choose = choose_all,
                                   .change = spoil};
    const auto sources = some_sources({"udp", "arp"});
    const auto outcome = run_only(relation, sources);
    CHECK(outcome.variants == 2);
    REQUIRE(outcome.breaks.size() == 1);
    const auto& found = outcome.breaks.front();
    CHECK(found.sources == std::vector<const Source*>{sources.front().get()});
    CHECK(rules::all()[found.reduced.moved.charge.rule].id == "RULE-RFC4391-6-02");
    CHECK_FALSE(found.reduced.moved.is_gone);
    // One frame, and the one that tells whose queue pair it is for.
    CHECK(found.reduced.kept.size() <= 2);
    CHECK(std::ranges::includes(found.reduced.kept, found.reduced.choice.frames));
    CHECK(key(found) == "test-spoils RULE-RFC4391-6-02 appears");
    CHECK_THAT(text(found), Catch::Matchers::Contains("FAIL RFC4391-6-02 appears"));
    CHECK_THAT(text(found), Catch::Matchers::Contains("variant test-spoils/profile:udp,long/0"));
    CHECK_THAT(text(outcome), Catch::Matchers::Contains("2 variants"));
}

TEST_CASE("Metamorphic: a verdict that goes is told where it must stay, and not where it may go") {
    auto sources = Sources{};
    {
        Trace trace;
        const auto clean = played(*traffic::find_profile("udp"));
        spoil(*clean, clean->everything, {.frames = clean->everything}, trace);
        sources.push_back(make_source("test:spoilt", std::move(trace)));
        REQUIRE_FALSE(sources.front()->is_legal());
        const auto lose_all = [](const Source&, Kept, const Choice&, Trace&) {};
        static Relation relation{.name = "test-loses",
                                 .what = "everything goes",
                                 .moves = Moves::same,
                                 .systematic = one,
                                 .is_random = false,
                                 .choose = choose_all,
                                 .change = lose_all};
        const auto outcome = run_only(relation, sources);
        REQUIRE(outcome.breaks.size() == 1);
        CHECK(outcome.breaks.front().reduced.moved.is_gone);
        CHECK(outcome.breaks.front().reduced.kept.size() <= 2);
        relation.moves = Moves::nothing_new;
        CHECK(run_only(relation, sources).breaks.empty());
        relation.moves = Moves::same;
        relation.exceptions = {&rfc4391::encap_reserved_tx};
        CHECK(run_only(relation, sources).breaks.empty());
    }
}

TEST_CASE("Metamorphic: a violation that a source declares is no false accusation when it shows") {
    static const Relation relation{.name = "test-declared",
                                   .what = "a claim that is wrong",
                                   .systematic = one,
                                   .is_random = false,
                                   .choose = choose_all,
                                   .change = spoil};
    auto sources = some_sources({"udp"});
    sources.front()->broken = numbers_of({&rfc4391::encap_reserved_tx});
    CHECK(run_only(relation, sources).breaks.empty());
}

TEST_CASE("Metamorphic: the same variant is chosen by the same number") {
    const auto sources = some_sources({"membership", "nd"});
    for (const auto* relation : all_relations())
        // Those of these tests are registered, too.
        for (const std::size_t number : {0u, 1u, 5u, 1'000'003u}) {
            CAPTURE(std::string(relation->name), number);
            Choice first, second;
            const bool is_one = choose(*relation, *sources[0], sources, number, first);
            CHECK(choose(*relation, *sources[0], sources, number, second) == is_one);
            CHECK(first.frames == second.frames);
            CHECK(first.numbers == second.numbers);
        }
}

TEST_CASE("Metamorphic: other names are in every header, with right CRCs and checksums") {
    const Renaming renaming{.lid = 0x400,
                            .mlid = 0x21,
                            .p_key = 0x0011,
                            .qpn = 0x1000,
                            .transaction = 77,
                            .guid = 0x0000000100010203,
                            .ipv4 = 5};
    for (const auto* profile : {"nd", "arp", "dhcp", "connected", "membership", "port-setup"}) {
        CAPTURE(std::string(profile));
        const auto source = played(*traffic::find_profile(profile));
        const auto& names = source->names();
        REQUIRE(names.can_rename());
        Store store;
        Trace renamed;
        for (std::size_t i = 0; i < source->size(); ++i) {
            auto frame = source->frames()[i];
            frame.octets = names.rename(frame, i, renaming, store);
            Packet packet;
            wire::decode(frame.octets, packet);
            CHECK(wire::check_crcs(frame.octets, packet.tail).icrc == wire::Check::good);
            CHECK(wire::check_crcs(frame.octets, packet.tail).vcrc == wire::Check::good);
            // Built again, every length and checksum is computed: nothing differs.
            if (packet.is_ipoib() && packet.deth)
                CHECK(std::ranges::equal(build::PacketBuilder::of(packet).build(), frame.octets));
            renamed.frames.push_back(frame);
        }
        const Names now{renamed.frames};
        for (const auto guid : names.guids()) CHECK_FALSE(now.guids().contains(guid));
        for (const auto guid : names.guids()) CHECK(now.guids().contains(guid + renaming.guid));
        CHECK(now.guids().size() == names.guids().size());
        CHECK(now.greatest_lid() == names.greatest_lid() + renaming.lid);
        constexpr std::uint16_t of_all = 0x7fff;  // the partition of management
        for (const auto p_key : names.p_keys())
            CHECK(now.p_keys().contains(p_key == of_all ? p_key : p_key ^ renaming.p_key));
        CHECK(now.p_keys().size() == names.p_keys().size());
    }
}

TEST_CASE("Metamorphic: frames have a name in common when they share a port, a group or a transaction") {
    const auto source = played(*traffic::find_profile("arp"));
    const auto& shared = source->shared();
    REQUIRE(shared.size() == source->size());
    std::vector<std::uint64_t> common;
    std::ranges::set_intersection(shared[0], shared[1], std::back_inserter(common));  // a join and its answer
    CHECK_FALSE(common.empty());
}

TEST_CASE("Metamorphic: verdicts that become fewer are told, more are not") {
    const auto sources = some_sources({"udp", "nd"});
    const auto now = decisiveness(sources);
    CHECK(now.share() > 0);
    const auto kept = parse(page(now, Outcome{}));
    CHECK(kept.sources == now.sources);
    CHECK(losses(kept, now).empty());
    auto more = kept;
    more.cells[{"RFC4391-6-02", "profile"}].judged += 1;
    REQUIRE(losses(more, now).size() == 1);
    CHECK_THAT(losses(more, now).front(), Catch::Matchers::Contains("RFC4391-6-02 is judged in 2"));
    auto fewer = kept;
    fewer.cells[{"RFC4391-6-02", "profile"}].judged -= 1;
    CHECK(losses(fewer, now).empty());
    more = kept;
    more.cells[{"RFC4391-6-02", "profile"}].broken += 1;
    CHECK(losses(more, now).size() == 1);
    CHECK_THROWS_AS(parse("nothing of a table"), std::runtime_error);
}

TEST_CASE("Metamorphic: every profile and mutation of the generator is a source") {
    Sources sources;
    add_generated(sources, 1);
    std::set<std::string> names;
    for (const auto& source : sources) names.insert(source->name);
    CHECK(names.size() == sources.size());
    for (const auto* profile : traffic::all_profiles())
        if (profile->name != "replay" && profile->name != "malformed")
            CHECK(names.contains("profile:" + std::string(profile->name)));
    for (const auto* mutation : traffic::all_mutations()) {
        const auto name = "mutation:" + std::string(mutation->name);
        CAPTURE(name);
        CHECK(names.contains(name));
    }
}

}  // namespace ipoib::metamorphic
