// SPDX-License-Identifier: GPL-2.0-or-later
// Each violation changes what it says, and nothing else; what is counted of them.
#include "catch2.hpp"
#include "conformance/recall/at_rest.hpp"
#include "conformance/recall/page.hpp"
#include "conformance/recall/stale.hpp"
#include "protocol/build/headers.hpp"
#include "traffic-gen/mutation.hpp"

#include <set>

namespace ipoib::recall {
namespace {

using wire::Packet;

Worlds worlds_of(const char* situation) { return make_worlds({.situations = {situation}, .other_link_types = false}); }

/// The fields in which two frames differ, CRCs and checksums left out; nothing where their headers do.
std::set<std::string> differences(wire::Octets one, wire::Octets other) {
    std::set<std::string> names;
    Packet packet;
    wire::decode(one, packet);
    packet.for_each_header([&](const wire::HeaderSpec& header, const std::uint8_t* at) {
        const auto begin = packet.offset_of(at);
        for (const auto& field : header.fields) {
            for (std::size_t bit = field.at.bit; bit < field.at.bit + field.width; ++bit) {
                const auto index = begin + bit / 8;
                if (index >= other.size()) continue;
                const auto mask = 0x80u >> bit % 8;
                if ((one[index] ^ other[index]) & mask)
                    names.insert(std::string(header.key) + '.' + std::string(field.name));
            }
        }
    });
    std::erase_if(names, [](const std::string& name) { return name.find("hecksum") != std::string::npos; });
    return names;
}

/// In all places of a kind.
std::set<std::string> differences(const Worlds& worlds, std::string_view kind) {
    std::set<std::string> names;
    for (const auto& world : worlds)
        for (const auto& violation : world.violations) {
            if (violation.kind != kind) continue;
            CHECK(violation.edits.size() == 1);
            const auto& edit = violation.edits.front();
            names.merge(differences(world.source->frames()[edit.frame].octets, edit.octets));
        }
    return names;
}

bool has_right_crcs(wire::Octets octets) {
    return wire::check_crcs(octets, wire::detect_tail(octets)).icrc == wire::Check::good;
}

}  // namespace

TEST_CASE("Recall: no world is accused, and each has its violations", "[breadth]") {
    for (const auto situation : all_situations()) {
        const bool has_none = situation == "sm-failover-kept";
        for (const auto& world : make_worlds({.situations = {std::string(situation)}, .lives = 1})) {
            CAPTURE(world.name);
            CHECK(std::ranges::none_of(world.source->verdicts.charges, &metamorphic::Charge::is_fail));
            if (has_none) CHECK(world.violations.empty());
        }
    }
}

TEST_CASE("Recall: equal seeds, equal worlds; others have other frames") {
    const auto one = worlds_of("restart"), same = worlds_of("restart");
    const auto other = make_worlds({.situations = {"restart"}, .seed = 2, .other_link_types = false});
    REQUIRE(one.size() == 4);  // two families, two lives
    for (std::size_t i = 0; i < one.size(); ++i) {
        REQUIRE(one[i].source->size() == same[i].source->size());
        CHECK(one[i].violations.size() == same[i].violations.size());
        bool is_other = one[i].source->size() != other[i].source->size();
        for (std::size_t n = 0; n < one[i].source->size(); ++n) {
            CHECK(std::ranges::equal(one[i].source->frames()[n].octets, same[i].source->frames()[n].octets));
            is_other =
                is_other || !std::ranges::equal(one[i].source->frames()[n].octets, other[i].source->frames()[n].octets);
        }
        CHECK(is_other);
    }
}

TEST_CASE("Recall: a stale value is in its field, and nothing else is changed") {
    using Names = std::set<std::string>;
    CHECK(differences(worlds_of("restart"), name_of(Field::receiver_qpn)) ==
          Names{"bth.DestQP", "arp_addresses.THA.QPN"});
    CHECK(differences(worlds_of("lid-change"), name_of(Field::receiver_lid)) == Names{"lrh.DLID"});
    CHECK(differences(worlds_of("group-anew"), name_of(Field::mlid)) == Names{"lrh.DLID"});
    const auto parameters = worlds_of("sm-new-parameters");
    CHECK(differences(parameters, name_of(Field::mlid)) == Names{"lrh.DLID"});
    CHECK(differences(parameters, name_of(Field::q_key)) == Names{"deth.Q_Key"});
    CHECK(differences(parameters, name_of(Field::sl)) == Names{"lrh.SL"});
    CHECK(differences(parameters, name_of(Field::flow_label)) == Names{"grh.FlowLabel"});
    CHECK(differences(parameters, name_of(Field::traffic_class)) == Names{"grh.TClass"});
    CHECK(differences(parameters, name_of(Field::hop_limit)) == Names{"grh.HopLimit"});
}

TEST_CASE("Recall: a stale value comes seconds after the change, in a flow that has used the new one") {
    constexpr std::int64_t second = 1'000'000'000;
    for (const auto& world : worlds_of("restart")) {
        std::size_t begun = 0;  // the frame of the first duty, which the change makes
        for (const auto& violation : world.violations)
            if (violation.removes() && begun == 0) begun = violation.edits.front().frame;
        REQUIRE(begun > 0);
        for (const auto& violation : world.violations) {
            if (violation.removes()) continue;
            CHECK(has_right_crcs(violation.edits.front().octets));
            const auto at = violation.edits.front().frame;
            CHECK(world.source->frames()[at].time - world.source->frames()[begun].time >= 10 * second);
        }
    }
}

TEST_CASE("Recall: what is left out is gone, and the numbers of packets show no gap") {
    const auto worlds = worlds_of("restart");
    std::size_t left_out = 0;
    Trace variant;
    Packet packet;
    for (const auto& world : worlds)
        for (const auto& violation : world.violations) {
            if (!violation.removes()) continue;
            ++left_out;
            put(world, violation, variant);
            CHECK(variant.frames.size() == world.source->size() - violation.edits.size());
            std::map<std::pair<std::uint16_t, std::uint32_t>, std::uint32_t> next;
            for (const auto& frame : variant.frames) {
                wire::decode(frame.octets, packet);
                if (!packet.lrh || !packet.deth || world.source->who[frame.from].is_foreign) continue;
                if (packet.foreign != wire::Foreign::none || packet.lrh[wire::Lrh::slid] >= 0xb000) continue;
                const auto psn = packet.bth[wire::Bth::psn];
                const auto [at, is_new] =
                    next.try_emplace({packet.lrh[wire::Lrh::slid], packet.deth[wire::Deth::src_qp]}, psn);
                CHECK(psn == at->second++);
                CHECK(has_right_crcs(frame.octets));
            }
        }
    CHECK(left_out >= 8);
}

TEST_CASE("Recall: a mutation at rest is one packet, or one exchange, and claims what it declares") {
    for (const auto& world : make_worlds({.situations = {"profiles"}, .lives = 1, .other_link_types = false}))
        for (const auto& violation : world.violations) {
            CAPTURE(world.name, violation.kind, violation.place());
            const auto* mutation = traffic::find_mutation(violation.kind);
            REQUIRE(mutation);
            REQUIRE_FALSE(violation.claims.empty());
            for (const auto& claim : violation.claims)
                CHECK(std::ranges::find(mutation->breaks, claim.front()) != mutation->breaks.end());
            std::set<std::uint64_t> transactions;
            Packet packet;
            for (const auto& edit : violation.edits) {
                const auto& frame = world.source->frames()[edit.frame];
                CHECK_FALSE(world.source->who[edit.frame].is_foreign);
                CHECK_FALSE(std::ranges::equal(edit.octets, frame.octets));
                wire::decode(frame.octets, packet);
                transactions.insert(packet.mad ? packet.mad[wire::Mad::transaction_id] : 0);
            }
            const bool is_of_all = violation.edits.size() > 2;
            CHECK((is_of_all || transactions.size() == 1));
        }
}

TEST_CASE("Recall: a violation that is found, one that is not, and a legal world") {
    const auto worlds = worlds_of("sm-new-parameters");
    std::map<Answer, std::size_t> answers;
    for (const auto& world : worlds)
        for (const auto& violation : world.violations)
            for (const auto& said : judge(world, violation)) {
                ++answers[said.answer];
                CHECK((said.answer == Answer::suspected) == !said.doubt.empty());
            }
    CHECK(answers[Answer::found] > 0);
    Violation none{.kind = "none", .claims = {{&rfc4391::encap_reserved_tx}}};
    const auto& frame = worlds.front().source->frames().front();
    none.edits = {{0, {frame.octets.begin(), frame.octets.end()}}};
    CHECK(judge(worlds.front(), none).front().answer == Answer::silent);
}

TEST_CASE("Recall: a run is the same by however many threads, and its sample is a part of the whole") {
    const auto worlds = worlds_of("group-anew");
    const auto whole = execute({.worlds = worlds}), again = execute({.worlds = worlds});
    CHECK(page(whole) == page(again));
    CHECK(whole.false_charges.empty());
    const auto sample = execute({.worlds = worlds, .most_each = 2});
    REQUIRE(sample.cells.size() == whole.cells.size());
    for (std::size_t i = 0; i < sample.cells.size(); ++i) {
        CHECK(sample.cells[i].with_psns.places == std::min<std::size_t>(2, whole.cells[i].with_psns.places));
        CHECK(sample.cells[i].with_psns.found <= whole.cells[i].with_psns.found);
    }
}

TEST_CASE("Recall: means count each cell alike, and the worst stands beside them") {
    const auto cell = [](const char* kind, bool is_at_rest, std::size_t places, std::size_t found) {
        Cell one{.statement = "RFC4391-6-02", .kind = kind, .is_at_rest = is_at_rest};
        one.with_psns.places = places;
        one.with_psns.found = found;
        one.with_psns.silent = places - found;
        return one;
    };
    Outcome outcome;
    outcome.cells = {cell("a", true, 100, 100), cell("b", true, 2, 1), cell("c", false, 10, 2)};
    outcome.cells.push_back(cell("d", false, 10, 0));
    outcome.cells.back().is_provable = false;
    const auto means = means_of(outcome);
    CHECK(means.at_rest == 75);
    CHECK(means.after_changes == 20);
    CHECK(means.all == 170.0 / 3);
    REQUIRE(means.worst);
    CHECK(means.worst->kind == "c");
    CHECK(means.silent == 19);
}

TEST_CASE("Recall: a floor may rise and not fall") {
    Cell cell{.statement = "RFC4391-6-02", .kind = "stale LID"};
    cell.with_psns = {.places = 4, .found = 3, .silent = 1};
    Outcome outcome;
    outcome.cells = {cell};
    const auto floor = floor_of(outcome, false);
    CHECK(floor == Floor{{"sample RFC4391-6-02 stale-LID", 75}});
    CHECK(parse_floor(floor_text(floor)) == floor);
    const auto lost = [&](const Floor& before) { return losses(before, floor, outcome, false).size(); };
    CHECK(lost(floor) == 0);
    CHECK(lost({{"sample RFC4391-6-02 stale-LID", 50}}) == 0);
    CHECK(lost({{"sample RFC4391-6-02 stale-LID", 80}}) == 1);
    CHECK(lost({}) == 1);  // what is not in it was found whole
    CHECK_THROWS_AS(parse_floor("nonsense"), std::runtime_error);
    CHECK_THROWS_AS(parse_floor("sample RFC4391-6-02 stale-LID 7x"), std::runtime_error);
}

}  // namespace ipoib::recall
