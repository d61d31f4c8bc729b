// SPDX-License-Identifier: GPL-2.0-or-later
// Requests of the subnet administrator, each with its answer.
#include "traffic-gen/profiles/exchanges.hpp"

namespace ipoib::traffic {
using namespace wire;

void subscribe(Stage& stage, const build::Node& host) {
    const auto& administrator = stage.scene().administrator();
    for (const auto number : {trap::multicast_group_created, trap::multicast_group_deleted}) {
        if (auto* real = stage.administrator()) {
            if (real->is_ours(host))
                (void)stage.ask([&](Administrator& sa, Time time) { return sa.subscribe(time, host, number); });
            continue;
        }
        const auto transaction = stage.transaction();
        stage.send(build::subscription(host, administrator, Method::set, transaction, number));
        stage.send(build::subscription(administrator, host, Method::get_resp, transaction, number));
    }
}

void look_in_vain(Stage& stage, const build::Node& host, const build::Link& link, const Gid& mgid) {
    if (stage.administrator()) return;
    using component = McMemberRecord::component;
    const auto& administrator = stage.scene().administrator();
    const auto transaction = stage.transaction();
    const auto record = build::group_record(host, link, mgid, 0, 0);
    stage.send(build::mc_member(host, administrator, Method::get, transaction, record, component::mgid));
    auto answer = build::mc_member(administrator, host, Method::get_resp, transaction, record, component::mgid);
    stage.send(answer.choose(Mad::status, sa_status::no_records));
}

void ask_for_path(Stage& stage, const build::Node& host, const build::Node& to, const build::Link& link) {
    if (stage.administrator()) return;
    constexpr std::uint8_t ten_gigabit = 3;
    const auto& administrator = stage.scene().administrator();
    const auto transaction = stage.transaction();
    for (const auto method : {Method::get, Method::get_resp}) {
        const bool is_answer = is_response(method);
        const auto &from = is_answer ? administrator : host, &target = is_answer ? host : administrator;
        auto packet = build::path_record(from, target, method, transaction, host, to, link.sl, ten_gigabit);
        stage.send(packet.choose(PathRecord::p_key, link.p_key));
    }
}

void bring_up_senders(Stage& stage) {
    bring_up(stage);
    for (const auto& host : stage.scene().net().hosts) subscribe(stage, host);
}

}  // namespace ipoib::traffic
