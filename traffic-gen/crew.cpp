// SPDX-License-Identifier: GPL-2.0-or-later
// Opening fabrics, joining links, finding neighbours.
#include "traffic-gen/crew.hpp"

#include "conformance/bench/session.hpp"
#include "fabric/simulated/scenario.hpp"
#include "protocol/wire/text.hpp"

#include <unistd.h>

#include <algorithm>
#include <stdexcept>

namespace ipoib::traffic {
using namespace wire;
using namespace std::chrono_literals;

namespace {

constexpr auto patience = 1s;

/// Where nobody says one: of the range for links without addresses (RFC 3927), by what is not alike on a subnet.
std::uint32_t usual_ipv4(const build::Node& node) {
    constexpr std::uint32_t link_local = 0xa9fe0100, lids = 0xfd;
    return link_local + (node.lid % lids << 8) + node.qpn % lids + 1;
}

/// Throws for what cannot be there.
const conformance::FabricKind& kind_of(const FabricOptions& options) {
    const auto* kind = options.kinds.find(options.words, conformance::FabricUse::traffic);
    const auto option = std::string(options.option);
    if (!kind)
        throw std::invalid_argument(option + " '" + options.words + "': traffic is on " +
                                    options.kinds.forms(conformance::FabricUse::traffic) + " only");
    if (!kind->is_ours() && !options.listen.empty())
        throw std::invalid_argument("--listen is for the simulated fabric, whose nodes may be in other processes; " +
                                    option + ' ' + options.words + " is another");
    (void)fabric::scenario_named(options.scenario);
    if (!kind->is_ours() && options.scenario != FabricOptions{}.scenario)
        throw std::invalid_argument("--scenario is how a fabric of ours is set up; " + option + ' ' + options.words +
                                    " is another");
    if (options.hosts && *options.hosts > Scene::most_hosts)
        throw std::invalid_argument("--hosts: from 1 to " + std::to_string(Scene::most_hosts));
    return *kind;
}

conformance::OpenedFabric opened_by(const FabricOptions& options, const conformance::FabricKind& kind) {
    return kind.open({.fabric = options.words,
                      .option = options.option,
                      .scenario = options.scenario,
                      .listen = options.listen,
                      // Where others are, two of us at one place are two nodes.
                      .seed = options.seed + (kind.is_ours() ? 0 : static_cast<std::uint64_t>(getpid())),
                      .hosts = options.hosts});
}

}  // namespace

Crew::Crew(const FabricOptions& options)
    : kind_(kind_of(options)),
      opened_(opened_by(options, kind_)),
      group_range_(static_cast<unsigned>(options.seed % Scene::group_ranges)) {
    if (options.on_open) options.on_open(fabric());
    try {
        enter(options);
    } catch (...) {
        leave();
        throw;
    }
}

conformance::Tester::Manners Crew::manners(const fabric::PortFacts& port) {
    if (!kind_.is_somebodys()) return {};
    const auto guid = port.gid.interface_id();
    auto journal = journals_.find(guid);
    if (journal == journals_.end())
        journal = journals_.try_emplace(guid, conformance::Journal::usual_folder(), hex(guid, 16)).first;
    return {.journal = &journal->second,
            .is_of_run = [range = group_range_](const Gid& mgid) { return Scene::is_of_range(mgid, range); },
            .is_trusted = opened_.fabric->abilities().has(fabric::Ability::trusted_sa)};
}

void Crew::enter(const FabricOptions& options) {
    for (auto* const port : opened_.fabric->ports()) {
        // What another interface of ours holds at the same port was not left by anybody.
        const bool is_first = !journals_.contains(port->facts().gid.interface_id());
        auto& member = members_.emplace_back(*port, opened_.p_key, manners(port->facts()));
        if (is_first) (void)member.end_what_was_left();
        port->on_datagram([this, &member](Octets frame) { take(member, frame); });
        if (const auto why = member.enter_link(patience); !why.empty()) throw std::runtime_error(why);
        const auto number = static_cast<std::uint32_t>(members_.size() - 1);
        constexpr std::uint32_t usual_simulated = 0x0a010001;
        if (options.ipv4)
            member.set_ipv4(*options.ipv4 + number);
        else
            member.set_ipv4(kind_.is_ours() ? usual_simulated + number : usual_ipv4(member.self()));
    }
}

Crew::~Crew() { leave(); }

void Crew::leave() {
    const conformance::CleaningUp cleaning;
    for (auto& member : members_) member.port().on_datagram({});
    for (const auto& [member, trap] : subscriptions_)
        // Nobody answers any more where the fabric is gone.
        if (opened_.fabric->problem().empty()) (void)member->ask(conformance::subscription(trap, {}, false));
    for (auto& member : members_)
        if (opened_.fabric->problem().empty()) member.leave_all();
}

void Crew::check() const {
    if (auto why = opened_.fabric->problem(); !why.empty()) throw std::runtime_error(why);
}

conformance::Tester* Crew::find(const build::Node& host) {
    for (auto& member : members_)
        if (member.self().gid == host.gid && member.self().qpn == host.qpn) return &member;
    return nullptr;
}

bool Crew::subscribe(conformance::Tester& member, std::uint16_t trap) {
    const auto answer = member.ask(conformance::subscription(trap, {}, true));
    if (answer.is_ok()) subscriptions_.emplace(&member, trap);
    return answer.is_ok();
}

void Crew::take(conformance::Tester& member, Octets frame) {
    member.take(frame);
    if (wanted_ && !found_) {
        Packet packet;
        decode(frame, packet);
        if (packet.arp_addresses && packet.arp[Arp::operation] == Arp::reply && wanted_->is_v4() &&
            packet.arp_addresses[ArpAddresses::spa] == wanted_->v4())
            found_ = build::Node{.gid = packet.arp_addresses[ArpAddresses::sha_gid],
                                 .qpn = packet.arp_addresses[ArpAddresses::sha_qpn],
                                 .ipv4 = wanted_->v4()};
        if (packet.icmpv6 && packet.icmpv6[Icmpv6::type] == Icmpv6Type::neighbour_advertisement && packet.nd_target &&
            packet.target_option && packet.nd_target[NdTarget::target] == wanted_->octets)
            found_ = build::Node{.gid = packet.target_option[LinkAddressOption::gid],
                                 .qpn = packet.target_option[LinkAddressOption::qpn],
                                 .ipv6 = wanted_->octets};
    }
    if (listener_) listener_(frame);
}

build::Node Crew::resolve(const IpAddress& address) {
    auto& asker = members_.front();
    wanted_ = address;
    found_.reset();
    std::function<std::string()> ask;
    if (address.is_v4()) {
        ask = [&] { return asker.port().send(build::arp_request(asker.self(), address.v4(), asker.link()).build()); };
    } else {
        const auto mgid = mgid_for_ipv6(solicited_node_group(address.octets), asker.link().p_key, asker.link().scope);
        const auto answer = asker.join(mgid, join_state::send_only_non_member);
        const auto record = answer.first<McMemberRecord>();
        if (!answer.is_ok() || !record)
            throw std::runtime_error("nobody has " + text(address) + ": its solicited-node group is not there");
        const auto mlid = record[McMemberRecord::mlid];
        ask = [&asker, &address, mlid] {
            return asker.port().send(
                build::neighbour_solicitation(asker.self(), address.octets, mlid, asker.link()).build());
        };
    }
    constexpr unsigned attempts = 3;
    auto& loop = opened_.fabric->loop();
    for (unsigned i = 0; i < attempts && !found_; ++i) {
        if (const auto why = ask(); !why.empty())
            throw std::runtime_error("the question who has " + text(address) + " cannot be sent: " + why);
        (void)loop.run_until([&] { return found_.has_value(); }, loop.now() + patience);
        check();
    }
    wanted_.reset();
    if (!found_ && fabric::Loop::stop_requested())
        throw std::runtime_error("stopped while asking who has " + text(address));
    if (!found_) throw std::runtime_error("nobody answers who has " + text(address));
    found_->lid = asker.lid_of(found_->gid);
    if (found_->lid == 0)
        throw std::runtime_error("the subnet administrator knows no path to " + text(found_->gid) + ", which has " +
                                 text(address));
    return *found_;
}

}  // namespace ipoib::traffic
