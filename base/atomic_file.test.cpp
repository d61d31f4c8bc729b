// SPDX-License-Identifier: GPL-2.0-or-later
// A file is replaced as a whole or left as it was.
#include "base/atomic_file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>

#include "catch2.hpp"
#include "temporary_folder.hpp"

using namespace ipoib;
namespace fs = std::filesystem;

namespace {

std::string content_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::ptrdiff_t entries(const fs::path& folder) {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

}  // namespace

TEST_CASE("Atomic file: a new file has the content, and nothing else is left") {
    const ipoib::TemporaryFolder folder;
    REQUIRE(write_atomically(folder / "a.json", std::string("a\0b", 3)).empty());
    CHECK(content_of(folder / "a.json") == std::string("a\0b", 3));
    CHECK(entries(folder.path()) == 1);
}

TEST_CASE("Atomic file: an old file is replaced and keeps its permissions") {
    const ipoib::TemporaryFolder folder;
    REQUIRE(write_atomically(folder / "a", "old").empty());
    fs::permissions(folder / "a", fs::perms::owner_read | fs::perms::owner_write);
    REQUIRE(write_atomically(folder / "a", "new").empty());
    CHECK(content_of(folder / "a") == "new");
    CHECK(fs::status(folder / "a").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("Atomic file: a symbolic link stays a link") {
    const ipoib::TemporaryFolder folder;
    REQUIRE(write_atomically(folder / "target", "old").empty());
    fs::create_symlink("target", folder / "link");
    REQUIRE(write_atomically(folder / "link", "new").empty());
    CHECK(fs::is_symlink(folder / "link"));
    CHECK(content_of(folder / "target") == "new");
}

TEST_CASE("Atomic file: a write that fails leaves the old file and no temporary one") {
    const ipoib::TemporaryFolder folder;
    REQUIRE(write_atomically(folder / "a", "old").empty());
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{1000, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    const auto wrong = write_atomically(folder / "a", std::string(100'000, 'x'));
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    CHECK_THAT(wrong, ContainsSubstring("cannot be written") && ContainsSubstring((folder / "a")));
    CHECK(content_of(folder / "a") == "old");
    CHECK(entries(folder.path()) == 1);
}

TEST_CASE("Atomic file: a folder that is missing and a folder in the way are named") {
    const ipoib::TemporaryFolder folder;
    CHECK_THAT(write_atomically(folder / "none/a", "x"), ContainsSubstring("none/a: cannot be created"));
    CHECK_THAT(write_atomically(folder.path(), "x"), ContainsSubstring("irectory"));
}

TEST_CASE("Atomic file: what is wrong behind a link names both, and a descriptor is named as it was") {
    const ipoib::TemporaryFolder folder;
    fs::create_directory(folder / "own");
    fs::create_symlink("../none/there.json", folder / "own/link");
    fs::create_symlink("own/link", folder / "far");
    fs::create_symlink("/dev/full", folder / "full");
    const auto words = folder / "far" + ", a link to " + (folder / "own/../none/there.json") + ": cannot be created";
    CHECK_THAT(write_atomically(folder / "far", "x"), ContainsSubstring(words));
    CHECK_THAT(why_not_writable(folder / "far"), ContainsSubstring(words));
    CHECK_THAT(write_atomically(folder / "full", "x"),
               ContainsSubstring(folder / "full" + ", a link to /dev/full: cannot be"));
    for (const auto* const path : {"/dev/fd/987", "/proc/self/fd/987"}) {
        CHECK(write_atomically(path, "x") == std::string(path) + ": cannot be written: Bad file descriptor");
        CHECK(why_not_writable(path) == write_atomically(path, "x"));
    }
}

TEST_CASE("Atomic file: what cannot be written is known beforehand, and nothing is touched") {
    const ipoib::TemporaryFolder folder;
    REQUIRE(write_atomically(folder / "a", "old").empty());
    CHECK(why_not_writable(folder / "a").empty());
    CHECK(why_not_writable(folder / "new").empty());
    CHECK(why_not_writable("/dev/null").empty());
    CHECK_THAT(why_not_writable(folder / "none/a"), ContainsSubstring("none/a: cannot be created"));
    CHECK_THAT(why_not_writable(folder / "a/b"), ContainsSubstring("a/b: cannot be reached"));
    CHECK_THAT(why_not_writable(folder / std::string(300, 'n')), ContainsSubstring("too long"));
    CHECK_THAT(why_not_writable(folder.path()), ContainsSubstring("irectory"));
    CHECK(content_of(folder / "a") == "old");
    CHECK(entries(folder.path()) == 1);
}

TEST_CASE("Atomic file: a device is written to and stays, and one that is full is named") {
    CHECK(write_atomically("/dev/null", "x").empty());
    CHECK(fs::is_character_file("/dev/null"));
    CHECK(write_atomically("/dev/full", "x") == "/dev/full: cannot be written: No space left on device");
}

TEST_CASE("Atomic file: until it takes the place the old one is there, and it goes where it never does") {
    const ipoib::TemporaryFolder folder;
    REQUIRE(write_atomically(folder / "a", "old").empty());
    {
        const AtomicFile file{folder / "a", folder / "a.new", O_RDWR | O_APPEND, 0600};
        REQUIRE(file.descriptor);
        CHECK(file.write("new"));
        CHECK(content_of(folder / "a") == "old");
        CHECK(fs::status(folder / "a.new").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
    }
    CHECK(content_of(folder / "a") == "old");
    CHECK(entries(folder.path()) == 1);
    Descriptor kept;
    {
        AtomicFile file{folder / "a", folder / "a.new", O_RDWR | O_APPEND, 0600};
        REQUIRE((file.write("new") && file.sync() && file.take_place()));
        kept = std::move(file.descriptor);
    }
    CHECK(content_of(folder / "a") == "new");
    CHECK(entries(folder.path()) == 1);
    REQUIRE(::write(kept.value(), "er", 2) == 2);
    CHECK(content_of(folder / "a") == "newer");
}

TEST_CASE("Atomic file: a temporary name that somebody else has is left to him") {
    const ipoib::TemporaryFolder folder;
    std::ofstream(folder / "a.new") << "another's";
    {
        const AtomicFile file{folder / "a", folder / "a.new", O_WRONLY, 0600};
        CHECK(errno == EEXIST);
        CHECK_FALSE(file.descriptor);
    }
    CHECK(content_of(folder / "a.new") == "another's");
}

TEST_CASE("Atomic file: of several at once each has a name of its own") {
    const ipoib::TemporaryFolder folder;
    AtomicFile one{folder / "a"}, other{folder / "a"};
    REQUIRE((one.descriptor && other.descriptor));
    REQUIRE((one.write("one") && other.write("other")));
    CHECK(entries(folder.path()) == 2);
    REQUIRE((one.take_place() && other.take_place()));
    CHECK(content_of(folder / "a") == "other");
    CHECK(entries(folder.path()) == 1);
}
