// SPDX-License-Identifier: GPL-2.0-or-later
// Counts what the rules say of each frame, and puts the verdicts into words.
#include "conformance/judge/judge.hpp"

#include "conformance/judge/force.hpp"
#include "protocol/wire/medium.hpp"
#include "protocol/wire/text.hpp"
#include "reports/failure.hpp"

#include <algorithm>

namespace ipoib::conformance {
using namespace wire;
using reports::NotJudged;
using reports::Verdict;
using state::Fact, state::facts;

namespace {

constexpr std::size_t most_details = 100, most_suspected = 100, most_details_suspected = 10;
/// The missing part that a person knows best.
std::string_view missing_part(Parts missing) {
    if (missing & parts(Part::mc_member, Part::sa, Part::mad)) return "no management packets";
    if (missing & parts(Part::mgid)) return "no MGID";
    if (missing & parts(Part::lrh, Part::grh, Part::bth, Part::deth)) return "no InfiniBand headers";
    if (missing & parts(Part::encap)) return "no encapsulation header";
    return "no IPoIB";
}

std::string count_of(std::uint64_t count, std::string_view what, std::uint64_t first) {
    return std::to_string(count) + ' ' + std::string(what) + " (first: frame " + std::to_string(first) + ')';
}

constexpr state::Facts of_broadcast_group = facts(Fact::broadcast_gid, Fact::broadcast_record) | state::whole_record;

/// Why packets could not be judged: of what was missing, what a person can do most about.
std::string_view what_is_missing(state::Facts missing) {
    const auto lacks = [missing](Fact fact) { return (missing & facts(fact)) != 0; };
    if (missing & (facts(Fact::broadcast_record) | state::whole_record))
        return "the broadcast group's MCMemberRecord is not in the capture before these packets, or it changes";
    if (lacks(Fact::broadcast_gid)) return "the link's broadcast-GID is not known, or the capture shows two";
    if (lacks(Fact::watched)) return "start of the link not captured, or not all of its traffic with the SA since";
    if (lacks(Fact::request)) return "the requests of these answers are not in the capture";
    if (lacks(Fact::group_record)) return "the group's MCMemberRecord is not in the capture before these packets";
    if (lacks(Fact::member)) return "what the SA told the sender of the group is not in the capture";
    if (lacks(Fact::path)) return "no path that the SA told the sender is in the capture";
    if (lacks(Fact::neighbour)) return "the receiver's link-layer address is not announced in the capture";
    return "the ports that these packets go between are not known";
}

std::string overlooked_duties(std::uint64_t count) {
    return std::to_string(count) + (count == 1 ? " time" : " times") +
           " a port had to do something while as many duties were open as are kept: whether it did so is not judged";
}

/// A GUID that no port has vouches for nothing.
void tell_strangers(const std::vector<const state::Subnet*>& subnets, std::vector<std::string>& notes) {
    if (subnets.empty()) return;
    for (const auto& one : subnets.front()->vouched()) {
        const auto is_it = [&](const state::Port& port) { return port.gid.interface_id() == one.guid; };
        if (one.guid == 0 || std::ranges::any_of(subnets, [&](const state::Subnet* subnet) {
                return std::ranges::any_of(subnet->ports(), is_it);
            }))
            continue;
        notes.push_back("warning: --assume " + std::string(name(one.assumption)) + "=" + hex(one.guid, 16).substr(2) +
                        ": the capture shows no such port");
    }
}

void tell_doubts(const state::Doubts& doubts, std::vector<std::string>& notes) {
    const auto say = [&](std::uint64_t count, std::string_view one, std::string_view several) {
        if (count) notes.push_back(std::to_string(count) + ' ' + std::string(count == 1 ? one : several));
    };
    say(doubts.unbelieved, "answer of the SA comes from a LID that was not asked; it is not believed",
        "answers of the SA come from a LID that was not asked; they are not believed");
    say(doubts.disputes, "broadcast group was told in two ways; each port is judged by what it was told",
        "times a broadcast group was told in two ways; each port is judged by what it was told");
    say(doubts.contradicted, "time the SA says something else than --assume or --sa",
        "times the SA says something else than --assume or --sa");
    say(doubts.foreign,
        "packet looks like IPoIB, but nothing in the capture ties it to it: no link-layer address that announces its "
        "queue pairs, no group, no connection of it; it is not judged",
        "packets look like IPoIB, but nothing in the capture ties them to it: no link-layer address that announces "
        "their queue pairs, no group, no connection of it; they are not judged");
    say(doubts.prefixes > state::Doubts::most_prefixes ? doubts.prefixes : 0, "",
        "times the subnet prefix was told anew; it is taken for not known");
    say(doubts.broken_tables, "table of the SA did not come whole", "tables of the SA did not come whole");
    say(doubts.not_kept, "time a port, group or membership was one too many to keep; verdicts on it may lack",
        "times a port, group or membership was one too many to keep; verdicts on it may lack");
}

}  // namespace

std::optional<Medium> medium_of(capture::LinkType link_type) noexcept {
    const auto* found = find_medium(static_cast<std::uint16_t>(link_type));
    return found ? std::optional{found->medium} : std::nullopt;
}

Judge::Judge(std::vector<const rules::Rule*> rules, std::uint32_t capture_index, Listener listener,
             JudgeOptions options)
    : inspector_(std::move(rules), std::move(options)),
      findings_(inspector_.rules().size()),
      capture_index_(capture_index),
      listener_(std::move(listener)) {}

void Judge::frame(const capture::Frame& frame, Origin origin, std::uint32_t capture_index) {
    take(frame, origin, capture_index, nullptr);
}
void Judge::frame(const Sighting& sighting, const inspection::Examined& examined) {
    take(sighting.frame, sighting.origin, sighting.capture, &examined);
}

void Judge::take(const capture::Frame& frame, Origin origin, std::uint32_t capture_index,
                 const inspection::Examined* examined) {
    capture_index_ = capture_index;
    if (frame.link_type != latest_link_type_ || !latest_medium_) {
        latest_link_type_ = frame.link_type;
        latest_medium_ = medium_of(frame.link_type);
        if (latest_medium_) meets_medium();
    }
    if (!latest_medium_) {
        other_link_types_.add(frame.number);
        return;
    }
    now_ = frame.time_ns;
    if (began_ == 0) began_ = now_;
    const inspection::FrameView view{.octets = frame.octets,
                                     .wire_length = frame.wire_length,
                                     .medium = *latest_medium_,
                                     .sight = {frame.number, frame.time_ns, capture_index},
                                     .interface = frame.interface,
                                     .origin = origin,
                                     .lost = frame.lost,
                                     .lost_on = frame.lost_on};
    const bool is_judged = examined ? inspector_.take(view, *examined) : inspector_.take(view);
    const auto& packet = inspector_.packet();
    if (packet.foreign != Foreign::none) foreign_[static_cast<std::size_t>(packet.foreign)].add(frame.number);
    if (packet.is_truncated) truncated_.add(frame.number);
    if (packet.is_ipoib() && !(is_judged && inspector_.known().is_foreign)) ++ipoib_;
    const auto crcs = inspector_.crcs();
    if (crcs.vcrc == Check::bad) wrong_vcrc_.add(frame.number);
    if (crcs.icrc == Check::bad) wrong_icrc_.add(frame.number);
    if (packet.lrh && crcs.icrc == Check::absent) no_crc_.add(frame.number);
    if (!is_judged) return;
    judge(frame);
    if (onlooker_) onlooker_(packet, inspector_.known(), inspector_.subnet());
}

/// Frames of another link type than those before.
void Judge::meets_medium() {
    media_parts_ |= spec(*latest_medium_).shows;
    const auto medium_name = capture::name(latest_link_type_);
    if (std::ranges::find(media_names_, medium_name) == media_names_.end()) media_names_.emplace_back(medium_name);
}

void Judge::tell_loss(const capture::Loss& loss, Origin origin, std::string_view interface_name,
                      std::uint32_t capture_index) {
    inspector_.tell_loss(loss.interface, origin,
                         {.after = {loss.after.frame, loss.after.time_ns, capture_index},
                          .before = {loss.before.frame, loss.before.time_ns, capture_index},
                          .count = loss.count,
                          .interface = std::string(interface_name)});
}

namespace {

/// Takes what was the same for many packets.
struct Totals {
    const std::vector<const rules::Rule*>& rules;
    std::vector<Finding>& findings;

