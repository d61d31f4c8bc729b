// SPDX-License-Identifier: GPL-2.0-or-later
// One of the tester's ports, for cases in which two talk to each other.
#pragma once

#include "conformance/bench/bench_sa.hpp"
#include "conformance/bench/message.hpp"
#include "conformance/bench/tester.hpp"
#include "conformance/bench/within.hpp"

namespace ipoib::conformance {

struct CaseContext;

/// A port of the tester as a node of the link: it joins, sends, and tells what it got. Its memberships end after the
/// case.
class TesterPort {
public:
    /// Port `number`, from 0; `tester` is the node at it. Neither is owned.
    TesterPort(CaseContext& context, Tester& tester, std::size_t number)
        : context_(context), tester_(tester), number_(number) {}

    [[nodiscard]] const build::Node& self() const noexcept { return tester_.self(); }
    /// Joins with the broadcast group's parameters; INCONC when the SA refuses.
    GroupFacts join(const wire::Gid& mgid, JoinState state);
    /// The same with a record of the case's own making.
    fabric::SaAnswer ask_to_join(const wire::Bytes<wire::McMemberRecord>& record, std::uint64_t mask) {
        return tester_.join(record, mask);
    }
    fabric::SaAnswer ask_to_leave(const wire::Gid& mgid, JoinState states) {
        return tester_.leave(mgid, static_cast<std::uint8_t>(states));
    }
    /// The same for the membership of another port.
    fabric::SaAnswer ask_to_remove(const wire::Gid& mgid, const wire::Gid& port_gid, JoinState states);
    /// A request as it stands.
    fabric::SaAnswer ask(const fabric::SaRequest& request) { return tester_.ask(request); }
    /// Asks for reports of a trap, of all groups; ended after the case. Or no more.
    fabric::SaAnswer subscribe(std::uint16_t trap_number);
    fabric::SaAnswer unsubscribe(std::uint16_t trap_number);
    /// The LID of another port as the SA tells it by PathRecord; 0: the SA knows no path.
    [[nodiscard]] std::uint16_t path_to(const TesterPort& other) { return tester_.lid_of(other.self().gid); }
    /// The GID of the port with this LID, likewise; zero: the SA knows no path.
    [[nodiscard]] wire::Gid gid_of(std::uint16_t lid) { return tester_.gid_of(lid); }
    /// Takes the group's packets from now on, without having joined it.
    void listen_to(const GroupFacts& group);
    /// Sends a message as its own. `takes_it` asks for it.
    void send(const Message& message);
    /// Whether a datagram with the nonce of the message that was sent last, from whichever port, gets here in time.
    [[nodiscard]] bool takes_it(Within time);
    /// Stops listening to what it listened to, and ends its subscriptions.
    void end_listening();

private:
    CaseContext& context_;
    Tester& tester_;
    std::size_t number_;
    std::vector<std::uint16_t> subscribed_;                   ///< traps
    std::vector<std::pair<wire::Gid, std::uint16_t>> heard_;  ///< MGID and MLID of groups that it listens to
};

}  // namespace ipoib::conformance
