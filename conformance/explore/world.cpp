// SPDX-License-Identifier: GPL-2.0-or-later
// The fabric of a schedule: how it begins, what can be done to it, how it is put in order again.
#include "conformance/explore/world.hpp"

#include "conformance/explore/remote.hpp"

#include <algorithm>
#include <stdexcept>

namespace ipoib::conformance::explore {
using namespace wire;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t first_peer_guid = 0x0002c90300ee0001, peer_step = 0x100;
constexpr std::uint64_t first_newcomer_guid = 0x0002c90300ef0001;
constexpr std::uint8_t v4_prefix = 24, v6_prefix = 64;
constexpr std::uint32_t network = 0x0a010000;  // 10.1.0.0
constexpr std::uint64_t local_prefix = 0xfd00000100000000;
constexpr unsigned dut_host = 9, twin_host = 5, first_newcomer_host = 20;
constexpr auto longest_start = 10s;
constexpr std::uint16_t another_p_key = 0x8347;

/// The same in both families, whoever has the adapter.
std::vector<IpNetwork> addresses_of(unsigned host) {
    return {{IpAddress::v4(network | host), v4_prefix}, {IpAddress::v6(Gid::of(local_prefix, host)), v6_prefix}};
}

}  // namespace

IpAddress group_address(unsigned number) {
    constexpr std::uint64_t site = std::uint64_t{0xff15} << 48, link = std::uint64_t{0xff12} << 48;
    switch (number) {
        case 0:
            return IpAddress::v4(0xef090901);
        case 1:
            return IpAddress::v4(0xef090902);
        case 2:
            return IpAddress::v6(Gid::of(site, 0x90001));
        case 3:
            return IpAddress::v6(Gid::of(link, 0x90001));
        case 4:
            return IpAddress::v4(0xef090903);
        default:
            return IpAddress::v6(Gid::of(site, 0x90002));
    }
}

World::World(const fabric::Scenario& scenario, std::uint64_t seed, const Mutant* mutant)
    : World(std::make_unique<fabric::Loop>(), nullptr, scenario, seed, mutant) {}

World::World(const fabric::Scenario& scenario, std::uint64_t seed, RemoteDut& remote)
    : World(nullptr, &remote, scenario, seed, nullptr) {}

World::World(std::unique_ptr<fabric::Loop> own, RemoteDut* remote, const fabric::Scenario& scenario, std::uint64_t seed,
             const Mutant* mutant)
    : own_loop_(std::move(own)),
      loop_(own_loop_ ? *own_loop_ : remote->loop()),
      subnet_scenario_(scenario),
      subnet_(loop_, scenario,
              {.seed = seed,
               // A report gets there when the longest storm is over: what cannot be heard of nobody can react to.
               .sa = {.seed = seed,
                      .most_sends = 60,
                      .behaviour =
                          [&] {
                              fabric::SaBehaviour behaviour;
                              if (mutant && mutant->sa) mutant->sa(behaviour);
                              return behaviour;
                          }()}}),
      seed_(seed) {
    for (unsigned i = 0; i < peers; ++i) peers_.push_back(make_peer(i));
    Station::Config config{.guid = scenario.dut_guid,
                           .name = "DUT",
                           .addresses = addresses_of(dut_host),
                           .mutant = mutant,
                           .role = fabric::NodeRole::other,
                           .seed = seed};
    if (remote) {
        std::set<std::uint64_t> others{subnet_.sm_hca().facts().gid.interface_id()};
        for (const auto& peer : peers_) others.insert(peer->guid());
        dut_ = remote->begin(subnet_, config, others);
    } else {
        dut_ = make_stack(subnet_, std::move(config));
    }
    dut_->cable().seen = [this](const fabric::Frame& frame, bool is_sent) {
        if (is_sent) watch_.dut_is(dut_->lid());
        watch_.take(frame, is_sent);
    };
    if (mutant && mutant->cable) {
        fabric::LinkFaults faults;
        mutant->cable(faults);
        static_cast<void>(subnet_.set_faults(dut_->guid(), faults));
    }
    const auto is_ready = [&] {
        return dut_->lid() != 0 &&
               std::ranges::all_of(peers_,
                                   [](const auto& peer) {
                                       for (unsigned i = 0; i < groups; ++i)
                                           if (!peer->interface().membership().is_member(group_address(i)))
                                               return false;
                                       return true;
                                   }) &&
               peers_.front()->twin() && peers_.front()->twin()->is_running();
    };
    if (!loop_.run_until(is_ready, loop_.now() + longest_start))
        throw std::runtime_error("the nodes beside the DUT do not come up");
    // The last joins are answered.
    loop_.run_for(1ms);
}

World::~World() { *storm_ = false; }

