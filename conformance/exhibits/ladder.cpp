// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/exhibits/ladder.hpp"

#include "base/descriptor.hpp"
#include "conformance/judge/notation.hpp"
#include "fabric/capture/writer.hpp"
#include "protocol/wire/text.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

namespace ipoib::conformance {
using namespace wire;
using inspection::Party;

namespace {

/// A ladder shows at most so many frames; before a wrong one so many at least, after it so many at most.
constexpr std::size_t most_frames = 14, least_before = 4, most_after = 2, most_parties = 6, most_notes = 8;
/// Frames of IPoIB stay far below; the page carries them along.
constexpr std::size_t largest_capture = std::size_t{1} << 20;
constexpr std::string_view step_sign = "STEP: ", breach_sign = "VIOLATION: ", after_sign = "afterwards: ";

/// Also of times that no clock has.
std::int64_t since(std::int64_t first, std::int64_t time) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(first));
}

bool is_unicast(std::uint16_t lid) { return lid != 0 && lid < 0xc000; }

/// Whom a frame that has no LRH is from or to, as its datagram tells.
std::string ip_end(const Packet& p, bool is_source) {
    if (p.ipv4) return ipv4_text(p.ipv4[is_source ? Ipv4::source : Ipv4::destination]);
    if (p.ipv6) return text(p.ipv6[is_source ? Ipv6::source : Ipv6::destination]);
    if (p.arp_addresses) return ipv4_text(p.arp_addresses[is_source ? ArpAddresses::spa : ArpAddresses::tpa]);
    return is_source ? "sender" : "";
}

class Ladder {
public:
    Ladder(const Film& film, std::uint64_t wrong, reports::Exhibit& exhibit)
        : film_(film), wrong_(wrong), exhibit_(exhibit) {}

    void draw() {
        const auto chosen = choose();
        if (chosen.empty()) return;
        if (film_.is_evidence())
            for (const auto party : {Party::tester, Party::dut, Party::sa})
                if (std::ranges::any_of(chosen, [&](const Shot* shot) { return is_of(*shot, party); }))
                    exhibit_.parties.emplace_back(title_of(party));
        // Where there are many parties, those of the wrong frame have lifelines of their own.
        const auto wrong = std::ranges::find(chosen, wrong_, &Shot::number);
        if (wrong != chosen.end()) give_lifelines(**wrong);
        for (const auto* shot : chosen) exhibit_.ladder.push_back(arrow(*shot, *chosen.front()));
        exhibit_.left_out = chosen.front()->number - 1;
        if (!film_.is_evidence()) exhibit_.left_out = 0;
        exhibit_.pcapng = capture_of(chosen);
    }

private:
    using Shots = std::vector<const Shot*>;

    [[nodiscard]] static bool begins_step(const Shot& shot) {
        return shot.comment.find(step_sign) != std::string::npos;
    }

    [[nodiscard]] Shots choose() const {
        Shots all;
        for (const auto& shot : film_.shots()) all.push_back(&shot);
        if (all.empty()) return all;
        if (wrong_ == 0) return before_breach(all);
        const auto at = std::ranges::find(all, wrong_, &Shot::number);
        if (at == all.end()) return {};
        if (film_.is_evidence()) return steps_of(all, static_cast<std::size_t>(at - all.begin()));
        const auto around = relevant(all, **at);
        return window(around, static_cast<std::size_t>(std::ranges::find(around, *at) - around.begin()), 0);
    }

    /// The step in which something was missing, which the tester told at the next frame; else how it all ended.
    [[nodiscard]] static Shots before_breach(const Shots& all) {
        const auto told = std::ranges::find_if(
            all, [](const Shot* shot) { return shot->comment.find(breach_sign) != std::string::npos; });
        const auto at = static_cast<std::size_t>(told - all.begin());
        return told == all.end() ? steps_of(all, all.size() - 1)
                                 : window(all, at, step_begin(all, at > 0 ? at - 1 : 0));
    }

    /// From the beginning of the step that frame `at` is of.
    [[nodiscard]] static Shots steps_of(const Shots& all, std::size_t at) {
        return window(all, at, step_begin(all, at));
    }
    [[nodiscard]] static std::size_t step_begin(const Shots& all, std::size_t at) {
        while (at > 0 && !begins_step(*all[at])) --at;
        return at;
    }

    [[nodiscard]] static Shots window(const Shots& all, std::size_t at, std::size_t begin) {
        begin = std::min(begin, at - std::min(at, least_before));
        const auto end = std::min(all.size(), at + 1 + most_after);
        begin = std::max(begin, end - std::min(end, most_frames));
        return {all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(end)};
    }

    /// What the sender of the wrong frame sent and got, what its receiver sent, and what went to its group.
    [[nodiscard]] static Shots relevant(const Shots& all, const Shot& about) {
        Packet wrong;
        about.decode(wrong);
        if (!wrong.lrh) return all;
        const auto sender = wrong.lrh[Lrh::slid], receiver = wrong.lrh[Lrh::dlid];
        Shots kept;
        for (const auto* shot : all) {
            Packet p;
            shot->decode(p);
            if (!p.lrh) continue;
            const auto from = p.lrh[Lrh::slid], to = p.lrh[Lrh::dlid];
            if (shot == &about || from == sender || to == sender || (is_multicast_lid(receiver) && to == receiver))
                kept.push_back(shot);
        }
        return kept;
    }

