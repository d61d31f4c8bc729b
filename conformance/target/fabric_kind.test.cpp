// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/target/fabric_kind.hpp"

#include "catch2.hpp"
#include "conformance/target/test_fabric_kind.hpp"

#include <algorithm>
#include <array>

using namespace ipoib;
using namespace ipoib::conformance;

TEST_CASE("Fabric kinds: words name one by what is fixed in a form of the use") {
    const auto scheme_of = [](std::string_view text, FabricUse use) {
        const auto* kind = fabric_kinds().find(text, use);
        return kind ? kind->scheme : std::string_view{};
    };
    for (const auto* text : {"simulated", "simulated:sa-mutant=x", "socket:", "umad:", "verbs:mlx5_0,second=a"})
        CHECK(scheme_of(text, FabricUse::run) == std::string_view(text).substr(0, std::string_view(text).find(':')));
    for (const auto* text :
         {"", "simulated:", "simulated:x", "socket", "umad", "verbs", "verb:", "sockets:/x", "toy:box"})
        CHECK(scheme_of(text, FabricUse::run).empty());
    for (const auto* text : {"simulated", "socket:/x", "verbs:"})
        CHECK_FALSE(scheme_of(text, FabricUse::traffic).empty());
    for (const auto* text : {"simulated:sa-mutant=x", "socket", "umad:x"})
        CHECK(scheme_of(text, FabricUse::traffic).empty());
    for (const auto* text : {"simulated", "umad", "verbs", "socket:"})
        CHECK_FALSE(scheme_of(text, FabricUse::audit).empty());
    for (const auto* text : {"socket", "simulated:", "simulated:x", "umadx", "verbs/1"})
        CHECK(scheme_of(text, FabricUse::audit).empty());
    CHECK(fabric_kinds().with_scheme_of("umad:x")->scheme == "umad");
    CHECK_FALSE(fabric_kinds().with_scheme_of("capture.pcap"));
}

TEST_CASE("Fabric kinds: each of this program is found, helped and told by its own row") {
    CHECK(fabric_kinds().find(usual_fabric, FabricUse::run)->is_ours());
    CHECK(fabric_kinds().usual_impact("nothing") == fabric::Impact::fabric);
    // Runs and audits make it themselves, as the one that the reference stack stands on.
    CHECK(std::ranges::count_if(fabric_kinds().all(), &FabricKind::is_ours) == 1);
    for (const auto* kind : fabric_kinds().all()) {
        CAPTURE(kind->scheme);
        CHECK(fabric_kinds().with_scheme_of(kind->scheme) == kind);
        CHECK(kind->has(FabricUse::run));
        // What others are on is theirs to allow.
        CHECK((kind->usual_impact < fabric::Impact::link || !kind->is_somebodys()));
        for (const auto& form : kind->forms) {
            CAPTURE(form.syntax);
            CHECK(kind->opens(form, form.use));
            CHECK(form.syntax.starts_with(kind->scheme));
            CHECK(fabric_kinds().find(form.syntax, form.use) == kind);
            CHECK_THAT(fabric_kinds().help(form.use), ContainsSubstring(std::string(form.syntax)));
            CHECK_THAT(fabric_kinds().schemes(form.use, kind->usual_impact),
                       ContainsSubstring(std::string(kind->scheme)));
            if (form.use == FabricUse::run) CHECK(fabric_kinds().usual_impact(form.syntax) == kind->usual_impact);
        }
    }
}

TEST_CASE("Fabric kinds: several are told with commas, and those that people ask about first") {
    constexpr std::array forms{FabricForm{FabricUse::run, "box:NAME[,lid=N]", "boxes"},
                               FabricForm{FabricUse::audit, "box:NAME", "toys that are looked at", true}};
    auto box = toy::kind;
    box.scheme = "box", box.owner = Owner::somebody, box.forms = forms;
    auto ours = toy::kind;
    ours.owner = Owner::us, ours.look = nullptr;
    const FabricKind* const list[]{&ours, &toy::kind, &box};
    const FabricKinds kinds{list};
    CHECK(kinds.forms(FabricUse::run) == "toy:BOX, toy:BOX or box:NAME");
    CHECK(kinds.help(FabricUse::run) == "toy:BOX[,lid=N] or toy:BOX[,lid=N] (a box of toys), box:NAME[,lid=N] (boxes)");
    CHECK(kinds.help(FabricUse::audit) == "box:NAME or toy:BOX or toy:BOX (toys that are looked at)");
    CHECK(kinds.schemes(FabricUse::run, fabric::Impact::link) == "toy, toy and box");
    CHECK(kinds.schemes(FabricUse::traffic, fabric::Impact::link) == "toy and toy");
    CHECK(kinds.find("box", FabricUse::audit) == &box);
    CHECK_FALSE(kinds.find("box", FabricUse::run));
}

TEST_CASE("Fabric kinds: a new one is told and found like the others") {
    CHECK(toy::kinds.find("toy:box,lid=3", FabricUse::run) == &toy::kind);
    CHECK_FALSE(toy::kinds.find("toy", FabricUse::run));
    CHECK_FALSE(toy::kinds.find("simulated", FabricUse::run));
    CHECK(toy::kinds.usual_impact("toy:box") == fabric::Impact::link);
    CHECK(toy::kinds.help(FabricUse::run) == "toy:BOX[,lid=N] (a box of toys)");
    CHECK(toy::kinds.help_on_hosts() == "; on toy: boxes");
    CHECK(toy::kinds.schemes(FabricUse::audit, fabric::Impact::link) == "toy");
    CHECK(toy::kinds.forms(FabricUse::run) == "toy:BOX");
}

TEST_CASE("Fabric kinds: a form of an audit that nothing can look at is none, in help and messages, too") {
    auto blind = toy::kind;
    blind.look = nullptr;
    const FabricKind* const list[]{&blind};
    const FabricKinds kinds{list};
    CHECK(kinds.find("toy:box", FabricUse::traffic));
    CHECK_FALSE(kinds.find("toy:box", FabricUse::audit));
    CHECK(kinds.help(FabricUse::audit).empty());
    CHECK(kinds.forms(FabricUse::audit).empty());
    CHECK(kinds.schemes(FabricUse::audit, fabric::Impact::link).empty());
}

TEST_CASE("Fabric kinds: what is said of an opening") {
    const Opening opening{.fabric = "toy:box:1", .timeout_scale = 0.5};
    CHECK(opening.words() == "box:1");
    CHECK(Opening{.fabric = "toy"}.words().empty());
    CHECK(opening.patience(std::chrono::seconds{4}) == std::chrono::seconds{2});
}
