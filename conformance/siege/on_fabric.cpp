// SPDX-License-Identifier: GPL-2.0-or-later
// Through Port::ask_sa.
#include "conformance/siege/on_fabric.hpp"

#include "conformance/siege/groups.hpp"
#include "protocol/wire/class_port_info.hpp"
#include "protocol/wire/node_record.hpp"
#include "protocol/wire/port_info.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace ipoib::conformance::siege {
using namespace wire;
using namespace std::chrono_literals;
using namespace sa_model;
using fabric::Ability;
using M = McMemberRecord;
using C = M::component;

namespace {

constexpr unsigned most_links = 2;
/// Of a link's broadcast group, the usual one first: link-local, admin-local, site-local, organisation-local, global.
constexpr std::array<std::uint8_t, 5> scopes{2, 4, 5, 8, 0xe};
/// Until a report is missing, and in which those would come that should not.
constexpr fabric::Duration reports_come = 2s, strays_come = 2ms;
/// Until its records are as its answers have promised, and between two looks.
constexpr fabric::Duration records_follow = 1s, between_looks = 50ms;
/// Until it answers after a restart, and between two tries.
constexpr fabric::Duration comes_back = 20s, between_tries = 50ms;

Record record_of(const fabric::SaAnswer& answer) {
    Record record;
    if (answer.data.size() >= M::size) std::copy_n(answer.data.begin(), M::size, record.octets.begin());
    return record;
}

Answer answer_of(const fabric::SaAnswer& answer) {
    return {.is_answered = answer.is_answered,
            .status = answer.status,
            .record = record_of(answer),
            .is_to_repeated = answer.repeats != 0};
}

}  // namespace

FabricSubject::FabricSubject(fabric::Fabric& fabric, const Options& options)
    : fabric_(fabric), options_(options), group_number_(static_cast<std::uint32_t>(options.seed * 0x9e3779b9u)) {
    facts_.reports_come_late = true;
    for (auto* port : fabric_.ports()) {
        const auto facts = port->facts();
        facts_.ports.push_back({.gid = facts.gid, .p_keys = facts.p_keys, .mtu = facts.mtu, .rate = facts.rate});
        const auto number = static_cast<unsigned>(facts_.ports.size() - 1);
        port->on_report([this, number](const View<Notice>& notice) {
            const auto trap_number = notice[Notice::trap_number];
            if (trap_number != trap::multicast_group_created && trap_number != trap::multicast_group_deleted) return;
            const auto details = notice[Notice::data_details];
            heard_.push_back({number, trap_number, View<GidDetails>::at(details)[GidDetails::gid]});
        });
    }
    askers_ = static_cast<unsigned>(facts_.ports.size());
    const auto info = ask_sa(0, Method::get, attribute::class_port_info, 0, {});
    if (!info.is_ok()) throw std::runtime_error("the subnet administrator does not tell its ClassPortInfo");
    const auto told = info.first<ClassPortInfo>();
    facts_.offers_send_only_full_member =
        told && (told[ClassPortInfo::capability_mask2] & ClassPortInfo::send_only_full_member) != 0;
    learn_links();
    learn_others();
}

void FabricSubject::learn_others() {
    using R = NodeRecord;
    constexpr std::uint16_t last_lid = 48;
    const auto own = facts_.ports.front();
    for (std::uint16_t lid = 1; lid <= last_lid && facts_.ports.size() < askers_ + options_.others; ++lid) {
        const auto wanted = Bytes<R>{}.set(R::lid, lid);
        const auto answer = ask_sa(0, Method::get, attribute::node_record, R::component::lid, wanted.octets);
        if (!answer.is_ok()) continue;
        const auto info = node_info(answer.first<R>());
        if (!info || info[NodeInfo::node_type] != NodeInfo::channel_adapter) continue;
        auto port = own;
        port.gid = Gid::of(own.gid.prefix(), info[NodeInfo::port_guid]);
        port.mtu = mtu_at(lid);
        if (port.mtu == 0) continue;
        const auto is_it = [&](const Port& other) { return other.gid == port.gid; };
        if (!std::ranges::any_of(facts_.ports, is_it)) facts_.ports.push_back(std::move(port));
    }
}

