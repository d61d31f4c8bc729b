// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/judge/selection.hpp"

#include "catch2.hpp"
#include "conformance/bench/active.hpp"
#include "conformance/judge/passive.hpp"

#include <algorithm>

using ipoib::conformance::Selectable;
using ipoib::conformance::Selection;

namespace {

const Selectable rule{.id = "RULE-RFC4391-9.1.1-02-arp",
                      .requirements = {"RFC4391-9.1.1-02", "RFC4755-3.1-02"},
                      .strength = "must",
                      .tags = {"arp"},
                      .status = "standard"};

bool selects(std::vector<std::string> selectors) { return Selection{std::move(selectors)}.matches(rule); }

}  // namespace

TEST_CASE("Selection: ids, globs, sections, levels and tags choose") {
    CHECK(selects({}));
    for (const auto* selector :
         {"RULE-RFC4391-9.1.1-02-arp", "RFC4391-9.1.1-02", "rfc4391-9.1.1-02", "RFC4755-*", "rfc4391/9", "rfc4391/9.1",
          "rfc4391/9.1.1", "RFC4391", "level:must", "LEVEL:MUST", "tag:arp", "status:standard"})
        CHECK(selects({selector}));
    for (const auto* selector : {"RFC4391-9.1.1-01", "rfc4391/9.2", "rfc4391/91", "rfc439", "level:should", "tag:nd",
                                 "status:informative", "status:", ""})
        CHECK_FALSE(selects({selector}));
}

TEST_CASE("Selection: a negation takes away, and alone it begins with everything") {
    CHECK_FALSE(selects({"!tag:arp"}));
    CHECK(selects({"!tag:nd"}));
    CHECK_FALSE(selects({"rfc4391/9", "!*arp"}));
    CHECK(selects({"!*arp", "rfc4391/9"}));
}

TEST_CASE("Selection: a selector that matches nothing is named") {
    CHECK(Selection{{"tag:arp", "!rfc9999"}}.unmatched({rule}) == "!rfc9999");
    CHECK(Selection{{"tag:arp"}}.unmatched({rule}) == std::nullopt);
}

TEST_CASE("Selection: of requirements those are meant that a chosen judge checks, or nobody") {
    using namespace ipoib;
    const std::vector<Selectable> judges{
        rule, {.id = "CASE", .requirements = {"RFC4391-9.1.1-02", "UDMC-02"}, .strength = "must", .tags = {"nd"}}};
    const auto meant = [&](std::vector<std::string> selectors) {
        return conformance::selected_requirements(Selection{std::move(selectors)}, judges);
    };
    using Ids = std::vector<std::string>;
    CHECK(meant({"CASE"}) == Ids{"RFC4391-9.1.1-02", "UDMC-02"});
    CHECK(meant({"tag:arp"}) == Ids{"RFC4391-9.1.1-02", "RFC4755-3.1-02"});
    CHECK(meant({"RFC4391-9.1.1-02"}) == Ids{"RFC4391-9.1.1-02"});
    // A section also means what nobody checks, and of what a judge checks only its own.
    const auto section = meant({"rfc4391/9.1.1"});
    CHECK(std::ranges::count(section, "RFC4391-9.1.1-02") == 1);
    CHECK(std::ranges::count(section, "RFC4391-9.1.1-01") == 1);
    CHECK(std::ranges::none_of(section, [](const auto& id) { return !id.starts_with("RFC4391-9.1.1-"); }));
    CHECK(meant({}).size() == requirements::all().size());
}

TEST_CASE("Selection: each rule and case has the status of the strongest document that it checks") {
    for (const auto& judges : {ipoib::conformance::selectable_rules(), ipoib::conformance::selectable_cases()})
        for (const auto& one : judges) {
            CAPTURE(one.id);
            const bool is_informative = std::ranges::all_of(one.requirements, [](std::string_view id) {
                return id.starts_with("RFC4392") || id.starts_with("UDMC");
            });
            CHECK(one.status == (is_informative ? "informative" : "standard"));
        }
}

TEST_CASE("Selection: what is near a selector that matches nothing") {
    const Selectable rule{.id = "RULE-RFC4391-6-02",
                          .requirements = {"RFC4391-9.1.1-02"},
                          .strength = "must",
                          .tags = {"arp"},
                          .status = "standard"};
    CHECK(nearest_selector("RULE-RFC4391-6-2", {rule}) == "; did you mean 'RULE-RFC4391-6-02'?");
    CHECK(nearest_selector("!tag:apr", {rule}) == "; did you mean 'tag:arp'?");
    CHECK(nearest_selector("rfc4931/9.1", {rule}) == "; did you mean 'rfc4391/9.1'?");
    CHECK(nearest_selector("level:mus", {rule}) == "; did you mean 'level:must'?");
    CHECK(nearest_selector("status:standart", {rule}) == "; did you mean 'status:standard'?");
    CHECK(nearest_selector("nonsense", {rule}).empty());
}
