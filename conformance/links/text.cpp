// SPDX-License-Identifier: GPL-2.0-or-later
// The account of links for people.
#include "protocol/wire/text.hpp"
#include "base/clock_text.hpp"
#include "base/one_line.hpp"
#include "conformance/links/advice.hpp"
#include "conformance/links/choice.hpp"
#include "protocol/wire/ip_address.hpp"
#include "protocol/wire/mgid.hpp"
#include "reports/suspicions.hpp"
#include "reports/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ipoib::links {
using namespace wire;

namespace {

constexpr std::size_t most_listed = 20;
/// Ports and groups that are shown where nobody has chosen some; findings of one kind.
constexpr std::size_t most_unasked = 100, most_alike = 5;  // of advice one

/// "frame 12 at Nov 25 17:12:10.123456".
std::string frame_text(const state::Sight& sight) {
    return fmt::format("frame {}{}", sight.frame, sight.time ? " at " + wall_time(sight.time) : "");
}

std::string plural(std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string source_text(const state::Link& link) {
    switch (link.source) {
        case state::Source::sa:
            return "as the SA told in " + frame_text(link.learned);
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
    const auto rate = rate_text(group.rate);
    add(group.rate != 0, (rate.starts_with("rate ") ? "" : "rate ") + rate);
    add(tells(state::Fact::sl), fmt::format("SL {}", group.sl));
    add(tells(state::Fact::traffic_class), "TClass " + hex(group.traffic_class, 2));
    add(tells(state::Fact::flow_label), "FlowLabel " + hex(group.flow_label, 5));
    add(tells(state::Fact::hop_limit), fmt::format("HopLimit {}", group.hop_limit));
    return words;
}

std::string list_text(const LinkAccount& link, const std::vector<state::PortIndex>& ports, std::size_t most) {
    std::string words;
    for (std::size_t i = 0; i < ports.size() && i < most; ++i) words += (i ? ", " : "") + port_text(link, ports[i]);
    if (ports.size() > most) words += fmt::format(" and {} more", ports.size() - most);
    return words;
}

void indented(std::string& out, std::size_t indent, const std::string& text, const Choice& choice) {
    out += std::string(indent, ' ') + reports::wrapped(text, indent + 2, choice.width) + '\n';
}

void host(std::string& out, const LinkAccount& link, const Host& host) {
    const auto& port = link.subnet->port(host.port);
    const auto address = host.addresses.empty() ? std::string("-") : text(IpAddress{host.addresses.front()});
    out += fmt::format("    {:<24} {:<7} {:<9} {:<17} {}\n", address, port.lid ? hex(port.lid, 4) : "-",
                       host.qpns.empty() ? "-" : hex(host.qpns.front(), 6), port.gid.is_zero() ? "-" : port_name(port),
                       host.is_member ? "member" : "join not seen");
    for (std::size_t i = 1; i < host.addresses.size(); ++i)
        out += fmt::format("    {}\n", text(IpAddress{host.addresses[i]}));
    if (host.more_addresses != 0) out += fmt::format("    and {} more\n", host.more_addresses);
}

void hosts(std::string& out, const LinkAccount& link, const Choice& choice) {
    out += fmt::format("  {}\n", plural(link.hosts.size(), "port"));
    if (link.hosts.empty() || (choice.group && !choice.host)) return;
    out += fmt::format("    {:<24} {:<7} {:<9} {:<17} {}\n", "address", "LID", "QPN", "GUID", "broadcast group");
    for (const auto& one : link.hosts)
        if (choice.has(link, one)) host(out, link, one);
}

/// Of a group that was asked for all members are told; of a host's groups, what that host is there.
void group(std::string& out, const LinkAccount& link, const GroupAccount& account, const Choice& choice) {
    const auto& one = link.subnet->groups()[account.group];
    const auto name = group_text(one.mgid);
    const auto mlid = one.record ? one.record->mlid : one.used.mlid;
    out += fmt::format("    {}{}{}{}\n", name.empty() ? "no IP group" : name, "  ", text(one.mgid),
                       mlid ? "  MLID " + hex(mlid, 4) : "");
    const auto is_meant = [&](state::PortIndex port) { return choice.has(link, {.port = port}); };
    const auto list = [&](std::string_view what, std::vector<state::PortIndex> ports) {
        std::erase_if(ports, [&](state::PortIndex port) { return !is_meant(port); });
        if (!ports.empty())
            indented(out, 6,
                     fmt::format("{}: {}", what, list_text(link, ports, choice.group ? ports.size() : most_listed)),
                     choice);
    };
    list("full members", account.full);
    list("non-members that listen", account.non);
    list("send-only", account.send_only);
    for (const auto& refused : account.refused)
        if (is_meant(refused.port))
            indented(
                out, 6,
                fmt::format("refused: {}, status {}{}{}, {}, last in {}", port_text(link, refused.port),
                            status_text(refused.status), refused.component ? ", at fault: " : "",
                            component_name(refused.component), plural(refused.count, "time"), frame_text(refused.last)),
                choice);
    for (const auto& stranger : account.strangers)
        if (is_meant(stranger.port))
            indented(
                out, 6,
                fmt::format("sends, {}: {}, {} from {}", stranger.is_certain ? "but never joined" : "its join not seen",
                            port_text(link, stranger.port), plural(stranger.packets, "packet"),
                            frame_text(stranger.first)),
                choice);
    if (one.packets)
        indented(
            out, 6,
            fmt::format("{}, {} to {}", plural(one.packets, "packet"), frame_text(one.first), frame_text(one.last)),
            choice);
    else
        out += "      no packet\n";
}

/// A link may have more groups and members than a text of all of them should take of memory.
template <class PassOn>
void link(std::string& out, const LinkAccount& account, const Choice& choice, PassOn pass_on) {
    out += fmt::format("Link {}\n", link_text(account));
    const auto& known = *account.link;
    if (known.broadcast_gid || known.broadcast)
        indented(
            out, 2,
            fmt::format("broadcast group {}, {}",
                        text(known.broadcast_gid ? *known.broadcast_gid : known.broadcast->mgid), source_text(known)),
            choice);
    else
        indented(out, 2, "broadcast group: " + source_text(known), choice);
    if (known.broadcast) {
        indented(out, 4, parameters_text(*known.broadcast, known.told), choice);
    } else if (known.group != state::none && account.subnet->groups()[known.group].packets) {
        const auto& used = account.subnet->groups()[known.group].used;
        indented(out, 4,
                 "its packets have " + parameters_text(used, state::whole_record & ~state::facts(state::Fact::mtu)),
                 choice);
    }
    hosts(out, account, choice);
    out += fmt::format("  {}\n", plural(account.groups.size(), "group"));
    constexpr std::size_t usual_piece = std::size_t{64} << 10;
    for (const auto& one : account.groups) {
        if (choice.has(account, one)) group(out, account, one, choice);
        if (out.size() >= usual_piece) pass_on();
    }
    out += '\n';
    if (out.size() >= usual_piece) pass_on();
}

std::string frames_text(const Finding& finding) {
    if (finding.frames.empty()) return {};
    const auto shown = std::min(finding.frames.size(), Finding::shown_frames);
    std::string words = finding.frames.size() == 1 ? ", frame " : ", frames ";
    for (std::size_t i = 0; i < shown; ++i) words += (i ? ", " : "") + std::to_string(finding.frames[i].frame);
    if (finding.count > shown) words += " ...";
    const auto first = finding.frames.front().time;
    if (first != 0) words += (finding.count > 1 ? ", first at " : " at ") + wall_time(first);
    return words;
}

void head(std::string& out, const Account& account, const std::vector<reports::CaptureResult>& captures,
          const Choice& choice) {
    for (const auto& capture : captures) {
        out += fmt::format("{}: {} packets, {} of them IPoIB\n", capture.file, capture.packets, capture.ipoib);
        for (const auto& note : capture.notes) indented(out, 2, "note: " + note, choice);
        if (!capture.error.empty()) indented(out, 2, "error: " + capture.error, choice);
    }
    if (account.began != 0)
        out += fmt::format("from {} to {}, {}\n", wall_time(account.began), wall_time(account.ended),
                           wall_zone(account.began));
    out += '\n';
}

void notes(std::string& out, const Account& account, const Choice& choice) {
    for (const auto& note : account.notes) indented(out, 2, "note: " + note, choice);
    if (!account.notes.empty()) out += '\n';
}

/// What is not decided for a doubt: no findings.
void suspicions(std::string& out, const Account& account, const std::vector<reports::CaptureResult>& captures,
                const Choice& choice) {
    const auto groups = reports::groups_of(choice.suspicions(account), captures);
    if (groups.empty()) return;
    out += "Suspicions\n";
    for (std::size_t i = 0; i < std::min(groups.size(), reports::suspicions_shown); ++i) {
        const auto& one = groups[i];
        indented(out, 2, one.head, choice);
        for (const auto& frame : one.frames) indented(out, 6, frame, choice);
        indented(out, 4, one.innocent, choice);
        if (!one.assume.empty())
            indented(out, 4, "settled by: ipoib-conform check with --assume " + one.assume, choice);
        indented(out, 4, (one.assume.empty() ? "settled by: " : "or by: ") + one.settled_by, choice);
    }
    if (const auto rest = reports::rest_of(groups); !rest.empty()) indented(out, 2, "and " + rest, choice);
    out += '\n';
}

/// What a port, a group or a finding is counted as once, on whatever links.
void summary(std::string& out, const Account& account, const std::vector<reports::CaptureResult>& captures,
             const Choice& choice) {
    if (account.links.empty()) {
        out += "No IPoIB link is in sight.\n";
        for (const auto& capture : captures)
            if (const auto words = advice(capture); !words.empty()) indented(out, 2, words, choice);
        out += '\n';
        return;
    }
    std::vector<std::pair<const state::Subnet*, state::PortIndex>> ports;
    std::size_t groups = 0, refused = 0;
    for (const auto& link : account.links) {
        for (const auto& one : link.hosts) ports.emplace_back(link.subnet, one.port);
        groups += link.groups.size();
        for (const auto& one : link.groups) refused += one.refused.size();
    }
    std::ranges::sort(ports);
    const auto different = static_cast<std::size_t>(std::unique(ports.begin(), ports.end()) - ports.begin());
    out += fmt::format("{}, {}, {}, {}\n\n", plural(account.links.size(), "link"), plural(different, "port"),
                       plural(groups, "group"), plural(refused, "refused join"));
}

/// Findings of one kind beyond the first few are counted, and their links named.
class FindingsText {
public:
    FindingsText(std::string& out, const Account& account, const Choice& choice)
        : out_(out),
          account_(account),
          choice_(choice),
          chosen_(choice.findings(account)),
          shows_all_(!choice.is_all() || choice.findings_only) {}

    void tell() {
        const bool is_there =
            chosen_.empty() && (choice_.is_all() || std::ranges::any_of(account_.links, [this](const auto& one) {
                                    return choice_.has(one);
                                }));
        if (chosen_.empty())
            out_ += is_there ? "No findings.\n\n" : "What was asked for is on no link of this capture.\n\n";
        else
            all();
    }

private:
    void all() {
        std::size_t causes = 0;
        for (const auto at : chosen_) causes += account_.findings[at].cause == nowhere;
        out_ += "Findings";
        if (causes < chosen_.size())
            out_ += fmt::format(": {} explain{} {} more", causes, causes == 1 ? "s" : "", chosen_.size() - causes);
        out_ += '\n';
        std::size_t number = 0;
        std::size_t shown_cause = nowhere;
        for (const auto at : chosen_) {
            const auto& one = account_.findings[at];
            const bool is_cause = one.cause == nowhere;
            if (!is_cause && one.cause != shown_cause) continue;
            auto& alike = alike_[kind(one)];
            if (!shows_all_ && alike.shown == (one.is_advice ? 1 : most_alike)) {
                ++alike.more;
                if (is_cause) shown_cause = nowhere;
                if (alike.links.size() < most_alike && (alike.links.empty() || alike.links.back() != one.link))
                    alike.links.push_back(one.link);
                continue;
            }
            ++alike.shown;
            if (is_cause) shown_cause = at;
            if (is_cause)
                finding(fmt::format("{:3}. ", ++number), one);
            else
                finding("     so: ", one);
        }
        for (const auto& [name, alike] : alike_) rest(name, alike);
        for (const auto& [name, count] : account_.more_findings)
            out_ += fmt::format("     and {} more of {}\n", count, name);
        if (account_.more_violations != 0)
            out_ += fmt::format("     and {} on links beyond those that are kept\n",
                                plural(account_.more_violations, "violation"));
        out_ += '\n';
    }

    struct Alike {
        std::size_t shown = 0, more = 0;
        std::vector<std::string> links{};
    };
    static std::string kind(const Finding& one) {
        return one.rule.empty() || one.name != "not-kept" ? one.name : one.name + ' ' + one.rule;
    }
    void finding(const std::string& begin, const Finding& one) {
        const auto words = one.name + (one.link.empty() ? "" : ", link " + one.link) + frames_text(one);
        out_ += begin + reports::wrapped(words, begin.size(), choice_.width) + '\n';
        indented(out_, begin.size(), one.text, choice_);
    }
    void rest(const std::string& name, const Alike& alike) {
        if (alike.more == 0) return;
        std::string links;
        for (const auto& one : alike.links) links += (links.empty() ? "" : ", ") + one;
        indented(out_, 5,
                 fmt::format("and {} more of {}, on {}{} (--findings-only shows all)", alike.more, name, links,
                             alike.more > alike.links.size() ? " ..." : ""),
                 choice_);
    }

    std::string& out_;
    const Account& account_;
    const Choice& choice_;
    std::vector<std::size_t> chosen_;
    bool shows_all_;
    std::map<std::string, Alike> alike_;
};

/// A row for each link.
void table(std::string& out, const Account& account) {
    if (account.links.size() < 2) return;
    std::map<std::size_t, std::size_t> findings;
    for (const auto& one : account.findings) ++findings[one.place];
    out += fmt::format("{:<24} {:>6} {:>8} {:>7} {:>8} {:>10} {:>9}\n", "link", "ports", "members", "groups", "refused",
                       "packets", "findings");
    constexpr std::size_t most_rows = 100;
    for (std::size_t i = 0; i < account.links.size() && i < most_rows; ++i) {
        const auto& link = account.links[i];
        std::size_t refused = 0;
        std::uint64_t packets = 0;
        for (const auto& group : link.groups) {
            refused += group.refused.size();
            packets += link.subnet->groups()[group.group].packets;
        }
        out += fmt::format("{:<24} {:>6} {:>8} {:>7} {:>8} {:>10} {:>9}\n", link_text(link), link.hosts.size(),
                           std::ranges::count_if(link.hosts, &Host::is_member), link.groups.size(), refused, packets,
                           findings.contains(i) ? findings[i] : 0);
    }
    if (account.links.size() > most_rows) out += fmt::format("and {} more\n", account.links.size() - most_rows);
    out += '\n';
}

}  // namespace

void to_text(const Account& account, const std::vector<reports::CaptureResult>& captures, const Choice& choice,
             const Sink& sink) {
    std::string out;
    const auto pass_on = [&] { sink(printable(std::exchange(out, {}))); };
    head(out, account, captures, choice);
    if (choice.is_all()) summary(out, account, captures, choice);
    FindingsText{out, account, choice}.tell();
    suspicions(out, account, captures, choice);
    notes(out, account, choice);
    std::size_t size = 0;
    for (const auto& one : account.links) size += one.hosts.size() + one.groups.size();
    if (!choice.findings_only) {
        if (choice.is_all()) table(out, account);
        const bool is_asked = !choice.is_all();
        if (is_asked || size <= most_unasked)
            for (const auto& one : account.links)
                if (choice.has(one)) link(out, one, choice, pass_on);
        if (!is_asked && size > most_unasked)
            out += "--link L, --group G and --host H show members, addresses and packets.\n\n";
    }
    if (out.ends_with("\n\n")) out.pop_back();
    pass_on();
}

}  // namespace ipoib::links
