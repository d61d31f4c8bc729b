// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform links: what captures tell of each link.
#include "base/complain.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/knowledge_options.hpp"
#include "conformance/command/output.hpp"
#include "conformance/command/report_options.hpp"
#include "conformance/judge/passive.hpp"
#include "conformance/links/account.hpp"

#include <iostream>
#include <memory>

namespace ipoib::conformance {
namespace {

struct LinksOptions {
    std::vector<std::string> captures;
    KnowledgeOptions knowledge;
    bool json = false;
};

void show(const Judge& judge, const std::vector<reports::CaptureResult>& captures, bool as_json) {
    const auto account = links::account_of(judge);
    if (as_json)
        links::to_json(account, captures, [](std::string piece) { print(std::move(piece), Notation::json); });
    else
        links::to_text(account, captures, [](std::string piece) { print(std::move(piece)); });
}

int run_links(const LinksOptions& options) {
    PassiveRun run{.captures = options.captures, .rules = rules::every()};
    run.judge = judge_options(options.knowledge);
    if (options.json && run.captures.size() > 1 && !options.knowledge.together)
        throw UsageError("--json is about one subnet: name one capture, or add --together");
    if (std::ranges::count(run.captures, "-") > 1) throw UsageError("standard input can be read only once");
    std::vector<reports::CaptureResult> captures;
    if (options.knowledge.together) {
        const auto judge = read_together(run, captures);
        show(judge, captures, options.json);
    } else {
        for (std::size_t i = 0; i < run.captures.size(); ++i) {
            reports::CaptureResult capture;
            const auto judge = read_capture(run, i, capture);
            captures.push_back(capture);
            if (i) print("\n");
            show(judge, {capture}, options.json);
        }
    }
    bool any = false, is_damaged = false;
    for (const auto& capture : captures) {
        any = any || capture.packets > 0;
        is_damaged = is_damaged || !capture.error.empty();
        if (capture.packets == 0)
            complain("ipoib-conform", capture.error.empty() ? capture.file + " holds no frame" : capture.error);
    }
    return !any ? exit_usage : is_damaged ? exit_fault : exit_ok;
}

Action set_up_links(CLI::App& command, const std::string&) {
    auto options = std::make_shared<LinksOptions>();
    command.add_option("CAPTURE", options->captures, "Captures (pcap, pcapng, also compressed; '-' is standard input)")
        ->required()
        ->type_name(" ");
    add_knowledge_options(command, options->knowledge, false);
    command.add_flag("--json", options->json, "As JSON (docs/links.md)");
    command.footer(
        "Exit code: 0 all was read, 3 a capture is damaged, 2 wrong usage or no frame could be read. Findings do not "
        "change it: ipoib-conform check judges.");
    return [options] { return run_links(*options); };
}

}  // namespace

namespace command {

extern const Command links{
    .name = "links",
    .about = "What captures tell of each link: parameters, members, groups, and what is wrong in plain words",
    .set_up = set_up_links};

}  // namespace command
}  // namespace ipoib::conformance
