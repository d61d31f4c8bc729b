// SPDX-License-Identifier: GPL-2.0-or-later
// Interfaces of ours on a fabric: each a member of the link, with an address that it answers for.
#pragma once

#include "conformance/bench/membership_journal.hpp"
#include "conformance/bench/tester.hpp"
#include "conformance/target/fabric_kind.hpp"
#include "traffic-gen/scene.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace ipoib::traffic {

struct FabricOptions {
    std::string words;                    ///< as the option names it
    std::string_view option = "--out";    ///< or --from, for messages
    std::string scenario = "default";     ///< of one of ours
    std::string listen{};                 ///< raw ports for nodes of other processes, on one of ours; empty: none
    std::uint64_t seed = 1;               ///< of one of ours; and by it the groups of the run
    std::optional<unsigned> hosts{};      ///< interfaces; none: as many as is usual there
    std::optional<std::uint32_t> ipv4{};  ///< of the first, the others count on
    std::function<void(fabric::Fabric&)> on_open{};  ///< before anybody joins
    conformance::FabricKinds kinds = conformance::fabric_kinds();
};

class Crew {
public:
    /// Returns when all have joined the link. Throws std::invalid_argument for what cannot be (wrong usage),
    /// std::runtime_error for what fails.
    explicit Crew(const FabricOptions& options);
    /// Every group that was joined is left, every subscription withdrawn.
    ~Crew();
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    [[nodiscard]] fabric::Fabric& fabric() noexcept { return *opened_.fabric; }
    [[nodiscard]] std::deque<conformance::Tester>& members() noexcept { return members_; }
    /// By GID and queue pair; null: it is none of ours.
    [[nodiscard]] conformance::Tester* find(const build::Node& host);
    /// Somebody else's interface, asked by ARP or Neighbour Discovery. Throws std::runtime_error when nobody answers.
    [[nodiscard]] build::Node resolve(const wire::IpAddress& address);
    /// A subscription that ends with the rest.
    bool subscribe(conformance::Tester& member, std::uint16_t trap);
    /// Told of every datagram that comes for one of ours.
    void on_datagram(std::function<void(wire::Octets frame)> listener) { listener_ = std::move(listener); }
    /// Of the groups of this run.
    [[nodiscard]] unsigned group_range() const noexcept { return group_range_; }
    /// Throws std::runtime_error when the fabric is gone.
    void check() const;

private:
    void leave();
    void enter(const FabricOptions& options);
    [[nodiscard]] conformance::Tester::Manners manners(const fabric::PortFacts& port);
    void take(conformance::Tester& member, wire::Octets frame);

    const conformance::FabricKind& kind_;
    conformance::OpenedFabric opened_;
    std::map<std::uint64_t, conformance::Journal> journals_;  ///< by port GUID
    unsigned group_range_ = 0;
    std::deque<conformance::Tester> members_;
    std::set<std::pair<conformance::Tester*, std::uint16_t>> subscriptions_;
    std::function<void(wire::Octets)> listener_;
    /// Of what is being resolved.
    std::optional<wire::IpAddress> wanted_;
    std::optional<build::Node> found_;
};

}  // namespace ipoib::traffic
