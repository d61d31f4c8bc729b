// SPDX-License-Identifier: GPL-2.0-or-later
// One InfiniBand subnet as the frames of a capture tell of it, in memory that is bounded whatever they hold.
#pragma once

#include "protocol/state/event.hpp"
#include "protocol/state/full_members.hpp"
#include "protocol/state/known.hpp"
#include "protocol/state/recollection.hpp"
#include "protocol/state/span.hpp"
#include "protocol/state/tables.hpp"
#include "protocol/wire/packet.hpp"
#include "protocol/wire/rmpp.hpp"

#include <memory>
#include <optional>
#include <span>

namespace ipoib::state {

/// What could not be used, for the notes of a report.
struct Doubts {
    std::uint64_t unbelieved = 0;     ///< answers of the SA from a LID that was not asked
    std::uint64_t unasked = 0;        ///< answers of the SA without a request in the capture
    std::uint64_t unanswered = 0;     ///< requests that had to make room before an answer came
    std::uint64_t disputes = 0;       ///< links whose broadcast group was told in two ways
    std::uint64_t contradicted = 0;   ///< links of which the user has said something else than the SA
    std::uint64_t broken_tables = 0;  ///< RMPP transactions that did not come whole or were wrong
    std::uint64_t foreign = 0;        ///< packets that look like IPoIB, but that nothing ties to it
    std::uint64_t not_kept = 0;       ///< ports, groups, memberships and the like beyond the limits
    std::uint64_t prefixes = 0;       ///< times that the subnet prefix was told anew
    /// With more than so many the prefix counts as not known.
    static constexpr std::uint64_t most_prefixes = 16;
};

/// Takes the frames of one subnet in the order of the capture. Out of order, duplicated or lost ones only make less
/// known. A packet's own news is known when `take` returns.
class Subnet {
public:
    /// `room` may be shared with other subnets.
    explicit Subnet(std::shared_ptr<Limits> room = std::make_shared<Limits>());

    /// Learns from a packet and tells what is known around it. What a tester sends may be wrong on purpose and teaches
    /// nothing of a group's parameters. `memory` is that of the packet's shape, if it has one: where it still holds,
    /// the same is known as without it, for less. `likeness` is what likeness_of() says of it, if somebody has asked.
    const Known& take(const wire::Packet& packet, const Sight& now, bool is_tester = false,
                      Recollection* memory = nullptr, std::optional<std::uint64_t> likeness = {});
    /// What the last packet has brought about.
    [[nodiscard]] std::span<const Event> events() const noexcept { return events_; }
    /// The port that the last packet has shown to live on its link; or none.
    [[nodiscard]] PortIndex speaker() const noexcept { return speaker_; }

    /// A group's record that the user has given, and which of its parameters (Fact::q_key ...; for the broadcast group
    /// of a link also Fact::broadcast_gid, without which its scope is open). It yields to what the SA says in the
    /// capture.
    void assume(const GroupParameters& parameters, Source source, Facts told);
    void assume_prefix(std::uint64_t prefix);
    /// A member that the user has given.
    void assume_member(const wire::Gid& mgid, const wire::Gid& port_gid, std::uint8_t join_state);

