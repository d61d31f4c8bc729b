// SPDX-License-Identifier: GPL-2.0-or-later
// Lays out help, and puts the parser's complaints into words.
#include "conformance/terminal/help.hpp"

#include "base/complain.hpp"
#include "base/nearest.hpp"
#include "base/utf8.hpp"
#include "base/wrapped.hpp"
#include "conformance/terminal/terminal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <iostream>
#include <memory>

namespace ipoib::conformance {
namespace {

constexpr int exit_wrong = 2;

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App* command) { return !command->get_name().empty(); });
}

/// Lays out one help. Not by CLI11's own formatter, which wraps nothing.
class Page {
public:
    explicit Page(std::size_t width) : width_(width), column_(width < 90 ? 24 : 30) {}

    std::string of(const CLI::App& app, const std::string& name) {
        paragraph(app.get_description());
        usage(app, name);
        options(app, "Positionals", [](const CLI::Option& one) { return one.get_positional(); });
        for (const auto& group : app.get_groups())
            options(app, group,
                    [&](const CLI::Option& one) { return one.nonpositional() && one.get_group() == group; });
        if (const auto commands = commands_of(app); !commands.empty()) {
            text_ += "\nCommands:\n";
            for (const auto* command : commands) row(command->get_name(), command->get_description());
        }
        if (!app.get_footer().empty()) {
            text_ += '\n';
            footer(app.get_footer());
        }
        return std::move(text_);
    }

private:
    void paragraph(std::string_view words) {
        if (!words.empty()) text_ += wrapped(words, 0, width_) + '\n';
    }
    void usage(const CLI::App& app, const std::string& name) {
        std::string words = "Usage: " + name + " [OPTIONS]";
        for (const auto* option : app.get_options([](const CLI::Option* one) { return one->get_positional(); })) {
            auto word = option->get_name(true) + (option->get_expected_max() > 1 ? "..." : "");
            words += ' ' + (option->get_required() ? word : '[' + word + ']');
        }
        if (!commands_of(app).empty()) words += app.get_require_subcommand_min() == 0 ? " [COMMAND]" : " COMMAND";
        text_ += wrapped(words, 4, width_) + '\n';
    }
    template <class Choose>
    void options(const CLI::App& app, const std::string& title, const Choose& choose) {
        bool any = false;
        for (const auto* option : app.get_options()) {
            if (option->get_group().empty() || !choose(*option)) continue;
            if (!any) text_ += '\n' + title + ":\n";
            any = true;
            row(option->get_positional() ? option->get_name(true) : named(*option), option->get_description());
        }
    }
    /// "-h,--help", "--seed N"
    static std::string named(const CLI::Option& option) {
        auto name = option.get_name(false, true);
        // What a check adds is told where it is not kept.
        const auto type = option.get_type_name().substr(0, option.get_type_name().find(':'));
        if (option.get_items_expected_max() > 0 && !type.empty()) name += ' ' + type;
        return name;
    }
    void row(const std::string& name, std::string_view words) {
        auto line = "  " + name;
        const auto taken = columns(line);
        if (words.empty()) {
            text_ += line + '\n';
            return;
        }
        line += taken + 2 > column_ ? '\n' + std::string(column_, ' ') : std::string(column_ - taken, ' ');
        text_ += line + wrapped(words, column_, width_) + '\n';
    }
    /// Lines that begin with a blank, or stand before such lines, are laid out; others are one paragraph.
    void footer(std::string_view words) {
        std::string prose;
        const auto end_prose = [&] { paragraph(std::exchange(prose, {})); };
        for (std::size_t begin = 0; begin < words.size();) {
            const auto end = std::min(words.find('\n', begin), words.size());
            const auto line = words.substr(begin, end - begin);
            begin = end + 1;
            if (!line.empty() && line.front() != ' ') {
                prose += (prose.empty() ? "" : " ") + std::string(line);
                continue;
            }
            end_prose();
            laid_out(line);
        }
        end_prose();
    }
    /// What does not fit is broken before its second column.
    void laid_out(std::string_view line) {
        const auto begin = line.find_first_not_of(' ');
        const auto gap = begin == std::string_view::npos ? begin : line.find("  ", begin);
        if (columns(line) <= width_ || gap == std::string_view::npos) {
            text_ += std::string(line) + '\n';
            return;
        }
        const auto second = line.substr(line.find_first_not_of(' ', gap));
        const auto indent = begin + 4;
        text_ += fmt::format("{}\n{:{}}{}\n", line.substr(0, gap), "", indent, wrapped(second, indent, width_));
    }

    std::size_t width_, column_;
    std::string text_;
};

