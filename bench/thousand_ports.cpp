// SPDX-License-Identifier: GPL-2.0-or-later
// So many reference stacks on one simulated subnet come up, and each resolves ten others: thousand_ports [PORTS].
#include "fabric/simulated/subnet.hpp"
#include "stack/node.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

using namespace ipoib;
using namespace std::chrono_literals;

constexpr std::uint64_t first_guid = 0x0002c90300d00000;
constexpr std::uint32_t first_address = 0x0a010001;
constexpr std::uint8_t prefix_length = 16;
constexpr std::size_t others = 10, stride = 97;

struct Host {
    Host(fabric::Subnet& subnet, std::size_t number)
        : hca(subnet.loop(), {.port_guid = first_guid + number}), sa(hca), node(hca, sa) {
        subnet.plug(hca, fabric::NodeRole::other);
    }
    fabric::Hca hca;
    fabric::SaClient sa;
    stack::Node node;
};

wire::IpAddress address_of(std::size_t number) {
    return wire::IpAddress::v4(first_address + static_cast<std::uint32_t>(number));
}

bool run(std::size_t ports) {
    fabric::Loop loop;
    fabric::Subnet subnet{loop, *fabric::find_scenario("default"), {}};
    std::vector<std::unique_ptr<Host>> hosts;
    for (std::size_t i = 0; i < ports; ++i) hosts.push_back(std::make_unique<Host>(subnet, i));
    std::size_t running = 0, resolved = 0;
    for (std::size_t i = 0; i < ports; ++i) {
        auto& interface = hosts[i]->node.interface();
        if (!interface.up().empty() || !interface.add_address({address_of(i), prefix_length}).empty()) return false;
        interface.when_running(30s, [&](bool is_running) { running += is_running; });
    }
    if (!loop.run_until([&] { return running == ports; }, loop.now() + 60s)) return false;
    for (std::size_t i = 0; i < ports; ++i)
        for (std::size_t k = 1; k <= others; ++k)
            hosts[i]->node.interface().neighbours().resolve(
                address_of((i + k * stride) % ports),
                [&](const stack::HardwareAddress* address) { resolved += address != nullptr; });
    return loop.run_until([&] { return resolved == ports * others; }, loop.now() + 60s);
}

}  // namespace

int main(int argc, char** argv) {
    const auto ports = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000;
    const bool is_done = ports > others && run(ports);
    std::puts(is_done ? "ok" : "not all are resolved");
    return is_done ? 0 : 1;
}
