// SPDX-License-Identifier: GPL-2.0-or-later
// The tester's own ports, as cases use them.
#pragma once

#include "conformance/bench/tester_port.hpp"

#include <memory>
#include <optional>

namespace ipoib::conformance {

class BenchTester {
public:
    explicit BenchTester(CaseContext& context) : context_(context) {}
    ~BenchTester();
    BenchTester(const BenchTester&) = delete;
    BenchTester& operator=(const BenchTester&) = delete;

    /// The port that the bench speaks by.
    [[nodiscard]] fabric::PortFacts port() const;
    /// Stops answering ARP and ND for the tester's own addresses, or begins again.
    void answer_resolution(bool does_answer);
    /// From now on the tester's link-layer address has these flags (RFC 4755, 3.1) and, unless 0, this QPN.
    void present(std::uint8_t flags, std::uint32_t qpn = 0);
    /// Enters the link again, after its broadcast group was left or made anew, or the subnet has another prefix. INCONC
    /// where it cannot.
    void enter_link_again();

    /// The ports, where a case needs both. The second enters the link when it is first asked for; it needs
    /// Ability::two_ports.
    [[nodiscard]] TesterPort& first();
    [[nodiscard]] TesterPort& second();
    /// The second port as it presents itself, without entering the link.
    [[nodiscard]] build::Node second_node();
    /// Whether a message that one port sends to a group gets to another; sent up to three times, since packets are lost
    /// until the subnet manager has programmed the switches.
    [[nodiscard]] bool crosses(TesterPort& from, const Message& message, TesterPort& to);

    /// After the case: gives up what the ports hold beyond the link.
    void undo();

private:
    void stop_listening() noexcept;
    [[nodiscard]] fabric::Port& second_of_fabric();

    CaseContext& context_;
    std::optional<TesterPort> first_{}, second_{};
    std::unique_ptr<Tester> second_tester_{};
};

}  // namespace ipoib::conformance
