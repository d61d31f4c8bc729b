// SPDX-License-Identifier: GPL-2.0-or-later
// The same frames as another capture would show them: of another link type, in two files, cut short.
#include "conformance/metamorphic/media.hpp"
#include "conformance/metamorphic/relation.hpp"

namespace ipoib::metamorphic {
namespace {

using wire::Medium;

bool is_infiniband(const Source& source) {
    return std::ranges::all_of(source.frames(), [](const Frame& frame) {
        return frame.medium == Medium::infiniband && frame.octets.size() == frame.wire_length;
    });
}

bool choose_medium(const Source& source, const Sources&, std::size_t number, Random&, Choice& choice) {
    const auto others = other_media();
    if (number >= others.size() || !is_infiniband(source)) return false;
    choice.numbers[0] = static_cast<std::uint64_t>(others[number]);
    return true;
}

void change_medium(const Source& source, Kept kept, const Choice& choice, Trace& variant) {
    variant.is_one_subnet = source.is_one_subnet;
    const auto medium = static_cast<Medium>(choice.numbers[0]);
    Frame shown;
    for (const auto index : kept)
        if (show_as(medium, source, index, source.frames()[index].octets, shown, variant.store))
            variant.frames.push_back(shown);
}

bool choose_border(const Source& source, const Sources&, std::size_t number, Random&, Choice& choice) {
    const auto is_other = [&](const Frame& frame) { return frame.interface != source.frames().front().interface; };
    const bool is_of_parties = source.size() > 0 && source.frames().front().origin.party != inspection::Party::anyone;
    if (number + 1 >= source.size() || (!is_of_parties && std::ranges::any_of(source.frames(), is_other))) return false;
    choice.numbers[0] = number + 1;
    return true;
}

void split(const Source& source, Kept kept, const Choice& choice, Trace& variant) {
    variant.is_one_subnet = true;
    for (const auto index : kept) {
        put(source, index, variant);
        variant.frames.back().capture = index >= choice.numbers[0] ? 1 : 0;
    }
}

/// To the lengths that cut a frame within each of its headers, and some by chance.
constexpr std::array<std::size_t, 14> snap_lengths{8, 20, 28, 40, 48, 60, 64, 68, 96, 110, 128, 160, 200, 256};
bool choose_length(const Source& source, const Sources&, std::size_t number, Random& random, Choice& choice) {
    constexpr std::size_t most = 300;
    if (source.size() == 0) return false;
    choice.numbers[0] = number < snap_lengths.size() ? snap_lengths[number] : 4 + random.below(most);
    return true;
}

void cut(const Source& source, Kept kept, const Choice& choice, Trace& variant) {
    variant.is_one_subnet = source.is_one_subnet;
    for (const auto index : kept) {
        put(source, index, variant);
        auto& frame = variant.frames.back();
        frame.wire_length = std::max(frame.wire_length, static_cast<std::uint32_t>(frame.octets.size()));
        frame.octets = frame.octets.first(std::min<std::size_t>(frame.octets.size(), choice.numbers[0]));
    }
}

const Relation other_link_type{.name = "link-type",
                               .what =
                                   "the same packets as an IP network device or link type 242 shows them: no FAIL "
                                   "or WARN appears",
                               .systematic = [](const Source&) { return other_media().size(); },
                               .is_random = false,
                               .choose = choose_medium,
                               .change = change_medium};
const Relation in_two_files{.name = "split",
                            .what = "the capture is in two files, judged together: the same FAILs and WARNs",
                            .moves = Moves::same,
                            .systematic = [](const Source& source) { return source.size() ? source.size() - 1 : 0; },
                            .is_random = false,
                            .choose = choose_border,
                            .change = split};
const Relation cut_short{.name = "snaplen",
                         .what = "frames are cut when they are captured: no FAIL or WARN appears",
                         .systematic = [](const Source&) { return snap_lengths.size(); },
                         .choose = choose_length,
                         .change = cut};

}  // namespace
}  // namespace ipoib::metamorphic
