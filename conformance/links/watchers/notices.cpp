// SPDX-License-Identifier: GPL-2.0-or-later
// Ports and switches that have dropped packets for their keys, as traps 257 to 259 tell. IBTA Vol 1, 14.2.5.1.
#include "conformance/links/watcher.hpp"
#include "protocol/wire/lrh.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/notice.hpp"
#include "protocol/wire/smp.hpp"
#include "protocol/wire/text.hpp"

#include <map>

namespace ipoib::links {
using namespace wire;

namespace {

/// The Notice of a trap that a port sends, or of the SA's report of it; absent for other packets.
View<Notice> notice_in(const Packet& packet) {
    if (!packet.mad || packet.mad[Mad::attribute_id] != attribute::notice) return {};
    const auto method = packet.mad[Mad::method];
    const auto mad = packet.octets.subspan(packet.offset_of(packet.mad.data()));
    const auto at = [&](std::size_t offset) {
        return mad.size() < offset + Notice::size ? View<Notice>{} : View<Notice>::at(mad.subspan(offset));
    };
    constexpr std::size_t in_smp = LidSmp::data.at.bit / 8;
    const auto management = packet.mad[Mad::mgmt_class];
    if (management == MgmtClass::subn_lid_routed && method == Method::trap) return at(in_smp);
    if (management == MgmtClass::subn_adm && method == Method::report) return at(mad_size - SaHeader::data_size);
    return {};
}

class Notices : public Watcher {
public:
    [[nodiscard]] unsigned looks_at() const noexcept override { return packets::management; }
    void take(const Moment& moment) override {
        const auto notice = notice_in(moment.packet);
        if (!notice) return;
        if (const auto details = key_details(notice))
            note(moment, notice[Notice::trap_number], details[KeyDetails::bad_key],
                 {details[KeyDetails::source_lid], details[KeyDetails::source_gid]},
                 dropper(moment, notice, {details[KeyDetails::destination_lid], details[KeyDetails::destination_gid]}),
                 {});
        else if (const auto dropped = switch_key_details(notice))
            note(moment, notice[Notice::trap_number], dropped[SwitchKeyDetails::p_key],
                 {dropped[SwitchKeyDetails::source_lid], dropped[SwitchKeyDetails::source_gid]},
                 {dropped[SwitchKeyDetails::destination_lid], dropped[SwitchKeyDetails::destination_gid]},
                 "port " + std::to_string(dropped[SwitchKeyDetails::switch_port]) + " of the switch at LID " +
                     hex(dropped[SwitchKeyDetails::switch_lid], 4));
    }
    [[nodiscard]] std::vector<Trouble> troubles() const override {
        std::vector<Trouble> all;
        for (const auto& [key, trouble] : found_) all.push_back(trouble);
        return all;
    }

private:
    static constexpr std::size_t most_kept = 4096;

    struct End {
        std::uint16_t lid = 0;
        Gid gid{};
        friend auto operator<=>(const End&, const End&) = default;
        [[nodiscard]] std::string text() const {
            return gid.is_zero() ? "LID " + hex(lid, 4) : hex(gid.interface_id(), 16).substr(2);
        }
    };
    using Key = std::tuple<const state::Subnet*, std::uint16_t, std::uint32_t, End, End>;

    /// Of a multicast packet it is the port that tells of it, as far as that is known.
    static End dropper(const Moment& moment, View<Notice> notice, const End& destination) {
        const bool is_multicast = destination.gid.is_multicast() || is_multicast_lid(destination.lid);
        if (!is_multicast) return destination;
        const auto lid = notice[Notice::issuer_lid];
        const auto port = lid == 0 ? state::none : moment.subnet.port_with(lid);
        const auto named = notice[Notice::issuer_gid];
        return {lid, named.is_zero() && port != state::none ? moment.subnet.port(port).gid : named};
    }

    void note(const Moment& moment, std::uint16_t trap_number, std::uint32_t bad_key, const End& from, const End& to,
              const std::string& at) {
        const Key key{&moment.subnet, trap_number, bad_key, from, to};
        auto found = found_.find(key);
        if (found == found_.end()) {
            if (found_.size() >= most_kept) return;
            found = found_.emplace(key, Trouble{}).first;
            auto& trouble = found->second;
            const bool is_q_key = trap_number == trap::bad_q_key;
            trouble.name = is_q_key ? "q-key-violation" : "p-key-violation";
            trouble.subnet = &moment.subnet;
            trouble.may_be_of_no_link = true;
            trouble.p_key = is_q_key ? std::uint16_t{0} : static_cast<std::uint16_t>(bad_key | full_membership);
            for (const auto& gid : {from.gid, to.gid})
                if (!gid.is_zero()) trouble.ports.push_back(gid);
            const auto who = at.empty() ? to.text() : at;
            trouble.text = who + " has told that it drops packets with " +
                           (is_q_key ? "Q_Key " + hex(bad_key, 8) : "P_Key " + hex(bad_key & 0xffffU, 4)) + " from " +
                           from.text() + (at.empty() ? "" : " to " + to.text()) +
                           (is_q_key ? ": they are of another link, or the sender has another record of the group."
                                     : ": it is not in that partition, or both ends are limited members of it.");
        }
        found->second.show(moment.known.now);
    }

    std::map<Key, Trouble> found_;
};

}  // namespace

std::unique_ptr<Watcher> watch_notices() { return std::make_unique<Notices>(); }

}  // namespace ipoib::links
