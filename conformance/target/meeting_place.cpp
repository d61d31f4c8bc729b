// SPDX-License-Identifier: GPL-2.0-or-later
// A fabric of this process with two on it: stacks of ours, or what adapters in other processes steer.
#include "conformance/target/meeting_place.hpp"

#include "base/child_process.hpp"
#include "base/nearest.hpp"
#include "base/temporary_folder.hpp"
#include "conformance/bench/inputs/journaled.hpp"
#include "conformance/bench/session.hpp"
#include "conformance/dut/adapter_process.hpp"
#include "conformance/target/raw_ports.hpp"
#include "conformance/target/simulated_dut.hpp"
#include "conformance/target/simulated_target.hpp"

#include <algorithm>
#include <array>

namespace ipoib::conformance {
namespace {

using fabric::SimulatedFabric;
using interop::Each, interop::Side, interop::SideBroken, interop::both_sides;
using namespace std::chrono_literals;

constexpr std::string_view port_word = "{port}", guid_word = "{guid}";

bool is_exec(const Contender& contender) { return contender.dut.starts_with(exec_prefix); }
bool has_word(const Contender& contender, std::string_view word) {
    return contender.dut.find(word) != std::string::npos || contender.start.find(word) != std::string::npos;
}

std::string filled_in(std::string text, std::string_view word, const std::string& value) {
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + value.size()))
        text.replace(at, word.size(), value);
    return text;
}

void refuse(const Contender& contender, std::string_view option) {
    const auto named = "--" + std::string(option);
    if (is_exec(contender)) {
        if (contender.dut.size() == exec_prefix.size()) throw std::invalid_argument(named + " exec: names no command");
        return;
    }
    if (!contender.is_ours())
        throw std::invalid_argument(named + " is reference, mutant:NAME or exec:COMMAND, not '" + contender.dut + "'" +
                                    did_you_mean(contender.dut, std::array{"reference", "mutant:NAME", "exec:COMMAND"},
                                                 [](std::string_view one) { return one; }));
    static_cast<void>(stack_mutant(contender.dut));
    if (!contender.start.empty())
        throw std::invalid_argument(named + ": a stack of this process is started by no command");
}

/// Waits longer for the first answer: a guest that boots, say.
class Patient : public DutControl {
public:
    Patient(DutControl& control, fabric::Duration first) : control_(control), first_(first) {}
    [[nodiscard]] DutControlReply ask(const std::string& request, fabric::Duration patience) override {
        return control_.ask(request, std::max(patience, std::exchange(first_, fabric::Duration{})));
    }
    [[nodiscard]] bool waits_for_stopped() override { return control_.waits_for_stopped(); }
    [[nodiscard]] std::string diagnostics() override { return control_.diagnostics(); }
    [[nodiscard]] int process() const override { return control_.process(); }

private:
    DutControl& control_;
    fabric::Duration first_;
};

class MeetingPlace final : public interop::Place {
public:
    explicit MeetingPlace(MeetingPlaceOptions options) : options_(std::move(options)) {
        is_virtual_ = options_.contenders.dut.is_ours() && options_.contenders.against.is_ours();
        path_ = options_.listen;
    }
    ~MeetingPlace() override {
        for (const auto side : both_sides) drop(side);
    }

