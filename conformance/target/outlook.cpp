// SPDX-License-Identifier: GPL-2.0-or-later
// The fabrics that can be looked at.
#include "conformance/target/outlook.hpp"

#include "conformance/target/fabric_options.hpp"
#include "conformance/target/simulated_dut.hpp"
#include "conformance/target/simulated_target.hpp"
#include "fabric/socket/fabric.hpp"

#ifdef IPOIB_HAS_UMAD
#include "fabric/umad/fabric.hpp"
#endif

namespace ipoib::conformance {
namespace {

using namespace std::chrono_literals;
constexpr fabric::Duration patience = 10s;

fabric::Duration patience_of(const Target& target) {
    return std::chrono::duration_cast<fabric::Duration>(patience * target.session.timeout_scale);
}

/// Virtual time: the stack has all the time that it needs to come up.
class SimulatedOutlook : public Outlook {
public:
    explicit SimulatedOutlook(const Target& target)
        : options_(simulated_options(target, target.session.seed, fabric::Loop::Clock::virtual_time)),
          fabric_(options_),
          dut_(fabric_, options_.scenario->dut_guid, nullptr) {
        (void)dut_.control().ask(R"({"id":1,"do":"up"})", patience);
        (void)fabric_.loop().run_until([] { return false; }, fabric_.loop().now() + patience);
    }
    fabric::Fabric& fabric() override { return fabric_; }

private:
    fabric::SimulatedOptions options_;
    fabric::SimulatedFabric fabric_;
    SimulatedDut dut_;
};

class FabricOutlook : public Outlook {
public:
    explicit FabricOutlook(std::unique_ptr<fabric::Fabric> fabric) : fabric_(std::move(fabric)) {}
    fabric::Fabric& fabric() override { return *fabric_; }

private:
    std::unique_ptr<fabric::Fabric> fabric_;
};

std::unique_ptr<fabric::Fabric> hca_fabric(const Target& target, const HcaTarget& words) {
    if (words.p_key != 0 || words.gid_index != 0 || words.second || words.raises_issm)
        throw std::invalid_argument("--fabric " + target.fabric +
                                    ": only sm-key= is of account here, nothing but questions is sent");
#ifdef IPOIB_HAS_UMAD
    return std::make_unique<fabric::UmadFabric>(
        fabric::UmadFabricOptions{.port = {.device = words.port.device, .port = words.port.number},
                                  .sm_key = words.sm_key,
                                  .patience = patience_of(target)});
#else
    (void)words;
    throw std::invalid_argument("--fabric " + target.fabric +
                                " is not in this program: libibumad was missing when it was built");
#endif
}

}  // namespace

std::unique_ptr<Outlook> look_at(const Target& target) {
    const std::string_view fabric = target.fabric;
    const auto colon = fabric.find(':');
    const auto kind = fabric.substr(0, colon);
    const auto words = colon == std::string_view::npos ? std::string_view{} : fabric.substr(colon + 1);
    if (kind == "simulated") return std::make_unique<SimulatedOutlook>(target);
    if (kind == "socket" && colon != std::string_view::npos) {
        auto options = socket_options(words);
        options.patience = patience_of(target);
        return std::make_unique<FabricOutlook>(std::make_unique<fabric::SocketFabric>(options));
    }
    if (kind == "umad" || kind == "verbs")
        return std::make_unique<FabricOutlook>(
            hca_fabric(target, kind == "umad" ? umad_target(words) : verbs_target(words)));
    throw std::invalid_argument(
        "--fabric is simulated, simulated:sa-mutant=NAME, socket:PATH, umad:DEVICE or "
        "verbs:DEVICE, not '" +
        target.fabric + "'");
}

}  // namespace ipoib::conformance
