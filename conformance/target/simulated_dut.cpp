// SPDX-License-Identifier: GPL-2.0-or-later
// A DUT inside this process, with what a mutant changes of it.
#include "conformance/target/simulated_dut.hpp"

#include "conformance/bench/session.hpp"

namespace ipoib::conformance {
namespace {

using namespace std::chrono_literals;

/// Of its adapter: few, so that a case reaches it soon.
constexpr unsigned attach_limit = 48;
constexpr std::uint8_t mtu_4096 = 5;

template <class Changed>
Changed changed(void (*change)(Changed&)) {
    Changed whole;
    if (change) change(whole);
    return whole;
}

/// What a report calls it, so that nobody takes it for the reference.
std::string calling(const Mutant& mutant) { return "mutant " + std::string(mutant.name); }

}  // namespace

SimulatedDut::SimulatedDut(fabric::SimulatedFabric& fabric, std::uint64_t port_guid, const Mutant* mutant)
    : hca_(fabric.loop(),
           {.port_guid = port_guid,
            .description = mutant ? calling(*mutant) : "reference stack",
            .mtu = mtu_4096,
            .attach_limit = attach_limit},
           changed<fabric::HcaBehaviour>(mutant ? mutant->hca : nullptr)),
      sa_(hca_),
      node_(hca_, sa_, mutant ? policies_of(*mutant) : stack::Policies{}),
      adapter_(node_, mutant ? calling(*mutant) : "reference"),
      control_(fabric.loop(), adapter_, mutant ? mutant->adapter_delay : 0ms),
      loop_(fabric.loop()) {
    port_ = &fabric.subnet().plug(hca_, fabric::NodeRole::other);
    if (!fabric.subnet().bring_up(port_guid, 30s)) {
        port_->unplug();
        throw SessionBroken("the subnet manager does not bring the DUT's port up");
    }
    if (!mutant) return;
    if (mutant->client) mutant->client(sa_);
    if (mutant->cable) (void)fabric.subnet().set_faults(port_guid, changed<fabric::LinkFaults>(mutant->cable));
    if (mutant->habit.act) arm_habit(mutant->habit);
}

SimulatedDut::~SimulatedDut() {
    loop_.cancel(habit_timer_);
    port_->unplug();
}

void SimulatedDut::arm_habit(const Habit& habit) {
    habit_timer_ = loop_.after(habit.every, [this, habit] {
        habit.act(node_);
        arm_habit(habit);
    });
}

Profile SimulatedDut::profile(std::uint64_t port_guid) {
    constexpr std::uint64_t u_bit = std::uint64_t{0x02} << 56;
    return {.dut = {},
            .role = Role::router,
            .modes = {"datagram", "connected"},
            .guid_format = port_guid & u_bit ? "modified-eui64" : "eui64",
            .send_only_leave = std::chrono::duration_cast<std::chrono::seconds>(stack::Timers{}.membership),
            .multicast_limit = attach_limit,
            .adapter = {},
            .interface = {},
            .addresses = {},
            .tester = {}};
}

}  // namespace ipoib::conformance
