// SPDX-License-Identifier: GPL-2.0-or-later
// What a case has at hand: the conversation with the DUT on the link, and by name whom else it talks to.
#pragma once

#include "conformance/bench/bench_connection.hpp"
#include "conformance/bench/bench_dut.hpp"
#include "conformance/bench/bench_fabric.hpp"
#include "conformance/bench/bench_sa.hpp"
#include "conformance/bench/bench_tester.hpp"
#include "conformance/bench/expectation.hpp"
#include "conformance/bench/message.hpp"
#include "conformance/bench/within.hpp"
#include "protocol/requirements/requirement.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ipoib::conformance {

struct CaseContext;
struct Profile;

/// The stage of one case. Everything a case leaves behind (memberships, subscriptions, what it changed on the fabric)
/// is undone after it.
class Bench {
public:
    /// The context must live longer.
    explicit Bench(CaseContext& context);
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    BenchTester tester;          ///< the tester's own ports
    BenchSa sa;                  ///< the subnet administrator, asked by the tester
    BenchDut dut;                ///< what the DUT is told to do
    BenchConnection connection;  ///< connections of RFC 4755
    BenchFabric fabric;          ///< the fabric, changed from outside

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

    // The conversation

    /// Sends a message; it becomes what answers are matched with.
    void send(const Message& message);
    /// Sends, and again up to twice where nothing comes of it within `each`: to a group just joined, packets are lost
    /// until the subnet manager has programmed the switches. Judges nothing.
    void send_until(const Message& message, const Expectation& expectation, Within each);
    /// Waits until it happens; whether it did. For cases with a choice that the text leaves open.
    [[nodiscard]] bool happens(const Expectation& expectation, Within time);
    /// How often it has happened since the step began.
    [[nodiscard]] std::size_t count(const Expectation& expectation);
    /// Whether the first has happened since the step began, and the second not before it.
    [[nodiscard]] bool comes_before(const Expectation& first, const Expectation& second);
    /// Runs the fabric for a while, where time itself is the point (an ageing cache, a refresh).
    void pass_time(std::chrono::milliseconds time) { pass_time(within(time)); }
    void pass_time(Within time);

    /// Whatever changed before, from now to the end of the step nothing asks the DUT to leave the link: if it does so,
    /// what it fails to do is INCONC. In cases that change nothing this is always so.
    void expect_rest() noexcept { is_at_rest_ = true; }

    /// To the end of the step it is judged, too, that the DUT leaves the link unasked.
    void judge_leaving() noexcept { judges_leaving_ = true; }

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
    /// A step: sends all of it, which the DUT may drop or take, and must outlive. Ordinary traffic is then answered, in
    /// the family of the situation: an echo request, and, where it was before, a question for the DUT's address
    /// in the group that such questions go to. The title says what was sent.
    template <class... R>
    void must_outlive(std::string_view title, const std::vector<Message>& messages, const R&... judged) {
        begin_step(title, {&judged...});
        demand_life_after(messages);
    }
    /// The same of every cut of a message (Message::cut_to), few of them in a step.
    template <class... R>
    void must_outlive_cuts(const Message& message, const R&... judged) {
        constexpr std::size_t together = 16;
        const auto octets = message.carries(situation());
        for (std::size_t first = 0; first < octets; first += together) {
            const auto end = std::min(first + together, octets);
            begin_step(
                message.what() + " cut to " + std::to_string(first) + " to " + std::to_string(end - 1) + " octets",
                {&judged...});
            std::vector<Message> cuts;
            for (auto size = first; size < end; ++size) cuts.push_back(message.cut_to(size));
            demand_life_after(cuts);
        }
    }
    /// Must not happen within the time. Stands between two positive controls: control() must have been called since the
    /// step began, and is called again here. False: it has happened.
    bool forbid(const Expectation& expectation, Within time);
    /// None of these messages must be answered. They are sent together, and one by one where one of them was, to name
    /// it.
    void forbid_each(const std::vector<Message>& messages, const Expectation& expectation);
    /// Must not have happened since the step began.
    void forbid_so_far(const Expectation& expectation);
    /// A positive control: an ordinary echo request, in the family of the situation, is answered. Else INCONC.
    void control();
    /// Sees that the DUT speaks IPv6: an interface that came up may still be finding out whether its address is unique
    /// (RFC 4862, 5.4). NA where the DUT tells no IPv6 address. No positive control for forbid().
    void control6();

    /// Ordinary traffic must be there again within the time: an echo request is answered, in the family of the
    /// situation. A positive control, too.
    void require_traffic(Within time);

    /// A note in the report that changes no verdict.
    void note(std::string_view text);
    /// Should be true: else the requirements of the step are not met, though they are only recommended by the way
    /// chosen.
    void recommend(bool holds, std::string_view expected, std::string_view actual);
    /// The same of something that the DUT should send. Before it is blamed for silence, as by require(), packets that
    /// are lost are ruled out.
    void recommend_sent(bool is_sent, std::string_view expected, std::string_view actual);
    /// Ends the case as NA: what it needs is not here.
    [[noreturn]] void not_applicable(std::string_view why);

