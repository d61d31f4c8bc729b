// SPDX-License-Identifier: GPL-2.0-or-later
// What an adapter holds, and the way of a frame through it. IBTA Vol 1, 9.6.
#pragma once

#include "fabric/node/arrival.hpp"
#include "fabric/node/queue_pairs.hpp"
#include "fabric/node/subnet_management_agent.hpp"

#include <deque>

namespace ipoib::fabric {

struct Hca::State {
    using Handler = std::shared_ptr<const std::function<void(const Datagram&)>>;
    State(Loop& l, HcaConfig c, HcaBehaviour b)
        : loop(l), config(std::move(c)), behaviour(b), agent(config), queue_pairs(config.most_queue_pairs) {}

    /// Frames that come back to their sender: not from the wire, and not to the queue pair they came from.
    struct Loopback : FrameSink {
        explicit Loopback(State& s) : state(s) {}
        void receive(const Frame& frame) override;
        State& state;
        std::deque<std::uint32_t> senders;  ///< of the frames on their way, 0 for none
    };

    void accept(Arrival& arrival, std::uint32_t sender);
    void management(Arrival& arrival);
    void smp_for_agent(const wire::Packet& packet);
    [[nodiscard]] static bool is_at_its_end(const wire::Packet& packet) noexcept;
    void unicast(Arrival& arrival);
    void general_services(Arrival& arrival);
    void connected(Arrival& arrival);
    void acknowledge(const FarEnd& connection, const wire::Packet& of, std::uint32_t psn, std::uint8_t syndrome);
    void hand_over(const QueuePair& queue_pair, const wire::Packet& packet);
    void multicast(Arrival& arrival, std::uint32_t sender);
    void collect(const Arrival& arrival, std::vector<QueuePair*>& targets, std::uint32_t sender) const;
    void hand_to(QueuePair& queue_pair, Arrival& arrival);
    [[nodiscard]] bool is_p_key_right(const QueuePair& queue_pair, std::uint16_t p_key) const noexcept;
    [[nodiscard]] bool is_member(std::uint16_t p_key) const noexcept;
    [[nodiscard]] bool comes_back(const Frame& frame, std::uint32_t sender);
    void emit(const std::vector<PortEvent>& events);

    Loop& loop;
    const HcaConfig config;
    const HcaBehaviour behaviour;
    SubnetManagementAgent agent;
    QueuePairs queue_pairs;
    HcaDrops drops;
    FrameSink* cable = nullptr;
    Hca* hca = nullptr;
    Loopback loopback{*this};
    std::map<wire::MgmtClass, Handler> mad_handlers;
    Handler smp_handler;
    struct Listener {
        std::uint32_t number;
        std::shared_ptr<const std::function<void(PortEvent)>> function;
    };
    std::vector<Listener> listeners;
    std::uint32_t last_listener = 0, last_transaction = 0, gsi_psn = 0;
    std::vector<QueuePair*> scratch;
    unsigned deliveries = 0;  ///< going on
    bool has_died = false;    ///< of what it should have survived
};

}  // namespace ipoib::fabric
