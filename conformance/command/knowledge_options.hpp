// SPDX-License-Identifier: GPL-2.0-or-later
// Options of the commands that read captures: what the user knows of the subnet, and who is meant.
#pragma once

#include "conformance/assumptions/statement.hpp"
#include "conformance/hosts/host_state.hpp"
#include "conformance/judge/judge.hpp"

#include <CLI/CLI.hpp>

namespace ipoib::conformance {

/// --assume, --sa, --subject and --together.
struct KnowledgeOptions {
    std::vector<std::string> assume, sa;
    std::string subject;
    bool together = false;
};

/// Adds the options; `has_subject` also --subject.
void add_knowledge_options(CLI::App& command, KnowledgeOptions& options, bool has_subject);

/// --threads of commands that judge captures; 0 as long as it is not given.
void add_threads_option(CLI::App& command, unsigned& threads);

/// The options as words of a command line.
[[nodiscard]] std::vector<std::string> words_of(const KnowledgeOptions& options);

/// A port as --subject names it: LID, GUID or GID. Throws UsageError, which names the option, for what is none.
[[nodiscard]] SubjectFilter parse_subject(const std::string& option, const std::string& text);

/// What a judge makes of them. Throws UsageError for what cannot be understood, a file that cannot be read included.
[[nodiscard]] JudgeOptions judge_options(const KnowledgeOptions& options);
/// What --assume and --sa say.
using Statements = std::shared_ptr<const std::vector<assumptions::Statement>>;
[[nodiscard]] Statements statements_of(const KnowledgeOptions& options);
[[nodiscard]] JudgeOptions judge_options(const KnowledgeOptions& options, const Statements& statements);

/// --host-state of a command.
void add_host_state_option(CLI::App& command, std::vector<std::string>& files);
/// States, and notes of what of the files tells nothing. Throws UsageError where nothing does.
struct HostsTold {
    std::vector<hosts::HostState> hosts;
    std::vector<std::string> notes;
};
[[nodiscard]] HostsTold host_states_of(const std::vector<std::string>& files);

}  // namespace ipoib::conformance
