// SPDX-License-Identifier: GPL-2.0-or-later
// From words to queue pairs.
#include "conformance/target/open_fabric.hpp"

#include <stdexcept>

#ifdef IPOIB_HAS_VERBS
#include "fabric/verbs/fabric.hpp"
#endif

namespace ipoib::conformance {

#ifdef IPOIB_HAS_VERBS

namespace {

fabric::VerbsFabricOptions options_of(const VerbsChoice& choice) {
    const auto& target = choice.target;
    fabric::VerbsFabricOptions options{.control = choice.control};
    const auto add = [&](const HcaTarget::Port& port) {
        options.ports.push_back({.port = {.device = port.device, .port = port.number},
                                 .p_key = target.p_key,
                                 .gid_index = target.gid_index,
                                 .sm_key = target.sm_key});
    };
    add(target.port);
    if (target.second) add(*target.second);
    for (std::size_t i = 0; options.ports.size() < choice.interfaces; ++i)
        options.ports.push_back(fabric::VerbsPortOptions{options.ports[i]});
    return options;
}

}  // namespace

std::unique_ptr<fabric::Fabric> open_verbs(const VerbsChoice& choice, fabric::Duration patience) {
    auto options = options_of(choice);
    options.patience = patience;
    return std::make_unique<fabric::VerbsFabric>(options);
}

fabric::Abilities verbs_abilities(const VerbsChoice& choice) {
    return fabric::VerbsFabric::abilities_with(options_of(choice));
}

#else

namespace {

[[noreturn]] void refuse() {
    throw std::invalid_argument("verbs: is not in this program: libibverbs was missing when it was built");
}

}  // namespace

std::unique_ptr<fabric::Fabric> open_verbs(const VerbsChoice&, fabric::Duration) { refuse(); }
fabric::Abilities verbs_abilities(const VerbsChoice&) { refuse(); }

#endif

}  // namespace ipoib::conformance
