// SPDX-License-Identifier: GPL-2.0-or-later
// Where a mutation can be.
#include "conformance/recall/at_rest.hpp"

#include "conformance/metamorphic/mutated.hpp"
#include "traffic-gen/mutation.hpp"

#include <map>
#include <optional>
#include <set>

namespace ipoib::recall {
namespace {

using metamorphic::Verdicts;
using traffic::Mutation;
using wire::Packet;

/// One packet alone breaks nothing: it takes several, or one that is elsewhere.
bool takes_all(const Mutation& mutation) {
    static const std::set<std::string_view> names{"asks-for-each-packet", "broadcast-q-key", "cm-arp-reply",
                                                  "cm-larger-than-receive-mtu"};
    return names.contains(mutation.name);
}

/// About joins that create a group; of the others none breaks anything by that.
bool is_of_creation(const Mutation& mutation) { return mutation.name.starts_with("creates-with"); }

/// What is not its sender's fault, but that of who answers it.
bool is_of_answer(const Requirement* requirement) {
    return requirement == &rfc4391::ud_same_partition_and_qkey || requirement == &rfc4392::explicit_join_to_receive ||
           requirement == &rfc4392::receiver_joins;
}
bool is_question(const Packet& packet) {
    using wire::ArpAddresses;
    const bool is_announcement =
        packet.arp_addresses && packet.arp_addresses[ArpAddresses::spa] == packet.arp_addresses[ArpAddresses::tpa];
    return (packet.arp && packet.arp[wire::Arp::operation] == wire::Arp::request && !is_announcement) ||
           (packet.icmp && packet.icmp[wire::Icmp::type] == wire::Icmp::echo_request) ||
           (packet.icmpv6 && packet.icmpv6[wire::Icmpv6::type] == wire::Icmpv6Type::neighbour_solicitation);
}

/// Whether it takes a while until anything shows it.
bool shows_later(const Mutation& mutation) {
    return std::ranges::none_of(mutation.breaks, [](const Requirement* requirement) {
        return std::ranges::any_of(rules::all(), [&](const rules::Rule& rule) {
            const bool checks_it = rule.checks[0] == requirement || rule.checks[1] == requirement;
            return checks_it && rule.evidence == rules::Evidence::one_frame;
        });
    });
}

/// Questions of the SA and the SM, with their answers, have a number.
using Transaction = std::pair<wire::MgmtClass, std::uint64_t>;
std::optional<Transaction> transaction_of(const Packet& packet) {
    if (!packet.mad || packet.mad[wire::Mad::mgmt_class] == wire::MgmtClass::communication) return {};
    return Transaction{packet.mad[wire::Mad::mgmt_class], packet.mad[wire::Mad::transaction_id]};
}

/// Of what it breaks, what a capture can prove; else all.
std::vector<const Requirement*> claimed(const Mutation& mutation) {
    auto proven = mutation.breaks;
    std::erase_if(proven, [&](const Requirement* one) {
        return std::ranges::find(mutation.unproven, one) != mutation.unproven.end();
    });
    return proven.empty() ? mutation.breaks : proven;
}

class Finder {
public:
    Finder(const Source& source, std::string_view profile)
        : source_(source), profile_(profile), packets_(source.size()), can_change_(source.size()) {
        std::set<wire::Gid> groups;  // that somebody was given
        for (std::size_t i = 0; i < source.size(); ++i) {
            const auto& packet = packets_[i];
            can_change_[i] = metamorphic::can_be_built_again(source.frames()[i], packets_[i]) && !is_foreign(i);
            creates_.push_back(packet.mc_member && !groups.contains(packet.mc_member[wire::McMemberRecord::mgid]));
            const bool is_refused = packet.mad && packet.mad[wire::Mad::status] != 0;
            if (is_refused) can_change_[i] = false;
            if (packet.mc_member && packet.mad[wire::Mad::method] == wire::Method::get_resp && !is_refused)
                groups.insert(packet.mc_member[wire::McMemberRecord::mgid]);
        }
    }

