// SPDX-License-Identifier: GPL-2.0-or-later
// Where in its frames a source names ports, groups, queue pairs, partitions, addresses and transactions; and the same
// frames with other names.
#pragma once

#include "conformance/metamorphic/trace.hpp"

#include <memory>
#include <set>

namespace ipoib::metamorphic {

enum class NameKind : std::uint8_t {
    lid,
    mlid,
    qpn,
    p_key,           ///< the lower 15 bits
    guid,            ///< 8 octets: a GUID, the lower half of a GID or of an IPv6 address
    solicited_node,  ///< the last 24 bits of an IPv6 address, behind 00:00:00:01:ff
    ipv4,
    transaction,
    group,  ///< an MGID; it is not renamed, but for the P_Key in it
};
struct NameSite {
    NameKind kind;
    std::uint16_t offset;  ///< in the frame, in octets
};

/// How names change: a number is added to each, or some of its bits are inverted, so that their order and what is
/// derived from them are kept. What has a meaning of its own stays: QPN 0, 1 and 0xffffff, LID 0 and 0xffff, the P_Key
/// 0x7fff with or without its membership bit, broadcast and group addresses.
struct Renaming {
    std::uint16_t lid = 0, mlid = 0, p_key = 0;
    std::uint32_t qpn = 0, transaction = 0;
    std::uint64_t guid = 0;
    std::uint8_t ipv4 = 0;
    std::uint16_t lid_kept = 0;          ///< this one keeps its name
    std::uint64_t guid_kept = 0;         ///< and this one
    bool renames_default_p_key = false;  ///< for a source that shall be on another partition
};

/// What all frames of a source name.
class Names {
public:
    explicit Names(const std::vector<Frame>& frames);

    /// A frame with other names; checksums and CRCs that were right are right again.
    [[nodiscard]] wire::Octets rename(const Frame& frame, std::size_t index, const Renaming& renaming,
                                      Store& store) const;
    /// False where names lie in records that several frames share, where they are not looked for.
    [[nodiscard]] bool can_rename() const noexcept { return can_rename_; }
    [[nodiscard]] std::uint16_t greatest_lid() const noexcept { return lids_.empty() ? 0 : *lids_.rbegin(); }
    [[nodiscard]] std::uint32_t greatest_qpn() const noexcept { return qpns_.empty() ? 0 : *qpns_.rbegin(); }
    [[nodiscard]] const std::set<std::uint16_t>& p_keys() const noexcept { return p_keys_; }
    [[nodiscard]] const std::set<std::uint64_t>& guids() const noexcept { return guids_; }
    [[nodiscard]] const std::vector<std::vector<NameSite>>& sites() const noexcept { return sites_; }
    /// By frame: a number for each name in it, ascending. Frames that have none in common have nothing to do with each
    /// other.
    [[nodiscard]] std::vector<std::vector<std::uint64_t>> shared(const std::vector<Frame>& frames) const;

private:
    void collect(const wire::Packet& packet);
    void collect_table(const wire::Packet& packet);
    void collect_field(const wire::FieldSpec& field, const std::uint8_t* at);
    void find_sites(const wire::Packet& packet, std::vector<NameSite>& sites) const;
    void find_patterns(wire::Octets octets, std::vector<NameSite>& sites) const;

    std::vector<std::vector<NameSite>> sites_;
    std::set<std::uint16_t> lids_, p_keys_;
    std::set<std::uint32_t> qpns_, ipv4_;
    std::set<std::uint64_t> guids_;
    std::set<std::uint32_t> solicited_;
    bool can_rename_ = true;
};

}  // namespace ipoib::metamorphic
