// SPDX-License-Identifier: GPL-2.0-or-later
// What a case has at hand: the tester's messages, what it expects of the DUT, and the fabric between them.
#pragma once

#include "conformance/bench/expectation.hpp"
#include "conformance/bench/message.hpp"
#include "conformance/dut/dut.hpp"
#include "fabric/port.hpp"
#include "protocol/requirements/requirement.hpp"
#include "protocol/wire/mc_member_record.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ipoib::conformance {

struct Profile;

using namespace std::chrono_literals;

class TesterPort;

/// How long something may take; stretched or cut by --timeout-scale.
struct Within {
    std::chrono::milliseconds time;
    bool is_stated = false;
};
[[nodiscard]] constexpr Within within(std::chrono::milliseconds time) noexcept { return {time}; }
/// A time that the DUT has stated, or that it was told: --timeout-scale stretches it, and never cuts it.
[[nodiscard]] constexpr Within stated(std::chrono::milliseconds time) noexcept {
    return {.time = time, .is_stated = true};
}

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

/// The stage of one case. Everything a case leaves behind on the fabric (memberships, subscriptions, what it changed
/// from outside) is undone after it.
class Bench {
public:
    struct State;  ///< of the engine
    explicit Bench(State& state) : state_(state) {}

    /// Begins a step: its title stands in the log and with each failure. What is required in it is charged to these
    /// requirements, which must be among the case's `checks`; none named: to all of them.
    template <class... R>
    void step(std::string_view title, const R&... judged) {
        begin_step(title, {&judged...});
    }

    /// Goes on in the step with other requirements: what was sent last is still what answers are matched with.
    template <class... R>
    void same_step(std::string_view title, const R&... judged) {
        continue_step(title, {&judged...});
    }

    // What the tester does

    /// Sends a message; it becomes what answers are matched with.
    void send(const Message& message);
    /// Sends, and again up to twice where nothing comes of it within `each`: to a group just joined, packets are lost
    /// until the subnet manager has programmed the switches. Judges nothing.
    void send_until(const Message& message, const Expectation& expectation, Within each);
    /// The tester joins an IP group, creating it if need be, and takes its packets from now on.
    GroupFacts join(const wire::IpAddress& group);
    /// The same by MGID and join state, with the broadcast group's parameters; INCONC when the SA refuses.
    GroupFacts join(const wire::Gid& mgid, JoinState state);
    void leave(const wire::Gid& mgid, JoinState state = JoinState::full_member);
    /// A request to the SA as it stands; never repeated for its answer.
    fabric::SaAnswer ask_sa(const fabric::SaRequest& request);
    /// A join with a record of the case's own making (`mask` says which components count).
    fabric::SaAnswer ask_to_join(const wire::Bytes<wire::McMemberRecord>& record, std::uint64_t mask);
    /// Gives up these join states of a group, which the SA may refuse.
    fabric::SaAnswer ask_to_leave(const wire::Gid& mgid, JoinState states);
    /// Enters the link again, after its broadcast group was left or made anew.
    void rejoin_link();
    /// Asks the SA for reports of a trap (66, 67), of all groups or of one; ended after the case.
    fabric::SaAnswer subscribe(std::uint16_t trap_number, const wire::Gid& gid = {});
    fabric::SaAnswer unsubscribe(std::uint16_t trap_number, const wire::Gid& gid = {});
    /// Whether the SA reports the trap about this group within the time, or has since the step began.
    [[nodiscard]] bool is_reported(std::uint16_t trap_number, const wire::Gid& mgid, Within time);
    /// The record of a group, or nothing when the SA holds none.
    [[nodiscard]] std::optional<GroupFacts> group_at_sa(const wire::Gid& mgid);
    /// Whether the SA holds the group within the time.
    [[nodiscard]] bool exists_at_sa(const wire::Gid& mgid, Within time);
    /// Whether the SA has given the group up within the time.
    [[nodiscard]] bool vanishes_at_sa(const wire::Gid& mgid, Within time);
    /// Whether the DUT's join of the group reaches the SA within the time: its request, or the group where requests of
    /// others cannot be seen.
    [[nodiscard]] bool reaches_sa(const wire::Gid& mgid, Within time);
    /// Whether the SA has reported this trap to the DUT since the step began: then it is subscribed, whenever it asked
    /// for that. Needs Ability::see_all.
    [[nodiscard]] bool dut_is_told(std::uint16_t trap_number);
    /// INCONC if the DUT, told to send to an IP group, asks the SA for another MGID than section 4 gives: that is
    /// judged elsewhere.
    void maps_rightly(const wire::IpAddress& group);
    /// The record of a join, as FullMember, that would create a new group like the broadcast group, with a fresh MGID;
    /// and the components that such a join gives.
    [[nodiscard]] wire::Bytes<wire::McMemberRecord> new_group_record();
    [[nodiscard]] static std::uint64_t creation_mask() noexcept;
    /// The JoinState in the DUT's latest request to join a group (0: none). Needs Ability::see_all.
    [[nodiscard]] std::uint8_t join_state_asked(const wire::Gid& mgid);
    /// The DUT's join states in a group (0: none). Needs Ability::trusted_sa.
    [[nodiscard]] std::uint8_t dut_join_state(const wire::Gid& mgid);
    /// INCONC where the message sent last went to a group that the DUT does not receive: a question that could not
    /// arrive says nothing of who did not answer it. Whether it is known to have arrived: only a trusted SA, or the
    /// DUT's own join where it was seen, tells.
    bool reached_dut();
    /// Stops answering ARP and ND for the tester's own addresses, or begins again.
    void answer_resolution(bool does_answer);
    /// From now on the tester's link-layer address has these flags (RFC 4755, 3.1) and, unless 0, this QPN.
    void tester_presents(std::uint8_t flags, std::uint32_t qpn = 0);
    /// Sends an ordinary REQ. A DUT that takes connections only at the Service-ID that Linux uses is asked there, with
    /// a note. NA where it rejects the connection, which is its choice.
    void request_connection();
    /// A connection that the tester requests, up to RTU: the DUT's REP. INCONC where its QPN is the UD QPN.
    [[nodiscard]] wire::Bytes<wire::CmRep> connect();
    /// Changes the fabric from outside (Fabric::change); NA where it cannot. After the case, however it ends, it is
    /// taken back, unless the case itself has done so.
    void change_fabric(const fabric::FabricChange& change);
    /// A further GID of the tester's port that nobody has asked for yet, and the SA knows from now on, until the case
    /// ends. Nothing where the fabric cannot do so (Fabric::change).
    [[nodiscard]] std::optional<wire::Gid> peer_never_seen();
    /// A second port of the tester as it presents itself; needs Ability::two_ports.
    [[nodiscard]] build::Node second_tester();
    /// The tester's ports, where a case needs both. The second enters the link when it is first asked for; it needs
    /// Ability::two_ports.
    [[nodiscard]] TesterPort& first();
    [[nodiscard]] TesterPort& second();
    /// Whether a message that one port sends to a group gets to another; sent up to three times, since packets are lost
    /// until the subnet manager has programmed the switches.
    [[nodiscard]] bool crosses(TesterPort& from, const Message& message, TesterPort& to);

