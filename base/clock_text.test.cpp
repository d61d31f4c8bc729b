// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/clock_text.hpp"

#include "catch2.hpp"

#include <cstdlib>
#include <ctime>
#include <limits>

using namespace ipoib;

namespace {

/// The wall's clock of another place, for as long as it lives.
class Zone {
public:
    explicit Zone(const char* name) {
        if (const char* kept = std::getenv("TZ")) before_ = kept;
        set(name);
    }
    ~Zone() { set(before_.empty() ? nullptr : before_.c_str()); }
    Zone(const Zone&) = delete;
    Zone& operator=(const Zone&) = delete;

private:
    static void set(const char* name) {
        name ? setenv("TZ", name, 1) : unsetenv("TZ");
        tzset();
    }
    std::string before_;
};

}  // namespace

TEST_CASE("Clock: the wall's time is OpenSM's, UTC is a program's") {
    constexpr std::int64_t moment = 1'795'626'730'123'456'789;
    {
        const Zone zone{"UTC0"};
        CHECK(wall_time(moment) == "Nov 25 17:12:10.123456");
        CHECK(wall_zone(moment) == "UTC");
    }
    const Zone zone{"IST-5:30"};
    CHECK(wall_time(moment) == "Nov 25 22:42:10.123456");
    CHECK(wall_zone(moment) == "UTC+05:30");
    CHECK(utc_time(moment) == "2026-11-25T17:12:10.123456789Z");
}

TEST_CASE("Clock: times before 1970 and at the ends of what fits are told") {
    CHECK(utc_time(-1) == "1969-12-31T23:59:59.999999999Z");
    CHECK(utc_time(std::numeric_limits<std::int64_t>::min()) == "1677-09-21T00:12:43.145224192Z");
    CHECK(utc_time(std::numeric_limits<std::int64_t>::max()) == "2262-04-11T23:47:16.854775807Z");
}

TEST_CASE("Clock: what was written as UTC is read back, and nothing else") {
    for (const std::int64_t moment :
         {std::int64_t{1'795'626'730'123'456'789}, std::int64_t{0}, std::int64_t{-1}, std::int64_t{-1'000'000'000},
          std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()})
        CHECK(utc_time_in(utc_time(moment)) == moment);
    for (const auto* text :
         {"", "x", "2026-11-25T17:12:10Z", "2026-11-25T17:12:10.12Z", "2026-13-25T17:12:10.123456789Z",
          "2026-11-25T17:12:10.123456789", "9999-11-25T17:12:10.123456789Z", "2026-11-25T17:12:10.123456789Zx"})
        CHECK_FALSE(utc_time_in(text));
}

TEST_CASE("Clock: how long, in microseconds") {
    constexpr auto least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
    CHECK(seconds_between(1, 160'000'001) == "0.160000 s");
    CHECK(seconds_between(12'000'001'999, 0) == "-12.000001 s");
    CHECK(seconds_between(least, most) == "18446744073.709551 s");
    CHECK(seconds_between(most, least) == "-18446744073.709551 s");
}
