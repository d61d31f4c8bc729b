// SPDX-License-Identifier: GPL-2.0-or-later
// The fabric around the node under test, what it must do after each session, and new ones in its place.
#include "conformance/fuzz/arena.hpp"

#include "conformance/bench/case_ends.hpp"
#include "conformance/fuzz/operation.hpp"
#include "protocol/build/management.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ipoib::conformance::fuzz {
using namespace wire;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t other_guid = 0x0002c90300bb0001;
/// Of its link-layer address: it takes connections. RFC 4755, 2.
constexpr std::uint8_t takes_connections = 0x80;
/// Of UDP packets, as the builder makes them.
constexpr std::uint16_t sent_to_port = 9;
constexpr auto longest_plugging = 180s;
constexpr auto longest_bring_up = 30s;
constexpr auto between_pings = 300ms;
constexpr auto settling = 10ms;
constexpr std::uint32_t other_host = 200;

fabric::SimulatedOptions options_of(const Arena::Options& options) {
    return {.scenario = &fabric::scenario_named(options.scenario),
            .seed = options.seed,
            .clock = fabric::Loop::Clock::real,
            .tester_ports = 1};
}

/// Whether the subnet's switches take it to where it says.
bool is_switched(const Scene& scene, Octets frame) {
    const auto lrh = View<Lrh>::at(frame);
    constexpr std::uint16_t first_mlid = 0xc000, permissive = 0xffff;
    if (!lrh || lrh[Lrh::slid] != scene.self.lid || lrh[Lrh::packet_length] * 4u + 2 != frame.size()) return false;
    const auto dlid = lrh[Lrh::dlid];
    return dlid == scene.dut.lid || (dlid >= first_mlid && dlid != permissive);
}

}  // namespace

Arena::Arena(Options options)
    : options_(std::move(options)),
      fabric_(options_of(options_)),
      taps_(fabric_.subnet(), options_.listen),
      other_hca_(fabric_.loop(), {.port_guid = other_guid, .description = "fuzz bystander", .mtu = 5}),
      other_sa_(other_hca_),
      other_(other_hca_, other_sa_) {
    static_cast<void>(fabric_.subnet().plug(other_hca_, fabric::NodeRole::other));
    taps_.heard = [this](const Packet& packet) { listen(packet); };
}

Arena::~Arena() {
    taps_.heard = {};
    drop();
    other_.close();
}

fabric::Duration Arena::scaled(fabric::Duration usual) const noexcept {
    return std::chrono::duration_cast<fabric::Duration>(usual * options_.timeout_scale);
}

void Arena::drop() noexcept {
    if (bench_) bench_->end();
    bench_.reset();
    adapter_.reset();
    is_spent_ = false;
}

void Arena::begin() {
    if (is_spent_) drop();
    if (bench_) return;
    try {
        adapter_ = std::make_unique<AdapterProcess>(loop(), options_.command, 2s, options_.remark);
        conformance::SessionOptions of_bench{
            .interface = options_.interface, .timeout_scale = options_.timeout_scale, .seed = options_.seed};
        bench_ = std::make_unique<conformance::Session>(fabric_, *adapter_, of_bench);
        bench_->begin();
        if (!loop().run_until([&] { return taps_.is_plugged(); }, loop().now() + scaled(longest_plugging)))
            throw std::runtime_error("nobody has connected to " + options_.listen);
        bench_->bring_dut_up();
        tells_coverage_ = dut().can("coverage");
        // What comes there is not fetched: a socket that is full is one, too.
        if (dut().can("listen")) ask([](Dut& dut) { dut.listen(sent_to_port); });
        if (dut().can("health")) static_cast<void>(dut().health());
        set_scene();
        if (!is_reached(scaled(longest_bring_up)))
            throw std::runtime_error("the node answers no echo request, before anything was done to it");
    } catch (const CaseEnds& why) {
        drop();
        throw std::runtime_error(why.why);
    } catch (...) {
        drop();
        throw;
    }
}

void Arena::set_scene() {
    bench_->tester().present(takes_connections, 0);
    const auto& situation = bench_->situation();
    const auto& sm = fabric_.subnet().sm_hca();
    scene_ = Scene{.self = bench_->tester().self(),
                   .dut = situation.dut,
                   .manager = {.lid = sm.lid(), .gid = sm.facts().gid, .qpn = 1},
                   .link = situation.link,
                   .number = scene_.number};
    if (other_.interface().is_running()) return;
    const auto address = (scene_.dut.ipv4 & ~std::uint32_t{0xff}) | other_host;
    static_cast<void>(other_.interface().add_address({IpAddress::v4(address), 24}));
    static_cast<void>(other_.interface().up());
    loop().run_until([&] { return other_.interface().is_running(); }, loop().now() + scaled(longest_bring_up));
}

