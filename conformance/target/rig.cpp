// SPDX-License-Identifier: GPL-2.0-or-later
// The fabrics and DUTs that a command line can name.
#include "conformance/target/target.hpp"

#include "base/nearest.hpp"
#include "conformance/dut/adapter_process.hpp"
#include "conformance/dut/no_control.hpp"
#include "conformance/target/raw_ports.hpp"
#include "conformance/target/simulated_dut.hpp"
#include "conformance/target/simulated_target.hpp"
#include "fabric/simulated/fabric.hpp"

#include <array>
#include <random>

namespace ipoib::conformance {
namespace {

using fabric::SimulatedFabric;
using namespace std::chrono_literals;

/// Everything in this process: new for each case, in virtual time.
class SimulatedRig : public Rig {
public:
    explicit SimulatedRig(const Target& target) : target_(target), mutant_(stack_mutant(target.dut)) {
        (void)simulated_options(target, 0, fabric::Loop::Clock::virtual_time);
    }
    ~SimulatedRig() override { drop(); }

    Session& prepare(std::uint64_t seed) override {
        drop();
        fabric_ =
            std::make_unique<SimulatedFabric>(simulated_options(target_, seed, fabric::Loop::Clock::virtual_time));
        facts_ = fabric_->facts();
        if (target_.has_control())
            dut_ = std::make_unique<SimulatedDut>(*fabric_, fabric::scenario_named(target_.scenario).dut_guid, mutant_);
        auto options = target_.session;
        options.seed = seed;
        session_ = std::make_unique<Session>(*fabric_, dut_ ? dut_->control() : none_, options);
        session_->begin();
        return *session_;
    }
    /// Thrown away as a whole: nobody else is on this fabric.
    [[nodiscard]] std::string clean_up(CaseEnd) override {
        drop();
        return {};
    }
    [[nodiscard]] fabric::Abilities abilities() const override {
        using fabric::Ability;
        return Ability::any_frame | Ability::see_all | Ability::reports | Ability::fabric_control | Ability::two_ports |
               Ability::trusted_sa | Ability::long_tables;
    }
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> fabric_facts() const override { return facts_; }
    [[nodiscard]] bool is_virtual() const override { return true; }

private:
    void drop() noexcept {
        session_.reset();
        dut_.reset();
        fabric_.reset();
    }

    Target target_;
    const Mutant* mutant_;
    NoControl none_;
    std::unique_ptr<SimulatedFabric> fabric_;
    std::unique_ptr<SimulatedDut> dut_;
    std::unique_ptr<Session> session_;
    std::vector<std::pair<std::string, std::string>> facts_;
};

/// A fabric and a DUT that last for the whole run. A fabric that was lost is looked for again.
class LastingRig : public Rig {
public:
    using Open = std::function<OpenedFabric(const Target& target, bool is_again)>;
    LastingRig(const Target& target, const FabricKind& kind, Open open) : target_(target), open_(std::move(open)) {
        if (kind.is_somebodys()) {
            // Others may run the suite on this fabric at the same time: groups and nonces are this run's alone.
            target_.session.seed += std::random_device{}();
            target_.session.journal_folder = Journal::usual_folder();
        }
        auto opened = open_(target_, false);
        target_.session.p_key = opened.p_key;
        fabric_ = std::move(opened.fabric);
    }
    ~LastingRig() override { drop(); }
    Session& prepare(std::uint64_t) override {
        if (session_) return *session_;
        find_fabric();
        session_ = std::make_unique<Session>(*fabric_, control(), target_.session);
        try {
            session_->begin();
        } catch (...) {
            // Only a session that has begun is kept; the next case tries again, with a new adapter.
            drop();
            throw;
        }
        return *session_;
    }
    [[nodiscard]] std::string clean_up(CaseEnd end) override {
        if (!session_) return {};
        std::string problem;
        try {
            if (!end.is_broken) session_->undo();
        } catch (const ChannelBroken&) {
            end.is_broken = true;
        }
        if (end.changed_fabric && fabric_->problem().empty()) problem = restore();
        if (end.is_broken) drop();
        return problem;
    }
    [[nodiscard]] std::vector<std::string> dut_can() override {
        Dut dut{control(), target_.session.interface, target_.session.timeout_scale};
        std::vector<std::string> can;
        try {
            dut.greet(target_.session.seed);
            can = dut.abilities();
            dut.bye();
        } catch (...) {
            drop();
            throw;
        }
        drop();
        return can;
    }
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> fabric_facts() const override {
        return fabric_ ? fabric_->facts() : facts_;
    }
    [[nodiscard]] fabric::Abilities abilities() const override { return fabric_ ? fabric_->abilities() : abilities_; }
    [[nodiscard]] bool is_virtual() const override { return false; }

protected:
    [[nodiscard]] const Target& target() const noexcept { return target_; }
    [[nodiscard]] fabric::Fabric& fabric() noexcept { return *fabric_; }
    /// Ends what was begun: groups are left, the adapter is told goodbye.
    void drop() noexcept {
        if (session_) session_->end();
        session_.reset();
        adapter_.reset();
    }
    [[nodiscard]] virtual DutControl& control() {
        if (!target_.dut.starts_with(exec_prefix)) return none_;
        if (!adapter_)
            adapter_ = std::make_unique<AdapterProcess>(fabric_->loop(), target_.dut.substr(exec_prefix.size()),
                                                        std::chrono::seconds{2}, target_.remark);
        return *adapter_;
    }

private:
    /// Before a session begins.
    void find_fabric() {
        if (fabric_ && fabric_->problem().empty()) return;
        if (fabric_) {
            abilities_ = fabric_->abilities();
            facts_ = fabric_->facts();
        }
        fabric_.reset();
        fabric_ = open_(target_, true).fabric;
    }
    /// What cases change is taken back one by one; a fabric that can put back more is asked to.
    std::string restore() {
        const CleaningUp anyhow;
        const auto answer = fabric_->change(fabric::Restore{});
        if (answer.outcome != fabric::ChangeAnswer::Outcome::failed) return {};
        return "the fabric could not be put back, " + fabric::text(fabric::Restore{}) + ": " + answer.message;
    }

