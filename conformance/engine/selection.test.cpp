// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/engine/selection.hpp"

#include "catch2.hpp"

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
