// SPDX-License-Identifier: GPL-2.0-or-later
// For tests: hosts on a simulated subnet, and a node that does as it likes.
#pragma once

#include "catch2.hpp"
#include "fabric/node/sa_client.hpp"
#include "fabric/simulated/smp_frame.hpp"
#include "fabric/simulated/subnet.hpp"
#include "protocol/build/ipoib.hpp"

#include <algorithm>

namespace ipoib::fabric::simulated::testing {

inline constexpr Duration patience = std::chrono::seconds{2};

/// A channel adapter with one UD queue pair on the link.
struct Host {
    Host(Subnet& on, std::uint64_t guid, HcaConfig config = {})
        : subnet(on), hca(on.loop(), (config.port_guid = guid, config)) {
        hca.on_event([this](PortEvent event) { events.push_back(event); });
        const auto& link = on.scenario().link;
        queue_pair = hca.create(link.q_key, link.p_key, [this](const Datagram& datagram) {
            received.emplace_back(datagram.packet->octets.begin(), datagram.packet->octets.end());
        });
        switch_port = &on.plug(hca, NodeRole::other);
    }
    [[nodiscard]] std::uint64_t guid() const { return hca.config().port_guid; }
    [[nodiscard]] std::uint16_t lid() const { return hca.facts().lid; }
    bool bring_up() { return subnet.bring_up(guid(), patience); }
    [[nodiscard]] bool has(PortEvent event) const {
        return std::find(events.begin(), events.end(), event) != events.end();
    }
    [[nodiscard]] build::Node node() const {
        const auto facts = hca.facts();
        return {.lid = facts.lid, .gid = facts.gid, .qpn = queue_pair->qpn, .ipv4 = 0x0a000000u + facts.lid};
    }
    [[nodiscard]] build::Link link() const {
        auto link = subnet.scenario().link.as_built();
        link.broadcast_mlid = mlid;
        return link;
    }
    /// Joins the broadcast group; the status.
    int join(std::uint8_t state = wire::join_state::full_member) {
        using wire::McMemberRecord;
        auto record = build::broadcast_record(node(), link());
        record.set(McMemberRecord::join_state, state);
        SaRequest request{.method = wire::Method::set,
                          .attribute = wire::attribute::mc_member_record,
                          .component_mask = McMemberRecord::component::join};
        request.record.assign(record.octets.begin(), record.octets.end());
        std::optional<SaAnswer> answer;
        sa.ask(request, [&](const SaAnswer& a) { answer = a; });
        subnet.loop().run_until([&] { return answer.has_value(); }, subnet.loop().now() + 5 * patience);
        if (!answer || !answer->is_answered) return -1;
        if (!answer->is_ok()) return answer->status;
        mlid = answer->first<McMemberRecord>()[McMemberRecord::mlid];
        hca.attach(*queue_pair, subnet.scenario().link.broadcast_gid(), mlid);
        return 0;
    }
    void send_to(const Host& other, std::size_t size = 40) {
        hca.send(build::udp(node(), other.node(), link(), size).build(), queue_pair);
    }
    void broadcast() { hca.send(build::arp_request(node(), 0x0a0000fe, link()).build(), queue_pair); }

    Subnet& subnet;
    Hca hca;
    SaClient sa{hca};
    std::vector<PortEvent> events;
    std::vector<std::vector<std::uint8_t>> received;
    QueuePair* queue_pair = nullptr;
    std::uint16_t mlid = 0;
    SwitchPort* switch_port = nullptr;
};

inline std::uint64_t host_guid(unsigned n) { return 0x0002c90300100000 + 2 * n; }

struct Hosts {
    Hosts(Subnet& subnet, unsigned count) {
        for (unsigned i = 1; i <= count; ++i) all.push_back(std::make_unique<Host>(subnet, host_guid(i)));
    }
    Host& operator[](std::size_t i) { return *all[i]; }
    bool bring_up() {
        return std::all_of(all.begin(), all.end(), [](const auto& host) { return host->bring_up(); });
    }
    std::vector<std::unique_ptr<Host>> all;
};

/// A subnet with its loop, which outlives the hosts that the test adds.
struct World {
    explicit World(const char* scenario = "default", SubnetConfig config = {})
        : subnet(loop, *find_scenario(scenario), config) {}
    void run(Duration time = std::chrono::milliseconds{1}) { loop.run_for(time); }
    [[nodiscard]] const KnownPort* known(std::uint64_t guid) {
        for (const auto& port : subnet.view().ports())
            if (port.port_guid == guid) return &port;
        return nullptr;
    }
    Loop loop;
    Subnet subnet;
};

/// A node that is no adapter: the test decides what it answers to the SMPs that come.
struct Stranger : FrameSink {
    /// May change the answer, which is the request so far but for method and direction; an empty one never answers.
    using Answer = std::function<void(SmpFrame& smp)>;
    explicit Stranger(Answer answer_with = nullptr) : answer(std::move(answer_with)) {}
    void receive(const Frame& frame) override {
        auto smp = SmpFrame::of(frame.octets());
        if (!smp) return;
        asked.push_back(smp->smp()[wire::LidSmp::attribute_id]);
        if (!answer) return;
        smp->set(wire::DirectedSmp::method, wire::Method::get_resp).set(wire::DirectedSmp::is_returning, true);
        auto back = smp->directed()[wire::DirectedSmp::return_path];
        back[smp->directed()[wire::DirectedSmp::hop_count]] = 1;
        smp->set(wire::DirectedSmp::return_path, back);
        answer(*smp);
        switch_port->receive(smp->frame());
    }
    void plug_into(Subnet& subnet) { switch_port = &subnet.plug(*this, NodeRole::other); }
    Answer answer;
    SwitchPort* switch_port = nullptr;
    std::vector<std::uint16_t> asked;  ///< attributes
};

/// Lets an adapter answer, and changes its answers on their way out.
struct Liar : FrameSink {
    using Lie = std::function<void(SmpFrame& smp)>;
    Liar(Subnet& subnet, std::uint64_t guid, Lie lie)
        : hca(subnet.loop(), {.port_guid = guid}),
          out(std::move(lie)),
          switch_port(&subnet.plug(*this, NodeRole::other)) {
        out.switch_port = switch_port;
        hca.connect(&out);
    }
    void receive(const Frame& frame) override { hca.receive(frame); }
    struct Out : FrameSink {
        explicit Out(Lie how) : lie(std::move(how)) {}
        void receive(const Frame& frame) override {
            auto smp = SmpFrame::of(frame.octets());
            if (!smp) return switch_port->receive(frame);
            lie(*smp);
            switch_port->receive(smp->frame());
        }
        Lie lie;
        SwitchPort* switch_port = nullptr;
    };
    Hca hca;
    Out out;
    SwitchPort* switch_port;
};

}  // namespace ipoib::fabric::simulated::testing
