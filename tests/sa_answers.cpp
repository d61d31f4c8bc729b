// SPDX-License-Identifier: GPL-2.0-or-later
// Asks a subnet administrator the same things in the same order, whoever it is, and prints as JSON what it answers, for
// opensm_test.py: "simulated", or "ibsim" with libumad2sim loaded beforehand.
#include "fabric/simulated/fabric.hpp"
#include "fabric/umad/fabric.hpp"
#include "protocol/wire/inform_info.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/path_record.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

using namespace ipoib;
using namespace ipoib::fabric;
using namespace ipoib::wire;
using namespace std::chrono_literals;

namespace {

using M = McMemberRecord;
using C = M::component;

constexpr std::uint64_t all_components =
    C::create | C::hop_limit | C::mtu_selector | C::mtu | C::rate_selector | C::rate;

class Conversation {
public:
    explicit Conversation(Port& port) : port_(port), own_(port.facts().gid) {}

    [[nodiscard]] const Gid& own() const noexcept { return own_; }
    [[nodiscard]] Port& port() noexcept { return port_; }
    [[nodiscard]] const nlohmann::ordered_json& told() const noexcept { return told_; }

    template <class Record>
    SaAnswer ask(const std::string& what, Method method, std::uint16_t attribute, std::uint64_t mask,
                 const Bytes<Record>& record, bool is_trusted = false) {
        auto answer = port_.ask_sa({.method = method,
                                    .attribute = attribute,
                                    .component_mask = mask,
                                    .record = {record.octets.begin(), record.octets.end()},
                                    .is_trusted = is_trusted},
                                   200ms);
        if (told_.contains(what)) throw std::logic_error("'" + what + "' is asked twice");
        told_[what] = text_of<Record>(answer);
        return answer;
    }
    SaAnswer members(const std::string& what, Method method, std::uint64_t mask, const Bytes<M>& record,
                     bool is_trusted = false) {
        return ask(what, method, attribute::mc_member_record, mask, record, is_trusted);
    }

    /// A record like the broadcast group's, for a group of this number.
    [[nodiscard]] Bytes<M> group(const Gid& mgid) const {
        auto record = broadcast;
        return record.set(M::mgid, mgid)
            .set(M::port_gid, own_)
            .set(M::mlid, 0)
            .set(M::join_state, 1)
            .set(M::scope, mgid_of(mgid)[Mgid::scope])
            .set(M::mtu_selector, selector::exactly)
            .set(M::rate_selector, selector::exactly);
    }
    Bytes<M> broadcast;

private:
    /// Own GIDs and LIDs differ from fabric to fabric; an MLID tells by its being there.
    template <class Header>
    [[nodiscard]] std::string value(const FieldSpec& field, const std::uint8_t* at) const {
        auto text = value_text(field, at);
        if (field.show == Show::gid && text == wire::text(own_)) return "own";
        if (std::is_same_v<Header, M> && field.name == M::mlid.name && text != "0x0000" && text != "0xc123")
            return "given";
        return text;
    }
    template <class Record>
    [[nodiscard]] std::string text_of(const SaAnswer& answer) const {
        if (!answer.is_answered) return "no answer";
        if (answer.status != 0) return "status " + hex(answer.status, 4);
        std::string text = "granted";
        const auto tell = [&](View<Record> record) {
            text += " {";
            for (const auto& field : Record::fields)
                text += ' ' + std::string(field.name) + '=' + value<Record>(field, record.octets().data());
            text += " }";
        };
        if (answer.method == Method::get_table_resp)
            (void)for_each_record<Record>(answer.data, answer.record_size, tell);
        else if (const auto record = answer.template first<Record>())
            tell(record);
        if (answer.record_size != 0) text += " at each " + std::to_string(answer.record_size) + " octets";
        return text;
    }

