// SPDX-License-Identifier: GPL-2.0-or-later
// Reliable Multi-Packet Transaction Protocol: its header, and the tables of the SA put together. IBTA Vol 1, 13.6.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "protocol/wire/sa.hpp"

namespace ipoib::wire {

/// RMPPType. IBTA Vol 1, 13.6.2.1.
enum class RmppType : std::uint8_t { none = 0, data = 1, ack = 2, stop = 3, abort = 4 };
inline constexpr std::array<Named, 5> rmpp_type_names{
    {{0, "not RMPP"}, {1, "DATA"}, {2, "ACK"}, {3, "STOP"}, {4, "ABORT"}}};

/// RMPPStatus. IBTA Vol 1, 13.6.2.1, table "RMPPStatus codes".
inline constexpr std::array<Named, 12> rmpp_status_names{{{0, "normal"},
                                                          {1, "resources exhausted"},
                                                          {118, "total time too long"},
                                                          {119, "inconsistent Last and PayloadLength"},
                                                          {120, "inconsistent First and SegmentNumber"},
                                                          {121, "bad RMPPType"},
                                                          {122, "NewWindowLast too small"},
                                                          {123, "SegmentNumber too big"},
                                                          {124, "illegal RMPPStatus"},
                                                          {125, "unsupported version"},
                                                          {126, "too many retries"},
                                                          {127, "unspecified"}}};

/// RMPP header, between the MAD header and the class's own. IBTA Vol 1, 13.6.2.1.
struct Rmpp {
    static constexpr std::string_view key = "rmpp", name = "RMPP", title = "Reliable Multi-Packet Transaction Protocol";
    static constexpr std::size_t size = 12;
    /// RRespTime of a sender that gives none.
    static constexpr std::uint8_t no_response_time = 0x1f;
    template <class T>
    using F = Field<Rmpp, T>;

    static constexpr F<std::uint8_t> version{"RMPPVersion", octet(0), 8, Show::dec, "1"};
    static constexpr F<RmppType> type{"RMPPType", octet(1), 8, Show::dec, "", rmpp_type_names};
    static constexpr F<std::uint8_t> resp_time{"RRespTime", octet(2), 5, Show::dec, "4.096 us * 2^value; 31: none"};
    static constexpr F<bool> last{"RMPPFlags.Last", octet(2, 5), 1, Show::flag, "Last segment"};
    static constexpr F<bool> first{"RMPPFlags.First", octet(2, 6), 1, Show::flag, "First segment"};
    static constexpr F<bool> active{"RMPPFlags.Active", octet(2, 7), 1, Show::flag, "The MAD is part of RMPP"};
    static constexpr F<std::uint8_t> status{"RMPPStatus", octet(3), 8, Show::dec, "", rmpp_status_names};
    static constexpr F<std::uint32_t> segment_number{"SegmentNumber", octet(4), 32, Show::dec,
                                                     "DATA, ACK: from 1 on; else reserved"};
    static constexpr F<std::uint32_t> payload_length{"PayloadLength", octet(8), 32, Show::dec,
                                                     "DATA: octets behind this header, of the whole in the first "
                                                     "segment; ACK: NewWindowLast"};
    static constexpr auto fields =
        table(version, type, resp_time, last, first, active, status, segment_number, payload_length);
};
static_assert(tiles(Rmpp::fields, Rmpp::size));

/// What tells one transaction of the SA from another. The destination belongs to it, since every requester counts its
/// transactions for itself. IBTA Vol 1, 13.6.1 and 13.4.6.4.
struct RmppKey {
    std::uint16_t source_lid = 0, destination_lid = 0;
    std::uint64_t transaction_id = 0;
    MgmtClass mgmt_class{};
    Method method{};
    std::uint16_t attribute_id = 0;
    friend constexpr auto operator<=>(const RmppKey&, const RmppKey&) = default;
};

/// Why the segments of a transaction were thrown away.
enum class RmppDrop : std::uint8_t {
    evicted,             ///< it made room for a newer transaction
    too_large,           ///< a segment lies beyond the octets allowed for a transaction
    unfinished,          ///< a segment was still missing in the end
    aborted,             ///< the sender gave it up (STOP or ABORT)
    bad_segment_number,  ///< zero, or beyond the last segment
    bad_first,           ///< First on another segment than 1, or segment 1 without it
    bad_last,            ///< Last on two segments, or before one that came
    bad_length,          ///< PayloadLength of the last segment is more than a segment or less than the SA header
    different_contents,  ///< a segment came twice, with different data
};
/// A name for reports.
[[nodiscard]] std::string_view name(RmppDrop) noexcept;

/// A transaction that was thrown away, and how much of it had come.
struct RmppDropped {
    RmppKey key;
    RmppDrop reason{};
    std::size_t segments = 0;  ///< held when it was dropped, each counted once
};

/// A whole table of the SA.
struct RmppTable {
    RmppKey key;
    OctetArray<SaHeader::data_offset> head{};  ///< MAD, RMPP and SA header of the first segment
    std::vector<std::uint8_t> data;            ///< the records, without the headers
    std::size_t record_size = 0;               ///< octets from record to record; 0: the SA gives none
    bool is_length_right = true;  ///< PayloadLength of the first segment is 0 or the sum of all, as it must be

