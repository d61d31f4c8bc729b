// SPDX-License-Identifier: GPL-2.0-or-later
// Reading captures and collecting what the judge found.
#include "conformance/judge/passive.hpp"

#include "fabric/capture/wholeness.hpp"
#include "protocol/requirements/catalogue.hpp"

#include <algorithm>
#include <filesystem>

namespace ipoib::conformance {
namespace {

using reports::NotJudged;

/// One capture, frame by frame, with who sends at each of its interfaces.
class OpenCapture {
public:
    explicit OpenCapture(const std::string& path)
        : path_(path), wholeness_(capture::wholeness_of(path)), reader_(capture::Reader::open(path)) {}

    /// Whether there is another frame.
    bool next() { return next(frame_); }
    bool next(capture::Frame& frame) {
        status_ = reader_.next(frame);
        if (status_ != capture::Status::frame) {
            was_stopped_ = status_ == capture::Status::end && capture::stop_requested();
            return false;
        }
        ++packets_;
        if (began_ == 0) began_ = frame.time_ns;
        ended_ = frame.time_ns;
        if (frame.lost != 0) add_up(lost_before_, frame.lost);
        return true;
    }
    [[nodiscard]] const capture::Frame& frame() const noexcept { return frame_; }
    Origin origin(const capture::Frame& frame) { return origin(frame.interface); }
    /// Its losses, too, are of capture `index` of those judged.
    void show_losses(const Supply& to, std::uint32_t index) {
        reader_.on_loss([this, &to, index](const capture::Loss& loss) {
            add_up(lost_, loss.count);
            to.on_loss({.loss = loss,
                        .origin = origin(loss.interface),
                        .interface_name = std::string(reader_.interface_name(loss.interface)),
                        .capture = index});
        });
    }
    void on_wait(std::function<void()> listener) { reader_.on_wait(std::move(listener)); }
    /// Nothing is missing in it: it says so, and is still as it was written.
    [[nodiscard]] bool is_whole() const noexcept { return wholeness_ == capture::Wholeness::whole; }
    [[nodiscard]] bool tells_loss_late() const noexcept { return reader_.tells_loss_late(); }
    [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> progress() const {
        return {reader_.position(), reader_.size()};
    }
    [[nodiscard]] reports::CaptureResult summary() const {
        reports::CaptureResult summary{.file = path_, .link_type = reader_.file_link_type(), .packets = packets_};
        summary.began = began_;
        summary.ended = ended_;
        const auto& skipped = reader_.skipped();
        const auto tell = [&](std::uint64_t count, std::string_view what) {
            if (count) summary.notes.push_back(std::to_string(count) + ' ' + std::string(what));
        };
        tell(skipped.erf_other, "ERF records of another type than InfiniBand were skipped");
        tell(skipped.erf_malformed, "ERF records are shorter than their own headers");
        // Statistics count again what single packets tell.
        if (const auto lost = std::max(lost_, lost_before_); lost != 0)
            summary.notes.push_back("the capture says that " + std::to_string(lost) +
                                    (lost == 1 ? " packet was dropped" : " packets were dropped") +
                                    ": violations that need it whole there are not decided");
        if (wholeness_ == capture::Wholeness::changed)
            summary.notes.emplace_back("it says that it is complete, but it is not as it was written: not believed");
        if (status_ == capture::Status::cut)
            summary.notes.push_back("the last record is cut off; all before it was read");
        if (status_ == capture::Status::corrupt) summary.error = reader_.error();
        // To stop a live capture is its end; a file has frames that nobody has judged.
        if (was_stopped_ && is_file_)
            summary.error = path_ + ": interrupted; the verdicts are those of what was read until then";
        else if (was_stopped_)
            summary.notes.emplace_back("interrupted; the verdicts are those so far");
        return summary;
    }

private:
    static void add_up(std::uint64_t& sum, std::uint64_t more) noexcept {
        if (__builtin_add_overflow(sum, more, &sum)) sum = ~std::uint64_t{0};
    }
    Origin origin(std::uint32_t interface) {
        while (interface >= origins_.size())
            origins_.push_back(
                inspection::origin_of(reader_.interface_name(static_cast<std::uint32_t>(origins_.size()))));
        return origins_[interface];
    }

    const std::string& path_;
    capture::Wholeness wholeness_;
    capture::Reader reader_;
    capture::Frame frame_;
    capture::Status status_ = capture::Status::end;
    std::int64_t began_ = 0, ended_ = 0;
    std::uint64_t packets_ = 0, lost_ = 0, lost_before_ = 0;
    std::vector<Origin> origins_;
    bool is_file_ = path_ != "-" && std::filesystem::is_regular_file(path_), was_stopped_ = false;
};

/// Captures, in the order of their frames' times.
class Captures final : public Supply {
public:
    /// Counted from `first` among those of the run.
    Captures(std::span<const std::string> paths, std::size_t first) : first_(first) {
        for (const auto& path : paths) captures_.push_back(std::make_unique<OpenCapture>(path));
        has_frame_.resize(captures_.size());
    }
    bool next(Sighting& sighting) override {
        if (captures_.size() == 1) return next_of_one(sighting);
        if (!has_begun_) begin();
        if (latest_ < captures_.size()) has_frame_[latest_] = captures_[latest_]->next();
        latest_ = captures_.size();
        for (std::size_t i = 0; i < captures_.size(); ++i)
            if (has_frame_[i] &&
                (latest_ == captures_.size() || captures_[i]->frame().time_ns < captures_[latest_]->frame().time_ns))
                latest_ = i;
        if (latest_ == captures_.size()) return false;
        auto& capture = *captures_[latest_];
        sighting = {capture.frame(), capture.origin(capture.frame()), index(latest_)};
        return true;
    }
    void on_wait(std::function<void()> listener) override {
        for (auto& capture : captures_) capture->on_wait(listener);
    }
    [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> progress() const override {
        return captures_.size() == 0 ? std::pair<std::uint64_t, std::uint64_t>{}
                                     : captures_[std::min(latest_, captures_.size() - 1)]->progress();
    }
    [[nodiscard]] const std::vector<std::unique_ptr<OpenCapture>>& all() const noexcept { return captures_; }

private:
    bool next_of_one(Sighting& sighting) {
        auto& capture = *captures_.front();
        if (!has_begun_) capture.show_losses(*this, index(0));
        has_begun_ = true;
        if (!capture.next(sighting.frame)) return false;
        sighting.origin = capture.origin(sighting.frame);
        sighting.capture = index(0);
        return true;
    }
    void begin() {
        has_begun_ = true;
        for (std::size_t i = 0; i < captures_.size(); ++i) {
            captures_[i]->show_losses(*this, index(i));
            has_frame_[i] = captures_[i]->next();
        }
    }
    [[nodiscard]] std::uint32_t index(std::size_t i) const noexcept { return static_cast<std::uint32_t>(first_ + i); }

    std::size_t first_;
    std::vector<std::unique_ptr<OpenCapture>> captures_;
    std::vector<bool> has_frame_;
    std::size_t latest_ = ~std::size_t{0};  ///< whose frame was given; beyond the last: none
    bool has_begun_ = false;
};

/// All that the captures have; how many of the packets of each are IPoIB.
std::vector<std::uint64_t> judge_all(const PassiveRun& run, Captures& captures, std::size_t first, Judge& judge) {
    std::vector<std::uint64_t> ipoib(captures.all().size());
    judge.set_onlooker(run.onlooker);
    hand_over(
        captures, judge.rule_list(), run.crew,
        {.frame =
             [&](const Sighting& sighting, const inspection::Examined& examined) {
                 const auto before = judge.ipoib();
                 judge.frame(sighting, examined);
                 ipoib[sighting.capture - first] += judge.ipoib() - before;
             },
         .loss =
             [&](const ToldLoss& told) { judge.tell_loss(told.loss, told.origin, told.interface_name, told.capture); },
         .progress = run.progress});
    judge.finish();
    return ipoib;
}

void add(std::vector<std::string>& notes, std::vector<std::string> more) {
    std::ranges::move(more, std::back_inserter(notes));
}

}  // namespace

Judge read_capture(const PassiveRun& run, std::size_t index, reports::CaptureResult& summary) {
    Captures captures{std::span{run.captures}.subspan(index, 1), index};
    const auto& capture = *captures.all().front();
    auto options = run.judge;
    options.tells_loss_late = capture.tells_loss_late();
    options.is_whole = options.is_whole || capture.is_whole();
    Judge judge{run.rules, static_cast<std::uint32_t>(index), run.listener, std::move(options)};
    judge_all(run, captures, index, judge);
    summary = capture.summary();
    summary.ipoib = judge.ipoib();
    add(summary.notes, judge.notes());
    if (run.finished) run.finished(judge, summary);
    return judge;
}

Judge read_together(const PassiveRun& run, std::vector<reports::CaptureResult>& summaries) {
    Captures captures{run.captures, 0};
    auto options = run.judge;
    // What one lacks while another goes on, it tells only with its next packet.
    options.tells_loss_late = captures.all().size() > 1;
    for (const auto& capture : captures.all())
        options.tells_loss_late = options.tells_loss_late || capture->tells_loss_late();
    // Between two captures that are whole there may have been anything.
    options.is_whole = options.is_whole || (captures.all().size() == 1 && captures.all().front()->is_whole());
    Judge judge{run.rules, 0, run.listener, std::move(options)};
    const auto ipoib = judge_all(run, captures, 0, judge);
    for (std::size_t i = 0; i < captures.all().size(); ++i) {
        summaries.push_back(captures.all()[i]->summary());
        summaries.back().ipoib = ipoib[i];
    }
    if (!summaries.empty()) add(summaries.front().notes, judge.notes());
    if (!summaries.empty() && run.finished) run.finished(judge, summaries.front());
    return judge;
}

namespace {

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

std::string force_name(const requirements::Requirement& requirement) {
    using requirements::Strength;
    if (requirement.strength == Strength::must) return requirement.has_keyword() ? "MUST" : "STATED";
    return requirement.strength == Strength::should ? "SHOULD" : "MAY";
}

std::vector<std::string> selected_requirements(const Selection& selection, const std::vector<Selectable>& judges) {
    std::vector<std::string> selected;
    for (const auto* requirement : requirements::all()) {
        const Selectable alone{.id = requirement->id,
                               .requirements = {requirement->id},
                               .strength = strength_name(requirement->strength),
                               .tags = {},
                               .status = name(requirement->status())};
        bool is_checked = false, is_meant = false;
        for (const auto& judge : judges) {
            if (std::ranges::find(judge.requirements, requirement->id) == judge.requirements.end()) continue;
            is_checked = true;
            auto by_this = alone;
            by_this.id = judge.id;
            by_this.tags = judge.tags;
            is_meant = is_meant || (selection.matches(judge) && selection.matches(by_this));
        }
        if (is_checked ? is_meant : selection.matches(alone)) selected.emplace_back(requirement->id);
    }
    return selected;
}

reports::Results check(const PassiveRun& run) {
    reports::Results results;
    if (run.judge.is_one_subnet) {
        const auto judge = read_together(run, results.captures);
        auto judged = judge.results();
        results.suspicions = judge.suspicions();
        for (auto& result : judged) {
            result.capture = result.details.empty() ? 0 : result.details.front().capture;
            result.evidence = results.captures.at(result.capture).file;
        }
        results.results = std::move(judged);
        return results;
    }
    for (std::size_t i = 0; i < run.captures.size(); ++i) {
        if (capture::stop_requested()) {
            results.captures.push_back({.file = run.captures[i], .error = "interrupted before it was read"});
            continue;
        }
        reports::CaptureResult summary;
        const auto judge = read_capture(run, i, summary);
        auto judged = judge.results();
        std::ranges::move(judge.suspicions(), std::back_inserter(results.suspicions));
        for (auto& result : judged) result.evidence = summary.file;
        std::ranges::move(judged, std::back_inserter(results.results));
        results.captures.push_back(std::move(summary));
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
        entry.status = status_of(rule.checks);
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
                                      .reason = std::string(words),
                                      .force = force_name(*requirement),
                                      .status = std::string(name(requirement->status()))};
        for (const auto id : requirements::closure(*requirement))
            if (id != requirement->id) meta.implies.emplace_back(id);
        catalogue.push_back(std::move(meta));
    }
    return catalogue;
}

}  // namespace ipoib::conformance