    [[nodiscard]] const Shelf<Port>& ports() const noexcept { return ports_.all(); }
    [[nodiscard]] const Shelf<Group>& groups() const noexcept { return groups_.all(); }
    [[nodiscard]] const Shelf<Member>& members() const noexcept { return members_.all(); }
    [[nodiscard]] const Shelf<Link>& links() const noexcept { return links_; }
    [[nodiscard]] const Shelf<Neighbour>& neighbours() const noexcept { return neighbours_.all(); }
    /// What an IP address was announced with on the links of a partition; null if it was not.
    [[nodiscard]] const Neighbour* neighbour(const wire::Gid& address, std::uint16_t p_key) const {
        return neighbours_.get(neighbours_.find({address, p_key}));
    }
    [[nodiscard]] const Port& port(PortIndex index) const { return *ports_.get(index); }
    [[nodiscard]] PortIndex port_with(const wire::Gid& gid) const { return ports_.find(gid); }
    [[nodiscard]] PortIndex port_with(std::uint16_t lid) const { return ports_.find(lid); }
    [[nodiscard]] const Shelf<QueuePair>& queue_pairs() const noexcept { return queue_pairs_.all(); }
    /// The link that a group of IPoIB, or an interface's queue pair, is on, by index; 0 where there is none. The first
    /// of the partition where none has the group's scope.
    [[nodiscard]] std::uint32_t link_with(const wire::Gid& mgid) const;
    [[nodiscard]] std::uint32_t link_with(const QueuePair& queue_pair) const;
    /// A queue pair by its place; null if it was never seen.
    [[nodiscard]] const QueuePair* queue_pair(QpAddress at) const {
        return queue_pairs_.get(queue_pairs_.find(key(at)));
    }
    /// Who asks the SA from a port's LID; all is 0 for one that has not.
    [[nodiscard]] const Requester& requester(PortIndex port) const;
    /// The subnet prefix, fe80::/64 until the SA or a GRH has told another.
    [[nodiscard]] std::uint64_t prefix() const noexcept { return prefix_; }
    [[nodiscard]] std::uint16_t sa_lid() const noexcept { return sa_lid_; }
    /// How often the SM asked ports to register anew, or another SA took over.
    [[nodiscard]] std::uint64_t sm_restarts() const noexcept { return sm_restarts_; }
    /// The last time that a port was asked to register anew, or another SA answered: what it held may be gone.
    [[nodiscard]] const Sight& sm_restarted() const noexcept { return sm_restarted_; }
    /// The last time that another SA answered than before, which concerns all ports.
    [[nodiscard]] const Sight& sa_changed() const noexcept { return sa_changed_; }
    /// ns that have passed for sure, as Sight::steady has them.
    [[nodiscard]] std::int64_t steady() const noexcept { return steady_; }
    [[nodiscard]] Doubts doubts() const;
    /// As Fact::watched. A port is, from its join of the broadcast group on, as long as every request that the capture
    /// shows has its answer and every answer its request.
    [[nodiscard]] bool is_watched(PortIndex port, const Link& link) const;
    /// Whether nothing that the span means can be missing in the capture up to `at`, the frame in doubt: requests and
    /// answers pair up, and the PSNs of those queue pairs that count them have no gap, up to a packet after `at`.
    [[nodiscard]] Proof proof(const Span& span, const Sight& at, const Trust& trust = {}) const;
    /// What the user vouches for, before the first frame.
    void vouch(const Vouch& one) { vouched_.push_back(one); }
    [[nodiscard]] const std::vector<Vouch>& vouched() const noexcept { return vouched_; }
    /// What the user vouches for of a port, null for one that is not known.
    [[nodiscard]] Trust trust(const Port* port) const;
    /// Whether the assumptions that the reason gives way to are trusted, and the capture does not contradict them
    /// between these two; then the proof rests on them.
    [[nodiscard]] bool lifts(const Trust& trust, const Reason& reason, const Sight& since, const Sight& at,
                             Proof& proof) const;
    /// Where the capture contradicts what the user vouches for, a sentence each.
    [[nodiscard]] std::vector<std::string> contradictions() const;
    /// Anything at all since then that shows packets to be missing in the capture, but for what the capture itself
    /// tells
    /// (`loss_in`). What was asked before the capture began and is answered in it is no such thing.
    [[nodiscard]] bool shows_loss(const Sight& since = {}) const noexcept { return shown_loss_.order > since.order; }
    /// The capture is known to be whole, as the evidence of a run is: no later packet need prove it.
    void set_whole(bool is_whole) noexcept { is_whole_ = is_whole; }
    /// What looks like IPoIB is taken for it, whether something ties it to a link or not.
    void set_all_ipoib(bool is_all) noexcept { is_all_ipoib_ = is_all; }
    /// The capture tells that packets are not in it, maybe long after it has shown frames from after them.
    void tell_loss(Loss loss);
    /// A loss that the capture has told of, which may concern what the span means up to `at`; null if there is none.
    [[nodiscard]] const Loss* loss_in(const Span& span, const Sight& at) const noexcept;
    /// What a port has to do with a group; null if nothing.
    [[nodiscard]] const Member* member(GroupIndex group, PortIndex port) const;

private:
    using Record = wire::View<wire::McMemberRecord>;

    static std::uint64_t member_key(GroupIndex group, PortIndex port) noexcept {
        return std::uint64_t{group} << 32 | port;
    }
    static std::uint64_t key(QpAddress at) noexcept { return std::uint64_t{at.lid} << 24 | at.qpn; }
    static std::uint64_t informed_key(std::uint32_t neighbour, QpAddress interface) noexcept {
        return std::uint64_t{neighbour} << 40 | key(interface);
    }

