// SPDX-License-Identifier: GPL-2.0-or-later
// Nodes behind raw ports, seen as one fabric.
#include "fabric/socket/fabric.hpp"

#include "fabric/node/mad_frame.hpp"
#include "fabric/socket/fabric_control.hpp"
#include "fabric/socket/gate.hpp"
#include "fabric/socket/sightings.hpp"
#include "fabric/socket/unix_socket.hpp"
#include "protocol/wire/lrh.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace ipoib::fabric {
using namespace wire;

namespace {

constexpr std::size_t most_paths = 63;
/// Among the places of sightings, behind the ports'.
constexpr unsigned tap_place = 63;

/// A universal EUI-64 that differs from path to path; even, so that no node GUID is another's port GUID.
std::uint64_t guid_of(const std::string& path, std::size_t index, std::uint64_t seed) {
    constexpr std::uint64_t first = 0x0002c903b0000000, varying = 0x0ffffffe, basis = 0xcbf29ce484222325,
                            prime = 0x100000001b3;
    std::uint64_t hash = basis;
    for (const char c : path + ',' + std::to_string(index) + ',' + std::to_string(seed))
        hash = (hash ^ static_cast<unsigned char>(c)) * prime;
    return first | ((hash ^ hash >> 32) & varying);
}

std::unique_ptr<RawPort> connect(Loop& loop, const std::string& path, Duration patience) {
    constexpr Duration between_tries = std::chrono::milliseconds{50};
    const auto deadline = loop.now() + patience;
    auto connection = connect_raw_port(path);
    while (!connection.error.empty() && loop.now() < deadline && !Loop::stop_requested()) {
        loop.run_for(between_tries);
        connection = connect_raw_port(path);
    }
    if (!connection.error.empty()) throw std::runtime_error("cannot connect to the fabric: " + connection.error);
    return std::make_unique<RawPort>(loop, std::move(connection.descriptor));
}

std::string end_of(const std::string& path, const std::string& error) {
    return path + (error.empty() ? ": the fabric closed the connection" : ": " + error);
}

/// A port that knows why it has no fabric any more.
class SocketPort : public NodePort {
public:
    explicit SocketPort(Hca& hca) : NodePort(hca) {}
    [[nodiscard]] std::string send(Octets frame) override { return problem.empty() ? NodePort::send(frame) : problem; }
    std::string problem;
};

/// One end of one raw port.
struct Node {
    Node(Loop& loop, std::string where, Duration patience, HcaConfig config)
        : path(std::move(where)), wire(connect(loop, path, patience)), hca(loop, std::move(config)), port(hca) {
        hca.connect(wire.get());
        wire->deliver_to(&hca);
        wire->on_link([this](bool is_up) { hca.connect(is_up ? wire.get() : nullptr); });
        wire->on_closed([this](const std::string& error) {
            port.problem = end_of(path, error);
            hca.connect(nullptr);
        });
    }
    /// Its last word: a fabric that sees only the stream may not notice that another tester takes this one's place.
    ~Node() {
        wire->deliver_to(nullptr);
        wire->send_link_down();
    }
    void hold_back(Loop& loop, std::function<bool(const Frame&)> was_told, std::function<void(const Frame&)> untold) {
        gate = std::make_unique<Gate>(loop, hca, std::move(was_told), std::move(untold));
        wire->deliver_to(gate.get());
    }
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    std::string path;
    std::unique_ptr<RawPort> wire;
    Hca hca;
    SocketPort port;
    std::unique_ptr<Gate> gate;  ///< where there is a tap
};

/// What other nodes send to each other. Subnet management changes from link to link; it is left out.
struct Tap : FrameSink {
    Tap(Loop& loop, std::string where, Duration patience)
        : path(std::move(where)), wire(connect(loop, path, patience)) {
        wire->deliver_to(this);
        wire->on_closed([this](const std::string& error) { problem = end_of(path, error); });
    }
    void receive(const Frame& frame) override {
        if (View<Lrh>::at(frame.octets())[Lrh::vl] != management_vl) heard(frame);
    }
    std::string path;
    std::unique_ptr<RawPort> wire;
    std::string problem;
    std::function<void(const Frame&)> heard;
};

}  // namespace

struct SocketFabric::State {
    void bring_up(Duration patience);
    void see(const Frame& frame, bool is_sent, unsigned index);
    void tell(const Frame& frame, unsigned place);
    void overhear(const Frame& frame);
    [[nodiscard]] Sender sender_of(const Frame& frame) const;
    [[nodiscard]] bool is_own(std::uint16_t lid) const;
    [[nodiscard]] std::string problem() const;

    Loop loop{Loop::Clock::real};
    std::optional<FabricControl> control;
    std::vector<std::unique_ptr<Node>> nodes;
    std::vector<Port*> ports;
    std::unique_ptr<Tap> tap;
    bool is_trusted = false;
    std::string name;
    std::function<void(const Sighting&)> observer;
    Sightings sightings;
};

