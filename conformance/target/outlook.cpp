// SPDX-License-Identifier: GPL-2.0-or-later
// The fabrics that can be looked at.
#include "conformance/target/outlook.hpp"

#include "conformance/target/simulated_dut.hpp"
#include "conformance/target/simulated_target.hpp"

namespace ipoib::conformance {
namespace {

using namespace std::chrono_literals;
constexpr fabric::Duration patience = 10s;

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

}  // namespace

std::unique_ptr<Outlook> look_at(const Target& target, const FabricKinds& kinds) {
    const auto* kind = kinds.find(target.fabric, FabricUse::audit);
    if (!kind)
        throw std::invalid_argument("--fabric is " + kinds.forms(FabricUse::audit) + ", not '" + target.fabric + "'");
    (void)fabric::scenario_named(target.scenario);
    if (kind->is_ours()) return std::make_unique<SimulatedOutlook>(target);
    if (target.scenario != Target{}.scenario)
        throw std::invalid_argument("--scenario is how a fabric of ours is set up; " + target.fabric + " is another");
    return std::make_unique<FabricOutlook>(kind->look(target.opening()));
}

}  // namespace ipoib::conformance
