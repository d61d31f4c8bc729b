// SPDX-License-Identifier: GPL-2.0-or-later
// Rules over an inventory.
#include "conformance/audit/audit.hpp"

#include "conformance/judge/force.hpp"
#include "conformance/judge/passive.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace ipoib::audit {
using namespace wire;
using reports::NotJudged;
using reports::Result;
using reports::Verdict;

namespace {

constexpr std::size_t most_details = 100, most_noted = 5;

/// The groups by what they are to each other.
class Groups {
public:
    explicit Groups(const Inventory& inventory) : inventory_(inventory) {
        for (const auto& group : inventory.groups)
            if (is_broadcast_gid(group.parameters.mgid)) by_p_key_[p_key_of(group)].push_back(&group);
    }
    [[nodiscard]] std::span<const StatedGroup* const> broadcasts(const StatedGroup& group) const {
        const auto found = by_p_key_.find(p_key_of(group));
        return found != by_p_key_.end() ? std::span<const StatedGroup* const>{found->second}
                                        : std::span<const StatedGroup* const>{};
    }
    /// The broadcast group of the link that a group belongs to.
    [[nodiscard]] const StatedGroup* broadcast(const StatedGroup& group) const {
        const auto all = broadcasts(group);
        const auto scope = mgid_of(group.parameters.mgid)[Mgid::scope];
        const auto same = std::ranges::find_if(
            all, [&](const StatedGroup* one) { return mgid_of(one->parameters.mgid)[Mgid::scope] == scope; });
        return same != all.end() ? *same : all.empty() ? nullptr : all.front();
    }
    [[nodiscard]] const StatedPort* port(const Gid& gid) const {
        const auto found = std::ranges::lower_bound(inventory_.ports, gid, {}, &StatedPort::gid);
        return found != inventory_.ports.end() && found->gid == gid ? &*found : nullptr;
    }
    [[nodiscard]] static const StatedMember* member(const StatedGroup& group, const Gid& gid) {
        const auto found = std::ranges::lower_bound(group.members, gid, {}, &StatedMember::port_gid);
        return found != group.members.end() && found->port_gid == gid ? &*found : nullptr;
    }

private:
    /// Without the membership bit, which a draft's MGIDs lack.
    [[nodiscard]] static std::uint16_t p_key_of(const StatedGroup& group) {
        return mgid_of(group.parameters.mgid)[Mgid::p_key] | full_membership;
    }
    const Inventory& inventory_;
    std::map<std::uint16_t, std::vector<const StatedGroup*>> by_p_key_;
};

/// How far a link reaches, and why that is known.
struct Reach {
    LinkSpan span = LinkSpan::unknown;
    std::string why;
};

/// The prefix of the subnet, where it is not the default one, which every port has beside its own.
std::optional<std::uint64_t> prefix_of(const Inventory& inventory) {
    constexpr std::uint64_t default_prefix = std::uint64_t{0xfe80} << 48;
    for (const auto& port : inventory.ports)
        if (port.gid.prefix() != default_prefix) return port.gid.prefix();
    return {};
}

/// Whether these are two subnets for sure, with routers at the border of each.
bool are_joined(const Inventory& one, const Inventory& other) {
    return one.has_router.value_or(false) && other.has_router.value_or(false);
}
bool are_two(const Inventory& one, const Inventory& other) {
    const auto prefix = prefix_of(one), another = prefix_of(other);
    return prefix && another && *prefix != *another;
}

const StatedGroup* find_group(const Inventory& inventory, const Gid& mgid) {
    const auto found =
        std::ranges::find(inventory.groups, mgid, [](const StatedGroup& g) { return g.parameters.mgid; });
    return found != inventory.groups.end() ? &*found : nullptr;
}

/// Groups of local-subnet scope are others in each subnet, though they have one MGID.
bool reaches_beyond(const Gid& mgid) {
    constexpr std::uint8_t local_scope = 2;
    return mgid_of(mgid)[Mgid::scope] > local_scope;
}

class Judge {
public:
    Judge(std::span<const Inventory> subnets, const std::vector<const Rule*>& rules)
        : subnets_(subnets), rules_(rules), findings_(rules.size()) {
        for (std::size_t i = 0; i < rules.size(); ++i) about_[static_cast<std::size_t>(rules[i]->about)].push_back(i);
        for (const auto& subnet : subnets) {
            inventory_ = &subnet;
            groups_.emplace(subnet);
            nodes_.clear();
            for (const auto& group : subnet.groups) look_at(group);
            for (const auto& [broadcast, ports] : nodes_)
                for (const auto& gid : ports) look_at_node(*broadcast, gid);
            look_at_paths();
            look_at_shared();
        }
    }
    [[nodiscard]] Result result(std::size_t index) const;

private:
    struct Finding {
        std::uint64_t observed = 0, notes = 0;
        std::uint64_t violations = 0, doubtful = 0;  ///< the latter only if nothing is missing in the tables
        std::vector<reports::Detail> details, doubtful_details;
        std::string_view doubt{};        ///< of the first that is doubtful
        std::vector<std::string> noted;  ///< the first of those
    };

