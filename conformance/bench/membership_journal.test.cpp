// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/bench/membership_journal.hpp"

#include "catch2.hpp"
#include "temporary_folder.hpp"

#include <filesystem>
#include <fstream>

namespace ipoib::conformance {
namespace {

using Kind = Journal::Kind;
const std::vector<std::uint8_t> group(17, 0xff), other(17, 0x12), report(36, 0x01);

struct Folder {
    [[nodiscard]] std::string path() const { return directory / "journals"; }
    [[nodiscard]] std::string file() const { return path() + "/port"; }
    [[nodiscard]] bool has_file() const { return std::filesystem::exists(file()); }
    void write(const std::string& text) const {
        std::filesystem::create_directory(path());
        std::ofstream{file()} << text;
    }
    TemporaryFolder directory;
};

TEST_CASE("Journal: what has ended is forgotten, and a journal of nothing is no file") {
    const Folder folder;
    {
        Journal journal{folder.path(), "port"};
        journal.begins(Kind::membership, group);
        journal.begins(Kind::membership, group);
        journal.begins(Kind::subscription, report);
        CHECK(journal.entries().size() == 2);
        journal.ends(Kind::membership, group);
        journal.ends(Kind::membership, group);
        CHECK(journal.entries() == std::vector<Journal::Entry>{{Kind::subscription, report}});
        CHECK(folder.has_file());
        journal.ends(Kind::subscription, report);
    }
    CHECK_FALSE(folder.has_file());
}

TEST_CASE("Journal: what a run did not end is there for the next") {
    const Folder folder;
    {
        Journal journal{folder.path(), "port"};
        journal.begins(Kind::membership, group);
        journal.begins(Kind::membership, other);
        journal.ends(Kind::membership, group);
    }
    Journal journal{folder.path(), "port"};
    CHECK(journal.entries() == std::vector<Journal::Entry>{{Kind::membership, other}});
}

TEST_CASE("Journal: two runs cannot use one port") {
    const Folder folder;
    const Journal journal{folder.path(), "port"};
    CHECK_THROWS_WITH((Journal{folder.path(), "port"}), ContainsSubstring("another run uses this port"));
    CHECK_NOTHROW(Journal{folder.path(), "another"});
}

TEST_CASE("Journal: lines that are none, or were cut off, are passed over") {
    const Folder folder;
    const std::string whole = "+M " + std::string(34, 'f') + '\n';
    folder.write("\n+\n+M\n+M xx\n+Q 00\n+M " + std::string(34, 'g') + "\n+I 00\n-M 00\n" + whole + "+M ff");
    {
        Journal journal{folder.path(), "port"};
        CHECK(journal.entries() == std::vector<Journal::Entry>{{Kind::membership, group}});
        journal.begins(Kind::membership, other);
    }
    CHECK(Journal{folder.path(), "port"}.entries().size() == 2);
    folder.write(std::string(2 << 20, 'x'));
    // Not locked by the attempt before.
    for (int i = 0; i < 2; ++i)
        CHECK_THROWS_WITH((Journal{folder.path(), "port"}), ContainsSubstring("it is no journal"));
}

TEST_CASE("Journal: what has ended does not fill the file, and it stays this run's alone") {
    const Folder folder;
    {
        Journal journal{folder.path(), "port"};
        CHECK(journal.begins(Kind::membership, other));
        CHECK_FALSE(journal.begins(Kind::membership, other));
        for (int i = 0; i < 10'000; ++i) {
            journal.begins(Kind::membership, group);
            journal.ends(Kind::membership, group);
            if (i % 1000 == 0)
                CHECK_THROWS_WITH((Journal{folder.path(), "port"}), ContainsSubstring("another run uses this port"));
        }
        CHECK(std::filesystem::file_size(folder.file()) < 1 << 17);
    }
    CHECK(Journal{folder.path(), "port"}.entries() == std::vector<Journal::Entry>{{Kind::membership, other}});
    CHECK(std::distance(std::filesystem::directory_iterator{folder.path()}, {}) == 1);
}

TEST_CASE("Journal: a place where nothing can be kept is said") {
    const Folder folder;
    CHECK_THROWS_WITH((Journal{folder.path() + "/deeper", "port"}), ContainsSubstring("cannot be kept"));
    std::filesystem::create_directory(folder.path());
    std::filesystem::create_symlink("/dev/null", folder.file());
    CHECK_THROWS_WITH((Journal{folder.path(), "port"}), ContainsSubstring("cannot be kept"));
}

}  // namespace
}  // namespace ipoib::conformance
