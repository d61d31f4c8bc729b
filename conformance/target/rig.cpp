// SPDX-License-Identifier: GPL-2.0-or-later
// The fabrics and DUTs that a command line can name.
#include "conformance/target/target.hpp"

#include "conformance/dut/adapter_process.hpp"
#include "conformance/target/open_fabric.hpp"
#include "conformance/target/raw_ports.hpp"
#include "conformance/target/simulated_dut.hpp"
#include "conformance/target/simulated_target.hpp"
#include "fabric/simulated/fabric.hpp"
#include "fabric/socket/fabric.hpp"

#ifdef IPOIB_HAS_UMAD
#include "fabric/umad/fabric.hpp"
#endif

#include <nlohmann/json.hpp>

#include <random>

namespace ipoib::conformance {
namespace {

using fabric::SimulatedFabric;
using namespace std::chrono_literals;

constexpr std::string_view exec_prefix = "exec:", mutant_prefix = "mutant:", socket_prefix = "socket:",
                           umad_prefix = "umad:", verbs_prefix = "verbs:";

/// The DUT of `--dut none` and `--dut sa`: nothing can be asked of it.
class NoControl : public DutControl {
public:
    DutControlReply ask(const std::string& request, fabric::Duration) override {
        const auto asked = nlohmann::json::parse(request, nullptr, false);
        if (asked.value("do", "") == "hello")
            return {.line = nlohmann::json{{"id", asked["id"]},
                                           {"ok", true},
                                           {"protocol", 1},
                                           {"name", "none"},
                                           {"can", nlohmann::json::array()}}
                                .dump(),
                    .error = {}};
        return {.line = nlohmann::json{{"id", asked["id"]}, {"error", "unsupported"}, {"message", "no control"}}.dump(),
                .error = {}};
    }
};

/// Everything in this process: new for each case, in virtual time.
class SimulatedRig : public Rig {
public:
    explicit SimulatedRig(const Target& target) : target_(target), mutant_(mutant_named(target.dut, mutant_prefix)) {
        if (mutant_ && mutant_->sa)
            throw std::invalid_argument("'" + std::string(mutant_->name) +
                                        "' is a mutant of the subnet administrator: --fabric " +
                                        std::string(sa_mutant_prefix) + std::string(mutant_->name) + " --dut sa");
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

/// A fabric and a DUT that last for the whole run, in real time.
class LastingRig : public Rig {
public:
    ~LastingRig() override { drop(); }
    Session& prepare(std::uint64_t) override {
        if (session_) return *session_;
        find_fabric();
        session_ = std::make_unique<Session>(the_fabric(), control(), target_.session);
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
            if (end.changed_fabric) problem = restore();
        } catch (const ChannelBroken&) {
            end.is_broken = true;
        }
        if (end.is_broken) drop();
        return problem;
    }
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> fabric_facts() const override {
        return fabric_ ? fabric_->facts() : facts_;
    }
    [[nodiscard]] fabric::Abilities abilities() const override { return fabric_ ? fabric_->abilities() : abilities_; }
    [[nodiscard]] bool is_virtual() const override { return false; }

protected:
    /// Before a session begins: a fabric that was lost may have come again.
    virtual void find_fabric() {}

    explicit LastingRig(const Target& target) : target_(target) {}
    fabric::Fabric& the_fabric() { return *fabric_; }

    Target target_;
    std::unique_ptr<fabric::Fabric> fabric_;
    /// Of the fabric that was lost last.
    fabric::Abilities abilities_;
    std::vector<std::pair<std::string, std::string>> facts_;

    /// Ends what was begun: groups are left, the adapter is told goodbye.
    void drop() noexcept {
        if (session_) session_->end();
        session_.reset();
        adapter_.reset();
    }

private:
    /// What cases change is taken back one by one; a fabric that can put back more is asked to.
    std::string restore() {
        const auto answer = the_fabric().change(fabric::Restore{});
        if (answer.outcome != fabric::ChangeAnswer::Outcome::failed) return {};
        return "the fabric could not be put back, " + fabric::text(fabric::Restore{}) + ": " + answer.message;
    }
    DutControl& control() {
        if (!target_.dut.starts_with(exec_prefix)) return none_;
        if (!adapter_)
            adapter_ = std::make_unique<AdapterProcess>(fabric_->loop(), target_.dut.substr(exec_prefix.size()),
                                                        std::chrono::seconds{2}, target_.remark);
        return *adapter_;
    }
    NoControl none_;
    std::unique_ptr<AdapterProcess> adapter_;
    std::unique_ptr<Session> session_;
};

/// The simulated fabric with raw ports for nodes in other processes.
class ListeningRig : public LastingRig {
public:
    explicit ListeningRig(const Target& target) : LastingRig(target) {
        auto simulated = std::make_unique<SimulatedFabric>(
            simulated_options(target, target.session.seed, fabric::Loop::Clock::real));
        auto& subnet = simulated->subnet();
        fabric_ = std::move(simulated);
        nodes_ = std::make_unique<RawPorts>(subnet, target.listen);
    }
    ~ListeningRig() override {
        // While the DUT is still on the fabric.
        drop();
        nodes_.reset();
    }

private:
    std::unique_ptr<RawPorts> nodes_;
};

/// This process is a node of another fabric, by raw ports.
class SocketRig : public LastingRig {
public:
    explicit SocketRig(const Target& target)
        : LastingRig(target), options_(socket_options(std::string_view(target.fabric).substr(socket_prefix.size()))) {
        (void)fabric::scenario_named(target.scenario);
        if (target.scenario != usual_scenario && target.fabric_control.empty())
            throw std::invalid_argument("--scenario on a fabric outside this process needs --fabric-control");
        options_.control = target.fabric_control;
        options_.seed = target.session.seed;
        options_.patience = scaled(options_.patience);
        connect();
        // Once it was there, it may take a while to start again.
        options_.patience = options_.connect_patience = scaled(restart_patience);
    }

private:
    static constexpr std::string_view usual_scenario = "default";
    static constexpr fabric::Duration restart_patience = 60s;

