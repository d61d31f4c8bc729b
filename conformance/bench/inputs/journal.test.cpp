// SPDX-License-Identifier: GPL-2.0-or-later
#include "catch2.hpp"
#include "conformance/bench/active.hpp"
#include "conformance/target/simulated_dut.hpp"
#include "conformance/target/target.hpp"
#include "fabric/capture/reader.hpp"
#include "protocol/wire/mad.hpp"
#include "temporary_folder.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace ipoib;
using namespace ipoib::conformance;
using Json = nlohmann::json;

namespace {

struct Journal {
    Json head;
    std::vector<Json> lines;
    [[nodiscard]] std::vector<Json> of(const std::string& kind) const {
        std::vector<Json> some;
        for (const auto& line : lines)
            if (line.at("in") == kind) some.push_back(line);
        return some;
    }
};

std::string file_of(std::string_view id) { return std::string(id) + ".journal.jsonl"; }

std::string text_of(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

Journal read(const std::filesystem::path& path) {
    Journal journal;
    std::istringstream lines(text_of(path));
    for (std::string line; std::getline(lines, line);) journal.lines.push_back(Json::parse(line));
    journal.head = journal.lines.at(0);
    journal.lines.erase(journal.lines.begin());
    return journal;
}

/// A run with evidence in the folder; the ids of its cases name the files.
reports::Results run_into(const std::filesystem::path& folder, std::initializer_list<std::string_view> ids,
                          bool keeps_journal = true) {
    Target target;
    target.session.keeps_journal = keeps_journal;
    ActiveRun active;
    for (const auto id : ids) active.cases.push_back(find_case(id));
    active.profile = SimulatedDut::profile(fabric::Scenario{}.dut_guid);
    active.evidence = folder.string();
    active.repeat_command = "repeat";
    const auto rig = make_rig(target);
    return run(active, *rig);
}

constexpr std::string_view echoed = "IPOIB-4391-6-INV-001", refused = "IPOIB-4391-5-INV-002";

bool is_smp(const Json& line) {
    const auto octets = wire::parse_octets(line.at("octets").get<std::string>());
    wire::Packet packet;
    wire::decode(*octets, packet);
    const auto mgmt_class = packet.mad ? packet.mad[wire::Mad::mgmt_class] : wire::MgmtClass{};
    return mgmt_class == wire::MgmtClass::subn_lid_routed || mgmt_class == wire::MgmtClass::subn_directed_route;
}

}  // namespace

TEST_CASE("Journal: every input of a case is in it, in its order") {
    const TemporaryFolder folder;
    const auto results = run_into(folder.path(), {echoed});
    REQUIRE(results.results.at(0).verdict == reports::Verdict::pass);
    const auto journal = read(folder / file_of(echoed));
    CHECK(journal.head["format"] == "ipoib-conform-journal/1");
    CHECK(journal.head["case"] == echoed);
    CHECK(journal.head["clock"] == "virtual");
    CHECK(journal.head["number"] == 1);
    CHECK(journal.head["command"] == "repeat " + std::string(echoed));
    CHECK(journal.head["fabric"]["kind"] == "simulated");

    std::int64_t latest = 0;
    for (const auto& line : journal.lines) {
        CHECK(line.at("at") >= latest);
        latest = line.at("at");
    }
    const auto marks = journal.of("case");
    REQUIRE(marks.size() == 2);
    CHECK(marks[0]["what"] == "begins");
    CHECK(marks[1]["verdict"] == "PASS");
    const auto dut = journal.of("dut");
    REQUIRE_FALSE(dut.empty());
    CHECK(dut[0]["answer"]["error"] == "unsupported");  // every adapter is asked for what does not exist
    CHECK(dut[1]["request"]["do"] == "hello");
    CHECK(dut[1]["answer"]["ok"] == true);
    CHECK_FALSE(journal.of("sa").empty());
    CHECK(journal.of("port").at(0)["facts"]["active"] == true);
    CHECK_FALSE(journal.of("sent").empty());
    CHECK_FALSE(journal.of("took").empty());
}

TEST_CASE("Journal: the frames that it holds from the case's beginning are those of the evidence") {
    const TemporaryFolder folder;
    (void)run_into(folder.path(), {echoed});
    const auto journal = read(folder / file_of(echoed));
    std::vector<std::string> seen;
    bool is_case = false;
    for (const auto& line : journal.lines) {
        if (line["in"] == "case") is_case = line["what"] == "begins";
        if (is_case && line["in"] == "seen" && !is_smp(line)) seen.push_back(line["octets"]);
    }
    auto reader = capture::Reader::open(folder / std::string(echoed).append(".pcapng"));
    std::size_t written = 0;
    for (capture::Frame frame; reader.next(frame) == capture::Status::frame; ++written) {
        // The evidence fills in the CRCs that are zero where nobody needed them.
        constexpr std::size_t crcs = 12;  // of digits
        REQUIRE(written < seen.size());
        const auto octets = wire::hex_octets(frame.octets, frame.octets.size());
        CHECK(octets.substr(0, octets.size() - crcs) == seen[written].substr(0, seen[written].size() - crcs));
    }
    CHECK(written > 4);
    CHECK(written == seen.size());
}

TEST_CASE("Journal: changes of the fabric and what a refused join is told are inputs") {
    const TemporaryFolder folder;
    (void)run_into(folder.path(), {refused});
    const auto fabric = read(folder / file_of(refused)).of("fabric");
    REQUIRE(fabric.size() >= 2);
    CHECK(fabric[0]["request"]["do"] == "sa");
    CHECK(fabric[0]["request"]["refuse_joins"] == 0x0200);
    CHECK(fabric[0]["answer"]["ok"] == true);
}

TEST_CASE("Journal: the same seed gives the same journal, another one another") {
    const TemporaryFolder first, second;
    for (const auto* const folder : {&first, &second}) (void)run_into(folder->path(), {echoed, refused});
    for (const auto id : {echoed, refused}) {
        const auto name = file_of(id);
        CHECK_FALSE(text_of(first / name).empty());
        CHECK(text_of(first / name) == text_of(second / name));
    }
}

TEST_CASE("Journal: the files of a session that lasts follow each other, cleaning up stands in the next one") {
    constexpr std::string_view first = "IPOIB-4391-5-INV-001", second = "IPOIB-4391-5-INV-003";
    const TemporaryFolder folder;
    Target target;
    target.dut = "sa";
    target.listen = folder / "port";
    target.session.keeps_journal = true;
    ActiveRun active;
    active.cases = {find_case(first), find_case(second)};
    active.judges_sa = true;
    active.has_control = false;
    active.evidence = folder.path().string();
    (void)run(active, *make_rig(target));
    CHECK(read(folder / file_of(first)).head["number"] == 1);
    const auto next = read(folder / file_of(second));
    CHECK(next.head["number"] == 2);
    CHECK(next.head["clock"] == "real");
    const auto begins = std::ranges::find(next.lines, Json("case"), [](const Json& line) { return line.at("in"); });
    CHECK(std::ranges::any_of(next.lines.begin(), begins, [](const Json& line) { return line.at("in") == "sa"; }));
}

TEST_CASE("Journal: none is kept where nobody asks for it") {
    const TemporaryFolder folder;
    (void)run_into(folder.path(), {echoed}, false);
    CHECK(std::filesystem::exists(folder / std::string(echoed).append(".pcapng")));
    CHECK_FALSE(std::filesystem::exists(folder / file_of(echoed)));
}

TEST_CASE("Journal: what is beyond its limit is left out, and told", "[size]") {
    fabric::Loop loop{fabric::Loop::Clock::virtual_time};
    InputJournal journal{loop};
    const std::vector<std::uint8_t> frame(4096);
    for (std::size_t i = 0; i <= InputJournal::most_octets / (2 * frame.size()); ++i) journal.took(0, frame);
    const TemporaryFolder folder;
    const auto path = folder / "a.jsonl";
    journal.write(path, {.case_id = "A", .command = {}, .fabric = {}});
    const auto text = text_of(path);
    CHECK(text.size() < InputJournal::most_octets + 4096);
    CHECK_THAT(text.substr(text.size() - 60), ContainsSubstring("\"left_out\":"));
    journal.case_begins();
    journal.write(path, {.case_id = "B", .command = {}, .fabric = {}});
    CHECK(read(path).head["number"] == 2);
    CHECK(read(path).lines.size() == 1);
    CHECK_THROWS_AS(journal.write(folder / "none/x", {.command = {}, .fabric = {}}), std::runtime_error);
}
