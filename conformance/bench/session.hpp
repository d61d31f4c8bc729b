// SPDX-License-Identifier: GPL-2.0-or-later
// What lasts over the cases of a run: the fabric, the tester on its link, the DUT that was greeted and found.
#pragma once

#include "conformance/bench/connection_ends.hpp"
#include "conformance/bench/inputs/journaled.hpp"
#include "conformance/bench/recorder.hpp"
#include "conformance/bench/tester.hpp"
#include "conformance/dut/dut.hpp"

#include <array>
#include <map>
#include <memory>
#include <stdexcept>

namespace ipoib::conformance {

/// Tester, fabric or adapter channel at fault: an ERROR.
struct SessionBroken : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct SessionOptions {
    std::string interface;                       ///< the DUT's, as its adapter names it; empty: its first
    std::optional<wire::IpNetwork> tester_ip;    ///< none: a free address beside the DUT's
    std::vector<wire::IpNetwork> dut_addresses;  ///< what the DUT is given, or known to have
    std::uint16_t p_key = 0;                     ///< of the link; 0: the first full one of the port
    double timeout_scale = 1;
    std::uint64_t seed = 1;
    std::string journal_folder;  ///< where the port's journal is; empty: nobody else uses the port
    bool keeps_journal = false;  ///< of all that comes in: InputJournal
    bool allows_long = false;    ///< times that the DUT has stated are waited for where they are minutes
};

/// Who is asked to stop still cleans up, and hears what came of it. Asked once more, the program ends.
class CleaningUp {
public:
    CleaningUp() : was_asked_(fabric::Loop::stop_requested()) {
        if (was_asked_) fabric::Loop::clear_stop();
    }
    ~CleaningUp() {
        if (was_asked_) fabric::Loop::request_stop();
    }
    CleaningUp(const CleaningUp&) = delete;
    CleaningUp& operator=(const CleaningUp&) = delete;

private:
    bool was_asked_;
};

class Session {
public:
    /// Neither is owned.
    Session(fabric::Fabric& fabric, DutControl& control, SessionOptions options);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Waits for the port, joins the link, greets the DUT and gives it addresses if it has none. Throws SessionBroken,
    /// ChannelBroken.
    void begin();
    /// Brings the DUT's interface up and finds out where it is: at most 30 s, for which joins are retried; where it did
    /// not come up twice in a row, a second. Throws DutStaysDown.
    void bring_dut_up();
    /// Waits for a DUT that has told no IPv6 address yet, which takes one a while to have; once in a session.
    void look_for_ipv6();
    /// Takes the DUT's interface down, if it is up. Throws Unsupported, ControlFailed.
    void take_dut_down();
    /// Asks the DUT, or by ARP, for its addresses; whether it could be found.
    bool find_dut();
    /// Tells an interface of the DUT the scope of the link, where it is not the usual one. Throws SessionBroken.
    void tell_scope(Dut& interface) const;
    /// After a case: leaves the groups that it joined; the DUT undoes what it was asked.
    void undo();
    /// Leaves every group, says goodbye to the DUT.
    void end() noexcept;

    /// Of all that has come in since the session began, or since it was written; null where none is kept.
    [[nodiscard]] InputJournal* journal() noexcept { return journaled_ ? &journaled_->journal : nullptr; }
    [[nodiscard]] fabric::Fabric& fabric() noexcept { return fabric_; }
    [[nodiscard]] fabric::Loop& loop() { return fabric_.loop(); }
    [[nodiscard]] Tester& tester() noexcept { return *tester_; }
    [[nodiscard]] Dut& dut() noexcept { return dut_; }
    [[nodiscard]] DutControl& control() noexcept { return control_; }
    [[nodiscard]] Situation& situation() noexcept { return situation_; }
    /// The tester's ends of connections with the DUT.
    [[nodiscard]] ConnectionEnds& connection_ends() noexcept { return *connection_ends_; }
    [[nodiscard]] const SessionOptions& options() const noexcept { return options_; }
    /// Whether the DUT has told that it has this IPv4 address; it may have many.
    [[nodiscard]] bool is_told_of_dut(std::uint32_t address) const;
    [[nodiscard]] bool dut_is_found() const noexcept { return situation_.dut.lid != 0; }
    /// Where frames are kept from now on.
    void record_into(Recorder* recorder) noexcept { recorder_ = recorder; }
    [[nodiscard]] fabric::Duration scaled(fabric::Duration duration) const;
    /// The longest that one of the latest ordinary questions has waited for its answer, where that is worth counting
    /// with, and at most 4 s: a DUT may take its time, and all that is waited for in a case takes so much longer.
    [[nodiscard]] fabric::Duration lateness() const noexcept;
    void answered_after(fabric::Duration time) noexcept;
    /// The next number that ties an answer to its question, and a group or port that nobody used before.
    std::uint16_t next_nonce() noexcept;
    std::uint16_t next_number() noexcept { return ++number_; }
    /// Groups of a run lie in a range of its own, by its seed: bits 16 to 23 of their IDs.
    [[nodiscard]] std::uint8_t group_range() const noexcept;
    /// How each of the tester's ports behaves to others on this host.
    [[nodiscard]] Tester::Manners manners(const fabric::PortFacts& port);
    /// What is worth telling of how the session began; once.
    [[nodiscard]] std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }

private:
    void choose_addresses(const InterfaceFacts& facts);
    void find_out_lateness();
    void forget_tester();
    /// Echo requests of the DUT for the tester; those that come in several fragments are left.
    void answer_echo(const wire::Packet& packet);
    bool find_by_interface();
    bool find_by_arp();

    struct Journaled {
        Journaled(fabric::Fabric& seen, DutControl& asked)
            : journal(seen.loop()), fabric(seen, journal), control(asked, journal) {}
        InputJournal journal;
        JournaledFabric fabric;
        JournaledControl control;
    };
    std::unique_ptr<Journaled> journaled_;
    fabric::Fabric& fabric_;
    DutControl& control_;
    SessionOptions options_;
    Dut dut_;
    std::map<std::uint64_t, Journal> journals_;  ///< by port GUID, of those that were used
    std::unique_ptr<Tester> tester_;
    std::vector<std::string> notes_;
    Situation situation_;
    std::vector<wire::IpNetwork> told_ipv4_;  ///< what the DUT had when it told last
    std::unique_ptr<ConnectionEnds> connection_ends_;
    Recorder* recorder_ = nullptr;
    /// Numbers of groups stay clear of those that stacks join by themselves.
    static constexpr std::uint16_t first_number = 0x1000;
    std::uint16_t nonce_, number_ = first_number;
    wire::Bytes<wire::ArpAddresses> arp_answer_{};
    std::uint16_t arp_answer_lid_ = 0;
    std::function<void(const wire::Packet&)> on_packet_;  ///< that the tester gets
    std::array<fabric::Duration, 32> latest_answers_{};   ///< how long they took, in a ring
    std::size_t answers_ = 0;
    bool has_looked_for_ipv6_ = false, knows_lateness_ = false;
    unsigned times_down_ = 0;  ///< in a row that the DUT's interface did not come up
};

}  // namespace ipoib::conformance
