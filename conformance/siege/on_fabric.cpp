// SPDX-License-Identifier: GPL-2.0-or-later
// Through Port::ask_sa.
#include "conformance/siege/on_fabric.hpp"

#include "conformance/siege/groups.hpp"
#include "protocol/wire/class_port_info.hpp"
#include "protocol/wire/node_record.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>
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

constexpr unsigned link_local = 2, most_links = 2;
/// Until a report is missing, and in which those would come that should not.
constexpr fabric::Duration reports_come = 2s, strays_come = 2ms;
/// After a restart.
constexpr unsigned most_restart_tries = 30;

Record record_of(const fabric::SaAnswer& answer) {
    Record record;
    if (answer.data.size() >= M::size) std::copy_n(answer.data.begin(), M::size, record.octets.begin());
    return record;
}

Answer answer_of(const fabric::SaAnswer& answer) {
    return {.is_answered = answer.is_answered, .status = answer.status, .record = record_of(answer)};
}

}  // namespace

FabricSubject::FabricSubject(fabric::Fabric& fabric, const Options& options)
    : fabric_(fabric), options_(options), group_number_(static_cast<std::uint32_t>(options.seed * 0x9e3779b9u)) {
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
    const auto info = ask_sa(0, Method::get, attribute::class_port_info, 0, {}, false);
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
        const auto answer = ask_sa(0, Method::get, attribute::node_record, R::component::lid, wanted.octets, false);
        if (!answer.is_ok()) continue;
        const auto info = node_info(answer.first<R>());
        if (!info || info[NodeInfo::node_type] != NodeInfo::channel_adapter) continue;
        auto port = own;
        port.gid = Gid::of(own.gid.prefix(), info[NodeInfo::port_guid]);
        const auto is_it = [&](const Port& other) { return other.gid == port.gid; };
        if (!std::ranges::any_of(facts_.ports, is_it)) facts_.ports.push_back(std::move(port));
    }
}

FabricSubject::~FabricSubject() {
    for (auto* port : fabric_.ports()) port->on_report(nullptr);
}

fabric::SaAnswer FabricSubject::ask_sa(unsigned port, Method method, std::uint16_t attribute, std::uint64_t mask,
                                       Octets record, bool is_trusted) {
    return fabric_.ports()[port]->ask_sa({.method = method,
                                          .attribute = attribute,
                                          .component_mask = mask,
                                          .record = {record.begin(), record.end()},
                                          .is_trusted = is_trusted},
                                         options_.patience);
}

void FabricSubject::learn_links() {
    facts_.administrative.clear();
    auto p_keys = facts_.ports.front().p_keys;
    std::erase_if(p_keys, [](std::uint16_t entry) { return !is_full_member(entry); });
    const auto is_link = [&](std::uint16_t entry) { return is_same_partition(entry, options_.p_key); };
    std::stable_partition(p_keys.begin(), p_keys.end(), is_link);
    for (const auto p_key : p_keys) {
        if (facts_.administrative.size() == most_links) break;
        const auto wanted = Record{}.set(M::mgid, broadcast_gid(p_key, link_local));
        const auto answer = ask_sa(0, Method::get, attribute::mc_member_record, C::mgid, wanted.octets, false);
        if (answer.is_ok()) facts_.administrative.push_back(record_of(answer));
    }
    if (facts_.administrative.empty())
        throw std::runtime_error("the subnet administrator has no broadcast group for a partition of the port");
}

Subject::Abilities FabricSubject::abilities() const {
    const auto can = fabric_.abilities();
    return {.ports = static_cast<unsigned>(facts_.ports.size()),
            .askers = askers_,
            .groups = groups_of(facts_, Broadcast::spared),
            .restarts = can.has(Ability::fabric_control),
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

Answer FabricSubject::ask(const Request& request) {
    return answer_of(ask_sa(request.asker, request.is_leave ? Method::del : Method::set, attribute::mc_member_record,
                            request.mask, request.record.octets, false));
}

Answer FabricSubject::subscribe(unsigned port, std::uint16_t trap, bool begins) {
    return answer_of(ask_sa(port, Method::set, attribute::inform_info, 0, subscription(trap, begins).octets, false));
}

std::vector<Seen> FabricSubject::look(const Gid& mgid) {
    std::vector<Seen> all(facts_.ports.size());
    auto record = Record{}.set(M::mgid, mgid);
    const auto get = [&](std::uint64_t mask, bool is_trusted) {
        return ask_sa(0, Method::get, attribute::mc_member_record, mask, record.octets, is_trusted);
    };
    const auto group = get(C::mgid, false);
    for (unsigned port = 0; group.is_ok() && port < all.size(); ++port) {
        record.set(M::port_gid, facts_.ports[port].gid);
        const auto answer = get(C::mgid | C::port_gid, true);
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

std::string FabricSubject::move_port(unsigned) { return "the tester's own ports keep their LIDs"; }

std::string FabricSubject::restart() {
    for (const bool runs : {false, true}) {
        const auto answer = fabric_.change(fabric::SetManager{.runs = runs});
        if (!answer.is_done()) return answer.message;
    }
    for (unsigned i = 0; i < most_restart_tries; ++i) {
        try {
            learn_links();
            return {};
        } catch (const std::runtime_error&) {
            fabric_.loop().run_for(options_.patience / most_restart_tries);
        }
    }
    return "the subnet administrator does not come back";
}

std::vector<Heard> FabricSubject::heard(std::size_t wanted) {
    auto& loop = fabric_.loop();
    if (heard_.size() < wanted) loop.run_until([&] { return heard_.size() >= wanted; }, loop.now() + reports_come);
    loop.run_for(strays_come);
    return std::exchange(heard_, {});
}

}  // namespace ipoib::conformance::siege
