// SPDX-License-Identifier: GPL-2.0-or-later
// A temporary file has no name.
#include "base/temporary_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "catch2.hpp"
#include "temporary_folder.hpp"

using namespace ipoib;

namespace {

/// TMPDIR as long as it is there.
class Chosen {
public:
    explicit Chosen(const char* place) {
        if (const char* const before = std::getenv("TMPDIR")) before_ = before;
        place ? ::setenv("TMPDIR", place, 1) : ::unsetenv("TMPDIR");
    }
    ~Chosen() { before_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before_.c_str(), 1); }
    Chosen(const Chosen&) = delete;
    Chosen& operator=(const Chosen&) = delete;

private:
    std::string before_;
};

}  // namespace

TEST_CASE("Temporary file: it is read and written, is nobody else's, and leaves no name") {
    const TemporaryFolder folder;
    const Chosen chosen{folder.path().c_str()};
    const auto file = make_temporary_file();
    REQUIRE(file);
    CHECK(std::filesystem::is_empty(folder.path()));
    CHECK(::pwrite(file.value(), "abc", 3, 0) == 3);
    std::array<char, 3> read{};
    CHECK(::pread(file.value(), read.data(), read.size(), 0) == 3);
    CHECK(read.back() == 'c');
    struct stat state {};
    REQUIRE(::fstat(file.value(), &state) == 0);
    CHECK((state.st_mode & 0777U) == 0600);
    CHECK(state.st_nlink == 0);
}

TEST_CASE("Temporary file: a place that is not there is told") {
    {
        const Chosen nowhere{"/nonexistent"};
        const auto file = make_temporary_file();
        CHECK(errno == ENOENT);
        CHECK_FALSE(file);
    }
    const Chosen none{nullptr};
    CHECK(temporary_place() == "/var/tmp");
}
