// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/watch/poll.hpp"

#include "base/clock_text.hpp"
#include "base/json_text.hpp"
#include "base/utf8.hpp"
#include "conformance/audit/audit.hpp"
#include "conformance/watch/exposition.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/text.hpp"

#include <nlohmann/json.hpp>

#include <map>

namespace ipoib::watch {
namespace {

using Json = nlohmann::ordered_json;

std::string event_line(const Json& json) { return json_text(json, -1) + '\n'; }

Json event_at(const char* event, std::int64_t time) { return {{"event", event}, {"time", utc_time(time)}}; }

std::string full_type(const reports::Result& result) {
    return result.fail_type.starts_with("FAIL.") ? result.fail_type.substr(5) : std::string{"SHOULD"};
}

/// Of the subnet that was asked, before a P_Key: "fe80::/"; empty where no port of it is told.
std::string prefix_text(const audit::Inventory& inventory) {
    const auto text = [](const wire::Gid& port) { return wire::text(wire::Gid::of(port.prefix(), 0)) + '/'; };
    if (!inventory.ports.empty()) return text(inventory.ports.front().gid);
    for (const auto& group : inventory.groups)
        if (!group.members.empty()) return text(group.members.front().port_gid);
    return {};
}

}  // namespace

Poll::Poll(PollOptions options, PollPorts ports) : options_(std::move(options)), ports_(std::move(ports)) {}

void Poll::ask(Outcome& outcome) {
    try {
        auto inventory = ports_.survey();
        const auto now = ports_.now();
        ++counts_.polls;
        counts_.questions += inventory.questions;
        counts_.last = now;
        const auto* before = outcome.inventory ? &*outcome.inventory : nullptr;
        auto troubles = audit::troubles_of(inventory, options_.hosts, now, before);
        outcome.results = audit::judge(inventory, audit::selected_rules(conformance::Selection{{}}));
        outcome.results.beyond = std::move(troubles.findings);
        outcome.notes = inventory.notes;
        outcome.notes.insert(outcome.notes.end(), troubles.notes.begin(), troubles.notes.end());
        outcome.inventory = std::move(inventory);
        outcome.error.clear();
        tell(outcome, now);
    } catch (const std::runtime_error& problem) {
        ++counts_.polls;
        ++counts_.failures;
        outcome.error = problem.what();
        if (ports_.fault) ports_.fault(outcome.error);
        if (ports_.event) {
            auto json = event_at("fault", ports_.now());
            json["text"] = valid_utf8(outcome.error);
            ports_.event(event_line(json));
        }
    }
    if (ports_.metrics) ports_.metrics(metrics(outcome));
}

/// What is new. A violation or finding that is gone and comes again is told again.
void Poll::tell(const Outcome& outcome, std::int64_t time) {
    const auto send = [&](const Json& json) {
        if (ports_.event) ports_.event(event_line(json));
    };
    const auto& inventory = *outcome.inventory;
    std::size_t members = 0;
    for (const auto& group : inventory.groups) members += group.members.size();
    auto poll = event_at("poll", time);
    poll["source"] = valid_utf8(inventory.origin);
    poll["groups"] = inventory.groups.size();
    poll["members"] = members;
    poll["ports"] = inventory.ports.size();
    poll["questions"] = inventory.questions;
    send(poll);
    const auto prefix = prefix_text(inventory);
    std::set<std::string> violations, findings;
    for (const auto& result : outcome.results.results) {
        if (result.verdict != reports::Verdict::fail && result.verdict != reports::Verdict::warn) continue;
        for (const auto& detail : result.details) {
            auto kind = result.id + ' ' + detail.link + ' ' + detail.subject + ' ' + detail.field;
            const bool is_new = !violations_.contains(kind);
            if (!violations.insert(std::move(kind)).second || !is_new) continue;
            auto json = event_at("violation", time);
            json["rule"] = result.id;
            json["requirement"] = result.checks.front();
            json["force"] = full_type(result);
            json["field"] = valid_utf8(detail.field);
            json["expected"] = valid_utf8(detail.expected);
            json["actual"] = valid_utf8(detail.actual);
            json["subject"] = valid_utf8(detail.subject);
            json["link"] = valid_utf8(prefix + detail.link);
            send(json);
            if (!ports_.violation) continue;
            auto shown = detail;
            shown.link.insert(0, prefix);
            ports_.violation(result, shown);
        }
    }
    for (const auto& one : outcome.results.beyond) {
        // What has grown is told again.
        auto kind = one.name + ' ' + one.link + ' ' + one.text;
        const bool is_new = !findings_.contains(kind);
        if (!findings.insert(std::move(kind)).second || !is_new) continue;
        auto json = event_at("finding", time);
        json["name"] = one.name;
        json["text"] = valid_utf8(one.text);
        json["link"] = one.link;
        send(json);
    }
    violations_ = std::move(violations);
    findings_ = std::move(findings);
}

std::string Poll::metrics(const Outcome& outcome) const {
    Exposition all;
    all.family("sa_polls", "counter", "Surveys of the subnet administrator that were begun.");
    all.sample({}, counts_.polls);
    all.family("sa_poll_failures", "counter", "Surveys that did not come to their end.");
    all.sample({}, counts_.failures);
    all.family("sa_questions", "counter", "Questions that were put to the subnet administrator.");
    all.sample({}, counts_.questions);
    if (!outcome.inventory) return std::move(all).end();
    const auto& inventory = *outcome.inventory;
    const auto mlids = audit::mlids_of(inventory);
    all.family("sa_mlids_in_use", "gauge", "MLIDs that groups have.");
    all.sample({}, mlids.in_use);
    if (mlids.room != 0) {
        all.family("sa_mlids_room", "gauge", "Groups that the switch with the least room holds (MulticastFDBCap).");
        all.sample({}, mlids.room);
    }
    all.family("sa_solicited_node_groups", "gauge", "Groups of IPv6 Neighbour Discovery.");
    all.sample({}, mlids.solicited_node);
    std::map<std::string, std::pair<std::size_t, std::size_t>> links;  // groups, full members of the broadcast group
    for (const auto& group : inventory.groups) {
        const auto& mgid = group.parameters.mgid;
        if (!wire::has_ipoib_signature(mgid)) continue;
        auto& link = links[wire::hex(wire::mgid_of(mgid)[wire::Mgid::p_key], 4)];
        ++link.first;
        if (wire::is_broadcast_gid(mgid)) link.second += group.members.size();
    }
    const auto of_links = [&](const char* name, const char* help, auto value) {
        all.family(name, "gauge", help);
        std::size_t count = 0;
        for (const auto& [link, numbers] : links)
            if (count++ < Exposition::most_series)
                all.sample("p_key=\"" + Exposition::label(link) + '"', value(numbers));
    };
    of_links("sa_groups", "Groups of a partition.", [](const auto& one) { return one.first; });
    of_links("sa_members", "Members of a partition's broadcast group.", [](const auto& one) { return one.second; });
    all.family("sa_violations", "gauge", "Violations in the latest survey.");
    for (const auto& result : outcome.results.results)
        if (result.violations != 0)
            all.sample("rule=\"" + Exposition::label(result.id) + "\",requirement=\"" +
                           Exposition::label(result.checks.front()) + "\",verdict=\"" +
                           Exposition::label(std::string{reports::name(result.verdict)}) + '"',
                       result.violations);
    std::map<std::pair<std::string, std::string>, std::size_t> findings;
    for (const auto& one : outcome.results.beyond) ++findings[{one.name, one.link}];
    all.family("findings", "gauge", "Findings now.");
    std::size_t series = 0;
    for (const auto& [key, number] : findings)
        if (series++ < Exposition::most_series)
            all.sample("name=\"" + Exposition::label(key.first) + "\",link=\"" + Exposition::label(key.second) + '"',
                       number);
    for (const auto& [name, member, help] :
         {std::tuple{"sa_p_key_violations", &assumptions::StatedPort::p_key_violations,
                     "Packets that a port has dropped for their P_Key."},
          std::tuple{"sa_q_key_violations", &assumptions::StatedPort::q_key_violations,
                     "Packets that a port has dropped for their Q_Key."}}) {
        all.family(name, "gauge", help);
        series = 0;
        for (const auto& port : inventory.ports)
            if (const auto value = (port.*member).value_or(0); value != 0 && series++ < Exposition::most_series)
                all.sample("port=\"" + wire::hex(port.gid.interface_id(), 16).substr(2) + '"', value);
    }
    all.family("sa_last_poll_timestamp_seconds", "gauge", "When the latest survey came to its end.");
    all.sample({}, static_cast<double>(counts_.last) / 1e9);
    return std::move(all).end();
}

Poll::Outcome Poll::run() {
    using Clock = std::chrono::steady_clock;
    Outcome outcome;
    const auto began = Clock::now();
    const auto left = [&] {
        return options_.duration - std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
    };
    const bool has_end = options_.duration.count() != 0;
    for (;;) {
        const auto begin = Clock::now();
        ask(outcome);
        auto pause = options_.interval - std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
        const bool is_last = has_end && left() <= std::max(pause, std::chrono::milliseconds{0});
        if (is_last) pause = left();
        // Also where a survey takes longer than it may: whoever wants to stop it is heard.
        if (!ports_.wait(std::max(pause, std::chrono::milliseconds{0})) || is_last) break;
    }
    if (ports_.event) {
        auto json = event_at("end", ports_.now());
        json["polls"] = counts_.polls;
        json["questions"] = counts_.questions;
        if (counts_.failures != 0) json["failures"] = counts_.failures;
        ports_.event(event_line(json));
    }
    return outcome;
}

}  // namespace ipoib::watch
