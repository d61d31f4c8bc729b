// SPDX-License-Identifier: GPL-2.0-or-later
// From a stage to ports.
#include "traffic-gen/fabric_sink.hpp"

#include "protocol/rules/rule.hpp"
#include "protocol/wire/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ipoib::traffic {
using namespace wire;

FabricOptions FabricSink::listening(FabricOptions options) {
    const auto* kind = options.kinds.find(options.words, conformance::FabricUse::traffic);
    if (!kind || !kind->is_ours()) return options;
    judge_.emplace(rules::every(), 0, conformance::Judge::Listener{}, conformance::JudgeOptions{.is_all_ipoib = true});
    options.on_open = [this](fabric::Fabric& fabric) {
        fabric.observe([this](const fabric::Sighting& sighting) {
            judge_->frame({.number = ++seen_,
                           .time_ns = sighting.time.count() + 1,
                           .link_type = capture::LinkType::infiniband,
                           .octets = sighting.octets,
                           .wire_length = static_cast<std::uint32_t>(sighting.octets.size())});
        });
    };
    return options;
}

FabricSink::FabricSink(const FabricOptions& options, const std::vector<IpAddress>& to) : crew_(listening(options)) {
    for (auto& member : crew_.members()) {
        const auto& node = nodes_.emplace_back(member.self());
        ports_[{node.lid, node.qpn}] = &member.port();
    }
    crew_.on_datagram([this](Octets) { ++received_; });
    if (to.empty()) return;
    // Neighbours stand behind each of ours in turn: who sends to the next one reaches them all.
    const auto ours = std::exchange(nodes_, {});
    for (const auto& address : to) {
        const auto neighbour = crew_.resolve(address);
        for (const auto& node : ours) nodes_.insert(nodes_.end(), {node, neighbour});
    }
}

FabricSink::~FabricSink() { crew_.fabric().observe({}); }

Scene FabricSink::scene(SceneOptions options) {
    options.group_range = crew_.group_range();
    return Scene{{.link = crew_.members().front().link(), .hosts = nodes_}, options};
}

void FabricSink::wait_until(Time time) {
    auto& loop = crew_.fabric().loop();
    if (!has_begun_) begun_ = loop.now() - time;
    has_begun_ = true;
    if (begun_ + time > loop.now()) flush();
    // Also where nothing is waited for, what has come is looked at.
    (void)loop.run_until([] { return false; }, std::max(loop.now(), begun_ + time));
    crew_.check();
}

Time FabricSink::elapsed() {
    auto& loop = crew_.fabric().loop();
    return loop.is_virtual() ? Time{} : loop.now();
}

void FabricSink::flush() {
    std::array<Octets, most_at_once> frames;
    for (std::size_t i = 0; i < batched_; ++i) frames[i] = batch_[i];
    const auto count = std::exchange(batched_, 0);
    if (count == 0) return;
    std::size_t done = 0;
    const auto why = batch_port_->send_all(std::span{frames}.first(count), done);
    sent_ += done;
    if (why.empty()) return;
    crew_.check();
    throw Refused(fmt::format("packet {} cannot be sent here: {}", sent_ + 1, why));
}

fabric::Port* FabricSink::port_of(const Sender& sender) const {
    if (takes_all_) return ports_.begin()->second;
    const auto found = ports_.find(sender);
    return found == ports_.end() ? nullptr : found->second;
}

bool FabricSink::take(Time time, const Sender& sender, Octets frame) {
    auto* const port = port_of(sender);
    if (!port) return false;
    auto& loop = crew_.fabric().loop();
    if (batch_port_ != port || batched_ == most_at_once) flush();
    if (batched_ == 0 || !has_begun_ || begun_ + time > loop.now()) wait_until(time);
    // In virtual time nothing arrives by itself, and what is on its way takes memory.
    constexpr std::uint64_t looks = 64;
    constexpr auto transit = std::chrono::microseconds{20};
    if (loop.is_virtual() && sent_ % looks == 0) (void)loop.run_until([] { return false; }, loop.now() + transit);
    batch_port_ = port;
    batch_[batched_++].assign(frame.begin(), frame.end());
    if (loop.is_virtual()) flush();
    return true;
}

void FabricSink::finish() {
    flush();
    // What is on its way arrives.
    constexpr auto transit = std::chrono::milliseconds{10};
    auto& loop = crew_.fabric().loop();
    (void)loop.run_until([] { return false; }, loop.now() + transit);
}

bool FabricSink::count(bool is_granted) {
    ++asked_;
    if (!is_granted) ++refused_;
    crew_.check();
    return is_granted;
}

bool FabricSink::join(Time time, const build::Node& host, const Gid& mgid, std::uint8_t state) {
    flush();
    wait_until(time);
    auto& member = *crew_.find(host);
    // It is a member of the broadcast group already.
    if (mgid == member.link().broadcast_gid()) {
        mlids_[mgid] = member.link().broadcast_mlid;
        return true;
    }
    const auto answer = member.join(mgid, state);
    const auto record = answer.first<McMemberRecord>();
    if (answer.is_ok() && record) mlids_[mgid] = record[McMemberRecord::mlid];
    return count(answer.is_ok() && record);
}

bool FabricSink::leave(Time time, const build::Node& host, const Gid& mgid, std::uint8_t state) {
    flush();
    wait_until(time);
    return count(crew_.find(host)->leave(mgid, state).is_ok());
}

bool FabricSink::subscribe(Time time, const build::Node& host, std::uint16_t trap) {
    flush();
    wait_until(time);
    return count(crew_.subscribe(*crew_.find(host), trap));
}

std::uint16_t FabricSink::mlid(const Gid& mgid) const {
    const auto found = mlids_.find(mgid);
    return found == mlids_.end() ? std::uint16_t{0} : found->second;
}

std::uint64_t FabricSink::broken_rules() const {
    if (!judge_) return 0;
    const auto results = judge_->results();
    return static_cast<std::uint64_t>(std::ranges::count(results, reports::Verdict::fail, &reports::Result::verdict));
}

std::string FabricSink::judgement() const {
    if (!judge_) return {};
    std::string text;
    unsigned kept = 0;
    for (const auto& result : judge_->results()) {
        if (result.verdict == reports::Verdict::pass) ++kept;
        if (result.verdict == reports::Verdict::fail || result.verdict == reports::Verdict::warn)
            text += fmt::format("judge: {} {}: {} of {}, {}\n", reports::name(result.verdict), result.id,
                                result.violations, result.observed, result.title);
    }
    return text + fmt::format("judge: {} rules were kept\n", kept);
}

}  // namespace ipoib::traffic
