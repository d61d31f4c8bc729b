// SPDX-License-Identifier: GPL-2.0-or-later
// libFuzzer target: whatever a file of results holds, it is refused in a sentence, or read; what was read is written
// and read again without a difference, and every report can be made of it. What should be XML is.
#include "fuzz/fuzzer.hpp"
#include "reports/format.hpp"
#include "reports/json.hpp"

#include <pugixml.hpp>

using namespace ipoib;
using namespace ipoib::reports;
using fuzz::demand;

namespace {

void look_at_reports(const Results& results) {
    for (const auto* format : formats())
        for (const auto& document : format->documents({results, {}, ".", {}})) {
            demand(!document.empty());
            const bool is_xml = format->name == "html" || format->name == "junit";
            demand(!is_xml || pugi::xml_document{}.load_buffer(document.data(), document.size()));
        }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto results = from_json(fuzz::as_text({data, size}), "a.json");
    if (!results) {
        fuzz::demand_sentence(results.error);
        return 0;
    }
    const auto written = to_json(*results);
    const auto again = from_json(written, "a.json");
    demand(static_cast<bool>(again));
    demand(exit_code(*again) == exit_code(*results));
    demand(coverage_sentence(*again) == coverage_sentence(*results));
    demand(to_json(*again) == written);
    // Reports take longer than reading: those of one input in four are made.
    if (size % 4 == 0) look_at_reports(*results);
    return 0;
}
