// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/exhibits/exhibits.hpp"

#include "catch2.hpp"
#include "conformance/bench/active.hpp"
#include "conformance/bench/recorder.hpp"
#include "conformance/exhibits/ladder.hpp"
#include "conformance/judge/passive.hpp"
#include "conformance/target/simulated_target.hpp"
#include "fabric/capture/reader.hpp"
#include "fabric/capture/writer.hpp"
#include "protocol/wire/golden.hpp"
#include "temporary_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace ipoib::conformance {
namespace {
using reports::Exhibit;
using reports::Verdict;

const std::string captures = std::string(IPOIB_SOURCE_DIR) + "/captures/";

reports::Results judged(const std::string& file) {
    PassiveRun run{.captures = {captures + file}, .rules = selected_rules(Selection{{}})};
    return check(run);
}

const Exhibit* of(const std::vector<Exhibit>& all, const reports::Results& results, std::string_view id) {
    const auto found =
        std::ranges::find_if(all, [&](const Exhibit& one) { return results.results[one.result].id == id; });
    return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> wrong_fields(const Exhibit& exhibit) {
    std::vector<std::string> text;
    for (const auto& header : exhibit.headers)
        for (const auto& field : header.fields)
            if (field.expected) text.push_back(field.name + ": " + field.value + ", expected " + *field.expected);
    return text;
}

reports::Results run_case(const std::string& id, const std::string& mutant, const std::string& evidence) {
    const Target target{.dut = mutant};
    const auto rig = make_rig(target);
    ActiveRun active;
    active.cases = selected_cases(Selection{{id}});
    active.evidence = evidence;
    active.profile = reference_profile(target);
    return run(active, *rig);
}

std::vector<std::string> ends(const Exhibit& exhibit) {
    std::vector<std::string> text;
    for (const auto& frame : exhibit.ladder)
        text.push_back(exhibit.parties[frame.from] + "-" + (frame.to ? exhibit.parties[*frame.to] : "group"));
    return text;
}

}  // namespace

TEST_CASE("Exhibits: a capture's finding shows its field, and the frames of its port") {
    const auto results = judged("broken.pcap");
    const auto all = exhibits_of(results);
    const auto* exhibit = of(all, results, "RULE-RFC4391-6-02");
    REQUIRE(exhibit);
    CHECK(wrong_fields(*exhibit) == std::vector<std::string>{"Reserved: 0xabcd, expected 0"});
    CHECK(exhibit->frame == 17);
    REQUIRE(exhibit->wrong.size() == 1);
    const auto [begin, end] = exhibit->wrong.front();
    CHECK(std::vector<std::uint8_t>(exhibit->octets.begin() + static_cast<std::ptrdiff_t>(begin),
                                    exhibit->octets.begin() + static_cast<std::ptrdiff_t>(end)) ==
          std::vector<std::uint8_t>{0xab, 0xcd});
    CHECK(std::ranges::count(exhibit->ladder, true, &reports::LadderFrame::is_wrong) == 1);
    CHECK(exhibit->ladder.size() <= 14);
    for (const auto& frame : exhibit->ladder) {
        CHECK(frame.from < exhibit->parties.size());
        CHECK((!frame.to || *frame.to < exhibit->parties.size()));
    }
}

TEST_CASE(
    "Exhibits: every finding of every sample capture with a frame has its packet, and all that is wrong is told") {
    for (const auto& entry : std::filesystem::directory_iterator(captures)) {
        const auto file = entry.path().filename().string();
        if (!file.ends_with(".pcap") && !file.ends_with(".pcapng")) continue;
        const auto results = judged(file);
        const auto all = exhibits_of(results);
        for (const auto& result : results.results) {
            if (result.verdict != Verdict::fail && result.verdict != Verdict::warn) continue;
            CAPTURE(file, result.id);
            const auto* exhibit = of(all, results, result.id);
            REQUIRE(exhibit);
            if (result.details.front().frame == 0) continue;
            CHECK_FALSE(wrong_fields(*exhibit).empty());
            CHECK_FALSE(exhibit->octets.empty());
            CHECK_FALSE(exhibit->pcapng.empty());
        }
    }
}

TEST_CASE("Exhibits: a case's finding shows tester, DUT and SA, and the steps") {
    const TemporaryFolder folder;
    const auto results = run_case("IPOIB-4391-4-VAL-003", "mutant:maps-32-bits", folder.path().string());
    const auto all = exhibits_of(results);
    const auto* exhibit = of(all, results, "IPOIB-4391-4-VAL-003");
    REQUIRE(exhibit);
    CHECK(exhibit->parties == std::vector<std::string>{"tester", "DUT", "SA"});
    REQUIRE(wrong_fields(*exhibit).size() == 1);
    CHECK_THAT(wrong_fields(*exhibit).front(), ContainsSubstring("MGID: ff12:401b:ffff::ef54:1001, expected zeros"));
    const auto arrows = ends(*exhibit);
    CHECK(std::ranges::count(arrows, "DUT-SA") > 0);
    CHECK(std::ranges::any_of(exhibit->ladder, [](const reports::LadderFrame& frame) {
        return !frame.notes.empty() && frame.notes.front().starts_with("STEP: ");
    }));
    CHECK(exhibit->left_out == exhibit->ladder.front().number - 1);
}

TEST_CASE("Exhibits: where a frame is missing, what was said before it is shown, and where it was missed") {
    const TemporaryFolder folder;
    const auto results = run_case("IPOIB-4391-9.2-VAL-002", "mutant:arp-unanswered", folder.path().string());
    const auto all = exhibits_of(results);
    REQUIRE(all.size() == 1);
    const auto& exhibit = all.front();
    CHECK(exhibit.frame == 0);
    CHECK(exhibit.headers.empty());
    const auto request = std::ranges::find_if(exhibit.ladder, [](const reports::LadderFrame& frame) {
        return frame.text == "ARP request 10.1.0.1 to 10.1.0.9 over ff12:401b:ffff::ffff:ffff";
    });
    REQUIRE(request != exhibit.ladder.end());
    const auto missed = std::find_if(request, exhibit.ladder.end(), [](const reports::LadderFrame& frame) {
        return !frame.notes.empty() && frame.notes.front().starts_with("VIOLATION: ");
    });
    CHECK(missed != exhibit.ladder.end());
}

TEST_CASE("Exhibits: what the tester does after the last frame is told behind it") {
    const TemporaryFolder folder;
    Recorder recorder;
    recorder.step("one", {});
    recorder.add({.octets = wire::golden::arp_request()});
    recorder.breach("VIOLATION", "no answer");
    const auto path = folder / "x.pcapng";
    recorder.write(path);
    reports::Results results;
    results.captures = {{.file = path}};
    results.results = {{.id = "IPOIB-X", .verdict = Verdict::fail, .evidence = path}};
    const auto all = exhibits_of(results);
    REQUIRE(all.size() == 1);
    CHECK(all.front().ladder.front().notes == std::vector<std::string>{"STEP: one"});
    CHECK(all.front().afterwards == std::vector<std::string>{"VIOLATION: no answer"});
}

TEST_CASE("Exhibits: the capture of a finding can be read and holds the frames as they were") {
    const auto results = judged("broken.pcap");
    const auto all = exhibits_of(results);
    const auto* exhibit = of(all, results, "RULE-RFC4391-6-02");
    REQUIRE(exhibit);
    const TemporaryFolder folder;
    const auto path = folder / "x.pcapng";
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(exhibit->pcapng.data()),
               static_cast<std::streamsize>(exhibit->pcapng.size()));
    auto reader = capture::Reader::open(path);
    capture::Frame frame;
    for (const auto& shown : exhibit->ladder) {
        REQUIRE(reader.next(frame) == capture::Status::frame);
        CHECK(frame.comment.starts_with("frame " + std::to_string(shown.number)));
        if (shown.is_wrong) CHECK(std::ranges::equal(frame.octets, exhibit->octets));
    }
    CHECK(reader.next(frame) == capture::Status::end);
}

