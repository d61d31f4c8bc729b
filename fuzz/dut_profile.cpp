// SPDX-License-Identifier: GPL-2.0-or-later
// libFuzzer target: whatever a DUT.toml holds, it is refused in lines that a terminal can show, or read; what was read
// reads the same when it is written again.
#include "conformance/bench/profile.hpp"
#include "fuzz/fuzzer.hpp"

using namespace ipoib;
using namespace ipoib::conformance;
using fuzz::demand;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto profile = parse_profile(fuzz::as_text({data, size}), "DUT.toml");
    if (!profile) {
        fuzz::demand_sentence(profile.error, 64UL * 1024);
        return 0;
    }
    demand(profile->mtu <= 65535);
    const auto written = to_toml(*profile);
    const auto again = parse_profile(written, "DUT.toml");
    demand(static_cast<bool>(again));
    demand(again->dut == profile->dut && again->role == profile->role && again->modes == profile->modes &&
           again->mtu == profile->mtu && again->addresses == profile->addresses && again->tester == profile->tester &&
           again->adapter == profile->adapter && again->interface == profile->interface);
    demand(to_toml(*again) == written);
    return 0;
}
