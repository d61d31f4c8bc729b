// SPDX-License-Identifier: GPL-2.0-or-later
// All that comes into the bench while a case runs, in its order, as lines of JSON: docs/journal.md.
#pragma once

#include "conformance/dut/control.hpp"
#include "fabric/port.hpp"

#include <string>
#include <string_view>

namespace ipoib::conformance {

/// Lines are kept until a case ends; then they are written, and the next case's follow.
class InputJournal {
public:
    static constexpr std::string_view format = "ipoib-conform-journal/1";
    /// Of a case; what comes after so many octets is left out, and the last line says so.
    static constexpr std::size_t most_octets = std::size_t{64} << 20;

    explicit InputJournal(fabric::Loop& loop) : loop_(loop) {}

    /// What a file begins with.
    struct Head {
        std::string_view case_id;
        std::string command;  ///< that repeats it
        unsigned repetition = 0;
        std::uint64_t seed = 0;
        double timeout_scale = 1;
        std::vector<std::pair<std::string, std::string>> fabric;  ///< its facts
    };

    // Inputs, each with the time of the loop

    void seen(const fabric::Sighting& sighting);
    /// The UD queue pair of the tester's port `port` took a frame.
    void took(std::size_t port, wire::Octets frame);
    void reported(std::size_t port, wire::View<wire::Notice> notice);
    /// The tester's own timer came, the `number`-th that it set, from 1.
    void timed_out(std::uint64_t number);
    /// When something was asked for that may take its time: what comes in until it is done belongs to it.
    struct Begun {
        std::uint64_t lines = 0;
        fabric::Time at{};
    };
    [[nodiscard]] Begun begun() const { return {added_, loop_.now()}; }
    /// What became of a frame that was to be sent; `why_not` is empty where it was sent.
    void sent(std::size_t port, wire::Octets frame, std::string_view why_not, const Begun& begun);
    void attached(std::size_t port, const wire::Gid& mgid, std::uint16_t mlid, std::string_view why_not,
                  const Begun& begun);
    /// Once for each state that the port was found in.
    void found(std::size_t port, const fabric::PortFacts& facts);
    void answered(std::size_t port, const fabric::SaRequest& request, const fabric::SaAnswer& answer,
                  const Begun& begun);
    void changed(const fabric::FabricChange& change, const fabric::ChangeAnswer& answer, const Begun& begun);
    /// `side`: which of two was asked; empty where there is one.
    void replied(std::string_view request, const DutControlReply& reply, const Begun& begun,
                 std::string_view side = {});
    /// What was looked up in the subnet manager's own books, and what it holds: JSON both.
    void looked_up(std::string_view request, std::string_view answer);
    /// A process of the DUT was stopped, and the bench waited for it.
    void dut_was_stopped();

    void case_begins();
    void case_ends(std::string_view verdict);

    /// Head and lines, which are forgotten then, written or not. Throws std::runtime_error with path and reason.
    void write(const std::string& path, const Head& head);

private:
    void add(std::string line);
    [[nodiscard]] std::string begin(std::string_view what) const;
    void add_input(std::string line, fabric::Time at);
    /// As members of what was asked for then.
    [[nodiscard]] std::string since(const Begun& begun) const;

    fabric::Loop& loop_;
    std::string lines_;
    std::vector<std::string> facts_;  ///< of each port, as they were told last
    std::uint64_t left_out_ = 0, added_ = 0;
    /// Of the last input.
    fabric::Time at_{-1};
    std::uint64_t looks_ = 0;
    unsigned files_ = 0;
};

}  // namespace ipoib::conformance
