// SPDX-License-Identifier: GPL-2.0-or-later
// Something else is in the capture, too: another subnet, another partition, a program of other ports. The verdicts of
// each are what they were alone.
#include "conformance/metamorphic/checksums.hpp"
#include "conformance/metamorphic/foreign.hpp"
#include "conformance/metamorphic/relation.hpp"

#include <map>
#include <optional>

namespace ipoib::metamorphic {
namespace {

bool is_of_parties(const Source& source) {
    return std::ranges::any_of(source.frames(),
                               [](const Frame& frame) { return frame.origin.party != inspection::Party::anyone; });
}
std::uint32_t interfaces(const Source& source) {
    std::uint32_t count = 0;
    for (const auto& frame : source.frames()) count = std::max(count, frame.interface + 1);
    return count;
}

/// The queue pairs of a port that both sources have number their packets as one: each packet takes a step as long as it
/// was in its own source, so that gaps stay gaps.
class Renumbering {
public:
    explicit Renumbering(std::uint16_t lid) : lid_(lid) {}
    void number(const Frame& before, Frame& frame, Store& store) {
        wire::decode(frame.octets, packet_, frame.medium, frame.wire_length);
        if (!packet_.lrh || !packet_.deth || packet_.lrh[wire::Lrh::slid] != lid_) return;
        const auto qpn = packet_.deth[wire::Deth::src_qp];
        const auto psn = packet_.bth[wire::Bth::psn];
        auto& last = last_[{frame.is_mixed_in, qpn}];
        auto& next = next_[qpn];
        next += last ? psn - *last : 1u;
        last = psn;
        const auto octets = store.copy(frame.octets);
        const auto at = packet_.offset_of(packet_.bth.data());
        wire::set_field(octets.subspan(at, wire::Bth::size), wire::Bth::psn, next);
        follow_up_crcs(before, octets);
        frame.octets = octets;
    }

private:
    std::uint16_t lid_;
    std::map<std::pair<bool, std::uint32_t>, std::optional<std::uint32_t>> last_;  ///< by source and queue pair
    std::map<std::uint32_t, std::uint32_t> next_;
    wire::Packet packet_;
};

/// What is mixed in, in the order of its times, between the frames of the source. Both begin at the same time.
template <class Put>
void merge(const Source& source, Kept kept, const Choice& choice, Trace& variant, const Put& put_other) {
    const auto& others = choice.other->frames();
    const auto shift = source.size() && !others.empty() ? source.frames().front().time - others.front().time : 0;
    std::size_t next = 0;
    const auto put_until = [&](std::int64_t time) {
        for (; next < choice.frames.size() && others[choice.frames[next]].time + shift <= time; ++next) {
            variant.frames.push_back(others[choice.frames[next]]);
            auto& frame = variant.frames.back();
            frame.time += shift;
            frame.is_mixed_in = true;
            put_other(frame, choice.frames[next]);
        }
    };
    for (const auto index : kept) {
        put_until(source.frames()[index].time);
        put(source, index, variant);
    }
    put_until(std::numeric_limits<std::int64_t>::max());
}

void take_all(Choice& choice, const Source& other) {
    choice.other = &other;
    choice.frames = other.everything;
}

bool choose_subnet(const Source& source, const Sources& all, std::size_t, Random& random, Choice& choice) {
    const auto& other = *all[random.below(all.size())];
    constexpr std::uint32_t most_interfaces = 16;
    if (source.is_one_subnet || is_of_parties(source) || is_of_parties(other) || source.size() == 0) return false;
    if (interfaces(source) + interfaces(other) >= most_interfaces) return false;
    take_all(choice, other);
    choice.numbers[0] = interfaces(source);
    return true;
}

void mix_subnet(const Source& source, Kept kept, const Choice& choice, Trace& variant) {
    merge(source, kept, choice, variant,
          [&](Frame& frame, std::size_t) { frame.interface += static_cast<std::uint32_t>(choice.numbers[0]); });
}

/// Ports, partitions and addresses that the other source does not have; the administrator is the same. What is missing
/// of its packets may be about either.
bool choose_partition(const Source& source, const Sources& all, std::size_t, Random& random, Choice& choice) {
    const auto& other = *all[random.below(all.size())];
    if (!source.is_generated || !other.is_generated || !other.names().can_rename()) return false;
    if (source.verdicts.shows_loss || other.verdicts.shows_loss) return false;
    if (source.administrator_lid == 0 || source.administrator_lid != other.administrator_lid) return false;
    const auto &mine = source.names(), &theirs = other.names();
    constexpr std::uint16_t p_key_bits = 0x7fff;
    for (std::uint16_t bits = 1; bits < p_key_bits; ++bits) {
        const auto is_free = [&](std::uint16_t p_key) {
            const auto renamed = static_cast<std::uint16_t>(p_key ^ bits);
            return renamed != 0 && renamed != p_key_bits && !mine.p_keys().contains(renamed);
        };
        if (!std::ranges::all_of(theirs.p_keys(), is_free)) continue;
        choice.numbers[0] = bits;
        break;
    }
    choice.numbers[1] = mine.greatest_lid() + 1u;
    constexpr unsigned multicast_lids = 0xc000;
    if (choice.numbers[1] + theirs.greatest_lid() >= multicast_lids) return false;
    choice.numbers[2] = mine.greatest_qpn() + 1u;
    take_all(choice, other);
    return choice.numbers[0] != 0;
}

void mix_partition(const Source& source, Kept kept, const Choice& choice, Trace& variant) {
    constexpr std::uint64_t other_guids = 0x00010000'00a00000;
    const Renaming renaming{.lid = static_cast<std::uint16_t>(choice.numbers[1]),
                            .mlid = 0x0400,
                            .p_key = static_cast<std::uint16_t>(choice.numbers[0]),
                            .qpn = static_cast<std::uint32_t>(choice.numbers[2]),
                            .transaction = 0x40000000,
                            .guid = other_guids,
                            .ipv4 = 0x40,
                            .lid_kept = choice.other->administrator_lid,
                            .guid_kept = choice.other->administrator_guid,
                            .renames_default_p_key = true};
    merge(source, kept, choice, variant, [&](Frame& frame, std::size_t index) {
        frame.octets = choice.other->names().rename(choice.other->frames()[index], index, renaming, variant.store);
    });
    Renumbering of_administrator{choice.other->administrator_lid};
    for (auto& frame : variant.frames) of_administrator.number(Frame{frame}, frame, variant.store);
}

bool choose_program(const Source& source, const Sources&, std::size_t number, Random& random, Choice& choice) {
    if (source.size() == 0 || source.frames().front().medium != wire::Medium::infiniband) return false;
    const auto& programs = foreign_programs();
    take_all(choice, *programs[number < programs.size() ? number : random.below(programs.size())]);
    return true;
}

void mix_program(const Source& source, Kept kept, const Choice& choice, Trace& variant) {
    variant.is_one_subnet = source.is_one_subnet;
    const auto& beside = source.frames().front();
    merge(source, kept, choice, variant, [&](Frame& frame, std::size_t) {
        frame.interface = beside.interface;
        if (beside.origin.party != inspection::Party::anyone) frame.origin = inspection::Party::bystander;
    });
}

constexpr std::size_t few(const Source&) { return 4; }

const Relation subnet_mixed{.name = "subnet-mixed",
                            .what =
                                "another subnet is captured at another interface: of each the FAILs and WARNs are "
                                "those that it had alone",
                            .moves = Moves::sum,
                            .systematic = few,
                            .choose = choose_subnet,
                            .change = mix_subnet};
const Relation partition_mixed{.name = "partition-mixed",
                               .what =
                                   "another partition of the same subnet, with ports of its own, is captured, too: "
                                   "of each the FAILs and WARNs are those that it had alone",
                               .moves = Moves::sum,
                               .is_of_one_subnet = true,
                               .systematic = few,
                               .choose = choose_partition,
                               .change = mix_partition};
const Relation program_mixed{.name = "program-mixed",
                             .what =
                                 "programs of other ports, which know nothing of IPoIB, are captured, too: the "
                                 "same FAILs and WARNs",
                             .moves = Moves::same,
                             .systematic = [](const Source&) { return foreign_programs().size(); },
                             .choose = choose_program,
                             .change = mix_program};

}  // namespace
}  // namespace ipoib::metamorphic