    // subnet.cpp
    void learn_broadcast(const GroupParameters& parameters, Source source, Facts told);
    void learn_group(GroupIndex group, const GroupParameters& parameters, Source source,
                     Facts told = whole_record | facts(Fact::broadcast_gid));
    /// The number of that record among those told of the link, where there is room; none: it must not be relied on.
    std::uint32_t told_record(Link& link, const GroupParameters& parameters);
    /// The subject has been told a record of a broadcast group in another way than by its join.
    void is_told_beside(wire::View<wire::McMemberRecord> record);
    GroupIndex group_of(const wire::Gid& mgid);
    std::uint32_t member_of(GroupIndex group, PortIndex port);
    void tell(EventKind kind, PortIndex port, GroupIndex group = none);
    void tell(EventKind kind, PortIndex port, GroupIndex group, const Link& link);
    /// A port's part in the broadcast group of a link, or `none`.
    std::uint32_t on_link(PortIndex port, GroupIndex broadcast);
    [[nodiscard]] bool is_watched(const Port& port, const Member* of_broadcast, std::uint32_t own_requests) const;
    void look_at_asker();
    void look_around(const wire::Packet& packet);
    void learn(const wire::Packet& packet, bool is_tester);
    [[nodiscard]] bool recall(const wire::Packet& packet, Recollection& memory);
    void remember(const wire::Packet& packet, Recollection& memory) const;
    const Known& take_anew(const wire::Packet& packet, bool is_tester, Recollection* memory);
    void verify(const wire::Packet& packet, bool is_tester, Recollection& memory);
    /// What was remembered before does not hold any more.
    void change() noexcept;
    /// The same, of what is known of a queue pair; where the packet's own has just been doubted, it counts in the end
    /// whether it is known otherwise than before.
    void change(const QueuePair& of) noexcept {
        if (!doubted_ || &of != source_) change();
    }
    template <class Value>
    void set(Value& place, const Value& value) {
        if (place == value) return;
        place = value;
        change();
    }
    [[nodiscard]] std::uint64_t extent() const noexcept;

    // identity.cpp: who is who
    void pass_time(const Sight& now);
    [[nodiscard]] bool is_local(const wire::Gid& gid) const noexcept;
    [[nodiscard]] wire::Gid local_form(const wire::Gid& gid) const noexcept;
    PortIndex port_of(std::uint16_t lid, const wire::Gid& gid);
    [[nodiscard]] bool is_at(const wire::Gid& gid, std::uint16_t lid) const;
    void learn_prefix(std::uint64_t prefix);
    QueuePair* queue_pair_of(QpAddress at);
    [[nodiscard]] static wire::Gid own_gid(const wire::Packet& packet);
    void belongs_to(QueuePair& queue_pair, PortIndex port);
    void find_sender(const wire::Packet& packet);
    void forget_queue_pairs(PortIndex port, std::uint32_t link);
    void doubt_queue_pairs(PortIndex port);
    [[nodiscard]] bool has_q_key_of_link(const wire::Packet& packet, const QueuePair& queue_pair) const;
    [[nodiscard]] bool is_meant(const wire::Packet& packet, const QueuePair& queue_pair) const;
    void count(QueuePair& queue_pair, const wire::Packet& packet);
    void note_psn(QueuePair& queue_pair, std::uint32_t& of_its);
    [[nodiscard]] static bool is_usual(const QueuePair& queue_pair, const wire::Packet& packet);
    /// Of a queue pair that has sent too little to tell whether it counts its PSNs: it is what others do.
    [[nodiscard]] bool may_count() const noexcept { return counting_ > 0 || repeating_ == 0; }
    Requester& requester_at(std::uint16_t lid);
    std::uint32_t link_of(std::uint16_t p_key);
    std::uint32_t add_link(const Link& link);
    std::uint32_t link_of(std::uint16_t p_key, std::uint8_t scope);
    [[nodiscard]] std::uint32_t link_of_group(const wire::Gid& mgid);
    [[nodiscard]] std::uint32_t only_link(std::uint16_t p_key, const wire::Packet& packet);
    [[nodiscard]] bool is_of_ipoib(const wire::Packet& packet) const;
    [[nodiscard]] Proof proof_of_requests(const Span& span, const Sight& at) const;
    [[nodiscard]] Proof proof_of_senders(const Span& span, const Sight& at) const;
    void is_set_back(const Sight& at);
    [[nodiscard]] Sight seen_up(const Port& port) const;
    [[nodiscard]] std::uint32_t index_of(const Link* link) const noexcept;