TEST_CASE("Exhibits: giant frames are not kept in hundreds") {
    const TemporaryFolder folder;
    const auto path = folder / "x.pcapng";
    const std::vector<std::uint8_t> giant(200000, 0xab);
    auto writer = capture::Writer::pcapng(path);
    writer.add_interface(capture::LinkType::infiniband, "");
    for (int i = 0; i < 120; ++i) writer.write(i, giant);
    writer.close();
    Film film{path};
    std::size_t read = 0;
    while (film.next()) {
        ++read;
        CHECK(film.shots().size() <= 84);
        CHECK(film.shots().back().number == read);
    }
    CHECK(read == 120);
    reports::Exhibit exhibit;
    draw_ladder(film, 119, exhibit);
    CHECK(exhibit.ladder.size() > 1);
    CHECK(exhibit.pcapng.empty());
}

TEST_CASE("Exhibits: what cannot be read again gives none") {
    auto results = judged("broken.pcap");
    for (const auto* file : {"-", "/nonexistent/x.pcap", captures.c_str()}) {
        results.captures[0].file = file;
        CHECK(exhibits_of(results).empty());
    }
    results.captures[0].file = captures + "usual.pcap";  // it is another one by now
    (void)exhibits_of(results);
    results.captures.clear();
    CHECK(exhibits_of(results).empty());
    // Frames and captures that are not there.
    results = judged("broken.pcap");
    for (auto& result : results.results)
        for (auto& detail : result.details) detail.frame = 1u << 30, detail.offset = 1u << 30;
    CHECK(exhibits_of(results).empty());
}

}  // namespace ipoib::conformance
