// SPDX-License-Identifier: GPL-2.0-or-later
// Requests of the subnet administrator, each with its answer.
#include "traffic-gen/profiles/exchanges.hpp"

namespace ipoib::traffic {
using namespace wire;

void subscribe(Stage& stage, const build::Node& host) {
    const auto& administrator = stage.scene().administrator();
    for (const auto number : {trap::multicast_group_created, trap::multicast_group_deleted}) {
        const auto transaction = stage.transaction();
        stage.send(build::subscription(host, administrator, Method::set, transaction, number));
        stage.send(build::subscription(administrator, host, Method::get_resp, transaction, number));
    }
}

void bring_up_senders(Stage& stage) {
    bring_up(stage);
    for (const auto& host : stage.scene().net().hosts) subscribe(stage, host);
}

}  // namespace ipoib::traffic
