// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/descriptor.hpp"

#include "catch2.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

using ipoib::Descriptor;

namespace {

int some_descriptor() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }
bool is_open(int number) { return ::fcntl(number, F_GETFD) >= 0; }

}  // namespace

TEST_CASE("Descriptor: it is closed with its owner, and once") {
    const int number = some_descriptor();
    REQUIRE(is_open(number));
    {
        Descriptor owner{number};
        CHECK(owner);
        CHECK(owner.value() == number);
        CHECK(owner.close());
        CHECK_FALSE(is_open(number));
        CHECK_FALSE(owner);
        // Whoever opens a file next gets the number: neither a second close nor the end of the owner may take it away.
        REQUIRE(some_descriptor() == number);
        CHECK(owner.close());
    }
    CHECK(is_open(number));
    { const Descriptor owner{number}; }
    CHECK_FALSE(is_open(number));
}

TEST_CASE("Descriptor: moved, it has one owner, and what was there before is closed") {
    const int one = some_descriptor(), two = some_descriptor();
    Descriptor first{one}, second{two};
    first = std::move(second);
    CHECK(first.value() == two);
    CHECK_FALSE(is_open(one));
    CHECK(is_open(two));
    const Descriptor third{std::move(first)};
    CHECK(third.value() == two);
    CHECK(is_open(two));
}

TEST_CASE("Descriptor: moved into itself it stays open") {
    Descriptor owner{some_descriptor()};
    auto& same = owner;
    owner = std::move(same);
    CHECK(is_open(owner.value()));
}

TEST_CASE("Descriptor: one that is released is left open") {
    const int number = some_descriptor();
    {
        Descriptor owner{number};
        CHECK(owner.release() == number);
        CHECK_FALSE(owner);
    }
    CHECK(is_open(number));
    ::close(number);
}

TEST_CASE("Pipe: what goes in comes out, and other programs get neither end") {
    auto pipe = ipoib::make_pipe();
    REQUIRE(pipe);
    for (const auto* const end : {&pipe.reader, &pipe.writer}) {
        CHECK(end->value() > STDERR_FILENO);
        CHECK(::fcntl(end->value(), F_GETFD) == FD_CLOEXEC);
    }
    CHECK(::write(pipe.writer.value(), "x", 1) == 1);
    pipe.writer.close();
    CHECK_FALSE(pipe);
    char octet = 0;
    CHECK(::read(pipe.reader.value(), &octet, 1) == 1);
    CHECK(octet == 'x');
    CHECK(::read(pipe.reader.value(), &octet, 1) == 0);
}

TEST_CASE("Descriptor: an error outlives the end of an owner") {
    Descriptor owner{some_descriptor()};
    // One that somebody has closed already: closing it again is an error of its own.
    REQUIRE(::close(owner.value()) == 0);
    errno = ENOENT;
    owner = Descriptor{};
    CHECK(errno == ENOENT);
    {
        const int number = some_descriptor();
        Descriptor other{number};
        REQUIRE(::close(number) == 0);
        CHECK_FALSE(other.close());
        CHECK(errno == EBADF);
    }
}
