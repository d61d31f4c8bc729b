// SPDX-License-Identifier: GPL-2.0-or-later
// What is known when a packet is judged: all that earlier frames, and this one, have told of its link, its sender, its
// receiver and its group.
#pragma once

#include "protocol/state/entities.hpp"
#include "protocol/state/shelf.hpp"

namespace ipoib::state {

/// Things that a rule may need to know before it can say anything. A set of them is a bit mask.
enum class Fact : std::uint8_t {
    broadcast_gid,     ///< the link's broadcast-GID: from the SA, or from a packet sent to it
    broadcast_record,  ///< the broadcast group's whole record
    q_key,             ///< of that record these alone: the user may state some of it
    mtu,
    sl,
    traffic_class,
    flow_label,
    hop_limit,
    group_record,  ///< the record of the group that the packet goes to, or that its record names
    sender,        ///< the port that sent the packet, by its GID or by a queue pair that is known to be its own
    watched,       ///< the sender's join of the broadcast group, and all its traffic with the SA since
    member,        ///< what the SA has told the sender of this group
    request,       ///< for an answer: the request
    receiver,      ///< for unicast: the port that the DLID names
    neighbour,     ///< for unicast: what the IP destination has announced as its link-layer address
    path,          ///< for unicast: the ways that the SA has told the sender to the port that the packet names
};
using Facts = std::uint32_t;
template <std::same_as<Fact>... F>
constexpr Facts facts(F... fact) noexcept {
    return ((Facts{1} << static_cast<unsigned>(fact)) | ... | 0u);
}

/// All parameters of a broadcast group's record: together they are Fact::broadcast_record.
inline constexpr Facts whole_record =
    facts(Fact::q_key, Fact::mtu, Fact::sl, Fact::traffic_class, Fact::flow_label, Fact::hop_limit);

/// One packet's surroundings. Pointers are valid until the next frame is taken; null where nothing is known.
struct Known {
    Facts facts = 0;
    Sight now;
    const Link* link = nullptr;
    const GroupParameters* broadcast = nullptr;  ///< of the link, where it is disputed as the subject was told; not
                                                 ///< null with Fact::broadcast_record
    const Shelf<ToldRecord>* told_records =
        nullptr;                                   ///< of broadcast groups, those of the link from its latest_told on
    const wire::Gid* broadcast_gid = nullptr;      ///< of the link; not null with Fact::broadcast_gid
    const Port* sender = nullptr;                  ///< of the packet
    const Port* receiver = nullptr;                ///< of a unicast packet
    const Port* subject = nullptr;                 ///< for SA traffic: the port that asks, whoever sent the packet
    const Group* group = nullptr;                  ///< the one sent to, or that the record names
    const Member* member = nullptr;                ///< the sender's (for SA traffic the subject's) part in that group
    const Member* of_broadcast = nullptr;          ///< the same port's part in the broadcast group of its link
    const Request* request = nullptr;              ///< of an answer
    const Neighbour* neighbour = nullptr;          ///< of the IP destination
    std::array<const Port*, 2> others_of_q_key{};  ///< two ports that use the same Q_Key on the link
    const Neighbour* speaker = nullptr;            ///< of the IP source
    const Path* path = nullptr;                    ///< from the sender's LID to the port that the packet names
    const Path* neighbour_path = nullptr;          ///< from the sender's LID to the neighbour
    const Path* path_there = nullptr;              ///< the latest one that the SA has told to lead to the DLID
    const Informed* informed = nullptr;            ///< the sender was told the neighbour's latest address; of a REQ
                                                   ///< that of who has announced the queue pair that it asks
    const Port* path_target = nullptr;             ///< that port
    const Connection* connection = nullptr;        ///< of a CM message, or that the packet goes over
    const Connection* crossing = nullptr;          ///< of its REP: one that was asked for the other way, still open
    const Member* meant = nullptr;           ///< of an IP group's packet in another group: the sender's part in its own
    const QueuePair* owner = nullptr;        ///< the interface at whose Service-ID that connection was asked for;
                                             ///< of a REQ the one that it names as its own
    const Port* target = nullptr;            ///< the port that the neighbour's GID belongs to
    const QueuePair* source = nullptr;       ///< that the packet comes from
    const QueuePair* destination = nullptr;  ///< that a unicast packet goes to, or a REQ asks, if it was ever seen
    const Requester* requester = nullptr;    ///< the subject's dealings with the SA
    const Port* managed = nullptr;           ///< of an answer about P_Keys: the port whose table it is
    const Port* named = nullptr;             ///< the port whose GID the packet announces as its sender's own
    const Port* keeps_prefix = nullptr;      ///< the port at the SLID, if that GID has the prefix that it had before
    const Solicitation* answers = nullptr;   ///< what the packet answers
    bool answers_again = false;              ///< another packet has answered that before
    const Member* answered = nullptr;        ///< the sender's part in the group that the question went to
    const Member* of_asker = nullptr;        ///< where ARP or ND is answered: the asker's part in the broadcast group,
                                             ///< if its join is in the capture and all its traffic with the SA since
    std::uint32_t group_index = none;        ///< of `group`
    bool shares_port = false;                ///< several GIDs were seen at the subject's LID
    bool is_foreign = false;                 ///< it only looks like IPoIB: nothing ties it to a link or interface
    bool was_missing = false;                ///< the group, as far as the SA had told before this packet
    bool is_at_sa = false;                   ///< the capture shows the SA's traffic with more than one port
    bool is_told_twice = false;              ///< the SA names one MGID with two MLIDs, in a table or to two joiners
    Sight told_otherwise;                    ///< when the other joiner was told its MLID
    bool knows_prefix = false;               ///< a port has told the subnet's prefix, so that it has no other
    std::uint32_t groups_told = 0;           ///< groups in the table that this packet completes

    /// What is known of the broadcast group is what the user has said.
    [[nodiscard]] bool is_assumed() const noexcept { return link && link->source != Source::sa && broadcast; }
    [[nodiscard]] bool knows(Fact fact) const noexcept { return (facts & state::facts(fact)) != 0; }
    /// The same things are known, not only what is alike.
    friend bool operator==(const Known&, const Known&) = default;
};

}  // namespace ipoib::state
