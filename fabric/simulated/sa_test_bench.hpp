// SPDX-License-Identifier: GPL-2.0-or-later
// An administrator at an adapter of its own, a subnet of ports that exist only on paper, and MADs sent by hand.
#pragma once

#include "fabric/node/sa_table.hpp"
#include "fabric/node/test_node.hpp"
#include "fabric/simulated/subnet_administrator.hpp"
#include "protocol/wire/inform_info.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/path_record.hpp"
#include "protocol/wire/service_record.hpp"

namespace ipoib::fabric::testing {

using M = McMemberRecord;
using C = M::component;
using McRecord = Bytes<M>;

inline constexpr std::uint64_t default_prefix = std::uint64_t{0xfe80} << 48;
inline constexpr std::uint16_t sm_lid = 1;
/// MTU, rate, lifetime, HopLimit and scope with their selectors: all that a request to create can give.
inline constexpr std::uint64_t whole = C::create | C::mtu | C::mtu_selector | C::rate | C::rate_selector | C::lifetime |
                                       C::lifetime_selector | C::hop_limit | C::scope;

/// The subnet manager's knowledge, made up; keeps what it is told to route.
class PaperSubnet : public SubnetView {
public:
    [[nodiscard]] const std::vector<KnownPort>& ports() const override { return known; }
    [[nodiscard]] const KnownPort* by_lid(std::uint16_t lid) const override {
        const auto at =
            std::find_if(known.begin(), known.end(), [&](const KnownPort& port) { return port.lid == lid; });
        return at == known.end() ? nullptr : &*at;
    }
    [[nodiscard]] const KnownPort* by_gid(const Gid& gid) const override {
        const auto at =
            std::find_if(known.begin(), known.end(), [&](const KnownPort& port) { return port.gid == gid; });
        return at == known.end() ? nullptr : &*at;
    }
    void route(std::uint16_t mlid, const Routes& told) override {
        ++route_calls;
        routes[mlid] = told;
    }
    std::vector<KnownPort> known;
    std::map<std::uint16_t, Routes> routes;
    unsigned route_calls = 0;
};

/// A MAD that the administrator sent.
struct Mail {
    MadOctets mad{};
    std::uint16_t dlid = 0, p_key = 0;
    std::uint32_t dest_qp = 0, q_key = 0;
    std::uint8_t sl = 0;
    [[nodiscard]] View<Mad> header() const { return View<Mad>::at(mad); }
    [[nodiscard]] View<Rmpp> rmpp() const { return View<Rmpp>::at(Octets{mad}.subspan(Mad::size)); }
    [[nodiscard]] View<SaHeader> sa() const { return View<SaHeader>::at(Octets{mad}.subspan(Mad::size + Rmpp::size)); }
    template <class Record>
    [[nodiscard]] View<Record> record() const {
        return View<Record>::at(Octets{mad}.subspan(SaHeader::data_offset));
    }
};

inline constexpr int unanswered = -1;
/// Statuses of answers. IBTA Vol 1, 15.2.3.
inline constexpr int ok = mad_status::ok, no_resources = sa_status::no_resources, invalid = sa_status::invalid_request,
                     no_records = sa_status::no_records, too_many = sa_status::too_many_records,
                     bad_gid = sa_status::invalid_gid, insufficient = sa_status::insufficient_components;

struct Bench {
    explicit Bench(SaConfig config = {}) : node({.port_guid = 0x0002c90300ff0001, .is_sm = true}) {
        node.set_p_keys({0xffff, 0x8001});
        for (const auto state : {PortState::no_change, PortState::armed, PortState::active})
            REQUIRE(node.set(node.wanted(state, sm_lid)) == 0);
        sa.emplace(node.hca, subnet, config);
        sa->create_broadcast_group({});
    }
    explicit Bench(SaBehaviour behaviour) : Bench(SaConfig{.behaviour = behaviour}) {}

    /// Port `n`: LID 10 + n.
    static Gid gid(unsigned n) { return Gid::of(default_prefix, 0x0002c90300100000u + n); }
    static std::uint16_t lid(unsigned n) { return static_cast<std::uint16_t>(10 + n); }
    KnownPort& add(unsigned n, std::vector<std::uint16_t> p_keys = {0xffff}, std::uint8_t mtu = 4,
                   std::uint8_t rate = 3) {
        KnownPort port;
        port.gid = gid(n);
        port.port_guid = port.gid.interface_id();
        port.node_guid = port.port_guid ^ 1;
        port.lid = lid(n);
        port.mtu = mtu;
        port.rate = rate;
        port.is_active = true;
        port.p_keys = std::move(p_keys);
        return subnet.known.emplace_back(std::move(port));
    }