    // What the DUT is asked to do; Unsupported makes the case NA, a failure INCONC

    [[nodiscard]] Dut& dut();
    /// Brings the DUT's interface up and waits until it is (at most 30 s) and resolved. INCONC if it does not come.
    void dut_comes_up();
    /// The same without waiting for the result: for cases that judge what happens meanwhile.
    void dut_begins_to_come_up();
    /// A UDP datagram with the nonce as payload, by the DUT.
    void dut_sends(const wire::IpAddress& to, std::uint16_t port, std::size_t payload = 32);

    /// The same where a refusal of the DUT is right too.
    void dut_tries_to_send(const wire::IpAddress& to, std::uint16_t port);
    /// The DUT's IP joins a group. What it says of it is noted; what counts is what the SA hears.
    void dut_joins(const wire::IpAddress& group);
    /// The same where it matters whether the DUT says that it failed.
    [[nodiscard]] bool dut_can_join(const wire::IpAddress& group);
    /// A second interface of the DUT on the same port and link, up; ended after the case. NA where it cannot be.
    [[nodiscard]] std::unique_ptr<Dut> dut_has_twin();
    /// A further interface of the DUT with this P_Key, told to come up; ended after the case. NA where it cannot be.
    void dut_begins_child(std::uint16_t p_key);
    /// The DUT is asked to resolve an address; whether it succeeds does not matter here.
    void dut_resolves(const wire::IpAddress& address);
    /// The DUT's interface, which answers echo requests, goes to connected mode. NA where it does not announce RC then.
    void dut_connected_mode();
    /// The DUT hears the tester's address by ARP and has a datagram for it: its REQ. NA where it begins no connection,
    /// which RFC 4755, 3.1 leaves to it. The tester must present RC.
    [[nodiscard]] wire::Bytes<wire::CmReq> dut_requests_connection();

    // What is expected

