// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/socket/fabric.hpp"

#include "fabric/node/test_node.hpp"
#include "fabric/socket/unix_socket.hpp"
#include "temporary_folder.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace ipoib::fabric {
namespace {

using namespace testing;
using namespace std::chrono_literals;

/// Attributes by which a test has the fabric do something to the port that asks.
constexpr std::uint16_t please_bounce = 0xff01, please_hang_up = 0xff02, please_report = 0xff03;

/// The smallest fabric: makes every port that connects active, with LIDs from 2 on, forwards by LID, and repeats every
/// request to the SA as its answer.
class Hub {
public:
    Hub(Loop& loop, const std::vector<std::string>& paths, bool has_manager, const std::string& tap)
        : loop_(loop), has_manager_(has_manager) {
        if (!tap.empty())
            tap_listener_ = std::make_unique<RawPortListener>(
                loop, tap, [this](std::unique_ptr<RawPort> port) { taps_.push_back(std::move(port)); });
        for (const auto& path : paths)
            listeners_.push_back(std::make_unique<RawPortListener>(
                loop, path, [this](std::unique_ptr<RawPort> port) { plug(std::move(port)); }));
    }

private:
    struct Plug : FrameSink {
        Plug(Hub& h, std::unique_ptr<RawPort> p, std::uint16_t l) : hub(h), port(std::move(p)), lid(l) {}
        void receive(const Frame& frame) override { hub.forward(*this, frame); }
        Hub& hub;
        std::unique_ptr<RawPort> port;
        std::uint16_t lid;
    };

