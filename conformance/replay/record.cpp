// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/replay/record.hpp"

#include "base/json_object.hpp"
#include "base/json_text.hpp"
#include "generated/version.hpp"
#include "protocol/rules/rule.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>
#include <array>
#include <fstream>

namespace ipoib::conformance::replay {
namespace {

using Json = nlohmann::ordered_json;
using fabric::Ability;

constexpr std::array<std::pair<Ability, std::string_view>, 7> ability_names{
    {{Ability::any_frame, "any_frame"},
     {Ability::see_all, "see_all"},
     {Ability::reports, "reports"},
     {Ability::fabric_control, "fabric_control"},
     {Ability::two_ports, "two_ports"},
     {Ability::trusted_sa, "trusted_sa"},
     {Ability::long_tables, "long_tables"}}};
constexpr std::uint64_t most_repeats = 1'000'000;

Json facts_json(const std::vector<std::pair<std::string, std::string>>& facts) {
    Json list = Json::array();
    for (const auto& [name, value] : facts) list.push_back(Json::array({name, value}));
    return list;
}

std::vector<std::pair<std::string, std::string>> facts_in(const JsonPart& part, const std::string& member) {
    std::vector<std::pair<std::string, std::string>> facts;
    for (const auto& fact : part.array(member)) {
        if (!fact.is_array() || fact.size() != 2 || !fact[0].is_string() || !fact[1].is_string())
            part.refuse(member, "holds what is no pair of texts");
        facts.emplace_back(fact[0].get<std::string>(), fact[1].get<std::string>());
    }
    return facts;
}

template <class Take>
void each_text(const JsonPart& part, const std::string& member, Take take) {
    for (const auto& text : part.array(member)) {
        if (!text.is_string()) part.refuse(member, "holds what is no text");
        if (!take(text.get<std::string>()))
            part.refuse(member, "holds what is unknown here: " + text.get<std::string>());
    }
}

std::string text_of(const wire::IpNetwork& network) { return wire::text(network); }

std::optional<wire::IpNetwork> network_in(const JsonPart& part, const std::string& member) {
    const auto written = part.text(member);
    if (written.empty()) return {};
    const auto network = wire::parse_network(written);
    if (!network) part.refuse(member, "is no address with prefix length");
    return network;
}

void read_run(const JsonPart& part, Record& record) {
    auto& run = record.run;
    each_text(part, "cases", [&](const std::string& id) {
        const auto* one = find_case(id);
        if (one) run.cases.push_back(one);
        return one != nullptr;
    });
    each_text(part, "rules", [&](const std::string& id) {
        const auto all = rules::all();
        const auto found = std::ranges::find_if(all, [&](const auto& rule) { return rule.id == id; });
        if (found != all.end()) run.rules.push_back(&*found);
        return found != all.end();
    });
    if (part.has("exchanges"))
        each_text(part, "exchanges", [&](const std::string& id) {
            const auto& all = interop::all_exchanges();
            const auto found = std::ranges::find(all, id, &interop::Exchange::id);
            if (found != all.end()) record.exchanges.push_back(*found);
            return found != all.end();
        });
    run.judges_sa = part.flag("judges_sa");
    run.has_control = part.flag("has_control");
    const auto allow = fabric::find_impact(part.text("allow"));
    if (!allow) part.refuse("allow", "is no impact");
    run.allow = *allow;
    run.seed = part.number("seed", ~std::uint64_t{0});
    run.repeat = static_cast<unsigned>(part.whole("repeat", most_repeats));
    auto profile = parse_profile(part.text("profile"), "profile");
    if (!profile) part.refuse("profile", "is no DUT.toml: " + profile.error);
    run.profile = std::move(*profile);
}

void read_session(const JsonPart& part, Record& record) {
    auto& session = record.session;
    session.interface = part.text("interface");
    session.tester_ip = network_in(part, "tester_ip");
    each_text(part, "dut_addresses", [&](const std::string& written) {
        const auto network = wire::parse_network(written);
        if (network) session.dut_addresses.push_back(*network);
        return network.has_value();
    });
    session.timeout_scale = part.real("timeout_scale", 1000);
    session.allows_long = part.flag("allows_long");
    session.seed = record.run.seed;
}

}  // namespace

bool is_file_name(const std::string& name) {
    return !name.empty() && name.front() != '.' && std::ranges::all_of(name, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_';
    });
}

std::array<std::string, 2> files_of(const std::string& scene) { return {scene + ".pcapng", scene + ".journal.jsonl"}; }

