// SPDX-License-Identifier: GPL-2.0-or-later
// The tester as a node of the link: joins the broadcast group, answers for its own addresses, asks the SA, cleans up.
#pragma once

#include "conformance/bench/membership_journal.hpp"
#include "conformance/bench/situation.hpp"
#include "fabric/port.hpp"
#include "protocol/wire/mc_member_record.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ipoib::conformance {

/// A subscription to the reports of a trap for one group, or all with a zero GID, or its end. IBTA Vol 1, 15.2.5.12.
[[nodiscard]] fabric::SaRequest subscription(std::uint16_t trap_number, const wire::Gid& gid, bool is_wanted);

/// How long an answer of the SA is waited for when a tester enters its link, unscaled.
inline constexpr std::chrono::seconds sa_patience{1};

/// One port of the tester. It knows the link by what the SA says of the broadcast group, and keeps a list of what it
/// joined, so that leave_all() restores the fabric.
class Tester {
public:
    /// Where its port is one that others on this host use, too: how to be no nuisance to them.
    struct Manners {
        Journal* journal = nullptr;  ///< where what it holds is written down, for a run that is killed; not owned
        /// Groups that this run alone joins: what the host holds of them is the tester's.
        std::function<bool(const wire::Gid& mgid)> is_of_run{};
        bool is_trusted = false;  ///< the SA tells it who is a member, so also what the host holds
    };
    explicit Tester(fabric::Port& port, std::uint16_t p_key = 0) : Tester(port, p_key, {}) {}
    Tester(fabric::Port& port, std::uint16_t p_key, Manners manners);
    ~Tester();
    Tester(const Tester&) = delete;
    Tester& operator=(const Tester&) = delete;

    /// Searches the broadcast group in growing scope (2, 5, 8, 14; RFC 4391, 4.1), joins it as FullMember, and then its
    /// solicited-node group; why it cannot, or empty. Afterwards link() and self() hold.
    [[nodiscard]] std::string enter_link(fabric::Duration patience);
    /// Leaves what was joined since; the second one leaves the link too, but for what keeps() says.
    void leave_groups();
    void leave_all();
    /// Whether this membership is not the tester's to end: the host may have held it before, for its own IPoIB.
    [[nodiscard]] bool keeps(const wire::Gid& mgid) const;
    /// Ends what the journal tells of a run that was killed; how many memberships and subscriptions those were.
    std::size_t end_what_was_left();

    [[nodiscard]] const build::Link& link() const noexcept { return link_; }
    /// The broadcast group's record.
    [[nodiscard]] const wire::Bytes<wire::McMemberRecord>& broadcast_group() const noexcept { return broadcast_; }
    [[nodiscard]] const build::Node& self() const noexcept { return self_; }
    void set_ipv4(std::uint32_t address) noexcept { self_.ipv4 = address; }
    void answer_resolution(bool does_answer) noexcept { answers_ = does_answer; }
    /// What its link-layer address says from now on; QPN 0: that of its queue pair.
    void present(std::uint8_t flags, std::uint32_t qpn);

    /// Asks to join with the broadcast group's parameters. On a port of the host too, nothing is asked where the SA
    /// does not answer who is in the group: what nobody may end would stay.
    fabric::SaAnswer join(const wire::Gid& mgid, std::uint8_t join_state);
    /// The record of a FullMember join that creates a group like the broadcast group, and the components it gives.
    [[nodiscard]] wire::Bytes<wire::McMemberRecord> new_group(const wire::Gid& mgid) const;
    [[nodiscard]] static std::uint64_t creation_mask() noexcept;
    /// Asks with a record of one's own.
    fabric::SaAnswer join(const wire::Bytes<wire::McMemberRecord>& record, std::uint64_t mask);
    fabric::SaAnswer leave(const wire::Gid& mgid, std::uint8_t join_state);
    /// The group's record, if the SA has one.
    [[nodiscard]] std::optional<wire::Bytes<wire::McMemberRecord>> find(const wire::Gid& mgid);
    /// The join states of a port in a group, as far as the SA tells.
    [[nodiscard]] std::uint8_t join_state(const wire::Gid& mgid, const wire::Gid& port_gid);
    /// The LID of the port with this GID, by PathRecord; 0: the SA knows no path.
    [[nodiscard]] std::uint16_t lid_of(const wire::Gid& gid);
    fabric::SaAnswer ask(const fabric::SaRequest& request);

    /// The GID of the port with this LID, by PathRecord; zero: the SA knows no path.
    [[nodiscard]] wire::Gid gid_of(std::uint16_t lid);
    /// Answers ARP and ND for its own addresses; the session hands over what the queue pair took.
    void take(wire::Octets frame);

    [[nodiscard]] fabric::Port& port() noexcept { return port_; }

private:
    struct Membership {
        wire::Gid mgid;
        std::uint8_t state;
        std::uint16_t mlid;
        bool is_held = false;  ///< perhaps by the host, before: not the tester's to end
    };
    /// Whether the host may be a member of a group that the tester is about to join; none: the SA gave no answer.
    [[nodiscard]] std::optional<bool> may_be_held(const wire::Gid& mgid);
    /// In the journal, false where it was there already; and out of it again.
    bool write_down(const wire::Gid& mgid, std::uint8_t state);
    void cross_out(const wire::Gid& mgid, std::uint8_t states);
    /// Ends a membership, or leaves it to whom it belongs and listens no more.
    void give_up(const Membership& membership);
    void adopt(const wire::Bytes<wire::McMemberRecord>& record);
    void answer_arp(const wire::Packet& packet);
    void answer_solicitation(const wire::Packet& packet);

    fabric::Port& port_;
    fabric::Duration patience_ = std::chrono::seconds{1};
    build::Node self_;
    build::Link link_;
    wire::Bytes<wire::McMemberRecord> broadcast_;
    std::vector<Membership> memberships_;
    std::vector<wire::Gid> ours_;  ///< groups that nobody here was in when the tester joined them
    Manners manners_;
    std::size_t own_memberships_ = 0;  ///< the first so many: broadcast and solicited-node group
    bool answers_ = true;
};

}  // namespace ipoib::conformance
