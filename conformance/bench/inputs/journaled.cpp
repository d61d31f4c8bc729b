// SPDX-License-Identifier: GPL-2.0-or-later
// Each call goes on to the fabric or the DUT, and what comes of it is written down.
#include "conformance/bench/inputs/journaled.hpp"

namespace ipoib::conformance {

class JournaledFabric::JournaledPort : public fabric::Port {
public:
    JournaledPort(fabric::Port& port, InputJournal& journal, std::size_t number)
        : port_(port), journal_(journal), number_(number) {}
    ~JournaledPort() override {
        port_.on_datagram({});
        port_.on_report({});
    }
    JournaledPort(const JournaledPort&) = delete;
    JournaledPort& operator=(const JournaledPort&) = delete;

    [[nodiscard]] fabric::PortFacts facts() const override {
        auto facts = port_.facts();
        journal_.found(number_, facts);
        return facts;
    }
    [[nodiscard]] std::string send(wire::Octets frame) override {
        const auto begun = journal_.begun();
        auto why_not = port_.send(frame);
        journal_.sent(number_, frame, why_not, begun);
        return why_not;
    }
    [[nodiscard]] std::string send_all(std::span<const wire::Octets> frames, std::size_t& sent) override {
        // What comes in meanwhile belongs to the first.
        auto begun = journal_.begun();
        auto why_not = port_.send_all(frames, sent);
        for (std::size_t i = 0; i < frames.size() && i <= sent; ++i) {
            journal_.sent(number_, frames[i], i < sent ? std::string{} : why_not, begun);
            begun = journal_.begun();
        }
        return why_not;
    }
    [[nodiscard]] std::string attach(const wire::Gid& mgid, std::uint16_t mlid) override {
        const auto begun = journal_.begun();
        auto why_not = port_.attach(mgid, mlid);
        journal_.attached(number_, mgid, mlid, why_not, begun);
        return why_not;
    }
    void detach(const wire::Gid& mgid, std::uint16_t mlid) override { port_.detach(mgid, mlid); }
    void set_q_key(std::uint32_t q_key) override { port_.set_q_key(q_key); }
    void on_datagram(std::function<void(wire::Octets)> listener) override {
        if (!listener) return port_.on_datagram({});
        port_.on_datagram([this, listener = std::move(listener)](wire::Octets frame) {
            journal_.took(number_, frame);
            listener(frame);
        });
    }
    [[nodiscard]] fabric::SaAnswer ask_sa(const fabric::SaRequest& request, fabric::Duration patience) override {
        const auto begun = journal_.begun();
        auto answer = port_.ask_sa(request, patience);
        journal_.answered(number_, request, answer, begun);
        return answer;
    }
    void on_report(std::function<void(wire::View<wire::Notice>)> listener) override {
        if (!listener) return port_.on_report({});
        port_.on_report([this, listener = std::move(listener)](wire::View<wire::Notice> notice) {
            journal_.reported(number_, notice);
            listener(notice);
        });
    }

private:
    fabric::Port& port_;
    InputJournal& journal_;
    std::size_t number_;
};

JournaledFabric::JournaledFabric(fabric::Fabric& fabric, InputJournal& journal) : fabric_(fabric), journal_(journal) {
    for (auto* const port : fabric.ports()) {
        own_.push_back(std::make_unique<JournaledPort>(*port, journal, own_.size()));
        ports_.push_back(own_.back().get());
    }
}

JournaledFabric::~JournaledFabric() { fabric_.observe({}); }

void JournaledFabric::observe(std::function<void(const fabric::Sighting&)> observer) {
    if (!observer) return fabric_.observe({});
    fabric_.observe([this, observer = std::move(observer)](const fabric::Sighting& sighting) {
        journal_.seen(sighting);
        observer(sighting);
    });
}

fabric::ChangeAnswer JournaledFabric::change(const fabric::FabricChange& change, fabric::Duration patience) {
    const auto begun = journal_.begun();
    auto answer = fabric_.change(change, patience);
    journal_.changed(change, answer, begun);
    return answer;
}

fabric::TimerId JournaledFabric::after(fabric::Duration delay, std::function<void()> action) {
    return fabric_.after(delay, [this, number = ++timers_, action = std::move(action)] {
        journal_.timed_out(number);
        action();
    });
}

DutControlReply JournaledControl::ask(const std::string& request, fabric::Duration patience) {
    const auto begun = journal_.begun();
    auto reply = control_.ask(request, patience);
    journal_.replied(request, reply, begun, side_);
    return reply;
}

bool JournaledControl::waits_for_stopped() {
    const bool was_stopped = control_.waits_for_stopped();
    if (was_stopped) journal_.dut_was_stopped();
    return was_stopped;
}

}  // namespace ipoib::conformance
