// SPDX-License-Identifier: GPL-2.0-or-later
// What a subnet administrator must hold after what it was asked, and what it may answer: groups, members,
// subscriptions, reports that are due, MLIDs in use. Where IBA leaves a choice the model takes any, and goes on as the
// SA has chosen.
//
// It rests on IBTA Vol 1: 15.2.5.17 (MCMemberRecord, JoinState, ProxyJoin), 15.2.5.17.2 (joining, creating, leaving),
// 15.2.3 (status), 13.4.8.3 and 13.4.9 (subscriptions), 14.2.5.1 (traps 66 and 67), 10.9 (partitions), 4.1.1 and 4.1.3
// (MGIDs and MLIDs); on RFC 4391, 5 and 10; and on RFC 4392, 1.3.
#pragma once

#include "protocol/requirements/requirement.hpp"
#include "protocol/wire/mc_member_record.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/notice.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace ipoib::conformance::sa_model {

using Record = wire::Bytes<wire::McMemberRecord>;

/// A port of the subnet as its manager knows it.
struct Port {
    wire::Gid gid;
    std::vector<std::uint16_t> p_keys;
    std::uint8_t mtu = 4, rate = 3;  ///< codes
    bool is_there = true;
};

/// What is given before anything is asked.
struct Facts {
    std::vector<Port> ports;
    std::vector<Record> administrative;  ///< groups of the SA's configuration, with their parameters
    /// Whether SendOnlyFullMember is a join state: it came with release 1.3. Where it is none, an SA may refuse the bit
    /// or not see it.
    bool offers_send_only_full_member = true;
    std::optional<std::size_t> room{};           ///< for groups, all together; nothing: not known
    std::optional<std::size_t> subscriptions{};  ///< room for these
    /// In real time: a report that need not come may come when others are waited for already.
    bool reports_come_late = false;
};

/// A join (Set) or a leave (Delete).
struct Request {
    bool is_leave = false;
    unsigned asker = 0;  ///< the port that sends it; PortGID says whom it is about
    Record record;
    std::uint64_t mask = 0;

    [[nodiscard]] bool gives(std::uint64_t components) const noexcept { return (mask & components) == components; }
};

struct Answer {
    bool is_answered = false;
    std::uint16_t status = 0;
    Record record;
    /// It came only when the request had been sent again: the SA may have carried out that before.
    bool is_to_repeated = false;
    [[nodiscard]] bool is_ok() const noexcept { return is_answered && status == 0; }
};

enum class Verdict : std::uint8_t { grant, refuse, either };

struct Expected {
    Verdict verdict = Verdict::either;
    std::string_view why{};  ///< the fact in words; always the same for the same fact
    const requirements::Requirement* requirement = nullptr;
};

/// Something that the SA says or does and may not.
struct Deviation {
    std::string_view kind;  ///< "answer", "states", "parameters", "mlid", "report", "group", "room", "silence"
    std::string_view rule;  ///< in words, always the same for the same fact
    std::string what;       ///< this time
    const requirements::Requirement* requirement = nullptr;
    [[nodiscard]] std::string key() const { return std::string(kind) + ": " + std::string(rule); }
};

/// Whether a member was joined by another port. Not said by IBA of one that both have asked for.
enum class Proxy : std::uint8_t { no, yes, open };

struct Member {
    std::uint8_t states = 0;
    Proxy proxy = Proxy::no;
};

struct Group {
    Record record;  ///< its parameters and MLID; that of a group of the configuration is 0 until it was told
    bool is_administrative = false;
    bool is_open = false;  ///< its last FullMember has left and it stays: what of its other members is not said
    std::map<unsigned, Member> members{};  ///< by port
    /// Whether a member keeps it alive. RFC 4391, 10; IBTA Vol 1, 15.2.5.17 for SendOnlyFullMember.
    [[nodiscard]] bool is_held() const noexcept;
};

/// A report that must come, or that may.
struct Due {
    unsigned port = 0;
    std::uint16_t trap = 0;
    wire::Gid mgid;
    unsigned least = 0, most = 0;
    const requirements::Requirement* requirement = nullptr;  ///< that fewer violate
};

/// A report that came to a port.
struct Heard {
    unsigned port = 0;
    std::uint16_t trap = 0;
    wire::Gid mgid;
};

/// Who has subscribed, for certain and at most: so many reports come of one event.
struct Subscription {
    unsigned least = 1, most = 1;
};

/// What the SA tells of a group, for a port.
struct Seen {
    bool exists = false;  ///< the group
    std::uint8_t states = 0;
    bool is_proxy = false;
    Record record;  ///< the group's parameters
};