    void observed(std::size_t rule, std::uint64_t count, bool is_assumed) const {
        findings[rule].observed += count;
        if (is_assumed && (rules[rule]->knows & (of_broadcast_group | facts(Fact::group_record))))
            findings[rule].by_assumption += count;
    }
    void noted(std::size_t rule, std::uint64_t count) const { findings[rule].notes += count; }
    void unjudged(std::size_t rule, state::Facts missing, std::uint64_t count) const {
        findings[rule].unknown += count;
        findings[rule].missing |= missing;
    }
};

}  // namespace

/// Takes the answers of the rules.
struct Judge::Counter {
    Judge& judge;
    const capture::Frame& frame;
    bool is_assumed;

    [[nodiscard]] Totals totals() const { return {judge.rules(), judge.findings_}; }
    void observed(std::size_t rule, std::uint64_t count, bool assumed) const {
        totals().observed(rule, count, assumed);
    }
    void noted(std::size_t rule, std::uint64_t count) const { totals().noted(rule, count); }
    void unjudged(std::size_t rule, state::Facts missing, std::uint64_t count) const {
        totals().unjudged(rule, missing, count);
    }
    void unjudged(std::size_t rule, state::Facts missing) const { unjudged(rule, missing, 1); }
    void observed(std::size_t rule) const { observed(rule, 1, is_assumed); }
    void violated(std::size_t rule) const { judge.violated(rule, frame); }
    void noted(std::size_t rule) const { noted(rule, 1); }
    void kept(std::size_t rule) const { ++judge.findings_[rule].observed; }
    void overlooked(std::size_t rule) const { ++judge.findings_[rule].overlooked; }
    void accused(const inspection::Accusation& accusation) const { judge.accused(accusation); }
    void undecided(const inspection::Accusation& accusation, const state::Reason& lacks) const {
        judge.undecided(accusation, lacks);
    }
};

void Judge::settle() const { inspector_.settle(Totals{rules(), findings_}); }

void Judge::judge(const capture::Frame& frame) {
    inspector_.judge(Counter{*this, frame, inspector_.known().is_assumed()});
}

void Judge::keep(std::size_t index, reports::Detail detail) {
    auto& finding = findings_[index];
    ++finding.violations;
    if (listener_) listener_(*rules()[index], detail);
    if (finding.details.size() < most_details) finding.details.push_back(std::move(detail));
}

namespace {

reports::Detail detail_of(inspection::Violation violation, const state::Sight& sight, std::string subject,
                          std::string link, const Gid& group) {
    reports::Detail detail{.capture = sight.capture, .frame = sight.frame};
    detail.time = sight.time;
    if (!group.is_zero()) detail.group = text(group);
    detail.field = violation.field_name();
    detail.offset = static_cast<std::uint32_t>(violation.offset);
    detail.actual = std::move(violation.actual);
    detail.expected = std::move(violation.expected);
    detail.subject = std::move(subject);
    detail.link = std::move(link);
    return detail;
}
reports::Detail detail_of(const inspection::Accusation& accusation) {
    auto detail = detail_of(accusation.what, accusation.sight, accusation.subject, accusation.link, accusation.group);
    for (const auto& spec : state::assumption_specs)
        if (accusation.rests_on & state::assumptions(spec.assumption)) detail.assumed.emplace_back(spec.name);
    return detail;
}

}  // namespace

void Judge::violated(std::size_t index, const capture::Frame& frame) {
    if (findings_[index].details.size() >= most_details && !listener_) {
        ++findings_[index].violations;
        return;
    }
    const auto& packet = inspector_.packet();
    const auto& known = inspector_.known();
    keep(index,
         detail_of(inspection::describe(*rules()[index], packet, known), {frame.number, frame.time_ns, capture_index_},
                   inspection::sender_name(packet, known), inspection::link_name(packet, known, inspector_.subnet()),
                   inspection::group_of(packet, known)));
}

void Judge::accused(const inspection::Accusation& accusation) {
    auto& finding = findings_[accusation.rule];
    finding.vouched_for += accusation.rests_on != 0;
    finding.rests_on |= accusation.rests_on;
    keep(accusation.rule, detail_of(accusation));
}

void Judge::undecided(const inspection::Accusation& accusation, const state::Reason& lacks) {
    auto& finding = findings_[accusation.rule];
    ++finding.undecided;
    auto assume = inspection::assume_text(accusation.settled_by, accusation.vouched_for);
    auto same = std::ranges::find_if(finding.suspected, [&](const Suspected& one) {
        const auto& first = one.details.front();
        return one.doubt == lacks.doubt && one.assume == assume && first.subject == accusation.subject &&
               first.link == accusation.link && first.capture == accusation.sight.capture;
    });
    if (same == finding.suspected.end()) {
        if (finding.suspected.size() >= most_suspected) return;
        finding.suspected.push_back(
            {.doubt = lacks.doubt, .lacks = std::string(lacks.text), .assume = std::move(assume)});
        same = finding.suspected.end() - 1;
    }
    ++same->count;
    if (same->details.size() < most_details_suspected) same->details.push_back(detail_of(accusation));
}

void Judge::finish() { inspector_.finish(Counter{*this, capture::Frame{}, false}); }

std::string Judge::why_not_judged(std::size_t index, NotJudged& reason) const {
    const auto& rule = *rules()[index];
    reason = NotJudged::not_seen;
    if (media_names_.empty()) return "no frame of a link type that can be judged";
    if (const auto missing = rule.needs & ~media_parts_) {
        reason = NotJudged::link;
        std::string names;
        for (const auto& name : media_names_) names += (names.empty() ? "" : ", ") + name;
        return "link type " + names + " shows " + std::string(missing_part(missing));
    }
    if (findings_[index].overlooked > 0) return overlooked_duties(findings_[index].overlooked);
    if (rule.duty) return "nothing that calls for it, by a port whose start on the link is captured";
    if (findings_[index].unknown > 0) return std::string(what_is_missing(findings_[index].missing));
    return "no packet of this kind";
}

reports::Result Judge::result(std::size_t index) const {
    const auto& rule = *rules()[index];
    const auto& finding = findings_[index];
    reports::Result result{.id = std::string(rule.id), .title = std::string(rule.title), .capture = capture_index_};
    for (const auto* requirement : rule.checks)
        if (requirement) result.checks.emplace_back(requirement->id);
    result.observed = finding.observed;
    result.violations = finding.violations;
    result.details = finding.details;
    for (const auto& detail : finding.details) result.frames.push_back(detail.frame);
    const auto packets = std::to_string(finding.observed) + (finding.observed == 1 ? " packet" : " packets");
    if (finding.observed == 0) {
        result.message = why_not_judged(index, result.na);
        return result;
    }
    result.na = NotJudged::none;
    if (finding.notes)
        result.notes.push_back(std::to_string(finding.notes) + " of " + packets + ": " + std::string(rule.note));
    if (finding.by_assumption)
        result.notes.push_back(std::to_string(finding.by_assumption) + " of " + packets +
                               ": judged by what --assume or --sa says of the broadcast group");
    const auto first_words = [](const reports::Detail& first) {
        return "first in frame " + std::to_string(first.frame) + ": " +
               (first.field.empty() ? "" : first.field + " is ") + first.actual + ", expected " + first.expected;
    };
    if (finding.undecided > 0)
        result.notes.push_back(std::to_string(finding.undecided) + " of " + packets + ": not decided, since " +
                               finding.suspected.front().lacks);
    if (finding.vouched_for > 0)
        result.notes.push_back(std::to_string(finding.vouched_for) + " of " + packets + ": by what --assume says (" +
                               state::in_words(finding.rests_on) + ")");
    if (finding.overlooked > 0) result.notes.push_back(overlooked_duties(finding.overlooked));
    if (finding.violations == 0 && finding.undecided > 0) {
        result.verdict = Verdict::inconc;
        result.message = std::to_string(finding.undecided) + " of " + packets + " would break it, but " +
                         finding.suspected.front().lacks + "; " +
                         first_words(finding.suspected.front().details.front());
        return result;
    }
    if (finding.violations == 0 && finding.overlooked > 0) {
        result.na = NotJudged::not_seen;
        result.observed = 0;
        result.message = "held in " + packets + ", but " + overlooked_duties(finding.overlooked);
        return result;
    }
    if (finding.violations == 0) {
        result.verdict = Verdict::pass;
        result.message = "holds in " + packets;
        return result;
    }
    const bool is_must = rule.weight.value_or(rule.checks[0]->strength) == requirements::Strength::must;
    result.verdict = is_must ? Verdict::fail : Verdict::warn;
    if (is_must) result.fail_type = strongest_fail_type(rule.checks);
    result.message = reports::packets_message(result);
    return result;
}

std::vector<reports::Result> Judge::results() const {
    settle();
    std::vector<reports::Result> all;
    all.reserve(findings_.size());
    for (std::size_t i = 0; i < findings_.size(); ++i) all.push_back(result(i));
    return all;
}

std::vector<reports::Suspicion> Judge::suspicions() const {
    std::vector<reports::Suspicion> all;
    for (std::size_t i = 0; i < findings_.size(); ++i)
        for (const auto& one : findings_[i].suspected) {
            const auto& rule = *rules()[i];
            const auto& doubt = spec(one.doubt);
            reports::Suspicion suspicion{.doubt = std::string(doubt.name),
                                         .supposes = std::string(doubt.supposes),
                                         .lacks = one.lacks,
                                         .settled_by = std::string(doubt.settled_by),
                                         .assume = one.assume,
                                         .rule = std::string(rule.id),
                                         .title = std::string(rule.title),
                                         .count = one.count,
                                         .details = one.details};
            for (const auto* requirement : rule.checks)
                if (requirement) suspicion.checks.emplace_back(requirement->id);
            all.push_back(std::move(suspicion));
        }
    return all;
}

std::vector<std::string> Judge::notes() const {
    std::vector<std::string> notes;
    const auto tell = [&](const Tally& tally, std::string_view what) {
        if (tally.count) notes.push_back(count_of(tally.count, what, tally.first));
    };
    for (std::size_t i = 1; i < foreign_.size(); ++i) tell(foreign_[i], name(static_cast<Foreign>(i)));
    tell(truncated_, "frames are truncated and judged as far as they go");
    tell(wrong_icrc_, inspector_.icrc_was_ever_right()
                          ? "frames have a wrong ICRC; those of ports that also send right ones are not judged"
                          : "frames have a wrong ICRC, none a right one: the CRCs are not relied on");
    tell(wrong_vcrc_, "frames have a wrong VCRC");
    tell(no_crc_, "frames carry no ICRC");
    tell(other_link_types_, "frames of another link type were skipped");
    for (const auto* subnet : subnets()) {
        tell_doubts(subnet->doubts(), notes);
        for (const auto& one : subnet->contradictions()) notes.push_back("warning: " + one);
    }
    tell_strangers(subnets(), notes);
    std::uint64_t overlooked = 0;
    for (const auto& finding : findings_) overlooked += finding.overlooked;
    if (overlooked) notes.push_back(overlooked_duties(overlooked));
    return notes;
}

}  // namespace ipoib::conformance
