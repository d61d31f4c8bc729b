// SPDX-License-Identifier: GPL-2.0-or-later
// JUnit XML against the schemas of its dialects (tests/schemas), by xmllint.
#include <sys/wait.h>

#include <cstdlib>

#include "base/atomic_file.hpp"
#include "catch2.hpp"
#include "reports/file.hpp"
#include "reports/junit.hpp"
#include "reports/samples.hpp"
#include "temporary_folder.hpp"

using namespace ipoib;
using namespace ipoib::reports;

namespace {

const std::filesystem::path schemas = std::filesystem::path(IPOIB_SOURCE_DIR) / "tests/schemas";

/// xmllint's complaints; empty when the document is valid.
std::string complaints(const std::string& document, const char* schema) {
    const ipoib::TemporaryFolder folder;
    REQUIRE(write_atomically(folder / "r.xml", document).empty());
    INFO("xmllint is of the package libxml2-utils");
    REQUIRE(std::system("xmllint --version >/dev/null 2>&1") == 0);
    const auto command = "xmllint --noout --nonet --schema '" + (schemas / schema).string() + "' '" +
                         (folder / "r.xml") + "' 2>'" + (folder / "said") + "'";
    const int status = std::system(command.c_str());
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    return "invalid: " + read_whole(folder / "said", 1U << 20U).value.value_or("");
}

Results large() {
    auto run = samples::every_verdict();
    run.captures.push_back({"b.pcap", 247, 1, 1, {}, "frame 1, offset 24"});
    const auto once = run.results;
    while (run.results.size() < 10'000)
        for (auto result : once) {
            result.capture = run.results.size() % 2;
            run.results.push_back(std::move(result));
        }
    return run;
}

Results hostile() {
    auto run = samples::every_verdict();
    const auto bad = samples::hostile();
    for (auto& result : run.results)
        result.id = result.title = result.message = result.evidence = result.reference = bad;
    run.results[0].fail_type = bad;
    run.results[0].details[0] = {0, 7, 10, bad, bad, bad, bad, bad};
    run.command = {bad, bad};
    run.host = run.captures[0].file = bad;
    run.dut = {{bad, bad}, {"", ""}};
    return run;
}

}  // namespace

TEST_CASE("JUnit schemas: each dialect is valid, whatever the results are") {
    const auto hosts = samples::merged({Verdict::pass, Verdict::fail, std::nullopt});
    for (const auto& run : {samples::every_verdict(), hostile(), large(), hosts, Results{}}) {
        CHECK(complaints(to_junit(run).at(0), "junit-portable.xsd") == "");
        CHECK(complaints(to_junit(run, {Dialect::ant, {}}).at(0), "junit-ant.xsd") == "");
        for (const auto& suite : to_junit(run, {Dialect::rich, {}})) CHECK(complaints(suite, "junit-rich.xsd") == "");
        for (const auto& suite : to_junit(run, {Dialect::surefire, {}}))
            CHECK(complaints(suite, "junit-surefire.xsd") == "");
    }
}

TEST_CASE("JUnit schemas: what is not valid is refused") {
    const auto refused = ContainsSubstring("invalid");
    const auto run = samples::every_verdict();
    const auto portable = to_junit(run).at(0);
    for (const auto* schema : {"junit-portable.xsd", "junit-ant.xsd", "junit-rich.xsd", "junit-surefire.xsd"})
        CHECK_THAT(complaints("<testsuites><testsuite/></testsuites>", schema), refused);
    for (const auto* schema : {"junit-ant.xsd", "junit-rich.xsd"}) CHECK_THAT(complaints(portable, schema), refused);
    CHECK_THAT(complaints(to_junit(run, {Dialect::rich, {}}).at(0), "junit-surefire.xsd"), refused);
    auto without_verdict = portable;
    without_verdict.replace(without_verdict.find(" type="), 6, " kind=");
    CHECK_THAT(complaints(without_verdict, "junit-portable.xsd"), refused);
}