class Model {
public:
    explicit Model(Facts facts);

    [[nodiscard]] const Facts& facts() const noexcept { return facts_; }
    [[nodiscard]] const std::map<wire::Gid, Group>& groups() const noexcept { return groups_; }
    [[nodiscard]] const Group* find(const wire::Gid& mgid) const;
    [[nodiscard]] std::uint8_t states(const wire::Gid& mgid, unsigned port) const;
    /// The port with this GID that is there.
    [[nodiscard]] std::optional<unsigned> port_of(const wire::Gid& gid) const;

    [[nodiscard]] Expected expected(const Request& request) const;
    /// The answer has come, and the model goes on with it.
    [[nodiscard]] std::vector<Deviation> take(const Request& request, const Answer& answer);
    /// The same request has come twice, as one does whose answer was lost, and this is the second answer: the first
    /// once more, or that to a new request.
    [[nodiscard]] std::vector<Deviation> take_again(const Request& request, const Answer& first, const Answer& again);
    /// InformInfo for trap 66, 67 or all.
    [[nodiscard]] std::vector<Deviation> take_subscription(unsigned port, std::uint16_t trap, bool begins,
                                                           const Answer& answer);

    /// The manager has noticed that a port is gone: its memberships and subscriptions are, too.
    void vanish(unsigned port);
    void come_back(unsigned port);
    /// The port has another LID. Memberships are its GID's; whether its subscriptions go with it IBA does not say.
    void move(unsigned port);
    /// The SA has lost what it was asked for, and has its configuration.
    void restart();

    /// What the SA tells of a group and a port is held against the model.
    [[nodiscard]] std::vector<Deviation> compare(const wire::Gid& mgid, unsigned port, const Seen& seen) const;
    /// From now on it is as the SA tells; what was due of the group is so still, unless that contradicts the model.
    void adopt(const wire::Gid& mgid, const std::map<unsigned, Seen>& seen, bool contradicts);

    /// Reports that have become due since take_reports().
    [[nodiscard]] const std::vector<Due>& due() const noexcept { return due_; }
    /// The reports that have come meanwhile.
    [[nodiscard]] std::vector<Deviation> take_reports(std::vector<Heard> heard);
    /// Whether the port is in the partition, as full or as limited member.
    [[nodiscard]] bool is_in(unsigned port, std::uint16_t p_key) const;
    /// The most groups that had to be held at one time.
    [[nodiscard]] std::size_t peak() const noexcept { return peak_; }
    /// MLIDs that were given to new groups.
    [[nodiscard]] const std::set<std::uint16_t>& mlids() const noexcept { return mlids_; }

private:
    [[nodiscard]] std::uint8_t asked_states(const Request& request) const noexcept;
    [[nodiscard]] bool is_full_member(unsigned port, std::uint16_t p_key) const;
    [[nodiscard]] bool can_communicate(unsigned one, unsigned other) const;
    [[nodiscard]] Expected expected_leave(const Request& request, unsigned port) const;
    [[nodiscard]] Expected expected_join(const Request& request, unsigned port) const;
    [[nodiscard]] Expected expected_creation(const Request& request, unsigned port) const;
    [[nodiscard]] std::optional<Expected> mismatch(const Request& request, const Group& group) const;
    [[nodiscard]] std::optional<Expected> foreign(const Request& request, unsigned port, const Group& group) const;

    void join(const Request& request, unsigned port, const Answer& answer, std::vector<Deviation>& all);
    void leave(const Request& request, unsigned port, const Answer& answer, std::vector<Deviation>& all);
    void check_new(const Request& request, const Record& told, std::vector<Deviation>& all) const;
    /// A member may have gone: ends the group if nobody holds it any more.
    void settle(const wire::Gid& mgid, bool was_held);
    void report(std::uint16_t trap, const Group& group);
    /// How many subscriptions there are, for certain and at most.
    [[nodiscard]] Subscription subscription_count() const noexcept;

    Facts facts_;
    std::map<wire::Gid, Group> groups_;
    std::map<std::pair<unsigned, std::uint16_t>, Subscription> subscriptions_;  ///< by port and trap
    std::vector<Due> due_;
    std::map<std::tuple<unsigned, std::uint16_t, wire::Gid>, unsigned> late_;  ///< reports that may still come
    std::set<std::uint16_t> mlids_;
    std::size_t peak_ = 0;
    std::size_t room_seen_ = 0;  ///< so many groups there were at one time
};

/// "joins", "leaves" ...: a request in words.
[[nodiscard]] std::string words(const Request& request);

}  // namespace ipoib::conformance::sa_model
