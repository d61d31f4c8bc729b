// SPDX-License-Identifier: GPL-2.0-or-later
// Tries: frames are left out, what is left is judged, and the excerpt is written and read again.
#include "conformance/excerpt/excerpt.hpp"

#include "base/listed.hpp"
#include "base/one_line.hpp"
#include "base/temporary_folder.hpp"
#include "conformance/excerpt/frames.hpp"
#include "conformance/judge/passive.hpp"
#include "conformance/links/account.hpp"
#include "conformance/shrink/shrink.hpp"
#include "fabric/capture/writer.hpp"
#include "protocol/requirements/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <set>

namespace ipoib::excerpt {
using conformance::Judge;
using shrink::Items;

namespace {

using Rules = std::vector<const rules::Rule*>;

/// What is meant by the name of a finding: rules, or something that no text forbids.
class Meaning {
public:
    explicit Meaning(const std::string& name) : name_(name) {
        const auto* requirement = requirements::find(name);
        for (const auto& rule : rules::all())
            if (rule.id == name || (requirement && bears_on(rule, *requirement))) rules_.push_back(&rule);
        const bool is_word =
            !name.empty() && std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
        if (rules_.empty() && requirement)
            throw std::invalid_argument("no rule judges " + name + " by captures (ipoib-conform explain " + name + ')');
        if (rules_.empty() && !is_word)
            throw std::invalid_argument("'" + name +
                                        "' is neither a rule nor a requirement (ipoib-conform list), nor the name of a "
                                        "finding (ipoib-conform links)");
    }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const Rules& rules() const noexcept { return rules_; }
    [[nodiscard]] bool is_of_links() const noexcept { return rules_.empty(); }
    [[nodiscard]] bool has(const rules::Rule& rule) const { return std::ranges::find(rules_, &rule) != rules_.end(); }

private:
    static bool bears_on(const rules::Rule& rule, const requirements::Requirement& wanted) {
        return std::ranges::any_of(rule.checks, [&](const auto* checked) {
            if (!checked) return false;
            const auto implied = requirements::closure(*checked);
            return std::ranges::find(implied, wanted.id) != implied.end();
        });
    }

    std::string name_;
    Rules rules_;
};

/// What some frames of a capture show.
struct Shown {
    std::map<std::size_t, std::string> wanted;           ///< by index of the frame, what shows it
    std::map<std::string, std::set<std::size_t>> other;  ///< by name of rule or finding
    [[nodiscard]] std::vector<std::string> other_names() const {
        std::vector<std::string> names;
        names.reserve(other.size());
        for (const auto& one : other) names.push_back(one.first);
        return names;
    }
};

class Trials {
public:
    Trials(const Request& request, const Meaning& meaning, const Frames& frames)
        : request_(request), meaning_(meaning), frames_(frames), options_(request.judge) {
        // As the excerpt will be read: a pcapng that does not say that it is whole.
        options_.is_whole = false;
        options_.tells_loss_late = true;
    }

    /// Of the wanted only, unless all is asked for.
    [[nodiscard]] Shown look(Items items, bool at_all) const {
        Shown shown;
        const bool looks_on = at_all || meaning_.is_of_links();
        links::Observer observer;
        const auto note = observer.listener();
        Judge judge{looks_on ? rules::every() : meaning_.rules(), 0,
                    [&](const rules::Rule& rule, const reports::Detail& detail) {
                        if (looks_on) note(rule, detail);
                        take(shown, items, rule, detail);
                    },
                    options_};
        if (looks_on) judge.set_onlooker(observer.onlooker());
        for (std::size_t i = 0; i < items.size(); ++i) {
            auto frame = frames_[items[i]];
            frame.number = i + 1;
            judge.frame(frame, inspection::origin_of(frames_.interface_name(frame.interface)));
        }
        judge.finish();
        if (looks_on) take(shown, items, links::account_of(judge, observer));
        return shown;
    }
    [[nodiscard]] bool holds(const Shown& shown) const {
        if (request_.wanted.frame == 0) return !shown.wanted.empty();
        return std::ranges::any_of(shown.wanted,
                                   [&](const auto& one) { return frames_[one.first].number == request_.wanted.frame; });
    }
    [[nodiscard]] const conformance::JudgeOptions& options() const noexcept { return options_; }

private:
    void take(Shown& shown, Items items, const rules::Rule& rule, const reports::Detail& detail) const {
        if (detail.frame == 0 || detail.frame > items.size()) return;
        const auto index = items[detail.frame - 1];
        if (!meaning_.has(rule)) {
            shown.other[std::string(rule.id)].insert(index);
            return;
        }
        shown.wanted.emplace(
            index, fmt::format("{}: {}{}, expected {}", rule.id, detail.field.empty() ? "" : detail.field + " is ",
                               detail.actual, detail.expected));
    }
    void take(Shown& shown, Items items, const links::Account& account) const {
        for (const auto& one : account.findings) {
            const bool is_meant = meaning_.is_of_links() && one.name == meaning_.name();
            if (!is_meant && !one.is_beyond) continue;
            if (is_meant && !one.rule.empty()) shown.other.erase(one.rule);
            for (const auto& sight : one.frames) {
                if (sight.frame == 0 || sight.frame > items.size()) continue;
                const auto index = items[sight.frame - 1];
                if (is_meant)
                    shown.wanted.emplace(index, one.name + ": " + one.text);
                else
                    shown.other[one.name].insert(index);
            }
        }
    }