    [[nodiscard]] bool is_of(const Shot& shot, Party party) const {
        if (shot.party == party) return true;
        Packet p;
        shot.decode(p);
        return p.lrh && receiver_in_evidence(p.lrh[Lrh::dlid]) == party;
    }

    /// Who has sent nothing yet is the DUT.
    [[nodiscard]] std::optional<Party> receiver_in_evidence(std::uint16_t dlid) const {
        if (!is_unicast(dlid)) return std::nullopt;
        return film_.party_at(dlid).value_or(Party::dut);
    }

    std::size_t party(const std::string& title) {
        auto& all = exhibit_.parties;
        const auto found = std::ranges::find(all, title);
        if (found != all.end()) return static_cast<std::size_t>(found - all.begin());
        if (all.size() + 1 < most_parties) {
            all.push_back(title);
            return all.size() - 1;
        }
        if (all.size() < most_parties) all.emplace_back("others");
        return all.size() - 1;
    }

    [[nodiscard]] std::string port(std::uint16_t lid) const {
        return (film_.is_sa(lid) ? "SA, LID " : "LID ") + std::to_string(lid);
    }

    [[nodiscard]] std::string sender(const Shot& shot, const Packet& p) const {
        if (film_.is_evidence()) return std::string(title_of(shot.party));
        return p.lrh ? port(p.lrh[Lrh::slid]) : ip_end(p, true);
    }

    /// Empty for a group.
    [[nodiscard]] std::string receiver(const Packet& p) const {
        if (p.lrh) {
            const auto dlid = p.lrh[Lrh::dlid];
            if (!is_unicast(dlid)) return {};
            return film_.is_evidence() ? std::string(title_of(*receiver_in_evidence(dlid))) : port(dlid);
        }
        return p.is_multicast ? std::string{} : ip_end(p, false);
    }

    void give_lifelines(const Shot& shot) {
        Packet p;
        shot.decode(p);
        party(sender(shot, p));
        if (const auto to = receiver(p); !to.empty()) party(to);
    }

    reports::LadderFrame arrow(const Shot& shot, const Shot& first) {
        Packet p;
        shot.decode(p);
        reports::LadderFrame frame{.number = shot.number,
                                   .time_ns = since(first.time_ns, shot.time_ns),
                                   .from = party(sender(shot, p)),
                                   .text = in_one_line(p),
                                   .notes = {},
                                   .is_wrong = shot.number == wrong_};
        if (const auto to = receiver(p); !to.empty()) frame.to = party(to);
        add_notes(shot.comment, frame);
        return frame;
    }

    void add_notes(std::string_view comment, reports::LadderFrame& frame) {
        while (!comment.empty()) {
            const auto end = std::min(comment.find('\n'), comment.size());
            auto line = comment.substr(0, end);
            comment.remove_prefix(std::min(end + 1, comment.size()));
            const bool is_after = line.starts_with(after_sign);
            if (is_after) line.remove_prefix(after_sign.size());
            auto& notes = is_after ? exhibit_.afterwards : frame.notes;
            if (!line.empty() && notes.size() < most_notes) notes.emplace_back(line);
        }
    }

    /// Frames have other numbers in a capture of their own; a comment tells the old one.
    static std::vector<std::uint8_t> capture_of(const Shots& shots) {
        std::size_t size = 0;
        for (const auto* shot : shots) size += shot->octets.size();
        if (size > largest_capture) return {};
        const Descriptor file{memfd_create("exhibit", MFD_CLOEXEC)};
        if (!file) return {};
        std::vector<std::uint8_t> octets;
        try {
            auto writer = capture::Writer::pcapng("/proc/self/fd/" + std::to_string(file.value()));
            std::vector<std::pair<capture::LinkType, Party>> interfaces;
            for (const auto* shot : shots) {
                const std::pair key{shot->link_type, shot->party};
                auto found = std::ranges::find(interfaces, key);
                if (found == interfaces.end()) {
                    using capture::LinkType;
                    // Wireshark versions that do not know link type 247 show ERF.
                    writer.add_interface(key.first == LinkType::infiniband ? LinkType::erf : key.first,
                                         name_of(key.second));
                    found = interfaces.insert(interfaces.end(), key);
                }
                writer.write(
                    shot->time_ns, shot->octets, static_cast<std::uint32_t>(found - interfaces.begin()),
                    static_cast<std::uint32_t>(shot->wire_length),
                    "frame " + std::to_string(shot->number) + (shot->comment.empty() ? "" : "\n") + shot->comment);
            }
            writer.close();
            octets.resize(static_cast<std::size_t>(lseek(file.value(), 0, SEEK_END)));
            if (pread(file.value(), octets.data(), octets.size(), 0) != static_cast<ssize_t>(octets.size()))
                octets.clear();
        } catch (const std::runtime_error&) {
            octets.clear();  // the report does without
        }
        return octets;
    }

    static std::string_view name_of(Party party) {
        if (party == Party::dut) return "dut";
        if (party == Party::sa) return "sa";
        return party == Party::anyone ? "" : title_of(party);
    }

    const Film& film_;
    std::uint64_t wrong_;
    reports::Exhibit& exhibit_;
};

}  // namespace

void draw_ladder(const Film& film, std::uint64_t wrong, reports::Exhibit& exhibit) {
    Ladder{film, wrong, exhibit}.draw();
}

}  // namespace ipoib::conformance
