// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform explain: what a requirement, a case, a rule, a header or an address means.
#include "base/nearest.hpp"
#include "conformance/audit/rule.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/output.hpp"
#include "conformance/command/report_options.hpp"
#include "conformance/command/usage.hpp"
#include "conformance/documents/coverage.hpp"
#include "conformance/documents/glossary.hpp"
#include "conformance/judge/force.hpp"
#include "conformance/judge/passive.hpp"
#include "conformance/terminal/numbers.hpp"
#include "protocol/wire/registry_text.hpp"
#include "protocol/wire/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace ipoib::conformance {
namespace {

using namespace wire;
using requirements::Requirement;

struct ExplainOptions {
    std::string what;
    std::uint16_t p_key = 0xffff;
    unsigned scope = 2;
};

std::string binds_text(requirements::Binds binds) {
    using requirements::Binds;
    constexpr std::array<std::pair<Binds, std::string_view>, 8> names{{{Binds::interface, "IPoIB interface"},
                                                                       {Binds::router, "IP multicast router"},
                                                                       {Binds::sa, "subnet manager and administrator"},
                                                                       {Binds::administrator, "administrator"},
                                                                       {Binds::hca, "channel adapter"},
                                                                       {Binds::document, "document"},
                                                                       {Binds::dhcp_client, "DHCP client"},
                                                                       {Binds::dhcp_server, "DHCP server"}}};
    std::string text;
    for (const auto& [member, name] : names)
        if (has(binds, member)) text += (text.empty() ? "" : ", ") + std::string(name);
    return text;
}

constexpr std::array<std::pair<state::Fact, std::string_view>, 15> fact_words{
    {{state::Fact::broadcast_gid, "a packet to the broadcast-GID, or its record,"},
     {state::Fact::broadcast_record, "the broadcast group's MCMemberRecord"},
     {state::Fact::q_key, "the broadcast group's Q_Key"},
     {state::Fact::mtu, "the broadcast group's MTU"},
     {state::Fact::sl, "the broadcast group's SL"},
     {state::Fact::traffic_class, "the broadcast group's TClass"},
     {state::Fact::flow_label, "the broadcast group's FlowLabel"},
     {state::Fact::hop_limit, "the broadcast group's HopLimit"},
     {state::Fact::group_record, "the group's MCMemberRecord"},
     {state::Fact::watched, "the sender's join of the broadcast group, and all its traffic with the SA since,"},
     {state::Fact::member, "an answer of the SA to the sender about the group"},
     {state::Fact::request, "the request that is answered"},
     {state::Fact::receiver, "a packet of the receiver"},
     {state::Fact::neighbour, "the receiver's link-layer address, in ARP or ND,"},
     {state::Fact::path, "the path that the SA told the sender"}}};

/// Each with its force, and its document's status where that is no standard.
template <class Judge>
void print_checks(const Judge& judge) {
    for (const auto* requirement : judge.checks)
        if (requirement)
            say("  checks {} ({}{}): {}\n", requirement->id, force_name(*requirement),
                requirement->status() == requirements::Status::standard ? "" : ", informative", requirement->statement);
}

void explain_rule(const rules::Rule& rule) {
    say("{}: {}\n", rule.id, rule.title);
    print_checks(rule);
    if (rule.points_at.spec()) say("  looks at {}.{}\n", rule.points_at.header()->name, rule.points_at.spec()->name);
    for (const auto& [fact, words] : fact_words)
        if (rule.knows & state::facts(fact)) say("  needs {} in the capture\n", words);
}

void explain_rule(const audit::Rule& rule) {
    say("{}: {}\n", rule.id, rule.title);
    print_checks(rule);
    say("  looks at {} that a subnet administrator holds (ipoib-conform audit)\n", audit::plural(rule.about));
    if (rule.needs_members) say("  needs an administrator that tells of members\n");
}

void explain_case(const Case& one) {
    say("{}: {}\n", one.id, one.title);
    print_checks(one);
    say("  passes if {}\n", one.pass_if);
    say("  judges {}\n", one.subject == Subject::sa ? "the subnet administrator (--dut sa)"
                         : one.role == Role::router ? "an IP multicast router"
                                                    : "an IPoIB interface");
    if (const auto needs = in_words(one.needs); !needs.empty()) say("  the fabric must {}\n", needs);
    if (!one.dut_can.empty()) say("  the DUT must be able to {}\n", fmt::join(one.dut_can, ", "));
    say("  impact: {}; lasts at most {} s\n", name(one.impact), one.longest().count());
    if (!one.tags.empty()) say("  tags: {}\n", fmt::join(one.tags, ", "));
}

/// A case or rule names it among what it checks.
template <class Judge>
void print_if_checks(const Judge& judge, const Requirement& requirement) {
    for (const auto* checked : judge.checks)
        if (checked && checked->id == requirement.id) say("  checked by {}: {}\n", judge.id, judge.title);
}

void explain_requirement(const Requirement& requirement) {
    const auto section = requirement.section();
    say("{}: {}\n", requirement.id, requirement.statement);
    say("  {}{}{}, level {}\n", requirement.document(), section.empty() ? "" : ", section ", section,
        requirement.level);
    say("  document: {}\n", name(requirement.status()));
    say("  binds: {}\n", binds_text(requirement.binds));
    const std::array consequence{fail_type(requirement), std::string_view{"WARN"},
                                 std::string_view{"PASS, with a note"}};
    say("  a violation is: {}\n", consequence[static_cast<std::size_t>(requirement.strength)]);
    for (const auto id : requirement.same_as) say("  the same as {}\n", id);
    for (const auto id : requirement.part_of) say("  part of {}\n", id);
    if (!requirement.note.empty()) say("  note: {}\n", requirement.note);
    for (const auto* one : all_cases()) print_if_checks(*one, requirement);
    for (const auto& rule : rules::all()) print_if_checks(rule, requirement);
    for (const auto& rule : audit::rules()) print_if_checks(rule, requirement);
    for (const auto& ground : grounds())
        if (ground.requirement->id == requirement.id) say("  {}: {}\n", name(ground.manner), ground.reason);
}

void print_fields(const HeaderSpec& header, const std::uint8_t* at) {
    for (const auto& field : header.fields) say("  {:<14} {}\n", field.name, value_text(field, at));
}

void explain_mgid(const Gid& mgid) {
    const auto view = mgid_of(mgid);
    say("MGID {}\n", text(mgid));
    print_fields(spec_of<Mgid>, view.octets.data());
    if (!has_ipoib_signature(mgid))
        say("  no group of IPoIB: the signature is neither 0x401b nor 0x601b\n");
    else if (is_broadcast_gid(mgid))
        say("  the broadcast-GID of the link with this P_Key\n");
    else if (const auto group = ipv4_group_of(mgid))
        say("  stands for the IPv4 group {}\n", ipv4_text(*group));
    else if (view[Mgid::signature] == ipv6_signature)
        say("  stands for every IPv6 group whose low 80 bits are {:04x}:{:016x}\n", view[Mgid::group_high],
            view[Mgid::group_low]);
    else
        say("  stands for no IPv4 group: bits above the low 28 are set (RFC4391-4-08)\n");
    if (has_draft_p_key(mgid)) say("  the P_Key lacks the membership bit (RFC4391-4-05)\n");
}

void explain_link_address(Octets octets) {
    say("IPoIB link-layer address\n");
    const auto address = View<LinkAddress>::at(octets);
    print_fields(spec_of<LinkAddress>, address.data());
    const auto flags = address[LinkAddress::flags];
    if (flags & flag_rc) say("  reachable by reliable connection (RFC 4755)\n");
    if (flags & flag_uc) say("  reachable by unreliable connection (RFC 4755)\n");
    if (flags & 0x3f) say("  reserved flags are set (RFC4391-9.1.1-02)\n");
    say("  port GUID {:016x}\n", address[LinkAddress::gid].interface_id());
}

/// A header by its name or key, or one of its fields behind a dot; says whether it is one.
bool explain_header(std::string_view what) {
    const auto dot = what.find('.');
    const auto named = field_named(what.substr(0, dot), dot == std::string_view::npos ? "" : what.substr(dot + 1));
    if (!named.header) return false;
    if (dot != std::string_view::npos && !named.field)
        throw UsageError(fmt::format("{} has no field '{}'{}", named.header->name, what.substr(dot + 1),
                                     did_you_mean(what.substr(dot + 1), named.header->fields,
                                                  [](const FieldSpec& field) { return field.name; })));
    const auto& row = *row_of(*named.header);
    say("{}", named.field ? explanation(row, *named.field) : explanation(row));
    return true;
}

void explain_finding(const FindingName& finding) {
    const bool is_invariant = finding.page == "explore.md";
    say("{}: {}\n", finding.name, finding.what);
    say("  {}: told by {}\n", is_invariant ? "an invariant, whose violation is a finding" : "a finding, no verdict",
        finding.told_by);
    say("  more: docs/{}\n", finding.page);
}

/// What an answer of the SA with this status means, where it is one of those that need words.
std::string_view meaning(std::uint16_t status) {
    switch (status) {
        case 0:
            return "It was done.";
        case sa_status::no_resources:
            return "It has no room: MLIDs or the switches' tables are used up (group-limit).";
        case sa_status::invalid_request:
            return "A component of the request is wrong or does not fit the record: rate, MTU, P_Key, JoinState ... "
                   "ipoib-conform links says which one where the capture shows it.";
        case sa_status::no_records:
            return "Nothing matches what was asked for: no such group, port or path.";
        case sa_status::too_many_records:
            return "More than one record matches a Get, or more than it can answer with.";
        case sa_status::invalid_gid:
            return "A GID of the request is none that may be used so: of a group that may not be "
                   "created, or of a port that there is not.";
        case sa_status::insufficient_components:
            return "Components that it takes to create a group are missing. A join with fewer is of groups that exist.";
        case sa_status::denied:
            return "It is not for this requester: another port's membership, or without the SM_Key.";
        case sa_status::priority_suggested:
            return "It was done; another priority is suggested.";
        default:
            return {};
    }
}

/// A status of MADs, by its number ("0x0200", "512") or its name (ERR_REQ_INVALID); whether it is one.
bool explain_status(const std::string& what) {
    const auto number = parse_number(what);
    for (const auto& [value, name] : sa_status_names) {
        if (number ? *number != value : !is_same_name(name, what)) continue;
        say("status {:#06x}: {}, in answers of the subnet administrator\n", value, name);
        if (const auto words = meaning(static_cast<std::uint16_t>(value)); !words.empty()) say("  {}\n", words);
        say("  IBTA Vol 1, 15.2.3; field: MAD.Status (ipoib-conform explain MAD.Status)\n");
        return true;
    }
    return false;
}

struct Word {
    std::string_view name, meaning;
};
/// What tables and reports say of a rule, a case or a requirement.
constexpr std::array<Word, 13> verdict_words{
    {{"PASS", "All that was seen of it is as the text says, and something was seen."},
     {"WARN", "Advice (SHOULD) is not kept; with --strict this is a FAIL."},
     {"FAIL",
      "A binding statement is violated; its type tells the force of the text: FAIL.MUST, FAIL.STATED, FAIL.CRASH."},
     {"FAIL.MUST", "What the text says with a keyword in capitals is violated: MUST, MUST NOT, SHALL, REQUIRED."},
     {"FAIL.STATED", "A plain sentence of the text is violated, or one with the plain word \"must\" or \"requires\"."},
     {"FAIL.SHOULD", "With --strict: advice is not kept."},
     {"FAIL.CRASH", "The DUT crashed or reported a fault during the case."},
     {"INCONC", "It occurred or was stimulated, but the evidence does not suffice; the message says what is missing."},
     {"NA", "Not judged; the word behind it says why: profile, tester, link, safety, not-seen, inspection."},
     {"ERROR", "Tester, adapter, fabric or capture is at fault; what was judged before stands."},
     {"XFAIL", "A failure that the baseline (--expect) knows."},
     {"XPASS", "The baseline knows a failure that is gone: remove its entry."},
     {"FINDING", "What no text forbids and users suffer from."}}};
constexpr std::array<Word, 6> reason_words{
    {{"profile", "It does not apply to this implementation, as DUT.toml or its kind says."},
     {"tester", "Nothing in this run checks it, or the fabric or the adapter cannot do what it takes."},
     {"link", "This kind of capture cannot show it."},
     {"safety", "Others might notice; --allow decides who may."},
     {"not-seen", "No packet of this kind was seen, or nothing to compare it with."},
     {"inspection", "No packet can show it: a person must look."}}};

/// A verdict, or why there is none; whether it is one.
bool explain_verdict(const std::string& what) {
    for (const auto& [name, meaning] : verdict_words) {
        if (!is_same_name(name, what)) continue;
        say("{}: {}\n  a verdict; more: docs/results.md\n", name, meaning);
        return true;
    }
    for (const auto& [name, meaning] : reason_words) {
        if (!is_same_name(name, what)) continue;
        say("{}: {}\n  why something is NA; more: docs/results.md\n", name, meaning);
        return true;
    }
    return false;
}

/// Of everything that has a name.
std::string nearest_name(const std::string& what) {
    if (const auto question = known_ids().judge(what); question && !question->empty()) return *question;
    Nearest nearest{what};
    for (const auto* one : requirements::all()) nearest.offer(one->id);
    for (const auto& one : finding_names()) nearest.offer(one.name);
    for (const auto& [value, name] : sa_status_names) nearest.offer(name);
    for (const auto& word : verdict_words) nearest.offer(word.name);
    for (const auto& row : registry()) nearest.offer(row.header->name);
    return nearest.question();
}

void run_explain(const ExplainOptions& options) {
    if (const auto* one = find_case(options.what)) return explain_case(*one);
    if (const auto* rule = rules::find(options.what)) return explain_rule(*rule);
    if (const auto* rule = audit::find(options.what)) return explain_rule(*rule);
    if (const auto* requirement = requirements::find(options.what)) return explain_requirement(*requirement);
    if (explain_header(options.what)) return;
    if (const auto* finding = find_finding(options.what)) return explain_finding(*finding);
    if (explain_status(options.what) || explain_verdict(options.what)) return;
    if (const auto ipv4 = parse_ipv4(options.what)) {
        if (*ipv4 >> 28 != 0xe && *ipv4 != 0xffffffff) throw UsageError(options.what + " is no IPv4 group");
        say("{} on P_Key {:#06x}, scope {}:\n", options.what, options.p_key, options.scope);
        return explain_mgid(mgid_for_ipv4(*ipv4, options.p_key, options.scope));
    }
    if (const auto gid = parse_gid(options.what)) {
        if (!gid->is_multicast()) throw UsageError(options.what + " is no multicast address");
        if (has_ipoib_signature(*gid)) return explain_mgid(*gid);
        say("{} on P_Key {:#06x}, scope {}:\n", options.what, options.p_key, options.scope);
        return explain_mgid(mgid_for_ipv6(*gid, options.p_key, options.scope));
    }
    if (const auto octets = parse_octets(options.what); octets && octets->size() == LinkAddress::size)
        return explain_link_address(*octets);
    throw UsageError(
        "'" + options.what +
        "' is no id of a requirement, case or rule, no header, no finding, no status, no verdict, no MGID, no IP "
        "group and no 20-octet link-layer address" +
        nearest_name(options.what));
}

Action set_up_explain(CLI::App& command, const std::string&) {
    auto options = std::make_shared<ExplainOptions>();
    command
        .add_option(
            "WHAT", options->what,
            "An id, a header (MCMemberRecord) or a field of it (BTH.DestQP), a finding (duplicate-address), a "
            "status of the SA (0x0200, ERR_REQ_INVALID), an MGID, an IP group, or a 20-octet link-layer address "
            "in hex")
        ->required()
        ->type_name(" ");
    command.add_option("--pkey", options->p_key, "P_Key of the link that a group is mapped for")->type_name("P_KEY");
    command.add_option("--scope", options->scope, "Scope of its broadcast-GID")->check(from_to(0, 15))->type_name("N");
    return [options] {
        run_explain(*options);
        return exit_ok;
    };
}

}  // namespace

namespace command {

extern const Command explain{
    .name = "explain",
    .about = "What a requirement, case, rule, header, finding, status, verdict, group or address means",
    .set_up = set_up_explain};

}  // namespace command
}  // namespace ipoib::conformance
