// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of the HTML report, each a function that adds to the tree of the page what results hold.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/failure.hpp"
#include "reports/html.hpp"
#include "reports/html/element.hpp"
#include "reports/matrix.hpp"

namespace ipoib::reports::html {

/// A path as the value of href: relative to `folder`, each octet that is not allowed there as %xx.
[[nodiscard]] std::string link(const std::string& path, const std::filesystem::path& folder);
/// RFC 4648, section 4.
[[nodiscard]] std::string base64(std::span<const std::uint8_t> octets);

/// "fail", as classes, filters and the style sheet name a verdict.
[[nodiscard]] std::string_view key_of(Verdict verdict);
/// The verdict as a small label.
void badge(Element parent, Verdict verdict, std::string_view text);

/// What a requirement is filtered and counted by: its document and the first number of its section.
struct SectionKey {
    std::string key, title;  ///< "RFC4391-6", "RFC4391 section 6"
};
[[nodiscard]] SectionKey section_of(const RequirementResult& requirement);

/// A finding that is told in full.
struct Finding {
    std::size_t index;  ///< of its result; in a merged report the first of its id
    Hosts hosts;
    std::optional<std::size_t> same_as = {};  ///< the result that shows the same cause, which stands before it
};

/// All that the parts look at.
struct Context {
    const Results& results;
    const Extras& extras;
    const std::filesystem::path& folder;
    const Requirements& requirements;
    std::vector<const Exhibit*> exhibits;  ///< by index of the result, null where there is none
    std::vector<Finding> findings;         ///< the worst first, those of one cause together
    std::size_t left_out = 0;              ///< findings that are not
    bool is_by_capture = false;

    [[nodiscard]] std::string capture_name(const Result& result) const;
    /// The sections of what a result checks, as keys with blanks between them.
    [[nodiscard]] std::string sections_of(const Result& result) const;
};

// Each adds to what it is given; nothing where there is nothing to show.
void head(Element body, const Context& context);
/// What is claimed, what was judged and kept, what was not and why, what proves the judge.
void grounds(Element part, const Context& context);
/// Verdicts, the grounds, findings by section, what changed.
void summary(Element main, const Context& context);
/// Counts of the verdicts, which filter, the search and the sections.
void filter(Element body, const Context& context);
void coverage(Element main, const Context& context);
void findings(Element main, const Context& context);
/// What is not decided for a doubt.
void suspicions(Element main, const Context& context);
void packet(Element article, const Exhibit& exhibit);
void ladder(Element article, const Exhibit& exhibit, std::string_view title);
void comparison(Element main, const Context& context);
void requirement_table(Element main, const Context& context);
void result_table(Element main, const Context& context);
void captures(Element main, const Context& context);
/// The matrix of a merged report, and a line for each host.
void hosts(Element main, const Context& context);

/// Columns of a table, and where its rows go.
[[nodiscard]] Element table(Element parent, std::string_view kind, const std::vector<std::string_view>& columns);
/// A part of the page that its links and its script know by the id.
[[nodiscard]] Element section(Element main, std::string_view id, std::string_view title, bool is_counted);
/// What may be wider than the page.
[[nodiscard]] Element wide(Element parent, std::string_view label);

}  // namespace ipoib::reports::html