    void look_at(const StatedGroup& group);
    void look_at_node(const StatedGroup& broadcast, const Gid& gid);
    void look_at_paths();
    void look_at_shared();
    [[nodiscard]] Reach reach_of(const StatedGroup& broadcast) const;
    /// For groups in the switches that members are attached to: what the least has; 0: not told.
    [[nodiscard]] std::uint16_t room() const;
    [[nodiscard]] bool is_of_another_subnet(const Gid& member) const;
    [[nodiscard]] std::string subject_of(const Item& item) const;
    [[nodiscard]] bool is_visible(const Item& item) const;
    void judge(About about, const Item& item);
    void judge(std::size_t index, const Item& item);
    [[nodiscard]] std::string_view doubt_of(const Rule& rule, const Item& item) const;
    [[nodiscard]] std::string why_not_judged(const Rule& rule) const;
    static void tell_violations(const Rule& rule, const Finding& finding, const std::string& of_all, Result& result);

    std::span<const Inventory> subnets_;
    const Inventory* inventory_ = nullptr;  ///< the one at hand
    std::optional<Groups> groups_;          ///< of it
    const std::vector<const Rule*>& rules_;
    std::vector<Finding> findings_;
    std::array<std::vector<std::size_t>, about_count> about_;  ///< indices into the rules
    std::map<const StatedGroup*, std::set<Gid>> nodes_;        ///< ports in other groups of a broadcast group's link
};

void Judge::look_at(const StatedGroup& group) {
    const auto broadcasts = groups_->broadcasts(group);
    judge(About::group,
          {.group = group, .broadcasts = broadcasts, .groups = inventory_->groups.size(), .room = room()});
    if (!has_ipoib_signature(group.parameters.mgid)) return;
    judge(About::ip_group, {.group = group, .broadcasts = broadcasts});
    const bool is_broadcast = is_broadcast_gid(group.parameters.mgid);
    const auto reach = is_broadcast ? reach_of(group) : Reach{};
    judge(is_broadcast ? About::broadcast : About::other,
          {.group = group, .broadcasts = broadcasts, .span = reach.span, .why_it_spans = reach.why});
    const auto* broadcast = is_broadcast ? nullptr : groups_->broadcast(group);
    if (broadcast) judge(About::of_link, {.group = group, .broadcast = broadcast, .broadcasts = broadcasts});
    for (const auto& member : group.members) {
        judge(About::member, {.group = group,
                              .broadcast = broadcast,
                              .member = &member,
                              .node = &member.port_gid,
                              .port = groups_->port(member.port_gid),
                              .broadcasts = broadcasts});
        if (broadcast) nodes_[broadcast].insert(member.port_gid);
    }
}

std::uint16_t Judge::room() const {
    std::uint16_t least = inventory_->switch_groups.value_or(0);
    for (const auto& port : inventory_->ports)
        if (const auto room = port.switch_groups.value_or(0); room != 0 && (least == 0 || room < least)) least = room;
    return least;
}

void Judge::look_at_node(const StatedGroup& broadcast, const Gid& gid) {
    judge(About::node, {.group = broadcast,
                        .member = Groups::member(broadcast, gid),
                        .node = &gid,
                        .port = groups_->port(gid),
                        .broadcasts = groups_->broadcasts(broadcast)});
}

void Judge::look_at_paths() {
    for (const auto& path : inventory_->paths)
        if (const auto* link = find_group(*inventory_, path.link))
            judge(About::pair, {.group = *link,
                                .member = Groups::member(*link, path.from),
                                .node = &path.from,
                                .port = groups_->port(path.from),
                                .pair = &path});
}

/// Beside the subnets before this one.
void Judge::look_at_shared() {
    for (const auto* other = subnets_.data(); other != inventory_; ++other) {
        if (!are_two(*inventory_, *other)) continue;
        const auto span = are_joined(*inventory_, *other) ? LinkSpan::several : LinkSpan::unknown;
        for (const auto& group : inventory_->groups) {
            const auto& mgid = group.parameters.mgid;
            if (!has_ipoib_signature(mgid) || !reaches_beyond(mgid)) continue;
            if (const auto* elsewhere = find_group(*other, mgid))
                judge(About::shared, {.group = group, .span = span, .elsewhere = elsewhere});
        }
    }
}

/// Not a port of this subnet that has another prefix, or had one before.
bool Judge::is_of_another_subnet(const Gid& member) const {
    const auto own = prefix_of(*inventory_);
    constexpr std::uint64_t default_prefix = std::uint64_t{0xfe80} << 48;
    if (!own || member.prefix() == *own || member.prefix() == default_prefix) return false;
    return std::ranges::none_of(
        inventory_->ports, [&](const StatedPort& port) { return port.gid.interface_id() == member.interface_id(); });
}

Reach Judge::reach_of(const StatedGroup& broadcast) const {
    const auto& mgid = broadcast.parameters.mgid;
    if (inventory_->has_router.value_or(false))
        for (const auto& member : broadcast.members)
            if (is_of_another_subnet(member.port_gid))
                return {LinkSpan::several, "member " + text(member.port_gid) + " is of another subnet"};
    for (const auto& other : subnets_) {
        if (&other == inventory_ || !reaches_beyond(mgid) || !find_group(other, mgid)) continue;
        if (are_two(*inventory_, other) && are_joined(*inventory_, other))
            return {LinkSpan::several, "it is in another subnet, too (" + other.origin + ')'};
    }
    const bool is_alone = subnets_.size() == 1 && !inventory_->has_router.value_or(true);
    return {is_alone && is_visible({.group = broadcast}) ? LinkSpan::one : LinkSpan::unknown, {}};
}

void Judge::judge(About about, const Item& item) {
    for (const auto index : about_[static_cast<std::size_t>(about)]) judge(index, item);
}

/// Whether the SA tells of all groups with this P_Key.
bool Judge::is_visible(const Item& item) const {
    const auto p_key = mgid_of(item.parameters().mgid)[Mgid::p_key];
    return inventory_->p_keys.empty() ||
           std::ranges::any_of(inventory_->p_keys, [&](std::uint16_t own) { return is_same_partition(own, p_key); });
}

bool tells(const StatedGroup& group, std::uint32_t what) { return (group.given & what) == what; }

/// "0002c90300001491 (node-1 HCA-1)", or the group.
std::string Judge::subject_of(const Item& item) const {
    const auto place = subnets_.size() > 1 ? " in " + inventory_->origin : std::string{};
    if (!item.node) {
        const auto name = group_text(item.parameters().mgid);
        return text(item.parameters().mgid) + (name.empty() ? "" : " (" + name + ')') + place;
    }
    std::string description;
    if (item.port) description = item.port->node_description;
    if (description.empty() && item.member) description = item.member->node_description;
    return hex(item.node->interface_id(), 16).substr(2) + (description.empty() ? "" : " (" + description + ')') + place;
}

/// What may be missing that a violation would not stand against; empty: nothing.
std::string_view Judge::doubt_of(const Rule& rule, const Item& item) const {
    const auto scope = [](const StatedGroup& group) { return mgid_of(group.parameters.mgid)[Mgid::scope]; };
    // Compared with a broadcast group of another scope, for want of its own.
    const bool is_beside = item.broadcast && scope(*item.broadcast) != scope(item.group);
    if ((rule.needs_all || is_beside) && !inventory_->doubt.empty()) return inventory_->doubt;
    if (rule.lacks && rule.lacks(item)) return rule.what_lacks;
    return rule.needs_p_keys ? std::string_view{inventory_->p_key_doubt} : std::string_view{};
}

void Judge::judge(std::size_t index, const Item& item) {
    const auto& rule = *rules_[index];
    auto& finding = findings_[index];
    if (!tells(item.group, rule.knows) || (item.broadcast && !tells(*item.broadcast, rule.knows))) return;
    if (item.elsewhere && !tells(*item.elsewhere, rule.knows)) return;
    if (rule.needs_members && !item.group.members_are_listed) return;
    if (rule.needs_all && !is_visible(item)) return;
    if (rule.applies && !rule.applies(item)) return;
    ++finding.observed;
    if (rule.notes && !(rule.needs_all && !inventory_->doubt.empty()) && rule.notes(item)) {
        ++finding.notes;
        if (finding.noted.size() < most_noted) finding.noted.push_back(subject_of(item));
    }
    if (!rule.holds || rule.holds(item)) return;
    const auto doubt = doubt_of(rule, item);
    if (finding.doubtful == 0) finding.doubt = doubt;
    ++(doubt.empty() ? finding.violations : finding.doubtful);
    auto& details = doubt.empty() ? finding.details : finding.doubtful_details;
    if (details.size() == most_details) return;
    const bool is_of_member = item.node != nullptr && rule.about == About::member;
    details.push_back({.field = std::string(rule.field) + (is_of_member ? " of " + text(item.parameters().mgid) : ""),
                       .expected = rule.expected(item),
                       .actual = rule.actual(item),
                       .subject = subject_of(item),
                       .link = hex(mgid_of(item.parameters().mgid)[Mgid::p_key], 4)});
}

std::string Judge::why_not_judged(const Rule& rule) const {
    const auto none_of = [&](auto&& holds) {
        return std::ranges::all_of(subnets_, [&](const Inventory& i) { return std::ranges::none_of(i.groups, holds); });
    };
    const auto is_named = [](const StatedGroup& group) { return group.members_are_listed; };
    const bool is_of_members = rule.needs_members || rule.about == About::member;
    if (is_of_members && none_of(is_named)) return "no member of a group is told";
    if (rule.about == About::member &&
        std::ranges::all_of(subnets_, [](const Inventory& i) { return i.ports.empty(); }))
        return "nothing is told of the members' ports";
    if (rule.about == About::pair) return "no path between two members was asked for";
    if (rule.about == About::shared && subnets_.size() < 2) return "the records are of one subnet";
    const auto is_told = [&](const StatedGroup& group) { return tells(group, rule.knows); };
    if (rule.knows != 0 && none_of(is_told)) return "the records do not tell what this is about";
    return "there is nothing to which it applies";
}

Result Judge::result(std::size_t index) const {
    const auto& rule = *rules_[index];
    const auto& finding = findings_[index];
    Result result{.id = std::string(rule.id), .title = std::string(rule.title)};
    for (const auto* requirement : rule.checks)
        if (requirement) result.checks.emplace_back(requirement->id);
    result.observed = finding.observed;
    if (finding.observed == 0) {
        result.message = why_not_judged(rule);
        return result;
    }
    const auto of_all = std::to_string(finding.observed) + ' ' + std::string(plural(rule.about));
    if (finding.notes) {
        auto note = std::to_string(finding.notes) + " of " + of_all + ": " + std::string(rule.note) + " (";
        for (std::size_t i = 0; i < finding.noted.size(); ++i) note += (i ? ", " : "") + finding.noted[i];
        result.notes.push_back(note + (finding.notes > most_noted ? " ...)" : ")"));
    }
    if (!rule.holds) {
        result.observed = 0;
        result.na = NotJudged::inspection;
        result.message = finding.notes ? result.notes.front() : "nothing worth a note in " + of_all;
        return result;
    }
    result.na = NotJudged::none;
    if (finding.violations == 0 && finding.doubtful == 0) {
        result.verdict = Verdict::pass;
        result.message = "holds for " + of_all;
        return result;
    }
    tell_violations(rule, finding, of_all, result);
    return result;
}

/// What is certain; where nothing is, what would be if nothing were missing.
void Judge::tell_violations(const Rule& rule, const Finding& finding, const std::string& of_all, Result& result) {
    const bool is_doubtful = finding.violations == 0 && finding.doubtful != 0;
    result.violations = is_doubtful ? finding.doubtful : finding.violations;
    result.details = is_doubtful ? finding.doubtful_details : finding.details;
    const auto& first = result.details.front();
    result.message = std::to_string(result.violations) + " of " + of_all + "; first " + first.subject + ": " +
                     first.field + " is " + first.actual + ", expected " + first.expected;
    const bool is_must = rule.weight.value_or(rule.checks[0]->strength) == requirements::Strength::must;
    result.verdict = is_must ? Verdict::fail : Verdict::warn;
    if (is_must) result.fail_type = conformance::strongest_fail_type(rule.checks);
    if (is_doubtful) {
        result.verdict = Verdict::inconc;
        result.fail_type.clear();
        result.message += "; " + std::string(finding.doubt);
    } else if (finding.doubtful != 0) {
        result.notes.push_back(std::to_string(finding.doubtful) + " more of " + of_all + ": not decided, since " +
                               std::string(finding.doubt));
    }
}

}  // namespace

std::vector<conformance::Selectable> selectable_rules() {
    std::vector<conformance::Selectable> all;
    for (const auto& rule : rules()) {
        auto& one = all.emplace_back();
        one.id = rule.id;
        for (const auto* requirement : rule.checks)
            if (requirement) one.requirements.push_back(requirement->id);
        one.strength = conformance::strength_name(rule.checks[0]->strength);
        one.status = conformance::status_of(rule.checks);
        one.tags = {"audit"};
    }
    return all;
}

std::vector<const Rule*> selected_rules(const conformance::Selection& selection) {
    std::vector<const Rule*> selected;
    const auto all = selectable_rules();
    for (std::size_t i = 0; i < all.size(); ++i)
        if (selection.matches(all[i])) selected.push_back(&rules()[i]);
    return selected;
}

reports::Results judge(const Inventory& inventory, const std::vector<const Rule*>& rules) {
    return judge(std::span{&inventory, 1}, rules);
}

reports::Results judge(std::span<const Inventory> subnets, const std::vector<const Rule*>& rules) {
    const Judge judge{subnets, rules};
    reports::Results results;
    for (std::size_t i = 0; i < rules.size(); ++i) results.results.push_back(judge.result(i));
    return results;
}

}  // namespace ipoib::audit
