// SPDX-License-Identifier: GPL-2.0-or-later
// The mark of a capture in which nothing is missing: believed as long as it has the packets that it was written with.
#include "fabric/capture/wholeness.hpp"
#include "catch2.hpp"
#include "fabric/capture/test_files.hpp"
#include "fabric/capture/writer.hpp"

#include <cstdlib>

using namespace ipoib::capture;
using namespace ipoib::capture::test;

namespace {

constexpr std::int64_t start = 1'700'000'000'000'000'000;

std::string marked(const Folder& folder, unsigned packets = 3) {
    Census census;
    for (unsigned i = 0; i < packets; ++i) census.add(start + i, i % 2 ? "tester" : "dut", octets_of(60, i));
    auto path = folder / "whole.pcapng";
    auto writer = Writer::pcapng(path, census.mark());
    writer.add_interface(LinkType::erf, "dut");
    writer.add_interface(LinkType::erf, "tester");
    for (unsigned i = 0; i < packets; ++i) writer.write(start + i, octets_of(60, i), i % 2);
    writer.close();
    return path;
}

int status_of(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()); }

}  // namespace

TEST_CASE("Wholeness: a capture with its mark is whole, one without is not") {
    const Folder folder;
    CHECK(wholeness_of(marked(folder)) == Wholeness::whole);
    CHECK(wholeness_of(marked(folder, 0)) == Wholeness::whole);
    const auto path = folder / "plain.pcapng";
    Writer::pcapng(path, "a comment of its writer").close();
    CHECK(wholeness_of(path) == Wholeness::unmarked);
    CHECK(wholeness_of(folder / "missing.pcapng") == Wholeness::unmarked);
    CHECK(wholeness_of("-") == Wholeness::unmarked);
}

TEST_CASE("Wholeness: a mark is not believed where any octet differs, and wherever the file is cut") {
    const Folder folder;
    const auto whole = contents(marked(folder));
    std::size_t believed = 0;
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto path = folder.add("cut.pcapng", {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
        believed += wholeness_of(path) == Wholeness::whole;
    }
    CHECK(believed == 0);
    // The last packet's octets, before the padding-free end of the block.
    auto changed = whole;
    changed[changed.size() - 5] ^= 1;
    CHECK(wholeness_of(folder.add("changed.pcapng", changed)) == Wholeness::changed);
}

TEST_CASE("Wholeness: a file that another one was put behind is not whole, nor one that tells of a loss") {
    const Folder folder;
    const auto whole = contents(marked(folder));
    CHECK(wholeness_of(folder.add("twice.pcapng", join({whole, whole}))) == Wholeness::changed);
    const auto plain = join({section(Order::little), interface(Order::little, 247)});
    CHECK(wholeness_of(folder.add("longer.pcapng", join({whole, plain}))) == Wholeness::changed);
    const auto drops = option(Order::little, 5, Pack{Order::little}.u64(1).file());
    CHECK(wholeness_of(folder.add("lossy.pcapng", join({whole, statistics(Order::little, 0, 0, drops)}))) ==
          Wholeness::changed);
}

TEST_CASE("Wholeness: what editcap keeps whole is whole, what it takes packets from is not") {
    if (status_of("command -v editcap") != 0) {
        WARN("LEFT OUT: editcap is missing (package tshark)");
        return;
    }
    const Folder folder;
    const auto path = marked(folder), copy = folder / "copy.pcapng", fewer = folder / "fewer.pcapng",
               later = folder / "later.pcapng";
    REQUIRE(status_of("editcap " + path + " " + copy) == 0);
    CHECK(wholeness_of(copy) == Wholeness::whole);
    REQUIRE(status_of("editcap " + path + " " + fewer + " 2") == 0);
    CHECK(wholeness_of(fewer) == Wholeness::changed);
    REQUIRE(status_of("editcap -t 1 " + path + " " + later) == 0);
    CHECK(wholeness_of(later) == Wholeness::changed);
}
