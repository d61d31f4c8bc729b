// SPDX-License-Identifier: GPL-2.0-or-later
// libFuzzer target: whatever a BASELINE.toml holds, it is refused in lines that a terminal can show, or read; what was
// read reads the same when it is written again, and excuses results without harm.
#include "reports/baseline.hpp"
#include "fuzz/fuzzer.hpp"
#include "reports/samples.hpp"
#include "reports/toml_text.hpp"

#include <fmt/format.h>

using namespace ipoib;
using namespace ipoib::reports;
using fuzz::demand;

namespace {

std::optional<std::string> which(std::string_view id) {
    if (id.find("RFC4391") != std::string_view::npos || id == "UDMC-01") return std::nullopt;
    return "; did you mean 'UDMC-01'?";
}
std::optional<std::string> any(std::string_view) { return std::nullopt; }
const KnownIds known_ids{.requirement = which, .judge = any};

std::string text_of(const Expected& entry) {
    auto text = fmt::format("[[expected]]\nid = {}\nverdict = {}\nreason = {}\nreference = {}\n", toml_string(entry.id),
                            toml_string(entry.verdict), toml_string(entry.reason), toml_string(entry.reference));
    std::string list;
    for (const auto& id : entry.requirements) list += toml_string(id) + ", ";
    if (!list.empty()) text += "requirements = [" + list + "]\n";
    if (const auto& day = entry.expires)
        text += fmt::format("expires = {:04}-{:02}-{:02}\n", static_cast<int>(day->year()),
                            static_cast<unsigned>(day->month()), static_cast<unsigned>(day->day()));
    if (!entry.when.empty()) text += "[expected.when]\n";
    for (const auto& [name, value] : entry.when) text += toml_string(name) + " = " + toml_string(value) + '\n';
    return text;
}

bool is_same(const Expected& one, const Expected& other) {
    return one.id == other.id && one.verdict == other.verdict && one.requirements == other.requirements &&
           one.reason == other.reason && one.reference == other.reference && one.expires == other.expires &&
           one.when == other.when;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto text = fuzz::as_text({data, size});
    const auto baseline = parse_baseline(text, "B.toml", known_ids);
    if (!baseline) {
        fuzz::demand_sentence(baseline.error, 64UL * 1024);
        return 0;
    }
    std::string written;
    for (const auto& entry : baseline->expected) {
        demand(!entry.id.empty() && !entry.reason.empty() && entry.line != 0);
        written += text_of(entry);
    }
    const auto again = parse_baseline(written, "B.toml", known_ids);
    demand(again && again->expected.size() == baseline->expected.size());
    for (std::size_t i = 0; i < again->expected.size(); ++i) demand(is_same(baseline->expected[i], again->expected[i]));

    constexpr auto today =
        std::chrono::year_month_day{std::chrono::year{2026}, std::chrono::June, std::chrono::day{15}};
    auto results = samples::every_verdict();
    static_cast<void>(apply(results, *baseline, today));
    demand(results.results.size() == samples::every_verdict().results.size());
    return 0;
}