class Help : public CLI::FormatterBase {
public:
    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const override {
        return Page{output_width()}.of(*app, name);
    }
};

std::string help_on(const CLI::App& program, const std::string& word) {
    if (word.empty()) return Page{output_width()}.of(program, program.get_name());
    for (const auto* command : commands_of(program))
        if (command->get_name() == word) return Page{output_width()}.of(*command, program.get_name() + ' ' + word);
    throw CLI::ValidationError(no_command(program, word));
}

/// The command that was being read, or the program.
const CLI::App& innermost(const CLI::App& program) {
    const auto* app = &program;
    while (!app->get_subcommands().empty()) app = app->get_subcommands().back();
    return *app;
}

/// What is left over: an option that there is not, or a word too many.
std::string about_extras(const CLI::App& app, const std::vector<std::string>& words) {
    const auto is_option = [](const std::string& word) { return word.size() > 1 && word.front() == '-'; };
    const auto first = std::ranges::find_if(words, is_option);
    if (first == words.end()) return words.empty() ? "a word too many" : "'" + words.front() + "' is a word too many";
    const auto name = first->substr(0, first->find('='));
    Nearest nearest{name};
    for (const auto* option : app.get_options())
        for (const auto& one : option->get_lnames()) nearest.offer("--" + one);
    return name + " is no option" + nearest.question();
}

std::string wrong_with(const CLI::App& program, const CLI::App& at, const CLI::ParseError& error) {
    // Who mistypes an option of the program has named no command either.
    const auto left_over = program.remaining(true);
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr || (&at == &program && !left_over.empty()))
        return about_extras(at, left_over);
    if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !commands_of(at).empty()) {
        std::vector<std::string> names;
        for (const auto* command : commands_of(at)) names.push_back(command->get_name());
        return fmt::format("no command is named: {}", fmt::join(names, ", "));
    }
    std::string what = error.what();
    // "--html: 1 required FILE missing"
    constexpr std::string_view needs = ": 1 required ", missing = " missing";
    if (const auto found = what.find(needs); found != std::string::npos && what.ends_with(missing))
        return what.substr(0, found) + " needs " +
               what.substr(found + needs.size(), what.size() - missing.size() - found - needs.size());
    // The parser's own heading of a check that has none.
    constexpr std::string_view heading = "ValidationError: ";
    return what.starts_with(heading) ? what.substr(heading.size()) : what;
}

}  // namespace

void wrap_help(CLI::App& program) { program.formatter(std::make_shared<Help>()); }

void add_help(CLI::App& program) {
    auto* help = program.add_subcommand("help", "What the program does, or one of its commands");
    const auto word = std::make_shared<std::string>();
    help->add_option("COMMAND", *word, "One of the commands")->type_name(" ");
    help->callback([&program, word] { fmt::print("{}", help_on(program, *word)); });
    // The word behind "help" is no command to be carried out.
    program.require_subcommand(program.get_require_subcommand_min() > 0 ? 1 : -1);
    auto* version = program.add_subcommand("version", "Print the version");
    version->callback([&program] { fmt::print("{}\n", program.version()); });
}

std::string no_command(const CLI::App& program, std::string_view word) {
    return fmt::format("'{}' is no command{}", word,
                       did_you_mean(word, commands_of(program), [](const CLI::App* one) { return one->get_name(); }));
}

int tell(const CLI::App& program, const CLI::ParseError& error) {
    errno = 0;
    if (error.get_exit_code() == 0) {
        const int code = program.exit(error, std::cout, std::cout);
        std::cout.flush();
        return std::cout || errno == EPIPE ? code : exit_wrong;
    }
    const auto& at = innermost(program);
    const auto name = &at == &program ? program.get_name() : program.get_name() + ' ' + at.get_name();
    complain(name, fmt::format("{} ({} --help)", wrong_with(program, at, error), name));
    return exit_wrong;
}

void add_color_options(CLI::App& command, std::string& when) {
    command.add_option("--color", when, "always, never, or auto: at a terminal, unless NO_COLOR is set")
        ->check(one_of({"always", "never", "auto"}))
        ->type_name("WHEN");
    command.add_flag_callback(
        "--no-color", [&when] { when = "never"; }, "The same as --color never");
}

CLI::Validator one_of(std::vector<std::string> words) {
    return {[words = std::move(words)](std::string& word) -> std::string {
                if (std::ranges::find(words, word) != words.end()) return {};
                return fmt::format("'{}' is none of {}{}", word, fmt::join(words, ", "),
                                   did_you_mean(word, words, [](const std::string& one) { return one; }));
            },
            ""};
}

}  // namespace ipoib::conformance