SocketFabric::SocketFabric(const SocketOptions& options) : state_(std::make_unique<State>()) {
    auto& s = *state_;
    if (options.paths.empty() || options.paths.size() > most_paths)
        throw std::runtime_error("a fabric behind raw ports has 1 to " + std::to_string(most_paths) + " paths, not " +
                                 std::to_string(options.paths.size()));
    for (unsigned index = 0; index < options.paths.size(); ++index) {
        const auto& path = options.paths[index];
        constexpr std::uint8_t mtu_4096 = 5, rate_40_gbps = 7;
        const HcaConfig config{
            .port_guid = index < options.guids.size() ? options.guids[index] : guid_of(path, index, options.seed),
            .description = "ipoib-conform tester",
            .mtu = mtu_4096,
            .rate = rate_40_gbps};
        auto& node = *s.nodes.emplace_back(std::make_unique<Node>(s.loop, path, options.connect_patience, config));
        node.hca.tap = [&s, index](const Frame& frame, bool is_sent) { s.see(frame, is_sent, index); };
        node.port.set_sm_key(options.sm_key);
        s.ports.push_back(&node.port);
    }
    s.is_trusted = options.sm_key != 0;
    s.name = options.name;
    if (!options.tap.empty()) {
        s.tap = std::make_unique<Tap>(s.loop, options.tap, options.connect_patience);
        s.tap->heard = [&s](const Frame& frame) { s.overhear(frame); };
        for (unsigned index = 0; index < s.nodes.size(); ++index)
            s.nodes[index]->hold_back(
                s.loop, [&s, index](const Frame& frame) { return s.sightings.is_copy(frame, index); },
                [&s, index](const Frame& frame) { s.tell(frame, index); });
    }
    s.control.emplace(s.loop, options.control);
    s.bring_up(options.patience);
}
SocketFabric::~SocketFabric() = default;

Loop& SocketFabric::loop() { return state_->loop; }

Abilities SocketFabric::abilities() const {
    auto abilities = Ability::any_frame | Ability::reports | Ability::long_tables;
    if (state_->ports.size() > 1) abilities = abilities | Ability::two_ports;
    if (*state_->control) abilities = abilities | Ability::fabric_control;
    if (state_->tap) abilities = abilities | Ability::see_all;
    if (state_->is_trusted) abilities = abilities | Ability::trusted_sa;
    return abilities;
}

std::vector<std::pair<std::string, std::string>> SocketFabric::facts() const {
    if (!state_->name.empty()) return {{"kind", state_->name}, {"clock", "real"}};
    std::vector<std::pair<std::string, std::string>> facts{{"kind", "socket"}, {"clock", "real"}};
    std::string paths;
    for (const auto& node : state_->nodes) paths += (paths.empty() ? "" : ",") + node->path;
    facts.emplace_back("paths", paths);
    if (state_->tap) facts.emplace_back("tap", state_->tap->path);
    if (*state_->control) facts.emplace_back("control", state_->control->command());
    return facts;
}

std::span<Port* const> SocketFabric::ports() { return state_->ports; }
void SocketFabric::observe(std::function<void(const Sighting&)> observer) { state_->observer = std::move(observer); }

ChangeAnswer SocketFabric::change(const FabricChange& change, Duration patience) {
    return state_->control->change(change, patience);
}
std::string SocketFabric::problem() const { return state_->problem(); }

std::string SocketFabric::State::problem() const {
    for (const auto& node : nodes)
        if (!node->port.problem.empty()) return node->port.problem;
    return tap ? tap->problem : "";
}

void SocketFabric::State::bring_up(Duration patience) {
    const auto is_active = [](const auto& node) { return node->hca.is_active(); };
    const auto is_settled = [&] { return std::all_of(nodes.begin(), nodes.end(), is_active) || !problem().empty(); };
    loop.run_until(is_settled, loop.now() + patience);
    if (const auto why = problem(); !why.empty()) throw std::runtime_error(why);
    const auto waiting = std::find_if_not(nodes.begin(), nodes.end(), is_active);
    if (waiting == nodes.end()) return;
    if (Loop::stop_requested()) throw std::runtime_error("stopped before the ports were active");
    throw std::runtime_error((*waiting)->path + ": no subnet manager made the port active within " +
                             std::to_string(std::chrono::duration_cast<std::chrono::seconds>(patience).count()) + " s");
}

bool SocketFabric::State::is_own(std::uint16_t lid) const {
    return std::any_of(nodes.begin(), nodes.end(), [lid](const auto& node) { return node->hca.lid() == lid; });
}

/// Of a frame that the tester did not send.
Sender SocketFabric::State::sender_of(const Frame& frame) const {
    const auto slid = View<Lrh>::at(frame.octets())[Lrh::slid];
    // Directed-route SMPs have no LIDs: managers and switches send them.
    const bool is_manager =
        std::any_of(nodes.begin(), nodes.end(), [slid](const auto& node) { return slid == node->hca.sm_lid(); });
    return slid == permissive_lid || is_manager ? Sender::sa : Sender::other;
}

/// A frame between two of the tester's ports is seen when it is sent. Of what others send the tap tells, if there is
/// one.
void SocketFabric::State::see(const Frame& frame, bool is_sent, unsigned index) {
    const auto lrh = View<Lrh>::at(frame.octets());
    if (!lrh) return;
    if (!is_sent) {
        if (!tap && !is_own(lrh[Lrh::slid])) tell(frame, index);
        return;
    }
    if (tap) (void)sightings.is_new(frame, index);
    if (observer) observer({loop.now(), frame.octets(), Sender::tester});
}

/// What is received in several places, or heard and received, is told once.
void SocketFabric::State::tell(const Frame& frame, unsigned place) {
    const bool has_copies = tap || (nodes.size() > 1 && is_multicast_lid(View<Lrh>::at(frame.octets())[Lrh::dlid]));
    if (has_copies && !sightings.is_new(frame, place)) return;
    if (observer) observer({loop.now(), frame.octets(), sender_of(frame)});
}

void SocketFabric::State::overhear(const Frame& frame) {
    tell(frame, tap_place);
    for (const auto& node : nodes) node->gate->look();
}

}  // namespace ipoib::fabric
