// SPDX-License-Identifier: GPL-2.0-or-later
// Links are followed where nobody else can have made them.
#include "base/output_path.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>

#include "base/atomic_file.hpp"
#include "catch2.hpp"
#include "temporary_folder.hpp"

using namespace ipoib;
namespace fs = std::filesystem;

namespace {

const std::string refused = " is a symbolic link in a folder that others can write";

/// Has a folder of ours that others may write to, a file that they want to be overwritten, and one like it in a folder.
struct Shared {
    TemporaryFolder own;
    std::string folder = own / "shared", file = own / "file", other_folder = own / "other";

    explicit Shared(mode_t mode) {
        fs::create_directory(folder);
        fs::create_directory(other_folder);
        REQUIRE(::chmod(folder.c_str(), mode) == 0);
        std::ofstream{file} << "untouched";
        fs::create_symlink("../file", folder + "/link");
        fs::create_symlink("../other", folder + "/way");
        fs::create_symlink("../missing", folder + "/nowhere");
    }
    [[nodiscard]] bool is_untouched() const {
        std::ifstream stream(file);
        std::string text;
        stream >> text;
        return text == "untouched" && fs::is_empty(other_folder) && !fs::exists(own / "missing");
    }
};

}  // namespace

TEST_CASE("Output path: no link is followed in a folder that others can write, at the end or on the way") {
    for (const mode_t mode : {0777U, 01777U, 0707U}) {
        const Shared shared{mode};
        for (const auto* const name : {"/link", "/nowhere", "/way", "/way/new", "/way/../file"}) {
            const auto path = shared.folder + name;
            INFO(path);
            const auto words = shared.folder + name[0];
            CHECK_THAT(write_atomically(path, "x"), ContainsSubstring(words) && ContainsSubstring(refused));
            CHECK_THAT(why_not_writable(path), ContainsSubstring(refused));
            CHECK_THAT(open_output(path, O_WRONLY | O_TRUNC, 0600).problem, ContainsSubstring(refused));
            CHECK(open_output(path, O_WRONLY | O_TRUNC, 0600).error == ELOOP);
            errno = 0;
            CHECK_FALSE(AtomicFile{fs::path{path}}.descriptor);
            CHECK(errno == ELOOP);
        }
        CHECK_THAT(make_output_folder(shared.folder + "/way/new"), ContainsSubstring(refused));
        CHECK_THAT(make_output_folder(shared.folder + "/way"), ContainsSubstring(refused));
        CHECK(shared.is_untouched());
        // What is no link is written there as anywhere.
        CHECK(write_atomically(shared.folder + "/new", "x").empty());
        CHECK(make_output_folder(shared.folder + "/folder/in/it").empty());
        CHECK(write_atomically(shared.folder + "/folder/in/it/new", "x").empty());
    }
}

TEST_CASE("Output path: a folder that is somebody else's, or a group's, is one that others can write") {
    if (::geteuid() != 0) {
        WARN("LEFT OUT: it takes root to give a folder away");
        return;
    }
    constexpr unsigned somebody = 12345;
    const Shared given{0755}, of_group{0775}, of_own_group{0775};
    REQUIRE(::chown(given.folder.c_str(), somebody, somebody) == 0);
    REQUIRE(::chown(of_group.folder.c_str(), 0, somebody) == 0);
    CHECK_THAT(write_atomically(given.folder + "/link", "x"), ContainsSubstring(refused));
    CHECK_THAT(write_atomically(of_group.folder + "/link", "x"), ContainsSubstring(refused));
    CHECK((given.is_untouched() && of_group.is_untouched()));
    CHECK(write_atomically(of_own_group.folder + "/link", "x").empty());
}

