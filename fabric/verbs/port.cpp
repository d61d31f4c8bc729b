// SPDX-License-Identifier: GPL-2.0-or-later
// Frames to work requests, completions to frames.
#include "fabric/verbs/port.hpp"

#include "fabric/verbs/queue_pair.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/text.hpp"

#include <poll.h>

#include <algorithm>
#include <stdexcept>

namespace ipoib::fabric {
using namespace wire;

struct VerbsPort::State {
    State(Loop& l, const VerbsPortOptions& given, VerbsPort& o)
        : loop(l), options(given), owner(o), managed(l, given.port, given.sm_key) {
        managed.tap = [this](const Sighting& sighting) { tell(sighting); };
    }
    ~State() {
        loop.cancel(look_timer);
        if (queue_pair) loop.unwatch(queue_pair->descriptor());
    }
    void tell(const Sighting& sighting) const {
        if (owner.tap) owner.tap(sighting);
    }
    void look();
    void take(const UdArrival& arrival);

    Loop& loop;
    VerbsPortOptions options;
    VerbsPort& owner;
    ManagedPort managed;
    std::unique_ptr<UdQueuePair> queue_pair;
    std::shared_ptr<const std::function<void(Octets)>> listener;
    std::string problem, q_key_problem;
    TimerId look_timer{};
};

namespace {

/// At one look, so that who floods the port does not stop the loop.
constexpr unsigned most_at_once = 256;

/// The entry of the port's table that is of the link's partition.
std::uint16_t p_key_of(const VerbsPortOptions& options, const PortFacts& facts, const std::string& name) {
    const auto wanted = options.p_key ? options.p_key : facts.first_full_p_key();
    if (wanted == 0) throw std::runtime_error(name + " is a full member of no partition");
    const auto found =
        std::ranges::find_if(facts.p_keys, [&](std::uint16_t one) { return is_same_partition(one, wanted); });
    if (found == facts.p_keys.end())
        throw std::runtime_error(name + " has no P_Key " + hex(wanted, 4) + " in its table");
    return *found;
}

}  // namespace

VerbsPort::VerbsPort(Loop& loop, const VerbsPortOptions& options)
    : state_(std::make_unique<State>(loop, options, *this)) {}

VerbsPort::~VerbsPort() = default;

std::string VerbsPort::name() const { return state_->managed.device().name(); }
bool VerbsPort::hears_reports() const noexcept { return state_->managed.device().hears_reports(); }
std::string VerbsPort::problem() const { return state_->problem.empty() ? state_->managed.problem() : state_->problem; }

void VerbsPort::bring_up(Time deadline) {
    auto& s = *state_;
    s.managed.bring_up(deadline);
    const auto& device = s.managed.device();
    s.queue_pair = std::make_unique<UdQueuePair>(UdOptions{.device = device.device(),
                                                           .port = device.port_number(),
                                                           .p_key = p_key_of(s.options, s.managed.facts(), name()),
                                                           .gid_index = s.options.gid_index});
    s.loop.watch(s.queue_pair->descriptor(), POLLIN, [this](short) { state_->look(); });
}

PortFacts VerbsPort::facts() const {
    const auto& s = *state_;
    auto facts = s.managed.facts();
    if (s.queue_pair) {
        facts.qpn = s.queue_pair->source().qpn;
        facts.mtu = s.queue_pair->mtu();
    }
    return facts;
}

std::string VerbsPort::send(Octets frame) {
    std::size_t sent = 0;
    return send_all({&frame, 1}, sent);
}

std::string VerbsPort::send_all(std::span<const Octets> frames, std::size_t& sent) {
    auto& s = *state_;
    sent = 0;
    if (!s.queue_pair) return "the port is not active";
    if (!s.q_key_problem.empty()) return s.q_key_problem;
    std::vector<UdRequest> requests(frames.size());
    std::string stopped;
    std::size_t ready = 0;
    while (ready < frames.size() && stopped.empty()) {
        stopped = to_request(frames[ready], s.queue_pair->source(), requests[ready]);
        if (stopped.empty()) ++ready;
    }
    auto why = s.queue_pair->send(std::span{requests}.first(ready), sent);
    for (const auto frame : frames.first(sent))
        s.tell({.time = s.loop.now(), .octets = frame, .sender = Sender::tester});
    return why.empty() ? stopped : why;
}

std::string VerbsPort::attach(const Gid& mgid, std::uint16_t mlid) {
    return state_->queue_pair ? state_->queue_pair->attach(mgid, mlid) : "the port is not active";
}
void VerbsPort::detach(const Gid& mgid, std::uint16_t mlid) {
    if (state_->queue_pair) state_->queue_pair->detach(mgid, mlid);
}
void VerbsPort::set_q_key(std::uint32_t q_key) {
    if (state_->queue_pair) state_->q_key_problem = state_->queue_pair->set_q_key(q_key);
}

void VerbsPort::on_datagram(std::function<void(Octets frame)> listener) {
    using Listener = std::function<void(Octets)>;
    state_->listener = listener ? std::make_shared<const Listener>(std::move(listener)) : nullptr;
}

SaAnswer VerbsPort::ask_sa(const SaRequest& request, Duration patience) {
    return state_->managed.port().ask_sa(request, patience);
}
void VerbsPort::on_report(std::function<void(View<Notice>)> listener) {
    state_->managed.port().on_report(std::move(listener));
}

void VerbsPort::State::look() {
    if (!problem.empty()) return;
    try {
        if (queue_pair->source().lid != managed.facts().lid) queue_pair->refresh();
        for (unsigned i = 0; i < most_at_once; ++i) {
            const auto arrival = queue_pair->receive();
            if (!arrival) return;
            take(*arrival);
        }
        // More may be there, of which the descriptor has told already.
        look_timer = loop.after({}, [this] { look(); });
    } catch (const std::runtime_error& gone) {
        problem = gone.what();
        loop.unwatch(queue_pair->descriptor());
    }
}

void VerbsPort::State::take(const UdArrival& arrival) {
    // What this port itself sends to a group comes back: the tester's own frames, and those of the host's IPoIB, which
    // is neither tester nor DUT.
    if (arrival.slid == queue_pair->source().lid) return;
    const auto frame = rebuilt(arrival, queue_pair->source());
    if (!frame) return;
    tell({.time = loop.now(), .octets = frame.octets(), .sender = Sender::other, .is_rebuilt = true});
    const auto told = listener;  // may be replaced while it runs
    if (told) (*told)(frame.octets());
}

}  // namespace ipoib::fabric
