// SPDX-License-Identifier: GPL-2.0-or-later
// The subnet administrator as the tester asks it, and what it tells of the DUT.
#pragma once

#include "conformance/bench/expectation.hpp"
#include "conformance/bench/within.hpp"
#include "fabric/port.hpp"
#include "protocol/wire/ip_address.hpp"
#include "protocol/wire/mc_member_record.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ipoib::conformance {

class Bench;
struct CaseContext;

/// A group at the SA as the tester is told of it.
struct GroupFacts {
    wire::Gid mgid;
    wire::Bytes<wire::McMemberRecord> record;
    [[nodiscard]] std::uint16_t mlid() const noexcept { return record[wire::McMemberRecord::mlid]; }
};

/// Join states of MCMemberRecord.JoinState. IBTA Vol 1, 15.2.5.17; UD multicast.
enum class JoinState : std::uint8_t {
    full_member = 1,
    non_member = 2,
    send_only_non_member = 4,
    send_only_full_member = 8
};
[[nodiscard]] constexpr JoinState operator|(JoinState a, JoinState b) noexcept {
    return static_cast<JoinState>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}

/// "status 0x0200 (ERR_REQ_INVALID)", or that there is no answer.
[[nodiscard]] std::string status_text(const fabric::SaAnswer& answer);

class BenchSa {
public:
    BenchSa(Bench& bench, CaseContext& context) : bench_(bench), context_(context) {}
    ~BenchSa();
    BenchSa(const BenchSa&) = delete;
    BenchSa& operator=(const BenchSa&) = delete;

    // Groups

    /// The tester joins an IP group, creating it if need be, and takes its packets from now on.
    GroupFacts join(const wire::IpAddress& group);
    /// The same by MGID and join state, with the broadcast group's parameters; INCONC when the SA refuses.
    GroupFacts join(const wire::Gid& mgid, JoinState state);
    void leave(const wire::Gid& mgid, JoinState state = JoinState::full_member);
    /// A join with a record of the case's own making (`mask` says which components count).
    fabric::SaAnswer ask_to_join(const wire::Bytes<wire::McMemberRecord>& record, std::uint64_t mask);
    /// Gives up these join states of a group, which the SA may refuse.
    fabric::SaAnswer ask_to_leave(const wire::Gid& mgid, JoinState states);
    /// The record of a join, as FullMember, that would create a new group like the broadcast group, with a fresh MGID;
    /// and the components that such a join gives.
    [[nodiscard]] wire::Bytes<wire::McMemberRecord> new_group_record();
    [[nodiscard]] static std::uint64_t creation_mask() noexcept;
    /// The record of a group, or nothing when the SA holds none.
    [[nodiscard]] std::optional<GroupFacts> group(const wire::Gid& mgid);
    /// Whether the SA holds the group within the time; whether it has given it up.
    [[nodiscard]] bool has_group(const wire::Gid& mgid, Within time);
    [[nodiscard]] bool gives_up(const wire::Gid& mgid, Within time);

    // Reports, and any other request

    /// A request as it stands; never repeated for its answer.
    fabric::SaAnswer ask(const fabric::SaRequest& request);
    /// Asks for reports of a trap (66, 67), of all groups or of one; ended after the case.
    fabric::SaAnswer subscribe(std::uint16_t trap_number, const wire::Gid& gid = {});
    fabric::SaAnswer unsubscribe(std::uint16_t trap_number, const wire::Gid& gid = {});
    /// Whether the SA reports the trap about this group to the tester within the time, or has since the step began.
    [[nodiscard]] bool reports(std::uint16_t trap_number, const wire::Gid& mgid, Within time);

    // The DUT there

    /// Whether the DUT's join of the group comes within the time: its request, or the group where requests of others
    /// cannot be seen.
    [[nodiscard]] bool hears_join(const wire::Gid& mgid, Within time);
    /// The DUT's join states in a group (0: none). Needs Ability::trusted_sa.
    [[nodiscard]] std::uint8_t join_state_of_dut(const wire::Gid& mgid);
    /// Whether the DUT becomes a FullMember of an IP group within the time, or is. Needs Ability::trusted_sa. INCONC
    /// where it is seen to have asked for that since the step began, by another MGID or in vain: judged elsewhere.
    [[nodiscard]] bool has_dut_as_full_member(const wire::IpAddress& group, Within time);
    /// The same of an MGID, and never INCONC.
    [[nodiscard]] bool has_dut_as_full_member(const wire::Gid& mgid, Within time);
    /// The JoinState in the DUT's latest request to join a group (0: none). Needs Ability::see_all.
    [[nodiscard]] std::uint8_t join_state_asked(const wire::Gid& mgid);
    /// Whether the SA has answered a join of the group by the DUT since the step began; false where that is not seen.
    [[nodiscard]] bool has_answered_join(const wire::Gid& mgid);
    /// Whether the SA has reported this trap to the DUT since the step began: then it is subscribed, whenever it asked
    /// for that. Needs Ability::see_all.
    [[nodiscard]] bool reports_to_dut(std::uint16_t trap_number);

    // What is expected

    /// The SA must grant what was asked, or refuse it; the status of a refusal is left open and noted. Without an
    /// answer the case is INCONC.
    void require_grant(const fabric::SaAnswer& answer);
    void require_refusal(const fabric::SaAnswer& answer);

    /// For the bench: what is reported from now on is of a new step.
    void begin_step() noexcept { reports_before_step_ = reports_.size(); }
    /// After the case: ends the subscriptions.
    void undo();

private:
    void look_for_join(const wire::IpAddress& group);
    /// Whether the SA has sent the DUT such a packet since the step began.
    template <class IsIt>
    [[nodiscard]] bool has_told_dut(const IsIt& is_it) const;

    Bench& bench_;
    CaseContext& context_;
    std::vector<std::pair<std::uint16_t, wire::Gid>> subscriptions_;  ///< trap and GID, as they were asked for
    std::vector<std::pair<std::uint16_t, wire::Gid>> reports_;        ///< trap and group, as they came
    std::size_t reports_before_step_ = 0;
};

}  // namespace ipoib::conformance
