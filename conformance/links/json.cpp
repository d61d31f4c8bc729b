// SPDX-License-Identifier: GPL-2.0-or-later
// The account of links for programs.
#include "base/utf8.hpp"
#include "conformance/links/account.hpp"
#include "protocol/wire/ip_address.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/text.hpp"

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
    return {{"capture", one.capture}, {"frame", one.frame}};
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

Json ports(const LinkAccount& link, const std::vector<state::PortIndex>& list) {
    auto json = Json::array();
    for (const auto port : list) json.push_back(port_name(link.subnet->port(port)));
    return json;
}

Json host(const LinkAccount& link, const Host& one) {
    const auto& port = link.subnet->port(one.port);
    Json json = {{"port", port_name(port)}, {"addresses", Json::array()}, {"qpns", Json::array()}};
    for (const auto& address : one.addresses) json["addresses"].push_back(text(IpAddress{address}));
    if (one.more_addresses != 0) json["more_addresses"] = one.more_addresses;
    for (std::size_t i = 0; i < port.qpn_count; ++i) json["qpns"].push_back(hex(port.qpns[i], 6));
    if (port.lid) json["lid"] = hex(port.lid, 4);
    if (!port.gid.is_zero()) json["gid"] = text(port.gid);
    json["member"] = one.is_member;
    json["first"] = sight(port.first);
    json["last"] = sight(port.last);
    return json;
}

Json group(const LinkAccount& link, const GroupAccount& account) {
    const auto& one = link.subnet->groups()[account.group];
    Json json = {
        {"mgid", text(one.mgid)}, {"group", nullptr}, {"record", nullptr}, {"source", source_name(one.source)}};
    if (const auto name = group_text(one.mgid); !name.empty() && !is_broadcast_gid(one.mgid)) json["group"] = name;
    if (one.record) json["record"] = parameters(*one.record, state::whole_record);
    json["full_members"] = ports(link, account.full);
    json["non_members"] = ports(link, account.non);
    json["send_only"] = ports(link, account.send_only);
    json["refused"] = Json::array();
    for (const auto& refused : account.refused)
        json["refused"].push_back({{"port", port_name(link.subnet->port(refused.port))},
                                   {"status", hex(refused.status, 4)},
                                   {"component", component_name(refused.component)},
                                   {"count", refused.count},
                                   {"last", sight(refused.last)}});
    json["senders_without_join"] = Json::array();
    for (const auto& stranger : account.strangers)
        json["senders_without_join"].push_back({{"port", port_name(link.subnet->port(stranger.port))},
                                                {"packets", stranger.packets},
                                                {"first", sight(stranger.first)},
                                                {"certain", stranger.is_certain}});
    json["packets"] = one.packets;
    json["first"] = sight(one.first);
    json["last"] = sight(one.last);
    return json;
}

Json link(const LinkAccount& account) {
    const auto& known = *account.link;
    Json json = {
        {"link", link_text(account)},      {"p_key", hex(known.p_key, 4)},  {"source", source_name(known.source)},
        {"learned", sight(known.learned)}, {"disputed", known.is_disputed}, {"broadcast", nullptr},
        {"ports", Json::array()},          {"groups", Json::array()}};
    if (known.broadcast) json["broadcast"] = parameters(*known.broadcast, known.told);
    for (const auto& one : account.hosts) json["ports"].push_back(host(account, one));
    for (const auto& one : account.groups) json["groups"].push_back(group(account, one));
    return json;
}

}  // namespace

std::string to_json(const Account& account, const std::vector<reports::CaptureResult>& captures) {
    Json json = {{"format", "ipoib-conform-links/1"},
                 {"captures", Json::array()},
                 {"links", Json::array()},
                 {"findings", Json::array()}};
    for (const auto& capture : captures) {
        Json one = {{"file", valid_utf8(capture.file)},
                    {"link_type", capture.link_type},
                    {"packets", capture.packets},
                    {"ipoib", capture.ipoib},
                    {"notes", capture.notes}};
        if (!capture.error.empty()) one["error"] = valid_utf8(capture.error);
        json["captures"].push_back(std::move(one));
    }
    for (const auto& one : account.links) json["links"].push_back(link(one));
    for (const auto& finding : account.findings) {
        Json one = {{"name", finding.name}, {"text", finding.text}, {"link", finding.link}, {"count", finding.count}};
        one["frames"] = Json::array();
        for (const auto& frame : finding.frames) one["frames"].push_back(sight(frame));
        json["findings"].push_back(std::move(one));
    }
    return json.dump(1) + '\n';
}

}  // namespace ipoib::links
