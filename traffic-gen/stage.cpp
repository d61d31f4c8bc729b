// SPDX-License-Identifier: GPL-2.0-or-later
// From packets to frames.
#include "traffic-gen/stage.hpp"

#include "protocol/wire/text.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace ipoib::traffic {
using namespace wire;

namespace {

Sender sender_of(const build::PacketBuilder& packet) {
    const auto lrh = packet.get<Lrh>();
    const auto deth = packet.get<Deth>();
    return {.lid = lrh ? lrh[Lrh::slid] : std::uint16_t{0}, .qpn = deth ? deth[Deth::src_qp] : 0};
}

}  // namespace

Stage::Stage(Scene& scene, const StageOptions& options, Sink& sink)
    : scene_(scene),
      options_(options),
      sink_(sink),
      random_(options.seed),
      run_(options.run ? options.run : static_cast<std::uint32_t>(options.seed ^ options.seed >> 32)),
      part_end_(options.count) {}

void Stage::forget_memberships(const Gid& port) {
    std::erase_if(memberships_, [&](const auto& one) { return one.first.first == port; });
}

std::vector<std::pair<Gid, std::uint8_t>> Stage::memberships_of(const Gid& port) const {
    std::vector<std::pair<Gid, std::uint8_t>> groups;
    for (auto one = memberships_.lower_bound({port, {}}); one != memberships_.end() && one->first.first == port; ++one)
        if (one->second != 0) groups.emplace_back(one->first.second, one->second);
    return groups;
}

std::size_t Stage::size() {
    const auto sizes = options_.most_size - options_.least_size + 1;
    return options_.least_size + (sizes > 1 ? any(sizes) : 0);
}

void Stage::begin() {
    has_begun_ = true;
    begun_ = now_;
    really_begun_ = sink_.elapsed();
}

bool Stage::goes_on() const {
    if (is_stopped && is_stopped()) return false;
    if (!has_begun_) return true;
    if (sent_ >= part_end_ || now_ - begun_ >= options_.duration) return false;
    // A fabric may be slower than what was asked for.
    return options_.duration == Time::max() || sink_.elapsed() - really_begun_ < options_.duration;
}

double Stage::progress() const noexcept {
    if (!has_begun_) return 0;
    const auto part = [](double done, double all) { return std::min(done / all, 1.0); };
    const auto by_count = options_.count == StageOptions::no_bound
                              ? 0.0
                              : part(static_cast<double>(sent_), static_cast<double>(options_.count));
    const auto by_time = options_.duration == Time::max() ? 0.0
                                                          : part(static_cast<double>((now_ - begun_).count()),
                                                                 static_cast<double>(options_.duration.count()));
    return std::max(by_count, by_time);
}

void Stage::mutate(build::PacketBuilder& packet) {
    unchanged_.assign(packet.octets().begin(), packet.octets().end());
    mutation_(packet);
    if (!std::ranges::equal(unchanged_, packet.octets())) ++mutated_;
}

MutableOctets Stage::whole(build::PacketBuilder& packet) {
    constexpr std::ptrdiff_t tail = icrc_size + vcrc_size;
    std::array<std::uint8_t, tail> crcs{};
    const bool keeps_crc = is_changed() && options_.keeps_crc;
    if (keeps_crc) std::ranges::copy(maker_.make(packet).last<tail>(), crcs.begin());
    if (has_begun_ && mutation_) mutate(packet);
    if (has_begun_ && change_) change_(packet);
    if (options_.builds_each) maker_ = {};
    const auto frame = maker_.make(packet);
    if (keeps_crc) std::ranges::copy(crcs, frame.end() - tail);
    return frame;
}

void Stage::has_sent(std::size_t octets) {
    now_ += options_.rate.spacing(octets, [this] { return progress(); });
    if (has_begun_) ++sent_;
    if (told_) told_();
}

bool Stage::give(const Sender& sender, Octets frame) {
    if (!sink_.take(now_, sender, frame)) {
        constexpr unsigned longest_wait = 100'000;
        if (++in_vain_ > longest_wait)
            throw std::runtime_error(
                "this profile has no packets that our hosts send, or none that such a capture shows");
        return false;
    }
    in_vain_ = 0;
    has_sent(frame.size());
    return true;
}

void Stage::refuse_unjoined(const build::PacketBuilder& packet) {
    if (!administrator()) return;
    const auto lrh = packet.get<Lrh>();
    const auto grh = packet.get<Grh>();
    if (lrh && lrh[Lrh::dlid] == 0 && grh)
        throw std::runtime_error("no MLID is known of " + text(grh[Grh::dgid]) +
                                 ": the subnet administrator did not let us join");
}

