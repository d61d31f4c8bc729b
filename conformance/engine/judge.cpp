// SPDX-License-Identifier: GPL-2.0-or-later
// One pass over a capture: decode, check the CRCs, learn the link, ask the rules.
#include "conformance/engine/judge.hpp"

#include "protocol/wire/text.hpp"

#include <algorithm>

namespace ipoib::conformance {
using namespace wire;
using reports::NotJudged;
using reports::Verdict;
using state::Fact, state::facts;

namespace {

constexpr std::size_t most_details = 100;
constexpr Parts infiniband_only =
    parts(Part::lrh, Part::grh, Part::bth, Part::deth, Part::mad, Part::sa, Part::mc_member, Part::connected);

/// What frames of a medium can show.
Parts parts_of(Medium medium) {
    switch (medium) {
        case Medium::infiniband:
            return ~Parts{0};
        case Medium::ipoib:
            return ~infiniband_only;
        case Medium::linux_sll:
        case Medium::linux_sll2:
            return ~(infiniband_only | parts(Part::encap, Part::mgid));
        case Medium::ethernet:
            return 0;
    }
    return 0;
}

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

std::string port_name(const state::Port& port) {
    return port.gid.is_zero() ? "LID " + hex(port.lid, 4) : hex(port.gid.interface_id(), 16).substr(2);
}

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

void tell_doubts(const state::Doubts& doubts, std::vector<std::string>& notes) {
    const auto say = [&](std::uint64_t count, std::string_view what) {
        if (count) notes.push_back(std::to_string(count) + ' ' + std::string(what));
    };
    say(doubts.unbelieved, "answers of the SA come from a LID that was not asked; they are not believed");
    say(doubts.disputes, "times a broadcast group was told in two ways; its link is not judged by it");
    say(doubts.contradicted, "times the SA says something else than --assume or --sa");
    say(doubts.broken_tables, "tables of the SA did not come whole");
    say(doubts.not_kept, "times a port, group or membership was one too many to keep; verdicts on it may lack");
}

bool binds_party(const rules::Rule& rule, Party party) {
    using requirements::Binds;
    const auto binds = rule.checks[0]->binds;
    switch (party) {
        case Party::anyone:
            return true;
        case Party::tester:
        case Party::bystander:
            return false;
        case Party::sa:
            return has(binds, Binds::sa | Binds::administrator);
        case Party::dut:
            return has(binds, Binds::interface | Binds::router | Binds::hca | Binds::dhcp_client);
    }
    return true;
}

}  // namespace

Party party_of(std::string_view interface_name) noexcept {
    if (interface_name == "dut") return Party::dut;
    if (interface_name == "tester") return Party::tester;
    if (interface_name == "sa") return Party::sa;
    if (interface_name == "other") return Party::bystander;
    return Party::anyone;
}

std::optional<Medium> medium_of(capture::LinkType link_type) noexcept {
    switch (link_type) {
        case capture::LinkType::infiniband:
            return Medium::infiniband;
        case capture::LinkType::ipoib:
            return Medium::ipoib;
        case capture::LinkType::linux_sll:
            return Medium::linux_sll;
        case capture::LinkType::linux_sll2:
            return Medium::linux_sll2;
        case capture::LinkType::ethernet:
            return Medium::ethernet;
        case capture::LinkType::erf:
            break;  // the reader has taken the ERF header off
    }
    return {};
}

Judge::Judge(std::vector<const rules::Rule*> rules, std::uint32_t capture_index, Listener listener,
             JudgeOptions options)
    : rules_(std::move(rules)),
      findings_(rules_.size()),
      capture_index_(capture_index),
      listener_(std::move(listener)),
      options_(std::move(options)) {}

/// The parties of an evidence file look at one subnet; other interfaces each at their own.
Judge::Fabric& Judge::fabric_of(std::uint32_t interface, Party party) {
    const bool is_shared = options_.is_one_subnet || party != Party::anyone;
    const auto index = is_shared ? 0 : std::min<std::size_t>(interface, most_fabrics - 1);
    if (index >= fabrics_.size()) fabrics_.resize(index + 1);
    if (!fabrics_[index]) {
        fabrics_[index] = std::make_unique<Fabric>(rules_);
        if (options_.assume) options_.assume(fabrics_[index]->subnet);
    }
    return *fabrics_[index];
}

/// A frame with a wrong ICRC never reaches a receiver, so it proves nothing of its sender. Some tools write no CRCs or
/// invalid ones: only where a port has shown a right ICRC is a wrong one taken for damage.
bool Judge::trust_crcs(const capture::Frame& frame) {
    const auto checked = check_crcs(packet_.octets, packet_.tail);
    if (checked.vcrc == Check::bad) wrong_vcrc_.add(frame.number);
    const auto slid = packet_.lrh[Lrh::slid];
    if (checked.icrc == Check::good) fabric_->icrc_was_right[slid] = icrc_was_ever_right_ = true;
    if (checked.icrc == Check::absent) no_crc_.add(frame.number);
    if (checked.icrc != Check::bad) return true;
    wrong_icrc_.add(frame.number);
    return !fabric_->icrc_was_right[slid];
}

std::vector<const state::Subnet*> Judge::subnets() const {
    std::vector<const state::Subnet*> all;
    for (const auto& fabric : fabrics_)
        if (fabric) all.push_back(&fabric->subnet);
    return all;
}

void Judge::frame(const capture::Frame& frame, Party party, std::uint32_t capture_index) {
    capture_index_ = capture_index;
    const auto medium = medium_of(frame.link_type);
    if (!medium) {
        other_link_types_.add(frame.number);
        return;
    }
    now_ = frame.time_ns;
    decode(frame.octets, packet_, *medium, frame.wire_length);
    media_parts_ |= parts_of(*medium);
    const auto medium_name = capture::name(frame.link_type);
    if (std::ranges::find(media_names_, medium_name) == media_names_.end()) media_names_.emplace_back(medium_name);
    if (packet_.foreign != Foreign::none) foreign_[static_cast<std::size_t>(packet_.foreign)].add(frame.number);
    if (packet_.is_truncated) truncated_.add(frame.number);
    if (packet_.is_ipoib()) ++ipoib_;
    fabric_ = &fabric_of(frame.interface, party);
    if (packet_.lrh && !trust_crcs(frame)) return;
    const auto& known =
        fabric_->subnet.take(packet_, {frame.number, frame.time_ns, capture_index}, party == Party::tester);
    if (!options_.subject.is_anyone() && !is_subject(known.sender)) party = Party::bystander;
    judge(packet_, known, frame, party);
    judge_duties(party);
}

bool Judge::is_subject(const state::Port* port) const {
    return options_.subject.is_anyone() || options_.subject.matches(port);
}

const Judge::Plan& Judge::plan_for(Parts found, Party party) {
    const auto key = std::uint64_t{found} << 8 | static_cast<std::uint64_t>(party);
    auto& plan = plans_[(key * 0x9e3779b97f4a7c15u) >> 56];
    if (plan.key == key) return plan;
    plan.key = key;
    plan.rules.clear();
    for (std::size_t i = 0; i < rules_.size(); ++i)
        if (!rules_[i]->duty && (rules_[i]->needs & ~found) == 0 && binds_party(*rules_[i], party))
            plan.rules.push_back(static_cast<std::uint16_t>(i));
    return plan;
}

void Judge::judge(const Packet& packet, const state::Known& known, const capture::Frame& frame, Party party) {
    const bool is_assumed = known.link && known.link->source != state::Source::sa && known.broadcast;
    for (const auto index : plan_for(packet.found, party).rules) {
        const auto& rule = *rules_[index];
        auto& finding = findings_[index];
        if (const auto missing = rule.knows & ~known.facts) {
            ++finding.unknown;
            finding.missing |= missing;
            continue;
        }
        if (rule.applies && !rule.applies(packet, known)) continue;
        ++finding.observed;
        if (is_assumed && (rule.knows & (of_broadcast_group | facts(Fact::group_record)))) ++finding.by_assumption;
        if (rule.holds && !rule.holds(packet, known))
            violated(index, packet, known, frame);
        else if (rule.notes && rule.notes(packet, known))
            ++finding.notes;
    }
}

/// What the packet began or ended, and whose time is over.
void Judge::judge_duties(Party party) {
    const auto& subnet = fabric_->subnet;
    auto& duties = fabric_->duties;
    for (const auto& event : subnet.events()) {
        if (party == Party::tester || !is_subject(&subnet.port(event.port))) continue;
        duties.take(subnet, event, [&](std::size_t rule) { ++findings_[rule].observed; });
    }
    duties.expire(subnet, now_, [&](const Neglect& neglect) {
        ++findings_[neglect.rule].observed;
        const auto& rule = *rules_[neglect.rule];
        reports::Detail detail{.capture = neglect.began.capture, .frame = neglect.began.frame};
        detail.expected = std::string(rule.expected);
        detail.actual = "nothing of it within " + std::to_string(Duties::patience / 1'000'000'000) + " s";
        if (neglect.group != state::none) detail.actual += ", for " + text(subnet.groups()[neglect.group].mgid);
        detail.subject = port_name(subnet.port(neglect.port));
        detail.link = text(Gid::of(subnet.prefix(), 0)) + '/' + hex(neglect.link->p_key, 4);
        keep(neglect.rule, std::move(detail));
    });
}

std::string Judge::subject_of(const Packet& packet, const state::Known& known) const {
    if (known.sender) return port_name(*known.sender);
    if (packet.lrh) return "LID " + hex(packet.lrh[Lrh::slid], 4);
    if (packet.arp_addresses) return hex(packet.arp_addresses[ArpAddresses::sha_gid].interface_id(), 16).substr(2);
    if (packet.ipv4) return ipv4_text(packet.ipv4[Ipv4::source]);
    if (packet.ipv6) return text(packet.ipv6[Ipv6::source]);
    return "unknown";
}

std::string Judge::link_name(const Packet& packet, const state::Known& known) const {
    if (!packet.bth) return {};
    const auto prefix = packet.grh ? packet.grh[Grh::sgid].prefix() : fabric_->subnet.prefix();
    const auto p_key = known.link && known.link->p_key ? known.link->p_key : packet.bth[Bth::p_key];
    return text(Gid::of(prefix, 0)) + '/' + hex(p_key, 4);
}

void Judge::keep(std::size_t index, reports::Detail detail) {
    auto& finding = findings_[index];
    ++finding.violations;
    if (listener_) listener_(*rules_[index], detail);
    if (finding.details.size() < most_details) finding.details.push_back(std::move(detail));
}

void Judge::violated(std::size_t index, const Packet& packet, const state::Known& known, const capture::Frame& frame) {
    if (findings_[index].details.size() >= most_details && !listener_) {
        ++findings_[index].violations;
        return;
    }
    const auto& rule = *rules_[index];
    reports::Detail detail{.capture = capture_index_, .frame = frame.number};
    if (const auto* spec = rule.points_at.spec()) {
        const auto& header = *rule.points_at.header();
        detail.field = std::string(header.name) + '.' + std::string(spec->name);
        if (const auto* at = rule.at ? rule.at(packet) : rule.points_at.in(packet)) {
            const bool is_inside = at >= packet.octets.data() && at < packet.octets.data() + packet.octets.size();
            detail.offset = is_inside ? static_cast<std::uint32_t>(packet.offset_of(at) + spec->at.bit / 8u) : 0;
            detail.actual = value_text(*spec, at);
        }
    }
    if (rule.actual_of) detail.actual = rule.actual_of(packet, known);
    if (detail.actual.empty()) detail.actual = "absent";
    detail.expected = rule.expected_of ? rule.expected_of(packet, known) : std::string(rule.expected);
    detail.subject = subject_of(packet, known);
    detail.link = link_name(packet, known);
    keep(index, std::move(detail));
}

std::string Judge::why_not_judged(std::size_t index, NotJudged& reason) const {
    const auto& rule = *rules_[index];
    reason = NotJudged::not_seen;
    if (media_names_.empty()) return "no frame of a link type that can be judged";
    if (const auto missing = rule.needs & ~media_parts_) {
        reason = NotJudged::link;
        std::string names;
        for (const auto& name : media_names_) names += (names.empty() ? "" : ", ") + name;
        return "link type " + names + " shows " + std::string(missing_part(missing));
    }
    if (rule.duty) return "nothing that calls for it, by a port whose start on the link is captured";
    if (findings_[index].unknown > 0) return std::string(what_is_missing(findings_[index].missing));
    return "no packet of this kind";
}

reports::Result Judge::result(std::size_t index) const {
    const auto& rule = *rules_[index];
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
    if (finding.violations == 0) {
        result.verdict = Verdict::pass;
        result.message = "holds in " + packets;
        return result;
    }
    const bool is_must = rule.weight.value_or(rule.checks[0]->strength) == requirements::Strength::must;
    result.verdict = is_must ? Verdict::fail : Verdict::warn;
    if (is_must) result.fail_type = "FAIL.MUST";
    const auto& first = finding.details.front();
    result.message = std::to_string(finding.violations) + " of " + packets + "; first in frame " +
                     std::to_string(first.frame) + ": " + (first.field.empty() ? "" : first.field + " is ") +
                     first.actual + ", expected " + first.expected;
    return result;
}

std::vector<reports::Result> Judge::results() const {
    std::vector<reports::Result> all;
    all.reserve(rules_.size());
    for (std::size_t i = 0; i < rules_.size(); ++i) all.push_back(result(i));
    return all;
}

std::vector<std::string> Judge::notes() const {
    std::vector<std::string> notes;
    const auto tell = [&](const Tally& tally, std::string_view what) {
        if (tally.count) notes.push_back(count_of(tally.count, what, tally.first));
    };
    for (std::size_t i = 1; i < foreign_.size(); ++i) tell(foreign_[i], name(static_cast<Foreign>(i)));
    tell(truncated_, "frames are truncated and judged as far as they go");
    tell(wrong_icrc_, icrc_was_ever_right_
                          ? "frames have a wrong ICRC; those of ports that also send right ones are not judged"
                          : "frames have a wrong ICRC, none a right one: the CRCs are not relied on");
    tell(wrong_vcrc_, "frames have a wrong VCRC");
    tell(no_crc_, "frames carry no ICRC");
    tell(other_link_types_, "frames of another link type were skipped");
    for (const auto* subnet : subnets()) tell_doubts(subnet->doubts(), notes);
    return notes;
}

}  // namespace ipoib::conformance
