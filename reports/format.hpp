// SPDX-License-Identifier: GPL-2.0-or-later
// The formats that results are written in: each is one object in a file of formats/, and one row of the list.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/job_log.hpp"
#include "reports/exhibit.hpp"
#include "reports/results.hpp"

namespace ipoib::reports {

/// What an illustrated report shows beside the results.
struct Extras {
    std::span<const Exhibit> exhibits{};  ///< at most one for each result
    std::string baseline{};               ///< its file; empty: none was given
    std::vector<std::string> remarks{};   ///< on the baseline's entries
    const Results* earlier = nullptr;     ///< a run to compare with
    std::string earlier_file{};
};

/// What a report is made of.
struct Material {
    const Results& results;
    const Extras& extras;
    std::filesystem::path folder = ".";  ///< of the report: what it refers to, it names from there
    std::string_view setting{};          ///< one of the choices of the format's setting; empty: the first
};

/// An option of its own that a format has.
struct Setting {
    std::string_view option;  ///< without "--"
    std::string_view help;
    std::span<const std::string_view> choices;  ///< the first is the default
};

/// A format, with all that commands, help, manual and completion know of it.
struct Format {
    std::string_view name;  ///< of the option, too: "tap" is --tap FILE
    std::string_view help;
    /// The report as documents: the first is the file that was asked for, the others stand beside it.
    std::vector<std::string> (*documents)(const Material&);
    Notation notation = Notation::text;  ///< of what a runner would obey, were the report printed into a job's log
    bool is_illustrated = false;         ///< shows the extras, which cost reading the captures again
    std::optional<Setting> setting{};
};

/// All of them, in the order of the help.
[[nodiscard]] std::span<const Format* const> formats();

/// Writes the documents atomically, the first one to `path`, the others beside it as "name-2.xml" ..., what they refer
/// to named from the folder of `path`. Each is tried. Returns what went wrong, a line each; empty if nothing.
[[nodiscard]] std::string write_report(const Format&, const std::filesystem::path&, const Results&, const Extras& = {},
                                       std::string_view setting = {});

}  // namespace ipoib::reports
