// SPDX-License-Identifier: GPL-2.0-or-later
// What can be changed on a simulated subnet from outside.
#include "fabric/simulated/change.hpp"

#include "protocol/wire/text.hpp"

namespace ipoib::fabric::simulated {
namespace {

[[noreturn]] void fail(const std::string& message) { throw ChangeRefused(false, message); }

constexpr Duration longest_wait = std::chrono::seconds{5};

/// Carries out what a request asks for.
struct ChangeVisitor {
    Subnet& subnet;
    const std::vector<std::uint64_t>& awaited;

    void await() const {
        for (const auto guid : awaited)
            if (!subnet.bring_up(guid, longest_wait)) fail("port " + wire::hex(guid, 16) + " did not come up");
    }
    [[nodiscard]] std::uint64_t guid_of(const PortName& port) const {
        if (port.guid != 0) return port.guid;
        const auto* found = subnet.view().by_lid(port.lid);
        if (!found) fail("no port has this LID");
        return found->port_guid;
    }

    void operator()(const SetScenario& change) const {
        const auto* scenario = find_scenario(change.name);
        if (!scenario) fail("no scenario has this name");
        subnet.change_scenario(*scenario);
        await();
    }
    void operator()(const SetManager& change) const {
        if (!change.runs) return subnet.stop_manager();
        if (change.takes_over)
            subnet.let_another_take_over();
        else
            subnet.start_manager(change.keeps_state);
        await();
    }
    void operator()(const SetPort& change) const {
        const auto guid = guid_of(change.port);
        if (!subnet.set_link(guid, change.is_up)) fail("no port has this GUID");
        if (change.is_up && !subnet.bring_up(guid, longest_wait)) fail("the port did not come up");
    }
    void operator()(const SetPKey& change) const {
        const auto guid = guid_of(change.port);
        const bool is_done = change.index      ? subnet.move_p_key(guid, change.p_key, *change.index)
                             : change.is_there ? subnet.add_p_key(guid, change.p_key)
                                               : subnet.remove_p_key(guid, change.p_key);
        if (!is_done) fail("no port has this GUID, or its table is full or lacks the P_Key");
    }
    void operator()(const SetLid& change) const {
        const auto guid = guid_of(change.port);
        if (!subnet.move_lid(guid, change.lid)) fail("no port has this GUID, or another has the LID");
        if (!subnet.bring_up(guid, longest_wait)) fail("the port did not come up");
    }
    void operator()(const SetPrefix& change) const {
        subnet.set_prefix(change.prefix);
        await();
    }
    void operator()(const SetSa& change) const {
        auto faults = change.resets ? SaFaults{} : subnet.sa().faults;
        faults.delay = change.delay.value_or(faults.delay);
        faults.is_silent = change.is_silent.value_or(faults.is_silent);
        faults.drop_next = change.drop_next.value_or(faults.drop_next);
        faults.busy_next = change.busy_next.value_or(faults.busy_next);
        faults.refuse_joins = change.refuse_joins.value_or(faults.refuse_joins);
        if (change.refuse_only) faults.refuse_only = change.refuse_only;
        subnet.sa().faults = faults;
    }
    void operator()(const SetGroup& change) const {
        if (!change.exists) return subnet.sa().delete_group(change.mgid);
        auto like = subnet.scenario().link;
        like.q_key = change.q_key.value_or(like.q_key);
        like.flow_label = change.flow_label.value_or(like.flow_label);
        like.sl = change.sl.value_or(like.sl);
        like.traffic_class = change.traffic_class.value_or(like.traffic_class);
        like.hop_limit = change.hop_limit.value_or(like.hop_limit);
        like.mtu = change.mtu.value_or(like.mtu);
        if (wire::has_ipoib_signature(change.mgid)) like.p_key = wire::mgid_of(change.mgid)[wire::Mgid::p_key];
        if (!subnet.sa().create_group(change.mgid, like)) fail("no MLID is left");
    }
    void operator()(const SetPath& change) const { subnet.sa().set_route(change.gid, change.lid, change.sl); }
    void operator()(const SetFaults& change) const {
        if (!subnet.set_faults(guid_of(change.port), change.faults)) fail("no port has this GUID");
    }
    /// Takes back what cases do to manager and administrator, and to the tables of P_Keys. Links and groups are named
    /// one by one.
    void operator()(const Restore&) const {
        subnet.sa().faults = {};
        subnet.restore_p_keys();
        if (subnet.sm_hca().is_connected()) return;
        subnet.start_manager(true);
        await();
    }
};

}  // namespace

ChangeAnswer change(Subnet& subnet, const FabricChange& change, const std::vector<std::uint64_t>& awaited) {
    try {
        std::visit(ChangeVisitor{subnet, awaited}, change);
    } catch (const ChangeRefused& refused) {
        return {ChangeAnswer::Outcome::failed, refused.what()};
    }
    return {};
}

}  // namespace ipoib::fabric::simulated
