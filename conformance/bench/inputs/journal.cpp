// SPDX-License-Identifier: GPL-2.0-or-later
// One line for each input.
#include "conformance/bench/inputs/journal.hpp"

#include "base/atomic_file.hpp"
#include "base/json_object.hpp"
#include "generated/version.hpp"
#include "protocol/wire/text.hpp"

namespace ipoib::conformance {
namespace {

using Json = nlohmann::ordered_json;

std::string hex_of(wire::Octets octets) { return wire::hex_octets(octets, octets.size()); }

std::string_view name(fabric::Sender sender) {
    switch (sender) {
        case fabric::Sender::tester:
            return "tester";
        case fabric::Sender::sa:
            return "sa";
        case fabric::Sender::other:
            break;
    }
    return "other";
}

/// An answer of an adapter as it came: JSON as such, what is none as text.
Json object_or_text(std::string_view line) {
    constexpr std::size_t longest = longest_control_line;
    if (line.size() <= longest)
        if (auto json = object_in<Json>(line)) return std::move(*json);
    return Json(std::string(line));
}

/// A member that says why something was not done; nothing where it was.
std::string error_member(std::string_view why_not) {
    return why_not.empty() ? std::string{} : ",\"error\":" + json_line(Json(why_not));
}

Json facts_of(const fabric::PortFacts& facts) {
    return {{"active", facts.is_active}, {"lid", facts.lid},         {"sm_lid", facts.sm_lid}, {"sm_sl", facts.sm_sl},
            {"mtu", facts.mtu},          {"rate", facts.rate},       {"gid", text(facts.gid)}, {"p_keys", facts.p_keys},
            {"qpn", facts.qpn},          {"shared", facts.is_shared}};
}

Json request_of(const fabric::SaRequest& request) {
    return {{"method", static_cast<unsigned>(request.method)},
            {"attribute", request.attribute},
            {"modifier", request.modifier},
            {"component_mask", wire::hex(request.component_mask, 16)},
            {"record", hex_of(request.record)},
            {"trusted", request.is_trusted}};
}

Json answer_of(const fabric::SaAnswer& answer) {
    if (!answer.is_answered) return nullptr;
    return {{"method", static_cast<unsigned>(answer.method)},
            {"status", answer.status},
            {"data", hex_of(answer.data)},
            {"record_size", answer.record_size},
            {"cut", answer.is_cut}};
}

}  // namespace

std::string InputJournal::begin(std::string_view what) const {
    return "{\"at\":" + std::to_string(loop_.now().count()) + ",\"in\":\"" + std::string(what) + '"';
}

std::string InputJournal::since(const Begun& begun) const {
    std::string members;
    if (added_ != begun.lines) members += ",\"during\":" + std::to_string(added_ - begun.lines);
    if (loop_.now() != begun.at) members += ",\"began\":" + std::to_string(begun.at.count());
    return members;
}

void InputJournal::add(std::string line) {
    ++added_;
    line += "}\n";
    if (lines_.size() + line.size() > most_octets) {
        ++left_out_;
        return;
    }
    lines_ += line;
}

/// Where the bench could look between two inputs of one moment, the second says so.
void InputJournal::add_input(std::string line, fabric::Time at) {
    const auto looks = loop_.looks();
    if (at == at_ && looks != looks_) line += ",\"apart\":true";
    at_ = at, looks_ = looks;
    add(std::move(line));
}

void InputJournal::seen(const fabric::Sighting& sighting) {
    add_input("{\"at\":" + std::to_string(sighting.time.count()) + ",\"in\":\"seen\",\"sender\":\"" +
                  std::string(name(sighting.sender)) + "\",\"rebuilt\":" + (sighting.is_rebuilt ? "true" : "false") +
                  ",\"octets\":\"" + hex_of(sighting.octets) + '"',
              sighting.time);
}

void InputJournal::took(std::size_t port, wire::Octets frame) {
    add_input(begin("took") + ",\"port\":" + std::to_string(port) + ",\"octets\":\"" + hex_of(frame) + '"',
              loop_.now());
}

void InputJournal::reported(std::size_t port, wire::View<wire::Notice> notice) {
    add_input(begin("report") + ",\"port\":" + std::to_string(port) + ",\"octets\":\"" +
                  hex_of({notice.data(), wire::Notice::size}) + '"',
              loop_.now());
}

void InputJournal::timed_out(std::uint64_t number) {
    add_input(begin("timer") + ",\"number\":" + std::to_string(number), loop_.now());
}

void InputJournal::sent(std::size_t port, wire::Octets frame, std::string_view why_not, const Begun& begun) {
    add(begin("sent") + ",\"port\":" + std::to_string(port) + ",\"octets\":\"" + hex_of(frame) + '"' + since(begun) +
        error_member(why_not));
}

void InputJournal::attached(std::size_t port, const wire::Gid& mgid, std::uint16_t mlid, std::string_view why_not,
                            const Begun& begun) {
    add(begin("attached") + ",\"port\":" + std::to_string(port) + ",\"mgid\":\"" + text(mgid) +
        "\",\"mlid\":" + std::to_string(mlid) + since(begun) + error_member(why_not));
}

void InputJournal::found(std::size_t port, const fabric::PortFacts& facts) {
    auto told = json_line(facts_of(facts));
    if (facts_.size() <= port) facts_.resize(port + 1);
    if (facts_[port] == told) return;
    add_input(begin("port") + ",\"port\":" + std::to_string(port) + ",\"facts\":" + told, loop_.now());
    facts_[port] = std::move(told);
}

void InputJournal::answered(std::size_t port, const fabric::SaRequest& request, const fabric::SaAnswer& answer,
                            const Begun& begun) {
    add(begin("sa") + ",\"port\":" + std::to_string(port) + ",\"request\":" + json_line(request_of(request)) +
        ",\"answer\":" + json_line(answer_of(answer)) + since(begun));
}

void InputJournal::changed(const fabric::FabricChange& change, const fabric::ChangeAnswer& answer, const Begun& begun) {
    const auto request = fabric::text(change);
    add(begin("fabric") + ",\"request\":" + request + ",\"answer\":" + fabric::answer_text("{}", answer) +
        since(begun));
}

void InputJournal::looked_up(std::string_view request, std::string_view answer) {
    add(begin("fabric") + ",\"request\":" + std::string(request) + ",\"answer\":" + std::string(answer));
}

void InputJournal::replied(std::string_view request, const DutControlReply& reply, const Begun& begun,
                           std::string_view side) {
    auto line = begin("dut");
    if (!side.empty()) line += ",\"side\":\"" + std::string(side) + '"';
    line += ",\"request\":" + json_line(object_or_text(request));
    if (!reply.line.empty()) line += ",\"answer\":" + json_line(object_or_text(reply.line));
    add(line + since(begun) + error_member(reply.error));
}

void InputJournal::dut_was_stopped() { add(begin("dut") + ",\"stopped\":true"); }
void InputJournal::case_begins() { add(begin("case") + ",\"what\":\"begins\""); }
void InputJournal::case_ends(std::string_view verdict) {
    add(begin("case") + ",\"what\":\"ends\",\"verdict\":\"" + std::string(verdict) + '"');
}

void InputJournal::write(const std::string& path, const Head& head) {
    Json facts = Json::object();
    for (const auto& [key, value] : head.fabric) facts[key] = value;
    const Json first{{"format", format},
                     {"suite", suite_version},
                     {"case", head.case_id},
                     {"repetition", head.repetition},
                     {"number", ++files_},
                     {"seed", head.seed},
                     {"timeout_scale", head.timeout_scale},
                     {"clock", loop_.is_virtual() ? "virtual" : "real"},
                     {"fabric", std::move(facts)},
                     {"command", head.command}};
    if (left_out_ != 0) lines_ += begin("end") + ",\"left_out\":" + std::to_string(left_out_) + "}\n";
    const auto problem = write_atomically(path, json_line(first) + '\n' + lines_);
    lines_.clear();
    left_out_ = 0;
    if (!problem.empty()) throw std::runtime_error(problem);
}

}  // namespace ipoib::conformance