/// Its part of the making of connections: a REQ is accepted, a REP confirmed; what comes over them is acknowledged by
/// the bench.
void Arena::listen(const Packet& packet) {
    if (!bench_ || packet.lrh[Lrh::dlid] != scene_.self.lid) return;
    auto& port = bench_->tester().port();
    // Not from within the event that has brought it.
    const auto answer = [this, &port](build::PacketBuilder made) {
        loop().after(10us, [&port, frame = made.build()] { static_cast<void>(port.send(frame)); });
    };
    if (const auto req = packet.get<CmReq>()) {
        ++scene_.number;
        constexpr std::uint32_t first_id = 0x5000'0000, first_qpn = 0x3000, mask = 0xffffff;
        const build::ConnectionEnd own{
            .id = first_id + scene_.number, .qpn = (first_qpn + scene_.number) & mask, .psn = scene_.number & mask};
        scene_.requested = Connection{
            .own = own,
            .dut = {.id = req[CmReq::local_comm_id], .qpn = req[CmReq::local_qpn], .psn = req[CmReq::starting_psn]}};
        answer(build::connection_reply(scene_.self, scene_.dut, scene_.link, own, req[CmReq::local_comm_id]));
    } else if (const auto rep = packet.get<CmRep>()) {
        if (rep[CmRep::remote_comm_id] != scene_.asked.id) return;
        scene_.accepted = Connection{
            .own = scene_.asked,
            .dut = {.id = rep[CmRep::local_comm_id], .qpn = rep[CmRep::local_qpn], .psn = rep[CmRep::starting_psn]}};
        answer(
            build::connection_ready(scene_.self, scene_.dut, scene_.link, scene_.accepted->own, scene_.accepted->dut));
    }
}

void Arena::send(const std::vector<std::uint8_t>& frame) {
    if (frame.size() < fabric::shortest_frame) return;
    if (!is_switched(scene_, frame) || !bench_->tester().port().send(frame).empty()) taps_.inject(frame);
}

void Arena::later(std::uint32_t milliseconds, std::function<void()> action) {
    loop().after(std::chrono::milliseconds{milliseconds},
                 [goes_on = std::weak_ptr<bool>(session_goes_on_), action = std::move(action)] {
                     if (goes_on.lock()) action();
                 });
}

std::optional<Finding> Arena::play(const Session& session) {
    begin();
    session_goes_on_ = std::make_shared<bool>(true);
    try {
        for (const auto& operation : session.operations) {
            if (fabric::Loop::stop_requested()) return std::nullopt;
            operation.verb->act(*this, operation);
            loop().run_for(std::chrono::milliseconds{operation.pause});
        }
        loop().run_for(settling);
        // Requests are what a session costs most: a host that was asked for nothing has nothing to undo.
        constexpr std::uint64_t between_rests = 12;
        const bool is_rest = ++played_ % between_rests == 0;
        const bool was_asked = is_rest || std::ranges::any_of(session.operations, [](const Operation& one) {
                                   return one.verb->area == Area::host;
                               });
        // What a host keeps to be faster is given back; what it still holds is lost.
        if (is_rest) ask([](Dut& dut) { dut.down(); });
        end_session(was_asked);
        return spent_by(judged());
    } catch (const ChannelBroken& broken) {
        if (fabric::Loop::stop_requested()) return std::nullopt;
        // What it said before it went is worth more than that it went.
        auto faults = told_faults();
        return spent_by(faults ? std::move(faults)
                               : Finding{Finding::Kind::channel, {std::string("the adapter: ") + broken.what()}});
    }
}

/// With what is known of it for people. The next session is played on a new node.
std::optional<Finding> Arena::spent_by(std::optional<Finding> found) {
    if (!found) return found;
    is_spent_ = true;
    found->evidence = adapter_->diagnostics();
    return found;
}

/// What the session has changed around the node is as it was; the node is told to be up.
void Arena::end_session(bool was_asked) {
    session_goes_on_.reset();
    taps_.clear();
    scene_.requested.reset();
    scene_.accepted.reset();
    auto& administrator = subnet().sa();
    administrator.faults = {};
    static_cast<void>(subnet().set_link(guid(), true));
    subnet().restore_p_keys();
    if (!administrator.find(scene_.link.broadcast_gid())) {
        static_cast<void>(administrator.create_group(scene_.link.broadcast_gid(), subnet().scenario().link));
        subnet().start_manager(true);
    }
    if (!was_asked) return;
    for (const auto& child : std::exchange(children, {})) ask([&](Dut& dut) { dut.delete_child(child); });
    try {
        bench_->undo();
    } catch (const ControlFailed&) {
        // It is found below what that comes to.
    } catch (const Unsupported&) {
        // There was nothing to be undone.
    }
    bench_->tester().present(takes_connections, 0);
    ask([](Dut& dut) { dut.up(); });
}