    // data.cpp: IPoIB packets
    void note_tester(std::uint16_t lid);
    void take_data(const wire::Packet& packet, bool is_tester);
    void to_group(const wire::Packet& packet, GroupIndex group, bool is_tester);
    void sends(Group& group, Member* member);
    void uses_q_key(const wire::Packet& packet);
    void find_speaker(const wire::Packet& packet);
    std::uint32_t link_of_packet(const wire::Packet& packet, bool is_tester);
    [[nodiscard]] bool has_gone_to(const wire::Gid& mgid) const;
    void bind(QueuePair* queue_pair, std::uint32_t link);
    void announce(const wire::Packet& packet, const wire::Gid& address, const wire::Gid& announced, std::uint32_t qpn,
                  std::uint8_t flags);
    void announcements(const wire::Packet& packet);
    void group_reports(const wire::Packet& packet);
    void router_speaks(const wire::Packet& packet);
    void names_itself(const wire::Packet& packet, const wire::Gid& gid);
    /// When an interface was told a neighbour's latest address; null: it was not.
    [[nodiscard]] const Informed* informed(std::uint32_t neighbour, QpAddress interface) const;
    /// It knows that from now on.
    void is_informed(std::uint32_t neighbour, QpAddress interface);
    void address_test(const wire::Packet& packet);
    void listens(const wire::Gid& mgid, const wire::Gid& ip_group, bool joins);
    void towards(const wire::Packet& packet);
    [[nodiscard]] std::uint32_t neighbour_of_destination(const wire::Packet& packet) const;
    void to_interface(const wire::Packet& packet);
    void redirected(const wire::Packet& packet);
    void solicitations(const wire::Packet& packet);
    void question_is_missing(const wire::Packet& answer);
    void answered(Solicitation& question);

    // sa_exchange.cpp and sa_membership.cpp: subnet administration
    void take_sa(const wire::Packet& packet);
    void take_request(const wire::Packet& packet);
    void take_answer(const wire::Packet& packet);
    Request* request_slot(const wire::Packet& packet, std::uint16_t lid);
    void asked_for_group(const Request& request);
    void answered_join(const wire::Packet& packet, const Request* request);
    bool is_answered_late(const Request& request, Record record);
    /// The SA answered once before, and nobody asked again: who had the first answer heeds no other one.
    void answered_again(const wire::Packet& packet, const Request& request);
    void is_told_otherwise(wire::View<wire::McMemberRecord> record);
    static void is_told(Member& member, const GroupParameters& group);
    void is_told_mlid(std::uint32_t member);
    void is_missing(Group& group);
    void refused_join(const wire::Packet& packet, const Request& request, Member& member);
    void subscribes(const Request& request);
    void take_table(const wire::Packet& packet);
    void take_report(const wire::Packet& packet);
    void take_acknowledgement(const wire::Packet& packet);
    void learn_path(wire::View<wire::PathRecord> record, std::uint16_t from, const Request* request);
    void is_answered_otherwise(Path& path, const PathWay& way, const Request& request);
    void registered_anew(PortIndex port);
    void lapses(PortIndex port);
    void becomes_router(PortIndex port);
    [[nodiscard]] PortIndex port_at(std::uint16_t lid) const;
    static Member::Asked* asked_by(Member& member, wire::Method method);
    [[nodiscard]] std::uint32_t closed_by(const Request& request);
    void ceases_to_route(PortIndex port);
    [[nodiscard]] bool follows_groups(const Port& port) const;

    // fabric_management.cpp: subnet management and connections
    void take_smp(const wire::Packet& packet);
    void take_p_keys(const wire::Packet& packet, wire::Octets smp);
    [[nodiscard]] PortIndex port_of_smp(const wire::Packet& packet, wire::Octets smp) const;
    void has_prefix(Port& port, std::uint64_t prefix);
    void take_cm(const wire::Packet& packet);
    void requested(const wire::Packet& packet);
    void connects(QpAddress end, const wire::Gid& gid, std::uint32_t connection);
    [[nodiscard]] Connection* connection_of(std::uint16_t requester, std::uint32_t id, std::uint16_t responder);
    [[nodiscard]] const Connection* connection_to(QpAddress end) const;
    [[nodiscard]] const Connection* crossing(const Connection& answered) const;
    [[nodiscard]] const QueuePair* owner_of(const Connection& connection) const;
    void rejected(const Connection& connection, std::uint16_t reason);
    void end(Connection& connection);

