// SPDX-License-Identifier: GPL-2.0-or-later
// The state of a capture, gathered frame by frame in the first pass: which rules each frame breaks, and how the link
// stood then. Free of Wireshark, so that nothing in here can be left by a longjmp; what it hands out has no destructor
// and stays where it is until the state goes.
#pragma once

#include "dissector/host_names.hpp"
#include "protocol/inspection/inspector.hpp"
#include "protocol/wire/rmpp.hpp"

#include <deque>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace ipoib::dissector {

using FrameNumber = std::uint32_t;  ///< from 1, as Wireshark counts; 0: none

/// A rule that a frame breaks, or what the rule notes of it.
struct ExpertInfo {
    const rules::Rule* rule = nullptr;
    const char* text = "";                 ///< "Encap.Reserved is 0x0001, expected 0"
    std::uint32_t offset = 0, length = 0;  ///< of the field in the frame, in octets; length 0: there is none
    bool is_note = false;
    bool is_suspicion = false;         ///< it may not break the rule, for the doubt that the text names
    const ExpertInfo* next = nullptr;  ///< of the same frame
};

/// A link as it was known at some frame.
struct LinkSnapshot {
    const char* name = "";  ///< "fe80::/0x8001"
    const state::Link* link = nullptr;
    state::GroupParameters broadcast;  ///< where has_record
    wire::Gid broadcast_gid;           ///< zero while not known
    state::Source source = state::Source::nothing;
    FrameNumber learned = 0;
    bool has_record = false, is_disputed = false;
};

/// The link-layer address that a port has announced, by ARP or ND.
struct Announcement {
    const char* address = "";  ///< the IP address: "10.1.0.1"
    std::uint32_t qpn = 0;
    FrameNumber frame = 0;  ///< the first that announces it
};

/// A port and a group as they were known at some frame.
struct PortSnapshot {
    wire::Gid gid;          ///< zero while not known
    std::uint16_t lid = 0;  ///< 0 while not known
};
struct GroupSnapshot {
    const state::Group* group = nullptr;
    wire::Gid mgid;
    std::uint16_t mlid = 0;   ///< where has_record
    FrameNumber learned = 0;  ///< the record
    bool has_record = false;
};

/// The conversation that a frame belongs to, as it was known then: its link, its two ports, its group.
struct Conversation {
    const LinkSnapshot* link = nullptr;
    const PortSnapshot* sender = nullptr;
    const PortSnapshot* receiver = nullptr;
    const GroupSnapshot* group = nullptr;
    const Announcement* sender_announced = nullptr;
    const Announcement* receiver_announced = nullptr;
    FrameNumber joined = 0;       ///< the answer that let the sender (of SA traffic: the asker) join the group
    std::uint8_t join_state = 0;  ///< that holds since
    friend bool operator==(const Conversation&, const Conversation&) = default;
};

/// How a MAD hangs together with others.
struct Exchange {
    wire::Method asked{};  ///< of an answer: the request's
    FrameNumber request = 0, answer = 0;
    FrameNumber cause = 0;   ///< of a report: the answer that made or ended the group it tells of
    FrameNumber report = 0;  ///< of such an answer: the first report of it
};

/// A port's part in a group, from one answer of the SA to the next.
struct Membership {
    const PortSnapshot* port = nullptr;
    std::uint8_t join_state = 0;
    FrameNumber from = 0, to = 0;  ///< to 0: it still holds
};

/// A table of the SA that the frame completes. The octets are the records, `stride` octets from one to the next.
struct ReassembledTable {
    wire::Octets records;
    std::size_t stride = 0;
    std::uint16_t attribute_id = 0;
};

class CaptureState {
public:
    /// `has_notes`: what rules note is kept, too; that is something on most frames.
    explicit CaptureState(inspection::Options options, bool has_notes = false);

    /// Takes the next frame. Where Wireshark gives the number of the last one again (a read filter has refused that),
    /// the new frame takes its place; one before it is ignored. False if it is.
    bool take(const inspection::FrameView& frame);
    /// After the last frame: what only lacked a later one is told now.
    void finish();
    /// The frame taken last, valid until the next.
    [[nodiscard]] const wire::Packet& packet() const noexcept { return inspector_.packet(); }
    [[nodiscard]] FrameNumber last() const noexcept { return last_; }