    Target target_;
    Open open_;
    std::unique_ptr<fabric::Fabric> fabric_;
    /// Of the fabric that was lost last.
    fabric::Abilities abilities_;
    std::vector<std::pair<std::string, std::string>> facts_;
    NoControl none_;
    std::unique_ptr<AdapterProcess> adapter_;
    std::unique_ptr<Session> session_;
};

/// All in this process and in virtual time, and yet one life: what a case leaves behind in the DUT the next one meets.
class LastingSimulatedRig : public LastingRig {
public:
    LastingSimulatedRig(const Target& target, const FabricKind& kind)
        : LastingRig(target, kind,
                     [](const Target& of, bool) {
                         return OpenedFabric{std::make_unique<SimulatedFabric>(
                             simulated_options(of, of.session.seed, fabric::Loop::Clock::virtual_time))};
                     }),
          mutant_(stack_mutant(target.dut)) {}
    ~LastingSimulatedRig() override { drop(); }
    [[nodiscard]] bool is_virtual() const override { return true; }

protected:
    [[nodiscard]] DutControl& control() override {
        if (!target().is_ours()) return LastingRig::control();
        if (!dut_)
            dut_ = std::make_unique<SimulatedDut>(static_cast<SimulatedFabric&>(fabric()),
                                                  fabric::scenario_named(target().scenario).dut_guid, mutant_);
        return dut_->control();
    }

private:
    const Mutant* mutant_;
    std::unique_ptr<SimulatedDut> dut_;
};

/// What a fabric that is not ours cannot have.
void refuse(const Target& target, const FabricKind& kind) {
    const auto scheme = std::string(kind.scheme) + ':';
    if (!kind.carries_data && !target.judges_sa())
        throw std::invalid_argument("--fabric " + scheme + " carries management datagrams only: --dut sa, not '" +
                                    target.dut + "'");
    if (target.is_ours()) throw std::invalid_argument("the " + target.dut + " DUT lives on the simulated fabric only");
    if (!target.listen.empty()) throw std::invalid_argument("--listen is for the simulated fabric");
    if (kind.is_somebodys() && target.scenario != Target{}.scenario)
        throw std::invalid_argument("--scenario is how a fabric of ours is set up; " + scheme + " is somebody's");
}

/// One of ours, with what stands on it.
std::unique_ptr<Rig> simulated_rig(const Target& target, const FabricKind& kind) {
    if (!target.fabric_control.empty())
        throw std::invalid_argument("--fabric-control is for fabrics outside this process");
    if (target.listen.empty()) {
        if (target.dut.starts_with(exec_prefix))
            throw std::invalid_argument("a DUT in another process needs a raw port: --listen PATH");
        if (target.is_lasting) return std::make_unique<LastingSimulatedRig>(target, kind);
        return std::make_unique<SimulatedRig>(target);
    }
    if (target.is_ours()) throw std::invalid_argument("--listen is for a DUT in another process (--dut exec:COMMAND)");
    return std::make_unique<LastingRig>(target, kind, [](const Target& of, bool) {
        return OpenedFabric{std::make_unique<ListeningFabric>(
            simulated_options(of, of.session.seed, fabric::Loop::Clock::real), of.listen)};
    });
}

}  // namespace

fabric::Abilities abilities_of(const Target& target, const FabricKinds& kinds) {
    const auto* kind = kinds.find(target.fabric, FabricUse::run);
    if (!kind || !kind->abilities) return make_rig(target, kinds)->abilities();
    refuse(target, *kind);
    return kind->abilities(target.opening());
}

std::unique_ptr<Rig> make_rig(const Target& target, const FabricKinds& kinds) {
    const bool is_exec = target.dut.starts_with(exec_prefix);
    if (!is_exec && !target.is_ours() && target.has_control())
        throw std::invalid_argument(
            "--dut is reference, mutant:NAME, sa, exec:COMMAND or none, not '" + target.dut + "'" +
            did_you_mean(target.dut, std::array{"reference", "mutant:NAME", "sa", "none", "exec:COMMAND"},
                         [](std::string_view one) { return one; }));
    if (is_exec && target.dut.size() == exec_prefix.size()) throw std::invalid_argument("--dut exec: names no command");
    const auto* kind = kinds.find(target.fabric, FabricUse::run);
    if (!kind)
        throw std::invalid_argument("--fabric is " + kinds.forms(FabricUse::run) + ", not '" + target.fabric + "'" +
                                    did_you_mean(target.fabric.substr(0, target.fabric.find(':')), kinds.all(),
                                                 [](const FabricKind* one) { return one->scheme; }));
    if (kind->is_ours()) return simulated_rig(target, *kind);
    refuse(target, *kind);
    return std::make_unique<LastingRig>(target, *kind, [kind](const Target& of, bool is_again) {
        auto opening = of.opening();
        opening.is_again = is_again;
        return kind->open(opening);
    });
}

}  // namespace ipoib::conformance