    [[nodiscard]] fabric::Duration scaled(fabric::Duration duration) const {
        return std::chrono::duration_cast<fabric::Duration>(duration * target_.session.timeout_scale);
    }

    void find_fabric() override {
        if (fabric_ && fabric_->problem().empty()) return;
        if (fabric_) {
            abilities_ = fabric_->abilities();
            facts_ = fabric_->facts();
        }
        fabric_.reset();
        connect();
    }
    void connect() {
        fabric_ = std::make_unique<fabric::SocketFabric>(options_);
        if (target_.scenario == usual_scenario) return;
        const auto answer =
            fabric_->change(fabric::SetScenario{std::string(target_.scenario)}, scaled(restart_patience));
        if (!answer.is_done())
            throw std::runtime_error("the fabric cannot be set up as " + target_.scenario + ": " + answer.message);
    }

    fabric::SocketOptions options_;
};

/// A fabric of which ports of this host are part. One that was lost is looked for again.
class HcaRig : public LastingRig {
public:
    using Options = std::function<std::unique_ptr<fabric::Fabric>(fabric::Duration patience)>;
    HcaRig(const Target& target, std::uint16_t p_key, Options make) : LastingRig(target), make_(std::move(make)) {
        target_.session.p_key = p_key;
        // Others may run the suite on this fabric at the same time: groups and nonces are this run's alone.
        target_.session.seed += std::random_device{}();
        target_.session.journal_folder = Journal::usual_folder();
        HcaRig::find_fabric();
    }

private:
    static constexpr fabric::Duration patience = 10s;
    void find_fabric() override {
        if (fabric_ && fabric_->problem().empty()) return;
        if (fabric_) {
            abilities_ = fabric_->abilities();
            facts_ = fabric_->facts();
        }
        fabric_.reset();
        fabric_ = make_(std::chrono::duration_cast<fabric::Duration>(patience * target_.session.timeout_scale));
    }