    const Request& request_;
    const Meaning& meaning_;
    const Frames& frames_;
    conformance::JudgeOptions options_;
};

std::vector<std::size_t> picked(const std::vector<std::size_t>& from, Items items) {
    std::vector<std::size_t> list;
    list.reserve(items.size());
    for (const auto item : items) list.push_back(from[item]);
    return list;
}

/// Fewer frames, as long as they show what is wanted; if it can be, nothing else.
class Search {
public:
    Search(const Request& request, const Trials& trials) : request_(request), trials_(trials) {}

    /// Of frames that show it.
    Excerpt execute(const std::vector<std::size_t>& all) {
        leave_out_others(all);
        try_all_smaller(all);
        return std::move(excerpt_);
    }
    [[nodiscard]] const std::vector<std::size_t>& kept() const noexcept { return kept_; }

private:
    [[nodiscard]] bool is_stopped() const { return request_.is_stopped && request_.is_stopped(); }
    bool holds(const std::vector<std::size_t>& frames) {
        if (is_stopped()) return false;
        ++excerpt_.tries;
        const bool is_held = trials_.holds(trials_.look(frames, false));
        if (is_held && request_.progress) request_.progress(frames.size(), excerpt_.tries);
        return is_held;
    }
    /// Without any one of them it is not shown.
    std::vector<std::size_t> fewest(const std::vector<std::size_t>& from, bool& is_minimal) {
        const auto shrunk = shrink::fewest(from.size(), [&](Items items) { return holds(picked(from, items)); });
        is_minimal = shrunk.is_minimal && !is_stopped();
        return picked(from, shrunk.items);
    }
    /// Where the few that are left show something else, those are sought that do without the frames that show it.
    void leave_out_others(std::vector<std::size_t> from) {
        constexpr int rounds = 16;
        for (int i = 0; i < rounds; ++i) {
            bool is_minimal = false;
            auto found = fewest(from, is_minimal);
            const auto shown = trials_.look(found, true);
            if (i == 0 || shown.other.size() < excerpt_.others.size()) {
                excerpt_.others = shown.other_names();
                excerpt_.is_minimal = is_minimal;
                kept_ = std::move(found);
            }
            if (shown.other.empty()) return;
            auto fewer = without(from, shown, false);
            if (!holds(fewer)) fewer = without(from, shown, true);
            if (fewer.size() == from.size() || !holds(fewer)) return;
            from = std::move(fewer);
        }
    }
    static std::vector<std::size_t> without(std::vector<std::size_t> from, const Shown& shown, bool keeps_wanted) {
        std::erase_if(from, [&](std::size_t index) {
            if (keeps_wanted && shown.wanted.contains(index)) return false;
            return std::ranges::any_of(shown.other, [&](const auto& one) { return one.second.contains(index); });
        });
        return from;
    }
    /// That none of a few can go alone does not say that there are not fewer others. Of a short capture all sets are
    /// tried that are smaller than what was found.
    void try_all_smaller(const std::vector<std::size_t>& all) {
        constexpr std::size_t most_sets = 20'000;
        std::size_t sets = 1;
        for (std::size_t size = 1; size < kept_.size(); ++size) {
            sets = sets * (all.size() - size + 1) / size;
            if (sets > most_sets) return;
            if (try_all_of(all, size)) return;
        }
    }
    bool try_all_of(const std::vector<std::size_t>& all, std::size_t size) {
        std::vector<std::size_t> items(size);
        std::iota(items.begin(), items.end(), std::size_t{0});
        do {
            auto frames = picked(all, items);
            if (!holds(frames)) continue;
            auto other = trials_.look(frames, true).other_names();
            if (other.size() > excerpt_.others.size()) continue;
            kept_ = std::move(frames);
            excerpt_.others = std::move(other);
            return true;
        } while (!is_stopped() && next(items, all.size()));
        return false;
    }
    /// The next of the sets of so many of `count` items; false after the last one.
    static bool next(std::vector<std::size_t>& items, std::size_t count) {
        for (auto i = items.size(); i-- > 0;) {
            if (items[i] == count - (items.size() - i)) continue;
            std::iota(items.begin() + static_cast<std::ptrdiff_t>(i), items.end(), items[i] + 1);
            return true;
        }
        return false;
    }

