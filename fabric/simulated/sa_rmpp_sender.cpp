// SPDX-License-Identifier: GPL-2.0-or-later
// Tables in segments.
#include "fabric/simulated/sa_rmpp_sender.hpp"

#include "protocol/wire/rmpp.hpp"

#include <algorithm>

namespace ipoib::fabric::sa {
using namespace wire;

namespace {

constexpr std::uint8_t window_too_small = 122, segment_too_big = 123, too_many_retries = 126;  ///< rmpp_status_names

MadOctets with_rmpp(const MadOctets& head, const Bytes<Rmpp>& rmpp) {
    auto mad = head;
    std::copy(rmpp.octets.begin(), rmpp.octets.end(), mad.begin() + Mad::size);
    return mad;
}

Bytes<Rmpp> rmpp_of(RmppType type) {
    return Bytes<Rmpp>{}
        .set(Rmpp::version, 1)
        .set(Rmpp::type, type)
        .set(Rmpp::resp_time, Rmpp::no_response_time)
        .set(Rmpp::active, true);
}

}  // namespace

RmppSender::Key RmppSender::key_of(const MadPath& path, const MadOctets& head) {
    const auto mad = View<Mad>::at(head);
    return {path.dlid, path.dest_qp, mad[Mad::transaction_id], mad[Mad::attribute_id]};
}

MadOctets RmppSender::segment(const Transfer& transfer, std::uint32_t number) {
    const auto from = std::size_t{number - 1} * SaHeader::data_size;
    const auto size = std::min(SaHeader::data_size, transfer.data.size() - from);
    const bool is_first = number == 1, is_last = number == transfer.segments;
    auto rmpp = rmpp_of(RmppType::data);
    rmpp.set(Rmpp::segment_number, number).set(Rmpp::first, is_first).set(Rmpp::last, is_last);
    const auto whole = transfer.data.size() + std::size_t{transfer.segments} * SaHeader::size;
    const auto length = is_first ? whole : is_last ? size + SaHeader::size : 0;
    auto mad = with_rmpp(transfer.head, rmpp.set(Rmpp::payload_length, static_cast<std::uint32_t>(length)));
    std::fill(mad.begin() + SaHeader::data_offset, mad.end(), std::uint8_t{0});
    std::copy_n(transfer.data.begin() + static_cast<std::ptrdiff_t>(from), size, mad.begin() + SaHeader::data_offset);
    return mad;
}

bool RmppSender::send(const MadPath& path, const MadOctets& head, std::vector<std::uint8_t> data) {
    Transfer transfer{path, head, std::move(data)};
    const auto full = transfer.data.size() / SaHeader::data_size;
    transfer.segments = static_cast<std::uint32_t>(full + (transfer.data.size() % SaHeader::data_size != 0));
    if (transfer.segments <= 1) {
        transfer.segments = 1;
        outbox_.post(path, segment(transfer, 1));
        return true;
    }
    const auto key = key_of(path, head);
    if (const auto known = transfers_.find(key); known != transfers_.end()) drop(known);
    const auto most = config_.behaviour.ends_unfinished_tables ? most_transfers : few_transfers;
    if (transfers_.size() >= most || octets_ + transfer.data.size() > most_octets) return false;
    octets_ += transfer.data.size();
    transfer.sent = 1;
    transfer.due = outbox_.loop().now() + outbox_.delay() + config_.resend_after;
    outbox_.post(path, segment(transfer, 1));
    transfers_.emplace(key, std::move(transfer));
    arm();
    return true;
}

void RmppSender::take(const Request& mad) {
    MadOctets head{};
    std::copy_n(mad.mad.begin(), head.size(), head.begin());
    const auto at = transfers_.find(key_of(mad.back, head));
    if (at == transfers_.end()) return;
    const auto rmpp = mad.rmpp();
    switch (rmpp[Rmpp::type]) {
        case RmppType::ack:
            acknowledged(at, rmpp[Rmpp::segment_number], rmpp[Rmpp::payload_length]);
            break;
        case RmppType::stop:
        case RmppType::abort:
            drop(at);
            break;
        default:
            break;
    }
}

void RmppSender::acknowledged(Transfers::iterator at, std::uint32_t number, std::uint32_t window_last) {
    auto& transfer = at->second;
    if (number > transfer.segments) return abort(at, segment_too_big);
    if (window_last < number) return abort(at, window_too_small);
    if (number < transfer.acknowledged) return;
    if (number == transfer.segments) return drop(at);
    if (number > transfer.acknowledged) transfer.sends = 0;
    transfer.acknowledged = number;
    transfer.sent = std::max(transfer.sent, number);
    transfer.window_last = std::max(transfer.window_last, std::min(window_last, transfer.segments));
    pump(transfer);
    arm();
}

void RmppSender::pump(Transfer& transfer) {
    const auto now = outbox_.loop().now();
    const auto last = std::min(transfer.window_last, transfer.sent + most_at_once);
    const bool is_anything_new = transfer.sent < last;
    while (transfer.sent < last) outbox_.send(transfer.path, segment(transfer, ++transfer.sent));
    if (is_anything_new && transfer.sends == 0) transfer.sends = 1;
    transfer.due = now + (transfer.sent < transfer.window_last ? config_.answer_after : config_.resend_after);
}

void RmppSender::arm() {
    if (transfers_.empty()) return;
    const auto is_earlier = [](const auto& one, const auto& other) { return one.second.due < other.second.due; };
    const auto next = std::min_element(transfers_.begin(), transfers_.end(), is_earlier)->second.due;
    if (timer_ && armed_ <= next) return;
    outbox_.loop().cancel(timer_);
    armed_ = next;
    timer_ = outbox_.loop().at(next, [this] {
        timer_ = {};
        expire();
    });
}

void RmppSender::expire() {
    const auto now = outbox_.loop().now();
    for (auto at = transfers_.begin(); at != transfers_.end();) {
        const auto current = at++;
        auto& transfer = current->second;
        if (transfer.due > now) continue;
        const bool is_timeout = transfer.sent >= transfer.window_last;
        if (is_timeout && transfer.sends >= config_.most_sends && config_.behaviour.ends_unfinished_tables) {
            abort(current, too_many_retries);
            continue;
        }
        if (is_timeout) {
            ++transfer.sends;
            transfer.sent = transfer.acknowledged;
        }
        pump(transfer);
    }
    arm();
}

void RmppSender::abort(Transfers::iterator at, std::uint8_t status) {
    outbox_.send(at->second.path, with_rmpp(at->second.head, rmpp_of(RmppType::abort).set(Rmpp::status, status)));
    drop(at);
}

void RmppSender::drop(Transfers::iterator at) {
    octets_ -= at->second.data.size();
    transfers_.erase(at);
}

void RmppSender::clear() {
    transfers_.clear();
    octets_ = 0;
    outbox_.loop().cancel(timer_);
}

}  // namespace ipoib::fabric::sa