    // Of any frame taken; null where there is nothing to tell.
    [[nodiscard]] const ExpertInfo* expert_infos(FrameNumber frame) const;
    [[nodiscard]] const Conversation* conversation(FrameNumber frame) const;
    [[nodiscard]] const Exchange* exchange(FrameNumber frame) const;
    [[nodiscard]] const ReassembledTable* table(FrameNumber frame) const;
    /// Whether the frame belongs to the setting up of an IPoIB connection.
    [[nodiscard]] bool sets_up_connection(FrameNumber frame) const { return connections_.contains(frame); }
    /// Whether something was left out because a bound was reached.
    [[nodiscard]] bool is_incomplete() const noexcept { return is_incomplete_; }
    /// The text, or "others" once many different ones have been counted: for what grows with each different one.
    [[nodiscard]] const char* counted(std::string text);
    /// What ports are called, as far as it is known by now.
    [[nodiscard]] HostNames& hosts() noexcept { return hosts_; }
    [[nodiscard]] const HostNames& hosts() const noexcept { return hosts_; }
    /// A group's memberships in the order in which they began.
    [[nodiscard]] const std::deque<Membership>* members(const state::Group& group) const;

private:
    struct Answers;
    struct ConversationHash {
        std::size_t operator()(const Conversation& conversation) const noexcept;
    };
    struct GroupLife {
        FrameNumber made = 0, ended = 0;
    };
    struct Open {
        FrameNumber frame = 0;
        wire::Method method{};
    };
    using OpenKey = std::pair<std::uint64_t, std::uint64_t>;
    /// What is told of one subnet: another may use the same LIDs and transactions.
    struct Subnet {
        std::unordered_map<OpenKey, Open, state::KeyHash> open;
        std::deque<OpenKey> open_order;
        std::unordered_map<wire::Gid, GroupLife, state::KeyHash> lives;
        wire::RmppReassembly reassembly{16, std::size_t{4} << 20};
    };
    struct ExpertInfoList {
        const ExpertInfo* first = nullptr;
        ExpertInfo* last = nullptr;
    };

    const char* kept(std::string text);
    void add_expert_info(FrameNumber frame, ExpertInfo info);
    void conversations(FrameNumber frame);
    void forget(FrameNumber frame);
    Subnet& subnet() { return subnets_[&inspector_.subnet()]; }
    const LinkSnapshot* link_snapshot(const state::Link& link);
    const PortSnapshot* port_snapshot(const state::Port* port);
    const GroupSnapshot* group_snapshot(const state::Group* group);
    void exchanges(FrameNumber frame);
    void memberships(FrameNumber frame);
    void reports(FrameNumber frame);
    void tables(FrameNumber frame);
    void announcements(FrameNumber frame);

    inspection::Inspector inspector_;
    HostNames hosts_;
    bool has_notes_;
    FrameNumber last_ = 0;

    std::unordered_set<std::string, SecretHash> texts_;
    std::unordered_set<std::string, SecretHash> counted_;
    std::deque<ExpertInfo> all_expert_infos_;
    std::size_t note_count_ = 0;
    bool is_incomplete_ = false;
    std::unordered_map<FrameNumber, ExpertInfoList> expert_infos_;

    std::deque<std::uint32_t> conversation_by_frame_;  ///< index into conversations_, by frame; 0: nothing
    std::deque<Conversation> conversations_{1};
    std::unordered_map<Conversation, std::uint32_t, ConversationHash> conversation_index_;
    std::deque<LinkSnapshot> links_;
    std::unordered_map<const state::Link*, const LinkSnapshot*> latest_link_;
    std::deque<PortSnapshot> ports_;
    std::unordered_map<const state::Port*, const PortSnapshot*> latest_port_;
    std::deque<GroupSnapshot> groups_;
    std::unordered_map<const state::Group*, const GroupSnapshot*> latest_group_;
    std::deque<Announcement> announcements_;
    std::unordered_map<const state::Port*, const Announcement*> announced_;

    std::unordered_map<FrameNumber, Exchange> exchanges_;
    std::unordered_map<const state::Subnet*, Subnet> subnets_;
    std::unordered_set<FrameNumber> connections_;  ///< frames that set them up
    std::unordered_map<const state::Group*, std::deque<Membership>> members_;
    std::unordered_map<const state::Member*, Membership*> latest_membership_;
    std::size_t membership_count_ = 0;

    std::unordered_map<FrameNumber, ReassembledTable> tables_;
    std::deque<std::vector<std::uint8_t>> table_octets_;
    std::size_t table_octets_count_ = 0;
};

}  // namespace ipoib::dissector