    std::shared_ptr<Limits> room_;
    Ports ports_;
    Table<wire::Gid, Group> groups_;
    Table<std::uint64_t, Member, FullMembers::cost> members_;  ///< by group and port
    FullMembers full_members_;
    /// By IP address and link: an address may be used on several, as that of IPv6 made of a GUID is.
    Table<std::pair<wire::Gid, std::uint16_t>, Neighbour> neighbours_;
    Table<std::uint64_t, Informed> informed_;  ///< by neighbour and interface
    [[nodiscard]] std::pair<wire::Gid, std::uint16_t> on_link(const wire::Gid& address) const noexcept {
        return {address, known_.link ? known_.link->p_key : std::uint16_t{0}};
    }
    Table<std::pair<wire::Gid, std::uint16_t>, Path> paths_;  ///< by destination and the LID that asked
    Table<std::uint64_t, Connection> connections_;
    Table<std::uint64_t, ConnectionEnd> connected_;  ///< queue pairs of IPoIB's connections
    Table<std::uint64_t, QueuePair> queue_pairs_;
    Table<std::uint64_t, Requester> requesters_;  ///< by LID
    Requester too_many_;                          ///< stands for those that have no room there
    Shelf<Link> links_;
    Shelf<ToldRecord> told_records_;
    Pages<std::uint32_t> link_by_p_key_;     ///< the first of each partition
    std::vector<GroupIndex> group_by_mlid_;  ///< used last with it, as far as MLIDs have been seen
    Pages<std::uint32_t> path_by_dlid_;      ///< the latest that was told with it, by index from 1

    std::vector<Request> requests_;  ///< a ring, once it is full
    std::size_t most_requests_;
    std::size_t next_request_ = 0;
    Index<std::pair<std::uint64_t, std::uint64_t>> request_index_;
    wire::RmppReassembly tables_;

    std::array<Solicitation, 512> solicitations_{};  ///< by key; the latest of those that share a place
    Index<std::uint64_t> port_by_route_;             ///< by directed route
    Index<std::uint64_t> capacity_by_route_;         ///< NodeInfo's PartitionCap, by directed route
    std::uint16_t first_answered_ = 0;               ///< LID

    std::uint64_t prefix_ = std::uint64_t{0xfe80} << 48;
    bool prefix_is_known_ = false, prefix_is_told_ = false;
    std::uint16_t sa_lid_ = 0;
    bool is_at_sa_ = false;
    Sight sm_restarted_, sa_changed_;
    std::uint64_t sm_restarts_ = 0;
    Doubts doubts_;

    Known known_;
    PortIndex sender_ = none, subject_ = none, speaker_ = none;  ///< of the packet at hand
    bool is_sender_certain_ = false;
    bool is_link_certain_ = false;           ///< the packet's link is not just the one that is known of its partition
    QueuePair* source_ = nullptr;            ///< the packet's own queue pair
    bool is_doubled_ = false;                ///< the packet is the last one of that queue pair once more
    std::optional<std::uint64_t> likeness_;  ///< of the packet, where somebody has found it out
    std::uint32_t counting_ = 0;             ///< queue pairs whose PSNs are seen to count
    std::uint32_t repeating_ = 0;            ///< those whose PSN has come again, and never another
    Sight shown_loss_;                       ///< the last sign that packets are missing, whosever they are
    bool is_whole_ = false, is_all_ipoib_ = false;
    std::vector<std::uint16_t> tester_lids_;  ///< the first few, in order
    static constexpr std::size_t most_losses = 1024;
    std::vector<Loss> losses_;  ///< that the capture tells of; what is one too many widens the last
    std::vector<Vouch> vouched_;
    static constexpr std::size_t most_used_before = 1024;
    /// Ports that used their link before their first join of it, and the packet; only where somebody vouches.
    std::vector<std::pair<PortIndex, Sight>> used_before_;
    static constexpr std::size_t most_set_back = 64;
    std::vector<Sight> set_back_;  ///< frames before which the clock went back; of many the last stands for the rest
    std::int64_t last_time_ = 0, steady_ = 0;
    std::uint64_t order_ = 0;
    bool has_time_ = false;
    GroupIndex group_ = none;
    std::uint32_t member_ = none;  ///< the sender's part in that group
    bool opens_request_ = false;   ///< the packet is a request of the subject, which says nothing against it
    struct Identity {
        PortIndex port = none;
        std::uint32_t link = 0;
        std::uint16_t p_key = 0;
        bool is_doubtful = false;
        friend bool operator==(const Identity&, const Identity&) = default;
    };
    static Identity identity(const QueuePair& one) noexcept { return {one.port, one.link, one.p_key, one.is_doubtful}; }
    std::optional<Identity> doubted_;  ///< what was known of the packet's queue pair, where its PSN makes that doubtful
    bool renews_q_key_ = false;        ///< the packet is of one of those that show its link's Q_Key, with that
    std::uint64_t version_ = 0;        ///< see Recollection
    std::uint64_t extent_ = 0;         ///< of the tables, when that was given
    std::vector<Event> events_;
};

}  // namespace ipoib::state