TEST_CASE("Output path: links of one's own are followed, as many as the kernel follows") {
    const Shared shared{0755};
    CHECK(write_atomically(shared.folder + "/nowhere", "x").empty());
    CHECK(fs::exists(shared.own / "missing"));
    CHECK(write_atomically(shared.folder + "/way/new", "x").empty());
    CHECK(fs::exists(shared.other_folder + "/new"));
    CHECK(open_output(shared.folder + "/link", O_WRONLY | O_TRUNC, 0600).descriptor);
    CHECK(make_output_folder(shared.folder + "/way/folder").empty());
    CHECK(fs::is_directory(shared.other_folder + "/folder"));
    CHECK(open_output(shared.folder + "/link", O_WRONLY | O_NOFOLLOW, 0600).error == ELOOP);
    fs::create_symlink("circle", shared.folder + "/circle");
    CHECK(open_output(shared.folder + "/circle", O_WRONLY, 0600).error == ELOOP);
}

TEST_CASE("Output path: a link in /proc is the descriptor, whether what it stands for has a path or none") {
    const Descriptor memory{::memfd_create("nameless", MFD_CLOEXEC)};
    const auto path = "/proc/self/fd/" + std::to_string(memory.value());
    const auto file = open_output(path, O_WRONLY | O_TRUNC, 0600);
    REQUIRE(file.descriptor);
    REQUIRE(::write(file.descriptor.value(), "x", 1) == 1);
    CHECK(::lseek(memory.value(), 0, SEEK_END) == 1);
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    const Descriptor from{ends[0]}, to{ends[1]};
    CHECK(write_atomically("/dev/fd/" + std::to_string(to.value()), "y").empty());
    char read = 0;
    CHECK((::read(from.value(), &read, 1) == 1 && read == 'y'));
    // A file that has a path is replaced at it.
    const TemporaryFolder folder;
    const Descriptor named{::open((folder / "named").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
    CHECK(write_atomically("/proc/self/fd/" + std::to_string(named.value()), "z").empty());
    CHECK(fs::file_size(folder / "named") == 1);
}

TEST_CASE("Output path: the folder stays the one that was found, whatever takes its path") {
    const Shared shared{0755};
    const OutputPath place{fs::path{shared.other_folder} / "new"};
    REQUIRE(place);
    fs::rename(shared.other_folder, shared.own / "moved");
    fs::create_directory_symlink("shared", shared.other_folder);
    CHECK(place.open(O_WRONLY | O_CREAT, 0600));
    CHECK(fs::exists(shared.own / "moved/new"));
    CHECK_FALSE(fs::exists(shared.folder + "/new"));
}

TEST_CASE("Output path: standard output is known by any of its names, but for where nothing is kept") {
    const TemporaryFolder folder;
    const Descriptor before{::dup(STDOUT_FILENO)};
    const auto stands = [&](const char* output, const std::string& path) {
        const Descriptor file{::open(output, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)};
        REQUIRE((file && ::dup2(file.value(), STDOUT_FILENO) >= 0));
        const bool is = is_standard_output(path);
        ::dup2(before.value(), STDOUT_FILENO);
        return is;
    };
    const auto file = folder / "file";
    for (const auto& path :
         {std::string("/dev/stdout"), std::string("/dev/fd/1"), std::string("/proc/self/fd/1"), file})
        CHECK(stands(file.c_str(), path));
    fs::create_symlink("file", folder / "link");
    CHECK(stands(file.c_str(), folder / "link"));
    CHECK_FALSE(stands(file.c_str(), folder / "other"));
    CHECK_FALSE(stands(file.c_str(), "/dev/null"));
    CHECK_FALSE(stands("/dev/null", "/dev/stdout"));
}

TEST_CASE("Output path: a path that leads nowhere says so") {
    const TemporaryFolder folder;
    CHECK(OutputPath{""}.error() == ENOENT);
    CHECK(OutputPath{folder / "none/a"}.error() == ENOENT);
    CHECK(OutputPath{folder / "none/a/b"}.target() == folder / "none/a/b");
    CHECK(open_output(folder / "none/", O_WRONLY, 0600).error == ENOENT);
    CHECK(open_output(folder.path() / "", O_WRONLY, 0600).error == EISDIR);
    std::ofstream{folder / "file"} << "x";
    CHECK(OutputPath{folder / "file/a"}.error() == ENOTDIR);
    CHECK_FALSE(make_output_folder(folder / "file").empty());
    CHECK(make_output_folder(folder.path()).empty());
}
