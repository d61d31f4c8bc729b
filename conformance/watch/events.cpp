// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/watch/events.hpp"

#include "base/clock_text.hpp"
#include "base/json_text.hpp"
#include "base/utf8.hpp"
#include "conformance/judge/passive.hpp"

#include <nlohmann/json.hpp>

namespace ipoib::watch {
namespace {

using Json = nlohmann::ordered_json;

Json begun(const char* event, std::int64_t time) {
    Json json = {{"event", event}};
    json["time"] = time ? Json(utc_time(time)) : Json(nullptr);
    return json;
}

std::string line(const Json& json) { return json_text(json, -1) + '\n'; }

}  // namespace

bool Events::violation(const rules::Rule& rule, const reports::Detail& detail) {
    auto kind = std::string(rule.id) + ' ' + detail.link + ' ' + detail.subject;
    if (violations_.contains(kind)) return false;
    if (violations_.size() >= most_kinds) {
        ++beyond_;
        return false;
    }
    violations_.insert(std::move(kind));
    auto json = begun("violation", detail.time);
    const auto place = place_of_(detail.frame);
    json["file"] = valid_utf8(place.file);
    json["frame"] = place.frame;
    json["rule"] = rule.id;
    json["requirement"] = rule.checks[0]->id;
    json["force"] = conformance::force_name(*rule.checks[0]);
    json["field"] = detail.field;
    json["expected"] = detail.expected;
    json["actual"] = detail.actual;
    json["subject"] = detail.subject;
    json["link"] = detail.link;
    if (!detail.assumed.empty()) json["assumed"] = detail.assumed;
    sink_(line(json));
    return true;
}

void Events::suspicion(const reports::Suspicion& one) {
    const auto& first = one.details.front();
    auto kind = one.rule + ' ' + first.link + ' ' + first.subject + ' ' + one.doubt;
    if (suspicions_.size() >= most_kinds || !suspicions_.insert(std::move(kind)).second) return;
    auto json = begun("suspicion", first.time);
    const auto place = place_of_(first.frame);
    json["file"] = valid_utf8(place.file);
    json["frame"] = place.frame;
    json["doubt"] = one.doubt;
    json["supposes"] = one.supposes;
    json["lacks"] = one.lacks;
    json["settled_by"] = one.settled_by;
    json["assume"] = one.assume;
    json["rule"] = one.rule;
    if (!one.checks.empty()) json["requirement"] = one.checks.front();
    json["field"] = first.field;
    json["expected"] = first.expected;
    json["actual"] = first.actual;
    json["subject"] = first.subject;
    json["link"] = first.link;
    sink_(line(json));
}

void Events::findings(const links::Account& account) {
    std::set<std::string> there;
    for (const auto& one : account.findings) {
        // Violations are told as they come; what they mean for users has a name.
        if (one.name == "not-kept" || there.size() >= most_kinds) continue;
        auto kind = one.name + ' ' + one.link;
        const auto* subnet = one.place == links::nowhere ? nullptr : account.links[one.place].subnet;
        Json ports = Json::array();
        for (const auto port : one.ports) {
            if (!subnet || ports.size() == 100) break;
            ports.push_back(links::port_name(subnet->port(port)));
            kind += ' ' + links::port_name(subnet->port(port));
        }
        const bool is_new = !findings_.contains(kind);
        there.insert(std::move(kind));
        if (!is_new) continue;
        auto json = begun("finding", one.frames.empty() ? account.ended : one.frames.front().time);
        if (!one.frames.empty()) {
            const auto place = place_of_(one.frames.front().frame);
            json["file"] = valid_utf8(place.file);
            json["frame"] = place.frame;
        }
        json["name"] = one.name;
        json["text"] = one.text;
        json["link"] = one.link;
        json["ports"] = std::move(ports);
        sink_(line(json));
    }
    findings_ = std::move(there);
}

void Events::capture(const std::string& file) {
    auto json = begun("capture", 0);
    json.erase("time");
    json["file"] = valid_utf8(file);
    sink_(line(json));
}

void Events::end(std::uint64_t frames, std::uint64_t ipoib, std::int64_t time) {
    auto json = begun("end", time);
    json["frames"] = frames;
    json["ipoib"] = ipoib;
    if (beyond_ != 0) json["more_violations"] = beyond_;
    sink_(line(json));
}

}  // namespace ipoib::watch
