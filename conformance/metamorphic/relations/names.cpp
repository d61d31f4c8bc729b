// SPDX-License-Identifier: GPL-2.0-or-later
// Everything has another name: the verdicts are the same.
#include "conformance/metamorphic/relation.hpp"

namespace ipoib::metamorphic {
namespace {

constexpr std::uint16_t last_lid = 0xbfff, p_key_bits = 0x7fff;

enum Kind : std::size_t { lids, guids, queue_pairs, partitions, transactions, ipv4, all_names, kinds };

/// A number for P_Keys that makes none of them 0 or 0x7fff; 0: there is none to be renamed.
std::uint16_t other_p_key(const Names& names, Random& random) {
    constexpr unsigned most_tries = 64;
    for (unsigned i = 0; i < most_tries; ++i) {
        const auto bits = static_cast<std::uint16_t>(1 + random.below(p_key_bits));
        const auto is_free = [&](std::uint16_t p_key) {
            const auto renamed = p_key == p_key_bits ? p_key : p_key ^ bits;
            return p_key == p_key_bits || (renamed != 0 && renamed != p_key_bits);
        };
        if (std::ranges::all_of(names.p_keys(), is_free)) return bits;
    }
    return 0;
}

/// A number for GUIDs that keeps the first octet, and with it the u bit, of each, and their order.
std::uint64_t other_guid(const Names& names, Random& random) {
    constexpr unsigned first_octet = 56, most_tries = 64, bits = 44;
    for (unsigned i = 0; i < most_tries; ++i) {
        const auto number = random.below(std::size_t{1} << bits);
        const auto is_right = [&](std::uint64_t guid) { return guid >> first_octet == (guid + number) >> first_octet; };
        if (std::ranges::all_of(names.guids(), is_right)) return number;
    }
    return 0;
}

/// Where a source declares that link-layer addresses stand in the wrong place, they are not found.
bool has_shifted_addresses(const Source& source) {
    static const auto shifted = numbers_of({&rfc4391::nd_option_padding});
    return std::ranges::any_of(shifted, [&](auto number) { return std::ranges::binary_search(source.broken, number); });
}

bool choose_names(const Source& source, const Sources&, std::size_t number, Random& random, Choice& choice) {
    const auto& names = source.names();
    if (!names.can_rename() || has_shifted_addresses(source)) return false;
    const auto kind = number < kinds ? number : random.below(kinds);
    const auto is_for = [&](Kind one) { return kind == one || kind == all_names; };
    auto& chosen = choice.numbers;
    constexpr std::size_t lmc_alignment = 128;
    if (const auto room = (last_lid - names.greatest_lid()) / lmc_alignment; is_for(lids) && room > 0)
        chosen[lids] = lmc_alignment * (1 + random.below(room));
    if (is_for(guids)) chosen[guids] = other_guid(names, random);
    constexpr std::uint32_t last_qpn = 0xfffffe;
    if (is_for(queue_pairs) && names.greatest_qpn() > 0)
        chosen[queue_pairs] = random.below(last_qpn - names.greatest_qpn() + 1);
    if (is_for(partitions)) chosen[partitions] = other_p_key(names, random);
    if (is_for(transactions)) chosen[transactions] = random.below(std::size_t{1} << 32);
    constexpr std::size_t some_bits = 63;
    if (is_for(ipv4)) chosen[ipv4] = 1 + random.below(some_bits);
    return std::ranges::any_of(chosen, [](auto one) { return one != 0; });
}

void rename_all(const Source& source, Kept kept, const Choice& choice, Trace& variant) {
    variant.is_one_subnet = source.is_one_subnet;
    const auto& chosen = choice.numbers;
    const Renaming renaming{.lid = static_cast<std::uint16_t>(chosen[lids]),
                            .mlid = static_cast<std::uint16_t>(chosen[lids] & 0xfff),
                            .p_key = static_cast<std::uint16_t>(chosen[partitions]),
                            .qpn = static_cast<std::uint32_t>(chosen[queue_pairs]),
                            .transaction = static_cast<std::uint32_t>(chosen[transactions]),
                            .guid = chosen[guids],
                            .ipv4 = static_cast<std::uint8_t>(chosen[ipv4])};
    for (const auto index : kept) {
        put(source, index, variant);
        auto& frame = variant.frames.back();
        frame.octets = source.names().rename(source.frames()[index], index, renaming, variant.store);
    }
}

const Relation renamed{.name = "renamed",
                       .what =
                           "ports, queue pairs, partitions, addresses or transactions have other names, and all "
                           "that is derived from them: the same FAILs and WARNs",
                       .moves = Moves::same,
                       .systematic = [](const Source&) { return std::size_t{kinds}; },
                       .choose = choose_names,
                       .change = rename_all};

}  // namespace
}  // namespace ipoib::metamorphic