std::string content_of(const std::filesystem::path& path, std::uintmax_t most) {
    std::error_code unknown;
    const auto size = std::filesystem::file_size(path, unknown);
    std::ifstream file{path, std::ios::binary};
    if (unknown || !file) throw std::invalid_argument(path.string() + " cannot be read");
    if (size > most) throw std::invalid_argument(path.string() + " is too large for what it should be");
    return {std::istreambuf_iterator<char>{file}, {}};
}

std::vector<Record::Verdict> verdicts_of(const reports::Results& results) {
    std::vector<Record::Verdict> verdicts;
    for (const auto& result : results.results)
        verdicts.push_back(
            {.id = result.host.empty() ? result.id : result.host + ' ' + result.id,
             .verdict = std::string(reports::name(result.verdict)),
             .type = result.verdict == reports::Verdict::na ? std::string(reports::name(result.na)) : result.fail_type,
             .observed = result.observed,
             .violations = result.violations});
    return verdicts;
}

std::string text(const Record& record) {
    const auto& [run, session] = std::tie(record.run, record.session);
    Json cases = Json::array(), rules = Json::array(), abilities = Json::array(), verdicts = Json::array(),
         addresses = Json::array();
    for (const auto* one : run.cases) cases.push_back(one->id);
    for (const auto* rule : run.rules) rules.push_back(rule->id);
    for (const auto& [ability, name] : ability_names)
        if (record.abilities.has(ability)) abilities.push_back(name);
    for (const auto& address : session.dut_addresses) addresses.push_back(text_of(address));
    for (const auto& one : record.verdicts)
        verdicts.push_back({{"id", one.id},
                            {"verdict", one.verdict},
                            {"type", one.type},
                            {"observed", one.observed},
                            {"violations", one.violations}});
    Json all{{"format", Record::format},
             {"suite", suite_version},
             {"suite_texts", record.suite_texts},
             {"virtual", record.is_virtual},
             {"why_not", record.why_not},
             {"fabric", facts_json(record.fabric)},
             {"dut", facts_json(record.dut)},
             {"abilities", abilities},
             {"seed", run.seed},
             {"repeat", run.repeat},
             {"judges_sa", run.judges_sa},
             {"has_control", run.has_control},
             {"allow", name(run.allow)},
             {"interface", session.interface},
             {"tester_ip", session.tester_ip ? text_of(*session.tester_ip) : ""},
             {"dut_addresses", addresses},
             {"timeout_scale", session.timeout_scale},
             {"allows_long", session.allows_long},
             {"profile", to_toml(run.profile)},
             {"cases", cases},
             {"rules", rules},
             {"evidence", record.scenes},
             {"sha256", facts_json(record.hashes)},
             {"verdicts", verdicts}};
    if (!record.not_begun.empty()) all["not_begun"] = record.not_begun;
    for (const auto* one : record.exchanges) all["exchanges"].push_back(one->id);
    return json_text(all) + "\n";
}

Record parse_record(std::string_view text, const std::string& source) {
    const auto object = object_in(text);
    if (!object) throw std::invalid_argument(source + " is no object of JSON");
    const JsonPart part{*object, source + ": "};
    if (part.text("format") != Record::format) part.refuse("format", "is not " + std::string(Record::format));
    Record record{.suite = part.text("suite"), .suite_texts = {}};
    if (part.has("suite_texts")) record.suite_texts = part.text("suite_texts");
    record.is_virtual = part.flag("virtual");
    record.why_not = part.text("why_not");
    record.fabric = facts_in(part, "fabric");
    record.dut = facts_in(part, "dut");
    each_text(part, "abilities", [&](const std::string& name) {
        for (const auto& [ability, called] : ability_names)
            if (called == name) {
                record.abilities = record.abilities | ability;
                return true;
            }
        return false;
    });
    read_run(part, record);
    read_session(part, record);
    each_text(part, "evidence", [&](const std::string& name) {
        record.scenes.push_back(name);
        return is_file_name(name);
    });
    record.hashes = facts_in(part, "sha256");
    if (part.has("not_begun")) record.not_begun = part.text("not_begun");
    for (const auto& verdict : part.array("verdicts")) {
        const JsonPart one{verdict.is_object() ? verdict : nlohmann::json::object(), source + ": verdicts: "};
        record.verdicts.push_back({.id = one.text("id"),
                                   .verdict = one.text("verdict"),
                                   .type = one.text("type"),
                                   .observed = one.whole("observed", ~std::uint64_t{0} >> 1),
                                   .violations = one.whole("violations", ~std::uint64_t{0} >> 1)});
    }
    return record;
}

}  // namespace ipoib::conformance::replay
