// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/loop.hpp"

#include "base/descriptor.hpp"

#include "catch2.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <map>
#include <random>
#include <stdexcept>
#include <vector>

namespace ipoib::fabric {
namespace {

using namespace std::chrono_literals;

Frame frame_of(std::uint8_t mark) {
    const std::array<std::uint8_t, 2> octets{mark, 0};
    return Frame{octets};
}

/// Writes down what arrives and when.
struct Recorder : FrameSink {
    explicit Recorder(Loop& l) : loop(l) {}
    void receive(const Frame& frame) override { arrived.emplace_back(loop.now(), frame.octets()[0]); }
    Loop& loop;
    std::vector<std::pair<Time, int>> arrived;
};

struct ClearStop {
    ~ClearStop() { Loop::clear_stop(); }
};

bool never() { return false; }

/// Two ends of a stream.
struct Ends {
    Descriptor ours, theirs;
    Ends() {
        std::array<int, 2> ends{};
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
        ours = Descriptor{ends[0]};
        theirs = Descriptor{ends[1]};
    }
    void write() const { REQUIRE(::write(theirs.value(), "x", 1) == 1); }
    void read() const {
        std::array<char, 8> octets;
        REQUIRE(::read(ours.value(), octets.data(), octets.size()) > 0);
    }
};

TEST_CASE("Loop: while it is paused the clock stands, and descriptors are served") {
    Loop loop{Loop::Clock::real};
    const Ends person, other;
    bool has_fired = false;
    loop.after(5ms, [&] { has_fired = true; });
    Time before{}, meanwhile{};
    loop.watch(other.ours.value(), POLLIN, [&](short) {
        other.read();
        meanwhile = loop.now();
        ::usleep(10'000);  // longer than the timer
        CHECK(loop.now() == meanwhile);
        person.write();
    });
    other.write();
    before = loop.now();
    loop.pause_until_readable(person.ours.value());
    CHECK(meanwhile >= before);
    CHECK_FALSE(has_fired);
    loop.run_until([&] { return has_fired; }, Time::max());
    CHECK(has_fired);
}

TEST_CASE("Loop: a pause ends when stop is requested, with either clock") {
    for (const auto clock : {Loop::Clock::real, Loop::Clock::virtual_time}) {
        const ClearStop clear;
        Loop loop{clock};
        const Ends person;
        Loop::request_stop();
        loop.pause_until_readable(person.ours.value());
        Loop::clear_stop();
        person.write();
        loop.pause_until_readable(person.ours.value());
        CHECK(loop.now() >= Time{});
    }
}

TEST_CASE("Loop: frames and timers happen in the order of time, then of scheduling") {
    Loop loop;
    std::vector<int> order;
    struct Sink : FrameSink {
        explicit Sink(std::vector<int>& o) : order(o) {}
        void receive(const Frame& frame) override { order.push_back(frame.octets()[0]); }
        std::vector<int>& order;
    } sink{order};

    loop.deliver(20ns, sink, frame_of(5));
    loop.at(10ns, [&] { order.push_back(1); });
    loop.deliver(10ns, sink, frame_of(2));
    loop.at(10ns, [&] { order.push_back(3); });
    loop.deliver(10ns, sink, frame_of(4));
    loop.at(20ns, [&] { order.push_back(6); });
    loop.at(5ns, [&] { order.push_back(0); });
    loop.run_for(100ns);
    CHECK(order == std::vector{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("Loop: what is scheduled in any order happens as sorted by time and order of scheduling") {
    const auto run = [](std::uint64_t seed) {
        Loop loop;
        Recorder recorder{loop};
        std::mt19937_64 random{seed};
        std::multimap<Time, int> expected;
        for (int i = 0; i < 200; ++i) {
            const Time time{static_cast<int>(random() % 50)};
            expected.emplace(time, i);
            if (random() % 2) {
                loop.deliver(time, recorder, frame_of(static_cast<std::uint8_t>(i)));
            } else {
                loop.at(time, [&recorder, &loop, i] { recorder.arrived.emplace_back(loop.now(), i); });
            }
        }
        loop.run_for(1us);
        CHECK(recorder.arrived == std::vector<std::pair<Time, int>>(expected.begin(), expected.end()));
        return recorder.arrived;
    };
    for (std::uint64_t seed = 1; seed <= 20; ++seed) CHECK(run(seed) == run(seed));
}

TEST_CASE("Loop: the virtual clock jumps to what is next and ends at the deadline") {
    Loop loop;
    Recorder recorder{loop};
    loop.deliver(3h, recorder, frame_of(1));
    CHECK_FALSE(loop.run_until(never, 2h));
    CHECK(loop.now() == 2h);
    CHECK(recorder.arrived.empty());
    CHECK(loop.run_until([&] { return !recorder.arrived.empty(); }, 10h));
    CHECK(loop.now() == 3h);
}

TEST_CASE("Loop: what is due at the deadline happens") {
    Loop loop;
    bool is_done = false;
    loop.at(1s, [&] { is_done = true; });
    CHECK(loop.run_until([&] { return is_done; }, 1s));
}

TEST_CASE("Loop: nothing happens when it is done already") {
    Loop loop;
    bool has_happened = false;
    loop.at(0ns, [&] { has_happened = true; });
    CHECK(loop.run_until([] { return true; }, 1s));
    CHECK_FALSE(has_happened);
}

TEST_CASE("Loop: the past is now, and time does not go back") {
    Loop loop;
    loop.run_for(1s);
    Time seen{};
    loop.at(1ms, [&] { seen = loop.now(); });
    CHECK_FALSE(loop.run_until(never, 500ms));
    CHECK(loop.now() == 1s);
    loop.run_for(0s);
    CHECK(seen == 1s);
}

TEST_CASE("Loop: what happens may run the loop itself") {
    Loop loop;
    std::vector<int> order;
    loop.at(1ms, [&] {
        order.push_back(1);
        loop.run_for(5ms);
        order.push_back(3);
    });
    loop.at(2ms, [&] { order.push_back(2); });
    CHECK_FALSE(loop.run_until(never, 3ms));
    CHECK(order == std::vector{1, 2, 3});
    CHECK(loop.now() == 6ms);
}

TEST_CASE("Loop: a cancelled timer does not fire, any other does") {
    Loop loop;
    std::vector<int> order;
    auto first = loop.after(1ms, [&] { order.push_back(1); });
    auto second = loop.after(2ms, [&] { order.push_back(2); });
    CHECK(first);
    loop.cancel(first);
    CHECK_FALSE(first);
    loop.cancel(first);
    loop.run_for(1s);
    CHECK(order == std::vector{2});

    // A timer that has fired is none of those that come after it, even in its place.
    loop.after(1ms, [&] { order.push_back(3); });
    loop.cancel(second);
    loop.run_for(1s);
    CHECK(order == std::vector{2, 3});
}

TEST_CASE("Loop: a timer may cancel itself and others while it fires") {
    Loop loop;
    int fired = 0;
    TimerId own, other;
    own = loop.after(1ms, [&] {
        ++fired;
        loop.cancel(own);
        loop.cancel(other);
    });
    other = loop.after(1ms, [&] { ++fired; });
    loop.run_for(1s);
    CHECK(fired == 1);
}

TEST_CASE("Loop: what a cancelled action owns is freed at once, however many there were") {
    Loop loop;
    const auto owned = std::make_shared<int>(0);
    bool has_fired = false;
    loop.after(1h, [&] { has_fired = true; });
    for (int i = 0; i < 10000; ++i) {
        auto timer = loop.after(1h, [owned] { ++*owned; });
        loop.cancel(timer);
    }
    CHECK(owned.use_count() == 1);
    loop.run_for(2h);
    CHECK(*owned == 0);
    CHECK(has_fired);
}

TEST_CASE("Loop: what an action owns may use the loop when both end") {
    struct Canceller {
        ~Canceller() { loop.cancel(timer); }
        Loop& loop;
        TimerId timer;
    };
    bool has_fired = false;
    {
        Loop loop;
        const auto other = loop.after(1s, [&] { has_fired = true; });
        const auto owned = std::make_shared<Canceller>(Canceller{loop, {}});
        owned->timer = other;
        loop.after(2s, [owned] {});
    }
    CHECK_FALSE(has_fired);
}

TEST_CASE("Loop: forgotten frames do not arrive, those for others do") {
    Loop loop;
    Recorder kept{loop};
    auto gone = std::make_unique<Recorder>(loop);
    for (std::uint8_t i = 0; i < 200; ++i) {
        // Not in order, so that both places where frames wait are in use.
        const Time time{i % 2 ? 1000 - i : 1000 + i};
        loop.deliver(time, i % 3 ? static_cast<FrameSink&>(kept) : *gone, frame_of(i));
    }
    loop.forget(*gone);
    gone.reset();
    loop.run_for(1s);
    CHECK(kept.arrived.size() == 133);
    CHECK(std::none_of(kept.arrived.begin(), kept.arrived.end(), [](const auto& a) { return a.second % 3 == 0; }));
}

TEST_CASE("Loop: a sink may be forgotten while a frame arrives, and hears no more") {
    Loop loop;
    struct Once : FrameSink {
        explicit Once(Loop& l) : loop(l) {}
        void receive(const Frame& frame) override {
            ++count;
            loop.forget(*this);
            first = frame.octets()[0];
        }
        Loop& loop;
        int count = 0, first = 0;
    } once{loop};
    for (std::uint8_t i = 1; i < 5; ++i) loop.deliver(1ms, once, frame_of(i));
    loop.run_for(1s);
    CHECK(once.count == 1);
    CHECK(once.first == 1);
}

TEST_CASE("Loop: a virtual clock has no descriptors to watch") {
    Loop loop;
    CHECK(loop.is_virtual());
    CHECK_THROWS_AS(loop.watch(0, POLLIN, [](short) {}), std::logic_error);
}

TEST_CASE("Loop: a request to stop ends every run until it is cleared") {
    const ClearStop at_the_end;
    for (const auto clock : {Loop::Clock::virtual_time, Loop::Clock::real}) {
        Loop loop{clock};
        int count = 0;
        loop.at(0ns, [&] {
            ++count;
            Loop::request_stop();
        });
        loop.at(1ns, [&] { ++count; });
        CHECK_FALSE(loop.run_until(never, 1h));
        CHECK(count == 1);
        CHECK_FALSE(loop.run_until(never, 1h));
        CHECK(count == 1);
        Loop::clear_stop();
        CHECK(loop.run_until([&] { return count == 2; }, 1h));
    }
}

TEST_CASE("Loop: a signal handler that requests a stop wakes a loop that sleeps") {
    const ClearStop at_the_end;
    Loop loop{Loop::Clock::real};
    const auto old = std::signal(SIGALRM, [](int) { Loop::request_stop(); });
    const itimerval soon{{0, 0}, {0, 1000}};
    ::setitimer(ITIMER_REAL, &soon, nullptr);
    CHECK_FALSE(loop.run_until(never, 1h));
    CHECK(Loop::stop_requested());
    std::signal(SIGALRM, old);
}

/// A pair of connected descriptors.
struct Pair {
    Pair() {
        std::array<int, 2> ends{};
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
        one = Descriptor{ends[0]};
        other = Descriptor{ends[1]};
    }
    void write() const { REQUIRE(::write(other.value(), "x", 1) == 1); }
    void read() const {
        char octet = 0;
        REQUIRE(::read(one.value(), &octet, 1) == 1);
    }
    Descriptor one, other;
};

TEST_CASE("Loop: the real clock runs timers in order of time and wakes for descriptors") {
    Loop loop{Loop::Clock::real};
    CHECK_FALSE(loop.is_virtual());
    const Pair pair;
    std::vector<int> order;
    loop.watch(pair.one.value(), POLLIN, [&](short events) {
        CHECK((events & POLLIN) != 0);
        pair.read();
        order.push_back(3);
    });
    loop.after(2ms, [&] {
        order.push_back(2);
        pair.write();
    });
    loop.after(1ms, [&] { order.push_back(1); });
    CHECK(loop.run_until([&] { return order.size() == 3; }, loop.now() + 1h));
    CHECK(order == std::vector{1, 2, 3});
    CHECK(loop.now() >= 2ms);
}

TEST_CASE("Loop: with the real clock a run without result ends at its deadline") {
    Loop loop{Loop::Clock::real};
    const auto before = loop.now();
    loop.run_for(3ms);
    CHECK(loop.now() - before >= 3ms);
}

TEST_CASE("Loop: work that never ends does not keep the real clock from its descriptors") {
    Loop loop{Loop::Clock::real};
    const Pair pair;
    bool is_served = false;
    loop.watch(pair.one.value(), POLLIN, [&](short) {
        pair.read();
        is_served = true;
    });
    std::function<void()> again = [&] { loop.at(0ns, again); };
    again();
    pair.write();
    CHECK(loop.run_until([&] { return is_served; }, loop.now() + 1h));
}

TEST_CASE("Loop: a descriptor may be unwatched or watched anew while it is served") {
    Loop loop{Loop::Clock::real};
    const Pair first, second;
    int count = 0;
    const auto owned = std::make_shared<int>(0);
    loop.watch(first.one.value(), POLLIN, [&, owned](short) {
        loop.watch(first.one.value(), POLLIN, [&](short) {
            ++count;
            loop.unwatch(first.one.value());
            loop.unwatch(second.one.value());
        });
        ++*owned;
    });
    loop.watch(second.one.value(), POLLIN, [&](short) {
        second.read();
        ++count;
    });
    first.write();
    CHECK(loop.run_until([&] { return count == 1; }, loop.now() + 1h));
    CHECK(owned.use_count() == 1);
    CHECK(*owned == 1);
    second.write();
    loop.run_for(2ms);
    CHECK(count == 1);
}

TEST_CASE("Loop: a descriptor that is closed at the other end is served") {
    Loop loop{Loop::Clock::real};
    auto pipe = make_pipe();
    REQUIRE(pipe);
    short seen = 0;
    loop.watch(pipe.reader.value(), POLLIN, [&](short events) { seen = events; });
    pipe.writer.close();
    CHECK(loop.run_until([&] { return seen != 0; }, loop.now() + 1h));
    CHECK((seen & POLLHUP) != 0);
    loop.unwatch(pipe.reader.value());
}

}  // namespace
}  // namespace ipoib::fabric
