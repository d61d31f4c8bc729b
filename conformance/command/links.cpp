// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform links: what captures tell of each link.
#include "base/complain.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/knowledge_options.hpp"
#include "conformance/command/output.hpp"
#include "conformance/command/report_options.hpp"
#include "conformance/judge/passive.hpp"
#include "conformance/links/choice.hpp"
#include "conformance/terminal/terminal.hpp"
#include "protocol/wire/ip_address.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>
#include <cctype>
#include <iostream>
#include <memory>

namespace ipoib::conformance {
namespace {

struct LinksOptions {
    std::vector<std::string> captures;
    KnowledgeOptions knowledge;
    std::string link, group, host;
    bool findings_only = false, json = false;
    unsigned threads = 0;
    std::vector<std::string> host_states;
};

template <class Parsed>
Parsed parsed(std::optional<Parsed> found, const std::string& option, const std::string& value, const char* what) {
    if (!found) throw UsageError(option + ' ' + value + ": " + what);
    return *found;
}

links::HostChoice host_choice(const std::string& text) {
    if (const auto address = wire::parse_ip(text); address && !address->is_multicast())
        return {.address = address->octets};
    try {
        const auto port = parse_subject("--host", text);
        return {.guid = port.guid, .lid = port.lid};
    } catch (const UsageError&) {
        throw UsageError("--host " + text +
                         ": neither an IP address (10.1.0.9), a LID (0x0004), a GUID (0002c90300100001) nor a GID");
    }
}

links::Choice choice_of(const LinksOptions& options) {
    links::Choice choice{.findings_only = options.findings_only, .width = output_width()};
    if (!options.link.empty()) {
        choice.link = parsed(links::parse_link(options.link), "--link", options.link,
                             "neither a P_Key (0x8001) nor a link (fe80::/0x8001)");
        // Whoever has written a number otherwise sees what it was taken for.
        const auto p_key = wire::hex(choice.link->p_key, 4);
        auto written = options.link.substr(options.link.find_last_of('/') + 1);
        std::ranges::transform(written, written.begin(), [](unsigned char c) { return std::tolower(c); });
        if (written != p_key) complain("ipoib-conform", "--link " + options.link + " is read as P_Key " + p_key);
    }
    if (!options.group.empty())
        choice.group = parsed(links::parse_group(options.group), "--group", options.group,
                              "neither a group (239.1.2.3, ff02::1), an MGID, nor 'broadcast'");
    if (!options.host.empty()) choice.host = host_choice(options.host);
    return choice;
}

/// Reads captures, and tells of what was read until Ctrl-C.
class Teller {
public:
    explicit Teller(const LinksOptions& options)
        : options_(options),
          choice_(choice_of(options)),
          statements_(statements_of(options.knowledge)),
          hosts_(host_states_of(options.host_states)),
          run_{.captures = options.captures, .rules = rules::every(), .crew = {.threads = options.threads}} {
        run_.judge = judge_options(options.knowledge, statements_);
        if (options.json && run_.captures.size() > 1 && !options.knowledge.together)
            throw UsageError("--json is about one subnet: name one capture, or add --together");
        const auto live = std::ranges::count(run_.captures, "-");
        if (live > 1) throw UsageError("standard input can be read only once");
        if (live == 0 && progress_is_seen()) run_.progress = std::ref(bar_);
        stop_on_interrupt();
    }
    int tell() {
        if (options_.knowledge.together)
            together();
        else
            each();
        bool any = false, is_damaged = false;
        for (const auto& capture : captures_) {
            any = any || capture.packets > 0;
            is_damaged = is_damaged || !capture.error.empty();
            if (capture.packets == 0)
                complain("ipoib-conform", capture.error.empty() ? capture.file + " holds no frame" : capture.error);
        }
        return !any ? exit_usage : is_damaged ? exit_fault : exit_ok;
    }

private:
    void together() {
        links::Observer observer;
        look_on(observer);
        const auto judge = read_together(run_, captures_);
        show(judge, observer, captures_);
    }
    void each() {
        for (std::size_t i = 0; i < run_.captures.size(); ++i) {
            if (capture::stop_requested()) {
                captures_.push_back({.file = run_.captures[i], .error = "interrupted before it was read"});
                complain("ipoib-conform", run_.captures[i] + ": interrupted before it was read");
                continue;
            }
            links::Observer observer;
            look_on(observer);
            reports::CaptureResult capture;
            const auto judge = read_capture(run_, i, capture);
            if (i) print("\n");
            show(judge, observer, {capture});
            captures_.push_back(std::move(capture));
        }
    }
    void look_on(links::Observer& observer) {
        run_.listener = observer.listener();
        run_.onlooker = observer.onlooker();
    }
    void show(const Judge& judge, const links::Observer& observer,
              const std::vector<reports::CaptureResult>& captures) {
        bar_.clear();
        // Why nothing could be read is told once.
        const auto is_unreadable = [](const auto& capture) { return capture.packets == 0 && !capture.error.empty(); };
        if (!options_.json && std::ranges::all_of(captures, is_unreadable)) return;
        auto account = links::account_of(judge, observer);
        account.notes.insert(account.notes.end(), hosts_.notes.begin(), hosts_.notes.end());
        if (!hosts_.hosts.empty()) links::add_hosts(account, hosts_.hosts, *statements_);
        if (options_.json)
            links::to_json(account, captures, choice_,
                           [](std::string piece) { print(std::move(piece), Notation::json); });
        else
            links::to_text(account, captures, choice_, [](std::string piece) { print(std::move(piece)); });
    }

    const LinksOptions& options_;
    links::Choice choice_;
    Statements statements_;
    HostsTold hosts_;
    PassiveRun run_;
    ProgressBar bar_;
    std::vector<reports::CaptureResult> captures_;
};

Action set_up_links(CLI::App& command, const std::string&) {
    auto options = std::make_shared<LinksOptions>();
    command.add_option("CAPTURE", options->captures, "Captures (pcap, pcapng, also compressed; '-' is standard input)")
        ->required()
        ->type_name(" ");
    add_knowledge_options(command, options->knowledge, false);
    add_host_state_option(command, options->host_states);
    add_threads_option(command, options->threads);
    command.add_option("--link", options->link, "Only this link: its P_Key, or as it is printed (fe80::/0x8001)")
        ->type_name("LINK")
        ->check(not_empty());
    command.add_option("--group", options->group, "Only this group: IP group, MGID, or 'broadcast'")
        ->type_name("GROUP")
        ->check(not_empty());
    command.add_option("--host", options->host, "Only this port: IP address, GUID, LID or GID")
        ->type_name("HOST")
        ->check(not_empty());
    command.add_flag("--findings-only", options->findings_only, "Only what is wrong, all of it");
    command.add_flag("--json", options->json, "As JSON (docs/links.md)");
    command.footer(
        "Exit code: 0 all was read, 3 a capture is damaged or was not read to its end, 2 wrong usage or no frame could "
        "be read. Findings do not change it: ipoib-conform check judges.");
    return [options] { return Teller{*options}.tell(); };
}

}  // namespace

namespace command {

extern const Command links{
    .name = "links",
    .about = "What captures tell of each link: parameters, members, groups, and what is wrong in plain words",
    .set_up = set_up_links};

}  // namespace command
}  // namespace ipoib::conformance
