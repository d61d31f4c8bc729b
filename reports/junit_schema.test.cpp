// SPDX-License-Identifier: GPL-2.0-or-later
// JUnit XML against the schemas of its readers, where these and xmllint are there.
#include <sys/wait.h>

#include <cstdlib>

#include "catch2.hpp"
#include "reports/atomic_file.hpp"
#include "reports/junit.hpp"
#include "reports/samples.hpp"
#include "temporary_folder.hpp"

using namespace ipoib::reports;

namespace {

/// Where the schemas are: IPOIB_JUNIT_SCHEMAS, else beside the source.
std::filesystem::path schemas() {
    if (const char* folder = std::getenv("IPOIB_JUNIT_SCHEMAS"); folder != nullptr) return folder;
    return std::filesystem::path(IPOIB_SOURCE_DIR) / "../shared/vectors/schemas";
}

bool can_validate() {
    return std::filesystem::exists(schemas() / "jenkins-junit-10.xsd") &&
           std::filesystem::exists(schemas() / "windyroad-junit.xsd") &&
           std::system("xmllint --version >/dev/null 2>&1") == 0;
}

/// xmllint's complaints; empty when the document is valid.
std::string complaints(const std::string& document, const char* schema) {
    const ipoib::TemporaryFolder folder;
    REQUIRE(write_atomically(folder / "r.xml", document).empty());
    const auto command = "xmllint --noout --nonet --schema '" + (schemas() / schema).string() + "' '" +
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

TEST_CASE("JUnit schemas: portable is valid for Jenkins, ant for Jenkins and windyroad") {
    if (!can_validate()) {
        WARN("no schemas or no xmllint: not validated");
        return;
    }
    const auto hosts = samples::merged({Verdict::pass, Verdict::fail, std::nullopt});
    for (const auto& run : {samples::every_verdict(), hostile(), large(), hosts, Results{}}) {
        CHECK(complaints(to_junit(run).at(0), "jenkins-junit-10.xsd").empty());
        const auto ant = to_junit(run, {Dialect::ant, {}}).at(0);
        CHECK(complaints(ant, "jenkins-junit-10.xsd").empty());
        CHECK(complaints(ant, "windyroad-junit.xsd").empty());
    }
}

TEST_CASE("JUnit schemas: what is not valid is refused") {
    if (!can_validate()) {
        WARN("no schemas or no xmllint: not validated");
        return;
    }
    CHECK_THAT(complaints("<testsuites><testsuite/></testsuites>", "jenkins-junit-10.xsd"),
               ContainsSubstring("invalid"));
    CHECK_THAT(complaints(to_junit(samples::every_verdict()).at(0), "windyroad-junit.xsd"),
               ContainsSubstring("invalid"));
}
