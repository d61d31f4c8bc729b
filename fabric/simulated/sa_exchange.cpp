// SPDX-License-Identifier: GPL-2.0-or-later
// Answers as MADs, partitions that two ports share, and the way out.
#include "fabric/simulated/sa_exchange.hpp"

#include <algorithm>

namespace ipoib::fabric::sa {
using namespace wire;

namespace {

constexpr std::size_t sa_header_at = Mad::size + Rmpp::size;
constexpr std::uint16_t base_mask = static_cast<std::uint16_t>(~full_membership);

std::uint16_t base(std::uint16_t p_key) noexcept { return p_key & base_mask; }

Method response_to(Method method) noexcept {
    if (method == Method::set) return Method::get_resp;
    return static_cast<Method>(static_cast<unsigned>(method) | response_bit);
}

}  // namespace

View<Rmpp> Request::rmpp() const noexcept { return View<Rmpp>::at(mad.subspan(Mad::size)); }
View<SaHeader> Request::sa() const noexcept { return View<SaHeader>::at(mad.subspan(sa_header_at)); }

bool Reply::append(Octets record) {
    stride_ = (record.size() + SaHeader::offset_unit - 1) / SaHeader::offset_unit * SaHeader::offset_unit;
    if (data_.size() + stride_ > longest_table) {
        *this = refuse(sa_status::no_resources);
        return false;
    }
    data_.insert(data_.end(), record.begin(), record.end());
    data_.resize(data_.size() + stride_ - record.size());
    return true;
}

MadOctets answer(const Request& request, const Reply& reply) {
    MadOctets mad{};
    std::copy_n(request.mad.begin(), mad.size(), mad.begin());
    const MutableOctets all{mad};
    set_field(all, Mad::method, response_to(request.method()));
    set_field(all, Mad::status, reply.status());
    std::fill_n(mad.begin() + Mad::size, Rmpp::size, std::uint8_t{0});
    const auto sa = all.subspan(sa_header_at);
    set_field(sa, SaHeader::sm_key, 0);
    const bool tells_offset = reply.status() == mad_status::ok;
    set_field(sa, SaHeader::attribute_offset,
              static_cast<std::uint16_t>(tells_offset ? reply.stride() / SaHeader::offset_unit : 0));
    if (reply.status() != mad_status::ok && reply.data().empty()) return mad;
    std::fill(mad.begin() + SaHeader::data_offset, mad.end(), std::uint8_t{0});
    std::copy_n(reply.data().begin(), std::min(reply.data().size(), SaHeader::data_size),
                mad.begin() + SaHeader::data_offset);
    return mad;
}

bool has_p_key(const KnownPort& port, std::uint16_t p_key) noexcept {
    if (base(p_key) == 0) return false;
    return std::any_of(port.p_keys.begin(), port.p_keys.end(),
                       [&](std::uint16_t entry) { return is_same_partition(entry, p_key); });
}

std::optional<std::uint16_t> shared_p_key(const KnownPort& from, const KnownPort& to) noexcept {
    std::optional<std::uint16_t> best;
    for (const auto entry : from.p_keys) {
        if (base(entry) == 0 || (best && base(*best) <= base(entry))) continue;
        const auto matches = [&](std::uint16_t other) {
            return is_same_partition(other, entry) && (is_full_member(other) || is_full_member(entry));
        };
        if (std::any_of(to.p_keys.begin(), to.p_keys.end(), matches)) best = entry;
    }
    return best;
}

bool is_told_of(const KnownPort& asker, const KnownPort& port) noexcept {
    return asker.gid == port.gid || shared_p_key(asker, port).has_value();
}

bool share_p_key(const KnownPort& one, const KnownPort& other, std::uint16_t p_key) noexcept {
    if (base(p_key) == 0) return false;
    for (const auto entry : one.p_keys) {
        if (!is_same_partition(entry, p_key)) continue;
        for (const auto match : other.p_keys)
            if (is_same_partition(match, p_key) && (is_full_member(entry) || is_full_member(match))) return true;
    }
    return false;
}

const KnownPort* find_port(const SubnetView& subnet, const Gid& gid, std::uint64_t subnet_prefix) {
    constexpr std::uint64_t link_local = std::uint64_t{0xfe80} << 48;
    if (const auto* port = subnet.by_gid(gid)) return port;
    if (gid.prefix() != link_local || subnet_prefix == link_local) return nullptr;
    return subnet.by_gid(Gid::of(subnet_prefix, gid.interface_id()));
}

bool is_same(const FieldSpec& row, Octets one, Octets other) noexcept {
    constexpr unsigned most = 64;
    for (unsigned done = 0; done < row.width;) {
        const auto take = std::min<unsigned>(most, row.width - done);
        const At at{static_cast<std::uint16_t>(row.at.bit + done)};
        if (read_bits(one.data(), at, take) != read_bits(other.data(), at, take)) return false;
        done += take;
    }
    return true;
}

void Outbox::post(const MadPath& path, const MadOctets& mad) {
    if (waiting_ >= most_waiting) return;
    ++waiting_;
    loop().deliver(loop().now() + delay(), *this, mad_frame(path, mad));
}

void Outbox::receive(const Frame& frame) {
    --waiting_;
    // Segments may have overtaken it: a queue pair numbers what leaves it.
    hca_.send(with_psn(frame, hca_.next_gsi_psn()));
}

void Outbox::clear() {
    loop().forget(*this);
    waiting_ = 0;
}

}  // namespace ipoib::fabric::sa
