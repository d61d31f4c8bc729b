// SPDX-License-Identifier: GPL-2.0-or-later
// What is seen at the DUT's port: every frame for the rules, and what it asks the subnet administrator, how often.
#pragma once

#include "conformance/bench/recorder.hpp"
#include "fabric/frame.hpp"
#include "fabric/loop.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/sa.hpp"

#include <map>
#include <set>

namespace ipoib::conformance::explore {

/// What a request is about.
struct Question {
    wire::Method method{};
    std::uint16_t attribute = 0;
    wire::Gid key;  ///< MGID, DGID; of a subscription the number of the trap
    friend auto operator<=>(const Question&, const Question&) = default;
};
/// "Set(MCMemberRecord) of ff12:..."
[[nodiscard]] std::string text(const Question& question);

class Watch {
public:
    explicit Watch(fabric::Loop& loop) : loop_(loop) {}

    void take(const fabric::Frame& frame, bool is_sent);
    /// The DUT's LID, before its frames are judged.
    void dut_is(std::uint16_t lid) {
        lid_ = lid;
        recorder_.dut_is(lid);
        judged_.dut_is(lid);
    }
    void comment(std::string_view words) { recorder_.comment(words); }
    /// From now on requests are counted anew.
    void begin_rest();
    /// Something happened that a stack may begin anew for.
    void signal() { signals_.push_back(loop_.now()); }
    /// An event of the schedule, by its number: what is seen next is seen under it.
    void under(std::size_t action) { action_ = action; }

    [[nodiscard]] const Recorder& recorder() const noexcept { return recorder_; }
    /// The same without answers that the DUT cannot wait for any more: they tell it nothing.
    [[nodiscard]] const Recorder& judged() const noexcept { return judged_; }
    /// How often each question was sent since begin_rest().
    [[nodiscard]] const std::map<Question, unsigned>& at_rest() const noexcept { return sent_; }

    /// The most requests for the same that were open at the same time, beyond one for each signal since the oldest of
    /// them; and the most that were sent within a second.
    struct Peak {
        unsigned count = 0;
        Question question{};
        fabric::Time at{};
    };
    [[nodiscard]] const Peak& most_open() const noexcept { return most_open_; }
    [[nodiscard]] const Peak& most_in_a_second() const noexcept { return most_in_a_second_; }
    /// The reports of a group that is deleted which the DUT has acknowledged: when it did so last.
    [[nodiscard]] fabric::Time told_of_deletion(const wire::Gid& mgid) const;
    /// When the node with this GID told it last by ARP or Neighbour Discovery that it has the address; the least time:
    /// never.
    [[nodiscard]] fabric::Time told_of(const wire::IpAddress& address, const wire::Gid& gid) const;
    /// The last IPoIB packet that it sent from another LID than its port's.
    struct OddLid {
        fabric::Time at = fabric::Time::min();
        std::uint16_t lid = 0;
    };
    [[nodiscard]] const OddLid& odd_lid() const noexcept { return odd_lid_; }
    /// When it asked to join the broadcast group last.
    [[nodiscard]] fabric::Time began_anew() const noexcept { return began_anew_; }
    /// The traps whose reports it has asked for, as far as it knows that it gets them.
    [[nodiscard]] const std::set<std::uint64_t>& subscribed() const noexcept { return subscribed_; }
    /// What was seen of the DUT's life, each as a number: an exchange under an event.
    [[nodiscard]] const std::set<std::uint64_t>& transitions() const noexcept { return transitions_; }

private:
    struct Open {
        std::uint64_t transaction;
        fabric::Time last;
    };
    [[nodiscard]] bool is_awaited(std::uint64_t transaction) const;
    void asked(const Question& question, std::uint64_t transaction, std::uint8_t join_state);
    void answered(const Question& question, std::uint64_t transaction, std::uint16_t status, std::uint8_t join_state);
    void transition(std::uint64_t what);

    fabric::Loop& loop_;
    Recorder recorder_, judged_;
    std::map<Question, std::vector<Open>> open_;
    std::map<Question, std::vector<fabric::Time>> recent_;
    std::map<Question, unsigned> sent_;
    std::map<wire::Gid, fabric::Time> deletions_;
    void announced(const wire::IpAddress& address, const wire::Gid& gid);
    std::map<wire::IpAddress, std::pair<wire::Gid, fabric::Time>> announced_;
    std::uint16_t lid_ = 0;
    OddLid odd_lid_;
    std::set<std::uint64_t> transitions_;
    Peak most_open_, most_in_a_second_;
    std::map<std::uint64_t, Question> subscriptions_;  ///< by transaction
    std::set<std::uint64_t> subscribed_;
    fabric::Time began_anew_ = fabric::Time::min();
    std::vector<fabric::Time> signals_;
    std::size_t action_ = 0;
    std::uint64_t before_ = 0;
};

}  // namespace ipoib::conformance::explore
