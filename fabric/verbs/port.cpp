// SPDX-License-Identifier: GPL-2.0-or-later
// Frames to work requests, completions to frames.
#include "fabric/verbs/port.hpp"

#include "protocol/wire/lrh.hpp"
#include "protocol/wire/text.hpp"

#include <poll.h>

#include <algorithm>
#include <stdexcept>

namespace ipoib::fabric {
using namespace wire;

struct VerbsPort::State {
    State(Loop& l, const VerbsPortOptions& given, VerbsPort& o)
        : loop(l), options(given), owner(o), device(given.port), gsi(l, device), management(gsi) {
        management.set_sm_key(given.sm_key);
        gsi.tap = [this](const Frame& frame, bool is_sent) {
            const auto lrh = View<Lrh>::at(frame.octets());
            const bool is_sa = lrh[Lrh::slid] == gsi.facts().sm_lid;
            tell(frame.octets(), is_sent ? Sender::tester : is_sa ? Sender::sa : Sender::other, true);
        };
    }
    void tell(Octets frame, Sender sender, bool is_rebuilt) {
        if (owner.tap) owner.tap({.time = loop.now(), .octets = frame, .sender = sender, .is_rebuilt = is_rebuilt});
    }
    void look();
    void take(const UdArrival& arrival);

    Loop& loop;
    VerbsPortOptions options;
    VerbsPort& owner;
    UmadDevice device;
    UmadGsi gsi;
    UmadPort management;
    std::unique_ptr<UdQueuePair> queue_pair;
    std::shared_ptr<const std::function<void(Octets)>> listener;
    std::string problem, q_key_problem;
};

namespace {

/// At one look, so that who floods the port does not stop the loop.
constexpr unsigned most_at_once = 256;

/// The link's P_Key of the options, or the first that makes its port a full member.
std::uint16_t p_key_of(const VerbsPortOptions& options, const PortFacts& facts, const std::string& name) {
    constexpr std::uint16_t full_member = 0x8000;
    const auto is_it = [&](std::uint16_t one) {
        return options.p_key ? (one | full_member) == (options.p_key | full_member) : (one & full_member) != 0;
    };
    const auto found = std::ranges::find_if(facts.p_keys, is_it);
    if (found != facts.p_keys.end()) return *found;
    throw std::runtime_error(name + (options.p_key ? " has no P_Key " + hex(options.p_key, 4) + " in its table"
                                                   : " is a full member of no partition"));
}

}  // namespace

VerbsPort::VerbsPort(Loop& loop, const VerbsPortOptions& options)
    : state_(std::make_unique<State>(loop, options, *this)) {}

VerbsPort::~VerbsPort() {
    if (state_->queue_pair) state_->loop.unwatch(state_->queue_pair->descriptor());
}

std::string VerbsPort::name() const { return state_->device.name(); }
bool VerbsPort::hears_reports() const noexcept { return state_->device.hears_reports(); }
std::string VerbsPort::problem() const { return state_->problem.empty() ? state_->gsi.problem() : state_->problem; }

void VerbsPort::open_queue_pair() {
    auto& s = *state_;
    const auto facts = s.gsi.facts();
    const auto slash = s.device.name().rfind('/');
    s.queue_pair = std::make_unique<UdQueuePair>(UdOptions{.device = s.device.name().substr(0, slash),
                                                           .port = s.device.port_number(),
                                                           .p_key = p_key_of(s.options, facts, s.device.name()),
                                                           .gid_index = s.options.gid_index});
    s.loop.watch(s.queue_pair->descriptor(), POLLIN, [this](short) { state_->look(); });
}

std::string VerbsPort::try_sa(Duration patience) {
    return state_->management.learn_mtu(state_->device.port_number(), patience);
}

PortFacts VerbsPort::facts() const {
    const auto& s = *state_;
    auto facts = s.gsi.facts();
    if (s.queue_pair) {
        facts.qpn = s.queue_pair->source().qpn;
        facts.mtu = s.queue_pair->mtu();
    }
    return facts;
}

std::string VerbsPort::send(Octets frame) {
    auto& s = *state_;
    if (!s.queue_pair) return "the port is not active";
    if (!s.q_key_problem.empty()) return s.q_key_problem;
    UdRequest request;
    if (auto why = to_request(frame, s.queue_pair->source(), request); !why.empty()) return why;
    if (auto why = s.queue_pair->send(request); !why.empty()) return why;
    s.tell(frame, Sender::tester, false);
    return {};
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
    return state_->management.ask_sa(request, patience);
}
void VerbsPort::on_report(std::function<void(View<Notice>)> listener) {
    state_->management.on_report(std::move(listener));
}

void VerbsPort::State::look() {
    if (!problem.empty()) return;
    try {
        queue_pair->refresh();
        for (unsigned i = 0; i < most_at_once; ++i) {
            const auto arrival = queue_pair->receive();
            if (!arrival) return;
            take(*arrival);
        }
        // More may be there, of which the descriptor has told already.
        loop.after({}, [this] { look(); });
    } catch (const std::runtime_error& gone) {
        problem = gone.what();
        loop.unwatch(queue_pair->descriptor());
    }
}

void VerbsPort::State::take(const UdArrival& arrival) {
    // What this host itself sends to a group comes back: the tester's own frames, and those of the host's IPoIB, which
    // is neither tester nor DUT.
    if (arrival.slid == queue_pair->source().lid) return;
    const auto frame = rebuilt(arrival, queue_pair->source());
    if (!frame) return;
    tell(frame.octets(), Sender::other, true);
    const auto told = listener;  // may be replaced while it runs
    if (told) (*told)(frame.octets());
}

}  // namespace ipoib::fabric