std::uint8_t FabricSubject::mtu_at(std::uint16_t lid) {
    using R = PortInfoRecord;
    const auto wanted = Bytes<R>{}.set(R::endport_lid, lid);
    const auto answer = ask_sa(0, Method::get, attribute::port_info_record, R::component::endport_lid, wanted.octets);
    const auto info = port_info(answer.first<R>());
    return answer.is_ok() && info ? info[PortInfo::neighbor_mtu] : std::uint8_t{0};
}

FabricSubject::~FabricSubject() {
    for (auto* port : fabric_.ports()) port->on_report(nullptr);
}

fabric::SaAnswer FabricSubject::ask_sa(unsigned port, Method method, std::uint16_t attribute, std::uint64_t mask,
                                       Octets record, bool is_trusted, bool is_again) {
    return fabric_.ports()[port]->ask_sa({.method = method,
                                          .attribute = attribute,
                                          .component_mask = mask,
                                          .record = {record.begin(), record.end()},
                                          .is_trusted = is_trusted,
                                          .is_again = is_again},
                                         options_.patience);
}

void FabricSubject::learn_links() {
    std::vector<Record> links;
    auto p_keys = facts_.ports.front().p_keys;
    std::erase_if(p_keys, [](std::uint16_t entry) { return !is_full_member(entry); });
    const auto is_link = [&](std::uint16_t entry) { return is_same_partition(entry, options_.p_key); };
    std::stable_partition(p_keys.begin(), p_keys.end(), is_link);
    for (const auto p_key : p_keys) {
        if (links.size() == most_links) break;
        for (const auto scope : scopes) {
            const auto wanted = Record{}.set(M::mgid, broadcast_gid(p_key, scope));
            const auto answer = ask_sa(0, Method::get, attribute::mc_member_record, C::mgid, wanted.octets);
            if (!answer.is_ok()) continue;
            links.push_back(record_of(answer));
            break;
        }
    }
    if (links.empty())
        throw std::runtime_error("the subnet administrator has no broadcast group for a partition of the port");
    facts_.administrative = std::move(links);
}

Subject::Abilities FabricSubject::abilities() const {
    const auto can = fabric_.abilities();
    return {.ports = static_cast<unsigned>(facts_.ports.size()),
            .askers = askers_,
            .groups = groups_of(facts_, Broadcast::spared),
            .ports_move = can.has(Ability::fabric_control) && why_no_moves_.empty(),
            .restarts = can.has(Ability::fabric_control) && why_no_restarts_.empty(),
            .hears = can.has(Ability::reports),
            .tells_members = can.has(Ability::trusted_sa),
            .lasts = true};
}

Ground FabricSubject::begin(bool) {
    heard_.clear();
    Ground ground{.facts = facts_, .groups = {}, .probes = {}};
    add_groups(ground, group_number_++, Broadcast::spared);
    return ground;
}

Answer FabricSubject::answer_to(unsigned port, Method method, std::uint16_t attribute, std::uint64_t mask,
                                Octets record) {
    const bool is_again = std::exchange(is_again_, false);
    waited_ = {};
    return answer_of(ask_sa(port, method, attribute, mask, record, false, is_again));
}

Answer FabricSubject::ask(const Request& request) {
    return answer_to(request.asker, request.is_leave ? Method::del : Method::set, attribute::mc_member_record,
                     request.mask, request.record.octets);
}

Answer FabricSubject::subscribe(unsigned port, std::uint16_t trap, bool begins) {
    return answer_to(port, Method::set, attribute::inform_info, 0, subscription(trap, begins).octets);
}

