// SPDX-License-Identifier: GPL-2.0-or-later
// The sample captures: made by the project's own code, octet for octet, and giving what their expectations say.
#include "captures/expectation.hpp"
#include "captures/samples.hpp"
#include "catch2.hpp"
#include "temporary_folder.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace ipoib;

namespace {

const std::filesystem::path checked_in = std::filesystem::path{IPOIB_SOURCE_DIR} / "captures";

std::string content(const std::filesystem::path& path) {
    std::ifstream file{path, std::ios::binary};
    REQUIRE(file);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("Samples: each is what its code makes") {
    const TemporaryFolder folder;
    const auto made = folder / "made";
    for (const auto& sample : captures::all()) {
        CAPTURE(sample.file);
        sample.make(made);
        CHECK(content(made) == content(checked_in / sample.file));
    }
}

TEST_CASE("Samples: each decodes to what is expected and gives the expected verdicts") {
    for (const auto& sample : captures::all()) {
        CAPTURE(sample.file);
        const auto path = checked_in / sample.file;
        CHECK(captures::expectation(path.string()) == content(path.string() + ".expected"));
    }
}

TEST_CASE("Samples: every capture in the folder is one of them") {
    for (const auto& entry : std::filesystem::directory_iterator{checked_in}) {
        const auto extension = entry.path().extension();
        if (extension != ".pcap" && extension != ".pcapng") continue;
        bool is_known = false;
        for (const auto& sample : captures::all()) is_known = is_known || entry.path().filename() == sample.file;
        CAPTURE(entry.path().string());
        CHECK(is_known);
    }
}
