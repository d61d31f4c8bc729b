// SPDX-License-Identifier: GPL-2.0-or-later
// Ports and memberships sorted by link and group.
#include "conformance/links/account.hpp"

#include "base/clock_text.hpp"

#include "protocol/wire/ip_address.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>

namespace ipoib::links {
using namespace wire;
using state::Subnet;

namespace {

/// The broadcast group first.
std::pair<bool, Gid> order(const Gid& mgid) { return {!is_broadcast_gid(mgid), mgid}; }

}  // namespace

bool is_whole(const Subnet& subnet, state::PortIndex port, const state::Sight& since, const state::Sight& at) {
    const state::Span span{.since = since, .requester = subnet.port(port).lid};
    const auto& end = at.order > since.order ? at : since;
    const auto standing = subnet.proof(span, end).standing;
    return standing != state::Standing::broken && !subnet.loss_in(span, end);
}

namespace {

/// One subnet at work: its links in the order in which they were seen, and where each group went.
class Sorter {
public:
    explicit Sorter(const Subnet& subnet) : subnet_(subnet) {
        for (std::uint32_t i = 1; i < subnet.links().size(); ++i) link_of(i).link = &subnet.links()[i];
    }
    std::vector<LinkAccount> sorted() && {
        groups();
        members();
        hosts();
        std::vector<LinkAccount> all;
        for (auto& [index, one] : links_) {
            const auto in_order = [this](const auto& group) { return order(subnet_.groups()[group.group].mgid); };
            std::ranges::sort(one.groups, {}, in_order);
            std::ranges::sort(one.hosts, {}, [this](const Host& host) {
                const auto& port = subnet_.port(host.port);
                return std::pair{port.lid, port.gid};
            });
            one.by_port.resize(one.hosts.size());
            std::iota(one.by_port.begin(), one.by_port.end(), 0U);
            std::ranges::sort(one.by_port, {}, [&hosts = one.hosts](std::uint32_t at) { return hosts[at].port; });
            if (one.link && (!one.groups.empty() || !one.hosts.empty())) all.push_back(std::move(one));
        }
        return all;
    }

private:
    LinkAccount& link_of(std::uint32_t index) {
        auto& one = links_[{subnet_.links()[index].p_key, index}];
        one.subnet = &subnet_;
        return one;
    }
    void groups() {
        const auto& groups = subnet_.groups();
        places_.resize(groups.size());
        for (state::GroupIndex i = 0; i < groups.size(); ++i) {
            if (!has_ipoib_signature(groups[i].mgid)) continue;
            auto& link = link_of(subnet_.link_with(groups[i].mgid));
            places_[i] = {&link, link.groups.size()};
            link.groups.push_back({.group = i});
        }
    }
    void members() {
        for (const auto& member : subnet_.members()) {
            const auto [link, at] = places_[member.group];
            if (!link) continue;
            auto& group = link->groups[at];
            if (member.joined & join_state::full_member)
                group.full.push_back(member.port);
            else if (member.joined & join_state::non_member)
                group.non.push_back(member.port);
            else if (member.joined)
                group.send_only.push_back(member.port);
            if (member.refusal)
                group.refused.push_back(
                    {member.port, member.refusal, member.at_fault, member.refusals, member.refused_at});
            const auto begin = member.refused_at ? member.refused_at : beginning(member.port, link->link);
            // What comes last may be missing where anything is; a refusal is an answer all the same.
            const bool is_doubtful = !member.refused_at && subnet_.shows_loss();
            const bool is_certain =
                begin && !is_doubtful && is_whole(subnet_, member.port, begin, member.first_unjoined);
            if (member.sent_unjoined && !member.joined_at && !member.left_at)
                group.strangers.push_back({member.port, member.sent_unjoined, member.first_unjoined, is_certain});
            const auto& mgid = subnet_.groups()[member.group].mgid;
            if (is_broadcast_gid(mgid) && (member.joined || member.sent || member.refusal))
                host_of(*link, member.port).is_member |= (member.joined & join_state::full_member) != 0;
        }
    }
    /// The join that the port's life on the link begins with, where all of it is in the capture.
    [[nodiscard]] state::Sight beginning(state::PortIndex port, const state::Link* link) const {
        const auto* on_link = link ? subnet_.member(link->group, port) : nullptr;
        return on_link && on_link->down && subnet_.is_watched(port, *link) ? on_link->watched_since : state::Sight{};
    }
    Host& host_of(LinkAccount& link, state::PortIndex port) {
        const auto key = std::pair{&link, port};
        const auto [at, is_new] = host_index_.emplace(key, link.hosts.size());
        if (is_new) link.hosts.push_back({.port = port});
        return link.hosts[at->second];
    }
    /// Also ports that only send unicast, and the queue pairs and addresses of all.
    void hosts() {
        for (const bool is_announced : {true, false})
            for (const auto& one : subnet_.queue_pairs()) {
                const auto index = subnet_.link_with(one);
                const auto port = one.port != state::none ? one.port : subnet_.port_with(one.lid);
                if (one.is_announced != is_announced || index == 0 || port == state::none || one.p_key == 0) continue;
                auto& host = host_of(link_of(index), port);
                if (host.qpns.size() < Host::most_qpns) host.qpns.push_back(one.qpn);
            }
        addresses();
    }
    /// Where the capture does not tell the partition of an address, it may be any that its GID is in.
    void addresses() {
        std::vector<const state::Neighbour*> all;
        for (const auto& neighbour : subnet_.neighbours()) all.push_back(&neighbour);
        std::ranges::sort(all, {}, [](const auto* one) { return std::pair{place(one), one->address}; });
        for (auto& [index, link] : links_)
            for (auto& host : link.hosts) {
                std::vector<Gid> found;
                for (const std::uint16_t p_key : {index.first, std::uint16_t{0}})
                    for (const auto* one : of(all, {subnet_.port(host.port).gid, p_key})) {
                        if (is_elsewhere(*one, index.second)) continue;
                        found.push_back(one->address);
                        // A queue pair that several partitions have in common is known by the first alone.
                        if (host.qpns.empty() && one->qpn_count != 0)
                            host.qpns.push_back(one->qpns[one->qpn_count - 1u]);
                    }
                std::ranges::sort(found);
                found.erase(std::unique(found.begin(), found.end()), found.end());
                host.more_addresses = found.size() - std::min(found.size(), Host::most_addresses);
                found.resize(found.size() - host.more_addresses);
                host.addresses = std::move(found);
            }
    }
    /// A partition may hold several links: an address is on that of the queue pair that it was announced with.
    [[nodiscard]] bool is_elsewhere(const state::Neighbour& one, std::uint32_t link) const {
        if (one.qpn_count == 0 || one.port == state::none) return false;
        const auto* queue_pair = subnet_.queue_pair({subnet_.port(one.port).lid, one.qpns[one.qpn_count - 1u]});
        const auto& links = subnet_.links();
        return queue_pair && queue_pair->link != link && links[queue_pair->link].p_key == links[link].p_key;
    }
    using Place = std::pair<Gid, std::uint16_t>;
    static Place place(const state::Neighbour* one) { return {one->gid, one->p_key}; }
    /// Those of a sorted list that are there.
    static std::span<const state::Neighbour* const> of(std::span<const state::Neighbour* const> all,
                                                       const Place& there) {
        const auto begin = std::ranges::lower_bound(all, there, {}, place);
        const auto end = std::ranges::upper_bound(begin, all.end(), there, {}, place);
        return {begin, end};
    }

