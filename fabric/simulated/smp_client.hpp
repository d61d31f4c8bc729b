// SPDX-License-Identifier: GPL-2.0-or-later
// Directed-route SMPs of a subnet manager: requests, their repetition, and the answers. IBTA Vol 1, 14.2.
#pragma once

#include "fabric/node/hca.hpp"
#include "protocol/wire/smp.hpp"

#include <deque>

namespace ipoib::fabric::simulated {

/// A directed route from the manager's port: the ports to leave by, hop after hop.
struct DirectedRoute {
    std::array<std::uint8_t, wire::DirectedSmp::max_hops + 1> ports{};  ///< the first is not used
    std::uint8_t hops = 0;

    /// One hop further; nothing when the route would be too long.
    [[nodiscard]] std::optional<DirectedRoute> then(std::uint8_t port) const noexcept {
        if (hops == wire::DirectedSmp::max_hops) return {};
        auto longer = *this;
        longer.ports[++longer.hops] = port;
        return longer;
    }
};

struct SmpRequest {
    DirectedRoute route;
    wire::Method method = wire::Method::get;
    std::uint16_t attribute = 0;
    std::uint32_t modifier = 0;
    wire::OctetArray<64> data{};
};

class SmpClient {
public:
    /// Three attempts, each so long.
    static constexpr Duration patience = std::chrono::milliseconds{250};
    static constexpr unsigned attempts = 3;

    SmpClient(Hca& hca, Loop& loop);
    ~SmpClient();
    SmpClient(const SmpClient&) = delete;
    SmpClient& operator=(const SmpClient&) = delete;

    /// What became of a request: the answer, or an absent view when none came. Valid during the call.
    using Answered = std::function<void(const wire::View<wire::DirectedSmp>&)>;
    void ask(const SmpRequest& request, Answered answered);
    /// Forgets every open request; their callers are not called.
    void forget_all();

private:
    struct Open {
        SmpRequest request;
        Answered answered;
        unsigned attempts = 0;
    };
    struct Deadline {
        Time time{};
        std::uint64_t transaction = 0;
    };
    void send(std::uint64_t transaction, Open& open);
    void receive(const Datagram& datagram);
    void expire();
    void arm();

    Hca& hca_;
    Loop& loop_;
    std::uint64_t last_transaction_ = 0;
    std::map<std::uint64_t, Open> open_;
    std::deque<Deadline> deadlines_;  ///< of the answered ones too, until their time comes
    TimerId timer_;
};

/// The attribute in an answer; absent when there is no answer or it refuses.
template <class Attribute>
wire::View<Attribute> attribute_of(const wire::View<wire::DirectedSmp>& answer) noexcept {
    if (!answer || answer[wire::DirectedSmp::status] != 0) return {};
    return wire::smp_data<Attribute>(answer.octets());
}

}  // namespace ipoib::fabric::simulated
