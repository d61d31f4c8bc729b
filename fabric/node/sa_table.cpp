// SPDX-License-Identifier: GPL-2.0-or-later
// The receiver's side of RMPP. IBTA Vol 1, 13.6.6.
#include "fabric/node/sa_table.hpp"

#include <algorithm>

namespace ipoib::fabric {
using namespace wire;

namespace {

/// Headers of the segment, with its direction turned round.
MadOctets reply_to(Octets segment, RmppType type) {
    MadOctets reply{};
    std::copy_n(segment.begin(), SaHeader::data_offset, reply.begin());
    const auto method = static_cast<unsigned>(View<Mad>::at(segment)[Mad::method]);
    set_field(MutableOctets{reply}, Mad::method, static_cast<Method>(method ^ response_bit));
    const auto rmpp = MutableOctets{reply}.subspan(Mad::size);
    set_field(rmpp, Rmpp::type, type);
    set_field(rmpp, Rmpp::resp_time, Rmpp::no_response_time);
    set_field(rmpp, Rmpp::first, false);
    set_field(rmpp, Rmpp::last, false);
    set_field(rmpp, Rmpp::active, true);
    set_field(rmpp, Rmpp::status, 0);
    return reply;
}

std::uint8_t abort_status(RmppDrop reason) noexcept {
    constexpr std::uint8_t too_long = 118, bad_last = 119, bad_first = 120, too_big = 123, unspecified = 127;
    switch (reason) {
        case RmppDrop::too_large:
            return too_long;
        case RmppDrop::bad_last:
        case RmppDrop::bad_length:
            return bad_last;
        case RmppDrop::bad_first:
            return bad_first;
        case RmppDrop::bad_segment_number:
            return too_big;
        default:
            return unspecified;
    }
}

}  // namespace

MadOctets rmpp_ack(Octets segment, std::uint32_t in_order, std::uint32_t window_last) {
    auto ack = reply_to(segment, RmppType::ack);
    const auto rmpp = MutableOctets{ack}.subspan(Mad::size);
    set_field(rmpp, Rmpp::segment_number, in_order);
    set_field(rmpp, Rmpp::payload_length, window_last);
    return ack;
}

MadOctets rmpp_abort(Octets segment, std::uint8_t status) {
    auto abort = reply_to(segment, RmppType::abort);
    const auto rmpp = MutableOctets{abort}.subspan(Mad::size);
    set_field(rmpp, Rmpp::status, status);
    set_field(rmpp, Rmpp::segment_number, 0);
    set_field(rmpp, Rmpp::payload_length, 0);
    return abort;
}

SaTable::Step SaTable::take(std::uint16_t source_lid, std::uint16_t own_lid, Octets mad) {
    Step step;
    const auto rmpp = View<Rmpp>::at(mad.subspan(Mad::size));
    auto result = reassembly_.add(source_lid, own_lid, mad);
    const auto number = rmpp[Rmpp::segment_number];
    switch (result.state) {
        case RmppResult::State::ignored:
        case RmppResult::State::late:
            return step;
        case RmppResult::State::dropped:
            // The sender may begin anew, with the first segment.
            seen_.clear();
            in_order_ = 0;
            window_last_ = 1;
            if (result.dropped->reason != RmppDrop::aborted)
                step.reply = rmpp_abort(mad, abort_status(result.dropped->reason));
            return step;
        case RmppResult::State::duplicate:
            step.reply = rmpp_ack(mad, in_order_, window_last_);
            return step;
        case RmppResult::State::incomplete:
        case RmppResult::State::complete:
            break;
    }
    step.is_progress = true;
    if (seen_.size() < number) seen_.resize(number);
    seen_[number - 1] = true;
    while (in_order_ < seen_.size() && seen_[in_order_]) ++in_order_;
    const bool is_window_full = in_order_ >= window_last_;
    if (is_window_full) window_last_ = in_order_ + window;
    if (is_window_full || result.table) step.reply = rmpp_ack(mad, in_order_, window_last_);
    step.table = std::move(result.table);
    return step;
}

}  // namespace ipoib::fabric