void Arena::settle() {
    end_session(true);
    session_goes_on_ = std::make_shared<bool>(true);
    static_cast<void>(is_reached(scaled(3s)));
}

std::optional<Finding> Arena::told_faults() {
    if (!bench_ || !dut().can("health")) return std::nullopt;
    try {
        auto faults = dut().health();
        if (faults.empty()) return std::nullopt;
        // A sanitizer says last where it was, and a node may be asked in between.
        constexpr unsigned looks = 30;
        const auto has = [&](std::string_view words) {
            return std::ranges::any_of(faults, [&](const auto& fault) { return fault.find(words) != fault.npos; });
        };
        for (unsigned i = 0; i < looks && has("ERROR: ") && has("Sanitizer") && !has("SUMMARY: "); ++i) {
            loop().run_for(std::chrono::milliseconds{100});
            std::ranges::move(dut().health(), std::back_inserter(faults));
        }
        return Finding{Finding::Kind::fault, std::move(faults)};
    } catch (const ControlFailed&) {
        // Then it does not tell.
    } catch (const ChannelBroken&) {
        // Nor here.
    }
    return std::nullopt;
}

bool Arena::is_reached(fabric::Duration patience) {
    const auto until = loop().now() + patience;
    std::uint64_t turn = 0;
    while (!fabric::Loop::stop_requested()) {
        const auto answered = std::make_shared<std::optional<bool>>();
        const auto why_not = other_.interface().echo().ping(IpAddress::v4(scene_.dut.ipv4), 56, scaled(between_pings),
                                                            [answered](bool is) { *answered = is; });
        if (why_not.empty())
            loop().run_until([&] { return answered->has_value(); }, loop().now() + 2 * scaled(between_pings));
        else
            loop().run_for(between_pings);
        if (answered->value_or(false)) return true;
        if (loop().now() >= until) return false;
        // Who has learned wrong addresses learns the right ones, the node by what is asked.
        constexpr unsigned turns = 4;
        if (++turn % turns == 0) ask([](Dut& dut) { dut.flush_neighbours(); });
    }
    return true;
}

bool Arena::is_member() {
    constexpr std::uint8_t full_member = 1;
    const auto* group = subnet().sa().find(scene_.link.broadcast_gid());
    if (!group) return false;
    const auto member = group->members.find(scene_.dut.gid);
    return member != group->members.end() && (member->second & full_member) != 0;
}

std::optional<Finding> Arena::judged() {
    if (auto faults = told_faults()) return faults;
    const auto deadline = loop().now() + scaled(options_.deadline);
    const auto half = scaled(options_.deadline) / 2;
    bool is_well = is_reached(std::min<fabric::Duration>(half, scaled(3s))) && is_member();
    if (!is_well && !fabric::Loop::stop_requested()) {
        if (auto faults = told_faults()) return faults;
        // What nothing tells it of is not asked of it: the port comes up anew, and it is asked to reregister.
        taps_.replug();
        loop().run_for(scaled(500ms));
        subnet().start_manager(true);
        ask([](Dut& dut) { dut.up(); });
        const bool is_answering = is_reached(deadline - loop().now());
        is_well =
            is_answering && loop().run_until([&] { return is_member(); }, std::max(deadline, loop().now() + half));
        if (fabric::Loop::stop_requested()) return std::nullopt;
        if (auto faults = told_faults()) return faults;
        const auto seconds = std::chrono::duration<double>(scaled(options_.deadline)).count();
        if (!is_answering)
            return Finding{Finding::Kind::reach, {fmt::format("it answers no echo request within {:.0f} s", seconds)}};
        if (!is_well)
            return Finding{
                Finding::Kind::membership,
                {fmt::format("the SA does not have it as FullMember of the broadcast group within {:.0f} s", seconds)}};
        static_cast<void>(bench_->find_dut());
        set_scene();
    }
    return std::nullopt;
}

Arena::Seen Arena::take_seen() {
    Seen seen{.blocks = {}, .kinds = taps_.take_kinds()};
    if (!tells_coverage_ || is_spent_ || !bench_) return seen;
    ask([&](Dut& dut) { seen.blocks = dut.coverage(); });
    return seen;
}

}  // namespace ipoib::conformance::fuzz
