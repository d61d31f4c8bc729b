// SPDX-License-Identifier: GPL-2.0-or-later
// The account of links for programs.
#include "base/clock_text.hpp"
#include "base/json_text.hpp"
#include "base/utf8.hpp"
#include "conformance/links/advice.hpp"
#include "conformance/links/choice.hpp"
#include "protocol/wire/ip_address.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/text.hpp"
#include "reports/suspicions.hpp"

#include <nlohmann/json.hpp>

namespace ipoib::links {
using namespace wire;
using Json = nlohmann::ordered_json;

namespace {

std::string source_name(state::Source source) {
    switch (source) {
        case state::Source::sa:
            return "sa";
        case state::Source::assumed:
            return "assumed";
        case state::Source::file:
            return "file";
        case state::Source::packets:
            return "packets";
        case state::Source::nothing:
            break;
    }
    return "unknown";
}

Json sight(const state::Sight& one) {
    if (!one) return nullptr;
    Json json = {{"capture", one.capture}, {"frame", one.frame}};
    if (one.time != 0) json["time"] = utc_time(one.time);
    return json;
}

Json parameters(const state::GroupParameters& group, state::Facts told) {
    Json json = {{"mgid", text(group.mgid)}, {"p_key", hex(group.p_key, 4)}};
    const auto tells = [told](state::Fact fact) { return (told & state::facts(fact)) != 0; };
    if (group.mlid) json["mlid"] = hex(group.mlid, 4);
    if (tells(state::Fact::q_key)) json["q_key"] = hex(group.q_key, 8);
    if (tells(state::Fact::mtu)) json["mtu"] = state::mtu_octets(group.mtu);
    if (group.rate) json["rate_code"] = group.rate;
    if (tells(state::Fact::sl)) json["sl"] = group.sl;
    if (tells(state::Fact::traffic_class)) json["traffic_class"] = group.traffic_class;
    if (tells(state::Fact::flow_label)) json["flow_label"] = group.flow_label;
    if (tells(state::Fact::hop_limit)) json["hop_limit"] = group.hop_limit;
    return json;
}

template <class Items, class Make, class Choose>
void add_list(JsonWriter& to, std::string_view name, const Items& items, Make make, Choose is_chosen) {
    to.begin_array(name);
    for (const auto& item : items)
        if (is_chosen(item)) to.add(make(item));
    to.end();
}
template <class Items, class Make>
void add_list(JsonWriter& to, std::string_view name, const Items& items, Make make) {
    add_list(to, name, items, make, [](const auto&) { return true; });
}

void add_members(JsonWriter& to, const Json& object) {
    for (const auto& [name, value] : object.items()) to.add(value, name);
}

void add_ports(JsonWriter& to, std::string_view name, const LinkAccount& link,
               const std::vector<state::PortIndex>& list) {
    add_list(to, name, list, [&](state::PortIndex port) { return Json(port_name(link.subnet->port(port))); });
}

Json host(const LinkAccount& link, const Host& one) {
    const auto& port = link.subnet->port(one.port);
    Json json = {{"port", port_name(port)}, {"addresses", Json::array()}, {"qpns", Json::array()}};
    for (const auto& address : one.addresses) json["addresses"].push_back(text(IpAddress{address}));
    if (one.more_addresses != 0) json["more_addresses"] = one.more_addresses;
    for (const auto qpn : one.qpns) json["qpns"].push_back(hex(qpn, 6));
    if (port.lid) json["lid"] = hex(port.lid, 4);
    if (!port.gid.is_zero()) json["gid"] = text(port.gid);
    json["member"] = one.is_member;
    json["first"] = sight(port.first);
    json["last"] = sight(port.last);
    return json;
}

void group(JsonWriter& to, const LinkAccount& link, const GroupAccount& account) {
    const auto& one = link.subnet->groups()[account.group];
    Json json = {
        {"mgid", text(one.mgid)}, {"group", nullptr}, {"record", nullptr}, {"source", source_name(one.source)}};
    if (const auto name = group_text(one.mgid); !name.empty() && !is_broadcast_gid(one.mgid)) json["group"] = name;
    if (one.record) json["record"] = parameters(*one.record, state::whole_record);
    to.begin_object();
    add_members(to, json);
    add_ports(to, "full_members", link, account.full);
    add_ports(to, "non_members", link, account.non);
    add_ports(to, "send_only", link, account.send_only);
    add_list(to, "refused", account.refused, [&](const RefusedJoin& refused) -> Json {
        return {{"port", port_name(link.subnet->port(refused.port))},
                {"status", hex(refused.status, 4)},
                {"component", component_name(refused.component)},
                {"count", refused.count},
                {"last", sight(refused.last)}};
    });
    add_list(to, "senders_without_join", account.strangers, [&](const Stranger& stranger) -> Json {
        return {{"port", port_name(link.subnet->port(stranger.port))},
                {"packets", stranger.packets},
                {"first", sight(stranger.first)},
                {"certain", stranger.is_certain}};
    });
    to.add(Json(one.packets), "packets");
    to.add(sight(one.first), "first");
    to.add(sight(one.last), "last");
    to.end();
}

void link(JsonWriter& to, const LinkAccount& account, const Choice& choice) {
    const auto& known = *account.link;
    Json json = {{"link", link_text(account)},          {"p_key", hex(known.p_key, 4)},
                 {"source", source_name(known.source)}, {"learned", sight(known.learned)},
                 {"disputed", known.is_disputed},       {"broadcast", nullptr}};
    if (known.broadcast) json["broadcast"] = parameters(*known.broadcast, known.told);
    to.begin_object();
    add_members(to, json);
    add_list(
        to, "ports", account.hosts, [&](const Host& one) { return host(account, one); },
        [&](const Host& one) { return choice.has(account, one); });
    to.begin_array("groups");
    for (const auto& one : account.groups)
        if (choice.has(account, one)) group(to, account, one);
    to.end();
    to.end();
}

Json capture(const reports::CaptureResult& one) {
    Json json = {{"file", valid_utf8(one.file)},
                 {"link_type", one.link_type},
                 {"packets", one.packets},
                 {"ipoib", one.ipoib},
                 {"notes", one.notes}};
    if (!one.error.empty()) json["error"] = valid_utf8(one.error);
    return json;
}

/// `cause` is the place of the one that explains it among those that are told.
Json in_json(const Account& account, const Finding& finding, std::optional<std::size_t> cause) {
    Json json = {{"name", finding.name}, {"text", finding.text}, {"link", finding.link}, {"count", finding.count}};
    json["frames"] = Json::array();
    for (std::size_t i = 0; i < finding.frames.size() && i < Finding::shown_frames; ++i)
        json["frames"].push_back(sight(finding.frames[i]));
    if (!finding.rule.empty()) json["rule"] = finding.rule;
    if (cause) json["cause"] = *cause;
    if (!finding.hosts.empty()) {
        json["hosts"] = Json::array();
        for (const auto& gid : finding.hosts) json["hosts"].push_back(text(gid));
    }
    if (finding.place == nowhere) return json;
    const auto& subnet = *account.links[finding.place].subnet;
    constexpr std::size_t most_listed = 1000;
    const auto list = [&](const char* name, const char* more, const auto& all, auto name_of) {
        json[name] = Json::array();
        for (std::size_t i = 0; i < all.size() && i < most_listed; ++i) json[name].push_back(name_of(all[i]));
        if (all.size() > most_listed) json[more] = all.size() - most_listed;
    };
    list("ports", "more_ports", finding.ports, [&](state::PortIndex port) { return port_name(subnet.port(port)); });
    list("groups", "more_groups", finding.groups,
         [&](state::GroupIndex one) { return text(subnet.groups()[one].mgid); });
    return json;
}

void findings(JsonWriter& to, const Account& account, const Choice& choice) {
    to.begin_array("findings");
    std::map<std::size_t, std::size_t> places;
    for (const auto at : choice.findings(account)) {
        const auto& one = account.findings[at];
        places.emplace(at, places.size());
        to.add(in_json(account, one, one.cause == nowhere ? std::nullopt : std::optional{places.at(one.cause)}));
    }
    to.end();
    if (!account.more_findings.empty()) to.add(Json(account.more_findings), "more_findings");
    if (account.more_violations != 0) to.add(Json(account.more_violations), "more_violations");
}

}  // namespace

void to_json(const Account& account, const std::vector<reports::CaptureResult>& captures, const Choice& choice,
             const Sink& sink) {
    JsonWriter to{sink};
    to.begin_object();
    to.add(Json("ipoib-conform-links/1"), "format");
    add_list(to, "captures", captures, capture);
    if (account.began != 0) {
        to.add(Json(utc_time(account.began)), "began");
        to.add(Json(utc_time(account.ended)), "ended");
    }
    if (!account.notes.empty()) to.add(Json(account.notes), "notes");
    if (account.links.empty())
        add_list(to, "advice", captures,
                 [](const reports::CaptureResult& one) { return Json(valid_utf8(advice(one))); });
    to.begin_array("links");
    if (!choice.findings_only)
        for (const auto& one : account.links)
            if (choice.has(one)) link(to, one, choice);
    to.end();
    findings(to, account, choice);
    if (const auto chosen = choice.suspicions(account); !chosen.empty())
        add_list(to, "suspicions", chosen, [](const auto& one) { return reports::to_member(one); });
    to.end();
}

}  // namespace ipoib::links
