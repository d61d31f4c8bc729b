// SPDX-License-Identifier: GPL-2.0-or-later
// Loss, duplication and reordering as numbers tell of them.
#include "traffic-gen/arrivals.hpp"

#include "catch2.hpp"
#include "protocol/build/samples.hpp"

#include <random>
#include <vector>

namespace ipoib::traffic {
namespace {

FlowArrivals taken(std::initializer_list<std::uint64_t> numbers) {
    FlowArrivals flow;
    for (const auto number : numbers) flow.take(number);
    return flow;
}

std::vector<std::uint8_t> numbered(const build::Node& from, const build::Node& to, std::uint64_t count) {
    auto payload = build::pattern(64);
    Number{.run = 7, .count = count}.write(payload);
    return build::udp(from, to, {}, wire::Octets{payload}).build();
}

}  // namespace

TEST_CASE("Arrivals: in order, nothing is wrong") {
    const auto flow = taken({5, 6, 7, 8});
    CHECK((flow.lost() == 0 && flow.doubled() == 0 && flow.overtaken() == 0 && flow.different() == 4));
}

TEST_CASE("Arrivals: what is missing, came twice, came late") {
    CHECK(taken({0, 1, 4}).lost() == 2);
    CHECK(taken({0, 1, 4, 2}).lost() == 1);
    CHECK(taken({0, 1, 4, 2}).overtaken() == 1);
    CHECK(taken({0, 1, 1, 1}).doubled() == 2);
    CHECK(taken({0, 1, 4, 2, 2}).doubled() == 1);
    CHECK(taken({3, 2, 1, 0}).overtaken() == 3);
    CHECK(taken({3, 0}).lost() == 2);
    CHECK(FlowArrivals{}.lost() == 0);
}

TEST_CASE("Arrivals: a gap that is wider than the window") {
    const auto far = 3 * FlowArrivals::window;
    const auto flow = taken({0, 1, far, far - 1, far, 1});
    CHECK(flow.lost() == far - 4);
    // The 1 is too far back to know that it came already.
    CHECK(flow.overtaken() == 2);
    CHECK(flow.doubled() == 1);
}

TEST_CASE("Arrivals: any loss, doubling and shuffling within the window is counted to the packet") {
    std::mt19937 random{1};
    for (unsigned round = 0; round < 50; ++round) {
        FlowArrivals flow;
        std::uint64_t lost = 0, doubled = 0;
        for (std::uint64_t block = 0; block < 40; ++block) {
            std::vector<std::uint64_t> numbers;
            for (std::uint64_t i = block * 100; i < (block + 1) * 100; ++i) {
                // The first and the last are there, so that every gap is between numbers.
                const bool is_end = i == 0 || i == 3999;
                if (!is_end && random() % 10 == 0) {
                    ++lost;
                    continue;
                }
                numbers.push_back(i);
                if (random() % 20 == 0) numbers.push_back(i), ++doubled;
            }
            std::shuffle(numbers.begin(), numbers.end(), random);
            for (const auto number : numbers) flow.take(number);
        }
        CHECK(flow.lost() == lost);
        CHECK(flow.doubled() == doubled);
    }
}

TEST_CASE("Arrivals: flows are told apart, other packets are counted alone") {
    using namespace build::samples;
    Arrivals arrivals;
    for (std::uint64_t i = 0; i < 4; ++i) arrivals.take(numbered(host(1), host(2), i));
    arrivals.take(numbered(host(3), host(2), 0));
    arrivals.take(numbered(host(3), host(2), 2));
    arrivals.take(build::arp_request(host(1), 1, {}).build());
    CHECK(arrivals.packets == 7);
    CHECK(arrivals.numbered == 6);
    CHECK(arrivals.flows() == 2);
    CHECK(arrivals.lost() == 1);
}

TEST_CASE("Arrivals: cut and foreign octets") {
    using namespace build::samples;
    const auto frame = numbered(host(1), host(2), 3);
    for (std::size_t size = 0; size < frame.size(); ++size) {
        Arrivals arrivals;
        arrivals.take(wire::Octets{frame}.first(size));
        CHECK(arrivals.packets == 1);
    }
}

}  // namespace ipoib::traffic
