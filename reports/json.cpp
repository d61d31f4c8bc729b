// SPDX-License-Identifier: GPL-2.0-or-later
// Writes results as JSON; json_read.cpp reads them.
#include "reports/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/clock_text.hpp"
#include "base/json_text.hpp"
#include "base/utf8.hpp"
#include "reports/file.hpp"
#include "reports/suspicions.hpp"

namespace ipoib::reports {
namespace {

using Json = nlohmann::ordered_json;

Json texts(const std::vector<std::string>& from) {
    auto list = Json::array();
    for (const auto& text : from) list.push_back(valid_utf8(text));
    return list;
}

Json facts(const std::vector<std::pair<std::string, std::string>>& from) {
    auto object = Json::object();
    for (const auto& [key, value] : from) object[valid_utf8(key)] = valid_utf8(value);
    return object;
}

Json reason(Verdict verdict, NotJudged why) {
    if (verdict != Verdict::na || why == NotJudged::none) return nullptr;
    return name(why);
}

/// More than most take as text, in octets.
constexpr std::size_t most_of_result = 2000;

double finite(double seconds) { return std::isfinite(seconds) ? seconds : 0; }

std::string relative(const std::string& path, const std::filesystem::path& folder) {
    if (path.empty() || path == "-") return path;
    return valid_utf8(relative_to(folder, path));
}

Json to_member(const Proof& proof) {
    return {{"name", valid_utf8(proof.name)},
            {"found", valid_utf8(proof.found)},
            {"page", valid_utf8(proof.page)},
            {"revision", valid_utf8(proof.revision)}};
}

Json index(std::uint32_t capture) {
    if (capture == no_capture) return nullptr;
    return capture;
}

Json to_member(const Detail& detail) {
    Json object{{"capture", index(detail.capture)},
                {"frame", detail.frame},
                {"offset", detail.offset},
                {"field", valid_utf8(detail.field)},
                {"expected", valid_utf8(detail.expected)},
                {"actual", valid_utf8(detail.actual)},
                {"subject", valid_utf8(detail.subject)},
                {"link", valid_utf8(detail.link)},
                {"case", valid_utf8(detail.in_case)},
                {"requirements", texts(detail.requirements)}};
    if (detail.time != 0) object["time"] = utc_time(detail.time);
    if (!detail.assumed.empty()) object["assumed"] = texts(detail.assumed);
    return object;
}

Json to_member(const Result& result, const std::filesystem::path& folder) {
    auto details = Json::array();
    for (const auto& detail : result.details) details.push_back(to_member(detail));
    auto parts = Json::array();
    for (const auto& part : result.parts)
        parts.push_back({{"id", valid_utf8(part.id)},
                         {"verdict", name(part.verdict)},
                         {"na", reason(part.verdict, part.na)},
                         {"observed", part.observed},
                         {"type", valid_utf8(part.fail_type)}});
    auto cases = Json::array();
    for (const auto& found : result.cases)
        cases.push_back({{"id", valid_utf8(found.id)}, {"violations", found.violations}, {"frames", found.frames}});
    Json object{{"id", valid_utf8(result.id)},
                {"title", valid_utf8(result.title)},
                {"verdict", name(result.verdict)},
                {"na", reason(result.verdict, result.na)},
                {"type", valid_utf8(result.fail_type)},
                {"checks", texts(result.checks)},
                {"message", valid_utf8(result.message)},
                {"observed", result.observed},
                {"violations", result.violations},
                {"frames", result.frames},
                {"cases", std::move(cases)},
                {"evidence", relative(result.evidence, folder)},
                {"seconds", finite(result.seconds)},
                {"capture", index(result.capture)},
                {"reference", valid_utf8(result.reference)},
                {"parts", std::move(parts)},
                {"repeat", valid_utf8(result.repeat)},
                {"notes", texts(result.notes)},
                {"details", std::move(details)}};
    for (const auto& [verdict, count] : result.repetitions) object["repetitions"][std::string(name(verdict))] = count;
    if (!result.revision.empty()) object["revision"] = valid_utf8(result.revision);
    if (!result.host.empty()) object["host"] = valid_utf8(result.host);
    return object;
}

Json to_member(const RequirementResult& requirement) {
    return {{"id", valid_utf8(requirement.id)},
            {"level", valid_utf8(requirement.level)},
            {"verdict", name(requirement.verdict)},
            {"by", texts(requirement.by)},
            {"strength", valid_utf8(requirement.strength)},
            {"force", valid_utf8(requirement.force)},
            {"status", valid_utf8(requirement.status)},
            {"section", valid_utf8(requirement.section)},
            {"statement", valid_utf8(requirement.statement)},
            {"na", reason(requirement.verdict, requirement.na)},
            {"reason", valid_utf8(requirement.reason)}};
}

Json to_member(const CaptureResult& capture, const std::filesystem::path& folder) {
    Json object{{"file", relative(capture.file, folder)},
                {"link_type", capture.link_type},
                {"packets", capture.packets},
                {"ipoib", capture.ipoib},
                {"notes", texts(capture.notes)},
                {"error", valid_utf8(capture.error)}};
    if (capture.began != 0) object["began"] = utc_time(capture.began);
    if (capture.ended != 0) object["ended"] = utc_time(capture.ended);
    if (!capture.host.empty()) object["host"] = valid_utf8(capture.host);
    return object;
}

Json to_member(const Beyond& one) {
    Json object{{"name", valid_utf8(one.name)},
                {"text", valid_utf8(one.text)},
                {"link", valid_utf8(one.link)},
                {"capture", index(one.capture)},
                {"frames", one.frames}};
    if (!one.host.empty()) object["host"] = valid_utf8(one.host);
    return object;
}

Json to_member(const HostResult& host, const std::vector<RequirementResult>& requirements) {
    auto shards = Json::array();
    for (const auto& shard : host.shards) shards.push_back(fmt::format("{}/{}", shard.index, shard.count));
    auto verdicts = Json::object();
    for (std::size_t i = 0; i < std::min(requirements.size(), host.requirements.size()); ++i)
        verdicts[valid_utf8(requirements[i].id)] = name(host.requirements[i]);
    return {{"name", valid_utf8(host.name)},       {"verdict", name(host.verdict)},
            {"faults", texts(faults_of(host))},    {"suite", valid_utf8(host.suite)},
            {"command", texts(host.command)},      {"seed", host.seed},
            {"started", valid_utf8(host.started)}, {"seconds", finite(host.seconds)},
            {"fabric", facts(host.fabric)},        {"dut", facts(host.dut)},
            {"shards", std::move(shards)},         {"errors", texts(host.errors)},
            {"notes", texts(host.notes)},          {"requirements", std::move(verdicts)}};
}

/// A list of what `make` makes of each item. One item at a time: all of them as one document would take many times the
/// memory of the text.
template <class Items, class Make>
void add_list(JsonWriter& to, std::string_view member, const Items& items, Make make) {
    to.begin_array(member);
    for (const auto& item : items) to.add(make(item));
    to.end();
}

}  // namespace

Json to_member(const Suspicion& suspicion) {
    auto details = Json::array();
    for (const auto& detail : suspicion.details) details.push_back(to_member(detail));
    Json object{{"doubt", valid_utf8(suspicion.doubt)},   {"supposes", valid_utf8(suspicion.supposes)},
                {"lacks", valid_utf8(suspicion.lacks)},   {"settled_by", valid_utf8(suspicion.settled_by)},
                {"assume", valid_utf8(suspicion.assume)}, {"command", valid_utf8(suspicion.command)},
                {"rule", valid_utf8(suspicion.rule)},     {"title", valid_utf8(suspicion.title)},
                {"checks", texts(suspicion.checks)},      {"count", suspicion.count},
                {"details", std::move(details)}};
    if (!suspicion.host.empty()) object["host"] = valid_utf8(suspicion.host);
    return object;
}

std::string to_json(const Results& results, const std::filesystem::path& folder) {
    Json head{{"format", "ipoib-conform-results/1"},
              {"suite", valid_utf8(results.suite)},
              {"command", texts(results.command)},
              {"seed", results.seed},
              {"started", valid_utf8(results.started)},
              {"host", valid_utf8(results.host)},
              {"seconds", finite(results.seconds)},
              {"fabric", facts(results.fabric)},
              {"dut", facts(results.dut)}};
    if (!results.claims.empty()) head["claims"] = facts(results.claims);
    for (const auto& proof : results.proofs) head["judge"].push_back(to_member(proof));
    if (results.selected) head["selected"] = texts(*results.selected);
    std::string text;
    // A text of hundreds of megabytes that grows step by step is there twice. What is reserved and not used costs
    // nothing.
    text.reserve(most_of_result * (1 + results.results.size()));
    JsonWriter writer{[&](const std::string& piece) { text += piece; }};
    writer.begin_object();
    for (const auto& [name, value] : head.items()) writer.add(value, name);
    if (!results.hosts.empty())
        add_list(writer, "hosts", results.hosts,
                 [&](const HostResult& host) { return to_member(host, results.requirements); });
    const auto with_path = [&](const auto& item) { return to_member(item, folder); };
    add_list(writer, "captures", results.captures, with_path);
    add_list(writer, "results", results.results, with_path);
    if (!results.beyond.empty())
        add_list(writer, "findings", results.beyond, [](const Beyond& one) { return to_member(one); });
    if (!results.suspicions.empty())
        add_list(writer, "suspicions", results.suspicions, [](const Suspicion& one) { return to_member(one); });
    add_list(writer, "requirements", results.requirements,
             [](const RequirementResult& requirement) { return to_member(requirement); });
    writer.end();
    return text;
}

}  // namespace ipoib::reports
