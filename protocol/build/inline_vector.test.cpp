// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol/build/inline_vector.hpp"

#include "catch2.hpp"

#include <algorithm>
#include <random>
#include <utility>

using ipoib::build::InlineVector;

TEST_CASE("InlineVector: it holds what a vector would, short and long, copied, moved and erased from") {
    std::mt19937_64 chance{3};
    InlineVector<unsigned, 8> kept, other;
    std::vector<unsigned> expected, expected_of_other;
    for (unsigned i = 0; i < 20'000; ++i) {
        CAPTURE(i, expected.size());
        switch (chance() % 8) {
            case 0: {
                const std::vector<unsigned> more(chance() % 6, i);
                kept.append(more);
                expected.insert(expected.end(), more.begin(), more.end());
                break;
            }
            case 1:
                kept.push_back(i);
                expected.push_back(i);
                break;
            case 2:
            case 3: {
                const auto first = chance() % (expected.size() + 1), count = chance() % (expected.size() - first + 1);
                kept.erase(first, count);
                const auto from = expected.begin() + static_cast<std::ptrdiff_t>(first);
                expected.erase(from, from + static_cast<std::ptrdiff_t>(count));
                break;
            }
            case 4:
                other = kept;
                expected_of_other = expected;
                break;
            case 5:
                std::swap(kept, other);
                std::swap(expected, expected_of_other);
                break;
            case 6:
                kept = InlineVector<unsigned, 8>{kept};
                break;
            default:
                kept = std::move(other);
                expected = std::exchange(expected_of_other, {});
        }
        REQUIRE(std::ranges::equal(kept, expected));
        REQUIRE(std::ranges::equal(other, expected_of_other));
    }
}
