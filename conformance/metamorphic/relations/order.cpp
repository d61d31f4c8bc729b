// SPDX-License-Identifier: GPL-2.0-or-later
// Frames come twice, or in another order that proves nothing; times are those of another clock.
#include "conformance/metamorphic/relation.hpp"

namespace ipoib::metamorphic {
namespace {

bool choose_doubled(const Source& source, const Sources&, std::size_t number, Random& random, Choice& choice) {
    if (source.size() == 0) return false;
    if (number < source.size()) {
        choice.frames.push_back(number);
        return true;
    }
    for (std::size_t i = 0; i < source.size(); ++i)
        if (random.below(4) == 0) choice.frames.push_back(i);
    return !choice.frames.empty();
}

void double_them(const Source& source, Kept kept, const Choice& choice, Trace& variant) {
    variant.is_one_subnet = source.is_one_subnet;
    for (const auto index : kept) {
        put(source, index, variant);
        if (has(choice.frames, index)) put(source, index, variant);
    }
}

bool is_unrelated(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
    auto one = a.begin(), other = b.begin();
    while (one != a.end() && other != b.end()) {
        if (*one == *other) return false;
        *one < *other ? ++one : ++other;
    }
    return true;
}

/// Swaps frames that are chosen with the next that is kept, if they have nothing to do with each other. Each is moved
/// once.
bool choose_swapped(const Source& source, const Sources&, std::size_t number, Random& random, Choice& choice) {
    const auto borders = each_border(source);
    const auto can = [&](std::size_t i) { return is_unrelated(source.shared()[i], source.shared()[i + 1]); };
    if (number < borders) {
        if (can(number)) choice.frames.push_back(number);
    } else {
        for (std::size_t i = 0; i < borders; ++i)
            if (can(i) && random.below(2) == 0) choice.frames.push_back(i++);
    }
    return !choice.frames.empty();
}

void swap_them(const Source& source, Kept kept, const Choice& choice, Trace& variant) {
    variant.is_one_subnet = source.is_one_subnet;
    for (std::size_t i = 0; i < kept.size(); ++i) {
        const auto index = kept[i];
        const bool is_swapped = has(choice.frames, index) && i + 1 < kept.size() && kept[i + 1] == index + 1;
        if (is_swapped) put(source, kept[++i], variant);
        put(source, index, variant);
        if (!is_swapped) continue;
        auto &first = variant.frames[variant.frames.size() - 2], &second = variant.frames.back();
        std::swap(first.time, second.time);
    }
}

/// By seconds to years, to and fro.
bool choose_shift(const Source& source, const Sources&, std::size_t number, Random& random, Choice& choice) {
    constexpr std::array<std::int64_t, 6> seconds{1, 1'000, 86'400, 31'536'000, -3'600, -31'536'000};
    constexpr std::int64_t second = 1'000'000'000;
    constexpr std::size_t most = 600'000'000;
    if (source.size() == 0) return false;
    auto shift = number < seconds.size()
                     ? seconds[number] * second
                     : (static_cast<std::int64_t>(random.below(most)) - std::int64_t{most / 2}) * second;
    // A time of 0 means that there is none.
    for (const auto& frame : source.frames())
        if (frame.time == 0 || frame.time + shift <= 0) return false;
    choice.numbers[0] = static_cast<std::uint64_t>(shift);
    return true;
}

void shift_clock(const Source& source, Kept kept, const Choice& choice, Trace& variant) {
    variant.is_one_subnet = source.is_one_subnet;
    for (const auto index : kept) {
        put(source, index, variant);
        variant.frames.back().time += static_cast<std::int64_t>(choice.numbers[0]);
    }
}

/// From one frame on the clock is another. Number n: before frame n + 1, an hour ahead or back.
template <std::int64_t Seconds>
bool choose_step(const Source& source, const Sources&, std::size_t number, Random&, Choice& choice) {
    constexpr std::int64_t second = 1'000'000'000;
    if (number >= each_border(source)) return false;
    for (const auto& frame : source.frames())
        if (frame.time == 0 || frame.time + Seconds * second <= 0) return false;
    choice.numbers = {static_cast<std::uint64_t>(Seconds * second), number + 1};
    return true;
}

void step_clock(const Source& source, Kept kept, const Choice& choice, Trace& variant) {
    variant.is_one_subnet = source.is_one_subnet;
    for (const auto index : kept) {
        put(source, index, variant);
        if (index >= choice.numbers[1]) variant.frames.back().time += static_cast<std::int64_t>(choice.numbers[0]);
    }
}

const Relation doubled{.name = "doubled",
                       .what = "a frame comes twice, at the same time: the same FAILs and WARNs",
                       .moves = Moves::same,
                       .exceptions = {&rfc4391::path_rate_by_iba_methods, &rfc4391::group_attributes_cached,
                                      &rfc4392::sender_leaves_in_time},
                       .systematic = each_frame,
                       .choose = choose_doubled,
                       .change = double_them};
const Relation swapped{.name = "swapped",
                       .what =
                           "two neighbours that share no port, group, queue pair or transaction change places: "
                           "the same FAILs and WARNs",
                       .moves = Moves::same,
                       .systematic = each_border,
                       .choose = choose_swapped,
                       .change = swap_them};
const Relation clock_shifted{.name = "clock-shifted",
                             .what = "all times are of another clock: the same FAILs and WARNs",
                             .moves = Moves::same,
                             .systematic = [](const Source&) { return std::size_t{6}; },
                             .choose = choose_shift,
                             .change = shift_clock};
const Relation clock_ahead{.name = "clock-ahead",
                           .what = "from one frame on the clock is an hour ahead: no FAIL or WARN appears",
                           .systematic = each_border,
                           .is_random = false,
                           .choose = choose_step<3600>,
                           .change = step_clock};
const Relation clock_back{.name = "clock-back",
                          .what = "from one frame on the clock is an hour behind: no FAIL or WARN appears",
                          .systematic = each_border,
                          .is_random = false,
                          .choose = choose_step<-3600>,
                          .change = step_clock};

}  // namespace
}  // namespace ipoib::metamorphic