    static MadOctets request(Method method, std::uint16_t attribute, std::uint64_t mask, Octets record,
                             std::uint64_t transaction = 1) {
        MadOctets mad{};
        const MutableOctets all{mad};
        set_field(all, Mad::base_version, 1);
        set_field(all, Mad::mgmt_class, MgmtClass::subn_adm);
        set_field(all, Mad::class_version, 2);
        set_field(all, Mad::method, method);
        set_field(all, Mad::transaction_id, transaction);
        set_field(all, Mad::attribute_id, attribute);
        set_field(all.subspan(Mad::size + Rmpp::size), SaHeader::component_mask, mask);
        std::copy(record.begin(), record.end(), mad.begin() + SaHeader::data_offset);
        return mad;
    }
    void send(unsigned n, const MadOctets& mad) {
        node.hca.receive(mad_frame({.slid = lid(n), .dlid = sm_lid, .sl = 3, .dest_qp = 1}, mad));
    }
    /// What the administrator sent since the last call.
    std::vector<Mail> mail() {
        node.loop.run_for(std::chrono::microseconds{100});
        std::vector<Mail> all;
        for (const auto& frame : std::exchange(node.cable.sent, {})) {
            Packet packet;
            decode(frame.octets(), packet);
            Mail mail;
            std::copy(packet.payload.begin(), packet.payload.end(), mail.mad.begin());
            mail.dlid = packet.lrh[Lrh::dlid];
            mail.sl = packet.lrh[Lrh::sl];
            mail.p_key = packet.bth[Bth::p_key];
            mail.dest_qp = packet.bth[Bth::dest_qp];
            mail.q_key = packet.deth[Deth::q_key];
            all.push_back(mail);
        }
        return all;
    }

    /// Sends a request; the answer of one MAD is kept in `last`. Its status, or unanswered.
    int ask(unsigned n, const MadOctets& mad) {
        send(n, mad);
        for (const auto& mail : this->mail()) {
            if (mail.dlid != lid(n) || mail.header()[Mad::method] == Method::report) continue;
            last = mail;
            return last.header()[Mad::status];
        }
        return unanswered;
    }
    template <class Record>
    int ask(unsigned n, Method method, std::uint16_t attribute, std::uint64_t mask, const Bytes<Record>& record) {
        return ask(n, request(method, attribute, mask, record.octets));
    }
    /// The record of the last answer.
    template <class Record>
    [[nodiscard]] View<Record> answer() const {
        return last.record<Record>();
    }
    /// A whole table, acknowledged as it comes; its records.
    template <class Record>
    std::vector<Bytes<Record>> table(unsigned n, std::uint16_t attribute, std::uint64_t mask = 0,
                                     const Bytes<Record>& like = {}, std::uint64_t key = 0) {
        auto mad = request(Method::get_table, attribute, mask, like.octets, ++transaction);
        set_field(MutableOctets{mad}.subspan(Mad::size + Rmpp::size), SaHeader::sm_key, key);
        send(n, mad);
        SaTable collector;
        std::vector<Bytes<Record>> records;
        for (;;) {
            const auto all = mail();
            for (const auto& segment : all) {
                auto step = collector.take(sm_lid, segment.dlid, segment.mad);
                if (step.reply) send(n, *step.reply);
                if (!step.table) continue;
                for_each_record<Record>(*step.table, [&](const View<Record>& record) {
                    std::copy_n(record.data(), Record::size, records.emplace_back().octets.begin());
                });
                return records;
            }
            REQUIRE_FALSE(all.empty());
        }
    }

    /// What port `n` gives to join the link's group `mgid`.
    static McRecord record(unsigned n, const Gid& mgid, std::uint8_t states) {
        return McRecord{}
            .set(M::mgid, mgid)
            .set(M::port_gid, gid(n))
            .set(M::q_key, 0x0b1b)
            .set(M::p_key, 0xffff)
            .set(M::mtu_selector, selector::exactly)
            .set(M::mtu, 4)
            .set(M::rate_selector, selector::exactly)
            .set(M::rate, 3)
            .set(M::lifetime_selector, selector::exactly)
            .set(M::lifetime, 17)
            .set(M::scope, 2)
            .set(M::join_state, states);
    }
    int set(unsigned n, const McRecord& wanted, std::uint64_t mask = whole) {
        return ask(n, Method::set, attribute::mc_member_record, mask, wanted);
    }
    int join(unsigned n, const Gid& mgid, std::uint8_t states = 1, std::uint64_t mask = whole) {
        return set(n, record(n, mgid, states), mask);
    }
    int leave(unsigned n, const Gid& mgid, std::uint8_t states = 1, std::uint64_t mask = C::join) {
        return ask(n, Method::del, attribute::mc_member_record, mask, record(n, mgid, states));
    }
    [[nodiscard]] bool exists(const Gid& mgid) const { return sa->find(mgid) != nullptr; }
    [[nodiscard]] std::uint8_t states(unsigned n, const Gid& mgid) const {
        const auto* group = sa->find(mgid);
        const auto at = group ? group->members.find(gid(n)) : decltype(group->members.begin()){};
        return group && at != group->members.end() ? at->second : std::uint8_t{0};
    }

    Node node;
    PaperSubnet subnet;
    std::optional<SubnetAdministrator> sa;
    Mail last;
    std::uint64_t transaction = 1000;
};

inline const Gid broadcast = broadcast_gid(0xffff, 2);
/// A group of the link, and one of no IPoIB link.
inline const Gid group_mgid = mgid_for_ipv4(0xe0001234, 0xffff, 2), foreign_mgid = Gid::of(0xff121234ffff0000, 7);

}  // namespace ipoib::fabric::testing
