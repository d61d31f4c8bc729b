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
