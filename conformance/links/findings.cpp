// SPDX-License-Identifier: GPL-2.0-or-later
// What is wrong on the links, and what it means for those who use them.
#include "conformance/links/account.hpp"

#include "protocol/wire/mgid.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>
#include <set>

namespace ipoib::links {
using namespace wire;
using conformance::Judge;

namespace {

using component = McMemberRecord::component;

constexpr std::size_t most_frames = 10;
/// After which a port that has been asked to register anew has had its time.
constexpr std::int64_t renewal_patience = 30'000'000'000;  // ns

/// A rule whose violation explains why packets do not arrive.
struct Cause {
    std::string_view rule, name, text;
};
constexpr std::array<Cause, 12> causes{{
    {"RULE-RFC4391-6-07", "no-grh",
     "Multicast packets have no GRH. An adapter finds the group by the GID in it and drops them: to its members they "
     "are lost."},
    {"RULE-RFC4391-9.1.2-03", "wrong-q-key",
     "Packets carry another Q_Key than the broadcast group's. The receiving queue pair drops them without a word."},
    {"RULE-RFC4391-10-03", "dlid-not-mlid",
     "Packets to a group go to another MLID than the one in its record. Switches forward by MLID, so they reach the "
     "members of another group, or nobody."},
    {"RULE-RFC4391-4-08", "mapping-32-bit",
     "The MGID holds all 32 bits of the IPv4 group, not the low 28. It is another group than the one that receivers "
     "join."},
    {"RULE-RFC4391-4-08-join", "mapping-32-bit",
     "A port joins an MGID that holds all 32 bits of the IPv4 group, not the low 28. It is another group than the one "
     "that others use."},
    {"RULE-RFC4391-4-05", "p-key-without-membership-bit",
     "The P_Key in the MGID of a packet is not the link's with the full-membership bit. It is another group than the "
     "one that others use."},
    {"RULE-RFC4391-4-05-join", "p-key-without-membership-bit",
     "The P_Key in the MGID of a join is not the record's with the full-membership bit. It is another group than the "
     "one that others use."},
    {"RULE-RFC4391-4-11", "another-scope",
     "MGIDs have another scope than the broadcast-GID. Receivers join the group with the link's scope, which is "
     "another one."},
    {"RULE-RFC4391-10-15", "listens-without-joining",
     "IP on a port has joined a group, but the port did not join it at the SA: it gets no packet of the group."},
    {"RULE-RFC4391-5-02-sends", "uses-link-without-joining",
     "A port uses the link although the SA has refused its join of the broadcast group. It hears no ARP request."},
    {"RULE-RFC4391-9.1.1-04-ipv4", "stale-address",
     "Unicast packets go to a queue pair that the receiver has not announced."},
    {"RULE-RFC4391-7-05", "too-large", "Packets are larger than the link MTU. They are dropped on the way."},
}};

class Findings {
public:
    explicit Findings(Account& account) : account_(account) {}

