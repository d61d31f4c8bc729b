// SPDX-License-Identifier: GPL-2.0-or-later
// What a large simulated subnet costs: so many reference stacks on it come up, join their link, and some of them
// resolve others by broadcast, which reaches all: many_ports PORTS [QUESTIONS]. Seconds of CPU of each part go to
// standard output.
#include "fabric/simulated/subnet.hpp"
#include "stack/node.hpp"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

namespace {

using namespace ipoib;
using namespace std::chrono_literals;

constexpr std::uint64_t first_guid = 0x0002c90300d00000;
constexpr std::uint32_t first_address = 0x0a010001;
constexpr std::uint8_t prefix_length = 16;
constexpr std::size_t stride = 97;
constexpr auto patience = 600s;

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

/// Tells what was used since the last time.
void tell(const char* what) {
    static std::clock_t before = 0;
    const auto now = std::clock();
    std::printf("%s %.6f\n", what, static_cast<double>(now - before) / CLOCKS_PER_SEC);
    std::fflush(stdout);
    before = now;
}

bool run(std::size_t ports, std::size_t questions) {
    fabric::Loop loop;
    fabric::Subnet subnet{loop, *fabric::find_scenario("default"), {}};
    std::vector<std::unique_ptr<Host>> hosts;
    for (std::size_t i = 0; i < ports; ++i) hosts.push_back(std::make_unique<Host>(subnet, i));
    std::size_t active = 0;
    const auto are_all_active = [&] {
        while (active < ports && hosts[active]->hca.is_active()) ++active;
        return active == ports;
    };
    if (!loop.run_until(are_all_active, loop.now() + patience)) return false;
    tell("bring-up");
    std::size_t running = 0, resolved = 0;
    for (std::size_t i = 0; i < ports; ++i) {
        auto& interface = hosts[i]->node.interface();
        if (!interface.up().empty() || !interface.add_address({address_of(i), prefix_length}).empty()) return false;
        interface.when_running(30s, [&](bool is_running) { running += is_running; });
    }
    if (!loop.run_until([&] { return running == ports; }, loop.now() + patience)) return false;
    tell("join");
    for (std::size_t i = 0; i < questions; ++i)
        hosts[i % ports]->node.interface().neighbours().resolve(
            address_of((i + (1 + i / ports) * stride) % ports),
            [&](const stack::HardwareAddress* address) { resolved += address != nullptr; });
    const bool are_answered = loop.run_until([&] { return resolved == questions; }, loop.now() + patience);
    tell("resolve");
    return are_answered;
}

std::size_t argument(int argc, char** argv, int index, std::size_t usual) {
    return argc > index ? std::strtoul(argv[index], nullptr, 10) : usual;
}

}  // namespace

int main(int argc, char** argv) {
    const auto ports = argument(argc, argv, 1, 1000);
    if (ports > stride && run(ports, argument(argc, argv, 2, 1000))) return 0;
    std::puts("not all have come up, joined and resolved others");
    return 1;
}
