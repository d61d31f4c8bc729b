// SPDX-License-Identifier: GPL-2.0-or-later
// Connections between tester and DUT. RFC 4755.
#pragma once

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
    /// Sends an ordinary REQ. A DUT that takes connections only at the Service-ID that Linux uses is asked there, with
    /// a note. NA where it rejects the connection, which is its choice.
    void request();
    /// A connection that the tester requests, up to RTU: the DUT's REP. INCONC where its QPN is the UD QPN.
    [[nodiscard]] wire::Bytes<wire::CmRep> establish();
    /// The DUT hears the tester's address by ARP and has a datagram for it: its REQ. NA where it begins no connection,
    /// which RFC 4755, 3.1 leaves to it. The tester must present RC.
    [[nodiscard]] wire::Bytes<wire::CmReq> requested_by_dut();

private:
    Bench& bench_;
    CaseContext& context_;
};

}  // namespace ipoib::conformance
