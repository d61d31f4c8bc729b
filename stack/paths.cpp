// SPDX-License-Identifier: GPL-2.0-or-later
// From GIDs to paths.
#include "stack/paths.hpp"

#include "protocol/wire/path_record.hpp"
#include "stack/interface.hpp"
#include "stack/octets.hpp"

namespace ipoib::stack {
using namespace wire;

namespace {

/// The record on the path to a port: of a table the one that leads there.
View<PathRecord> record_of(const Gid& gid, const fabric::SaAnswer& answer, bool is_any) {
    if (!answer.is_ok()) return {};
    const auto size = answer.record_size != 0 ? answer.record_size : answer.data.size();
    for (std::size_t at = 0; size != 0 && at + PathRecord::size <= answer.data.size(); at += size) {
        const auto record = View<PathRecord>::at(Octets{answer.data}.subspan(at));
        if (record && (is_any || record[PathRecord::dgid] == gid)) return record;
    }
    return {};
}

/// A solicitation or an advertisement of RFC 4861.
bool is_neighbour_discovery(EtherType protocol, Octets datagram) {
    if (protocol != EtherType::ipv6 || datagram.size() < Ipv6::size + Icmpv6::size) return false;
    const auto type = View<Icmpv6>::at(datagram.subspan(Ipv6::size))[Icmpv6::type];
    return View<Ipv6>::at(datagram)[Ipv6::next_header] == IpProtocol::icmpv6 &&
           (type == Icmpv6Type::neighbour_solicitation || type == Icmpv6Type::neighbour_advertisement);
}

}  // namespace

void Paths::send(const Peer& peer, EtherType protocol, Octets datagram) {
    auto found = entries_.find(peer.gid);
    if (found != entries_.end() && found->second.is_known)
        return send_unicast(interface_, peer, found->second.path, protocol, datagram);
    const auto family = family_of(protocol);
    if (!interface_.policy(family).asks_path) return;
    if (found == entries_.end()) {
        if (!make_room()) return;
        found = entries_.try_emplace(peer.gid).first;
        ask(peer.gid, family);
    }
    const bool is_resolution = protocol == EtherType::arp || is_neighbour_discovery(protocol, datagram);
    if (!interface_.policy(family).waits_for_path(is_resolution)) return;
    auto& waiting = found->second.waiting;
    if (waiting.size() >= most_waiting) waiting.erase(waiting.begin());
    waiting.push_back({peer, protocol, {datagram.begin(), datagram.end()}});
}

const Path* Paths::find(const Gid& gid) const {
    const auto found = entries_.find(gid);
    return found != entries_.end() && found->second.is_known ? &found->second.path : nullptr;
}

/// The oldest known path makes room.
bool Paths::make_room() {
    if (entries_.size() < most_paths) return true;
    auto oldest = entries_.end();
    for (auto i = entries_.begin(); i != entries_.end(); ++i)
        if (i->second.is_known && (oldest == entries_.end() || i->second.asked < oldest->second.asked)) oldest = i;
    if (oldest == entries_.end()) return false;
    entries_.erase(oldest);
    return true;
}

/// RFC 4391, 9.1.2: the SA knows the LID, the SL and the rate. P_Key too: the SA may else answer for another partition.
void Paths::ask(const Gid& gid, Family family) {
    using component = PathRecord::component;
    Bytes<PathRecord> record;
    const bool is_new = interface_.policy(family).asks_path_from_new_gid;
    record.set(PathRecord::sgid, is_new ? interface_.port().gid : interface_.previous_gid())
        .set(PathRecord::reversible, true)
        .set(PathRecord::number_of_paths, 1)
        .set(PathRecord::p_key, interface_.link().p_key);
    entries_[gid].asked = interface_.loop().now();
    entries_[gid].family = family;
    const bool asks_for_all = interface_.policy(family).asks_for_path_table;
    if (!asks_for_all) record.set(PathRecord::dgid, gid);
    auto mask = component::sgid | component::reversible | component::number_of_paths | component::p_key;
    if (!asks_for_all) mask |= component::dgid;
    entries_[gid].transaction =
        interface_.sa().ask({.method = asks_for_all ? Method::get_table : Method::get,
                             .attribute = attribute::path_record,
                             .component_mask = mask,
                             .record = octets_of(record)},
                            lifetime_.guard([this, gid](const fabric::SaAnswer& answer) { answered(gid, answer); }));
}

Gid Paths::meant_by(const Gid& asked) const {
    const auto own = entries_.find(asked);
    if (own == entries_.end()) return asked;
    const auto family = own->second.family;
    const auto whose = interface_.policy(family).path_answer;
    if (whose == AnswerOf::its_question) return asked;
    std::optional<std::pair<std::uint32_t, Gid>> meant;
    for (const auto& [gid, entry] : entries_) {
        if (entry.is_known || entry.family != family) continue;
        const bool is_older = !meant || entry.transaction < meant->first;
        if (!meant || is_older == (whose == AnswerOf::oldest_question)) meant = {entry.transaction, gid};
    }
    return meant ? meant->second : asked;
}

void Paths::answered(const Gid& asked, const fabric::SaAnswer& answer) {
    const auto gid = meant_by(asked);
    const auto found = entries_.find(gid);
    if (found == entries_.end()) return;
    const auto record = record_of(gid, answer, gid != asked);
    if (!record) {
        interface_.log("no path to " + text(gid) + ": " + reason_of(answer));
        const bool is_asked_again =
            found->second.waiting.empty() ||
            interface_.policy(family_of(found->second.waiting.front().protocol)).asks_path_again;
        if (is_asked_again) entries_.erase(found);
        return;
    }
    auto& entry = found->second;
    entry.path = {.lid = record[PathRecord::dlid],
                  .sl = record[PathRecord::sl],
                  .rate = record[PathRecord::rate],
                  .traffic_class = record[PathRecord::traffic_class],
                  .hop_limit = record[PathRecord::hop_limit],
                  .flow_label = record[PathRecord::flow_label]};
    entry.is_known = true;
    const auto path = entry.path;
    // Sending may come back here.
    for (const auto waiting = std::exchange(entry.waiting, {}); const auto& one : waiting)
        send_unicast(interface_, one.peer, path, one.protocol, one.datagram);
}

void Paths::heard(const Gid& gid, std::uint16_t lid, Family family) {
    if (!interface_.policy(family).asks_path) {
        if (!make_room()) return;
        auto& entry = entries_[gid];
        entry.path = {.lid = lid, .sl = interface_.link().sl};
        entry.is_known = true;
        entry.asked = interface_.loop().now();
        return;
    }
    if (const auto* path = find(gid); path && path->lid != lid) entries_.erase(gid);
}

void Paths::forget(const Gid& gid) {
    if (find(gid)) entries_.erase(gid);
}

void Paths::clear() {
    lifetime_.renew();
    for (const auto& [gid, entry] : entries_)
        if (!entry.is_known) interface_.sa().forget(entry.transaction);
    entries_.clear();
}

}  // namespace ipoib::stack
