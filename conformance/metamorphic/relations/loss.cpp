// SPDX-License-Identifier: GPL-2.0-or-later
// Frames are lost: nobody is accused who was not before.
#include "conformance/metamorphic/relation.hpp"

#include <map>
#include <set>
#include <utility>

namespace ipoib::metamorphic {
namespace {

void lose(const Source& source, Kept kept, const Choice& choice, Trace& variant) {
    variant.is_one_subnet = source.is_one_subnet;
    for (const auto index : kept)
        if (!has(choice.frames, index)) put(source, index, variant);
}

/// The same, and the capture tells of each loss at the next frame of the same interface.
void lose_and_tell(const Source& source, Kept kept, const Choice& choice, Trace& variant) {
    variant.is_one_subnet = source.is_one_subnet;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> lost;
    for (const auto index : kept) {
        const auto& frame = source.frames()[index];
        auto& count = lost[{frame.capture, frame.interface}];
        if (has(choice.frames, index)) {
            ++count;
            continue;
        }
        put(source, index, variant);
        variant.frames.back().lost = std::exchange(count, 0);
    }
}
/// The same, and the capture tells of them in statistics at its end.
void lose_and_count(const Source& source, Kept kept, const Choice& choice, Trace& variant) {
    lose(source, kept, choice, variant);
    variant.lost_somewhere = std::max<std::size_t>(choice.frames.size(), 1);
}

void take_range(Choice& choice, std::size_t first, std::size_t last) {
    for (auto i = first; i < last; ++i) choice.frames.push_back(i);
}

/// Who has sent a frame, and to whom: by LIDs, else by the interface of the capture and the party at it.
struct Ends {
    std::uint64_t from, to;
};
Ends ends(const Frame& frame) {
    const auto lrh =
        frame.medium == wire::Medium::infiniband ? wire::View<wire::Lrh>::at(frame.octets) : wire::View<wire::Lrh>{};
    const auto place =
        std::uint64_t{frame.interface} << 32 | std::uint64_t{static_cast<std::uint8_t>(frame.origin.party)} << 24;
    if (!lrh) return {place, place};
    return {std::uint64_t{frame.interface} << 32 | lrh[wire::Lrh::slid],
            std::uint64_t{frame.interface} << 32 | lrh[wire::Lrh::dlid]};
}

/// Who has sent something.
std::vector<std::uint64_t> senders(const Source& source) {
    std::set<std::uint64_t> all;
    for (const auto& frame : source.frames()) all.insert(ends(frame).from);
    return {all.begin(), all.end()};
}
/// Who was sent something, by whom.
std::vector<std::pair<std::uint64_t, std::uint64_t>> directions(const Source& source) {
    std::set<std::pair<std::uint64_t, std::uint64_t>> all;
    for (const auto& frame : source.frames()) all.emplace(ends(frame).from, ends(frame).to);
    return {all.begin(), all.end()};
}

/// Number n loses frame n; a later one any.
bool choose_one(const Source& source, const Sources&, std::size_t number, Random& random, Choice& choice) {
    if (source.size() < 2) return false;
    choice.frames.push_back(number < source.size() ? number : random.below(source.size()));
    return true;
}

bool choose_burst(const Source& source, const Sources&, std::size_t, Random& random, Choice& choice) {
    if (source.size() < 4) return false;
    const auto first = random.below(source.size() - 1);
    const auto most = std::min(source.size() - first, source.size() / 2);
    take_range(choice, first, first + 2 + random.below(std::max<std::size_t>(most, 3) - 2));
    std::erase_if(choice.frames, [&](auto i) { return i >= source.size(); });
    return true;
}

bool choose_prefix(const Source& source, const Sources&, std::size_t number, Random&, Choice& choice) {
    if (number + 1 >= source.size()) return false;
    take_range(choice, 0, number + 1);
    return true;
}

bool choose_suffix(const Source& source, const Sources&, std::size_t number, Random&, Choice& choice) {
    if (number + 1 >= source.size()) return false;
    take_range(choice, source.size() - number - 1, source.size());
    return true;
}

/// Loses the frames for which `is_lost`, from one place on to another.
template <class IsLost>
bool choose_those(const Source& source, std::size_t first, std::size_t last, Choice& choice, const IsLost& is_lost) {
    for (auto i = first; i < last; ++i)
        if (is_lost(source.frames()[i])) choice.frames.push_back(i);
    return !choice.frames.empty() && choice.frames.size() < source.size();
}

/// A part of the capture by chance; all of it for the variants that are tried one after the other.
std::pair<std::size_t, std::size_t> part(const Source& source, bool is_all, Random& random) {
    if (is_all || source.size() < 2) return {0, source.size()};
    const auto a = random.below(source.size()), b = random.below(source.size());
    return {std::min(a, b), std::max(a, b) + 1};
}

bool choose_party(const Source& source, const Sources&, std::size_t number, Random& random, Choice& choice) {
    const auto all = senders(source);
    if (all.size() < 2) return false;
    const auto [first, last] = part(source, number < all.size(), random);
    const auto who = all[number < all.size() ? number : random.below(all.size())];
    return choose_those(source, first, last, choice, [&](const Frame& frame) { return ends(frame).from == who; });
}

bool choose_direction(const Source& source, const Sources&, std::size_t number, Random& random, Choice& choice) {
    const auto all = directions(source);
    if (all.size() < 2) return false;
    const auto [first, last] = part(source, number < all.size(), random);
    const auto& which = all[number < all.size() ? number : random.below(all.size())];
    return choose_those(source, first, last, choice, [&](const Frame& frame) {
        return ends(frame).from == which.first && ends(frame).to == which.second;
    });
}

/// Every second, third ... tenth frame, from each place on.
constexpr std::size_t widest_stride = 10;
std::size_t strides(const Source& source) {
    return source.size() < 2 ? 0 : widest_stride * (widest_stride + 1) / 2 - 1;
}
bool choose_stride(const Source& source, const Sources&, std::size_t number, Random&, Choice& choice) {
    for (std::size_t stride = 2; stride <= widest_stride; number -= stride, ++stride) {
        if (number >= stride) continue;
        for (auto i = number; i < source.size(); i += stride) choice.frames.push_back(i);
        return !choice.frames.empty();
    }
    return false;
}

bool choose_at_random(const Source& source, const Sources&, std::size_t, Random& random, Choice& choice) {
    constexpr std::size_t percent = 100;
    constexpr std::array<std::size_t, 5> shares{3, 10, 25, 50, 80};
    const auto share = shares[random.below(shares.size())];
    return choose_those(source, 0, source.size(), choice, [&](const Frame&) { return random.below(percent) < share; });
}

const Relation loss_one{.name = "loss-one",
                        .what = "one frame is lost: no FAIL or WARN appears",
                        .may_be_traceless = true,
                        .systematic = each_frame,
                        .is_random = false,
                        .choose = choose_one,
                        .change = lose};
const Relation loss_burst{.name = "loss-burst",
                          .what = "several frames in a row are lost: no FAIL or WARN appears",
                          .may_be_traceless = true,
                          .systematic = no_variants,
                          .choose = choose_burst,
                          .change = lose};
const Relation loss_prefix{.name = "loss-prefix",
                           .what = "the capture begins later: no FAIL or WARN appears",
                           .systematic = each_border,
                           .is_random = false,
                           .choose = choose_prefix,
                           .change = lose};
const Relation loss_suffix{.name = "loss-suffix",
                           .what = "the capture ends earlier: no FAIL or WARN appears",
                           .systematic = each_border,
                           .is_random = false,
                           .choose = choose_suffix,
                           .change = lose};
const Relation loss_party{.name = "loss-party",
                          .what = "what one port has sent is lost: no FAIL or WARN appears",
                          .may_be_traceless = true,
                          .systematic = [](const Source& source) { return senders(source).size(); },
                          .choose = choose_party,
                          .change = lose};
const Relation loss_direction{.name = "loss-direction",
                              .what = "what one port has sent to another is lost: no FAIL or WARN appears",
                              .may_be_traceless = true,
                              .systematic = [](const Source& source) { return directions(source).size(); },
                              .choose = choose_direction,
                              .change = lose};
const Relation loss_stride{.name = "loss-stride",
                           .what = "every second, third ... tenth frame is lost: no FAIL or WARN appears",
                           .may_be_traceless = true,
                           .systematic = strides,
                           .is_random = false,
                           .choose = choose_stride,
                           .change = lose};
const Relation loss_random{.name = "loss-random",
                           .what = "frames are lost here and there: no FAIL or WARN appears",
                           .may_be_traceless = true,
                           .systematic = no_variants,
                           .choose = choose_at_random,
                           .change = lose};

/// Nothing is lost, but the capture says so.
bool choose_none(const Source& source, const Sources&, std::size_t, Random&, Choice&) { return source.size() > 1; }

/// As each of those that lose: which frames is the first number.
bool choose_any(const Source& source, const Sources& all, std::size_t number, Random& random, Choice& choice) {
    constexpr std::array ways{choose_one, choose_burst, choose_party, choose_direction, choose_at_random};
    if (number < source.size()) return choose_one(source, all, number, random, choice);
    return ways[random.below(ways.size())](source, all, number, random, choice);
}

const Relation loss_told{.name = "loss-told",
                         .what = "frames are lost and the capture says where: no FAIL or WARN appears",
                         .systematic = each_frame,
                         .choose = choose_any,
                         .change = lose_and_tell};
const Relation loss_counted{.name = "loss-counted",
                            .what = "frames are lost and the capture counts them at its end: no FAIL or WARN appears",
                            .systematic = each_frame,
                            .choose = choose_any,
                            .change = lose_and_count};
const Relation loss_claimed{.name = "loss-claimed",
                            .what =
                                "none is lost, but the capture says so at its end: what holds only if nothing is "
                                "missing goes, all else stays",
                            .moves = Moves::less_proven,
                            .systematic = [](const Source&) { return std::size_t{1}; },
                            .is_random = false,
                            .choose = choose_none,
                            .change = lose_and_count};

}  // namespace
}  // namespace ipoib::metamorphic
