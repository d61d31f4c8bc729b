// SPDX-License-Identifier: GPL-2.0-or-later
// MADs of a device in and out.
#include "fabric/umad/gsi.hpp"

#include "protocol/wire/rmpp.hpp"

#include <poll.h>

#include <algorithm>
#include <stdexcept>

namespace ipoib::fabric {
using namespace wire;
using namespace std::chrono_literals;

namespace {

constexpr Duration between_looks = 1ms, between_refreshes = 1s;
/// At one look, so that who floods the port does not stop the loop.
constexpr unsigned most_at_once = 256;

View<Rmpp> rmpp_of(Octets mad) noexcept { return View<Rmpp>::at(mad.subspan(Mad::size)); }

/// An answer of the SA that is a table: the only ones with segments.
bool is_table(Octets octets) noexcept {
    if (octets.size() < SaHeader::data_offset) return false;
    const auto mad = View<Mad>::at(octets);
    return mad[Mad::mgmt_class] == MgmtClass::subn_adm && is_response(mad[Mad::method]) &&
           rmpp_of(octets)[Rmpp::active];
}

/// libumad2sim carries a table in one MAD whatever its length, without its RMPPType; what does not fit is lost.
bool may_be_cut(Octets octets) noexcept {
    return octets.size() == mad_size && rmpp_of(octets)[Rmpp::type] == RmppType::none;
}

}  // namespace

std::vector<MadOctets> segments_of(Octets whole) {
    const auto data = whole.subspan(SaHeader::data_offset);
    const auto count = std::max<std::size_t>(1, (data.size() + SaHeader::data_size - 1) / SaHeader::data_size);
    std::vector<MadOctets> segments(count);
    for (std::size_t i = 0; i < count; ++i) {
        auto& segment = segments[i];
        const auto from = i * SaHeader::data_size;
        const auto part = data.subspan(from, std::min(SaHeader::data_size, data.size() - from));
        std::copy_n(whole.begin(), SaHeader::data_offset, segment.begin());
        std::copy(part.begin(), part.end(), segment.begin() + SaHeader::data_offset);
        const bool is_first = i == 0, is_last = i + 1 == count;
        const auto length = is_first  ? data.size() + count * SaHeader::size
                            : is_last ? part.size() + SaHeader::size
                                      : 0;
        const auto rmpp = MutableOctets{segment}.subspan(Mad::size);
        set_field(rmpp, Rmpp::type, RmppType::data);
        set_field(rmpp, Rmpp::first, is_first);
        set_field(rmpp, Rmpp::last, is_last);
        set_field(rmpp, Rmpp::segment_number, static_cast<std::uint32_t>(i + 1));
        set_field(rmpp, Rmpp::payload_length, static_cast<std::uint32_t>(length));
    }
    return segments;
}

UmadGsi::UmadGsi(Loop& loop, MadDevice& device) : loop_(loop), device_(device) {
    refresh();
    if (device_.descriptor() >= 0)
        loop_.watch(device_.descriptor(), POLLIN, [this](short) { look(); });
    else
        look_again();
}

UmadGsi::~UmadGsi() {
    loop_.cancel(look_timer_);
    loop_.cancel(refresh_timer_);
    if (device_.descriptor() >= 0) loop_.unwatch(device_.descriptor());
}

void UmadGsi::refresh() {
    facts_ = device_.facts();
    refresh_timer_ = loop_.after(between_refreshes, [this] { refresh(); });
}

void UmadGsi::look_again() {
    look_timer_ = loop_.after(between_looks, [this] {
        look_again();
        look();
    });
}

void UmadGsi::on_mad(MgmtClass mgmt_class, std::function<void(const Datagram&)> handler) {
    handlers_[mgmt_class] = std::move(handler);
}

void UmadGsi::look() {
    if (!problem_.empty()) return;
    try {
        for (unsigned i = 0; i < most_at_once; ++i) {
            const auto received = device_.receive();
            if (!received) return;
            take(*received);
        }
    } catch (const std::runtime_error& gone) {
        problem_ = gone.what();
        if (device_.descriptor() >= 0) loop_.unwatch(device_.descriptor());
    }
}

void UmadGsi::take(const ReceivedMad& received) {
    // Requests that found no answer are repeated by those who asked.
    if (received.is_own || received.octets.size() < Mad::size) return;
    const Octets octets{received.octets};
    if (is_table(octets)) {
        const bool is_cut = may_be_cut(octets);
        for (const auto& segment : segments_of(octets)) deliver(received.path, segment, is_cut);
        return;
    }
    MadOctets mad{};
    std::copy_n(octets.begin(), std::min(octets.size(), mad.size()), mad.begin());
    deliver(received.path, mad, false);
}

void UmadGsi::deliver(const MadPath& path, const MadOctets& mad, bool is_cut) {
    const auto frame = mad_frame(path, mad);
    if (tap) tap(frame, false);
    const auto at = handlers_.find(View<Mad>::at(mad)[Mad::mgmt_class]);
    if (at == handlers_.end() || !at->second) return;
    Packet packet;
    decode(frame.octets(), packet);
    const auto handler = at->second;  // may be replaced while it runs
    handler({.time = loop_.now(), .packet = &packet, .is_cut = is_cut});
}

void UmadGsi::send_mad(const MadPath& path, const MadOctets& mad, Duration patience) {
    const auto rmpp = rmpp_of(mad);
    if (rmpp[Rmpp::active] && rmpp[Rmpp::type] != RmppType::none) return;
    if (tap) tap(mad_frame(path, mad), true);
    // What is not sent is not answered, and repeated after a while: a send queue that was full may have room then.
    (void)device_.send(path, mad, patience);
}

}  // namespace ipoib::fabric
