// SPDX-License-Identifier: GPL-2.0-or-later
// The account of links for people.
#include "protocol/wire/text.hpp"
#include "base/one_line.hpp"
#include "conformance/links/account.hpp"
#include "protocol/wire/ip_address.hpp"
#include "protocol/wire/mgid.hpp"
#include "reports/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ipoib::links {
using namespace wire;

namespace {

constexpr std::size_t width = 100, most_listed = 20;

std::string source_text(const state::Link& link) {
    switch (link.source) {
        case state::Source::sa:
            return fmt::format("as the SA told in frame {}", link.learned.frame);
        case state::Source::assumed:
            return "as --assume says";
        case state::Source::file:
            return "as --sa says";
        case state::Source::packets:
        case state::Source::nothing:
            break;
    }
    return link.is_disputed ? "told in two ways" : "not told by the SA in this capture";
}

/// What of the parameters is known; of a record that only packets tell, what these carry.
std::string parameters_text(const state::GroupParameters& group, state::Facts told) {
    std::string words;
    const auto add = [&](bool is_told, const std::string& what) {
        if (is_told) words += (words.empty() ? "" : "  ") + what;
    };
    const auto tells = [told](state::Fact fact) { return (told & state::facts(fact)) != 0; };
    add(group.mlid != 0, "MLID " + hex(group.mlid, 4));
    add(tells(state::Fact::q_key), "Q_Key " + hex(group.q_key, 8));
    add(tells(state::Fact::mtu), fmt::format("MTU {}", state::mtu_octets(group.mtu)));
    add(group.rate != 0, "rate " + rate_text(group.rate));
    add(tells(state::Fact::sl), fmt::format("SL {}", group.sl));
    add(tells(state::Fact::traffic_class), "TClass " + hex(group.traffic_class, 2));
    add(tells(state::Fact::flow_label), "FlowLabel " + hex(group.flow_label, 5));
    add(tells(state::Fact::hop_limit), fmt::format("HopLimit {}", group.hop_limit));
    return words;
}

std::string list_text(const LinkAccount& link, const std::vector<state::PortIndex>& ports) {
    std::string words;
    for (std::size_t i = 0; i < ports.size() && i < most_listed; ++i)
        words += (i ? ", " : "") + port_text(link, ports[i]);
    if (ports.size() > most_listed) words += fmt::format(" and {} more", ports.size() - most_listed);
    return words;
}

void indented(std::string& out, std::size_t indent, const std::string& text) {
    out += std::string(indent, ' ') + reports::wrapped(text, indent + 2, width) + '\n';
}

void hosts(std::string& out, const LinkAccount& link) {
    out += fmt::format("  {} port{}\n", link.hosts.size(), link.hosts.size() == 1 ? "" : "s");
    if (link.hosts.empty()) return;
    out += fmt::format("    {:<28} {:<7} {:<9} {:<17} {}\n", "address", "LID", "QPN", "GUID", "broadcast group");
    for (const auto& host : link.hosts) {
        const auto& port = link.subnet->port(host.port);
        const auto address = host.addresses.empty() ? std::string("-") : text(IpAddress{host.addresses.front()});
        const auto number = port.qpn_count ? port.qpns[port.qpn_count - 1u] : host.qpn;
        const auto qpn = number ? hex(number, 6) : std::string("-");
        out += fmt::format("    {:<28} {:<7} {:<9} {:<17} {}\n", address, port.lid ? hex(port.lid, 4) : "-", qpn,
                           port.gid.is_zero() ? "-" : port_name(port), host.is_member ? "member" : "join not seen");
        for (std::size_t i = 1; i < host.addresses.size(); ++i)
            out += fmt::format("    {}\n", text(IpAddress{host.addresses[i]}));
        if (host.more_addresses != 0) out += fmt::format("    and {} more\n", host.more_addresses);
    }
}

void group(std::string& out, const LinkAccount& link, const GroupAccount& account) {
    const auto& one = link.subnet->groups()[account.group];
    const auto name = group_text(one.mgid);
    const auto mlid = one.record ? one.record->mlid : one.used.mlid;
    out += fmt::format("    {}{}{}{}\n", name.empty() ? "no IP group" : name, "  ", text(one.mgid),
                       mlid ? "  MLID " + hex(mlid, 4) : "");
    const auto list = [&](std::string_view what, const std::vector<state::PortIndex>& ports) {
        if (!ports.empty()) indented(out, 6, fmt::format("{}: {}", what, list_text(link, ports)));
    };
    list("full members", account.full);
    list("non-members that listen", account.non);
    list("send-only", account.send_only);
    for (const auto& refused : account.refused)
        indented(out, 6,
                 fmt::format("refused: {}, status {}{}{}, {} time{}, last in frame {}", port_text(link, refused.port),
                             status_text(refused.status), refused.component ? ", at fault: " : "",
                             component_name(refused.component), refused.count, refused.count == 1 ? "" : "s",
                             refused.last.frame));
    for (const auto& stranger : account.strangers)
        indented(
            out, 6,
            fmt::format("sends, {}: {}, {} packet{} from frame {}",
                        stranger.is_certain ? "but never joined" : "its join not seen", port_text(link, stranger.port),
                        stranger.packets, stranger.packets == 1 ? "" : "s", stranger.first.frame));
    if (one.packets)
        out += fmt::format("      {} packet{}, frames {} to {}\n", one.packets, one.packets == 1 ? "" : "s",
                           one.first.frame, one.last.frame);
    else
        out += "      no packet\n";
}

/// A link may have more groups and members than a text of all of them should take of memory.
template <class PassOn>
void link(std::string& out, const LinkAccount& account, PassOn pass_on) {
    out += fmt::format("Link {}\n", link_text(account));
    const auto& known = *account.link;
    if (known.broadcast_gid || known.broadcast)
        out +=
            fmt::format("  broadcast group {}, {}\n",
                        text(known.broadcast_gid ? *known.broadcast_gid : known.broadcast->mgid), source_text(known));
    else
        out += fmt::format("  broadcast group: {}\n", source_text(known));
    if (known.broadcast) {
        out += fmt::format("    {}\n", parameters_text(*known.broadcast, known.told));
    } else if (known.group != state::none && account.subnet->groups()[known.group].packets) {
        const auto& used = account.subnet->groups()[known.group].used;
        out += fmt::format("    its packets have {}\n",
                           parameters_text(used, state::whole_record & ~state::facts(state::Fact::mtu)));
    }
    hosts(out, account);
    out += fmt::format("  {} group{}\n", account.groups.size(), account.groups.size() == 1 ? "" : "s");
    constexpr std::size_t usual_piece = std::size_t{64} << 10;
    for (const auto& one : account.groups) {
        group(out, account, one);
        if (out.size() >= usual_piece) pass_on();
    }
    out += '\n';
    if (out.size() >= usual_piece) pass_on();
}

std::string frames_text(const Finding& finding) {
    if (finding.frames.empty()) return {};
    std::string words = finding.frames.size() == 1 ? ", frame " : ", frames ";
    for (std::size_t i = 0; i < finding.frames.size(); ++i)
        words += (i ? ", " : "") + std::to_string(finding.frames[i].frame);
    if (finding.count > finding.frames.size()) words += " ...";
    return words;
}

}  // namespace

void to_text(const Account& account, const std::vector<reports::CaptureResult>& captures, const Sink& sink) {
    std::string out;
    const auto pass_on = [&] { sink(printable(std::exchange(out, {}))); };
    for (const auto& capture : captures) {
        out += fmt::format("{}: {} packets, {} of them IPoIB\n", capture.file, capture.packets, capture.ipoib);
        for (const auto& note : capture.notes) indented(out, 2, "note: " + note);
        if (!capture.error.empty()) indented(out, 2, "error: " + capture.error);
    }
    out += '\n';
    for (const auto& one : account.links) link(out, one, pass_on);
    if (account.links.empty()) out += "No IPoIB link is in sight.\n\n";
    out += account.findings.empty() ? "No findings.\n" : "Findings\n";
    std::size_t number = 0;
    for (const auto& finding : account.findings) {
        out += fmt::format("{:3}. {}{}{}\n", ++number, finding.name,
                           finding.link.empty() ? "" : ", link " + finding.link, frames_text(finding));
        indented(out, 5, finding.text);
    }
    for (const auto& [name, count] : account.more_findings) out += fmt::format("     and {} more of {}\n", count, name);
    pass_on();
}

}  // namespace ipoib::links
