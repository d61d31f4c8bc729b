// SPDX-License-Identifier: GPL-2.0-or-later
// Requests by hand, and what comes back.
#include "conformance/siege/paper.hpp"

#include "conformance/siege/groups.hpp"
#include "fabric/node/mad_frame.hpp"
#include "fabric/simulated/smp_frame.hpp"
#include "protocol/wire/inform_info.hpp"
#include "protocol/wire/packet.hpp"
#include "protocol/wire/port_info.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

namespace ipoib::conformance::siege {
using namespace wire;
using namespace std::chrono_literals;
using namespace sa_model;
using M = McMemberRecord;
using C = M::component;

namespace {

constexpr std::uint64_t sm_key = 1;
constexpr std::uint16_t sm_lid = 1, first_lid = 10, first_partition = 0xffff, second_partition = 0x8001;
/// Longer than an administrator takes to answer and to report.
constexpr fabric::Duration settles = 60us;

/// P_Keys by port: two are full members of both partitions, one of one, one a limited member of the first; one has an
/// MTU less than the groups'. The last is nobody's: it looks.
const std::array<std::vector<std::uint16_t>, 6> tables{{{first_partition, second_partition},
                                                        {first_partition, second_partition},
                                                        {first_partition},
                                                        {first_partition & 0x7fff, second_partition},
                                                        {first_partition},
                                                        {first_partition, second_partition}}};
constexpr unsigned ports = 5, observer = 5, narrow = 4;
constexpr std::uint8_t usual_mtu = 4, narrow_mtu = 3;  ///< codes

Gid gid_of(unsigned port) { return Gid::of(default_subnet_prefix, 0x0002c90300100000u + port); }
std::uint8_t mtu_of(unsigned port) { return port == narrow ? narrow_mtu : usual_mtu; }
class PaperView : public fabric::SubnetView {
public:
    [[nodiscard]] const std::vector<fabric::KnownPort>& ports() const override { return known; }
    [[nodiscard]] const fabric::KnownPort* by_lid(std::uint16_t lid) const override {
        return find([&](const fabric::KnownPort& port) { return port.lid == lid; });
    }
    [[nodiscard]] const fabric::KnownPort* by_gid(const Gid& gid) const override {
        return find([&](const fabric::KnownPort& port) { return port.gid == gid; });
    }
    void route(std::uint16_t, const Routes&) override {}
    std::vector<fabric::KnownPort> known;

private:
    template <class Is>
    [[nodiscard]] const fabric::KnownPort* find(const Is& is_it) const {
        const auto at = std::ranges::find_if(known, is_it);
        return at == known.end() ? nullptr : &*at;
    }
};

/// Keeps what an adapter sends.
struct Letterbox : fabric::FrameSink {
    void receive(const fabric::Frame& frame) override { frames.push_back(frame); }
    std::vector<fabric::Frame> frames;
};

}  // namespace

struct PaperSubject::State {
    explicit State(const fabric::SaBehaviour& b)
        : behaviour(b), hca(loop, {.port_guid = 0x0002c90300ff0001, .is_sm = true}) {
        hca.connect(&box);
        bring_up();
        for (auto& lid : lids) lid = next_lid++;
        for (unsigned i = 0; i < tables.size(); ++i) add(i);
    }

    std::vector<Record> configured;  ///< the broadcast groups, as they were at first
    void set(std::uint16_t attribute, std::uint32_t modifier, Octets data);
    void bring_up();
    void add(unsigned port);
    void create_groups();
    [[nodiscard]] fabric::Partition partition(std::uint16_t p_key) const;
    [[nodiscard]] Answer ask(unsigned port, Method method, std::uint16_t attribute, std::uint64_t mask, Octets record,
                             std::uint64_t key = 0);
    /// Takes what has come: reports are answered and kept, the answer to the open request goes to `answer`.
    void read(std::optional<Answer>* answer);
    void acknowledge(unsigned port, const fabric::MadOctets& report);
    [[nodiscard]] std::uint16_t lid_of(unsigned port) const { return lids.at(port); }
    /// Who has this LID, and is there; none: nobody.
    [[nodiscard]] std::optional<unsigned> port_at(std::uint16_t lid) const;