    const Request& request_;
    const Trials& trials_;
    Excerpt excerpt_;
    std::vector<std::size_t> kept_;
};

/// Reads until it is shown, and no further; of what tells it only at its end, all. The indices of the frames.
std::vector<std::size_t> read_until_shown(const Request& request, const Meaning& meaning, Frames& frames,
                                          const Trials& trials) {
    bool is_shown = false;
    Judge judge{meaning.rules(), 0,
                [&](const rules::Rule&, const reports::Detail& detail) {
                    is_shown = is_shown || request.wanted.frame == 0 || detail.frame == request.wanted.frame;
                },
                request.judge};
    std::vector<std::size_t> all;
    const auto read = [&] {
        if (!frames.read(most_octets)) return false;
        all.push_back(all.size());
        return true;
    };
    const auto holds = [&] { return trials.holds(trials.look(all, false)); };
    while (!is_shown && read()) {
        const auto frame = frames[frames.size() - 1];
        judge.frame(frame, inspection::origin_of(frames.interface_name(frame.interface)));
    }
    if (all.empty()) throw std::invalid_argument(request.capture + " holds no frame");
    if (holds()) return all;
    // What is after it may be what proves it.
    while (read()) {
    }
    if (!holds()) {
        const auto other = trials.look(all, true).other_names();
        const auto what = request.wanted.frame == 0
                              ? request.wanted.name
                              : fmt::format("{} in frame {}", request.wanted.name, request.wanted.frame);
        throw NotThere(fmt::format("{} does not show {} as frames alone: {}", request.capture, what,
                                   other.empty()
                                       ? std::string("they show nothing that is wrong")
                                       : "they show " + listed(other, [](const std::string& name) { return name; })));
    }
    return all;
}

void write(const std::string& path, const Request& request, const Frames& frames, const std::vector<std::size_t>& kept,
           const Shown& shown) {
    const auto name = std::filesystem::path(request.capture).filename().string();
    auto writer = capture::Writer::pcapng(
        path, one_line(fmt::format("the fewest frames of {} that show {}", name, request.wanted.name)));
    std::map<std::pair<std::uint32_t, capture::LinkType>, std::uint32_t> interfaces;
    for (const auto index : kept) {
        const auto frame = frames[index];
        const auto [place, is_new] = interfaces.try_emplace({frame.interface, frame.link_type});
        // Not every Wireshark knows the link type of InfiniBand; all know it as ERF.
        const auto link_type =
            frame.link_type == capture::LinkType::infiniband ? capture::LinkType::erf : frame.link_type;
        if (is_new) place->second = writer.add_interface(link_type, frames.interface_name(frame.interface));
        const auto what = shown.wanted.find(index);
        writer.write(
            frame.time_ns, frame.octets, place->second, frame.wire_length,
            one_line(fmt::format("frame {} of {}{}{}", frame.number, name, what == shown.wanted.end() ? "" : "; ",
                                 what == shown.wanted.end() ? std::string{} : what->second)));
    }
    writer.close();
}

/// What a file shows to `check` is what was meant to be in it.
void look_again(const std::string& path, const Trials& trials, const Shown& meant) {
    conformance::PassiveRun run{.captures = {path}, .rules = rules::every(), .judge = trials.options()};
    run.judge.tells_loss_late = false;  // it tells itself
    std::set<std::string> names;
    run.listener = [&](const rules::Rule& rule, const reports::Detail&) { names.emplace(rule.id); };
    reports::CaptureResult summary;
    (void)conformance::read_capture(run, 0, summary);
    const bool is_so = std::ranges::all_of(
        meant.other, [&](const auto& one) { return !one.first.starts_with("RULE-") || names.contains(one.first); });
    bool is_there = meant.wanted.empty();
    for (const auto& one : meant.wanted) {
        const auto rule = one.second.substr(0, one.second.find(':'));
        is_there = is_there || !rule.starts_with("RULE-") || names.contains(rule);
    }
    if (!is_so || !is_there || !summary.error.empty())
        throw std::runtime_error("the excerpt does not show what its frames showed in memory: " + summary.error);
}

std::string octets_of(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace

Excerpt fewest_frames(const Request& request) {
    const Meaning meaning{request.wanted.name};
    Frames frames{request.capture};
    const Trials trials{request, meaning, frames};
    const auto all = read_until_shown(request, meaning, frames, trials);
    Search search{request, trials};
    auto excerpt = search.execute(all);
    excerpt.of = frames.size();
    for (const auto index : search.kept()) excerpt.frames.push_back(frames[index].number);
    const auto shown = trials.look(search.kept(), true);
    const TemporaryFolder folder;
    const auto path = folder / "excerpt.pcapng";
    write(path, request, frames, search.kept(), shown);
    look_again(path, trials, shown);
    excerpt.file = octets_of(path);
    return excerpt;
}

}  // namespace ipoib::excerpt
