// SPDX-License-Identifier: GPL-2.0-or-later
// The things that a capture tells of: ports, links, groups, memberships, and what was said between ports.
#pragma once

#include "protocol/state/parameters.hpp"
#include "protocol/wire/link_address.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/path_record.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

namespace ipoib::state {

/// One frame of one capture; frame 0 means never.
struct Sight {
    std::uint64_t frame = 0;  ///< from 1
    std::int64_t time = 0;    ///< ns since 1970; 0 where the capture has no times
    std::uint32_t capture = 0;
    /// ns that have passed for sure since the first frame of the subnet: a silence of the capture may be a step of its
    /// clock, so it counts for no more than `longest_silence`.
    std::int64_t steady = 0;
    /// Counts all frames that the subnet has taken, of whatever capture: which of two sights is the later one.
    std::uint64_t order = 0;
    explicit operator bool() const noexcept { return frame != 0; }
    friend bool operator==(const Sight&, const Sight&) = default;
};

/// From one time to another, in ns; as much as fits where a capture's times are absurd.
constexpr std::int64_t elapsed(std::int64_t from, std::int64_t to) noexcept {
    std::int64_t ns = 0;
    if (!__builtin_sub_overflow(to, from, &ns)) return ns;
    return to > from ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

/// Where knowledge comes from. What comes later in this list gives way to what comes before.
enum class Source : std::uint8_t {
    sa,       ///< an answer of the subnet administrator in the capture
    assumed,  ///< said by the user
    file,     ///< a list of the SA's records that the user gave
    packets,  ///< packets sent to the group
    nothing,
};

/// A port has it beside any other one. IBTA Vol 1, 4.1.1.
inline constexpr std::uint64_t default_prefix = std::uint64_t{0xfe80} << 48;

/// Indices into the tables of a Subnet; `none` for what is not there.
using PortIndex = std::uint32_t;
using GroupIndex = std::uint32_t;
inline constexpr std::uint32_t none = ~std::uint32_t{0};

/// What of a silence between two frames counts as time, in ns.
inline constexpr std::int64_t longest_silence = 4'000'000'000;

/// A P_Key of a port's table, without membership bit.
struct TableKey {
    std::uint16_t p_key = 0;
    std::uint8_t block = 0;  ///< in which it stood last
    bool is_in = true;       ///< and stands still
    friend auto operator<=>(const TableKey& one, const TableKey& other) noexcept { return one.p_key <=> other.p_key; }
    friend bool operator==(const TableKey& one, const TableKey& other) noexcept { return one.p_key == other.p_key; }
};

/// A GID of a port, physical or of a virtual function, with what the SA knows of it: several may be at one LID, and a
/// LID is only where it is now. A port that has not shown a GID yet is told apart by its LID.
struct Port {
    wire::Gid gid{};        ///< subnet prefix and port GUID; zero while not known
    std::uint16_t lid = 0;  ///< the base LID, or the one seen; 0 while not known
    std::uint8_t lmc = 0;
    std::uint8_t mtu = 0;              ///< PortInfo.NeighborMTU; 0 while not known
    std::uint8_t rate = 0;             ///< code of width times speed; 0 while not known
    bool has_unknown_rate = false;     ///< its link is up, with a width or speed by a code that is not known here
    bool lists_and_joins = false;      ///< has asked for a table of groups and joined one as NonMember: so do monitors
    bool speaks_as_router = false;     ///< has sent what only routers send
    bool knows_p_keys = false;         ///< its whole P_Key table has been shown
    bool lacks_p_keys = false;         ///< there was no room for all that were shown
    GroupIndex link_group = none;      ///< the broadcast group that it was last seen on
    std::uint32_t link_member = none;  ///< and its part in that
    Sight last;                        ///< frame it sent
    // What comes from here on is seldom looked at: what a packet needs lies together.
    Sight told_mtu;                       ///< the PortInfo that told mtu and rate
    Sight told_lmc;                       ///< the first PortInfo, which tells its LMC
    Sight lmc_changed;                    ///< the last one that told another LMC than before
    Sight told_p_keys;                    ///< the latest block of its P_Key table
    Sight moved;                          ///< the last time that it was seen at another LID
    Sight first;                          ///< frame it sent
    Sight first_ipoib;                    ///< the first IPoIB packet it sent
    Sight renewal;                        ///< the last time the SM asked it to register anew (ClientReregister)
    Sight lapsed;                         ///< the last such time that it has answered: what it held before is over
    std::uint32_t first_member = none;    ///< its part in a group, and from there to the others; by index
    std::uint64_t told_prefix = 0;        ///< PortInfo.GidPrefix, as it answered last; 0 while not known
    std::uint64_t former_prefix = 0;      ///< and another one before; 0: none
    Sight prefix_changed;                 ///< from that to the present one
    std::array<std::uint32_t, 4> qpns{};  ///< announced in link-layer addresses with its GID, the latest last
    std::uint8_t qpn_count = 0;
    std::uint16_t partition_cap = 0;  ///< NodeInfo.PartitionCap; 0 while not known
    std::uint32_t p_key_blocks = 0;   ///< a bit for each block of its P_Key table that was shown
    std::vector<TableKey> p_keys{};   ///< all that were ever in it, sorted

    /// Follows the table of groups, as RFC 4391, 11 has it.
    [[nodiscard]] bool is_router() const noexcept { return lists_and_joins && speaks_as_router; }
    [[nodiscard]] bool announces(std::uint32_t qpn) const noexcept {
        for (std::uint8_t i = 0; i < qpn_count; ++i)
            if (qpns[i] == qpn) return true;
        return false;
    }
};

/// Who asks the SA from a LID, whatever GIDs are there. Gaps tell that its traffic with the SA is not all captured.
struct Requester {
    Sight gap;                        ///< the last sign that a request or an answer is not in the capture
    std::uint32_t open_requests = 0;  ///< without an answer yet, since the latest join of a broadcast group
    std::uint32_t epoch = 0;          ///< counts those joins
    PortIndex epoch_of = none;        ///< the port that has joined
    std::uint64_t prefix = 0;         ///< of the PortGID that it named last; 0: none
    Sight down;                       ///< the last time that its port said that its link was not active
    bool asked_for_groups = false;    ///< has asked the SA for a table of groups
    Sight listed;                     ///< the last such table that it was told
    bool asked_for_paths = false;     ///< has asked the SA for a path, by any method
    bool asked_for_many = false;      ///< by one that is answered with several
    bool asks_of_creation = false;    ///< has asked for a subscription to trap 66 for all groups
    bool asks_of_deletion = false;    ///< and to trap 67
    Sight subscribes;                 ///< the last time that it asked for any
    Sight joins;                      ///< the last time that it asked for a group that it had never asked for
    Sight unsubscribed;               ///< the last time that it gave up such a subscription
};

/// A queue pair for datagrams at a LID: one that sends, or that was announced in a link-layer address.
struct QueuePair {
    std::uint16_t lid = 0;
    std::uint32_t qpn = 0;
    PortIndex port = none;                      ///< whose it is, by the SGID of its packets or by what it announces
    std::uint32_t link = 0;                     ///< of its interface, by index; 0 while not known
    std::uint16_t p_key = 0;                    ///< that its packets of IPoIB carry; 0 while not known
    std::array<std::uint16_t, 4> partitions{};  ///< without membership bit, in which it was announced, or uses groups
    bool is_announced = false;                  ///< in a link-layer address
    bool sends_ipoib = false;                   ///< has sent what is IPoIB beyond doubt
    bool sends_others = false;                  ///< has sent to groups of IPoIB what holds no datagram
    /// Another program may have its number now: what has not the link's Q_Key is that program's.
    bool is_doubtful = false;
    std::uint32_t given_back_by = none;  ///< the neighbour that has announced another one instead, by index
    bool flags_since = false;            ///< has announced connected mode, since it last rejected a REQ
    bool denies_flags = false;           ///< and rejected one at the Service-ID that it owns: "invalid service ID"
    std::uint32_t open_resolutions = 0;  ///< ARP requests and Neighbour Solicitations without an answer
    std::uint32_t psn = 0;               ///< of its last packet
    std::uint32_t steps = 0;             ///< packets whose PSN was one more than the one before
    std::uint32_t repeats = 0;           ///< packets with the PSN of the one before
    std::uint32_t jumps = 0;             ///< packets with any other
    std::uint64_t likeness = 0;          ///< of its last packet, to tell a doubled frame from a PSN that stays
    Sight first, last;                   ///< packets that it sent

    /// Whether its PSNs count. One that was seen twice may be a damaged copy of one packet, or one sent at will; where
    /// they do not count, hardly any differs from the one before.
    [[nodiscard]] static constexpr bool counts(std::uint64_t moves, std::uint32_t repeats) noexcept {
        constexpr std::uint64_t hardly = 8;
        return repeats < 2 || hardly * moves >= repeats;
    }
    [[nodiscard]] bool counts() const noexcept { return counts(moves(), repeats); }
    [[nodiscard]] std::uint64_t moves() const noexcept { return std::uint64_t{steps} + jumps; }

    /// Interfaces of several partitions may have the same number.
    [[nodiscard]] bool is_in(std::uint16_t partition) const noexcept {
        return wire::is_same_partition(p_key, partition) ||
               std::ranges::find(partitions, partition & 0x7fff) != partitions.end();
    }
    /// False where it is in it already, or there is no room.
    bool add(std::uint16_t partition) noexcept {
        if (is_in(partition)) return false;
        const auto place = std::ranges::find(partitions, 0);
        if (place == partitions.end()) return false;
        *place = partition & 0x7fff;
        return true;
    }
    Sight link_since;                  ///< the first packet that showed its link
    std::uint16_t service_levels = 0;  ///< a bit for each SL that its packets have had
    std::uint32_t steps_before = 0;    ///< those of another queue pair with the number, before the port was down
    Sight run;                         ///< since then each PSN was one more than the one before
    Sight announced;                   ///< the latest announcement
};

/// An IPoIB link: all ports of one partition that joined the broadcast group of one scope. RFC 4391, 4.1 and 5.
struct Link {
    std::uint16_t p_key = 0;  ///< with the full-membership bit
    std::uint8_t scope = 0;   ///< of its broadcast-GID, where has_scope: a partition may hold several links
    bool has_scope = false;
    std::uint32_t q_key_in_use = 0;                    ///< that packets to its broadcast-GID have
    std::array<PortIndex, 2> q_key_users{none, none};  ///< two ports that use it
    Sight q_key_used;                                  ///< by one of them, the last time
    std::uint32_t next = 0;                            ///< the next link of the same P_Key, by index; 0: none
    std::optional<GroupParameters> broadcast;          ///< the broadcast group's record
    Source source = Source::nothing;                   ///< of that record
    std::uint32_t told = 0;                            ///< what of it is known: Facts, see known.hpp
    Sight learned;                                     ///< the frame that taught it
    std::optional<wire::Gid> broadcast_gid;            ///< of the record, else of the first packet sent to it
    GroupIndex group = none;                           ///< the broadcast group
    /// Two answers, or packets to two broadcast-GIDs, contradict each other: nothing is known of it any more but what
    /// the SA has told each port.
    bool is_disputed = false;
    std::uint32_t latest_told = none;  ///< the latest of the records that joins of the broadcast group were told
};

/// A record of a broadcast group that the SA has told to who joined it.
struct ToldRecord {
    GroupParameters parameters;
    std::uint32_t before = none;  ///< another one of the same link, by index
};

/// What the SA last said of a group's existence.
enum class Existence : std::uint8_t { unknown, exists, missing };

/// A multicast group.
struct Group {
    wire::Gid mgid{};
    Source source = Source::nothing;
    Existence existence = Existence::unknown;
    bool mlid_has_changed = false;  ///< or another parameter that a group keeps: it was made anew
    std::uint64_t packets = 0;
    Sight last, first;                      ///< packets sent to it
    std::optional<GroupParameters> record;  ///< as the SA gave it
    Sight learned;                          ///< the frame that taught the record
    Sight told;                             ///< the last table that names it
    Sight created, deleted;                 ///< traps 66 and 67 told of it, or a join made it
    Sight reported;                         ///< trap 66 told of it
    Sight missed;                           ///< the SA said last that it does not exist
    GroupParameters used;  ///< what packets to it carried: MLID, Q_Key, SL, TClass, FlowLabel, HopLimit
};

/// What packets to a group have in their headers beside MLID and Q_Key.
struct GroupValues {
    std::uint32_t flow_label = 0;
    std::uint8_t sl = 0, traffic_class = 0, hop_limit = 0;
    friend bool operator==(const GroupValues&, const GroupValues&) = default;
};

/// What a port has to do with a group.
struct Member {
    GroupIndex group = none;
    PortIndex port = none;
    std::uint32_t next_of_port = none;
    std::uint8_t joined = 0;       ///< JoinState bits that hold now
    std::uint8_t ever_joined = 0;  ///< bits that ever held
    std::uint8_t granted = 0;      ///< all bits that the SA's last answer to a join told of
    std::uint8_t asked = 0;        ///< bits that it asked for
    /// Requests for it that have no answer, and the latest one.
    struct Asked {
        std::uint32_t epoch = 0;  ///< of the port
        std::uint16_t open = 0;
        std::uint8_t state = 0;         ///< JoinState
        bool has_other_states = false;  ///< an open one was for another JoinState
        std::uint64_t latest = 0;       ///< its order
    };
    std::array<Asked, 3> asked_by{};  ///< Get, Set and Delete
    bool was_asked_for = false;       ///< it has asked the SA about this group, by any request
    bool was_looked_up = false;       ///< by Get or GetTable
    bool asks_for_missing = false;  ///< its last join was of a group that does not exist, and that it had not looked up
    bool made_unasked = false;      ///< that join succeeded
    bool listens = false;           ///< IGMP or MLD of one of its interfaces told so
    bool has_more_listeners = false;  ///< than there is room for: it cannot be told any more that none is left
    std::uint8_t listener_count = 0;
    std::array<std::uint32_t, 4> listeners{};  ///< those interfaces' queue pairs, each with an IP group, as hashes
    std::uint16_t refusal = 0;                 ///< status of the last refused join; 0 when none, or one succeeded since
    std::uint16_t mlid = 0;                    ///< that the SA answered this port
    std::uint16_t former_mlid = 0;             ///< and the other one before; 0: none
    std::uint32_t told_record = none;          ///< of a broadcast group: the record that it was told, by index
    std::uint8_t asks_of = 0;                  ///< asked to subscribe for this group alone: 1 to trap 66, 2 to trap 67
    std::uint8_t lone_requests = 0;            ///< requests in a row with just one packet between them
    std::uint32_t sent_since_request = 0;
    std::uint64_t sent = 0;  ///< packets
    Sight watched_since;     ///< of a broadcast group: the join that began the port's life on the link in this capture
    /// When the port's link was last seen not to be active, before that join. Frame 0: never, so that the port may have
    /// been there long, and the join be a repeated one, or another program's.
    Sight down;
    Sight asked_to_leave;      ///< its last Delete
    Sight spoke;               ///< of a broadcast group: the port's last packet on its link
    Sight settled;             ///< of its joins and leaves that were answered, the one that was asked for last
    std::uint32_t grants = 0;  ///< joins that the SA has let it have
    Sight odd_q_key;           ///< of a broadcast group: since then its packets have another Q_Key than others use
    Sight joined_at, last_sent, left_at, refused_at, first_sent, first_unjoined;
    Sight missed;         ///< its last join was of a group of which the SA had said here that it is missing
    Sight first_refused;  ///< of the refusals since it was a member last
    Sight subscribed,
        unsubscribed;        ///< the last time that it asked for the subscription for this group, and gave it up
    Sight told_of_deletion;  ///< it acknowledged the report that the group is deleted, and has not asked since
    Sight told_of_creation;  ///< it acknowledged the report that the group is created
    Sight lone_since;        ///< the first of the lone requests
    Sight asked_last;        ///< its latest request of any kind
    std::optional<GroupValues> told, told_before;  ///< by the SA's answers to its joins: the last one, and the other
                                                   ///< one before
    std::uint32_t sent_by = 0;                     ///< the queue pair of its last packet
    std::uint64_t sent_unjoined = 0;               ///< of these packets, while the SA had not let it join
    std::uint64_t refusals = 0;
    std::uint64_t at_fault = 0;  ///< the component (of McMemberRecord::component) that the refusal is about; 0: unclear
};

/// A request to the SA that waits for its answer, or has it.
struct Request {
    std::uint16_t lid = 0;  ///< who asks
    std::uint64_t transaction = 0, components = 0;
    wire::Method method{};
    std::uint16_t attribute = 0;
    PortIndex port = none;
    std::uint32_t epoch = 0;                            ///< of the port
    std::uint32_t psn = 0;                              ///< of the request
    std::uint16_t sa = 0;                               ///< LID that was asked
    Sight asked, answered;                              ///< an answer may be captured before its request
    Sight gap_before;                                   ///< of the port, before an answer that no request preceded
    wire::OctetArray<wire::PathRecord::size> record{};  ///< the record asked with, as far as it fits

    template <class Record>
    [[nodiscard]] wire::View<Record> as() const noexcept {
        return wire::View<Record>::at(record);
    }
};

/// An IPv4 address as one of IPv6. RFC 4291, 2.5.5.2.
inline wire::Gid mapped(std::uint32_t ipv4) { return wire::Gid::of(0, std::uint64_t{0xffff} << 32 | ipv4); }

/// The link-layer address that an IP address was announced with, by ARP or ND.
struct Neighbour {
    wire::Gid address{};      ///< IPv6, or IPv4 as ::ffff:a.b.c.d
    wire::Gid gid{};          ///< the latest one announced
    std::uint16_t p_key = 0;  ///< of the link on which it is used; 0 while not known
    std::uint8_t qpn_count = 0;
    std::array<std::uint32_t, 4> qpns{};  ///< the latest last
    bool is_shared = false;               ///< announced with two GIDs
    bool is_contested = false;            ///< by both in turns, or at once: it has not just moved
    bool alternates = false;              ///< a queue pair was announced again after another one
    wire::Gid before{};                   ///< the GID that it was announced with before the latest
    Sight changed;                        ///< from that to the latest
    PortIndex port = none;                ///< that has this GID
    Sight announced;
    Sight renewed;                   ///< the latest queue pair was announced, and it was another one before
    Sight tested;                    ///< a solicitation from nobody asked whether it is in use. RFC 4862, 5.4
    std::uint32_t announced_by = 0;  ///< the queue pair that has sent it, which need not be the one that it names
    Sight unseen;                    ///< an answer to a question of its own that is not in the capture

    [[nodiscard]] std::uint32_t qpn() const noexcept { return qpn_count == 0 ? 0 : qpns[qpn_count - 1u]; }
    [[nodiscard]] bool has(std::uint32_t qpn) const noexcept {
        for (std::uint8_t i = 0; i < qpn_count; ++i)
            if (qpns[i] == qpn) return true;
        return false;
    }
};

/// Who was told a neighbour's address by a packet for itself, or has used it.
struct Informed {
    Sight at;
};

/// A packet that asks for an answer of IP: an ARP request, an echo request, a Neighbour Solicitation.
struct Solicitation {
    std::uint64_t key = 0;  ///< what its answer repeats; 0: none
    GroupIndex group = none;
    bool has_wrong_key = false;  ///< another Q_Key than the link's
    bool is_limited = false;     ///< with the P_Key of a limited member
    bool is_resolution = false;  ///< ARP or ND
    bool is_answered = false;
    std::uint16_t lid = 0;  ///< who asks
    std::uint32_t qpn = 0;
    Sight sent;
    std::uint16_t p_key = 0;
    bool is_in_several = false;  ///< the same was asked before in another partition
};

/// One path that the SA has told.
struct PathWay {
    std::uint16_t dlid = 0, p_key = 0;
    std::uint8_t sl = 0, rate = 0;
    friend bool operator==(const PathWay&, const PathWay&) = default;
};

/// What the SA has told a LID of the ways to a GID, whatever was asked: by P_Key, Service-ID, SL, one or many.
struct Path {
    std::uint16_t from = 0;
    wire::Gid to{};
    std::array<PathWay, 8> ways{};
    std::uint8_t count = 0;
    bool has_more = false;          ///< than these
    Sight first, told;              ///< the first and the latest answer
    std::uint64_t question = 0;     ///< the latest that was answered with one way, as a hash
    std::uint16_t latest = 0;       ///< the DLID of that answer
    std::uint16_t former_dlid = 0;  ///< by which that question was answered before; 0: by no other
    Sight changed;                  ///< from that to the present one
};

/// An IPoIB connection being set up. RFC 4755, 3 and 6.
struct Connection {
    std::uint16_t requester_lid = 0, responder_lid = 0;
    std::uint32_t requester_id = 0;  ///< the REQ's LocalCommunicationID
    std::uint32_t requester_qpn = 0, responder_qpn = 0;
    std::uint32_t requester_rc = 0, responder_rc = 0;  ///< the queue pairs of the connection itself
    std::uint64_t service_id = 0;
    wire::Gid responder_gid{};
    std::uint32_t requester_mtu = 0, responder_mtu = 0;  ///< Receive MTU that each has stated, in octets; 0: none
    std::uint16_t p_key = 0;                             ///< that the REQ names
    Sight requested, replied, rejected, ended;
};

/// A queue pair of a connection. Behind the LID of an IB router several ports may use its number.
struct ConnectionEnd {
    std::uint32_t connection = none;  ///< by index; `none` for one that has ended, or is another program's
    wire::Gid gid{};                  ///< of its port; zero where it was not told
};

}  // namespace ipoib::state