    void prepare(std::uint64_t seed) override {
        if (is_virtual_) {
            for (const auto side : both_sides) drop(side);
            journaled_.reset();
            journal_.reset();
            fabric_.reset();
        }
        if (!fabric_) open(seed);
        for (const auto side : both_sides)
            if (!members_[side]) begin(side, seed);
    }
    [[nodiscard]] fabric::Fabric& fabric() override {
        if (!fabric_) throw std::runtime_error("nobody has met here");
        if (journaled_) return *journaled_;
        return *fabric_;
    }
    [[nodiscard]] InputJournal* journal() override { return journal_ ? &*journal_ : nullptr; }
    [[nodiscard]] Dut& dut(Side side) override {
        if (!members_[side]) throw SideBroken(side, "it is not there any more");
        return members_[side]->dut;
    }
    [[nodiscard]] std::string diagnostics(Side side) override {
        return members_[side] ? members_[side]->control->diagnostics() : std::exchange(last_words_[side], {});
    }
    void drop(Side side) noexcept override {
        auto& member = members_[side];
        if (!member) return;
        const CleaningUp anyhow;
        member->dut.bye();
        try {
            last_words_[side] = member->control->diagnostics();
        } catch (...) {
            // What nobody can tell is not told.
        }
        member.reset();
    }
    [[nodiscard]] build::Link link() override {
        auto link = fabric_->subnet().scenario().link.as_built();
        link.broadcast_mlid = mlid_of(link.broadcast_gid());
        return link;
    }
    [[nodiscard]] std::uint16_t lid_of(std::uint64_t port_guid) override {
        const auto* port = known(port_guid);
        return port ? port->lid : std::uint16_t{0};
    }
    [[nodiscard]] wire::Gid gid_of(std::uint64_t port_guid) override {
        const auto* port = known(port_guid);
        return port ? port->gid : wire::Gid{};
    }
    [[nodiscard]] std::uint8_t join_states(const wire::Gid& mgid, std::uint64_t port_guid) override {
        const auto* group = fabric_->subnet().sa().find(mgid);
        if (!group) return 0;
        for (const auto& [gid, states] : group->members)
            if (gid.interface_id() == port_guid) return states;
        return 0;
    }
    [[nodiscard]] std::uint16_t mlid_of(const wire::Gid& mgid) override {
        const auto* group = fabric_->subnet().sa().find(mgid);
        return group ? group->mlid() : std::uint16_t{0};
    }
    [[nodiscard]] bool is_virtual() const override { return is_virtual_; }
    [[nodiscard]] int process(Side side) const override {
        return members_[side] ? members_[side]->control->process() : 0;
    }

private:
    /// One of the two, in this process or in another.
    struct Member {
        std::optional<ChildProcess> started;
        std::unique_ptr<SimulatedDut> stack;
        std::unique_ptr<AdapterProcess> adapter;
        std::optional<Patient> patient;
        std::optional<JournaledControl> journaled;
        DutControl* control;
        Dut dut;
        /// What its requests and answers are written into, if anything.
        struct Journaling {
            InputJournal* journal;
            Side side;
            std::chrono::seconds starts_within;
        };
        Member(std::unique_ptr<SimulatedDut> ours, const Journaling& into, const std::string& interface, double scale)
            : stack(std::move(ours)), control(through(stack->control(), into)), dut(*control, interface, scale) {}
        Member(std::unique_ptr<AdapterProcess> theirs, const Journaling& into, const std::string& interface,
               double scale)
            : adapter(std::move(theirs)),
              control(through(patient.emplace(*adapter, into.starts_within), into)),
              dut(*control, interface, scale) {}

    private:
        DutControl* through(DutControl& own, const Journaling& into) {
            if (!into.journal) return &own;
            return &journaled.emplace(own, *into.journal, name(into.side));
        }
    };

    void open(std::uint64_t seed) {
        Target target;
        target.fabric = options_.fabric;
        target.scenario = options_.scenario;
        auto simulated = simulated_options(target, seed,
                                           is_virtual_ ? fabric::Loop::Clock::virtual_time : fabric::Loop::Clock::real);
        // Nobody of ours is on it: nothing can be sent between the two.
        simulated.tester_ports = 0;
        if (is_virtual_) {
            fabric_ = std::make_unique<SimulatedFabric>(simulated);
        } else {
            if (path_.empty()) path_ = folder_.emplace() / "port";
            fabric_ = std::make_unique<ListeningFabric>(simulated, path_);
        }
        if (!options_.keeps_journal) return;
        journal_.emplace(fabric_->loop());
        journaled_ = std::make_unique<JournaledFabric>(*fabric_, *journal_);
    }

