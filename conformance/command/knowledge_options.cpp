// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/command/knowledge_options.hpp"

#include "conformance/assumptions/apply.hpp"
#include "conformance/assumptions/parameter_value.hpp"
#include "conformance/command/report_options.hpp"
#include "conformance/command/usage.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>
#include <charconv>
#include <memory>

namespace ipoib::conformance {
namespace {

/// The number that a text is, all of it; nothing for any other.
std::optional<std::uint64_t> number(std::string_view text, int base) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size()) return {};
    return value;
}

template <class Read>
assumptions::Statement stated(const std::string& option, const std::string& value, Read&& read) {
    try {
        return read(value);
    } catch (const std::exception& problem) {
        throw UsageError(option + ": " + problem.what());
    }
}

}  // namespace

/// A LID (decimal, or hex behind 0x, up to 0xbfff), a GUID (16 hex digits, also with 0x or in groups of four), a GID.
SubjectFilter parse_subject(const std::string& option, const std::string& text) {
    const auto unknown = [&] {
        return UsageError(option + ' ' + text + ": neither a LID (0x0004), a GUID (0002c90300100001) nor a GID");
    };
    if (const auto guid = assumptions::guid_in(text)) return {.guid = *guid};
    auto digits = text;
    std::erase(digits, ':');
    const bool is_hex = digits.starts_with("0x") || digits.starts_with("0X");
    if (is_hex) digits.erase(0, 2);
    const auto lid = number(digits, is_hex ? 16 : 10);
    if (!lid || *lid == 0 || *lid >= 0xc000) throw unknown();
    return {.lid = static_cast<std::uint16_t>(*lid)};
}

void add_knowledge_options(CLI::App& command, KnowledgeOptions& options, bool has_subject) {
    command
        .add_option(
            "--assume", options.assume,
            "What the capture does not show of a link's broadcast group: pkey=0x8001,qkey=0x0b1b,mtu=2048,... "
            "(pkey qkey mtu sl tclass flowlabel hoplimit scope mlid rate prefix); or what you vouch for, of all "
            "ports or of one (=GUID): whole (none of its traffic is missing in the capture), from-start (the "
            "capture began before it came up), steady-clock (nobody set the capture's clock meanwhile)")
        ->take_all()
        ->type_name("KEY=VALUE,...")
        ->check(not_empty());
    command.add_option("--sa", options.sa, "The SA's records: text of saquery -g, saquery -m or saquery MCMR, or JSON")
        ->take_all()
        ->type_name("FILE")
        ->check(not_empty());
    if (has_subject)
        command.add_option("--subject", options.subject, "Judge only what this port sends")
            ->type_name("GUID|LID|GID")
            ->check(not_empty());
    command.add_flag("--together", options.together, "Captures of one subnet, read as one, by their times");
}

void add_threads_option(CLI::App& command, unsigned& threads) {
    command
        .add_option(
            "--threads", threads,
            "Threads that read and judge, as many as processors but not more than 8 if not given; what comes out "
            "is the same")
        ->check(CLI::Range(1U, most_threads))
        ->type_name("N");
}

std::vector<std::string> words_of(const KnowledgeOptions& options) {
    std::vector<std::string> words;
    const auto add = [&](const char* name, const std::string& value) { words.insert(words.end(), {name, value}); };
    for (const auto& one : options.assume) add("--assume", one);
    for (const auto& one : options.sa) add("--sa", one);
    if (!options.subject.empty()) add("--subject", options.subject);
    if (options.together) words.emplace_back("--together");
    return words;
}

Statements statements_of(const KnowledgeOptions& options) {
    auto statements = std::make_shared<std::vector<assumptions::Statement>>();
    for (const auto& text : options.assume)
        statements->push_back(
            stated("--assume", text, [](const auto& one) { return assumptions::parse_assumption(one); }));
    for (const auto& path : options.sa)
        statements->push_back(stated("--sa", path, [](const auto& one) { return assumptions::read_sa_file(one); }));
    return statements;
}

JudgeOptions judge_options(const KnowledgeOptions& options) { return judge_options(options, statements_of(options)); }

JudgeOptions judge_options(const KnowledgeOptions& options, const Statements& statements) {
    JudgeOptions judge{.is_one_subnet = options.together};
    if (!options.subject.empty()) judge.subject = parse_subject("--subject", options.subject);
    if (!statements->empty())
        judge.assume = [statements](state::Subnet& subnet) {
            for (const auto& statement : *statements) assumptions::apply(statement, subnet);
        };
    return judge;
}

void add_host_state_option(CLI::App& command, std::vector<std::string>& files) {
    command
        .add_option("--host-state", files,
                    "What hosts say of themselves (ipoib-dut-linux state): what of it is not so elsewhere is told")
        ->take_all()
        ->type_name("FILE...")
        ->check(not_empty());
}

HostsTold host_states_of(const std::vector<std::string>& files) {
    try {
        auto states = hosts::read_host_states(files);
        auto notes = states.notes.told();
        for (auto& note : notes) note.insert(0, "--host-state: ");
        return {std::move(states.hosts), std::move(notes)};
    } catch (const std::exception& problem) {
        throw UsageError(std::string("--host-state: ") + problem.what());
    }
}

}  // namespace ipoib::conformance
