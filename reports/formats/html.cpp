// SPDX-License-Identifier: GPL-2.0-or-later
// The page for people, as a format.
#include "reports/html.hpp"
#include "reports/format.hpp"

namespace ipoib::reports::format {

extern const Format html{
    .name = "html",
    .help = "Write a report for people: one file that needs no other",
    .documents = [](const Material& of) { return std::vector{to_html(of.results, of.extras, of.folder)}; },
    .notation = Notation::xml,
    .is_illustrated = true};

}  // namespace ipoib::reports::format
