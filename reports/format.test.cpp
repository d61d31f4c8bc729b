// SPDX-License-Identifier: GPL-2.0-or-later
// What holds of every format of reports, also of those to come.
#include "reports/format.hpp"

#include "base/utf8.hpp"
#include "catch2.hpp"
#include "reports/file.hpp"
#include "reports/samples.hpp"
#include "temporary_folder.hpp"

#include <regex>
#include <set>

using namespace ipoib;
using namespace ipoib::reports;

namespace {

std::string written(const Format& format, const Results& results) {
    std::string text;
    for (const auto& document : format.documents({results, {}})) text += document;
    return text;
}

}  // namespace

TEST_CASE("Formats: each has a name and an option of its own, and help of one line") {
    const std::regex word("[a-z][a-z0-9-]*"), help("[A-Z][^\n]{5,80}[^.\n]");
    std::set<std::string_view> options;
    for (const auto* format : formats()) {
        CAPTURE(format->name);
        CHECK(std::regex_match(std::string(format->name), word));
        CHECK(std::regex_match(std::string(format->help), help));
        CHECK(options.insert(format->name).second);
        if (!format->setting) continue;
        CHECK(std::regex_match(std::string(format->setting->option), word));
        CHECK(options.insert(format->setting->option).second);
        REQUIRE(format->setting->choices.size() > 1);
        for (const auto choice : format->setting->choices)
            CHECK_FALSE(format->documents({samples::every_verdict(), {}, ".", choice}).empty());
    }
}

TEST_CASE("Formats: what is wrong is in each report, by its id") {
    const auto run = samples::every_verdict();
    for (const auto* format : formats()) {
        CAPTURE(format->name);
        const auto text = written(*format, run);
        for (const auto& result : run.results)
            if (result.verdict == Verdict::fail || result.verdict == Verdict::error) {
                CHECK_THAT(text, ContainsSubstring(result.id));
                CHECK_THAT(text, ContainsSubstring(std::string(name(result.verdict))));
            }
        CHECK(written(*format, run) == text);
    }
}

TEST_CASE("Formats: nothing judged is a report, too") {
    for (const auto* format : formats()) {
        CAPTURE(format->name);
        CHECK_FALSE(written(*format, {}).empty());
    }
}

TEST_CASE("Formats: hostile text brings neither control characters nor broken UTF-8 into a report") {
    auto run = samples::every_verdict();
    const auto bad = samples::hostile();
    for (auto& result : run.results) {
        result.id = result.title = result.message = result.reference = result.repeat = result.evidence = bad;
        result.notes = {bad};
        for (auto& detail : result.details) detail.field = detail.expected = detail.actual = detail.subject = bad;
    }
    run.command = {bad};
    run.host = run.captures[0].file = run.captures[0].error = bad;
    for (const auto* format : formats()) {
        CAPTURE(format->name);
        const auto text = written(*format, run);
        CHECK(valid_utf8(text) == text);
        for (const char c : text)
            if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') FAIL("control character " << int{c});
    }
}

TEST_CASE("Formats: a report is written whole, and one that cannot be is told") {
    const ipoib::TemporaryFolder folder;
    const auto run = samples::every_verdict();
    for (const auto* format : formats()) {
        CAPTURE(format->name);
        const auto path = folder.path() / std::string(format->name);
        CHECK(write_report(*format, path, run).empty());
        CHECK(read_whole(path, 1U << 24U).value.value() == format->documents({run, {}, folder.path(), {}}).front());
        CHECK_THAT(write_report(*format, folder / "none/r", run), ContainsSubstring("none/r: cannot be created"));
    }
}