std::uint32_t& Stage::psn_of(const Sender& sender) {
    auto& [last, psn] = last_psns_[(sender.qpn ^ std::uint32_t{sender.lid} << 3) % last_psns_.size()];
    if (!psn || last != sender) {
        last = sender;
        psn = &psns_[std::uint64_t{sender.lid} << 32 | sender.qpn];
    }
    return *psn;
}

void Stage::number(const Sender& sender, build::PacketBuilder& packet) {
    if (sink_.has_adapters() || !packet.has(spec_of<Lrh>) || !packet.has(spec_of<Deth>)) return;
    packet.choose(Bth::psn, psn_of(sender)++);
}

bool Stage::send_changed(const Sender& sender, build::PacketBuilder& packet) {
    refuse_unjoined(packet);
    const auto frame = whole(packet);
    if (has_begun_ && damage_) damage_(frame);
    return give(sender, frame);
}

void Stage::send(build::PacketBuilder packet) {
    const auto sender = sender_of(packet);
    number(sender, packet);
    if (!goes_on() || (hidden_one_of_ != 0 && any(hidden_one_of_) == 0)) return;
    (void)send_changed(sender, packet);
}

void Stage::pause(Time time) {
    constexpr Time longest_real = std::chrono::seconds{1};
    now_ += administrator() ? std::min(time, longest_real) : time;
}

void Stage::pass(Time time, const std::function<build::PacketBuilder()>& other) {
    if (administrator() || !goes_on()) return pause(time);
    constexpr Time step = std::chrono::seconds{3};
    const bool has_begun = std::exchange(has_begun_, false);
    for (; time > step; time -= step) {
        pause(step);
        auto packet = other();
        const auto sender = sender_of(packet);
        number(sender, packet);
        (void)send_changed(sender, packet);
    }
    has_begun_ = has_begun;
    pause(time);
}

Octets Stage::payload(const Flow& flow, std::size_t size) {
    static const auto too_few = build::pattern(Number::size);
    if (size < Number::size) return Octets{too_few}.first(size);
    if (payload_.empty()) payload_ = build::pattern(options_.most_size);
    const auto octets = MutableOctets{payload_}.first(size);
    Number{.run = run_, .count = flow.next}.write(octets);
    return octets;
}

void Stage::send_next(Flow& flow, build::PacketBuilder& packet) {
    if (!sink_.has_adapters()) packet.choose(Bth::psn, (*flow.psn)++);
    if (send_changed(flow.sender, packet)) ++flow.next;
}

void Stage::send_by_itself(Flow& flow, build::PacketBuilder packet) {
    const auto sender = sender_of(packet);
    number(sender, packet);
    if (send_changed(sender, packet)) ++flow.next;
}

void Stage::keep_sender(Flow& flow, const build::PacketBuilder& packet) {
    flow.sender = sender_of(packet);
    flow.psn = &psn_of(flow.sender);
}

void Stage::keep_headers(Flow& flow, build::PacketBuilder packet) {
    keep_sender(flow, packet);
    flow.headers = std::move(packet);
}

void Stage::keep_frame(Flow& flow, const build::PacketBuilder& packet) {
    refuse_unjoined(packet);
    keep_sender(flow, packet);
    flow.frame.emplace(packet, Number::at_count, tables_);
}

void Stage::send_recorded(Time time, Octets frame) {
    if (!goes_on()) return;
    now_ = begun_ + time;
    Packet packet;
    decode(frame, packet);
    const Sender sender{.lid = packet.lrh ? packet.lrh[Lrh::slid] : std::uint16_t{0},
                        .qpn = packet.deth ? packet.deth[Deth::src_qp] : 0};
    std::vector<std::uint8_t> changed;
    if (is_changed() && packet.lrh && packet.tail != Tail::truncated) {
        auto builder = build::PacketBuilder::of(packet);
        const std::vector<std::uint8_t> before(builder.octets().begin(), builder.octets().end());
        const auto built = whole(builder);
        if (!std::ranges::equal(before, builder.octets())) changed.assign(built.begin(), built.end());
    }
    if (damage_) {
        if (changed.empty()) changed.assign(frame.begin(), frame.end());
        damage_(changed);
    }
    const auto octets = changed.empty() ? frame : Octets{changed};
    if (!sink_.take(now_, sender, octets)) return;
    ++sent_;
    if (told_) told_();
}

bool Stage::ask(const std::function<bool(Administrator& administrator, Time time)>& question) {
    if (!goes_on()) return false;
    const auto is_granted = question(*administrator(), now_);
    constexpr std::size_t mad_frame = 290;
    // The question and its answer.
    for (unsigned i = 0; i < 2; ++i) has_sent(mad_frame);
    return is_granted;
}

}  // namespace ipoib::traffic
