// SPDX-License-Identifier: GPL-2.0-or-later
// A fabric and a DUT's control as they are, with all that comes from them written into a journal.
#pragma once

#include "conformance/bench/inputs/journal.hpp"

#include <memory>

namespace ipoib::conformance {

/// Nothing is owned; what listens to the fabric ends with this.
class JournaledFabric : public fabric::Fabric {
public:
    JournaledFabric(fabric::Fabric& fabric, InputJournal& journal);
    ~JournaledFabric() override;
    JournaledFabric(const JournaledFabric&) = delete;
    JournaledFabric& operator=(const JournaledFabric&) = delete;

    using Fabric::change;
    [[nodiscard]] fabric::Loop& loop() override { return fabric_.loop(); }
    [[nodiscard]] fabric::Abilities abilities() const override { return fabric_.abilities(); }
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> facts() const override { return fabric_.facts(); }
    [[nodiscard]] std::span<fabric::Port* const> ports() override { return ports_; }
    void observe(std::function<void(const fabric::Sighting&)> observer) override;
    [[nodiscard]] fabric::ChangeAnswer change(const fabric::FabricChange& change, fabric::Duration patience) override;
    [[nodiscard]] fabric::TimerId after(fabric::Duration delay, std::function<void()> action) override;
    void cancel(fabric::TimerId& timer) noexcept override { fabric_.cancel(timer); }
    [[nodiscard]] std::string problem() const override { return fabric_.problem(); }

private:
    class JournaledPort;
    fabric::Fabric& fabric_;
    InputJournal& journal_;
    std::vector<std::unique_ptr<JournaledPort>> own_;
    std::vector<fabric::Port*> ports_;
    std::uint64_t timers_ = 0;  ///< that were set
};

class JournaledControl : public DutControl {
public:
    /// `side`: which of two it is; empty where there is one.
    JournaledControl(DutControl& control, InputJournal& journal, std::string_view side = {})
        : control_(control), journal_(journal), side_(side) {}
    [[nodiscard]] DutControlReply ask(const std::string& request, fabric::Duration patience) override;
    [[nodiscard]] bool waits_for_stopped() override;
    [[nodiscard]] std::string diagnostics() override { return control_.diagnostics(); }
    [[nodiscard]] int process() const override { return control_.process(); }

private:
    DutControl& control_;
    InputJournal& journal_;
    std::string_view side_;
};

}  // namespace ipoib::conformance
