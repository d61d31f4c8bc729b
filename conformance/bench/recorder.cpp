// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps the frames of a case and writes them down.
#include "conformance/bench/recorder.hpp"

#include "fabric/capture/wholeness.hpp"
#include "fabric/capture/writer.hpp"

#include <algorithm>

namespace ipoib::conformance {
using namespace wire;

namespace {

/// Queue pair 0: bring-up by the subnet manager says nothing about IPoIB.
bool is_subnet_management(Octets frame) {
    Packet packet;
    decode(frame, packet);
    return packet.bth && packet.bth[Bth::dest_qp] == 0 && packet.deth && packet.deth[Deth::src_qp] == 0;
}

/// Evidence carries real checksums, so that a wrong one is the sender's. Inside a process both may be zero.
std::vector<std::uint8_t> with_crcs(Octets frame) {
    std::vector<std::uint8_t> whole(frame.begin(), frame.end());
    constexpr std::size_t tail = icrc_size + vcrc_size;
    if (whole.size() < Lrh::size + tail) return whole;
    if (std::all_of(whole.end() - static_cast<std::ptrdiff_t>(tail), whole.end(), [](auto o) { return o == 0; }))
        write_crcs(whole);
    return whole;
}

constexpr std::array<std::string_view, 5> interface_names{"dut", "tester", "sa", "other", "against"};
constexpr std::uint32_t interface_of_against = 4;

std::uint32_t interface_of(Party party) {
    switch (party) {
        case Party::dut:
            return 0;
        case Party::tester:
            return 1;
        case Party::sa:
            return 2;
        case Party::anyone:
        case Party::bystander:
            break;
    }
    return 3;
}

/// Evidence has a date, so that readers that expect one are content; a virtual clock begins here.
constexpr std::int64_t epoch_ns = 0;

}  // namespace

void Recorder::add(const fabric::Sighting& sighting) {
    if (is_subnet_management(sighting.octets)) return;
    if (octets_.size() + sighting.octets.size() > most_octets) {
        is_full_ = true;
        return;
    }
    const auto lrh = View<Lrh>::at(sighting.octets);
    frames_.push_back({.time = sighting.time,
                       .begin = octets_.size(),
                       .size = sighting.octets.size(),
                       .sender = sighting.sender,
                       .slid = lrh ? lrh[Lrh::slid] : std::uint16_t{0},
                       .is_rebuilt = sighting.is_rebuilt});
    octets_.insert(octets_.end(), sighting.octets.begin(), sighting.octets.end());
}

void Recorder::arrived(Octets frame, std::size_t port) {
    constexpr std::size_t tail = icrc_size + vcrc_size;
    const auto body = [](Octets o) { return o.first(o.size() < tail ? 0 : o.size() - tail); };
    for (auto i = frames_.size(); i-- > 0;) {
        if (has_arrived(i, port) || !std::ranges::equal(body(octets(i)), body(frame))) continue;
        frames_[i].arrived_at = static_cast<std::uint8_t>(frames_[i].arrived_at | 1u << port);
        ++arrivals_;
        return;
    }
}

void Recorder::comment(std::string_view text) { comments_.push_back({frames_.size(), std::string(text)}); }

void Recorder::step(std::string_view title, std::vector<std::string_view> judges) {
    comment("STEP: " + std::string(title));
    steps_.push_back({std::string(title), std::move(judges), frames_.size()});
}

void Recorder::breach(std::string_view verdict, std::string_view sentence, std::size_t before) {
    const auto behind =
        std::upper_bound(comments_.begin(), comments_.end(), before,
                         [](std::size_t frames, const auto& comment) { return frames < comment.before; });
    comments_.insert(behind, {before, std::string(verdict) + ": " + std::string(sentence)});
    breaches_.push_back({steps_.empty() ? 0 : steps_.size() - 1, before});
}

Octets Recorder::octets(std::size_t index) const noexcept {
    return Octets{octets_}.subspan(frames_[index].begin, frames_[index].size);
}

void Recorder::decode(std::size_t index, Packet& packet) const noexcept { wire::decode(octets(index), packet); }

Party Recorder::party(std::size_t index) const {
    const auto& frame = frames_[index];
    if (frame.sender == fabric::Sender::tester) return Party::tester;
    if (frame.sender == fabric::Sender::sa) return Party::sa;
    const bool is_judged = dut_lids_.empty() || dut_lids_.contains(frame.slid) || against_lids_.contains(frame.slid);
    return is_judged ? Party::dut : Party::bystander;
}

std::uint32_t Recorder::interface_of(std::size_t index) const {
    const auto rebuilt_begin = static_cast<std::uint32_t>(interface_names.size());
    const auto sender = party(index);
    const bool is_of_against = sender == Party::dut && against_lids_.contains(frames_[index].slid);
    const auto interface = is_of_against ? interface_of_against : conformance::interface_of(sender);
    return interface + (is_rebuilt(index) ? rebuilt_begin : 0);
}

void Recorder::show(Judge& judge, Party judged) const {
    capture::Frame frame{.link_type = capture::LinkType::infiniband};
    for (std::size_t i = 0; i < frames_.size(); ++i) {
        const auto whole = with_crcs(octets(i));
        frame.number = i + 1;
        frame.octets = whole;
        frame.wire_length = static_cast<std::uint32_t>(whole.size());
        frame.interface = interface_of(i);
        const auto sender = party(i);
        const bool is_charged = sender == judged || sender == Party::tester;
        judge.frame(frame, {is_charged ? sender : Party::bystander, is_rebuilt(i)});
    }
}

/// Those of frames that were rebuilt come behind the others.
std::string Recorder::interface_name(std::uint32_t interface) {
    const bool is_of_rebuilt = interface >= interface_names.size();
    std::string name(interface_names[interface % interface_names.size()]);
    return is_of_rebuilt ? name.append(inspection::rebuilt_suffix) : name;
}

std::string Recorder::mark() const {
    if (!is_whole()) return {};
    capture::Census census;
    for (std::size_t i = 0; i < frames_.size(); ++i)
        census.add(epoch_ns + frames_[i].time.count(), interface_name(interface_of(i)), with_crcs(octets(i)));
    return census.mark();
}

void Recorder::write(const std::string& path) const {
    auto writer = capture::Writer::pcapng(path, mark());
    // As ERF, which Wireshark shows as InfiniBand also where its version does not know link type 247.
    const bool has_rebuilt = std::ranges::any_of(frames_, &Record::is_rebuilt);
    // The interface of a second DUT stands behind all that a run against one has.
    const auto needed = against_lids_.empty() ? interface_of_against : interface_names.size();
    const auto interfaces = has_rebuilt ? 2 * interface_names.size() : needed;
    for (std::uint32_t i = 0; i < interfaces; ++i) writer.add_interface(capture::LinkType::erf, interface_name(i));
    auto next = comments_.begin();
    for (std::size_t i = 0; i < frames_.size(); ++i) {
        std::string comment;
        for (; next != comments_.end() && next->before <= i; ++next)
            comment += (comment.empty() ? "" : "\n") + next->text;
        if (i + 1 == frames_.size())
            for (; next != comments_.end(); ++next)
                comment += (comment.empty() ? "afterwards: " : "\nafterwards: ") + next->text;
        writer.write(epoch_ns + frames_[i].time.count(), with_crcs(octets(i)), interface_of(i), 0, comment);
    }
    writer.close();
}

}  // namespace ipoib::conformance
