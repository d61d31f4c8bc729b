// SPDX-License-Identifier: GPL-2.0-or-later
// Where a profile puts its packets: they are changed as the user asked, counted, and given to a sink at their time.
#pragma once

#include "protocol/build/frame_maker.hpp"
#include "protocol/build/frame_template.hpp"
#include "traffic-gen/numbered.hpp"
#include "traffic-gen/rate.hpp"
#include "traffic-gen/scene.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ipoib::traffic {

/// What is done to every packet of a profile before it is built.
using Change = std::function<void(build::PacketBuilder& packet)>;
/// What is done to a frame, behind its CRCs.
using Damage = std::function<void(wire::MutableOctets frame)>;

struct StageOptions {
    static constexpr std::uint64_t no_bound = std::numeric_limits<std::uint64_t>::max();

    std::uint64_t count = 1000;  ///< packets; what comes before a profile's own is not counted
    std::uint64_t seed = 1;
    std::uint32_t run = 0;  ///< by which a receiver knows the numbers of this run; 0: it follows from the seed
    Rate rate{"1000"};
    Time duration = Time::max();                  ///< of the profile's own packets
    std::size_t least_size = 64, most_size = 64;  ///< payload octets of packets that have some
    bool keeps_crc = false;                       ///< the CRCs are those of the packet as it was before changes
    std::string input{};                          ///< the capture that `replay` sends
    double speed = 1;                             ///< of a replay: twice as fast as recorded; 0: without pauses
    bool builds_each = false;  ///< every packet is made and built by itself: what else is done must come to the same
};

class Stage {
public:
    Stage(Scene& scene, const StageOptions& options, Sink& sink);

    [[nodiscard]] Scene& scene() noexcept { return scene_; }
    [[nodiscard]] const StageOptions& options() const noexcept { return options_; }
    [[nodiscard]] std::mt19937_64& random() noexcept { return random_; }
    /// A number below `bound`.
    [[nodiscard]] std::size_t any(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }
    /// The next payload's size.
    [[nodiscard]] std::size_t size();
    /// The states in which a port is a member of a group.
    [[nodiscard]] std::uint8_t& membership(const wire::Gid& port, const wire::Gid& mgid) {
        return memberships_[{port, mgid}];
    }
    /// A transaction ID that was not used yet.
    [[nodiscard]] std::uint64_t transaction() noexcept { return ++transaction_; }

    /// What comes before a profile's own packets is neither counted nor changed.
    void begin();
    /// Whether the profile is to send more.
    [[nodiscard]] bool goes_on() const;
    /// A part of the run: nothing more is sent once so many packets more were, until the part is over.
    void begin_part(std::uint64_t packets) noexcept { part_end_ = std::min(options_.count, sent_ + packets); }
    void end_part() noexcept { part_end_ = options_.count; }

    /// Nothing more is sent once enough was.
    void send(build::PacketBuilder packet);
    /// Sends a UDP packet with a number in its payload: the next of its flow, a sender with a receiver. `make` builds
    /// it, always the same headers and the payload behind them. Flows are numbered from 0.
    template <class Make>
    void send_numbered(std::size_t flow, const Make& make) {
        if (!goes_on()) return;
        if (flow >= flows_.size()) flows_.resize(flow + 1);
        auto& of = flows_[flow];
        const auto size = this->size();
        if (options_.builds_each) return send_by_itself(of, make(payload(of, size)));
        if (!is_plain() || size < Number::size) {
            if (!of.headers) keep_headers(of, make({}));
            packet_ = *of.headers;
            return send_next(of, packet_.add(payload(of, size)));
        }
        if (!of.frame) keep_frame(of, make(payload(of, size)));
        of.frame->set(of.next, *of.psn);
        if (!give(of.sender, of.frame->frame())) return;
        ++of.next;
        if (!sink_.has_adapters()) ++*of.psn;
    }
    /// Nothing is sent for so long, on a fabric for a second at most.
    void pause(Time time);
    /// The run's own packets pause so long; others, neither counted nor changed, show that the time has passed and that
    /// not the clock was set.
    void pass(Time time, const std::function<build::PacketBuilder()>& other);
    /// One of so many packets is sent, but the capture does not show it; of 1 it shows none, of 0 all.
    void hide_one_of(unsigned packets) noexcept { hidden_one_of_ = packets; }
    /// Sends a frame as it was recorded, at this time since the first; only if it is changed it is built anew.
    void send_recorded(Time time, wire::Octets frame);

