// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissector/strings.hpp"

#include "protocol/wire/cm.hpp"
#include "protocol/wire/inform_info.hpp"
#include "protocol/wire/mad_names.hpp"
#include "protocol/wire/notice.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>

namespace ipoib::dissector {
using namespace wire;

namespace {

std::string group_name(const Gid& mgid) {
    const auto group = group_text(mgid);
    return group.empty() ? text(mgid) : group;
}

/// A value's name, else its number.
std::string named(Names names, std::uint64_t value, unsigned digits) {
    const auto name = name_of(names, value);
    return name.empty() ? hex(value, digits) : std::string(name);
}

std::string join_state_name(const Packet& p) {
    return named(join_state_names, p.mc_member[McMemberRecord::join_state], 1);
}

bool is_answer(const Packet& p) {
    return p.mad[Mad::method] == Method::get_resp || p.mad[Mad::method] == Method::delete_resp;
}

/// "" for success, else ": ERR_REQ_INVALID".
std::string refusal(const Packet& p) {
    const auto status = p.mad[Mad::status];
    return status == 0 ? std::string{} : " refused: " + named(sa_status_names, status, 4);
}

std::string about_membership(const Packet& p, const Asked& asked) {
    const auto stated = p.mc_member[McMemberRecord::mgid];
    const auto group = group_name(stated.is_zero() && asked.group ? *asked.group : stated);
    switch (p.mad[Mad::method]) {
        case Method::set:
            return join_state_name(p) + " join of " + group;
        case Method::del:
            return join_state_name(p) + " leave of " + group;
        case Method::delete_resp:
            return "Leave of " + group + (p.mad[Mad::status] == 0 ? ", done" : refusal(p));
        case Method::get:
            return "Query of " + group;
        case Method::get_resp:
            if (p.mad[Mad::status] != 0)
                return (asked.method == Method::get ? "Query of " : "Join of ") + group + refusal(p);
            if (asked.method == Method::set) return join_state_name(p) + " join of " + group + ", done";
            return "Record of " + group + ", " + join_state_name(p);
        default:
            return {};
    }
}

bool is_table(const Packet& p) {
    return p.mad[Mad::method] == Method::get_table || p.mad[Mad::method] == Method::get_table_resp;
}

std::string about_table(const Packet& p) {
    const auto what = "Table of " + named(sa_attribute_names, p.mad[Mad::attribute_id], 4);
    if (p.mad[Mad::method] == Method::get_table) return what + " asked for";
    if (p.mad[Mad::status] != 0) return what + refusal(p);
    return p.rmpp[Rmpp::type] == RmppType::data ? what + ", segment " + std::to_string(p.rmpp[Rmpp::segment_number])
                                                : what;
}

std::string about_notice(View<Notice> notice) {
    if (!notice[Notice::is_generic]) return {};
    const auto trap = notice[Notice::trap_number];
    if (const auto details = gid_details(notice)) {
        const auto gid = details[GidDetails::gid];
        if (trap == trap::multicast_group_created) return "Group " + group_name(gid) + " created";
        if (trap == trap::multicast_group_deleted) return "Group " + group_name(gid) + " deleted";
        return "Trap " + std::to_string(trap) + ", " + named(trap_names, trap, 4) + ": " + text(gid);
    }
    return "Trap " + std::to_string(trap) + ", " + named(trap_names, trap, 4);
}

std::string about_subscription(const Packet& p, View<InformInfo> inform) {
    const bool is_on = inform[InformInfo::subscribe] != 0;
    return std::string(is_on ? "Subscription to trap " : "Subscription ended to trap ") +
           std::to_string(inform[InformInfo::trap_number]) +
           (!is_answer(p)             ? std::string{}
            : p.mad[Mad::status] == 0 ? ", accepted"
                                      : refusal(p));
}

std::string private_data_string(const char* message, View<CmPrivateData> data) {
    return message + std::string(", IPoIB QPN ") + hex(data[CmPrivateData::ud_qpn], 6) + ", receive MTU " +
           std::to_string(data[CmPrivateData::receive_mtu]);
}

}  // namespace

const char* kind_of(const Packet& p) noexcept {
    if (p.is_ipoib()) {
        switch (p.content == EtherType{} ? p.ether_type : p.content) {
            case EtherType::ipv4:
                return "IPv4";
            case EtherType::ipv6:
                return "IPv6";
            case EtherType::arp:
                return "ARP";
            case EtherType::rarp:
                return "RARP";
        }
        return "Unknown Type";
    }
    if (!p.mad) return "Not IPoIB";
    switch (p.mad[Mad::mgmt_class]) {
        case MgmtClass::subn_adm:
            return "Subnet administration";
        case MgmtClass::communication:
            return "Communication management";
        default:
            return "Other management";
    }
}

std::string headline(const Packet& p, const Asked& asked) {
    if (!p.mad) return {};
    if (p.sa && is_table(p)) return about_table(p);
    if (p.mc_member) return about_membership(p, asked);
    if (const auto notice = p.get<Notice>(); notice && p.sa) return about_notice(notice);
    if (const auto inform = p.get<InformInfo>()) return about_subscription(p, inform);
    return {};
}

std::string connection_headline(const Packet& p) {
    if (const auto req = p.get<CmReq>()) return private_data_string("REQ", ipoib_private_data(req));
    if (const auto rep = p.get<CmRep>()) return private_data_string("REP", ipoib_private_data(rep));
    return {};
}

std::string join_result(const Packet& p, const Asked& asked) {
    if (!p.mc_member || !p.mad) return {};
    const auto method = p.mad[Mad::method];
    const auto state = join_state_name(p);
    if (method == Method::set) return state + " join: asked";
    if (method == Method::del) return state + " leave: asked";
    if (method == Method::delete_resp) return "Leave" + (p.mad[Mad::status] == 0 ? ": done" : refusal(p));
    if (method != Method::get_resp) return {};
    if (p.mad[Mad::status] != 0) return (asked.method == Method::get ? "Query" : "Join") + refusal(p);
    return asked.method == Method::set ? state + " join: done" : "Record given, " + state;
}

std::string group_of(const Packet& p, const Asked& asked) {
    if (p.mc_member) {
        const auto stated = p.mc_member[McMemberRecord::mgid];
        if (stated.is_zero()) return asked.group ? group_name(*asked.group) : std::string{};
        return group_name(stated);
    }
    if (!p.is_ipoib() || !p.mgid) return {};
    Gid mgid;
    std::ranges::copy(p.mgid.octets(), mgid.octets.begin());
    return group_name(mgid);
}

std::string component_list(std::uint64_t mask) {
    std::string list;
    for (const auto& [bit, name] : mc_member_component_names)
        if (mask & bit) list += (list.empty() ? "" : ", ") + std::string(name);
    return list.empty() ? "none" : list;
}

}  // namespace ipoib::dissector
