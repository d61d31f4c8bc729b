// SPDX-License-Identifier: GPL-2.0-or-later
// What is wrong on the links, and what it means for those who use them.
#include "base/listed.hpp"
#include "conformance/links/account.hpp"
#include "conformance/links/star.hpp"
#include "protocol/state/rates.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/text.hpp"
#include "reports/failure.hpp"

#include <algorithm>
#include <unordered_map>

namespace ipoib::links {
using namespace wire;
using conformance::Judge;

namespace {

using component = McMemberRecord::component;

/// After which a port that has been asked to register anew has had its time.
constexpr std::int64_t renewal_patience = 30'000'000'000;  // ns

/// After which a sender has forgotten a group: Linux leaves with the neighbour entry.
constexpr std::int64_t lingering_patience = 300'000'000'000;  // ns

std::string ports_text(const LinkAccount& link, const std::vector<state::PortIndex>& ports) {
    return listed(ports, [&](state::PortIndex port) { return port_text(link, port); });
}

/// "the broadcast group", "the group 239.1.2.3", "the groups 239.1.2.3, 239.1.2.4".
std::string groups_text(const LinkAccount& link, const std::vector<state::GroupIndex>& groups) {
    std::vector<Gid> mgids;
    mgids.reserve(groups.size());
    for (const auto group : groups) mgids.push_back(link.subnet->groups()[group].mgid);
    std::ranges::sort(mgids, {}, [](const Gid& mgid) { return std::pair{!is_broadcast_gid(mgid), mgid}; });
    auto names = listed(mgids, group_name);
    const auto& first = mgids.front();
    if (is_broadcast_gid(first) || group_text(first).empty()) return names;
    return (groups.size() > 1 ? "the groups " : "the group ") + names;
}

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
    Finding& add(std::string name, std::string text, std::size_t place) {
        auto& finding = account_.findings.emplace_back();
        finding.name = std::move(name);
        finding.text = std::move(text);
        finding.place = place;
        if (place != nowhere) finding.link = link_text(account_.links[place]);
        return finding;
    }
    /// Ports and groups that have the same in common, as one finding: `pairs` index `things`. `words` is the text of
    /// the finding, `show` adds the frames of one thing.
    template <class Thing, class Words, class Show>
    void add_stars(const std::string& name, std::size_t place, std::span<const Pair> pairs,
                   const std::vector<Thing>& things, Words words, Show show) {
        add_each(name, place, stars(pairs), things, words, show);
    }
    template <class Thing, class Words, class Show>
    void add_each(const std::string& name, std::size_t place, std::vector<Star> all, const std::vector<Thing>& things,
                  Words words, Show show) {
        for (auto& star : all) {
            if (!has_room(name)) continue;
            auto& finding = add(name, words(star, things[star.pairs.front()]), place);
            for (const auto index : star.pairs) show(finding, things[index]);
            finding.is_beyond = name == "group-limit" || name == "send-only-stays" || name == "slower-than-group";
            finding.ports = std::move(star.ports);
            finding.groups = std::move(star.groups);
        }
    }
    static void show(Finding& finding, const state::Sight& sight, std::uint64_t count = 1) {
        finding.count += count;
        if (sight && finding.frames.size() < Ledger::most_frames) finding.frames.push_back(sight);
    }
    [[nodiscard]] const Account& account() const noexcept { return account_; }

private:
    Account& account_;
    std::map<std::string, std::size_t> counts_;
};

/// A refused join and its group.
struct Refusal {
    const GroupAccount* group;
    const RefusedJoin* join;
};

std::string refusal_text(const LinkAccount& link, const Star& star, const Refusal& first) {
    const auto& join = *first.join;
    if (join.status == sa_status::no_resources)
        return "The SA has no room for " + groups_text(link, star.groups) + ", which " + ports_text(link, star.ports) +
               " asked for: status " + status_text(join.status) +
               ". A switch or the SA holds as many multicast groups as it can; each IPv6 address takes one, and so "
               "does each "
               "group on each partition. Nobody gets a new group until others are left.";
    const bool are_groups = star.groups.size() > 1;
    auto words = "The SA refuses the join of " + groups_text(link, star.groups) + " by " +
                 ports_text(link, star.ports) + ", status " + status_text(join.status) + ". ";
    const auto& record = link.subnet->groups()[first.group->group].record;
    const auto has = [&](const std::string& what) {
        return std::string(are_groups ? "the groups have " : "the group has ") + (record ? what : "another");
    };
    const std::string port = star.ports.size() > 1 ? "the ports" : "the port";
    const std::string does =
        star.ports.size() > 1 ? " or their requests do not meet." : " or its request does not meet.";
    if (join.component == component::rate)
        words += "The rate is at fault: " + has(record ? rate_text(record->rate) : "") + ", which the path of " + port +
                 does;
    else if (join.component == component::mtu)
        words +=
            "The MTU is at fault: " + has(record ? std::to_string(state::mtu_octets(record->mtu)) + " octets" : "") +
            ", which " + port + does;
    else if (join.component)
        words += "At fault: " + std::string(component_name(join.component)) + '.';
    else
        words += "The capture does not show which component is at fault.";
    return words;
}

std::string refusal_name(std::uint64_t at_fault, std::uint16_t status) {
    if (status == sa_status::no_resources) return "group-limit";
    if (at_fault == component::rate) return "join-refused-rate";
    if (at_fault == component::mtu) return "join-refused-mtu";
    if (at_fault == component::p_key) return "join-refused-p-key";
    return "join-refused";
}

bool is_missing(std::uint64_t at_fault) { return at_fault == component::create || at_fault == component::join_state; }

std::string late_text(const LinkAccount& link, const Star& star, const state::Group& group) {
    const bool are_ports = star.ports.size() > 1, are_groups = star.groups.size() > 1;
    return ports_text(link, star.ports) + " asked for " + groups_text(link, star.groups) + " before " +
           (are_groups ? "they" : "the group") + " existed, " + (are_ports ? "were" : "was") + " refused, and " +
           (are_ports ? "have" : "has") + " not asked again since " + (are_groups ? "the first of them" : "it") +
           " was created in frame " + std::to_string(group.created.frame) + ". What " +
           (are_ports ? "they send" : "it sends") + " does not reach the members.";
}

std::string missing_text(const LinkAccount& link, const Star& star) {
    return ports_text(link, star.ports) + " asked for " + groups_text(link, star.groups) +
           ", which nobody has created: " + (star.groups.size() > 1 ? "they have" : "it has") + " no receiver.";
}

void refusals(std::size_t place, Findings& findings) {
    const auto& link = findings.account().links[place];
    const auto& groups = link.subnet->groups();
    std::vector<Refusal> all;
    // By the finding that they are; one of another component or status is told by itself.
    std::map<std::tuple<std::string, std::uint64_t, std::uint16_t>, std::vector<Pair>> pairs;
    for (const auto& group : link.groups)
        for (const auto& join : group.refused) {
            const auto& created = groups[group.group].created;
            const bool is_late = is_missing(join.component) && created && created.time > join.last.time;
            const auto name = is_late                      ? "sender-before-group"
                              : is_missing(join.component) ? "no-such-group"
                                                           : refusal_name(join.component, join.status);
            const bool is_told = !is_missing(join.component);
            pairs[{name, is_told ? join.component : 0, is_told ? join.status : std::uint16_t{0}}].push_back(
                {join.port, group.group, all.size()});
            all.push_back({&group, &join});
        }
    for (const auto& [key, some] : pairs) {
        const auto& name = std::get<0>(key);
        // Whoever asks for whatever group, the room that is used up is one.
        findings.add_each(
            name, place, name == "group-limit" ? std::vector{whole(some)} : stars(some), all,
            [&](const Star& star, const Refusal& first) {
                if (name == "sender-before-group") return late_text(link, star, groups[first.group->group]);
                return name == "no-such-group" ? missing_text(link, star) : refusal_text(link, star, first);
            },
            [](Finding& finding, const Refusal& one) { Findings::show(finding, one.join->last, one.join->count); });
    }
}

/// Ports that were asked to register anew, or whose SA has changed, and have not joined again.
void renewals(std::size_t place, std::int64_t end, Findings& findings) {
    const auto& link = findings.account().links[place];
    const auto& subnet = *link.subnet;
    std::vector<state::Sight> since;
    std::vector<Pair> pairs;
    for (const auto& group : link.groups)
        for (const auto* list : {&group.full, &group.non, &group.send_only})
            for (const auto index : *list) {
                const auto& port = subnet.port(index);
                const auto* member = subnet.member(group.group, index);
                // An SM asks a port that has come up anew, too, which concerns nobody else.
                const auto& asked = port.renewal ? port.renewal : subnet.sa_changed();
                if (!asked || !member || !member->joined_at || member->joined_at.order >= asked.order ||
                    state::elapsed(asked.time, end) < renewal_patience || port.last.time <= asked.time)
                    continue;
                pairs.push_back({index, group.group, since.size()});
                since.push_back(asked);
            }
    findings.add_stars(
        "sm-restarted", place, pairs, since,
        [&](const Star& star, const state::Sight&) {
            return "The subnet manager has restarted or asked for registration anew, and " +
                   ports_text(link, star.ports) + " did not rejoin " + groups_text(link, star.groups) +
                   ": the new one may not forward " + (star.groups.size() > 1 ? "their" : "its") + " packets.";
        },
        // One port has one time, whatever its groups are.
        [](Finding& finding, const state::Sight& asked) {
            if (finding.frames.empty() || finding.frames.back().order != asked.order) Findings::show(finding, asked);
        });
}

void strangers(std::size_t place, Findings& findings) {
    const auto& link = findings.account().links[place];
    std::vector<const Stranger*> all;
    std::vector<Pair> pairs;
    for (const auto& group : link.groups)
        for (const auto& stranger : group.strangers) {
            if (!stranger.is_certain) continue;
            pairs.push_back({stranger.port, group.group, all.size()});
            all.push_back(&stranger);
        }
    findings.add_stars(
        "sender-never-joined", place, pairs, all,
        [&](const Star& star, const Stranger*) {
            return ports_text(link, star.ports) + (star.ports.size() > 1 ? " send to " : " sends to ") +
                   groups_text(link, star.groups) + " without having joined " +
                   (star.groups.size() > 1 ? "them" : "it") + ". These packets may go nowhere.";
        },
        [](Finding& finding, const Stranger* one) { Findings::show(finding, one->first, one->packets); });
}

/// Members who joined to send, and have not sent for long: each holds a group that nobody else may need.
void lingering(std::size_t place, Findings& findings) {
    const auto& link = findings.account().links[place];
    std::vector<const state::Member*> all;
    std::vector<Pair> pairs;
    for (const auto& group : link.groups)
        for (const auto port : group.send_only) {
            const auto* member = link.subnet->member(group.group, port);
            if (!member || !member->joined_at) continue;
            // Its leave may have been lost, or the port with all that it held.
            if (link.subnet->requester(port).down.order > member->joined_at.order || link.subnet->shows_loss() ||
                !is_whole(*link.subnet, port, member->joined_at, member->joined_at))
                continue;
            const auto since = std::max(member->joined_at.steady, member->last_sent.steady);
            if (link.subnet->steady() - since < lingering_patience) continue;
            pairs.push_back({port, group.group, all.size()});
            all.push_back(member);
        }
    findings.add_stars(
        "send-only-stays", place, pairs, all,
        [&](const Star& star, const state::Member*) {
            return ports_text(link, star.ports) + (star.ports.size() > 1 ? " have" : " has") + " joined " +
                   groups_text(link, star.groups) + " to send only, " + (star.ports.size() > 1 ? "have" : "has") +
                   " not sent there for five minutes and more, and " + (star.ports.size() > 1 ? "have" : "has") +
                   " not left: groups that nobody uses take the room of others.";
        },
        [](Finding& finding, const state::Member* one) {
            Findings::show(finding, one->last_sent ? one->last_sent : one->joined_at);
        });
}

/// Members whose own link is slower than the group: what is sent at its rate overruns them, and they could not join
/// anew.
void slow(std::size_t place, Findings& findings) {
    const auto& link = findings.account().links[place];
    std::vector<const state::Port*> all;
    std::vector<Pair> pairs;
    for (const auto& group : link.groups) {
        const auto& record = link.subnet->groups()[group.group].record;
        const auto rate = record ? state::rate_order(record->rate) : 0;
        for (const auto* list : {&group.full, &group.non})
            for (const auto index : *list) {
                const auto& port = link.subnet->port(index);
                if (rate == 0 || state::rate_order(port.rate) == 0 || state::rate_order(port.rate) >= rate) continue;
                pairs.push_back({index, group.group, all.size()});
                all.push_back(&port);
            }
    }
    findings.add_stars(
        "slower-than-group", place, pairs, all,
        [&](const Star& star, const state::Port* port) {
            const auto& record = link.subnet->groups()[star.groups.front()].record;
            return ports_text(link, star.ports) + (star.ports.size() > 1 ? " are members of " : " is a member of ") +
                   groups_text(link, star.groups) + " of " + rate_text(record->rate) + " with a link of " +
                   rate_text(port->rate) +
                   ": it came up slower than it was, or with fewer lanes. Its next join is refused; look at cable and "
                   "port.";
        },
        [](Finding& finding, const state::Port* port) {
            if (finding.frames.empty() || finding.frames.back().order != port->told_mtu.order)
                Findings::show(finding, port->told_mtu);
        });
}

/// Ports of which nobody can say whether they are as fast as their groups.
void note_unknown_rates(Account& account, const Judge& judge) {
    std::size_t count = 0;
    std::string first;
    for (const auto* subnet : judge.subnets())
        for (const auto& port : subnet->ports())
            if (port.has_unknown_rate && count++ == 0) first = port_name(port);
    if (count != 0)
        account.notes.push_back(std::to_string(count) + (count == 1 ? " port tells" : " ports tell") +
                                " the width or speed of the link by a code that is not known here, first " + first +
                                ": such rates are compared with no group's");
}

void doubts(std::size_t place, Findings& findings) {
    if (!findings.account().links[place].link->is_disputed || !findings.has_room("two-broadcast-groups")) return;
    findings.add(
        "two-broadcast-groups",
        "The capture shows two broadcast groups, or one with two sets of parameters, for this P_Key. Ports that "
        "keep to one do not hear those of the other.",
        place);
}

/// The places of links, ports and groups by what violations call them.
class Names {
public:
    explicit Names(const Account& account) : account_(account) {
        for (std::size_t i = 0; i < account.links.size(); ++i) links_.emplace(link_text(account.links[i]), i);
    }
    /// The link of that name that has the port; several subnets may call a link the same.
    std::size_t place(const std::string& link, const std::string& port) {
        const auto [begin, end] = links_.equal_range(link);
        for (auto one = begin; one != end; ++one)
            if (port_at(one->second, port) != state::none) return one->second;
        return begin == end ? nowhere : begin->second;
    }
    state::PortIndex port_at(std::size_t place, const std::string& name) {
        auto [ports, is_new] = ports_.try_emplace(place);
        if (is_new)
            for (const auto& host : account_.links[place].hosts)
                ports->second.emplace(port_name(account_.links[place].subnet->port(host.port)), host.port);
        const auto found = ports->second.find(name);
        return found == ports->second.end() ? state::none : found->second;
    }
    [[nodiscard]] state::GroupIndex group_at(std::size_t place, const std::string& name) const {
        const auto mgid = parse_gid(name);
        const auto* found = mgid ? account_.links[place].group(*mgid) : nullptr;
        return found ? found->group : state::none;
    }

private:
    const Account& account_;
    std::multimap<std::string, std::size_t> links_;
    std::unordered_map<std::size_t, std::unordered_map<std::string, state::PortIndex>> ports_;
};

/// The text of a trouble, each "{0}" replaced by what its port is called.
std::string filled(const LinkAccount& link, const Trouble& trouble) {
    std::string words;
    for (std::size_t at = 0; at < trouble.text.size(); ++at) {
        const auto number = static_cast<std::size_t>(trouble.text.size() > at + 2 ? trouble.text[at + 1] - '0' : 0);
        if (trouble.text[at] != '{' || number >= trouble.ports.size() || trouble.text[at + 2] != '}') {
            words += trouble.text[at];
            continue;
        }
        const auto& gid = trouble.ports[number];
        const auto port = link.subnet->port_with(gid);
        words += port == state::none ? (gid.is_zero() ? std::string("a port") : text(gid)) : port_text(link, port);
        at += 2;
    }
    return words;
}

void troubles(const std::vector<Trouble>& all, Findings& findings) {
    std::map<std::pair<const state::Subnet*, std::uint16_t>, std::size_t> places;
    for (std::size_t i = 0; i < findings.account().links.size(); ++i) {
        const auto& link = findings.account().links[i];
        places.emplace(std::pair{link.subnet, link.link->p_key}, i);
    }
    for (const auto& trouble : all) {
        const auto place = places.find({trouble.subnet, trouble.p_key});
        // Of a partition that nobody uses nothing is lost.
        const bool is_placed = place != places.end();
        if ((!is_placed && !trouble.may_be_of_no_link) || !findings.has_room(trouble.name)) continue;
        if (!is_placed) {
            auto& finding = findings.add(trouble.name, trouble.text, nowhere);
            finding.is_beyond = true;
            finding.frames = trouble.frames;
            finding.count = trouble.count;
            finding.hosts = trouble.ports;
            continue;
        }
        const auto& link = findings.account().links[place->second];
        auto& finding = findings.add(trouble.name, filled(link, trouble), place->second);
        finding.is_beyond = true;
        finding.frames = trouble.frames;
        finding.count = trouble.count;
        for (const auto& gid : trouble.ports)
            if (const auto port = link.subnet->port_with(gid); port != state::none) finding.ports.push_back(port);
        std::ranges::sort(finding.ports);
    }
}

/// Whether nobody is hurt who does otherwise.
bool is_advice(const Ledger::Entry& entry) {
    return !entry.cause && entry.rule->checks[0]->strength != requirements::Strength::must;
}

std::string violation_text(const Ledger::Entry& entry, const std::string& who) {
    const auto& first = entry.first;
    const auto found = first.field + (first.field.empty() ? "" : " ") + first.actual;
    if (entry.cause)
        return std::string(entry.cause->text) + " From " + who + ". First: " + found + reports::assumed_text(first) +
               '.';
    return (is_advice(entry) ? "Advice not followed: " : "Not kept: ") + std::string(entry.rule->title) + " (" +
           std::string(entry.rule->checks[0]->id) + "): " + std::to_string(entry.count) +
           (entry.count == 1 ? " packet" : " packets") + " from " + who +
           "; first: " + (first.field.empty() ? "" : first.field + " is ") + first.actual + ", expected " +
           first.expected + reports::assumed_text(first) + '.';
}

/// Violations in their causes' words; what no cause explains, in the rule's.
void violations(const Ledger& ledger, Findings& findings) {
    Names names{findings.account()};
    for (const auto& [key, entry] : ledger.entries()) {
        const std::string name{entry.cause ? entry.cause->name : "not-kept"};
        if (!findings.has_room(name)) continue;
        const auto& link = std::get<2>(key);
        const auto place = names.place(link, entry.first.subject);
        std::vector<state::PortIndex> ports;
        std::vector<state::GroupIndex> groups;
        if (place != nowhere) {
            for (const auto& subject : entry.subjects)
                if (const auto port = names.port_at(place, subject); port != state::none) ports.push_back(port);
            for (const auto& group : entry.groups)
                if (const auto index = names.group_at(place, group); index != state::none) groups.push_back(index);
        }
        std::ranges::sort(ports);
        std::ranges::sort(groups);
        auto who = ports.size() == entry.subjects.size() && !ports.empty()
                       ? ports_text(findings.account().links[place], ports)
                       : listed(entry.subjects, [](const std::string& subject) { return subject; });
        if (entry.has_more) who += " and more";
        auto& finding = findings.add(name, violation_text(entry, who), place);
        finding.link = link;
        finding.rule = entry.rule->id;
        finding.is_advice = is_advice(entry);
        finding.frames = entry.frames;
        finding.count = entry.count;
        // What is not all known explains nothing, and is explained by nothing.
        if (entry.has_more || ports.size() != entry.subjects.size()) continue;
        finding.ports = std::move(ports);
        if (groups.size() == entry.groups.size()) finding.groups = std::move(groups);
    }
}

}  // namespace

void add_findings(Account& account, const Judge& judge, const Observer& observer) {
    Findings findings{account};
    for (std::size_t place = 0; place < account.links.size(); ++place) {
        doubts(place, findings);
        refusals(place, findings);
        renewals(place, judge.now(), findings);
        strangers(place, findings);
        lingering(place, findings);
        slow(place, findings);
    }
    troubles(observer.troubles(), findings);
    violations(observer.ledger(), findings);
    note_unknown_rates(account, judge);
    account.suspicions = judge.suspicions();
    account.more_violations = observer.ledger().beyond();
    put_causes_first(account.findings);
}

}  // namespace ipoib::links