    Options make_;
};

void refuse_scenario(const Target& target, std::string_view kind) {
    if (target.scenario != Target{}.scenario)
        throw std::invalid_argument("--scenario is how a fabric of ours is set up; " + std::string(kind) +
                                    " is somebody's");
}

/// Only the SA can be judged there: nothing but management datagrams is sent.
std::unique_ptr<Rig> umad_rig(const Target& target) {
    if (target.dut != "sa")
        throw std::invalid_argument("--fabric umad: carries management datagrams only: --dut sa, not '" + target.dut +
                                    "'");
    refuse_scenario(target, umad_prefix);
#ifdef IPOIB_HAS_UMAD
    const auto words = umad_target(std::string_view(target.fabric).substr(umad_prefix.size()));
    return std::make_unique<HcaRig>(
        target, words.p_key, [words, control = target.fabric_control](fabric::Duration patience) {
            return std::make_unique<fabric::UmadFabric>(fabric::UmadFabricOptions{
                .port = {.device = words.port.device, .port = words.port.number, .raises_issm = words.raises_issm},
                .sm_key = words.sm_key,
                .control = control,
                .patience = patience});
        });
#else
    throw std::invalid_argument("--fabric umad: is not in this program: libibumad was missing when it was built");
#endif
}

VerbsChoice verbs_choice(const Target& target) {
    if (target.is_ours()) throw std::invalid_argument("the " + target.dut + " DUT lives on the simulated fabric only");
    refuse_scenario(target, verbs_prefix);
    return {.target = verbs_target(std::string_view(target.fabric).substr(verbs_prefix.size())),
            .control = target.fabric_control};
}

std::unique_ptr<Rig> verbs_rig(const Target& target) {
    auto choice = verbs_choice(target);
    const auto p_key = choice.target.p_key;
    return std::make_unique<HcaRig>(target, p_key, [choice = std::move(choice)](fabric::Duration patience) {
        return open_verbs(choice, patience);
    });
}

}  // namespace

fabric::Abilities abilities_of(const Target& target) {
    return target.fabric.starts_with(verbs_prefix) ? verbs_abilities(verbs_choice(target))
                                                   : make_rig(target)->abilities();
}

std::unique_ptr<Rig> make_rig(const Target& target) {
    const bool is_exec = target.dut.starts_with(exec_prefix);
    const bool is_simulated_dut = target.is_ours();
    if (!is_exec && !is_simulated_dut && target.dut != "none" && target.dut != "sa")
        throw std::invalid_argument("--dut is reference, mutant:NAME, sa, exec:COMMAND or none, not '" + target.dut +
                                    "'");
    if (is_exec && target.dut.size() == exec_prefix.size()) throw std::invalid_argument("--dut exec: names no command");
    if (target.fabric.starts_with(socket_prefix)) {
        if (is_simulated_dut)
            throw std::invalid_argument("the " + target.dut + " DUT lives on the simulated fabric only");
        if (!target.listen.empty()) throw std::invalid_argument("--listen is for the simulated fabric");
        return std::make_unique<SocketRig>(target);
    }
    if (target.fabric.starts_with(umad_prefix)) return umad_rig(target);
    if (target.fabric.starts_with(verbs_prefix)) return verbs_rig(target);
    if (target.fabric != "simulated" && !target.fabric.starts_with(sa_mutant_prefix))
        throw std::invalid_argument(
            "--fabric is simulated, simulated:sa-mutant=NAME, socket:PATH, umad:DEVICE or verbs:DEVICE, not '" +
            target.fabric + "'");
    if (!target.fabric_control.empty())
        throw std::invalid_argument("--fabric-control is for fabrics outside this process");
    if (target.listen.empty()) {
        if (is_exec) throw std::invalid_argument("a DUT in another process needs a raw port: --listen PATH");
        return std::make_unique<SimulatedRig>(target);
    }
    if (is_simulated_dut) throw std::invalid_argument("--listen is for a DUT in another process (--dut exec:COMMAND)");
    return std::make_unique<ListeningRig>(target);
}

}  // namespace ipoib::conformance
