// SPDX-License-Identifier: GPL-2.0-or-later
// The list of formats, and how a report of any of them becomes files.
#include "reports/format.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/atomic_file.hpp"

namespace ipoib::reports {
namespace format {

// One row each; the object is defined in formats/, in the file of its name.
extern const Format ctrf, html, json, junit, ktap, markdown, tap;

}  // namespace format

std::span<const Format* const> formats() {
    using namespace format;
    static constexpr std::array all{&junit, &json, &html, &ctrf, &tap, &ktap, &markdown};
    return all;
}

std::string write_report(const Format& one, const std::filesystem::path& path, const Results& results,
                         const Extras& extras, std::string_view setting) {
    std::error_code unknown;
    const bool is_stream = std::filesystem::exists(path, unknown) && !std::filesystem::is_regular_file(path, unknown);
    const auto folder = is_stream || !path.has_parent_path() ? std::filesystem::path(".") : path.parent_path();
    auto documents = one.documents({results, extras, folder, setting});
    std::string failures;
    for (std::size_t i = 0; i < documents.size(); ++i) {
        auto target = path;
        if (i > 0)
            target.replace_filename(fmt::format("{}-{}{}", path.stem().string(), i + 1, path.extension().string()));
        if (const auto wrong = write_atomically(target, without_commands(std::move(documents[i]), one.notation));
            !wrong.empty())
            failures += (failures.empty() ? "" : "\n") + wrong;
    }
    return failures;
}

}  // namespace ipoib::reports