    // What there is

    [[nodiscard]] const Situation& situation() const noexcept;
    [[nodiscard]] const build::Link& link() const noexcept;
    /// What the DUT is said to be.
    [[nodiscard]] const Profile& profile() const noexcept;
    /// Tells a router to be none, where its adapter can. Whether the DUT is none now.
    bool stops_routing();
    /// Whether times that it states there are waited for where they are minutes.
    [[nodiscard]] bool waits_long() const noexcept;
    /// The IP group of all hosts, or nodes, on the link. RFC 1112, 4; RFC 4291, 2.7.1.
    [[nodiscard]] static wire::IpAddress all_nodes(Family family) noexcept;
    /// The IP group of all routers on the link. RFC 4391, 10.
    [[nodiscard]] wire::IpAddress all_routers() const noexcept;
    /// An IP group of this run that nobody else uses, in the family of the situation or that of the name; each call
    /// gives another. Scope: IPv4 organization-local
    /// (239.x.y.z), IPv6 ff15::, ff12:: for link-local.
    [[nodiscard]] wire::IpAddress fresh_group();
    [[nodiscard]] wire::IpAddress fresh_link_local_group();
    [[nodiscard]] wire::IpAddress fresh_group4();
    [[nodiscard]] wire::IpAddress fresh_link_local_group4();
    [[nodiscard]] wire::IpAddress fresh_group6();
    [[nodiscard]] wire::IpAddress fresh_link_local_group6();
    [[nodiscard]] std::uint16_t fresh_port();
    /// An IPv4 address beside the tester's and those that the DUT tells, of this host in its /24 or of a later one.
    /// Where there is none, the case ends as NA.
    [[nodiscard]] std::uint32_t free_address(std::uint8_t first = 200);
    /// An address of the family beside them; each call gives another. Likewise.
    [[nodiscard]] wire::IpAddress fresh_neighbour();
    [[nodiscard]] wire::IpAddress fresh_neighbour4();
    [[nodiscard]] wire::IpAddress fresh_neighbour6();
    /// Who has the DUT's address, in the family of the situation? To the group that such questions go to: the broadcast
    /// group; the solicited-node group, which the tester joins for it.
    [[nodiscard]] Message address_request_to_group();
    /// Where RFC 4391, 4 maps an IP group to on this link.
    [[nodiscard]] wire::Gid mgid_of(const wire::IpAddress& group) const;

    /// For who runs cases: after the case, puts everything back. What of the fabric could not be; empty where it is as
    /// before.
    [[nodiscard]] std::string undo();

private:
    void demand(const Expectation& expectation, Within time, wire::Packet& packet);
    /// Before the DUT is blamed: whose interface went down meanwhile, without being asked, answers nothing and leaves
    /// its groups. That is no fault.
    void demand_rest();
    /// Likewise: a Series of ordinary echo requests tells whether packets are lost.
    void demand_answers();
    /// The IPv4 address of a host in the tester's /24.
    [[nodiscard]] std::uint32_t beside_tester(std::uint32_t host) const;
    [[nodiscard]] bool is_taken(std::uint32_t address) const;
    void demand_control_before(std::string_view what) const;
    /// What is forbidden was observed, here or nowhere.
    void judge_forbidden(const Expectation& expectation, std::optional<std::size_t> found);
    /// Sends them all, and then an ordinary echo request; what came in answer to one of them.
    [[nodiscard]] std::optional<std::size_t> answer_to_any(std::span<const Message> messages,
                                                           const Expectation& expectation);
    /// Sends an ordinary echo request; the answer to it, within a second.
    [[nodiscard]] std::optional<std::size_t> echo_answer();
    /// Sends ordinary echo requests, and sets is_controlled_; what came instead of an answer.
    [[nodiscard]] std::string try_control();
    void demand_life_after(const std::vector<Message>& messages);
    /// Finds out whether the question for the DUT's address is answered in the group of such questions at all.
    void ask_for_life();
    /// "MTU 4 (2048)".
    static std::string name_of(const wire::FieldSpec& field, const std::uint8_t* header);
    void continue_step(std::string_view title, const std::vector<const requirements::Requirement*>& judged);
    void begin_step(std::string_view title, const std::vector<const requirements::Requirement*>& judged);
    [[nodiscard]] wire::IpAddress fresh_group6(std::uint64_t prefix);

    CaseContext& context_;
    bool is_controlled_ = false;                ///< in this step
    bool is_at_rest_ = false;                   ///< likewise
    bool judges_leaving_ = false;               ///< likewise
    bool loses_nothing_ = false;                ///< a whole series of ordinary requests was answered, in this case
    bool is_asked_in_group_ = false;            ///< ask_for_life() has been called, in this family
    std::optional<Message> question_in_group_;  ///< the question for the DUT's address, where it is answered
};

}  // namespace ipoib::conformance
