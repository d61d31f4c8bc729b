// SPDX-License-Identifier: GPL-2.0-or-later
// A session's journals as the fabric and the DUT of another session: what had been seen is fed again, what the tester
// does is compared with what it did.
#pragma once

#include "conformance/dut/control.hpp"
#include "conformance/replay/tape.hpp"

#include <functional>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

namespace ipoib::conformance::replay {

/// What a session is told of its fabric, beside the journals.
struct Surroundings {
    fabric::Abilities abilities;
    std::vector<std::pair<std::string, std::string>> facts;
};

/// Thrown where the tester does something else than it did.
struct Diverged : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Playback : public fabric::Fabric, public DutControl {
public:
    /// Of the journals of one session, in their order.
    Playback(std::vector<Journal> journals, Surroundings surroundings);
    ~Playback() override;
    Playback(const Playback&) = delete;
    Playback& operator=(const Playback&) = delete;

    /// The bench is done with the case: what the journal has of it must be over, too.
    void end_case();
    /// Whether all journals were played.
    [[nodiscard]] bool is_over() const noexcept { return cursor_ >= entries_.size(); }
    /// What first went another way; empty where nothing did.
    [[nodiscard]] const std::string& difference() const noexcept { return difference_; }

    // Fabric
    using Fabric::change;
    [[nodiscard]] fabric::Loop& loop() override { return loop_; }
    [[nodiscard]] fabric::Abilities abilities() const override { return surroundings_.abilities; }
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> facts() const override {
        return surroundings_.facts;
    }
    [[nodiscard]] std::span<fabric::Port* const> ports() override { return ports_; }
    void observe(std::function<void(const fabric::Sighting&)> observer) override { observer_ = std::move(observer); }
    [[nodiscard]] fabric::ChangeAnswer change(const fabric::FabricChange& change, fabric::Duration patience) override;
    [[nodiscard]] fabric::TimerId after(fabric::Duration delay, std::function<void()> action) override;
    void cancel(fabric::TimerId& timer) noexcept override;

    // DutControl
    [[nodiscard]] DutControlReply ask(const std::string& request, fabric::Duration patience) override;
    [[nodiscard]] bool waits_for_stopped() override;

    /// The same of one of two, by its number.
    [[nodiscard]] DutControlReply ask_of(std::uint32_t number, const std::string& request);
    /// What was looked up in the subnet manager's books; JSON both.
    [[nodiscard]] std::string look_up(const std::string& request);

private:
    class PlayedPort;

    /// What comes next; null where the case or the session is over.
    const Entry* head();
    void arm();
    void deliver();
    void deliver_together();
    void hand_over(const Entry& entry);
    /// A timer of the tester comes when it came then.
    void fire(const Entry& entry);
    /// What the tester begins now: the next thing that it did, which must be of this kind. What had come in before
    /// comes in now. Null after the end of the last case.
    const Entry* begin(Kind kind, const std::string& what);
    /// What was asked for then and is not begun yet, and what came in between stands next; null where there is none.
    [[nodiscard]] const Entry* begun_here();
    /// It is done at once: what came in meanwhile comes in now.
    const Entry* expect(Kind kind, const std::string& what);
    /// It took its time: until then the loop runs.
    const Entry* await(Kind kind, const std::string& what);
    void pass_until(fabric::Time time);
    /// So much earlier may be now what the tester looks at by itself: what it computed took time then. Less than
    /// between two of its looks.
    [[nodiscard]] fabric::Duration lag() const noexcept {
        return is_virtual_ ? fabric::Duration{} : std::chrono::milliseconds{20};
    }
    /// What the tester took, or was told, must have been on its way.
    void demand_sight(const Entry& entry);
    void remember(const Entry& sighting);
    /// In virtual time nothing takes any: what is done now was done then.
    void demand_time(const Entry& entry, fabric::Time recorded);
    void compare(const Entry& entry, std::string_view recorded, std::string_view now);
    [[noreturn]] void differ(const Entry* entry, const std::string& how);
    [[nodiscard]] std::string place(const Entry& entry) const;

    fabric::Loop loop_;
    std::vector<Entry> entries_;
    std::vector<std::string> files_;
    std::size_t cursor_ = 0;
    /// By the index of the first entry that came in during them: those that are not begun, the outermost last.
    std::map<std::size_t, std::vector<std::size_t>> waiting_;
    bool is_case_done_ = true, is_virtual_ = true;
    std::unordered_set<std::uint64_t> seen_;  ///< hashes of all frames so far
    std::string last_of_sa_;                  ///< the frames of the administrator since it was asked last
    fabric::TimerId timer_;
    struct OwnTimer {
        fabric::Time due{};
        std::function<void()> action;
    };
    std::map<std::uint64_t, OwnTimer> timers_;  ///< the tester's that have not come, by the number that the journal has
    std::uint64_t timers_set_ = 0;
    Surroundings surroundings_;
    std::vector<std::unique_ptr<PlayedPort>> own_;
    std::vector<fabric::Port*> ports_;
    std::function<void(const fabric::Sighting&)> observer_;
    std::string difference_;
};

}  // namespace ipoib::conformance::replay
