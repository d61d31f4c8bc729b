// SPDX-License-Identifier: GPL-2.0-or-later
// Opening fabrics, joining links, finding neighbours.
#include "traffic-gen/crew.hpp"

#include "conformance/bench/session.hpp"
#include "conformance/target/open_fabric.hpp"
#include "fabric/simulated/fabric.hpp"
#include "protocol/wire/text.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace ipoib::traffic {
using namespace wire;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view simulated = "simulated", socket_prefix = "socket:", verbs_prefix = "verbs:";
constexpr auto patience = 1s, longest_bring_up = 10s;
constexpr unsigned usual_simulated_hosts = 4, most_interfaces = 16;

bool is_verbs(const FabricOptions& options) { return options.words.starts_with(verbs_prefix); }

/// Where nobody says one: of the range for links without addresses (RFC 3927), by what is not alike on a subnet.
std::uint32_t usual_ipv4(const build::Node& node) {
    constexpr std::uint32_t link_local = 0xa9fe0100, lids = 0xfd;
    return link_local + (node.lid % lids << 8) + node.qpn % lids + 1;
}

void refuse_wrong(const FabricOptions& options) {
    const bool is_simulated = options.words == simulated;
    if (!is_simulated && !options.listen.empty())
        throw std::invalid_argument("--listen is for the simulated fabric, whose nodes may be in other processes");
    if (!is_simulated && !options.scenario.empty() && options.scenario != "default")
        throw std::invalid_argument("--scenario is how a fabric of ours is set up; " + options.words +
                                    " is somebody's");
    if (options.hosts && *options.hosts > Scene::most_hosts)
        throw std::invalid_argument("--hosts: from 1 to " + std::to_string(Scene::most_hosts));
    if (options.hosts && is_verbs(options) && *options.hosts > most_interfaces)
        throw std::invalid_argument("--hosts: from 1 to " + std::to_string(most_interfaces) +
                                    " queue pairs of an adapter, each an interface");
}

}  // namespace

bool names_fabric(std::string_view words) noexcept {
    constexpr std::array<std::string_view, 4> kinds{simulated, "socket", "verbs", "umad"};
    return std::ranges::find(kinds, words.substr(0, words.find(':'))) != kinds.end();
}

Crew::Crew(const FabricOptions& options) : group_range_(static_cast<unsigned>(options.seed % Scene::group_ranges)) {
    refuse_wrong(options);
    open(options);
    if (options.on_open) options.on_open(*fabric_);
    try {
        enter(options);
    } catch (...) {
        leave();
        throw;
    }
}

void Crew::open(const FabricOptions& options) {
    if (options.words == simulated) {
        using Clock = fabric::Loop::Clock;
        auto opened = std::make_unique<fabric::SimulatedFabric>(fabric::SimulatedOptions{
            .scenario = &fabric::scenario_named(options.scenario),
            .seed = options.seed,
            .clock = options.listen.empty() ? Clock::virtual_time : Clock::real,
            .tester_ports = options.hosts.value_or(options.listen.empty() ? usual_simulated_hosts : 1)});
        if (!options.listen.empty())
            raw_ports_ = std::make_unique<conformance::RawPorts>(opened->subnet(), options.listen);
        fabric_ = std::move(opened);
    } else if (options.words.starts_with(socket_prefix)) {
        auto words = conformance::socket_options(std::string_view(options.words).substr(socket_prefix.size()));
        if (options.hosts && *options.hosts != words.paths.size())
            throw std::invalid_argument(
                "--hosts: there are as many hosts as raw ports after socket:, with commas between");
        // Two of us at one path are two nodes.
        words.seed = options.seed + static_cast<std::uint64_t>(getpid());
        fabric_ = std::make_unique<fabric::SocketFabric>(words);
    } else if (is_verbs(options)) {
        const conformance::VerbsChoice choice{
            .target = conformance::verbs_target(std::string_view(options.words).substr(verbs_prefix.size())),
            .interfaces = options.hosts.value_or(1)};
        has_journal_ = true;
        p_key_ = choice.target.p_key;
        fabric_ = conformance::open_verbs(choice, longest_bring_up);
    } else {
        throw std::invalid_argument("no traffic goes to '" + options.words +
                                    "': it is simulated, socket:PATH or verbs:DEVICE");
    }
}

conformance::Tester::Manners Crew::manners(const fabric::PortFacts& port) {
    if (!has_journal_) return {};
    const auto guid = port.gid.interface_id();
    auto journal = journals_.find(guid);
    if (journal == journals_.end())
        journal = journals_.try_emplace(guid, conformance::Journal::usual_folder(), hex(guid, 16)).first;
    return {.journal = &journal->second,
            .is_of_run = [range = group_range_](const Gid& mgid) { return Scene::is_of_range(mgid, range); },
            .is_trusted = fabric_->abilities().has(fabric::Ability::trusted_sa)};
}

void Crew::enter(const FabricOptions& options) {
    for (auto* const port : fabric_->ports()) {
        // What another interface of ours holds at the same port was not left by anybody.
        const bool is_first = !journals_.contains(port->facts().gid.interface_id());
        auto& member = members_.emplace_back(*port, p_key_, manners(port->facts()));
        if (is_first) (void)member.end_what_was_left();
        port->on_datagram([this, &member](Octets frame) { take(member, frame); });
        if (const auto why = member.enter_link(patience); !why.empty()) throw std::runtime_error(why);
        const auto number = static_cast<std::uint32_t>(members_.size() - 1);
        constexpr std::uint32_t usual_simulated = 0x0a010001;
        if (options.ipv4)
            member.set_ipv4(*options.ipv4 + number);
        else
            member.set_ipv4(options.words == simulated ? usual_simulated + number : usual_ipv4(member.self()));
    }
}

Crew::~Crew() { leave(); }

void Crew::leave() {
    const conformance::CleaningUp cleaning;
    for (auto& member : members_) member.port().on_datagram({});
    for (const auto& [member, trap] : subscriptions_)
        // Nobody answers any more where the fabric is gone.
        if (fabric_->problem().empty()) (void)member->ask(conformance::subscription(trap, {}, false));
    for (auto& member : members_)
        if (fabric_->problem().empty()) member.leave_all();
}

void Crew::check() const {
    if (auto why = fabric_->problem(); !why.empty()) throw std::runtime_error(why);
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
    auto& loop = fabric_->loop();
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