    /// Whether another one of that name is listed; else it is counted.
    bool has_room(const std::string& name) {
        if (++counts_[name] <= Account::most_findings) return true;
        ++account_.more_findings[name];
        return false;
    }
    /// Of one that there is room for.
    Finding& add(std::string name, std::string text, std::string link = {}) {
        return account_.findings.emplace_back(Finding{std::move(name), std::move(text), std::move(link), {}, 0});
    }
    static void show(Finding& finding, const state::Sight& sight) {
        ++finding.count;
        if (sight && finding.frames.size() < most_frames) finding.frames.push_back(sight);
    }

private:
    Account& account_;
    std::map<std::string, std::size_t> counts_;
};

std::string group_name(const Gid& mgid) {
    const auto group = group_text(mgid);
    return group.empty() ? text(mgid) : is_broadcast_gid(mgid) ? group : "the group " + group;
}

/// The words for one refused join. A missing group is told where its sender is looked at.
std::string refusal_text(const LinkAccount& link, const GroupAccount& group, const RefusedJoin& refused) {
    const auto& mgid = link.subnet->groups()[group.group].mgid;
    auto words = "The SA refuses the join of " + group_name(mgid) + " by " + port_text(link, refused.port) +
                 ", status " + status_text(refused.status) + ". ";
    const auto& record = link.subnet->groups()[group.group].record;
    if (refused.component == component::rate)
        words += "The rate is at fault: the group" +
                 (record ? " has " + rate_text(record->rate) : std::string(" has another")) +
                 ", which the port's path or its request does not meet.";
    else if (refused.component == component::mtu)
        words += "The MTU is at fault: the group" +
                 (record ? " has " + std::to_string(state::mtu_octets(record->mtu)) + " octets"
                         : std::string(" has another")) +
                 ", which the port or its request does not meet.";
    else if (refused.component)
        words += "At fault: " + std::string(component_name(refused.component)) + '.';
    else
        words += "The capture does not show which component is at fault.";
    return words;
}

std::string refusal_name(std::uint64_t at_fault) {
    if (at_fault == component::rate) return "join-refused-rate";
    if (at_fault == component::mtu) return "join-refused-mtu";
    if (at_fault == component::p_key) return "join-refused-p-key";
    return "join-refused";
}

bool is_missing(std::uint64_t at_fault) { return at_fault == component::create || at_fault == component::join_state; }

void refusals(const LinkAccount& link, Findings& findings) {
    for (const auto& group : link.groups)
        for (const auto& refused : group.refused) {
            const auto& about = link.subnet->groups()[group.group];
            const bool is_late =
                is_missing(refused.component) && about.created && about.created.time > refused.last.time;
            const auto name = is_late                         ? std::string("sender-before-group")
                              : is_missing(refused.component) ? std::string("no-such-group")
                                                              : refusal_name(refused.component);
            if (!findings.has_room(name)) continue;
            Finding* finding = nullptr;
            if (is_late)
                finding = &findings.add(name,
                                        port_text(link, refused.port) + " asked for " + group_name(about.mgid) +
                                            " before the group existed, was refused, and has not asked again since it "
                                            "was created in frame " +
                                            std::to_string(about.created.frame) +
                                            ". What it sends does not reach the group's members.",
                                        link_text(link));
            else if (is_missing(refused.component))
                finding = &findings.add(name,
                                        port_text(link, refused.port) + " asked for " + group_name(about.mgid) +
                                            ", which nobody has created: it has no receiver.",
                                        link_text(link));
            else
                finding = &findings.add(name, refusal_text(link, group, refused), link_text(link));
            Findings::show(*finding, refused.last);
            finding->count = refused.count;
        }
}

/// Ports that were asked to register anew, or whose SA has changed, and have not joined again.
void renewals(const LinkAccount& link, std::int64_t end, Findings& findings) {
    const auto& subnet = *link.subnet;
    for (const auto& group : link.groups) {
        const auto left_out = [&](state::PortIndex index) {
            const auto& port = subnet.port(index);
            const auto* member = subnet.member(group.group, index);
            const auto& since = port.renewal ? port.renewal : subnet.sm_restarted();
            return since && member && member->joined_at && member->joined_at.frame < since.frame &&
                   state::elapsed(since.time, end) >= renewal_patience && port.last.time > since.time;
        };
        std::vector<state::PortIndex> ports;
        for (const auto* list : {&group.full, &group.non, &group.send_only})
            std::ranges::copy_if(*list, std::back_inserter(ports), left_out);
        if (ports.empty() || !findings.has_room("sm-restarted")) continue;
        auto& finding = findings.add(
            "sm-restarted",
            "The subnet manager has restarted or asked for registration anew, and " + port_text(link, ports.front()) +
                (ports.size() > 1 ? " and " + std::to_string(ports.size() - 1) + " more" : "") + " did not rejoin " +
                group_name(subnet.groups()[group.group].mgid) + ": the new one may not forward its packets.",
            link_text(link));
        for (const auto port : ports)
            Findings::show(finding, subnet.port(port).renewal ? subnet.port(port).renewal : subnet.sm_restarted());
    }
}

void strangers(const LinkAccount& link, Findings& findings) {
    for (const auto& group : link.groups)
        for (const auto& stranger : group.strangers) {
            if (!stranger.is_certain || !findings.has_room("sender-never-joined")) continue;
            auto& finding = findings.add("sender-never-joined",
                                         port_text(link, stranger.port) + " sends to " +
                                             group_name(link.subnet->groups()[group.group].mgid) +
                                             " without having joined it. Its packets may go nowhere.",
                                         link_text(link));
            Findings::show(finding, stranger.first);
            finding.count = stranger.packets;
        }
}

void doubts(const LinkAccount& link, Findings& findings) {
    if (!link.link->is_disputed || !findings.has_room("two-broadcast-groups")) return;
    findings.add(
        "two-broadcast-groups",
        "The capture shows two broadcast groups, or one with two sets of parameters, for this P_Key. Ports that "
        "keep to one do not hear those of the other.",
        link_text(link));
}

/// Violations in their causes' words; what no cause explains, in the rule's.
void violations(const Judge& judge, Findings& findings) {
    for (const auto& result : judge.results()) {
        if (result.violations == 0) continue;
        const auto cause = std::ranges::find(causes, result.id, &Cause::rule);
        const bool is_cause = cause != causes.end();
        auto words = is_cause
                         ? std::string(cause->text)
                         : "Not kept: " + result.title + " (" + result.checks.front() + "): " + result.message + '.';
        const auto& first = result.details.front();
        if (is_cause)
            words +=
                " First: " + first.subject + ", " + (first.field.empty() ? "" : first.field + ' ') + first.actual + '.';
        auto& finding = findings.add(is_cause ? std::string(cause->name) : "not-kept", std::move(words), first.link);
        for (const auto& detail : result.details) Findings::show(finding, {detail.frame, 0, detail.capture});
        finding.count = result.violations;
    }
}

}  // namespace

void add_findings(Account& account, const Judge& judge) {
    Findings findings{account};
    for (const auto& link : account.links) {
        doubts(link, findings);
        refusals(link, findings);
        renewals(link, judge.now(), findings);
        strangers(link, findings);
    }
    violations(judge, findings);
    // What explains why packets are lost comes before what is only not kept.
    std::stable_partition(account.findings.begin(), account.findings.end(),
                          [](const Finding& one) { return one.name != "not-kept"; });
}

}  // namespace ipoib::links
