// SPDX-License-Identifier: GPL-2.0-or-later
// The multicast groups that an interface holds at the SA. RFC 4391, 10; RFC 4392, 1.3.
#pragma once

#include "fabric/node/sa_client.hpp"
#include "stack/family.hpp"
#include "stack/lifetime.hpp"
#include "stack/link.hpp"

#include <map>

namespace ipoib::stack {

class Interface;

/// Queries, joins and leaves, with the queue pair's attachments. IP's own idea of groups is in Membership and Egress.
class Groups {
public:
    static constexpr std::size_t most_groups = 512;
    explicit Groups(Interface& interface) : interface_(interface) {}

    enum class Outcome : std::uint8_t { ok, missing, refused, silent };
    struct Answer {
        Outcome outcome{};
        const Group* group = nullptr;  ///< of `ok`; valid during the call
        std::string reason{};          ///< of all others
    };
    using Answered = std::function<void(const Answer&)>;

    /// Asks for a group's record.
    void find(const wire::Gid& mgid, Answered answered);
    /// Joins with these states beside those held; `may_create`: a missing group is created like the broadcast group.
    void join(const wire::Gid& mgid, std::uint8_t states, bool may_create, Answered answered);
    /// Gives these states up, at the SA but for those in which another interface of the port holds the group.
    void leave(const wire::Gid& mgid, std::uint8_t states);
    void leave_all();
    /// Who asked for a record wants it no more.
    void end_searches();

    /// The group, if packets may be sent to it; notes that it is used.
    [[nodiscard]] const Group* use(const wire::Gid& mgid);
    [[nodiscard]] bool holds(const wire::Gid& mgid, std::uint8_t states) const;
    /// In which it is held.
    [[nodiscard]] std::uint8_t states(const wire::Gid& mgid) const;
    /// Takes a group for one that packets may be sent to, without a join.
    void note(const Group& group);
    /// The SA is said to know nothing of it any more.
    void forget(const wire::Gid& mgid);
    void forget_all();
    /// But those that are held for sending only, in the families that decide so.
    void forget_all_but_sent_to();
    /// Leaves what is held for sending only and was not used for `idle`, and what the SA may hold though nobody here
    /// does.
    void leave_idle(fabric::Duration idle);
    [[nodiscard]] bool holds_for_sending_only() const;
    [[nodiscard]] bool is_in_doubt() const noexcept { return !doubts_.empty(); }

private:
    struct Held {
        Group group;
        std::uint8_t states = 0;
        bool is_attached = false;
        fabric::Time used{};
    };
    /// A request to leave that is not answered yet.
    struct Leaving {
        std::uint32_t transaction = 0;
        wire::Gid mgid;
        std::uint8_t states = 0;
    };
    [[nodiscard]] bool hold(const Group& group, std::uint8_t states);
    /// The SA may hold these states, or not: an answer did not come, or it was asked to forget and may not have.
    void doubt(const wire::Gid& mgid, std::uint8_t states);
    void is_certain(const wire::Gid& mgid, std::uint8_t states);
    /// A leave that is repeated, or overtaken, would undo a join that comes behind it: whether one is open.
    [[nodiscard]] bool is_leaving(const wire::Gid& mgid, std::uint8_t states) const;
    void left(const wire::Gid& mgid, std::uint8_t states, const fabric::SaAnswer& answer);
    void detach(Held& held);
    void leave_doubtful();
    void drop_requests();
    void give_up(const wire::Gid& mgid, std::uint8_t states);
    [[nodiscard]] fabric::SaRequest request(wire::Method method, const wire::Gid& mgid, std::uint8_t states) const;
    void add_creation(fabric::SaRequest& request, const wire::Gid& mgid) const;
    /// `is_silence`: the SA gave no answer.
    void failed(std::string_view what, const wire::Gid& mgid, const std::string& reason, bool is_silence = false);
    void joined(const wire::Gid& mgid, std::uint8_t states, const fabric::SaAnswer& answer, const Answered& answered);

    Interface& interface_;
    std::map<wire::Gid, Held> held_;
    std::map<wire::Gid, std::uint8_t> doubts_;
    std::vector<Leaving> leaving_;
    struct Joining {
        std::uint32_t transaction = 0;
        wire::Gid mgid;
        std::uint8_t states = 0;
        Answered answered;
    };
    /// Takes out the join that the answer to this one is taken for, of a group of this family.
    [[nodiscard]] std::optional<Joining> take_joining(std::uint32_t transaction, Family family);
    std::vector<Joining> joining_;
    /// Joins that wait until a leave of the same group is answered.
    struct HeldBack {
        wire::Gid mgid;
        std::function<void()> join;
    };
    std::vector<HeldBack> held_back_;
    std::vector<std::uint32_t> finding_;  ///< transactions
    bool has_logged_ = false;             ///< a failure
    Lifetime lifetime_;
};

/// Why the SA did not do what it was asked, in its own terms.
[[nodiscard]] std::string reason_of(const fabric::SaAnswer& answer);

}  // namespace ipoib::stack
