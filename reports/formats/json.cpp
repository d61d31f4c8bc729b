// SPDX-License-Identifier: GPL-2.0-or-later
// What other commands read back, as a format.
#include "reports/json.hpp"
#include "reports/format.hpp"

namespace ipoib::reports::format {

extern const Format json{.name = "json",
                         .help = "Write all results as JSON",
                         .documents = [](const Material& of) { return std::vector{to_json(of.results, of.folder)}; },
                         .notation = Notation::json};

}  // namespace ipoib::reports::format
