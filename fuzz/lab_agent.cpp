// SPDX-License-Identifier: GPL-2.0-or-later
// libFuzzer target: the agents of the lab's guest. Lines are the same in whatever pieces; each is answered by one line
// with its id; a change of the fabric that was understood is understood again when it is written; what Linux prints is
// read.
#include "conformance/dut/linux/ip_tool.hpp"
#include "conformance/dut/linux/kernel_log.hpp"
#include "conformance/dut/linux/line_protocol.hpp"
#include "fabric/change/change.hpp"
#include "fuzz/fuzzer.hpp"

#include <array>

using namespace ipoib;
using fuzz::demand;
using fuzz::Octets;

namespace {

host::Json change(const host::Request& request) {
    try {
        const auto asked = fabric::parse_change(request.line());
        demand(fabric::parse_change(fabric::request_text(asked, 1)) == asked);
        demand(!fabric::text(asked).empty());
        static_cast<void>(fabric::opposite(asked));
    } catch (const fabric::ChangeRefused& refused) {
        fuzz::demand_sentence(refused.what(), 70'000);
        host::fail(refused.what());
    }
    return {{"verb", "done"}};
}

/// Every way in which a handler reads a member.
host::Json members(const host::Request& request) {
    demand(request.patience().count() >= 0 && request.patience() <= std::chrono::hours{1});
    host::Json answer = host::Json::object();
    if (request.has("text")) answer["text"] = request.text("text");
    if (request.has("flag")) answer["flag"] = request.flag("flag");
    if (request.has("real")) demand(request.real("real", 1000) <= 1000);
    if (request.has("number")) {
        const auto number = request.number("number", 1, 65535);
        demand(number >= 1 && number <= 65535);
        answer["number"] = number;
    }
    return answer;
}

host::Handlers all_handlers() {
    host::Handlers handlers{{"members", members}};
    for (const auto verb : fabric::change_verbs) handlers.emplace(verb, change);
    return handlers;
}

std::vector<host::Lines::Line> lines_of(std::string_view stream, std::size_t piece) {
    host::Lines lines;
    std::vector<host::Lines::Line> all;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
        lines.feed(stream.substr(at, piece));
        while (auto line = lines.next()) all.push_back(std::move(*line));
    }
    return all;
}

void requests(Octets octets) {
    static const auto handlers = all_handlers();
    if (octets.empty()) return;
    const auto stream = fuzz::as_text(octets.subspan(1));
    const auto whole = lines_of(stream, stream.size() + 1), cut = lines_of(stream, 1 + octets[0]);
    demand(whole.size() == cut.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
        demand(whole[i].text == cut[i].text && whole[i].is_too_long == cut[i].is_too_long);
        demand(whole[i].text.size() <= host::Lines::longest);
        const auto answer = host::answer_to(handlers, whole[i].text);
        demand(answer.find('\n') == std::string::npos && answer.size() <= 2 * host::Lines::longest);
        const auto read = host::Json::parse(answer, nullptr, false);
        demand(read.is_object() && read.contains("id") && read.contains("ok") != read.contains("error"));
    }
}

void interfaces(Octets octets) {
    const std::string text(fuzz::as_text(octets));
    static_cast<void>(host::parse_interface(text, "ib0"));
    for (const auto& neighbour : host::parse_neighbours(text))
        demand(!neighbour.address.empty() && !neighbour.link_address.empty());
}

void groups(Octets octets) {
    const std::string text(fuzz::as_text(octets));
    for (const auto& group : host::parse_igmp(text, "ib0")) demand(!group.empty() && group.size() <= 15);
    for (const auto& group : host::parse_igmp6(text, "ib0")) demand(!group.empty() && group.size() <= 45);
}

void kernel_log(Octets octets) {
    const auto text = fuzz::as_text(octets);
    host::FaultFilter filter;
    for (std::size_t at = 0; at < text.size();) {
        const auto record = text.substr(at, text.find('\0', at) - at);
        at += record.size() + 1;
        const auto message = host::parse_kmsg(record);
        if (!message) continue;
        static_cast<void>(filter.is_fault(*message));
        static_cast<void>(host::concerns_infiniband(*message, "ib0"));
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::array parts{requests, interfaces, groups, kernel_log};
    if (size == 0) return 0;
    parts[data[0] % parts.size()]({data + 1, size - 1});
    return 0;
}
