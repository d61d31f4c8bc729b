// SPDX-License-Identifier: GPL-2.0-or-later
// Reading captures and collecting what the judge found.
#include "conformance/engine/passive.hpp"

#include "protocol/requirements/catalogue.hpp"

#include <algorithm>

namespace ipoib::conformance {
namespace {

using reports::NotJudged;
using reports::Verdict;

constexpr std::uint64_t frames_between_progress = 4096;

/// Reads one capture to its end, as far as it can be read.
class CaptureRun {
public:
    CaptureRun(const PassiveRun& run, std::size_t index)
        : run_(run),
          index_(static_cast<std::uint32_t>(index)),
          reader_(capture::Reader::open(run.captures[index])),
          judge_(run.rules, index_, run.listener) {}

    void read(reports::Results& results) {
        const auto last = frames();
        auto captured = summary(last);
        auto judged = judge_.results();
        for (auto& result : judged) result.evidence = captured.file;
        std::ranges::move(judged, std::back_inserter(results.results));
        results.captures.push_back(std::move(captured));
    }

private:
    capture::Status frames() {
        capture::Frame frame;
        auto status = reader_.next(frame);
        for (; status == capture::Status::frame; status = reader_.next(frame)) {
            ++packets_;
            judge_.frame(frame, party(frame.interface));
            if (run_.progress && packets_ % frames_between_progress == 0)
                run_.progress(reader_.position(), reader_.size());
        }
        return status;
    }

    Party party(std::uint32_t interface) {
        if (interface >= parties_.size()) {
            for (auto i = static_cast<std::uint32_t>(parties_.size()); i <= interface; ++i)
                parties_.push_back(party_of(reader_.interface_name(i)));
        }
        return parties_[interface];
    }

    reports::CaptureResult summary(capture::Status last) {
        reports::CaptureResult summary{.file = run_.captures[index_],
                                       .link_type = reader_.file_link_type(),
                                       .packets = packets_,
                                       .ipoib = judge_.ipoib(),
                                       .notes = judge_.notes()};
        const auto& skipped = reader_.skipped();
        const auto tell = [&](std::uint64_t count, std::string_view what) {
            if (count) summary.notes.push_back(std::to_string(count) + ' ' + std::string(what));
        };
        tell(skipped.erf_other, "ERF records of another type than InfiniBand were skipped");
        tell(skipped.erf_malformed, "ERF records are shorter than their own headers");
        if (last == capture::Status::cut) summary.notes.push_back("the last record is cut off; all before it was read");
        if (last == capture::Status::corrupt) summary.error = reader_.error();
        if (capture::stop_requested()) summary.notes.push_back("interrupted; the verdicts are those so far");
        return summary;
    }

    const PassiveRun& run_;
    std::uint32_t index_;
    capture::Reader reader_;
    Judge judge_;
    std::uint64_t packets_ = 0;
    std::vector<Party> parties_;
};

constexpr std::array<std::pair<wire::Part, std::string_view>, 11> tag_names{{
    {wire::Part::arp, "arp"},
    {wire::Part::arp_addresses, "arp"},
    {wire::Part::nd, "nd"},
    {wire::Part::mgid, "mgid"},
    {wire::Part::encap, "encap"},
    {wire::Part::grh, "grh"},
    {wire::Part::ipv4, "ipv4"},
    {wire::Part::ipv6, "ipv6"},
    {wire::Part::mc_member, "sa"},
    {wire::Part::sa, "sa"},
    {wire::Part::connected, "connected"},
}};

std::pair<NotJudged, std::string_view> why_open(const requirements::Requirement& requirement) {
    using requirements::Test;
    if (has(requirement.test, Test::active))
        return {NotJudged::tester, "no rule of this run; needs a peer that provokes it"};
    if (has(requirement.test, Test::passive)) return {NotJudged::tester, "no rule of this run checks it"};
    return {NotJudged::inspection, "only inspection can tell"};
}

}  // namespace

std::string_view strength_name(requirements::Strength strength) noexcept {
    switch (strength) {
        case requirements::Strength::must:
            return "must";
        case requirements::Strength::should:
            return "should";
        case requirements::Strength::may:
            return "may";
    }
    return {};
}

reports::Results check(const PassiveRun& run) {
    reports::Results results;
    for (std::size_t i = 0; i < run.captures.size(); ++i) {
        if (capture::stop_requested()) {
            results.captures.push_back({.file = run.captures[i], .error = "interrupted before it was read"});
            continue;
        }
        CaptureRun capture{run, i};
        capture.read(results);
    }
    return results;
}

std::vector<Selectable> selectable_rules() {
    std::vector<Selectable> selectable;
    for (const auto& rule : rules::all()) {
        Selectable entry{
            .id = rule.id, .requirements = {}, .strength = strength_name(rule.checks[0]->strength), .tags = {}};
        for (const auto* requirement : rule.checks)
            if (requirement) entry.requirements.push_back(requirement->id);
        for (const auto& [part, tag] : tag_names)
            if (rule.needs & parts(part)) entry.tags.push_back(tag);
        selectable.push_back(std::move(entry));
    }
    return selectable;
}

std::vector<const rules::Rule*> selected_rules(const Selection& selection) {
    std::vector<const rules::Rule*> selected;
    const auto candidates = selectable_rules();
    for (std::size_t i = 0; i < candidates.size(); ++i)
        if (selection.matches(candidates[i])) selected.push_back(&rules::all()[i]);
    return selected;
}

std::vector<reports::RequirementMeta> catalogue_for_reports() {
    std::vector<reports::RequirementMeta> catalogue;
    for (const auto* requirement : requirements::all()) {
        const auto [reason, words] = why_open(*requirement);
        reports::RequirementMeta meta{.id = std::string(requirement->id),
                                      .level = std::string(requirement->level),
                                      .strength = std::string(strength_name(requirement->strength)),
                                      .section = std::string(requirement->section()),
                                      .statement = std::string(requirement->statement),
                                      .implies = {},
                                      .unjudged = reason,
                                      .reason = std::string(words)};
        for (const auto id : requirements::closure(*requirement))
            if (id != requirement->id) meta.implies.emplace_back(id);
        catalogue.push_back(std::move(meta));
    }
    return catalogue;
}

}  // namespace ipoib::conformance
