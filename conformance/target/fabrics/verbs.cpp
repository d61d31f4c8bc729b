// SPDX-License-Identifier: GPL-2.0-or-later
// --fabric verbs: a real fabric, by queue pairs at one port or two of this host's HCAs.
#include "conformance/target/fabric_words.hpp"
#include "conformance/target/hca.hpp"

#ifdef IPOIB_HAS_VERBS
#include "fabric/verbs/fabric.hpp"
#endif

#include <array>
#include <stdexcept>

namespace ipoib::conformance {
namespace {

constexpr std::array verbs_forms{
    FabricForm{FabricUse::run, "verbs:DEVICE[/PORT][,pkey=N][,gid=N][,second=DEVICE[/PORT]][,sm-key=N]",
               "a real fabric, by a queue pair at a port of this host"},
    FabricForm{FabricUse::traffic, "verbs:DEVICE[/PORT][,pkey=N]", "a port of this host's HCA"},
    FabricForm{FabricUse::audit, "verbs:DEVICE[/PORT][,sm-key=N]", "over a port of this host", true}};

bool take_word(HcaTarget& target, std::string_view word) {
    constexpr std::string_view gid = "gid=", second = "second=";
    constexpr std::uint64_t most_gids = 0xffff;
    if (const auto index = value_of(word, gid))
        target.gid_index = static_cast<int>(number_of(gid, *index, most_gids));
    else if (const auto port = value_of(word, second))
        target.second = hca_port(*port);
    else
        return false;
    return true;
}

#ifdef IPOIB_HAS_VERBS

/// As many queue pairs as hosts, at each of the ports in turn; at least one at each.
fabric::VerbsFabricOptions verbs_options(const Opening& opening, const HcaTarget& target) {
    fabric::VerbsFabricOptions options{.control = std::string(opening.control),
                                       .patience = opening.patience(std::chrono::seconds{10})};
    const auto add = [&](const HcaTarget::Port& port) {
        options.ports.push_back({.port = {.device = port.device, .port = port.number},
                                 .p_key = target.p_key,
                                 .gid_index = target.gid_index,
                                 .sm_key = target.sm_key});
    };
    add(target.port);
    if (target.second) add(*target.second);
    for (std::size_t i = 0; options.ports.size() < opening.hosts.value_or(1); ++i)
        options.ports.push_back(fabric::VerbsPortOptions{options.ports[i]});
    return options;
}

OpenedFabric open_verbs(const Opening& opening) {
    constexpr unsigned most_hosts = 16;
    if (opening.hosts && *opening.hosts > most_hosts)
        throw std::invalid_argument("--hosts: from 1 to " + std::to_string(most_hosts) +
                                    " queue pairs of an adapter, each an interface");
    const auto target = verbs_target(opening);
    return {std::make_unique<fabric::VerbsFabric>(verbs_options(opening, target)), target.p_key};
}

fabric::Abilities verbs_abilities(const Opening& opening) {
    return fabric::VerbsFabric::abilities_with(verbs_options(opening, verbs_target(opening)));
}

#else

[[noreturn]] void refuse_verbs(const Opening& opening) {
    (void)verbs_target(opening);
    throw std::invalid_argument(opening.named() + " is not in this program: libibverbs was missing when it was built");
}

OpenedFabric open_verbs(const Opening& opening) { refuse_verbs(opening); }
fabric::Abilities verbs_abilities(const Opening& opening) { refuse_verbs(opening); }

#endif

std::unique_ptr<fabric::Fabric> look_at_verbs(const Opening& opening) {
    return look_at_hca(opening, verbs_target(opening));
}

}  // namespace

HcaTarget verbs_target(const Opening& opening) { return hca_target(opening, verbs_forms.front().syntax, take_word); }

namespace kinds {

extern const FabricKind verbs{.scheme = "verbs",
                              .owner = Owner::somebody,
                              .usual_impact = fabric::Impact::dut,
                              .forms = verbs_forms,
                              .hosts = "queue pairs, each an interface",
                              .open = open_verbs,
                              .look = look_at_verbs,
                              .abilities = verbs_abilities};

}  // namespace kinds
}  // namespace ipoib::conformance
