// SPDX-License-Identifier: GPL-2.0-or-later
// reports/coverage.md: section by section, what covers each requirement.
#include "conformance/documents/pages.hpp"
#include "reports/markdown.hpp"

#include <fmt/format.h>

#include <map>

namespace ipoib::conformance {
using namespace reports::markdown;

namespace {

std::string title_of(std::string_view document) {
    if (document == "UDMC") return "UD multicast (IBTA, chapter on unreliable datagram multicast)";
    return document.starts_with("RFC") ? "RFC " + std::string(document.substr(3)) : std::string(document);
}

/// Up to so many rules are named; a general statement has dozens.
constexpr std::size_t most_rules = 4;

std::string covered_by(const Coverage& one) {
    std::string text;
    for (const auto* running : one.cases)
        text += (text.empty() ? "" : ", ") + fmt::format("[{0}](../docs/cases/{0}.md)", running->id);
    std::size_t named = 0;
    for (const auto* rule : one.rules) {
        if (++named > most_rules) continue;
        text += (text.empty() ? "" : ", ") + std::string(rule->id);
    }
    if (named > most_rules) text += fmt::format(" and {} more rules", named - most_rules);
    if (one.ground)
        text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", name(one.ground->manner), plain(one.ground->reason));
    if (one.is_open()) text += fmt::format("{}**{}**", text.empty() ? "" : "; ", one.status());
    return text;
}

std::string summary(const std::vector<Coverage>& all) {
    std::map<std::string, std::size_t> counts;
    for (const auto& one : all) ++counts[one.status()];
    auto text = head({"covered by", "requirements"});
    for (const auto& [status, count] : counts) text += row({status, std::to_string(count)});
    return text + row({"all", std::to_string(all.size())}) + '\n';
}

std::string gaps(const std::vector<Coverage>& all) {
    std::vector<std::string_view> open;
    for (const auto& one : all)
        if (one.is_open()) open.push_back(one.requirement->id);
    if (open.empty()) return {};
    return "## Open\n\n" + paragraph(listed(open) + '.');
}

}  // namespace

std::string coverage_page() {
    const auto all = coverage();
    auto page = "# What covers each requirement\n\n" +
                paragraph(
                    "Made by `scripts/update-docs`; not edited by hand. A case counts for the requirements that "
                    "it checks and for all that these imply, and so does a rule. Construction: nothing could "
                    "break it. Inspection: a person must look. `ipoib-conform requirements` prints the same.") +
                summary(all) + gaps(all);
    std::string_view document, section;
    for (const auto& one : all) {
        const auto& requirement = *one.requirement;
        if (requirement.document() != document || requirement.section() != section) {
            if (requirement.document() != document)
                page += (document.empty() ? "" : "\n") +
                        fmt::format("## {}{}\n", title_of(requirement.document()),
                                    requirement.status() == requirements::Status::standard ? "" : ": informative");
            document = requirement.document(), section = requirement.section();
            page += section.empty() ? "\n" : fmt::format("\n### Section {}\n\n", section);
            page += head({"requirement", "level", "statement", "covered by"});
        }
        page += row({requirement.id, requirement.level, plain(requirement.statement), covered_by(one)});
    }
    return page;
}

}  // namespace ipoib::conformance
