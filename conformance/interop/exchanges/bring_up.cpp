// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/interop/exchanges/prelude.hpp"

namespace ipoib::conformance::interop {

const Exchange bring_up{
    .id = "INTEROP-BRING-UP",
    .title = "Both come up on one link",
    .how = "each is taken down, where it can be, and told to come up",
    .order = 10,
    .checks = {&rfc4391::broadcast_full_member_join},
    .dut_can = {},
    .steps =
        [](Meeting& meeting) {
            meeting.step("Both come up");
            meeting.take_down();
            meeting.bring_up();
        },
    .begins_down = true,
    .lasts_at_most = 120s,
};

}  // namespace ipoib::conformance::interop
