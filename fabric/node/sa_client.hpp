// SPDX-License-Identifier: GPL-2.0-or-later
// Asking the subnet administrator and hearing its reports, over a port's GSI. IBTA Vol 1, 13 and 15.
#pragma once

#include "fabric/node/gsi.hpp"
#include "protocol/wire/notice.hpp"

namespace ipoib::fabric {

/// The SA client of one port: transactions with repetition, RMPP tables put together, reports answered. It believes who
/// it has asked, and reports of the LID where the SA is; what comes from elsewhere is not heard. IBTA Vol 1, 13.5.4.
class SaClient {
public:
    explicit SaClient(Gsi& gsi);
    ~SaClient();
    SaClient(const SaClient&) = delete;
    SaClient& operator=(const SaClient&) = delete;

    using Answered = std::function<void(const SaAnswer&)>;
    struct Patience {
        Duration timeout = std::chrono::seconds{1};
        unsigned retries = 2;
    };
    /// Sends the request and calls `answered` once: with the answer, or unanswered after the last timeout. A BUSY
    /// answer is waited for as if none had come.
    /// Gives the number of the transaction.
    std::uint32_t ask(const SaRequest& request, Answered answered, Patience patience);
    std::uint32_t ask(const SaRequest& request, Answered answered) {
        return ask(request, std::move(answered), Patience{});
    }
    /// A request that is open is not repeated any more, and nobody is called. Any other number is left alone.
    void forget(std::uint32_t transaction);
    /// The same as one call, as Port::ask_sa does it: runs the loop until the answer is there, or the third `patience`
    /// is over without one. A table is waited for as long as segments of it come.
    [[nodiscard]] SaAnswer answer_to(const SaRequest& request, Duration patience);
    /// Forgets every open request; their callers are not called.
    void forget_all();
    /// Told of each report; ReportResp is sent before.
    void on_report(std::function<void(wire::View<wire::Notice>)> listener);
    /// Whether reports are answered (a DUT under a fault may not).
    bool answers_reports = true;
    /// Whether a report that comes once more, with its TransactionID, is told once more: its sender has not got the
    /// response to it, or not in time. IBTA Vol 1, 13.4.9.
    bool tells_repeated_reports = true;
    /// Whether answers and reports of every LID are believed, which nobody should do.
    bool believes_anyone = false;
    /// Where requests go, whatever PortInfo tells; 0: to the LID that PortInfo tells.
    std::uint16_t manager_lid = 0;
    /// Goes into trusted requests; 0: there is none. IBTA Vol 1, 15.4.2.
    std::uint64_t sm_key = 0;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ipoib::fabric
