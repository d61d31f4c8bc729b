// SPDX-License-Identifier: GPL-2.0-or-later
// One pass over captures: which subnet a frame is of, whether its CRCs let it count, which rules can say something.
#include "protocol/inspection/inspector.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <stdexcept>

namespace ipoib::inspection {
using namespace wire;

Inspector::Inspector(std::vector<const rules::Rule*> rules, Options options)
    : rules_(std::make_shared<const std::vector<const rules::Rule*>>(std::move(rules))), options_(std::move(options)) {}

/// The parties of an evidence file look at one subnet; other interfaces each at their own.
std::size_t Inspector::index_of(std::uint32_t interface, Party party) const noexcept {
    const bool is_shared = options_.is_one_subnet || party != Party::anyone;
    return is_shared ? 0 : std::min<std::size_t>(interface, most_fabrics - 1);
}

Inspector::Fabric& Inspector::fabric_of(std::uint32_t interface, Party party) {
    const auto index = index_of(interface, party);
    if (index >= fabrics_.size()) fabrics_.resize(index + 1);
    if (!fabrics_[index]) {
        fabrics_[index] = std::make_unique<Fabric>(*rules_, room_);
        fabrics_[index]->subnet.set_whole(options_.is_whole);
        fabrics_[index]->subnet.set_all_ipoib(options_.is_all_ipoib);
        if (options_.assume) options_.assume(fabrics_[index]->subnet);
    }
    return *fabrics_[index];
}

bool Inspector::trust_crcs() {
    const auto slid = packet_->lrh[Lrh::slid];
    if (crcs_.icrc == Check::good) fabric_->icrc_was_right[slid] = icrc_was_ever_right_ = true;
    return crcs_.icrc != Check::bad || !fabric_->icrc_was_right[slid];
}

std::vector<const state::Subnet*> Inspector::subnets() const {
    std::vector<const state::Subnet*> all;
    for (const auto& fabric : fabrics_)
        if (fabric) all.push_back(&fabric->subnet);
    return all;
}

Examined Inspector::examine(const FrameView& frame) {
    const bool is_one_of_many = taken_ >= first_shaped;
    return is_one_of_many ? examiner_.examine(frame.octets, frame.wire_length, frame.medium, frame.origin)
                          : examiner_.examine_alone(frame.octets, frame.wire_length, frame.medium, frame.origin);
}

bool Inspector::take(const FrameView& frame, const Examined& examined) {
    ++taken_;
    now_ = frame.sight.time;
    origin_ = frame.origin;
    crcs_ = examined.crcs;
    examined.shape->show(frame.octets.data());
    shape_ = examined.shape;
    packet_ = &shape_->packet;
    if (const Source source{frame.sight.capture, frame.interface, frame.origin.party}; !at_source_ || source_ != source)
        turn_to(source);
    if (frame.lost != 0) tell_loss_before(frame);
    *at_source_ = frame.sight;
    if (packet_->lrh && !trust_crcs()) return false;
    auto* memory = shape_->has_others() ? &shape_->recollection : nullptr;
    known_ =
        &fabric_->subnet.take(*packet_, frame.sight, frame.origin.party == Party::tester, memory, examined.likeness);
    if (!is_subject(known_->sender)) origin_.party = Party::bystander;
    return true;
}

bool Inspector::shows_loss() const noexcept {
    return std::ranges::any_of(fabrics_, [](const auto& fabric) { return fabric && fabric->subnet.shows_loss(); });
}

/// The frames from here on come from another interface, or another party, than those before.
void Inspector::turn_to(const Source& source) {
    source_ = source;
    fabric_ = &fabric_of(source.interface, source.party);
    if (source.capture >= latest_.size()) latest_.resize(source.capture + std::size_t{1});
    auto& of_capture = latest_[source.capture];
    const auto index = std::min<std::size_t>(source.interface, most_latest);
    if (index >= of_capture.size()) of_capture.resize(index + 1);
    at_source_ = &of_capture[index];
}

void Inspector::tell_loss_before(const FrameView& frame) {
    fabric_->subnet.tell_loss({.after = frame.interface < most_latest ? *at_source_ : state::Sight{},
                               .before = frame.sight,
                               .count = frame.lost,
                               .interface = std::string(frame.lost_on),
                               .is_told_by_next = true});
}

void Inspector::tell_loss(std::uint32_t interface, Origin origin, state::Loss loss) {
    fabric_of(interface, origin.party).subnet.tell_loss(std::move(loss));
}

/// What the user could vouch for so that it is decided; else the reason is one that nothing but another capture
/// refutes. That the capture is whole need not be vouched for where later packets may show it.
void Inspector::look_for_settlement(const state::Subnet& subnet, Suspicion& suspicion, state::Reason& lacks,
                                    bool waits) {
    using state::Assumption, state::Standing;
    const auto proof_with = [&](state::Assumptions trusted) {
        return subnet.proof(suspicion.span, suspicion.at,
                            {.in_port = trusted, .in_all = trusted, .port = suspicion.accused});
    };
    auto proof = proof_with(state::all_assumptions & ~assumptions(Assumption::whole));
    if (proof.standing != Standing::proven && !(waits && proof.standing == Standing::open))
        proof = proof_with(state::all_assumptions);
    if (proof.standing == Standing::broken || proof.standing == Standing::awaited) {
        lacks = proof.lacks;
        return;
    }
    const auto given = subnet.trust(suspicion.accused);
    const auto trusted = proof.is_of_all ? given.in_all : given.in_port | given.in_all;
    suspicion.of.settled_by = static_cast<state::Assumptions>(proof.rests_on & ~trusted);
    if (suspicion.accused && !suspicion.accused->gid.is_zero() && !proof.is_of_all)
        suspicion.of.vouched_for = port_name(*suspicion.accused);
}

std::uint64_t Inspector::next_generation() noexcept {
    static std::atomic<std::uint64_t> latest{0};
    return ++latest;
}

/// What the rules say of this packet, and of all its like as long as nothing changes, is counted; a version of 0: each
/// is asked about.
void Inspector::begin_tally(std::uint64_t version) {
    if (tallied_ == tallies_.size()) tallies_.emplace_back();
    auto& tally = tallies_[tallied_];
    auto& judged = shape_->judged;
    judged = {generation_, known_->facts, version, tallied_++, std::move(judged.asked)};
    judged.asked.clear();
    tally.count = 0;
    tally.facts = known_->facts;
    tally.is_assumed = known_->is_assumed();
    tally.observed = shape_->observed;
    tally.unjudged.clear();
    tally.noted.clear();
    const auto lacks = [&](std::uint16_t index) { return ((*rules_)[index]->knows & ~tally.facts) != 0; };
    for (const auto index : shape_->asked) {
        const auto& rule = *(*rules_)[index];
        if (lacks(index)) {
            tally.unjudged.push_back(index);
            continue;
        }
        const bool lasts = version != 0 && !(rule.fades && rule.fades(*packet_, *known_));
        if (lasts && rule.applies && !rule.applies(*packet_, *known_)) continue;
        if (!lasts || (rule.holds && !rule.holds(*packet_, *known_))) {
            judged.asked.push_back(index);
            continue;
        }
        tally.observed.push_back(index);
        if (rule.notes && rule.notes(*packet_, *known_)) tally.noted.push_back(index);
    }
    std::ranges::copy_if(shape_->passed, std::back_inserter(tally.unjudged), lacks);
}

/// Asks anew what the tally counts.
void Inspector::verify(const Tally& tally) const {
    for (const auto index : shape_->asked) {
        const auto& rule = *(*rules_)[index];
        const auto is_in = [index](const std::vector<std::uint16_t>& all) {
            return std::ranges::find(all, index) != all.end();
        };
        if ((rule.knows & ~tally.facts) != 0 || is_in(shape_->judged.asked)) continue;
        const bool applies = !rule.applies || rule.applies(*packet_, *known_);
        const bool is_broken = applies && rule.holds && !rule.holds(*packet_, *known_);
        const bool is_noted = applies && rule.notes && rule.notes(*packet_, *known_);
        if (is_broken || applies != is_in(tally.observed) || is_noted != is_in(tally.noted))
            throw std::logic_error(std::string(rule.id) + " says something else of a packet than of its like");
    }
}

Accusation Inspector::accuse(std::size_t index) const {
    Accusation accusation{.rule = index,
                          .what = describe(*(*rules_)[index], *packet_, *known_),
                          .sight = known_->now,
                          .subject = sender_name(*packet_, *known_),
                          .link = link_name(*packet_, *known_, fabric_->subnet),
                          .group = group_of(*packet_, *known_)};
    accusation.what.at = nullptr;
    return accusation;
}

Accusation Inspector::accuse(const Neglect& neglect) const {
    const auto& subnet = fabric_->subnet;
    return {.rule = neglect.rule,
            .what = describe(*(*rules_)[neglect.rule], neglect, subnet),
            .sight = neglect.began,
            .subject = port_name(subnet.port(neglect.port)),
            .link = link_name(subnet.prefix(), neglect.link->p_key),
            .group = neglect.group == state::none ? wire::Gid{} : subnet.groups()[neglect.group].mgid};
}

}  // namespace ipoib::inspection
