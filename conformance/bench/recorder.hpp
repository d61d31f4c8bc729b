// SPDX-License-Identifier: GPL-2.0-or-later
// The frames of one case: who sent each, which of them the tester got, and the evidence file they make.
#pragma once

#include "conformance/judge/judge.hpp"
#include "fabric/port.hpp"
#include "protocol/wire/packet.hpp"

#include <set>
#include <string>
#include <vector>

namespace ipoib::conformance {

/// Frames in order of time, numbered from 1 as in the evidence file. Subnet management packets are left out.
class Recorder {
public:
    /// Beyond so many octets a case is an ERROR: somebody floods.
    static constexpr std::size_t most_octets = std::size_t{64} << 20;

    void add(const fabric::Sighting& sighting);
    /// The queue pair of the tester's port `port` (from 0, at most 7) took this frame: marks its latest sighting.
    void arrived(wire::Octets frame, std::size_t port = 0);
    /// Text that the evidence shows at the next frame; behind the last one at that, after "afterwards: ".
    void comment(std::string_view text);

    /// A step of the case. What it judges are ids of requirements.
    struct Step {
        std::string title;
        std::vector<std::string_view> judges;
        std::size_t before;  ///< how many frames there were when it began
    };
    /// A requirement that was not met.
    struct Breach {
        std::size_t step, before;  ///< indices: of the step, and how many frames there were when it was found
    };
    void step(std::string_view title, std::vector<std::string_view> judges);
    void breach(std::string_view verdict, std::string_view sentence) { breach(verdict, sentence, frames_.size()); }
    /// The same, found when there were so many frames, at most as many as there are.
    void breach(std::string_view verdict, std::string_view sentence, std::size_t before);
    [[nodiscard]] const std::vector<Step>& steps() const noexcept { return steps_; }
    [[nodiscard]] const std::vector<Breach>& breaches() const noexcept { return breaches_; }

    [[nodiscard]] std::size_t size() const noexcept { return frames_.size(); }
    /// How many frames the tester's queue pairs took.
    [[nodiscard]] std::size_t arrivals() const noexcept { return arrivals_; }
    [[nodiscard]] bool is_full() const noexcept { return is_full_; }
    /// A further interface comes up at the DUT's port: what the port has joined before the first frame is not to be
    /// seen, and its join of the broadcast group looks as if the port's life on the link began with it.
    void port_is_shared() noexcept { is_shared_ = true; }
    /// Whether what is not there has not been.
    [[nodiscard]] bool is_whole() const noexcept { return !is_full_ && !is_shared_; }
    [[nodiscard]] wire::Octets octets(std::size_t index) const noexcept;
    /// Takes the frame apart; the packet points into the recorder's octets as they are until the next add.
    void decode(std::size_t index, wire::Packet& packet) const noexcept;
    [[nodiscard]] bool has_arrived(std::size_t index, std::size_t port = 0) const noexcept {
        return (frames_[index].arrived_at >> port & 1u) != 0;
    }
    /// Whether the frame was made of what a queue pair told, not seen on the wire.
    [[nodiscard]] bool is_rebuilt(std::size_t index) const noexcept { return frames_[index].is_rebuilt; }
    [[nodiscard]] fabric::Time time(std::size_t index) const noexcept { return frames_[index].time; }

    /// The LIDs that are the DUT's; without any, every sender but tester and SA is taken for it.
    void dut_is(std::uint16_t lid) { dut_lids_.insert(lid); }
    /// Those of another one that is judged as the DUT is: `run --against`. The evidence names it.
    void against_is(std::uint16_t lid) { against_lids_.insert(lid); }
    [[nodiscard]] Party party(std::size_t index) const;

    /// Lets a judge see the frames. Only `judged` can be charged: the DUT, or the SA where that is under test. Of two
    /// DUTs the judge's own filter chooses one.
    void show(Judge& judge, Party judged) const;
    /// Writes them as a pcapng with one interface for each party; frames that were rebuilt have others. Unless there
    /// were more than are kept, or the port is shared, it is marked as whole (capture/wholeness.hpp). Throws
    /// std::runtime_error.
    void write(const std::string& path) const;

private:
    struct Record {
        fabric::Time time;
        std::size_t begin, size;
        fabric::Sender sender;
        std::uint16_t slid;
        bool is_rebuilt;
        std::uint8_t arrived_at = 0;  ///< a bit for each port of the tester
    };
    struct Comment {
        std::size_t before;
        std::string text;
    };
    /// Of the evidence file.
    [[nodiscard]] std::uint32_t interface_of(std::size_t index) const;
    [[nodiscard]] static std::string interface_name(std::uint32_t interface);
    [[nodiscard]] std::string mark() const;

    std::vector<Record> frames_;
    std::vector<std::uint8_t> octets_;
    std::vector<Comment> comments_;
    std::vector<Step> steps_;
    std::vector<Breach> breaches_;
    std::set<std::uint16_t> dut_lids_, against_lids_;
    std::size_t arrivals_ = 0;
    bool is_full_ = false;
    bool is_shared_ = false;
};

}  // namespace ipoib::conformance
