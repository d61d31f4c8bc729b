// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of the HTML report, each a function from results to markup.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "reports/failure.hpp"
#include "reports/html.hpp"
#include "reports/matrix.hpp"

namespace ipoib::reports::html {

/// Text that means itself, between tags and in attributes: one line, nothing that a browser obeys. Very long text is
/// cut.
[[nodiscard]] std::string plain(std::string_view text);
/// The whole, with all blanks: a command that is copied.
[[nodiscard]] std::string verbatim(std::string_view text);
/// The same as `plain` with its line feeds.
[[nodiscard]] std::string lines(std::string_view text);
/// A path as the value of href: relative to `folder`, each octet that is not allowed there as %xx.
[[nodiscard]] std::string link(const std::string& path, const std::filesystem::path& folder);
/// RFC 4648, section 4.
[[nodiscard]] std::string base64(std::span<const std::uint8_t> octets);

/// "fail", as classes, filters and the style sheet name a verdict.
[[nodiscard]] std::string_view key_of(Verdict verdict);
/// The verdict as a small label.
[[nodiscard]] std::string badge(Verdict verdict, std::string_view text);

/// What a requirement is filtered and counted by: its document and the first number of its section.
struct SectionKey {
    std::string key, title;  ///< "RFC4391-6", "RFC4391 section 6"
};
[[nodiscard]] SectionKey section_of(const RequirementResult& requirement);

/// A finding that is told in full.
struct Told {
    std::size_t index;  ///< of its result; in a merged report the first of its id
    Hosts hosts;
};

/// All that the parts look at.
struct Context {
    const Results& results;
    const Extras& extras;
    const std::filesystem::path& folder;
    const Requirements& requirements;
    std::vector<const Exhibit*> exhibits;  ///< by index of the result, null where there is none
    std::vector<Told> findings;            ///< the worst first
    std::size_t left_out = 0;              ///< findings that are not
    bool is_by_capture = false;

    [[nodiscard]] std::string capture_name(const Result& result) const;
    /// The sections of what a result checks, as keys with blanks between them.
    [[nodiscard]] std::string sections_of(const Result& result) const;
};

[[nodiscard]] std::string head(const Context& context);
/// Counts of the verdicts, which filter, the search and the sections.
[[nodiscard]] std::string filter(const Context& context);
[[nodiscard]] std::string coverage(const Context& context);
[[nodiscard]] std::string findings(const Context& context);
[[nodiscard]] std::string packet(const Exhibit& exhibit);
[[nodiscard]] std::string ladder(const Exhibit& exhibit, std::string_view title);
[[nodiscard]] std::string comparison(const Context& context);
[[nodiscard]] std::string requirement_table(const Context& context);
[[nodiscard]] std::string result_table(const Context& context);
[[nodiscard]] std::string captures(const Context& context);
/// The matrix of a merged report, and a line for each host.
[[nodiscard]] std::string hosts(const Context& context);

}  // namespace ipoib::reports::html
