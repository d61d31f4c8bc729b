// SPDX-License-Identifier: GPL-2.0-or-later
// Requests about groups: joining, creating, leaving, asking. IBTA Vol 1, 15.2.5.17; RFC 4392, 1.3.
#pragma once

#include "fabric/simulated/sa_groups.hpp"

namespace ipoib::fabric::sa {

class Membership {
public:
    Membership(Groups& groups, const SubnetView& subnet, const SaConfig& config)
        : groups_(groups), subnet_(subnet), config_(config) {}

    /// Set(MCMemberRecord): a join; it creates the group if there is none.
    [[nodiscard]] Reply join(const Request& request);
    /// Delete(MCMemberRecord): leaves with some join states or with all.
    [[nodiscard]] Reply leave(const Request& request);
    /// Get and GetTable.
    [[nodiscard]] Reply query(const Request& request) const;

private:
    using View = wire::View<wire::McMemberRecord>;
    /// What a join or leave is about, or the status of its refusal.
    struct Subject {
        std::uint16_t status = wire::mad_status::ok;
        const KnownPort* port = nullptr;  ///< of PortGID
        HeldGroup* group = nullptr;
    };
    /// MTU and rate must be known codes where they are given with their selector.
    [[nodiscard]] static bool has_known_codes(const Request& request);
    [[nodiscard]] Subject subject_of(const Request& request) const;
    [[nodiscard]] bool may_act_for(const Request& request, const Subject& subject) const;
    /// Whether the port has another LID than when it joined.
    [[nodiscard]] static bool has_moved(const Subject& subject);
    /// Whether the same port has sent it before.
    [[nodiscard]] bool comes_again(const Request& request);
    [[nodiscard]] std::uint8_t left_states(const Request& request, std::uint8_t held);
    void refused(const Request& request, const Subject& subject);
    [[nodiscard]] std::uint8_t asked_states(const Request& request) const;
    [[nodiscard]] bool may_create(std::uint8_t states) const;

    [[nodiscard]] std::uint16_t create(const Request& request, Subject& subject);
    [[nodiscard]] std::optional<McRecord> new_record(const Request& request, const KnownPort& port);
    [[nodiscard]] bool is_mgid_right(const Request& request) const;
    /// The broadcast group of the IPoIB link that the MGID belongs to, if it does and there is one.
    [[nodiscard]] const HeldGroup* link_of(const wire::Gid& mgid) const;
    [[nodiscard]] bool suits_link(const Request& request, const McRecord& record) const;
    [[nodiscard]] std::uint16_t check(const Request& request, const Subject& subject) const;

    [[nodiscard]] bool is_p_key_right(const Request& request, const KnownPort& port, std::uint16_t p_key) const;
    [[nodiscard]] bool is_mtu_right(const Request& request, const KnownPort& port, const McRecord& group) const;
    [[nodiscard]] bool is_rate_right(const Request& request, const KnownPort& port, const McRecord& group) const;
    [[nodiscard]] bool has_same_traffic(const Request& request, const McRecord& group) const;
    [[nodiscard]] bool matches_strictly(const Request& request, const McRecord& group) const;

    void add_records(const Request& request, const HeldGroup& group, Reply& reply) const;

    Groups& groups_;
    const SubnetView& subnet_;
    const SaConfig& config_;
    std::pair<wire::Gid, std::uint64_t> last_{};  ///< for lapses: port and transaction
};

}  // namespace ipoib::fabric::sa