    std::vector<Violation> find() {
        for (const auto* mutation : traffic::all_mutations()) {
            begun_.clear();
            for (std::size_t i = 0; i < source_.size(); ++i) {
                if (!can_change_[i] || (is_of_creation(*mutation) && !creates_[i])) continue;
                if (auto octets = metamorphic::mutated(*mutation, packets_[i]); !octets.empty())
                    take(*mutation, i, std::move(octets));
            }
        }
        return std::move(all_);
    }

private:
    /// Whether the host that an exchange is of is on its link afterwards, and so much later: who has gone owes nothing.
    [[nodiscard]] bool goes_on(std::size_t i, std::int64_t later) const {
        const auto lid = packets_[i].lrh[wire::Lrh::slid], other = packets_[i].lrh[wire::Lrh::dlid];
        const auto is_of_it = [&](const Packet& packet) {
            if (!packet.lrh || !packet.is_ipoib()) return false;
            const auto from = packet.lrh[wire::Lrh::slid];
            return from == lid || from == other;
        };
        const auto& frames = source_.frames();
        for (auto n = i + 1; n < packets_.size(); ++n)
            if (frames[n].time - frames[i].time >= later && is_of_it(packets_[n])) return true;
        return false;
    }
    /// Whether it is a question, and was not asked shortly before: an answer may be that to the other one.
    [[nodiscard]] bool is_asked_once(std::size_t i) const {
        constexpr std::int64_t patience = 10'000'000'000;  // ns
        if (!is_question(packets_[i])) return false;
        const auto& frames = source_.frames();
        for (auto before = i; before-- > 0 && frames[i].time - frames[before].time < patience;)
            if (std::ranges::equal(packets_[before].payload, packets_[i].payload)) return false;
        return true;
    }
    /// What is no IPoIB breaks nothing of it.
    [[nodiscard]] bool is_foreign(std::size_t i) const {
        return source_.who[i].is_foreign || packets_[i].foreign != wire::Foreign::none;
    }

    void take(const Mutation& mutation, std::size_t i, std::vector<std::uint8_t> octets) {
        const bool is_own = mutation.profile == profile_;
        const auto transaction = transaction_of(packets_[i]);
        if (transaction || takes_all(mutation)) {
            if (!is_own || (transaction && !goes_on(i, shows_later(mutation) ? handover : 0))) return;
            const auto key = takes_all(mutation) ? Transaction{} : *transaction;
            const auto [at, is_new] = begun_.try_emplace(key, all_.size());
            if (is_new) begin(mutation, claimed(mutation), true);
            all_[at->second].edits.push_back({static_cast<std::uint32_t>(i), std::move(octets)});
            return;
        }
        auto broken = claimed(mutation);
        if (!is_own) std::erase_if(broken, [&](const auto* one) { return !is_wrong_alone(i, octets, *one); });
        if (is_own && !is_asked_once(i)) std::erase_if(broken, is_of_answer);
        if (broken.empty()) return;
        // In its own profile, what is around it may show it.
        begin(mutation, broken, is_own);
        all_.back().edits.push_back({static_cast<std::uint32_t>(i), std::move(octets)});
    }

    void begin(const Mutation& mutation, const std::vector<const Requirement*>& broken, bool is_late) {
        auto& violation =
            all_.emplace_back(Violation{.kind = std::string(mutation.name), .is_late = is_late, .is_at_rest = true});
        for (const auto* requirement : broken) violation.claims.push_back({requirement});
        violation.is_provable = std::ranges::find(mutation.unproven, broken.front()) == mutation.unproven.end();
    }

    /// Whether the frame proves it, whatever is around it.
    bool is_wrong_alone(std::size_t i, wire::Octets octets, const Requirement& broken) {
        alone_.assign(1, source_.frames()[i]);
        alone_[0].octets = octets;
        alone_[0].wire_length = static_cast<std::uint32_t>(octets.size());
        metamorphic::judge(alone_, source_.is_one_subnet, source_.parties(), verdicts_);
        return std::ranges::any_of(
            verdicts_.charges, [&](const auto& charge) { return requirements::all()[charge.requirement] == &broken; });
    }

    const Source& source_;
    std::string_view profile_;
    std::vector<Packet> packets_;
    std::vector<bool> can_change_, creates_;  ///< a record of a group that nobody has been given before
    std::map<Transaction, std::size_t> begun_;
    std::vector<Violation> all_;
    std::vector<Frame> alone_;
    Verdicts verdicts_;
};

}  // namespace

std::vector<Violation> mutations_in(const Source& source, std::string_view profile) {
    return Finder{source, profile}.find();
}

}  // namespace ipoib::recall
