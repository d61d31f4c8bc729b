// SPDX-License-Identifier: GPL-2.0-or-later
// Changes as requests of the fabric-control protocol.
#include "fabric/change/change.hpp"

#include "base/json_object.hpp"
#include "protocol/wire/text.hpp"

namespace ipoib::fabric {
namespace {

using OrderedJson = nlohmann::ordered_json;
using std::chrono::duration;

double in_milliseconds(Duration time) { return duration<double, std::milli>(time).count(); }

void name_port(OrderedJson& request, const PortName& port) {
    if (port.guid != 0)
        request["guid"] = wire::hex(port.guid, 16);
    else
        request["lid"] = port.lid;
}

struct Writer {
    OrderedJson& request;

    void operator()(const SetScenario& change) const { request["name"] = change.name; }
    void operator()(const SetManager& change) const {
        request["state"] = change.takes_over ? "failover" : change.runs ? "start" : "stop";
        if (change.keeps_state) request["keeps_state"] = true;
    }
    void operator()(const SetPort& change) const {
        name_port(request, change.port);
        request["state"] = change.is_up ? "up" : "down";
    }
    void operator()(const SetPKey& change) const {
        name_port(request, change.port);
        if (!change.index) {
            request[change.is_there ? "add" : "remove"] = wire::hex(change.p_key, 4);
            return;
        }
        request["change"] = "move";
        request["pkey"] = wire::hex(change.p_key, 4);
        request["index"] = *change.index;
    }
    void operator()(const SetLid& change) const {
        request["guid"] = wire::hex(change.port.guid, 16);
        if (change.lid != 0) request["lid"] = change.lid;
    }
    void operator()(const SetPrefix& change) const { request["prefix"] = text(wire::Gid::of(change.prefix, 0)); }
    void operator()(const SetSa& change) const {
        const auto member = [&](const char* name, const auto& value) {
            if (value) request[name] = *value;
        };
        if (change.resets) request["reset"] = true;
        if (change.delay) request["delay_ms"] = in_milliseconds(*change.delay);
        member("silent", change.is_silent);
        member("drop_next", change.drop_next);
        member("busy_next", change.busy_next);
        member("refuse_joins", change.refuse_joins);
        if (change.refuse_only) request["refuse_only"] = text(*change.refuse_only);
    }
    void operator()(const SetGroup& change) const {
        request[change.exists ? "create" : "delete"] = text(change.mgid);
        if (change.q_key) request["q_key"] = wire::hex(*change.q_key, 8);
        if (change.flow_label) request["flow_label"] = *change.flow_label;
        if (change.sl) request["sl"] = *change.sl;
        if (change.traffic_class) request["traffic_class"] = *change.traffic_class;
        if (change.hop_limit) request["hop_limit"] = *change.hop_limit;
        if (change.mtu) request["mtu"] = *change.mtu;
    }
    void operator()(const SetPath& change) const {
        request["gid"] = text(change.gid);
        if (change.lid != 0) request["lid"] = change.lid;
        if (change.sl) request["sl"] = *change.sl;
    }
    void operator()(const SetFaults& change) const {
        const auto& faults = change.faults;
        const auto member = [&](const char* name, double value) {
            if (value > 0) request[name] = value;
        };
        name_port(request, change.port);
        member("loss", faults.loss);
        member("duplication", faults.duplication);
        member("reordering", faults.reordering);
        member("corruption", faults.corruption);
        member("delay_ms", in_milliseconds(faults.delay));
        if (faults.spares_management) request["spares_management"] = *faults.spares_management;
    }
    void operator()(const Restore&) const {}
};

struct Opposite {
    using Change = std::optional<FabricChange>;
    Change operator()(const SetScenario&) const { return {}; }
    Change operator()(const SetManager& change) const {
        if (change.runs) return {};
        return SetManager{.runs = true, .keeps_state = true};
    }
    Change operator()(const SetPort& change) const { return SetPort{change.port, !change.is_up}; }
    Change operator()(const SetPKey& change) const {
        if (change.index) return Restore{};
        return SetPKey{change.port, change.p_key, !change.is_there};
    }
    Change operator()(const SetLid&) const { return {}; }
    Change operator()(const SetPrefix& change) const {
        if (change == SetPrefix{}) return {};
        return SetPrefix{};
    }
    Change operator()(const SetSa& change) const {
        if (change == SetSa{.resets = true}) return {};
        return SetSa{.resets = true};
    }
    Change operator()(const SetGroup& change) const { return SetGroup{change.mgid, !change.exists}; }
    Change operator()(const SetPath& change) const {
        if (change.lid == 0) return {};
        return SetPath{.gid = change.gid};
    }
    Change operator()(const SetFaults& change) const {
        if (change.faults == LinkFaults{}) return {};
        return SetFaults{.port = change.port};
    }
    Change operator()(const Restore&) const { return {}; }
};

void describe(const FabricChange& change, OrderedJson& request) {
    request["do"] = verb(change);
    std::visit(Writer{request}, change);
}

}  // namespace

std::string request_text(const FabricChange& change, std::uint64_t id, Duration patience) {
    OrderedJson request{{"id", id}};
    describe(change, request);
    if (patience != usual_patience) request["deadline"] = duration<double>(patience).count();
    return json_line(request);
}

std::string text(const FabricChange& change) {
    OrderedJson request;
    describe(change, request);
    return json_line(request);
}

std::optional<FabricChange> opposite(const FabricChange& change) { return std::visit(Opposite{}, change); }

}  // namespace ipoib::fabric
