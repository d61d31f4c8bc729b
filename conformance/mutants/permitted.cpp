// SPDX-License-Identifier: GPL-2.0-or-later
// What real stacks do and may do, though the reference does it otherwise: no case and no rule may find fault with it.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {

const Mutant short_advertisement{
    .name = "permitted-short-advertisement",
    .what = "leaves the link-layer address out of the answer to a unicast solicitation, as Linux does",
    .breaks = {},
    .stack = [](Policy& policy) { policy.sends_nd_option = [](bool answers_unicast) { return !answers_unicast; }; },
};

const Mutant begins_no_connection{
    .name = "permitted-begins-no-connection",
    .what = "announces RC and takes connections, but begins none",
    .breaks = {},
    .stack = [](Policy& policy) { policy.begins_connection = [](bool, std::uint8_t) { return false; }; },
};

}  // namespace ipoib::conformance