    const Subnet& subnet_;
    std::map<std::pair<std::uint16_t, std::uint32_t>, LinkAccount> links_;  ///< by P_Key and index
    std::vector<std::pair<LinkAccount*, std::size_t>> places_;
    std::map<std::pair<const LinkAccount*, state::PortIndex>, std::size_t> host_index_;
};

}  // namespace

Account account_of(const conformance::Judge& judge, const Observer& observer) {
    Account account{.began = judge.began(), .ended = judge.now()};
    for (const auto* subnet : judge.subnets())
        for (auto& link : Sorter{*subnet}.sorted()) account.links.push_back(std::move(link));
    add_findings(account, judge, observer);
    return account;
}

const Host* LinkAccount::host(state::PortIndex port) const {
    const auto port_at = [this](std::uint32_t at) { return hosts[at].port; };
    const auto found = std::ranges::lower_bound(by_port, port, {}, port_at);
    return found != by_port.end() && port_at(*found) == port ? &hosts[*found] : nullptr;
}

const GroupAccount* LinkAccount::group(const Gid& mgid) const {
    const auto mgid_of = [this](const GroupAccount& one) -> const Gid& { return subnet->groups()[one.group].mgid; };
    const auto in_order = [&](const GroupAccount& one) { return order(mgid_of(one)); };
    const auto found = std::ranges::lower_bound(groups, order(mgid), {}, in_order);
    return found != groups.end() && mgid_of(*found) == mgid ? &*found : nullptr;
}

std::string port_text(const LinkAccount& link, state::PortIndex index) {
    auto name = port_name(link.subnet->port(index));
    const auto* host = link.host(index);
    return host && !host->addresses.empty() ? text(IpAddress{host->addresses.front()}) + " (" + name + ')' : name;
}

std::string_view component_name(std::uint64_t component) noexcept {
    if (component == McMemberRecord::component::create) return "the group, which does not exist";
    return name_of(mc_member_component_names, component);
}

std::string rate_text(std::uint8_t code) {
    const auto name = name_of(rate_names, code);
    return name.empty() ? "rate code " + std::to_string(code) : std::string(name);
}

std::string status_text(std::uint16_t status) {
    const auto name = name_of(sa_status_names, status);
    return hex(status, 4) + (name.empty() ? "" : ' ' + std::string(name));
}

std::string group_name(const Gid& mgid) {
    auto group = group_text(mgid);
    return group.empty() ? text(mgid) : group;
}

std::vector<std::string> notes_beyond(const Account& account) {
    constexpr std::size_t most_told = 20;
    std::vector<std::string> notes;
    std::size_t more = 0;
    for (const auto& one : account.findings) {
        if (!one.is_beyond) continue;
        if (notes.size() == most_told) {
            ++more;
            continue;
        }
        auto note = "finding " + one.name + ", link " + one.link;
        if (!one.frames.empty()) {
            const auto& first = one.frames.front();
            note += ", frame " + std::to_string(first.frame) + (first.time ? " at " + wall_time(first.time) : "");
        }
        notes.push_back(note + ": " + one.text);
    }
    if (more != 0) notes.push_back(std::to_string(more) + " findings more (ipoib-conform links --findings-only)");
    return notes;
}

std::vector<reports::Beyond> beyond_of(const Account& account, std::uint32_t capture) {
    std::vector<reports::Beyond> all;
    std::size_t more = 0;
    for (const auto& one : account.findings) {
        if (!one.is_beyond) continue;
        if (all.size() == reports::most_beyond) {
            ++more;
            continue;
        }
        auto& kept = all.emplace_back();
        kept = {.name = one.name, .text = one.text, .link = one.link, .capture = capture};
        for (const auto& frame : one.frames)
            if (kept.frames.size() < Finding::shown_frames) kept.frames.push_back(frame.frame);
    }
    for (const auto& [name, count] : account.more_findings)
        if (std::ranges::any_of(all, [&name = name](const auto& one) { return one.name == name; })) more += count;
    if (more != 0)
        all.push_back({.name = "more",
                       .text = std::to_string(more) + " findings more (ipoib-conform links --findings-only)",
                       .link = {},
                       .capture = capture});
    return all;
}

std::string link_text(const LinkAccount& link) {
    return inspection::link_name(link.subnet->prefix(), link.link->p_key);
}

}  // namespace ipoib::links
