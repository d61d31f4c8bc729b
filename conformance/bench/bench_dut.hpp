// SPDX-License-Identifier: GPL-2.0-or-later
// What the DUT is told to do, through its adapter.
#pragma once

#include "conformance/bench/message.hpp"
#include "conformance/bench/within.hpp"
#include "conformance/dut/dut.hpp"
#include "protocol/wire/ip_address.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ipoib::conformance {

class Bench;
struct CaseContext;

/// What the adapter does not support makes the case NA; what the DUT fails to do makes it INCONC, but where it says
/// otherwise.
class BenchDut {
public:
    BenchDut(Bench& bench, CaseContext& context) : bench_(bench), context_(context) {}
    BenchDut(const BenchDut&) = delete;
    BenchDut& operator=(const BenchDut&) = delete;

    /// A request of the DUT control protocol as it stands: `bench.dut->flush_neighbours()`. Answers of the DUT are
    /// looked for after it.
    [[nodiscard]] Dut* operator->();

    /// Brings the DUT's interface up and waits until it is (at most 30 s) and resolved. INCONC if it does not come.
    void comes_up();
    /// The same without waiting for the result: for cases that judge what happens meanwhile.
    void begins_to_come_up();
    /// A UDP datagram with the nonce as payload.
    void sends(const wire::IpAddress& to, std::uint16_t port, std::size_t payload = 32);
    /// One that is seen: INCONC if neither it nor a second one is. What waits for the sender's join may be lost.
    void is_seen_to_send(const wire::IpAddress& to, std::uint16_t port);
    /// The same where a refusal of the DUT is right too; whether it sends.
    bool tries_to_send(const wire::IpAddress& to, std::uint16_t port, std::size_t payload = 32);
    /// The DUT's IP joins a group. What it says of it is noted; what counts is what the SA hears.
    void joins(const wire::IpAddress& group);
    /// The same where it matters whether the DUT says that it failed.
    [[nodiscard]] bool can_join(const wire::IpAddress& group);
    /// What is sent to it comes to a program that listens on the port: a datagram that `message` makes, within `each`
    /// of one of three attempts.
    [[nodiscard]] bool receives(const Message& message, std::uint16_t port, Within each);
    /// All hosts of the network of its IPv4 address; nothing where the DUT tells of none that has such an address.
    [[nodiscard]] std::optional<wire::IpAddress> directed_broadcast();
    /// Whether it takes a further address, until the case ends.
    [[nodiscard]] bool takes_address(const wire::IpNetwork& address);
    /// Sets the MTU of its interface; whether the DUT takes it.
    [[nodiscard]] bool takes_mtu(std::size_t mtu);
    /// Its log once nothing has come to it for five seconds, or after half a minute: what is new then is of what comes
    /// next. An adapter gives the whole log or what is new since the last time.
    [[nodiscard]] std::vector<std::string> quiet_log();
    /// Is asked to resolve an address; whether it succeeds does not matter here. Questions count since what was asked
    /// before: who has something to send has put them unasked, and does so once.
    void resolves(const wire::IpAddress& address);
    /// A second interface on the same port and link, up; ended after the case. NA where it cannot be.
    [[nodiscard]] std::unique_ptr<Dut> has_twin();
    /// A further interface with this P_Key, told to come up; ended after the case. NA where it cannot be.
    std::unique_ptr<Dut> begins_child(std::uint16_t p_key);
    /// Looks for its port, which may be elsewhere now; whether it is found.
    [[nodiscard]] bool is_found_again();
    /// How often the datagram that it was told to send last has come to a program of its own that listens on the port.
    [[nodiscard]] std::size_t deliveries(std::uint16_t port);

    /// INCONC if the DUT, told to send to an IP group, asks the SA for another MGID than section 4 gives: that is
    /// judged elsewhere.
    void maps_rightly(const wire::IpAddress& group);
    /// INCONC where the message sent last went to a group that the DUT does not receive: a question that could not
    /// arrive says nothing of who did not answer it. Whether it is known to have arrived: only a trusted SA, or the
    /// DUT's own join where it was seen, tells.
    bool is_reached();

private:
    Bench& bench_;
    CaseContext& context_;
};

}  // namespace ipoib::conformance
