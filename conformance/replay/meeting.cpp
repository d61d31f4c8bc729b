// SPDX-License-Identifier: GPL-2.0-or-later
// Both adapters, the fabric between them and the subnet manager's books are what the journals hold.
#include "conformance/replay/meeting.hpp"

#include "conformance/bench/session.hpp"
#include "conformance/interop/books.hpp"
#include "conformance/interop/interop.hpp"
#include "conformance/replay/playback.hpp"
#include "conformance/replay/tapes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ipoib::conformance::replay {
namespace {

using interop::both_sides, interop::Each, interop::Side;

/// The adapter of one of the two.
class PlayedControl : public DutControl {
public:
    PlayedControl(Playback& playback, Side side) : playback_(playback), number_(side == Side::dut ? 0 : 1) {}
    [[nodiscard]] DutControlReply ask(const std::string& request, fabric::Duration) override {
        return playback_.ask_of(number_, request);
    }

private:
    Playback& playback_;
    std::uint32_t number_;
};

class PlayedPlace : public interop::Place {
public:
    PlayedPlace(Tapes& tapes, const Record& record) : tapes_(tapes), record_(record) {}

    void prepare(std::uint64_t seed) override {
        if (playback_) playback_->end_case();
        demand_no_difference();
        if (record_.is_virtual) {
            for (const auto side : both_sides) drop(side);
            playback_.reset();
        }
        if (!playback_)
            playback_ = std::make_unique<Playback>(tapes_.next(), Surroundings{record_.abilities, record_.fabric});
        for (const auto side : both_sides) {
            if (members_[side]) continue;
            auto member = std::make_unique<Member>(*playback_, side, record_.session.timeout_scale);
            try {
                member->dut.greet(seed);
            } catch (const Diverged&) {
                throw;
            } catch (const std::runtime_error& why) {
                throw interop::SideBroken(side, why.what());
            }
            members_[side] = std::move(member);
        }
    }
    /// After the last exchange.
    void end() {
        if (!playback_) return;
        playback_->end_case();
        demand_no_difference();
        if (!playback_->is_over()) throw Diverged("a journal goes on behind the last exchange");
    }
    [[nodiscard]] fabric::Fabric& fabric() override { return *playback_; }
    [[nodiscard]] Dut& dut(Side side) override {
        if (!members_[side]) throw interop::SideBroken(side, "it is not there any more");
        return members_[side]->dut;
    }
    [[nodiscard]] std::string diagnostics(Side) override { return {}; }
    void drop(Side side) noexcept override {
        if (!members_[side]) return;
        members_[side]->dut.bye();
        members_[side].reset();
    }
    [[nodiscard]] build::Link link() override { return books_.link(); }
    [[nodiscard]] std::uint16_t lid_of(std::uint64_t port_guid) override { return books_.lid_of(port_guid); }
    [[nodiscard]] wire::Gid gid_of(std::uint64_t port_guid) override { return books_.gid_of(port_guid); }
    [[nodiscard]] std::uint8_t join_states(const wire::Gid& mgid, std::uint64_t port_guid) override {
        return books_.join_states(mgid, port_guid);
    }
    [[nodiscard]] std::uint16_t mlid_of(const wire::Gid& mgid) override { return books_.mlid_of(mgid); }
    [[nodiscard]] bool is_virtual() const override { return record_.is_virtual; }

private:
    struct Member {
        PlayedControl control;
        Dut dut;
        Member(Playback& playback, Side side, double scale) : control(playback, side), dut(control, {}, scale) {}
    };
    void demand_no_difference() const {
        if (playback_ && !playback_->difference().empty()) throw Diverged(playback_->difference());
    }

    Tapes& tapes_;
    const Record& record_;
    std::unique_ptr<Playback> playback_;
    Each<std::unique_ptr<Member>> members_;
    interop::Books books_{[this](const std::string& request) { return playback_->look_up(request); }};
};

/// What the journals say their exchanges ended with, beside what comes out.
void compare_ends(const Tapes& tapes, const Each<reports::Results>& both, unsigned repeat, Verified& verified) {
    for (const auto& [scene, id, verdicts] : tapes.ended()) {
        // Of repetitions only the worst is known.
        if (repeat > 1) continue;
        std::string now;
        for (const auto side : both_sides) {
            const auto found = std::ranges::find(both[side].results, id, &reports::Result::id);
            now += (now.empty() ? "" : " ") +
                   std::string(found == both[side].results.end() ? "-" : reports::name(found->verdict));
        }
        if (now != verdicts)
            verified.wrong.push_back(
                fmt::format("the journal of {} ends with {}, the exchange comes out as {}", scene, verdicts, now));
    }
}

}  // namespace

void play_meeting(const std::filesystem::path& folder, const std::filesystem::path& again, Verified& verified,
                  const std::function<void(std::size_t, std::size_t)>& progress) {
    const auto& record = verified.record;
    Tapes tapes{folder, record, verified.wrong};
    PlayedPlace place{tapes, record};
    interop::InteropRun run{.exchanges = record.exchanges, .rules = record.run.rules};
    run.options = {.seed = record.run.seed, .timeout_scale = record.session.timeout_scale};
    run.repeat = record.run.repeat;
    run.evidence = again.string();
    if (progress)
        run.progress = [&](const interop::Exchange&, std::size_t number, std::size_t count) {
            progress(number, count);
        };
    Each<reports::Results> both;
    try {
        both = interop::run(run, place);
        place.end();
    } catch (const Diverged& why) {
        verified.wrong.emplace_back(why.what());
        return;
    }
    compare_ends(tapes, both, run.repeat, verified);
    for (const auto& capture : both.dut.captures) verified.frames += capture.packets;
    verified.left_out.clear();
    verified.scenes = both.dut.captures.size();
    for (const auto side : both_sides) both[side].fabric = record.fabric;
    verified.results = interop::joined(std::move(both));
}

}  // namespace ipoib::conformance::replay