    void plug(std::unique_ptr<RawPort> port) {
        const auto lid = static_cast<std::uint16_t>(2 + plugs_.size());
        auto& plug = *plugs_.emplace_back(std::make_unique<Plug>(*this, std::move(port), lid));
        plug.port->deliver_to(&plug);
        if (has_manager_) bring_up(plug);
    }
    static void bring_up(Plug& plug) {
        const auto set = [&](std::uint16_t attribute, Octets data) {
            plug.port->receive(smp_frame(directed(Method::set, attribute, 0, data)));
        };
        set(smp_attribute::p_key_table, p_key_block({0xffff, 0x8123}));
        Bytes<PortInfo> info;
        info.set(PortInfo::gid_prefix, std::uint64_t{0xfe80} << 48)
            .set(PortInfo::lid, plug.lid)
            .set(PortInfo::master_sm_lid, test_sm_lid)
            .set(PortInfo::neighbor_mtu, 4);
        for (const auto state : {PortState::armed, PortState::active})
            set(smp_attribute::port_info, info.set(PortInfo::port_state, state).octets);
    }
    void show(const Frame& frame) {
        for (const auto& tap : taps_) tap->receive(frame);
    }
    void forward(Plug& from, const Frame& frame) {
        show(frame);
        const auto lrh = View<Lrh>::at(frame.octets());
        const auto dlid = lrh[Lrh::dlid];
        if (dlid == test_sm_lid) return administer(from, frame);
        for (const auto& plug : plugs_) {
            const bool takes = is_multicast_lid(dlid) ? plug.get() != &from : plug->lid == dlid;
            if (takes && plug->port) plug->port->receive(frame);
        }
    }
    void administer(Plug& from, const Frame& frame) {
        Packet packet;
        decode(frame.octets(), packet);
        if (!packet.sa || is_response(packet.mad[Mad::method])) return;
        switch (packet.mad[Mad::attribute_id]) {
            case please_bounce:
                from.port->send_link_down();
                return bring_up(from);
            case please_hang_up:
                loop_.after(0s, [&from] { from.port.reset(); });
                return;
            default:
                break;
        }
        MadOctets mad{};
        std::copy(packet.payload.begin(), packet.payload.end(), mad.begin());
        const bool reports = packet.mad[Mad::attribute_id] == please_report;
        set_field(MutableOctets{mad}, Mad::method, reports ? Method::report : Method::get_resp);
        if (reports) set_field(MutableOctets{mad}, Mad::attribute_id, attribute::notice);
        const auto answer = mad_frame({.slid = test_sm_lid, .dlid = from.lid}, mad);
        show(answer);
        from.port->receive(answer);
    }
    Loop& loop_;
    const bool has_manager_;
    std::vector<std::unique_ptr<RawPortListener>> listeners_;
    std::vector<std::unique_ptr<Plug>> plugs_;
    std::unique_ptr<RawPortListener> tap_listener_;
    std::vector<std::unique_ptr<RawPort>> taps_;
};

/// The hub in a process of its own, as long as this lives.
class HubProcess {
public:
    explicit HubProcess(const std::vector<std::string>& paths, bool has_manager = true, const std::string& tap = {}) {
        std::array<int, 2> ends{};
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
        Descriptor its{ends[1]};
        life_ = Descriptor{ends[0]};
        process_ = ::fork();
        REQUIRE(process_ >= 0);
        if (process_ == 0) {
            life_.close();
            run(its.value(), paths, has_manager, tap);
            ::_exit(0);
        }
        its.close();
        char ready = 0;
        REQUIRE(::read(life_.value(), &ready, 1) == 1);
    }
    ~HubProcess() {
        life_.close();
        ::waitpid(process_, nullptr, 0);
    }
    HubProcess(const HubProcess&) = delete;
    HubProcess& operator=(const HubProcess&) = delete;

private:
    static void run(int life, const std::vector<std::string>& paths, bool has_manager, const std::string& tap) {
        Loop loop{Loop::Clock::real};
        const Hub hub{loop, paths, has_manager, tap};
        bool is_over = false;
        loop.watch(life, POLLIN, [&](short) { is_over = true; });
        if (::write(life, "r", 1) == 1) loop.run_until([&] { return is_over; }, Time::max());
    }
    pid_t process_ = -1;
    Descriptor life_;
};

build::Node node_of(const Port& port) {
    const auto facts = port.facts();
    return {.lid = facts.lid, .gid = facts.gid, .qpn = facts.qpn, .ipv4 = 0x0a010000u + facts.lid};
}

/// What a fabric shows of the frames that are no SMPs.
struct Observer {
    explicit Observer(Fabric& fabric) {
        fabric.observe([this](const Sighting& sighting) {
            Packet packet;
            decode(sighting.octets, packet);
            if (packet.bth[Bth::dest_qp] != 0) seen.push_back(sighting.sender);
        });
    }
    std::vector<Sender> seen;
};

const SaRequest ask_anything{.attribute = attribute::class_port_info};

TEST_CASE("Socket fabric: each path is a port that the manager on the other side makes active") {
    const TemporaryFolder directory;
    const HubProcess hub{{directory / "a", directory / "b"}};
    SocketFabric fabric{{.paths = {directory / "a", directory / "b"}}};
    REQUIRE(fabric.ports().size() == 2);
    const auto first = fabric.ports()[0]->facts(), second = fabric.ports()[1]->facts();
    CHECK(first.is_active);
    CHECK(second.is_active);
    CHECK(first.lid != second.lid);
    CHECK(first.gid != second.gid);
    CHECK(first.sm_lid == test_sm_lid);
    CHECK(first.p_keys == std::vector<std::uint16_t>{0xffff, 0x8123});
    CHECK_FALSE(fabric.loop().is_virtual());
    CHECK(fabric.abilities() == (Ability::any_frame | Ability::reports | Ability::two_ports | Ability::long_tables));
    CHECK(fabric.facts()[0] == std::pair<std::string, std::string>{"kind", "socket"});
    CHECK(fabric.facts()[2].second == directory / "a" + "," + directory / "b");
    CHECK(fabric.problem().empty());
}

TEST_CASE("Socket fabric: GUIDs follow from path and seed unless they are given") {
    const TemporaryFolder directory;
    const HubProcess hub{{directory / "a"}};
    const auto guid = [&](SocketOptions options) {
        options.paths = {directory / "a"};
        return SocketFabric{options}.ports()[0]->facts().gid.interface_id();
    };
    CHECK(guid({.seed = 1}) == guid({.seed = 1}));
    CHECK(guid({.seed = 1}) != guid({.seed = 2}));
    CHECK(guid({.guids = {0x0002c90300123456}}) == 0x0002c90300123456);
}

TEST_CASE("Socket fabric: the SA is asked and its reports are heard") {
    const TemporaryFolder directory;
    const HubProcess hub{{directory / "a"}};
    SocketFabric fabric{{.paths = {directory / "a"}}};
    auto& port = *fabric.ports()[0];
    Observer observer{fabric};
    CHECK(fabric.abilities() == (Ability::any_frame | Ability::reports | Ability::long_tables));
    CHECK(port.ask_sa(ask_anything, 10s).is_ok());
    CHECK(observer.seen == std::vector{Sender::tester, Sender::sa});

    int reports = 0;
    port.on_report([&](View<Notice>) { ++reports; });
    CHECK_FALSE(port.ask_sa({.attribute = please_report}, 1ms).is_answered);
    CHECK(fabric.loop().run_until([&] { return reports != 0; }, fabric.loop().now() + 1min));
}

TEST_CASE("Socket fabric: a frame between two of the tester's ports is seen once") {
    const TemporaryFolder directory;
    const HubProcess hub{{directory / "a", directory / "b"}};
    SocketFabric fabric{{.paths = {directory / "a", directory / "b"}}};
    auto &first = *fabric.ports()[0], &second = *fabric.ports()[1];
    Observer observer{fabric};
    using Frames = std::vector<std::vector<std::uint8_t>>;
    Frames taken;
    second.on_datagram([&](Octets frame) { taken.emplace_back(frame.begin(), frame.end()); });
    const auto packet = build::udp(node_of(first), node_of(second), {}, 100);
    CHECK(first.send(without_crcs(packet).octets()).empty());
    CHECK(fabric.loop().run_until([&] { return !taken.empty(); }, fabric.loop().now() + 1min));
    // The CRCs were filled in on the way.
    CHECK(taken == Frames{packet.build()});
    CHECK(observer.seen == std::vector{Sender::tester});

    // A damaged one reaches the other side as it was sent, and is not taken there.
    CHECK(first.send(build::udp(node_of(first), node_of(second), {}, 8).damage_icrc(1).build()).empty());
    CHECK(first.send(packet.build()).empty());
    CHECK(fabric.loop().run_until([&] { return taken.size() == 2; }, fabric.loop().now() + 1min));
    // The third of its queue pair.
    CHECK(taken.back() == build::PacketBuilder{packet}.set(Bth::psn, 2).build());
}

TEST_CASE("Socket fabric: two testers at one fabric see each other as others, multicast once") {
    const TemporaryFolder directory;
    const HubProcess hub{{directory / "a", directory / "b", directory / "c"}};
    SocketFabric both{{.paths = {directory / "a", directory / "b"}}}, one{{.paths = {directory / "c"}}};
    Observer of_both{both}, of_one{one};
    const auto run = [](Fabric& fabric, const Observer& observer, std::size_t count) {
        return fabric.loop().run_until([&] { return observer.seen.size() == count; }, fabric.loop().now() + 1min);
    };
    auto& sender = *one.ports()[0];
    int taken = 0;
    for (auto* port : both.ports()) {
        CHECK(port->attach(broadcast_gid(0xffff, 2), 0xc000).empty());
        port->on_datagram([&](Octets) { ++taken; });
    }
    const auto request = build::arp_request(node_of(sender), 0x0a010001, {}).build();
    CHECK(sender.send(request).empty());
    CHECK(sender.send(request).empty());
    CHECK(of_one.seen == std::vector{Sender::tester, Sender::tester});
    CHECK(both.loop().run_until([&] { return taken == 4; }, both.loop().now() + 1min));
    CHECK(of_both.seen == std::vector{Sender::other, Sender::other});

    auto& answerer = *both.ports()[1];
    CHECK(answerer.send(build::arp_reply(node_of(answerer), node_of(sender), {}).build()).empty());
    CHECK(run(one, of_one, 3));
    CHECK(of_one.seen.back() == Sender::other);
    CHECK(of_both.seen.back() == Sender::tester);
}

TEST_CASE("Socket fabric: a tap shows what other nodes send, and each frame once") {
    const TemporaryFolder directory;
    const HubProcess hub{{directory / "a", directory / "b"}, true, directory / "tap"};
    SocketFabric tester{{.paths = {directory / "a"}, .tap = directory / "tap", .sm_key = 1}};
    SocketFabric other{{.paths = {directory / "b"}}};
    CHECK(tester.abilities() ==
          (Ability::any_frame | Ability::reports | Ability::see_all | Ability::trusted_sa | Ability::long_tables));
    Observer observer{tester};
    auto &mine = *tester.ports()[0], &its = *other.ports()[0];
    int taken = 0;
    mine.on_datagram([&](Octets) { ++taken; });
    CHECK(mine.attach(broadcast_gid(0xffff, 2), 0xc000).empty());
    const auto shows = [&](std::vector<Sender> senders) {
        return tester.loop().run_until([&] { return observer.seen.size() >= senders.size(); },
                                       tester.loop().now() + 1min) &&
               observer.seen == senders;
    };
    CHECK(its.ask_sa(ask_anything, 10s).is_ok());
    CHECK(shows({Sender::other, Sender::sa}));
    CHECK(mine.ask_sa(ask_anything, 10s).is_ok());
    CHECK(its.send(build::arp_request(node_of(its), 0x0a010001, {}).build()).empty());
    CHECK(its.send(build::udp(node_of(its), node_of(mine), {}, 8).build()).empty());
    // The same twice, and with a sender's LID that is not the tester's.
    auto foreign = node_of(mine);
    foreign.lid = 77;
    for (int i = 0; i < 2; ++i)
        CHECK(mine.send(without_crcs(build::udp(foreign, node_of(its), {}, 8)).octets()).empty());
    CHECK(tester.loop().run_until([&] { return taken == 2; }, tester.loop().now() + 1min));
    // Behind it, everything before has been shown.
    CHECK(its.ask_sa(ask_anything, 10s).is_ok());
    CHECK(tester.loop().run_until([&] { return observer.seen.back() == Sender::sa && observer.seen.size() >= 10; },
                                  tester.loop().now() + 1min));
    CHECK(observer.seen.size() == 10);
    CHECK(std::ranges::count(observer.seen, Sender::tester) == 3);
    CHECK(std::ranges::count(observer.seen, Sender::other) == 4);
}

TEST_CASE("Socket fabric: a link that goes down and up again is brought up anew") {
    const TemporaryFolder directory;
    const HubProcess hub{{directory / "a"}};
    SocketFabric fabric{{.paths = {directory / "a"}}};
    auto& port = *fabric.ports()[0];
    CHECK_FALSE(port.ask_sa({.attribute = please_bounce}, 1ms).is_answered);
    // The first may fall into the time without a link.
    CHECK(port.ask_sa(ask_anything, 2s).is_ok());
    CHECK(port.facts().is_active);
    CHECK(fabric.problem().empty());
}

TEST_CASE("Socket fabric: a fabric that closes the connection takes the port down, and the reason is told") {
    const TemporaryFolder directory;
    const HubProcess hub{{directory / "a", directory / "b"}};
    SocketFabric fabric{{.paths = {directory / "a", directory / "b"}}};
    auto &first = *fabric.ports()[0], &second = *fabric.ports()[1];
    CHECK_FALSE(first.ask_sa({.attribute = please_hang_up}, 1ms).is_answered);
    CHECK(fabric.loop().run_until([&] { return !first.facts().is_active; }, fabric.loop().now() + 1min));
    const std::string why = directory / "a" + ": the fabric closed the connection";
    CHECK(fabric.problem() == why);
    CHECK(first.send(build::udp(node_of(first), node_of(second), {}, 8).build()) == why);
    CHECK_FALSE(first.ask_sa(ask_anything, 1ms).is_answered);
    CHECK(second.ask_sa(ask_anything, 10s).is_ok());
}

std::string start_error(const SocketOptions& options) {
    try {
        const SocketFabric fabric{options};
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return {};
}

TEST_CASE("Socket fabric: what keeps it from starting is said") {
    const TemporaryFolder directory;
    const HubProcess idle{{directory / "idle"}, false};
    CHECK_THAT(start_error({.paths = {}}), ContainsSubstring("1 to 63 paths"));
    CHECK_THAT(start_error({.paths = {directory / "none"}}), ContainsSubstring("none: No such file"));
    CHECK_THAT(start_error({.paths = {directory / "idle"}, .patience = 20ms}),
               ContainsSubstring("idle: no subnet manager made the port active"));
}

TEST_CASE("Socket fabric: the fabric is changed by a command, if there is one") {
    const TemporaryFolder directory;
    const HubProcess hub{{directory / "a"}};
    SocketFabric without{{.paths = {directory / "a"}}};
    const auto refused = without.change(SetManager{.runs = false});
    CHECK(refused.outcome == ChangeAnswer::Outcome::unsupported);
    CHECK(refused.message == "no --fabric-control command is given");

    SocketFabric with{
        {.paths = {directory / "a"},
         .control = R"(read -r line; echo "$line" | grep -q '"do":"sm"' && echo '{"id":1,"ok":true}'; cat)"}};
    CHECK(with.abilities().has(Ability::fabric_control));
    CHECK(with.change(SetManager{.runs = false}).is_done());
    CHECK(with.change(SetManager{.runs = true}).outcome == ChangeAnswer::Outcome::failed);
}

}  // namespace
}  // namespace ipoib::fabric