    fabric::SaBehaviour behaviour;
    fabric::Loop loop;
    Letterbox box;
    fabric::Hca hca;
    PaperView view;
    std::optional<fabric::SubnetAdministrator> sa;
    std::vector<Heard> heard;
    std::uint32_t transaction = 0, group_number = 0;
    bool is_repeated = false;  ///< the next request has the TransactionID of the last
    std::array<std::uint16_t, tables.size()> lids{};
    std::uint16_t next_lid = first_lid;
};

/// As its subnet manager would, over a path of no hops.
void PaperSubject::State::set(std::uint16_t attribute, std::uint32_t modifier, Octets data) {
    fabric::simulated::SmpFrame smp;
    constexpr std::uint8_t hops = 1;
    smp.set(DirectedSmp::method, Method::set)
        .set(DirectedSmp::attribute_id, attribute)
        .set(DirectedSmp::attribute_modifier, modifier)
        .set(DirectedSmp::hop_pointer, hops)
        .set(DirectedSmp::hop_count, hops);
    std::ranges::copy(data, smp.data().begin());
    hca.receive(smp.frame());
    box.frames.clear();
}

void PaperSubject::State::bring_up() {
    OctetArray<64> block{};
    write_bits(block.data(), At{0}, 16, first_partition);
    write_bits(block.data() + 2, At{0}, 16, second_partition);
    set(smp_attribute::p_key_table, 0, block);
    for (const auto state : {PortState::no_change, PortState::armed, PortState::active})
        set(smp_attribute::port_info, 1,
            Bytes<PortInfo>{}
                .set(PortInfo::gid_prefix, default_subnet_prefix)
                .set(PortInfo::lid, sm_lid)
                .set(PortInfo::master_sm_lid, sm_lid)
                .set(PortInfo::neighbor_mtu, 4)
                .set(PortInfo::port_state, state)
                .octets);
    if (!hca.is_active()) throw std::logic_error("the administrator's port does not come up");
}

void PaperSubject::State::add(unsigned port) {
    fabric::KnownPort known;
    known.gid = gid_of(port);
    known.port_guid = known.gid.interface_id();
    known.node_guid = known.port_guid;
    known.lid = lid_of(port);
    known.is_active = true;
    known.mtu = mtu_of(port);
    known.p_keys = tables.at(port);
    view.known.push_back(std::move(known));
}

fabric::Partition PaperSubject::State::partition(std::uint16_t p_key) const { return {.p_key = p_key}; }

void PaperSubject::State::create_groups() {
    sa->create_broadcast_group(partition(first_partition));
    sa->create_broadcast_group(partition(second_partition));
}

Answer PaperSubject::State::ask(unsigned port, Method method, std::uint16_t attribute, std::uint64_t mask,
                                Octets record, std::uint64_t key) {
    fabric::MadOctets mad{};
    const MutableOctets all{mad};
    set_field(all, Mad::base_version, 1);
    set_field(all, Mad::mgmt_class, MgmtClass::subn_adm);
    set_field(all, Mad::class_version, 2);
    set_field(all, Mad::method, method);
    if (!std::exchange(is_repeated, false)) ++transaction;
    set_field(all, Mad::transaction_id, transaction);
    set_field(all, Mad::attribute_id, attribute);
    const auto sa_header = all.subspan(Mad::size + Rmpp::size);
    set_field(sa_header, SaHeader::component_mask, mask);
    set_field(sa_header, SaHeader::sm_key, key);
    std::ranges::copy(record, mad.begin() + SaHeader::data_offset);
    hca.receive(fabric::mad_frame({.slid = lid_of(port), .dlid = sm_lid, .dest_qp = 1}, mad));
    std::optional<Answer> answer;
    loop.run_for(settles);
    read(&answer);
    return answer.value_or(Answer{});
}

std::optional<unsigned> PaperSubject::State::port_at(std::uint16_t lid) const {
    const auto* at = std::ranges::find(lids, lid);
    if (at == lids.end() || !view.by_lid(lid)) return {};
    return static_cast<unsigned>(at - lids.begin());
}

void PaperSubject::State::acknowledge(unsigned port, const fabric::MadOctets& report) {
    auto response = report;
    set_field(MutableOctets{response}, Mad::method, Method::report_resp);
    hca.receive(fabric::mad_frame({.slid = lid_of(port), .dlid = sm_lid, .dest_qp = 1}, response));
}

void PaperSubject::State::read(std::optional<Answer>* answer) {
    for (const auto& frame : std::exchange(box.frames, {})) {
        Packet packet;
        decode(frame.octets(), packet);
        if (!packet.lrh || packet.payload.size() < mad_size) continue;
        fabric::MadOctets mad{};
        std::copy_n(packet.payload.begin(), mad.size(), mad.begin());
        const auto header = View<Mad>::at(mad);
        const auto data = Octets{mad}.subspan(SaHeader::data_offset);
        if (header[Mad::method] == Method::report) {
            // Who is not there answers nothing.
            const auto port = port_at(packet.lrh[Lrh::dlid]);
            if (!port) continue;
            const auto notice = View<Notice>::at(data);
            const auto details = notice[Notice::data_details];
            heard.push_back({*port, notice[Notice::trap_number], View<GidDetails>::at(details)[GidDetails::gid]});
            acknowledge(*port, mad);
        } else if (answer && static_cast<std::uint32_t>(header[Mad::transaction_id]) == transaction) {
            *answer = Answer{.is_answered = true, .status = header[Mad::status], .record = {}};
            std::copy_n(data.begin(), M::size, (*answer)->record.octets.begin());
        }
    }
}

PaperSubject::PaperSubject(const fabric::SaBehaviour& behaviour) : state_(std::make_unique<State>(behaviour)) {}
PaperSubject::~PaperSubject() = default;

Subject::Abilities PaperSubject::abilities() const {
    std::vector<unsigned> groups;
    for (unsigned i = 0; i < group_names.size(); ++i) groups.push_back(i);
    return {.ports = ports,
            .askers = ports,
            .groups = std::move(groups),
            .ports_vanish = true,
            .ports_move = true,
            .restarts = true,
            .hears = true,
            .tells_members = true};
}

Ground PaperSubject::begin(bool is_anew) {
    auto& s = *state_;
    if (is_anew || !s.sa) {
        s.sa.reset();
        s.box.frames.clear();
        s.heard.clear();
        s.next_lid = first_lid;
        for (auto& lid : s.lids) lid = s.next_lid++;
        s.view.known.clear();
        s.sa.emplace(
            s.hca, s.view,
            fabric::SaConfig{.most_groups = room, .most_subscriptions = subscriptions, .behaviour = s.behaviour});
        s.create_groups();
    }
    for (unsigned i = 0; i < tables.size(); ++i)
        if (!s.view.by_gid(gid_of(i))) s.add(i);
    Ground ground{.facts = {.offers_send_only_full_member = s.behaviour.offers_send_only_full_member,
                            .room = room,
                            .subscriptions = subscriptions},
                  .groups = {},
                  .probes = {}};
    for (unsigned i = 0; i < ports; ++i)
        ground.facts.ports.push_back({.gid = gid_of(i), .p_keys = tables.at(i), .mtu = mtu_of(i)});
    // What was configured stays so, whatever a wrong administrator has made of it.
    if (s.configured.empty())
        for (const auto p_key : {first_partition, second_partition})
            if (const auto* group = s.sa->find(broadcast_gid(p_key, 2))) s.configured.push_back(group->record);
    ground.facts.administrative = s.configured;
    add_groups(ground, s.group_number++, Broadcast::included);
    return ground;
}

Answer PaperSubject::ask(const Request& request) {
    return state_->ask(request.asker, request.is_leave ? Method::del : Method::set, attribute::mc_member_record,
                       request.mask, request.record.octets);
}

Answer PaperSubject::subscribe(unsigned port, std::uint16_t trap, bool begins) {
    return state_->ask(port, Method::set, attribute::inform_info, 0, subscription(trap, begins).octets);
}

std::vector<Seen> PaperSubject::look(const Gid& mgid) {
    auto& s = *state_;
    std::vector<Seen> all(ports);
    auto record = Record{}.set(M::mgid, mgid);
    const auto get = [&](std::uint64_t mask, std::uint64_t key) {
        return s.ask(observer, Method::get, attribute::mc_member_record, mask, record.octets, key);
    };
    const auto group = get(C::mgid, 0);
    if (!group.is_ok()) return all;
    for (unsigned port = 0; port < ports; ++port) {
        record.set(M::port_gid, gid_of(port));
        const auto member = get(C::mgid | C::port_gid, sm_key);
        all[port].exists = true;
        all[port].record = group.record;
        if (!member.is_ok()) continue;
        all[port].states = member.record[M::join_state];
        all[port].is_proxy = member.record[M::proxy_join];
        all[port].record = member.record;
    }
    return all;
}

std::string PaperSubject::set_port(unsigned port, bool is_there) {
    auto& s = *state_;
    if (is_there) {
        s.add(port);
        return {};
    }
    std::erase_if(s.view.known, [&](const fabric::KnownPort& known) { return known.gid == gid_of(port); });
    s.sa->port_vanished(gid_of(port));
    return {};
}

void PaperSubject::repeat() { state_->is_repeated = true; }

std::string PaperSubject::move_port(unsigned port) {
    auto& s = *state_;
    constexpr std::uint16_t first_multicast_lid = 0xc000;
    if (s.next_lid >= first_multicast_lid) return "no LID is left";
    s.lids.at(port) = s.next_lid++;
    for (auto& known : s.view.known)
        if (known.gid == gid_of(port)) known.lid = s.lids.at(port);
    return {};
}

std::string PaperSubject::restart() {
    state_->sa->forget_all();
    state_->create_groups();
    return {};
}

std::vector<Heard> PaperSubject::heard(std::size_t) {
    auto& s = *state_;
    s.loop.run_for(settles);
    s.read(nullptr);
    return std::exchange(s.heard, {});
}

}  // namespace ipoib::conformance::siege
