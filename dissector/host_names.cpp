// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissector/host_names.hpp"

#include "conformance/assumptions/sa_list.hpp"
#include "protocol/wire/node_record.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace ipoib::dissector {
using namespace wire;

namespace {

constexpr std::string_view blanks = " \t\r";
constexpr std::size_t longest_line = 1000, description_size = 64;

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

/// Up to the first octet that is zero.
std::string_view text_at(const std::uint8_t* octets) {
    const auto* text = reinterpret_cast<const char*>(octets);
    return {text, strnlen(text, description_size)};
}

/// A GUID as tools write it: "0x0002c90300100001", "0002c903:00100001", "0002:c903:0010:0001".
std::optional<std::uint64_t> guid_of(std::string_view text) {
    constexpr std::size_t digits = 16;
    std::string plain;
    for (const char c : text.starts_with("0x") ? text.substr(2) : text)
        if (c != ':') plain += c;
    if (plain.empty() || plain.size() > digits) return std::nullopt;
    return parse_number("0x" + plain);
}

}  // namespace

void HostNames::read(const std::string& path) {
    std::ifstream file{path};
    if (!file) throw std::invalid_argument(path + " cannot be read");
    std::string whole;
    for (std::size_t number = 1; std::getline(file, whole); ++number) {
        const auto wrong = [&](const char* why) { return path + ", line " + std::to_string(number) + ": " + why; };
        if (whole.size() > longest_line) throw std::invalid_argument(wrong("it is longer than 1000 octets"));
        const auto line = trimmed(std::string_view(whole).substr(0, whole.find('#')));
        if (line.empty()) continue;
        const auto end = std::min(line.find_first_of(blanks), line.size());
        const auto guid = guid_of(line.substr(0, end));
        auto name = trimmed(line.substr(end));
        if (name.size() >= 2 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
        if (!guid || name.empty()) throw std::invalid_argument(wrong("no GUID with a name behind it"));
        add(*guid, name);
    }
}

void HostNames::add(std::uint64_t guid, std::string_view name) {
    if (guid == 0 || names_.size() >= most) return;
    if (auto text = assumptions::description_in(name); !text.empty()) names_.try_emplace(guid, std::move(text));
}

void HostNames::take(const Packet& packet) {
    if (!packet.mad || packet.mad[Mad::method] != Method::get_resp) return;
    if (const auto record = packet.get<NodeRecord>()) take_record({record.data(), NodeRecord::size});
    if (packet.mad[Mad::mgmt_class] != MgmtClass::subn_directed_route) return;
    const auto octets = packet.octets.subspan(packet.offset_of(packet.mad.data()));
    if (octets.size() >= DirectedSmp::size) take_directed(View<DirectedSmp>::at(octets));
}

void HostNames::take_records(Octets records, std::size_t stride) {
    if (stride < NodeRecord::size) return;
    for (std::size_t at = 0; at + NodeRecord::size <= records.size(); at += stride) take_record(records.subspan(at));
}

void HostNames::take_record(Octets record) {
    const auto info = View<NodeInfo>::at(record.subspan(NodeRecord::node_info.at.bit / 8u));
    add(info[NodeInfo::port_guid], text_at(record.data() + NodeRecord::node_description.at.bit / 8u));
}

/// The answer repeats the way of the question.
void HostNames::take_directed(View<DirectedSmp> smp) {
    const auto* path = smp.data() + DirectedSmp::initial_path.at.bit / 8u;
    const auto hops = std::min(smp[DirectedSmp::hop_count], DirectedSmp::max_hops);
    const std::string route{reinterpret_cast<const char*>(path), hops + 1u};
    const auto* data = smp.data() + DirectedSmp::data.at.bit / 8u;
    if (smp[DirectedSmp::attribute_id] == smp_attribute::node_info) {
        if (by_route_.size() < most) by_route_[route] = View<NodeInfo>::at({data, NodeInfo::size})[NodeInfo::port_guid];
    } else if (smp[DirectedSmp::attribute_id] == smp_attribute::node_description) {
        if (const auto known = by_route_.find(route); known != by_route_.end()) add(known->second, text_at(data));
    }
}

const char* HostNames::of(std::uint64_t guid) const noexcept {
    const auto found = names_.find(guid);
    return found == names_.end() ? "" : found->second.c_str();
}

}  // namespace ipoib::dissector
