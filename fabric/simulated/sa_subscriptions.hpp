// SPDX-License-Identifier: GPL-2.0-or-later
// Who wants to hear of groups, and the reports on their way. IBTA Vol 1, 13.4.8.3, 13.4.9 and 15.4.3.
#pragma once

#include "fabric/simulated/sa_exchange.hpp"
#include "protocol/wire/inform_info.hpp"
#include "protocol/wire/notice.hpp"

#include <deque>
#include <random>

namespace ipoib::fabric::sa {

class Subscriptions {
public:
    Subscriptions(Outbox& outbox, Hca& hca, const SubnetView& subnet, const SaConfig& config);
    ~Subscriptions();
    Subscriptions(const Subscriptions&) = delete;
    Subscriptions& operator=(const Subscriptions&) = delete;

    /// Set(InformInfo).
    [[nodiscard]] Reply set(const Request& request);
    /// Reports a trap about a group to every subscriber that is in its partition.
    void report(std::uint16_t trap, const wire::Gid& mgid, std::uint16_t p_key);
    /// What another port reports, as if it were the administrator's own.
    void pass_on(wire::View<wire::Notice> notice);
    /// A ReportResp came.
    void acknowledged(const Request& response);
    void remove_all_of(const wire::Gid& port_gid);
    void clear();
    [[nodiscard]] std::size_t size() const noexcept { return subscriptions_.size(); }
    [[nodiscard]] std::size_t size_of(const wire::Gid& port_gid) const;

private:
    struct Subscription {
        wire::Gid port_gid;
        MadPath path;
        wire::Bytes<wire::InformInfo> info;  ///< QPN: where reports go
    };
    using Id = std::uint64_t;
    struct Report {
        Id subscription = 0;
        std::uint16_t trap = 0;
        wire::Gid mgid;
        unsigned sends = 0;
        Time due{};
    };

    [[nodiscard]] bool may_subscribe(const Request& request, wire::View<wire::InformInfo> info) const;
    [[nodiscard]] std::optional<Id> find(const Subscription& like) const;
    [[nodiscard]] static bool matches(wire::View<wire::InformInfo> info, std::uint16_t trap, const PortFacts& issuer);
    void remove(Id id);
    /// Those of all ports.
    void add(const Subscription& subscription);
    void remove_of_trap(std::uint16_t trap);
    /// Sends reports that wait, as many as may be on their way.
    void pump();
    void send(std::uint32_t transaction, Report& report);
    void resend();
    void arm();

    /// Reports that are not answered yet, and those that wait behind them.
    static constexpr std::size_t most_open = 256, most_waiting = std::size_t{1} << 20;

    Outbox& outbox_;
    Hca& hca_;
    const SubnetView& subnet_;
    const SaConfig& config_;
    Id last_id_ = 0;
    std::map<Id, Subscription> subscriptions_;
    std::multimap<std::uint16_t, Id> by_lid_;  ///< of the subscriber; also some that have ended
    std::uint32_t transaction_;
    std::map<std::uint32_t, Report> open_;  ///< by transaction
    std::deque<Report> waiting_;
    Report last_;               ///< for a lapse
    std::set<wire::Gid> deaf_;  ///< and for another: ports that miss the next report
    TimerId timer_;
};

}  // namespace ipoib::fabric::sa