    [[nodiscard]] View<Mad> mad() const noexcept { return View<Mad>::at(head); }
    [[nodiscard]] View<SaHeader> sa() const noexcept {
        return View<SaHeader>::at(Octets{head}.subspan(Mad::size + Rmpp::size));
    }
};

/// What became of one MAD.
struct RmppResult {
    enum class State : std::uint8_t {
        ignored,     ///< not a DATA segment of the SA, or cut short by the capture
        incomplete,  ///< kept; others are missing
        duplicate,   ///< known already
        late,        ///< its transaction is complete or dropped; only a first segment begins another with the same key
        complete,    ///< `table` is whole
        dropped,     ///< `dropped` tells why; its segments are forgotten
    };
    State state = State::ignored;
    std::optional<RmppTable> table;
    /// The transaction that was thrown away: this one, or with every other state the one that had to make room.
    std::optional<RmppDropped> dropped;
};

/// Puts the SA's tables together from DATA segments in any order. Memory is bounded by what the constructor is given:
/// `max_transactions` (at least 1) times `max_octets` of record data and a small overhead per segment. Nothing is
/// timed: the transaction without a segment for the longest time makes room when a new one begins.
/// Several may share a number of segments that they hold together: a table that finds none left is dropped.
class RmppReassembly {
public:
    explicit RmppReassembly(std::size_t max_transactions = 64, std::size_t max_octets = std::size_t{1} << 20) noexcept
        : max_transactions_(max_transactions ? max_transactions : 1), max_octets_(max_octets) {}
    /// Takes from `segments_left` for each segment that it holds; it outlives this.
    RmppReassembly(std::size_t max_transactions, std::size_t max_octets, std::size_t& segments_left) noexcept
        : RmppReassembly(max_transactions, max_octets) {
        segments_left_ = &segments_left;
    }

    /// Takes one MAD as it came, from its first octet on. Never throws for what the octets hold.
    [[nodiscard]] RmppResult add(std::uint16_t source_lid, std::uint16_t destination_lid, Octets mad);
    /// Transactions of which a segment is missing.
    [[nodiscard]] std::size_t open() const noexcept { return transactions_.size(); }
    /// Throws away what is not complete and tells of it, in the order of the keys.
    [[nodiscard]] std::vector<RmppDropped> finish();

private:
    using Data = OctetArray<SaHeader::data_size>;
    struct Segment;
    struct Transaction {
        std::map<std::uint32_t, Data> segments;
        OctetArray<SaHeader::data_offset> head{};
        std::uint32_t last = 0;             ///< number of the last segment; 0: not known yet
        std::size_t last_octets = 0;        ///< record data in it
        std::uint32_t declared_length = 0;  ///< PayloadLength of the first segment
        std::uint64_t touched = 0;
    };
    using Transactions = std::map<RmppKey, Transaction>;

    RmppResult keep(Transactions::iterator, const Segment&, Octets mad);
    RmppResult drop(Transactions::iterator, const RmppKey&, RmppDrop);
    std::optional<RmppDropped> make_room();
    RmppTable take(Transactions::iterator);
    void end(const RmppKey&);
    void erase(Transactions::iterator);
    [[nodiscard]] bool has_ended(const RmppKey&) const noexcept;

    std::size_t max_transactions_, max_octets_;
    std::size_t* segments_left_ = nullptr;  ///< null: as many as the other bounds let it hold
    std::uint64_t clock_ = 0;
    Transactions transactions_;
    std::deque<RmppKey> ended_;  ///< the latest, at most max_transactions_
};

/// Calls `visit(record)` for each record of a table that is `record_size` octets from the next (SA.AttributeOffset *
/// 8); 0 means a single record. The octets that are no whole record are returned: all of them when `record_size` is
/// less than a record.
template <class Record, class Visit>
constexpr Octets for_each_record(Octets data, std::size_t record_size, Visit&& visit) {
    if (record_size != 0 && record_size < Record::size) return data;
    while (const auto record = View<Record>::at(data)) {
        visit(record);
        const auto step = record_size == 0 ? Record::size : record_size;
        data = data.subspan(step < data.size() ? step : data.size());
        if (record_size == 0) break;
    }
    return data;
}

/// The records of a whole table.
template <class Record, class Visit>
Octets for_each_record(const RmppTable& table, Visit&& visit) {
    return for_each_record<Record>(table.data, table.record_size, visit);
}

}  // namespace ipoib::wire