    /// Must happen for the case to mean anything: else INCONC.
    void precondition(const Expectation& expectation, Within time);
    void precondition(bool holds, std::string_view words);
    /// Must happen for the case to mean anything, else INCONC; its claims are judged.
    void inspect(const Expectation& expectation, Within time);
    /// Must happen: else the step's requirements are violated. A packet that comes with wrong claims violates them too,
    /// with the frame as evidence; the case goes on. Without any packet it ends.
    void require(const Expectation& expectation, Within time);
    /// A header of such a packet, which must come for the case to mean anything: else INCONC. Judges nothing.
    /// `header_of` finds it where the packet has no view of it.
    template <class Header>
    [[nodiscard]] wire::Bytes<Header> obtain(
        const Expectation& expectation, Within time,
        wire::View<Header> (*header_of)(const wire::Packet&) = [](const wire::Packet& p) { return p.get<Header>(); }) {
        wire::Packet packet;
        demand(expectation, time, packet);
        const auto header = header_of(packet);
        precondition(static_cast<bool>(header), std::string(Header::name) + " in " + expectation.what());
        wire::Bytes<Header> copy;
        std::copy(header.data(), header.data() + Header::size, copy.octets.begin());
        return copy;
    }
    /// Must be true of something that is no packet (a record, an answer of the DUT).
    void require(bool holds, std::string_view expected, std::string_view actual = {});
    /// The same of a field of a record.
    template <class Header, class T>
    void require_field(const wire::Bytes<Header>& record, const wire::Field<Header, T>& field,
                       const std::type_identity_t<T>& value) {
        const auto expected = wire::Bytes<Header>{}.set(field, value);
        require(record[field] == value, name_of(field, expected.octets.data()), name_of(field, record.octets.data()));
    }
    /// The SA must grant what was asked, or refuse it; the status of a refusal is left open and noted. Without an
    /// answer the case is INCONC.
    void require_grant(const fabric::SaAnswer& answer);
    void require_refusal(const fabric::SaAnswer& answer);
    /// Must not happen within the time. Stands between two positive controls: control() must have been called since the
    /// step began, and is called again here.
    void forbid(const Expectation& expectation, Within time);
    /// Must not have happened since the step began.
    void forbid_so_far(const Expectation& expectation);
    /// A positive control: an ordinary echo request is answered. Else INCONC.
    void control();
    /// The same of IPv6: an interface that came up may still be finding out whether its address is unique (RFC 4862,
    /// 5.4). NA where the DUT tells no IPv6 address. No positive control for forbid().
    void control6();
    /// Waits until it happens; whether it did. For cases with a choice that the text leaves open.
    [[nodiscard]] bool happens(const Expectation& expectation, Within time);
    /// How often it has happened since the step began.
    [[nodiscard]] std::size_t count(const Expectation& expectation);
    /// Whether the first has happened since the step began, and the second not before it.
    [[nodiscard]] bool comes_before(const Expectation& first, const Expectation& second);
    /// Runs the fabric for a while, where time itself is the point (an ageing cache, a refresh).
    void pass_time(std::chrono::milliseconds time) { pass_time(within(time)); }
    void pass_time(Within time);

    /// A note in the report that changes no verdict.
    void note(std::string_view text);
    /// The requirements of the step are not met, though they are only recommended by the way chosen.
    void warn(std::string_view expected, std::string_view actual);
    /// Ends the case as NA: what it needs is not here.
    [[noreturn]] void not_applicable(std::string_view why);

    // What there is

    [[nodiscard]] const Situation& situation() const noexcept;
    [[nodiscard]] const build::Link& link() const noexcept;
    /// What the DUT is said to be.
    [[nodiscard]] const Profile& profile() const noexcept;
    /// An IP group of this run that nobody else uses; each call gives another. Scope: IPv4 organization-local
    /// (239.x.y.z), IPv6 ff15::, ff12:: for link-local.
    [[nodiscard]] wire::IpAddress fresh_group4();
    [[nodiscard]] wire::IpAddress fresh_link_local_group4();
    [[nodiscard]] wire::IpAddress fresh_group6();
    [[nodiscard]] wire::IpAddress fresh_link_local_group6();
    [[nodiscard]] std::uint16_t fresh_port();
    /// An IPv4 address beside the tester's and the DUT's.
    [[nodiscard]] std::uint32_t free_address() const;
    /// Where RFC 4391, 4 maps an IP group to on this link.
    [[nodiscard]] wire::Gid mgid_of(const wire::IpAddress& group) const;
    [[nodiscard]] fabric::PortFacts port() const;

private:
    void demand(const Expectation& expectation, Within time, wire::Packet& packet);
    /// "MTU 4 (2048)".
    static std::string name_of(const wire::FieldSpec& field, const std::uint8_t* header);
    void continue_step(std::string_view title, std::vector<const requirements::Requirement*> judged);
    void begin_step(std::string_view title, std::vector<const requirements::Requirement*> judged);
    State& state_;
};

}  // namespace ipoib::conformance
