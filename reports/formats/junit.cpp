// SPDX-License-Identifier: GPL-2.0-or-later
// JUnit XML, as a format with a setting.
#include "reports/junit.hpp"
#include "reports/format.hpp"

#include <algorithm>
#include <array>

namespace ipoib::reports::format {
namespace {

/// In the order of Dialect.
constexpr std::array<std::string_view, 4> dialects{"portable", "ant", "rich", "surefire"};

std::vector<std::string> documents(const Material& of) {
    const auto found = std::ranges::find(dialects, of.setting);
    const auto dialect = found == dialects.end() ? Dialect::portable : static_cast<Dialect>(found - dialects.begin());
    return to_junit(of.results, {.dialect = dialect, .name = {}});
}

}  // namespace

extern const Format junit{
    .name = "junit",
    .help = "Write JUnit XML",
    .documents = documents,
    .notation = Notation::xml,
    .setting = Setting{.option = "junit-dialect", .help = "portable, ant, rich or surefire", .choices = dialects}};

}  // namespace ipoib::reports::format