    /// A subnet administrator that is really there, or null: what is asked is played.
    [[nodiscard]] Administrator* administrator() noexcept { return sink_.administrator(); }
    /// Puts a question to it, as two packets of the run; false: none is due any more, or it was refused.
    bool ask(const std::function<bool(Administrator& administrator, Time time)>& question);

    /// What is wrong from now on, before other changes; null: nothing.
    void mutate_by(void (*mutation)(build::PacketBuilder& packet)) noexcept { mutation_ = mutation; }
    void change_by(Change change) { change_ = std::move(change); }
    void damage_by(Damage damage) { damage_ = std::move(damage); }
    /// Hosts join anew what they were members of; or one port does.
    void forget_memberships() noexcept { memberships_.clear(); }
    void forget_memberships(const wire::Gid& port);
    /// The groups that a port is a member of, in the states that it joined with.
    [[nodiscard]] std::vector<std::pair<wire::Gid, std::uint8_t>> memberships_of(const wire::Gid& port) const;
    /// Told with every packet.
    void tell(std::function<void()> told) { told_ = std::move(told); }
    bool (*is_stopped)() = nullptr;
    /// Packets that the mutation was about.
    [[nodiscard]] std::uint64_t mutated() const noexcept { return mutated_; }

private:
    struct Flow {
        std::optional<build::FrameTemplate> frame;
        std::optional<build::PacketBuilder> headers;
        std::uint32_t* psn = nullptr;  ///< the next one of its queue pair
        Sender sender;
        std::uint64_t next = 0;
    };
    /// Whether numbered packets of a flow differ in their number alone.
    [[nodiscard]] bool is_plain() const noexcept {
        return !mutation_ && !change_ && !damage_ && options_.least_size == options_.most_size;
    }
    [[nodiscard]] bool is_changed() const noexcept { return has_begun_ && (mutation_ || change_); }
    [[nodiscard]] std::uint32_t& psn_of(const Sender& sender);
    /// The next PSN of the queue pair that sends it: also of what is hidden, which has been sent, too.
    void number(const Sender& sender, build::PacketBuilder& packet);
    void mutate(build::PacketBuilder& packet);
    void refuse_unjoined(const build::PacketBuilder& packet);
    /// The packet as it is sent, until the next one is.
    [[nodiscard]] wire::MutableOctets whole(build::PacketBuilder& packet);
    [[nodiscard]] wire::Octets payload(const Flow& flow, std::size_t size);
    void send_next(Flow& flow, build::PacketBuilder& packet);
    void send_by_itself(Flow& flow, build::PacketBuilder packet);
    void keep_sender(Flow& flow, const build::PacketBuilder& packet);
    void keep_headers(Flow& flow, build::PacketBuilder packet);
    void keep_frame(Flow& flow, const build::PacketBuilder& packet);
    bool send_changed(const Sender& sender, build::PacketBuilder& packet);
    /// Hands it over at its time; whether somebody here has sent it.
    bool give(const Sender& sender, wire::Octets frame);
    void has_sent(std::size_t octets);
    [[nodiscard]] double progress() const noexcept;

    Scene& scene_;
    StageOptions options_;
    Sink& sink_;
    std::mt19937_64 random_;
    /// Datagrams are numbered as adapters number what a queue pair sends, so that a capture shows losses.
    std::unordered_map<std::uint64_t, std::uint32_t> psns_;  ///< by LID and queue pair
    /// Of senders that were there last, where their PSN is.
    std::array<std::pair<Sender, std::uint32_t*>, 64> last_psns_{};
    std::map<std::pair<wire::Gid, wire::Gid>, std::uint8_t> memberships_;
    std::vector<Flow> flows_;
    build::FrameTemplate::Tables tables_;
    std::vector<std::uint8_t> payload_;
    /// Of the packet that is being sent: kept, so that none allocates.
    build::PacketBuilder packet_;
    build::FrameMaker maker_;
    std::vector<std::uint8_t> unchanged_;
    std::uint32_t run_;
    void (*mutation_)(build::PacketBuilder& packet) = nullptr;
    Change change_{};
    Damage damage_{};
    std::function<void()> told_{};
    Time now_{}, begun_{};
    Time really_begun_{};  ///< by the clock of the sink
    std::uint64_t sent_ = 0, mutated_ = 0, part_end_, transaction_ = 0;
    unsigned hidden_one_of_ = 0;
    unsigned in_vain_ = 0;  ///< packets in a row whose sender is none of ours
    bool has_begun_ = false;
};

}  // namespace ipoib::traffic