std::vector<Seen> FabricSubject::look(const Gid& mgid) {
    std::vector<Seen> all(facts_.ports.size());
    auto record = Record{}.set(M::mgid, mgid);
    const auto get = [&](std::uint64_t mask, bool is_trusted) {
        return ask_sa(0, Method::get, attribute::mc_member_record, mask, record.octets, is_trusted);
    };
    const auto group = get(C::mgid, false);
    if (!group.is_answered) return {};
    for (unsigned port = 0; group.is_ok() && port < all.size(); ++port) {
        record.set(M::port_gid, facts_.ports[port].gid);
        const auto answer = get(C::mgid | C::port_gid, true);
        if (!answer.is_answered) return {};
        all[port].exists = true;
        all[port].record = record_of(group);
        if (!answer.is_ok()) continue;
        all[port].record = record_of(answer);
        all[port].states = all[port].record[M::join_state];
        all[port].is_proxy = all[port].record[M::proxy_join];
    }
    return all;
}

std::string FabricSubject::set_port(unsigned, bool) { return "the tester's own ports stay"; }

std::string FabricSubject::change(const std::vector<fabric::FabricChange>& changes) {
    waited_ = {};
    for (const auto& one : changes) {
        const auto answer = fabric_.change(one);
        if (!answer.is_done()) return answer.message;
    }
    auto& loop = fabric_.loop();
    for (const auto end = loop.now() + comes_back; loop.now() < end && problem().empty();) {
        try {
            learn_links();
            return {};
        } catch (const std::runtime_error&) {
            loop.run_for(between_tries);
        }
    }
    gone_ = "the subnet administrator does not come back after a change of the fabric";
    return gone_;
}

std::string FabricSubject::move_port(unsigned port) {
    if (!why_no_moves_.empty()) return why_no_moves_;
    const fabric::PortName name{.guid = facts_.ports.at(port).gid.interface_id()};
    return why_no_moves_ = change({fabric::SetLid{.port = name}});
}

std::string FabricSubject::restart() {
    if (!why_no_restarts_.empty()) return why_no_restarts_;
    return why_no_restarts_ = change({fabric::SetManager{.runs = false}, fabric::SetManager{.runs = true}});
}

bool FabricSubject::may_follow(const std::vector<std::string>& keys) {
    const bool is_known = std::ranges::all_of(keys, [&](const std::string& key) { return lasting_.contains(key); });
    if (is_known || waited_ >= records_follow) {
        lasting_.insert(keys.begin(), keys.end());
        waited_ = {};
        return false;
    }
    fabric_.loop().run_for(between_looks);
    waited_ += between_looks;
    return true;
}

std::vector<std::string> FabricSubject::left_out() const {
    const auto can = abilities();
    const auto& own = facts_.ports.front();
    const auto& link = facts_.administrative.front();
    std::vector<std::string> all{"its broadcast groups, which are others', too", "ports that vanish"};
    const auto tell_change = [&](bool is_done, std::string what, const std::string& why) {
        if (!is_done) all.push_back(std::move(what) + " (" + (why.empty() ? "--fabric-control does it" : why) + ")");
    };
    tell_change(can.restarts, "restarts", why_no_restarts_);
    tell_change(can.ports_move, "other LIDs", why_no_moves_);
    if (!can.hears) all.emplace_back("reports, which do not come here");
    if (!can.tells_members)
        all.emplace_back("members and their join states, which are told to who knows the SM_Key (sm-key=)");
    if (can.askers == 1) all.emplace_back("requests of a second port");
    if (facts_.administrative.size() < most_links) all.emplace_back("a second partition");
    const auto is_usual = [&](const Port& port) {
        return port.mtu >= link[M::mtu] && std::ranges::all_of(port.p_keys, is_full_member);
    };
    if (is_usual(own) && std::ranges::all_of(facts_.ports, is_usual))
        all.emplace_back("limited members, and ports whose MTU is less than the link's");
    return all;
}

std::vector<Heard> FabricSubject::heard(std::size_t wanted) {
    auto& loop = fabric_.loop();
    if (heard_.size() < wanted) loop.run_until([&] { return heard_.size() >= wanted; }, loop.now() + reports_come);
    loop.run_for(strays_come);
    return std::exchange(heard_, {});
}

}  // namespace ipoib::conformance::siege
