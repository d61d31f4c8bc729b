// SPDX-License-Identifier: GPL-2.0-or-later
// Connections between tester and DUT. RFC 4755.
#pragma once

#include "conformance/bench/message.hpp"
#include "conformance/bench/within.hpp"
#include "protocol/wire/cm.hpp"

namespace ipoib::conformance {

class Bench;
struct CaseContext;

class BenchConnection {
public:
    BenchConnection(Bench& bench, CaseContext& context) : bench_(bench), context_(context) {}
    BenchConnection(const BenchConnection&) = delete;
    BenchConnection& operator=(const BenchConnection&) = delete;

    /// The DUT's interface, which answers echo requests, goes to connected mode. NA where it does not announce RC then.
    void dut_takes_part();
    /// The same, and a datagram of the DUT reaches the tester: what does not come later was held up by connections.
    /// INCONC where none is.
    void dut_takes_part_and_sends();
    /// Sends an ordinary REQ. A DUT that takes connections only at the Service-ID that Linux uses is asked there, with
    /// a note. NA where it rejects the connection, which is its choice.
    void request();
    /// A connection that the tester requests, up to RTU: the DUT's REP. INCONC where its QPN is the UD QPN.
    [[nodiscard]] wire::Bytes<wire::CmRep> establish();
    /// The DUT hears the tester's address by ARP and has a datagram for it: its REQ. NA where it begins no connection,
    /// which RFC 4755, 3.1 leaves to it. The tester must present RC.
    [[nodiscard]] wire::Bytes<wire::CmReq> requested_by_dut();

    /// The tester presents RC and a QPN with which the DUT cannot have a connection.
    void present_anew();
    /// A connection that the DUT requests, up to its RTU; the tester's REP names its Receive MTU in octets. NA where it
    /// begins none.
    wire::Bytes<wire::CmReq> taken_from_dut(std::uint32_t receive_mtu = 0);
    /// The DUT is told to send a datagram to the tester now and then, and gets each connection that it requests, but
    /// for a REQ with the communication ID `unheard`: whether one comes, over UD or a connection of which the tester
    /// knows. The tester must present RC. `pause` is longer than an adapter waits for an acknowledgement where it
    /// begins to wait anew with each message.
    [[nodiscard]] bool dut_reaches_tester(std::chrono::milliseconds patience, std::uint32_t unheard = 0,
                                          std::chrono::milliseconds pause = std::chrono::seconds{2});
    /// A unicast message of any length over a connection that the DUT has accepted, `number` packets behind the first;
    /// how many packets it was.
    std::uint32_t send_over(const wire::Bytes<wire::CmRep>& accepted, const Message& message, std::uint32_t number = 0);
    /// What comes over connections is not acknowledged from now on; or is again, with what has come meanwhile.
    void withhold_acknowledgements(bool does_wait);
    /// The tester forgets all its connections, as one that starts anew, and tells nobody.
    void forget_all();

private:
    Bench& bench_;
    CaseContext& context_;
};

}  // namespace ipoib::conformance
