// SPDX-License-Identifier: GPL-2.0-or-later
// Manual page and completion.
#include "conformance/terminal/manual.hpp"

#include "generated/version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace ipoib::conformance {
namespace {

std::string roff(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '\\' || c == '-') escaped += '\\';
        if ((c == '.' || c == '\'') && (escaped.empty() || escaped.back() == '\n')) escaped += "\\&";
        escaped += c;
    }
    return escaped;
}

std::string synopsis(const CLI::Option& option) {
    auto name = option.get_positional() ? option.get_name(true) : option.get_name(false, true);
    if (option.get_items_expected_max() > 0 && !option.get_positional()) name += ' ' + option.get_type_name();
    return name;
}

void print_options(const CLI::App& app) {
    for (const auto* option : app.get_options())
        fmt::print(".TP\n\\fB{}\\fR\n{}\n", roff(synopsis(*option)), roff(option->get_description()));
}

void print_manual(const CLI::App& program, std::string_view title, std::string_view synopsis) {
    const auto name = roff(program.get_name());
    std::string upper = program.get_name();
    std::ranges::transform(upper, upper.begin(), [](char c) { return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c; });
    fmt::print(".TH {} 1 \"\" \"{} {}\" \"User commands\"\n", roff(upper), name, roff(suite_version));
    fmt::print(".SH NAME\n{} \\- {}\n", name, roff(title));
    fmt::print(".SH SYNOPSIS\n\\fB{}\\fR {}\n", name, roff(synopsis));
    fmt::print(".SH DESCRIPTION\n{}\n", roff(program.get_description()));
    print_options(program);
    fmt::print(".SH COMMANDS\n");
    for (const auto* command : program.get_subcommands([](const CLI::App*) { return true; })) {
        fmt::print(".SS {}\n{}\n", roff(command->get_name()), roff(command->get_description()));
        print_options(*command);
        if (!command->get_footer().empty()) fmt::print(".PP\n{}\n", roff(command->get_footer()));
    }
    fmt::print(".SH NOTES\n.nf\n{}\n.fi\n", roff(program.get_footer()));
}

std::string long_options(const CLI::App& app) {
    std::string names;
    for (const auto* option : app.get_options())
        for (const auto& name : option->get_lnames()) names += " --" + name;
    return names.empty() ? names : names.substr(1);
}

void print_completion(const CLI::App& program) {
    std::string commands, cases;
    for (const auto* command : program.get_subcommands([](const CLI::App*) { return true; })) {
        commands += (commands.empty() ? "" : " ") + command->get_name();
        cases += fmt::format("    {}) options='{}' ;;\n", command->get_name(), long_options(*command));
    }
    auto function = program.get_name();
    std::ranges::replace(function, '-', '_');
    fmt::print(R"(# bash completion for {0}; source it, or put it where bash-completion looks
_{1}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} options=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W '{2} {3}' -- "$word")
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{4}    *) options='{3}' ;;
  esac
  case "$word" in
    -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word") ;;
    *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
  esac
}}
complete -o filenames -F _{1} {0}
)",
               program.get_name(), function, commands, long_options(program), cases);
}

}  // namespace

void add_manual(CLI::App& program, std::string_view title, std::string_view synopsis) {
    auto* manual =
        program.add_subcommand("manual", "Print the manual page (roff): " + program.get_name() + " manual | man -l -");
    manual->callback([&program, title, synopsis] { print_manual(program, title, synopsis); });
    auto* completion = program.add_subcommand("completion", "Print the bash completion");
    completion->callback([&program] { print_completion(program); });
}

}  // namespace ipoib::conformance