std::unique_ptr<Station> World::make_peer(unsigned number) {
    auto peer = std::make_unique<Station>(
        subnet_, Station::Config{.guid = first_peer_guid + number + peer_step * moves_.at(number),
                                 .name = number == 0 ? "peer 0" : "peer 1",
                                 .addresses = addresses_of(number + 1),
                                 .twin_addresses = number == 0 ? addresses_of(twin_host) : std::vector<IpNetwork>{},
                                 .p_key = p_key(),
                                 .role = fabric::NodeRole::tester,
                                 .seed = seed_});
    tend_peer(*peer);
    return peer;
}

Station& World::add_newcomer() {
    const auto number = static_cast<unsigned>(newcomers_.size());
    newcomers_.push_back(
        std::make_unique<Station>(subnet_, Station::Config{.guid = first_newcomer_guid + number,
                                                           .name = "newcomer " + std::to_string(number),
                                                           .addresses = addresses_of(first_newcomer_host + number),
                                                           .p_key = p_key(),
                                                           .role = fabric::NodeRole::tester,
                                                           .seed = seed_}));
    static_cast<void>(newcomers_.back()->interface().up());
    return *newcomers_.back();
}

/// Brings it up, and into all groups.
void World::tend_peer(Station& peer) {
    auto& interface = peer.interface();
    static_cast<void>(interface.up());
    if (peer.twin()) static_cast<void>(peer.twin()->up());
    const auto join = [this, &peer, &interface](bool is_running) {
        if (!is_running) return;
        for (unsigned i = 0; i < groups; ++i) {
            const auto address = group_address(i);
            auto& membership = interface.membership();
            // The administrator may have deleted it in silence.
            const auto* group = subnet_.sa().find(mgid(i));
            const bool is_lost = !group || !group->members.contains(peer.gid());
            if (membership.is_member(address) && is_lost) static_cast<void>(membership.leave(address));
            if (!membership.is_member(address)) membership.join(address, [](const std::string&) {});
        }
    };
    interface.is_running() ? join(true) : interface.when_running(longest_start, join);
}

Gid World::mgid(unsigned group) const { return mgid(group_address(group)); }

Gid World::mgid(const IpAddress& address) const {
    const auto& link = subnet_scenario_.link;
    return address.is_v4() ? mgid_for_ipv4(address.v4(), link.p_key, link.scope)
                           : mgid_for_ipv6(address.octets, link.p_key, link.scope);
}

void World::later(fabric::Duration after, std::function<void()> action) {
    loop_.after(after, [storm = storm_, action = std::move(action)] {
        if (*storm) action();
    });
}

std::string World::name(unsigned node) const { return node == 0 ? "DUT" : peers_.at(node - 1)->name(); }

std::uint64_t World::guid(unsigned node) const { return node == 0 ? dut_->guid() : peers_.at(node - 1)->guid(); }

Gid World::gid(unsigned node) const { return node == 0 ? dut_->gid() : peers_.at(node - 1)->gid(); }

IpAddress World::address(unsigned node, bool is_v4) const {
    return node == 0 ? dut_->address(is_v4) : peers_.at(node - 1)->address(is_v4);
}

void World::send(unsigned node, const IpAddress& to, Octets payload) {
    node == 0 ? dut_->send(to, payload) : peers_.at(node - 1)->send(to, payload);
}

std::vector<Subject::Datagram> World::received(unsigned node) {
    if (node == 0) return dut_->received();
    auto& peer = *peers_.at(node - 1);
    auto all = received_by(peer.interface());
    if (peer.twin()) std::ranges::move(received_by(*peer.twin()), std::back_inserter(all));
    return all;
}

void World::up() {
    wanted_.is_up = true;
    dut_->up();
}

void World::down() {
    wanted_.is_up = false;
    dut_->down();
}

void World::join(unsigned group) {
    dut_->join(group_address(group), [this, group](bool is_joined) {
        if (is_joined) wanted_.joined.insert(group);
    });
}

void World::leave(unsigned group) {
    wanted_.joined.erase(group);
    dut_->leave(group_address(group));
}

void World::move_peer_lid(unsigned number) {
    const auto before = peer(number).lid();
    if (before != 0 && subnet_.move_lid(peer(number).guid())) old_lids_[before] = loop_.now();
}

bool World::is_old_lid(std::uint16_t lid) const {
    const auto found = old_lids_.find(lid);
    return found != old_lids_.end() && found->second <= renewed_;
}

void World::restart_peer(unsigned number) {
    peer(number).restart_stack();
    tend_peer(peer(number));
}

void World::move_peer(unsigned number) {
    ++moves_.at(number);
    peers_.at(number).reset();
    peers_.at(number) = make_peer(number);
}

void World::set_p_key(bool is_there) {
    if (!is_there) {
        if (subnet_.remove_p_key(dut_->guid(), p_key())) lacking_.insert(p_key());
    } else if (subnet_.add_p_key(dut_->guid(), p_key())) {
        lacking_.erase(p_key());
    }
}

void World::stop_manager() {
    subnet_.stop_manager();
    is_manager_stopped_ = true;
}

void World::start_manager(bool keeps_state) {
    subnet_.start_manager(keeps_state);
    manager_has_started();
}

