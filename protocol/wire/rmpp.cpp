// SPDX-License-Identifier: GPL-2.0-or-later
// Reassembly of the SA's tables from RMPP segments. IBTA Vol 1, 13.6.
#include "protocol/wire/rmpp.hpp"

#include <algorithm>

namespace ipoib::wire {
namespace {

constexpr std::size_t sa_offset = Mad::size + Rmpp::size;
static_assert(sa_offset + SaHeader::size == SaHeader::data_offset);

/// Octets that PayloadLength counts in a full segment.
constexpr std::uint32_t full_length = SaHeader::size + SaHeader::data_size;

}  // namespace

/// A DATA segment of the SA, or STOP or ABORT, as far as the capture has it.
struct RmppReassembly::Segment {
    View<Mad> mad;
    View<Rmpp> rmpp;
    Octets data;  ///< record data; of the last segment only what PayloadLength counts
    std::uint32_t number = 0;
    bool is_last = false;
    bool has_bad_length = false;

    static std::optional<Segment> parse(Octets octets);
    /// What is wrong with it by itself.
    [[nodiscard]] std::optional<RmppDrop> fault(std::size_t max_octets) const;
    /// What is wrong with it beside those that came before.
    [[nodiscard]] std::optional<RmppDrop> contradiction(const Transaction&) const;
};

std::optional<RmppReassembly::Segment> RmppReassembly::Segment::parse(Octets octets) {
    Segment segment;
    segment.mad = View<Mad>::at(octets);
    if (octets.size() < sa_offset || segment.mad[Mad::mgmt_class] != MgmtClass::subn_adm) return std::nullopt;
    segment.rmpp = View<Rmpp>::at(octets.subspan(Mad::size));
    const auto type = segment.rmpp[Rmpp::type];
    if (!segment.rmpp[Rmpp::active] || segment.rmpp[Rmpp::version] != 1) return std::nullopt;
    if (type == RmppType::stop || type == RmppType::abort) return segment;
    if (type != RmppType::data) return std::nullopt;

    segment.number = segment.rmpp[Rmpp::segment_number];
    segment.is_last = segment.rmpp[Rmpp::last];
    const auto length = segment.is_last ? segment.rmpp[Rmpp::payload_length] : full_length;
    segment.has_bad_length = length < SaHeader::size || length > full_length;
    const auto needed = segment.has_bad_length ? SaHeader::data_offset : sa_offset + length;
    if (octets.size() < needed) return std::nullopt;
    segment.data = octets.subspan(SaHeader::data_offset, needed - SaHeader::data_offset);
    return segment;
}

std::optional<RmppDrop> RmppReassembly::Segment::fault(std::size_t max_octets) const {
    if (number == 0) return RmppDrop::bad_segment_number;
    if (rmpp[Rmpp::first] != (number == 1)) return RmppDrop::bad_first;
    if (has_bad_length) return RmppDrop::bad_length;
    const auto before = (number - std::uint64_t{1}) * SaHeader::data_size;
    if (before + data.size() > max_octets) return RmppDrop::too_large;
    return std::nullopt;
}

std::optional<RmppDrop> RmppReassembly::Segment::contradiction(const Transaction& others) const {
    if (const auto known = others.segments.find(number); known != others.segments.end()) {
        if (is_last != (others.last == number)) return RmppDrop::bad_last;
        const bool is_same_length = !is_last || data.size() == others.last_octets;
        if (is_same_length && std::equal(data.begin(), data.end(), known->second.begin())) return std::nullopt;
        return RmppDrop::different_contents;
    }
    const auto highest = others.segments.empty() ? 0 : others.segments.rbegin()->first;
    if (is_last && (others.last != 0 || highest > number)) return RmppDrop::bad_last;
    if (!is_last && others.last != 0 && number > others.last) return RmppDrop::bad_segment_number;
    return std::nullopt;
}

std::string_view name(RmppDrop reason) noexcept {
    switch (reason) {
        case RmppDrop::evicted:
            return "made room for a newer transaction";
        case RmppDrop::too_large:
            return "more octets than allowed";
        case RmppDrop::unfinished:
            return "segments missing in the end";
        case RmppDrop::aborted:
            return "given up by its sender";
        case RmppDrop::bad_segment_number:
            return "SegmentNumber zero or beyond the last";
        case RmppDrop::bad_first:
            return "First and SegmentNumber contradict";
        case RmppDrop::bad_last:
            return "two last segments, or one after the last";
        case RmppDrop::bad_length:
            return "impossible PayloadLength in the last segment";
        case RmppDrop::different_contents:
            return "a segment came twice with different contents";
    }
    return "unknown";
}

RmppResult RmppReassembly::add(std::uint16_t source_lid, std::uint16_t destination_lid, Octets mad) {
    const auto segment = Segment::parse(mad);
    if (!segment) return {};
    const RmppKey key{source_lid,
                      destination_lid,
                      segment->mad[Mad::transaction_id],
                      segment->mad[Mad::mgmt_class],
                      segment->mad[Mad::method],
                      segment->mad[Mad::attribute_id]};
    auto at = transactions_.find(key);
    if (segment->rmpp[Rmpp::type] != RmppType::data)
        return at == transactions_.end() ? RmppResult{} : drop(at, key, RmppDrop::aborted);
    if (at == transactions_.end() && segment->number != 1 && has_ended(key))
        return {RmppResult::State::late, std::nullopt, std::nullopt};
    if (const auto fault = segment->fault(max_octets_)) return drop(at, key, *fault);
    if (at != transactions_.end()) return keep(at, *segment, mad);

    auto dropped = make_room();
    auto result = keep(transactions_.try_emplace(key).first, *segment, mad);
    if (result.state != RmppResult::State::dropped) result.dropped = dropped;
    return result;
}

/// Adds a segment that is right by itself to its transaction.
RmppResult RmppReassembly::keep(Transactions::iterator at, const Segment& segment, Octets mad) {
    auto& transaction = at->second;
    if (const auto fault = segment.contradiction(transaction)) return drop(at, at->first, *fault);
    transaction.touched = ++clock_;
    if (transaction.segments.contains(segment.number))
        return {RmppResult::State::duplicate, std::nullopt, std::nullopt};
    if (segments_left_ && *segments_left_ == 0) return drop(at, at->first, RmppDrop::too_large);
    if (segments_left_) --*segments_left_;
    auto& place = transaction.segments[segment.number];

    std::copy(segment.data.begin(), segment.data.end(), place.begin());
    if (segment.number == 1) {
        std::copy_n(mad.begin(), SaHeader::data_offset, transaction.head.begin());
        transaction.declared_length = segment.rmpp[Rmpp::payload_length];
    }
    if (segment.is_last) {
        transaction.last = segment.number;
        transaction.last_octets = segment.data.size();
    }
    if (transaction.segments.size() != transaction.last)
        return {RmppResult::State::incomplete, std::nullopt, std::nullopt};
    return {RmppResult::State::complete, take(at), std::nullopt};
}

std::vector<RmppDropped> RmppReassembly::finish() {
    std::vector<RmppDropped> all;
    all.reserve(transactions_.size());
    for (const auto& [key, transaction] : transactions_)
        all.push_back({key, RmppDrop::unfinished, transaction.segments.size()});
    while (!transactions_.empty()) erase(transactions_.begin());
    ended_.clear();
    return all;
}

RmppResult RmppReassembly::drop(Transactions::iterator at, const RmppKey& key, RmppDrop reason) {
    RmppDropped dropped{key, reason, at == transactions_.end() ? 0 : at->second.segments.size()};
    end(dropped.key);
    if (at != transactions_.end()) erase(at);
    return {RmppResult::State::dropped, std::nullopt, dropped};
}

void RmppReassembly::erase(Transactions::iterator at) {
    if (segments_left_) *segments_left_ += at->second.segments.size();
    transactions_.erase(at);
}

void RmppReassembly::end(const RmppKey& key) {
    std::erase(ended_, key);
    if (ended_.size() >= max_transactions_) ended_.pop_front();
    ended_.push_back(key);
}

bool RmppReassembly::has_ended(const RmppKey& key) const noexcept {
    return std::find(ended_.begin(), ended_.end(), key) != ended_.end();
}

std::optional<RmppDropped> RmppReassembly::make_room() {
    if (transactions_.size() < max_transactions_) return std::nullopt;
    const auto oldest = std::min_element(transactions_.begin(), transactions_.end(), [](const auto& a, const auto& b) {
        return a.second.touched < b.second.touched;
    });
    return drop(oldest, oldest->first, RmppDrop::evicted).dropped;
}

RmppTable RmppReassembly::take(Transactions::iterator at) {
    auto& transaction = at->second;
    RmppTable table;
    table.key = at->first;
    table.head = transaction.head;
    const auto full = (transaction.last - std::size_t{1}) * SaHeader::data_size;
    table.data.reserve(full + transaction.last_octets);
    for (const auto& [number, data] : transaction.segments)
        table.data.insert(table.data.end(), data.begin(),
                          data.begin() + static_cast<std::ptrdiff_t>(
                                             number == transaction.last ? transaction.last_octets : data.size()));
    table.record_size = table.sa()[SaHeader::attribute_offset] * SaHeader::offset_unit;
    const auto length = table.data.size() + transaction.last * SaHeader::size;
    table.is_length_right = transaction.declared_length == 0 || transaction.declared_length == length;
    end(table.key);
    erase(at);
    return table;
}

}  // namespace ipoib::wire
