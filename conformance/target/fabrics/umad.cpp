// SPDX-License-Identifier: GPL-2.0-or-later
// --fabric umad: a real fabric, by the management datagrams of a port of this host.
#include "conformance/target/hca.hpp"

#ifdef IPOIB_HAS_UMAD
#include "fabric/umad/fabric.hpp"
#endif

#include <array>
#include <stdexcept>

namespace ipoib::conformance {
namespace {

constexpr std::array umad_forms{
    FabricForm{FabricUse::run, "umad:DEVICE[/PORT][,pkey=N][,sm-key=N][,issm]",
               "the SA of a real fabric, by the management datagrams of a port of this host; for --dut sa"},
    FabricForm{FabricUse::audit, "umad:DEVICE[/PORT][,sm-key=N]", "over a port of this host", true}};

OpenedFabric open_umad([[maybe_unused]] const Opening& opening) {
#ifdef IPOIB_HAS_UMAD
    const auto target = umad_target(opening);
    return {std::make_unique<fabric::UmadFabric>(fabric::UmadFabricOptions{
                .port = {.device = target.port.device, .port = target.port.number, .raises_issm = target.raises_issm},
                .sm_key = target.sm_key,
                .control = std::string(opening.control),
                .patience = opening.patience(std::chrono::seconds{10})}),
            target.p_key};
#else
    throw std::invalid_argument(opening.named() + " is not in this program: libibumad was missing when it was built");
#endif
}

std::unique_ptr<fabric::Fabric> look_at_umad(const Opening& opening) {
    return look_at_hca(opening, umad_target(opening));
}

}  // namespace

HcaTarget umad_target(const Opening& opening) {
    return hca_target(opening, umad_forms.front().syntax, [](HcaTarget& target, std::string_view word) {
        constexpr std::string_view issm = "issm";
        if (word == issm) target.raises_issm = true;
        return word == issm;
    });
}

namespace kinds {

extern const FabricKind umad{.scheme = "umad",
                             .owner = Owner::somebody,
                             .usual_impact = fabric::Impact::dut,
                             .carries_data = false,
                             .forms = umad_forms,
                             .open = open_umad,
                             .look = look_at_umad};

}  // namespace kinds
}  // namespace ipoib::conformance