void World::give_other_lids() {
    static_cast<void>(subnet_.move_lid(dut_->guid()));
    for (unsigned i = 0; i < peers; ++i) move_peer_lid(i);
    start_manager(false);
}

void World::let_another_manager_take_over() {
    subnet_.let_another_take_over();
    manager_has_started();
}

void World::set_prefix(std::uint32_t number) {
    constexpr std::uint64_t others = 0xfec0000000004390;
    subnet_.set_prefix(number == 0 ? default_subnet_prefix : others + number);
    manager_has_started();
}

void World::put_another_p_key_first() {
    auto partition = subnet_scenario_.link;
    partition.p_key = another_p_key;
    static_cast<void>(subnet_.sa().create_group(partition.broadcast_gid(), partition));
    static_cast<void>(subnet_.move_p_key(dut_->guid(), another_p_key, 0));
    has_another_p_key_ = true;
    watch_.signal();
}

void World::put_first_p_key_back() {
    static_cast<void>(subnet_.move_p_key(dut_->guid(), p_key(), 0));
    static_cast<void>(subnet_.remove_p_key(dut_->guid(), another_p_key));
}

void World::manager_has_started() {
    is_manager_stopped_ = false;
    watch_.signal();
    if (dut_ && dut_->seems_to_run()) renewed_ = loop_.now();
}

void World::delete_group(const Gid& mgid) {
    if (!subnet_.sa().find(mgid)) return;
    deleted_[mgid] = loop_.now();
    subnet_.sa().delete_group(mgid);
}

void World::delete_all_groups() {
    std::vector<Gid> all;
    for (const auto* group : subnet_.sa().groups())
        if (group->mgid() != broadcast_gid()) all.push_back(group->mgid());
    for (const auto& mgid : all) delete_group(mgid);
}

fabric::Partition World::like_broadcast() {
    using Record = McMemberRecord;
    auto like = subnet_scenario_.link;
    if (const auto* broadcast = subnet_.sa().find(broadcast_gid())) {
        like.q_key = broadcast->record[Record::q_key];
        like.mtu = broadcast->record[Record::mtu];
    }
    return like;
}

void World::refuse_group(const IpAddress& group) {
    refused_ = mgid(group);
    let_join();
    start_manager(false);
}

void World::let_join() {
    auto& faults = subnet_.sa().faults;
    faults.refuse_joins = refused_ ? sa_status::no_resources : std::uint16_t{0};
    faults.refuse_only = refused_;
}

bool World::is_out_of_reach(const Gid& mgid) const {
    if (mgid == refused_) return true;
    const auto found = deleted_.find(mgid);
    if (found == deleted_.end()) return false;
    return watch_.told_of_deletion(mgid) < found->second && watch_.began_anew() <= found->second;
}

void World::make_anew(const Gid& mgid, const fabric::Partition& like) {
    const bool was_there = subnet_.sa().find(mgid) != nullptr;
    delete_group(mgid);
    // Another group gets its MLID.
    constexpr unsigned most_fillers = 64;
    if (was_there && fillers_ < most_fillers) {
        const auto filler = mgid_for_ipv4(0xefff0000 | fillers_++, p_key(), subnet_scenario_.link.scope);
        static_cast<void>(subnet_.sa().create_group(filler, subnet_scenario_.link));
    }
    static_cast<void>(subnet_.sa().create_group(mgid, like));
}

void World::end_storm() {
    *storm_ = false;
    watch_.signal();
    for (unsigned i = 0; i <= peers; ++i) cable(i).clear();
    subnet_.sa().faults = {};
    let_join();
    if (is_manager_stopped_) start_manager(true);
    tend_subnet();
    if (!wanted_.is_up) up();
}

void World::tend_subnet() {
    for (unsigned i = 0; i <= peers; ++i) static_cast<void>(subnet_.set_link(guid(i), true));
    // A request of the manager that takes it away may have been on its way still.
    if (lacking_.empty() && !dut_->has_p_key(p_key())) set_p_key(false);
    if (!lacking_.empty()) set_p_key(true);
    // The same holds for one that puts another in its place.
    if (has_another_p_key_) put_first_p_key_back();
    if (const auto* broadcast = subnet_.sa().find(broadcast_gid())) {
        // Who did not know the link's new parameters yet may have created groups with the old ones, which keep out
        // everybody else.
        using Record = McMemberRecord;
        std::vector<Gid> odd;
        for (const auto* group : subnet_.sa().groups())
            if (group->record[Record::q_key] != broadcast->record[Record::q_key] ||
                group->record[Record::mtu] != broadcast->record[Record::mtu])
                odd.push_back(group->mgid());
        for (const auto& mgid : odd) delete_group(mgid);
        return;
    }
    static_cast<void>(subnet_.sa().create_group(broadcast_gid(), subnet_scenario_.link));
    // Who was in it has no other way to hear of that.
    start_manager(true);
}

void World::tend() {
    tend_subnet();
    for (const auto& peer : peers_) tend_peer(*peer);
}

}  // namespace ipoib::conformance::explore