    /// Unlike what samples have when nobody says anything.
    [[nodiscard]] std::uint64_t guid(Side side) const {
        constexpr std::uint64_t of_dut = 0x10, of_against = 0x20;
        return fabric::scenario_named(options_.scenario).dut_guid + (side == Side::dut ? of_dut : of_against);
    }
    [[nodiscard]] std::string command(Side side, const std::string& text) const {
        return filled_in(filled_in(text, port_word, path_), guid_word, wire::hex(guid(side), 16));
    }

    void begin(Side side, std::uint64_t seed) {
        const auto& contender = options_.contenders[side];
        try {
            std::unique_ptr<Member> member;
            const Member::Journaling into{journal(), side, contender.starts_within};
            if (contender.is_ours()) {
                member = std::make_unique<Member>(
                    std::make_unique<SimulatedDut>(*fabric_, guid(side), stack_mutant(contender.dut)), into,
                    contender.interface, options_.timeout_scale);
            } else {
                auto adapter = std::make_unique<AdapterProcess>(
                    fabric_->loop(), command(side, contender.dut.substr(exec_prefix.size())), 2s, options_.remark);
                member =
                    std::make_unique<Member>(std::move(adapter), into, contender.interface, options_.timeout_scale);
            }
            if (!contender.start.empty()) start(*member, command(side, contender.start));
            member->dut.greet(seed);
            members_[side] = std::move(member);
        } catch (const std::runtime_error& why) {
            throw SideBroken(side, why.what());
        }
    }
    static void start(Member& member, const std::string& text) {
        auto& started = member.started.emplace(Command::shell(text), ChildProcess::Diagnostics::with_ours,
                                               ChildProcess::Grace{.to_restore = 500ms, .to_end = 1s});
        if (!started.error().empty()) throw std::runtime_error("its start command: " + started.error());
        const auto ending = started.ending(100ms);
        if (ending && (ending->status != 0 || ending->signal != 0))
            throw std::runtime_error("its start command has ended: " + ending->text());
    }

    [[nodiscard]] const fabric::KnownPort* known(std::uint64_t port_guid) {
        for (const auto& port : fabric_->subnet().view().ports())
            if (port.port_guid == port_guid && port.is_active) return &port;
        return nullptr;
    }

    MeetingPlaceOptions options_;
    bool is_virtual_ = false;
    std::optional<TemporaryFolder> folder_;
    std::string path_;
    std::unique_ptr<SimulatedFabric> fabric_;
    std::optional<InputJournal> journal_;
    std::unique_ptr<JournaledFabric> journaled_;
    Each<std::unique_ptr<Member>> members_;
    Each<std::string> last_words_;
};

}  // namespace

std::unique_ptr<interop::Place> make_meeting_place(const MeetingPlaceOptions& options) {
    for (const auto side : both_sides) refuse(options.contenders[side], name(side));
    Target target;
    target.fabric = options.fabric;
    target.scenario = options.scenario;
    static_cast<void>(simulated_options(target, 0, fabric::Loop::Clock::virtual_time));
    if (options.fabric != usual_fabric)
        throw std::invalid_argument("two are judged on a fabric that does nothing wrong: --fabric " +
                                    std::string(usual_fabric) + ", not '" + options.fabric + "'");
    bool has_exec = false, has_port = !options.listen.empty();
    for (const auto side : both_sides) {
        has_exec = has_exec || is_exec(options.contenders[side]);
        has_port = has_port || has_word(options.contenders[side], port_word);
    }
    if (has_exec && !has_port)
        throw std::invalid_argument(
            "a DUT in another process needs a raw port: --listen PATH, or {port} in its command");
    if (!has_exec && !options.listen.empty())
        throw std::invalid_argument("--listen is for a DUT in another process (exec:COMMAND)");
    return std::make_unique<MeetingPlace>(options);
}

}  // namespace ipoib::conformance