    Port& port_;
    Gid own_;
    nlohmann::ordered_json told_;
};

Gid ipv4_group(std::uint32_t number, std::uint16_t p_key) { return mgid_for_ipv4(0xef000000 | number, p_key, 2); }

void queries(Conversation& c) {
    const auto like = [&](const Gid& mgid) { return Bytes<M>{}.set(M::mgid, mgid); };
    const auto broadcast = broadcast_gid(0xffff, 2);
    const auto answer = c.members("Get of the broadcast group", Method::get, C::mgid, like(broadcast));
    if (const auto record = answer.first<M>()) std::ranges::copy(record.octets(), c.broadcast.octets.begin());
    c.members("GetTable of the broadcast group", Method::get_table, C::mgid, like(broadcast));
    c.members("Get of a group that is not", Method::get, C::mgid, like(ipv4_group(1, 0xffff)));
    c.members("GetTable of a group that is not", Method::get_table, C::mgid, like(ipv4_group(1, 0xffff)));
    c.members("Get by MLID", Method::get, C::mlid, Bytes<M>{}.set(M::mlid, c.broadcast[M::mlid]));
    c.members("Get by a P_Key without the membership bit", Method::get, C::mgid | C::p_key,
              like(broadcast).set(M::p_key, 0x7fff));
    c.members("GetTable by P_Key", Method::get_table, C::p_key, Bytes<M>{}.set(M::p_key, 0xffff));
}

void joins(Conversation& c) {
    const auto mgid = ipv4_group(0x10, 0xffff);
    const auto one = [&](int states) { return c.group(mgid).set(M::join_state, static_cast<std::uint8_t>(states)); };
    c.members("The first FullMember", Method::set, all_components, one(1));
    c.members("A FullMember again", Method::set, all_components, one(1));
    for (const int states : {2, 4, 8, 6, 0})
        c.members("A member with JoinState " + std::to_string(states), Method::set, C::join, one(states));
    c.members("Get of a group of one's own", Method::get, C::mgid, one(0));
    c.members("GetTable of it with the SM_Key", Method::get_table, C::mgid, one(0), true);
    c.members("GetTable of it without", Method::get_table, C::mgid, one(0));
    c.members("GetTable of oneself without", Method::get_table, C::mgid | C::port_gid, one(0));
    c.members("Leave of one of four states", Method::del, C::join, one(2));
    c.members("Leave of a state not held", Method::del, C::join, one(2).set(M::port_gid, c.own()));
    c.members("Leave of the rest", Method::del, C::join, one(0xd));
    c.members("Get of the group that was left", Method::get, C::mgid, one(0));
    c.members("Leave of a group that is not", Method::del, C::join, one(1));
    for (const int states : {2, 4, 6, 8, 9, 0xf, 0}) {
        const auto fresh = c.group(ipv4_group(0x20u + static_cast<unsigned>(states), 0xffff))
                               .set(M::join_state, static_cast<std::uint8_t>(states));
        c.members("A new group with JoinState " + std::to_string(states), Method::set, all_components, fresh);
        (void)c.port().ask_sa({.method = Method::del,
                               .attribute = attribute::mc_member_record,
                               .component_mask = C::join,
                               .record = {fresh.octets.begin(), fresh.octets.end()}},
                              200ms);
        c.members("What is left of a group with JoinState " + std::to_string(states), Method::get_table, C::mgid,
                  fresh);
    }
}

struct Variant {
    const char* what;
    void (*change)(Bytes<M>& record, std::uint64_t& mask);
};
constexpr std::array variants{
    Variant{"as the broadcast group", [](auto&, auto&) {}},
    Variant{"without MGID", [](auto&, auto& mask) { mask &= ~C::mgid; }},
    Variant{"with MGID zero", [](auto& r, auto&) { r.set(M::mgid, {}); }},
    Variant{"without PortGID", [](auto&, auto& mask) { mask &= ~C::port_gid; }},
    Variant{"without JoinState", [](auto&, auto& mask) { mask &= ~C::join_state; }},
    Variant{"without Q_Key", [](auto&, auto& mask) { mask &= ~C::q_key; }},
    Variant{"without P_Key", [](auto&, auto& mask) { mask &= ~C::p_key; }},
    Variant{"without HopLimit, MTU and rate", [](auto&, auto& mask) { mask = C::create; }},
    Variant{"with MTU 1024", [](auto& r, auto&) { r.set(M::mtu, 3); }},
    Variant{"with MTU 4096", [](auto& r, auto&) { r.set(M::mtu, 5); }},
    Variant{"with an MTU greater than 256",
            [](auto& r, auto&) { r.set(M::mtu_selector, selector::greater).set(M::mtu, 1); }},
    Variant{"with an MTU less than 2048", [](auto& r, auto&) { r.set(M::mtu_selector, selector::less); }},
    Variant{"with the largest MTU", [](auto& r, auto&) { r.set(M::mtu_selector, selector::largest); }},
    Variant{"with MTU code 0", [](auto& r, auto&) { r.set(M::mtu, 0); }},
    Variant{"with a rate of 600 Gb/s", [](auto& r, auto&) { r.set(M::rate, 22); }},
    Variant{"with a rate less than 10 Gb/s", [](auto& r, auto&) { r.set(M::rate_selector, selector::less); }},
    Variant{"with the largest rate", [](auto& r, auto&) { r.set(M::rate_selector, selector::largest); }},
    Variant{"with a lifetime",
            [](auto& r, auto& mask) {
                r.set(M::lifetime_selector, selector::exactly).set(M::lifetime, 16);
                mask |= C::lifetime_selector | C::lifetime;
            }},
    Variant{"with an MLID of the requester's",
            [](auto& r, auto& mask) {
                r.set(M::mlid, 0xc123);
                mask |= C::mlid;
            }},
    Variant{"with another scope than the MGID's",
            [](auto& r, auto& mask) {
                r.set(M::scope, 5);
                mask |= C::scope;
            }},
    Variant{"with scope 0, not given", [](auto& r, auto&) { r.set(M::scope, 0); }},
    Variant{"with ProxyJoin",
            [](auto& r, auto& mask) {
                r.set(M::proxy_join, true);
                mask |= C::proxy_join;
            }},
    Variant{"with another Q_Key", [](auto& r, auto&) { r.set(M::q_key, 0x80001234); }},
    Variant{"with another SL", [](auto& r, auto&) { r.set(M::sl, 5); }},
    Variant{"with another TClass, FlowLabel and HopLimit",
            [](auto& r, auto&) { r.set(M::traffic_class, 1).set(M::flow_label, 2).set(M::hop_limit, 3); }},
    Variant{"with a P_Key without the membership bit", [](auto& r, auto&) { r.set(M::p_key, 0x7fff); }},
    Variant{"with a P_Key of others", [](auto& r, auto&) { r.set(M::p_key, 0x8abc); }},
    Variant{"with P_Key 0", [](auto& r, auto&) { r.set(M::p_key, 0); }},
    Variant{"with an MGID of another signature",
            [](auto& r, auto&) { r.set(M::mgid, Gid::of(0xff121234ffff0000, 1)); }},
    Variant{"with a permanent MGID", [](auto& r, auto&) { r.set(M::mgid, Gid::of(0xff02401bffff0000, 1)); }},
    Variant{"with reserved flags in the MGID", [](auto& r, auto&) { r.set(M::mgid, Gid::of(0xff72401bffff0000, 1)); }},
    Variant{"with scope 0 in the MGID", [](auto& r, auto&) { r.set(M::mgid, Gid::of(0xff10401bffff0000, 1)); }},
    Variant{"with scope F in the MGID", [](auto& r, auto&) { r.set(M::mgid, Gid::of(0xff1f401bffff0000, 1)); }},
    Variant{"with another P_Key in the MGID", [](auto& r, auto&) { r.set(M::mgid, Gid::of(0xff12401b81230000, 1)); }},
    Variant{"with 32 bits of an IPv4 group in the MGID",
            [](auto& r, auto&) { r.set(M::mgid, Gid::of(0xff12401bffff0000, 0xef000001)); }},
    Variant{"with a unicast GID", [](auto& r, auto&) { r.set(M::mgid, Gid::of(0xfe80401bffff0000, 1)); }},
    Variant{"with the SA's signature and local scope",
            [](auto& r, auto&) { r.set(M::mgid, Gid::of(0xff12a01bffff0000, 1)); }},
    Variant{"with the SA's signature and global scope",
            [](auto& r, auto&) { r.set(M::mgid, Gid::of(0xff1ea01bffff0000, 1)); }},
    Variant{"with the broadcast-GID of another scope",
            [](auto& r, auto&) { r.set(M::mgid, broadcast_gid(0xffff, 5)).set(M::scope, 5); }},
    Variant{"for a port that is not", [](auto& r, auto&) { r.set(M::port_gid, Gid::of(0xfe80000000000000, 0x9999)); }},
};

/// Each makes one group, and the same once more as a join of what is there then.
void creations(Conversation& c) {
    std::uint32_t number = 0x100;
    for (const auto& variant : variants) {
        auto record = c.group(ipv4_group(number++, 0xffff));
        auto mask = all_components;
        variant.change(record, mask);
        const auto made = c.members(std::string("A new group ") + variant.what, Method::set, mask, record);
        auto left = record;
        if (const auto told = made.first<M>(); made.is_ok() && told) left.set(M::mgid, told[M::mgid]);
        (void)c.port().ask_sa({.method = Method::del,
                               .attribute = attribute::mc_member_record,
                               .component_mask = C::join,
                               .record = {left.octets.begin(), left.octets.end()}},
                              200ms);
        c.members(std::string("What is left of a group ") + variant.what, Method::get_table, C::mgid, left);
    }
    const auto there = c.group(ipv4_group(0x80, 0xffff));
    c.members("A group to join", Method::set, all_components, there);
    for (const auto& variant : variants) {
        auto record = there;
        record.set(M::join_state, 4);
        auto mask = all_components;
        variant.change(record, mask);
        if (record[M::mgid] != there[M::mgid]) continue;
        c.members(std::string("A join ") + variant.what, Method::set, mask, record);
    }
    c.members("Leave without JoinState", Method::del, C::mgid | C::port_gid, there);
    c.members("Leave of everything", Method::del, C::join, Bytes<M>{there}.set(M::join_state, 5));
    c.members("What is left of the group", Method::get_table, C::mgid, there);
}

/// What may outlive its members: the administrator's group, and one whose creator was a SendOnlyFullMember too.
void departures(Conversation& c) {
    auto broadcast = c.group(broadcast_gid(0xffff, 2));
    c.members("A join of the broadcast group", Method::set, all_components, broadcast);
    c.members("A leave of the broadcast group", Method::del, C::join, broadcast);
    c.members("The broadcast group without its member", Method::get_table, C::mgid, broadcast);
    auto group = c.group(ipv4_group(0x300, 0xffff));
    c.members("A group with a FullMember and SendOnlyFullMember", Method::set, all_components,
              group.set(M::join_state, 9));
    c.members("Its leave as FullMember", Method::del, C::join, group.set(M::join_state, 1));
    c.members("The group with a SendOnlyFullMember", Method::get_table, C::mgid, group, true);
    c.members("Its leave as SendOnlyFullMember", Method::del, C::join, group.set(M::join_state, 8));
    c.members("The group without its SendOnlyFullMember", Method::get_table, C::mgid, group, true);
}

void subscriptions(Conversation& c) {
    using I = InformInfo;
    const auto base = Bytes<I>{}
                          .set(I::lid_range_begin, I::all)
                          .set(I::is_generic, 1)
                          .set(I::subscribe, 1)
                          .set(I::type, I::all)
                          .set(I::trap_number, trap::multicast_group_created)
                          .set(I::resp_time_value, 18)
                          .set(I::producer_type, 4);
    const auto ask = [&](const std::string& what, const Bytes<I>& info) {
        c.ask(what, Method::set, attribute::inform_info, 0, info);
    };
    auto info = base;
    ask("A subscription to trap 66", info);
    ask("The same again", info);
    ask("Its end", info.set(I::subscribe, 0).set(I::qpn, 1));
    ask("The end of what is not", info);
    info = base;
    ask("A subscription to trap 66 of one group", info.set(I::gid, ipv4_group(1, 0xffff)));
    info = base;
    ask("A subscription to all traps", info.set(I::trap_number, I::all));
    ask("The end of that", info.set(I::subscribe, 0).set(I::qpn, 1));
}

void paths(Conversation& c, const Gid& other) {
    using P = PathRecord;
    using K = P::component;
    const auto pair = [&](const Gid& to) {
        return Bytes<P>{}.set(P::dgid, to).set(P::sgid, c.own()).set(P::number_of_paths, 1).set(P::reversible, true);
    };
    constexpr auto mask = K::dgid | K::sgid | K::number_of_paths | K::reversible;
    const auto ask = [&](const std::string& what, std::uint64_t components, const Bytes<P>& wanted) {
        c.ask(what, Method::get, attribute::path_record, components, wanted);
    };
    ask("A path to nobody", mask, pair(Gid::of(0xfe80000000000000, 0x9999)));
    ask("A path in a partition of others", mask | K::p_key, pair(other).set(P::p_key, 0x8abc));
    ask("A path with an MTU of 4096", mask | K::mtu_selector | K::mtu,
        pair(other).set(P::mtu_selector, selector::exactly).set(P::mtu, 5));
    ask("A path from nobody", mask, pair(other).set(P::sgid, Gid::of(0xfe80000000000000, 0x9999)));
    ask("A path to a group", mask, pair(broadcast_gid(0xffff, 2)));
    ask("A path to a group that is not", mask, pair(ipv4_group(1, 0xffff)));
    c.ask("An attribute that there is not", Method::get, 0x0099, 0, Bytes<P>{});
    c.ask("Set of a path", Method::set, attribute::path_record, mask, pair(other));
}

void converse(Port& port) {
    Conversation c{port};
    queries(c);
    joins(c);
    creations(c);
    departures(c);
    subscriptions(c);
    paths(c, c.own());
    std::printf("%s\n", c.told().dump(1).c_str());
}

}  // namespace

int main(int argc, char** argv) {
    try {
        if (argc == 2 && std::string_view(argv[1]) == "ibsim") {
            UmadFabric fabric({.port = {.device = "ibsim0", .port = 1}, .sm_key = 1});
            converse(*fabric.ports().front());
        } else {
            // OpenSM has one lifetime for all groups.
            auto scenario = scenario_named("default");
            scenario.link.lifetime = 18;
            SimulatedFabric fabric{{.scenario = &scenario}};
            converse(*fabric.ports().front());
        }
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return 2;
    }
    return 0;
}
