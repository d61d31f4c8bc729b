// SPDX-License-Identifier: GPL-2.0-or-later
// The player, and the invariants.
#include "conformance/explore/play.hpp"

#include "conformance/explore/action.hpp"
#include "conformance/explore/newcomers.hpp"
#include "conformance/explore/reach.hpp"
#include "conformance/explore/remote.hpp"
#include "conformance/explore/world.hpp"
#include "protocol/requirements/rfc4391.hpp"
#include "protocol/requirements/rfc4392.hpp"
#include "protocol/rules/rule.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ipoib::conformance::explore {
using namespace wire;
using namespace std::chrono_literals;
using requirements::Requirement;

namespace {

/// After the storm. Joins are tried again after up to 16 s, neighbours asked again after 30 s and six more.
constexpr fabric::Duration patience = 90s;
/// In real time, where what is not right again costs it once more for each schedule that makes it smaller.
constexpr fabric::Duration patience_in_real_time = 45s;
constexpr std::array<std::chrono::milliseconds, 6> between_rounds{5ms, 50ms, 300ms, 1s, 2s, 3s};
/// As long as the longest schedule step of the table lasts, beyond its last.
constexpr auto after_last_step = 20ms;
/// What a port may have queued leaves it within this, as the passive rules take it.
constexpr auto queued = 1100ms;
/// A sender leaves within two rounds of the reference's timer.
constexpr fabric::Duration rest = 45s;
/// Not long enough for a sender to leave: whether it does is not asked there.
constexpr fabric::Duration rest_in_real_time = 2s;
constexpr unsigned most_asked_at_rest = 2;
/// Three groups of a family, of which each may be missing, may each ask for the all-routers group.
constexpr unsigned most_open_questions = 3, most_questions_in_a_second = 24;

std::chrono::seconds::rep in_seconds(fabric::Duration duration) {
    return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
}

Weight weight_of(const Requirement* requirement) {
    if (!requirement || requirement->strength == requirements::Strength::may) return Weight::finding;
    return requirement->strength == requirements::Strength::must ? Weight::fail : Weight::warn;
}

fabric::Duration patience_of(const Playing& playing) {
    if (!playing.remote) return patience;
    return playing.remote->scaled(
        std::chrono::duration_cast<fabric::Duration>(patience_in_real_time * playing.patience));
}

class Player {
public:
    Player(const Schedule& schedule, const Playing& playing)
        : playing_(playing),
          schedule_(schedule),
          own_world_(world_for(schedule, playing)),
          world_(*own_world_),
          patience_(patience_of(playing)),
          rest_(playing.remote ? rest_in_real_time : rest) {}

    Outcome execute() {
        storm();
        world_.end_storm();
        settle();
        // What its port may have queued from before it was told of its link is gone by then.
        if (world_.is_virtual()) world_.loop().run_for(queued);
        if (outcome_.violations.empty()) confirm();
        if (outcome_.violations.empty()) join_more();
        if (outcome_.violations.empty())
            for (auto& what : Newcomers{world_}.meet()) add(outcome_.violations, "newcomer", nullptr, std::move(what));
        look_at_paths();
        look_at_rest();
        take_down();
        look_back();
        if (playing_.applies_rules) apply_rules();
        finish();
        return std::move(outcome_);
    }

private:
    static std::unique_ptr<World> world_for(const Schedule& schedule, const Playing& playing) {
        const auto& scenario = fabric::scenario_named(schedule.scenario);
        return playing.remote ? std::make_unique<World>(scenario, schedule.seed, *playing.remote)
                              : std::make_unique<World>(scenario, schedule.seed, playing.mutant);
    }

    void add(std::vector<Violation>& to, std::string invariant, const Requirement* requirement, std::string what) {
        to.push_back({std::move(invariant), requirement, std::move(what), weight_of(requirement)});
    }

    void storm() {
        auto& loop = world_.loop();
        const auto begin = loop.now();
        const auto actions = all_actions();
        const auto act = [this, actions](const Step& step) {
            world_.watch().comment(words(step));
            world_.watch().signal();
            world_.watch().under(static_cast<std::size_t>(step.action - actions.data()) + 1);
            step.action->act(world_, step);
        };
        // Who is in another process is waited for, outside the loop's events: what should happen meanwhile comes late.
        for (const auto& step : schedule_.steps)
            if (world_.is_virtual()) {
                loop.at(begin + step.at, [&act, &step] { act(step); });
            } else {
                loop.run_until([] { return false; }, begin + step.at);
                act(step);
            }
        auto last = fabric::Duration{};
        for (const auto& step : schedule_.steps) last = std::max(last, step.at + duration_of(step));
        loop.run_until([] { return false; }, std::max(begin + last, loop.now()) + after_last_step);
    }

    /// How long what it brings goes on.
    static fabric::Duration duration_of(const Step& step) {
        fabric::Duration duration{};
        for (std::size_t i = 0; i < step.action->arguments.size(); ++i)
            if (step.action->arguments[i].name == "ms") duration = std::chrono::milliseconds{step.arguments.at(i)};
        return duration;
    }

    /// What came in the storm is as it was sent: octets of zero.
    void look_at_delivered() {
        for (const auto& datagram : world_.dut().received())
            if (std::ranges::any_of(datagram.payload, [](std::uint8_t octet) { return octet != 0; }))
                return add(outcome_.violations, "damaged", nullptr,
                           "a program was given what came with another octet than its checksum says, from " +
                               wire::text(datagram.from));
    }

    /// Polls until everything holds.
    void settle() {
        auto& loop = world_.loop();
        world_.watch().comment("the storm has ended");
        storm_end_ = loop.now();
        const auto deadline = loop.now() + patience_;
        look_at_delivered();
        // What was sent into the storm is not asked for.
        Reach{world_}.collect();
        Reach reach{world_};
        std::vector<Violation> open;
        for (std::size_t round = 0;; ++round) {
            world_.tend();
            const auto first = world_.watch().recorder().size();
            const bool is_last = loop.now() >= deadline;
            reach.send(false);
            loop.run_for(between_rounds.at(std::min(round, between_rounds.size() - 1)));
            reach.collect();
            open = look(reach, first);
            if (open.empty() || is_last || fabric::Loop::stop_requested()) break;
            look_at_announcements(reach);
        }
        std::ranges::move(open, std::back_inserter(outcome_.violations));
    }

    /// What was reached once is reached again: by what the nodes know of each other now.
    void confirm() {
        auto& loop = world_.loop();
        Reach again{world_};
        for (const auto pause : {5ms, 300ms, 1000ms, 1700ms}) {
            world_.tend();
            again.send(false);
            loop.run_for(pause);
            again.collect();
            if (again.is_whole()) return look_at_neighbours();
        }
        for (const auto& way : again.broken())
            add(outcome_.violations, "reach-again", nullptr,
                fmt::format("nothing has changed, and nothing arrives any more from {}", way));
    }

    /// Programs can join the groups that were only sent to, and leave them again.
    void join_more() {
        constexpr auto longest_join = 10s;
        for (unsigned group = joined_groups; group < groups; ++group) {
            const auto mgid = world_.mgid(group);
            const bool is_v4 = group_address(group).is_v4();
            if (world_.is_out_of_reach(mgid) || world_.address(0, is_v4).octets.is_zero()) continue;
            world_.join(group);
            const auto is_in = [&] { return (states(mgid) & join_state::full_member) != 0; };
            if (!world_.loop().run_until(is_in, world_.loop().now() + longest_join))
                add(outcome_.violations, "membership", &rfc4391::receiver_full_member_join,
                    fmt::format("a program joins {}, and {} s later the administrator does not have the DUT as "
                                "FullMember of {}",
                                wire::text(group_address(group)), longest_join.count(), wire::text(mgid)));
            world_.leave(group);
        }
    }

    /// What the stack tells of its neighbours is what it sends by.
    void look_at_neighbours() {
        for (const auto& [address, gid] : world_.dut().state().neighbours)
            for (unsigned i = 1; i <= peers; ++i)
                if ((address == world_.address(i, true) || address == world_.address(i, false)) && gid != world_.gid(i))
                    return add(outcome_.violations, "neighbours", nullptr,
                               fmt::format("the DUT reaches {}, and tells that {} is at the GID {}", world_.name(i),
                                           wire::text(address), wire::text(gid)));
    }

    /// Unicast follows the newest announcement, after ARP's lock time and a path query that was lost.
    void look_at_announcements(const Reach& reach) {
        constexpr auto longest = 12s;
        const auto now = world_.loop().now();
        for (unsigned i = 1; i <= peers; ++i)
            for (const bool is_v4 : {true, false}) {
                const auto address = world_.address(i, is_v4);
                const auto told = world_.watch().told_of(address, world_.gid(i));
                const bool is_told = told >= storm_end_ && now - told >= longest && world_.watch().began_anew() <= told;
                if (!is_told || !reach.lacks(0, i, address) || is_deaf_.at(i)) continue;
                is_deaf_.at(i) = true;
                add(outcome_.violations, "announcement", nullptr,
                    fmt::format("{} has announced its new link-layer address for {}, and {} s later the DUT does not "
                                "reach it",
                                world_.name(i), wire::text(address), longest.count()));
            }
    }

    /// After the subnet manager has asked to begin anew, nothing goes to the LIDs of before.
    void look_at_paths() {
        constexpr auto grace = 1s;
        const auto& recorder = world_.watch().recorder();
        const auto since = std::max(world_.watch().began_anew() + grace, storm_end_);
        if (world_.renewed() == fabric::Time::min() || world_.watch().began_anew() < world_.renewed()) return;
        Packet packet;
        for (std::size_t i = 0; i < recorder.size(); ++i) {
            if (recorder.time(i) < since || recorder.party(i) != Party::dut) continue;
            recorder.decode(i, packet);
            if (!packet.is_ipoib() || packet.is_multicast || !world_.is_old_lid(packet.lrh[Lrh::dlid])) continue;
            return add(outcome_.violations, "old-path", nullptr,
                       fmt::format("frame {}: goes to the LID {:#x}, which its peer had before the subnet manager "
                                   "asked to begin anew",
                                   i + 1, packet.lrh[Lrh::dlid]));
        }
    }

    /// An interface that is taken down is in no group, at the latest after the time of a sender.
    void take_down() {
        if (!world_.dut().state().is_running) return;
        world_.watch().comment("the DUT's interface is taken down");
        world_.dut().down();
        if (world_.is_virtual())
            world_.loop().run_for(rest_);
        else
            wait_until([&] { return !full_membership(); });
        if (const auto mgid = full_membership())
            add(outcome_.violations, "leak-down", &rfc4391::leaves_group,
                fmt::format("the interface was taken down, and after {} s the administrator has it as FullMember of {}",
                            in_seconds(longest_leave()), wire::text(*mgid)));
    }
    /// Any group that the administrator has it in.
    [[nodiscard]] std::optional<Gid> full_membership() {
        for (const auto* group : world_.subnet().sa().groups())
            if (states(group->mgid()) & join_state::full_member) return group->mgid();
        return {};
    }
    /// What is asked for at rest need not be watched for long; who leaves later is waited for.
    [[nodiscard]] fabric::Duration longest_leave() const noexcept {
        return world_.is_virtual() ? rest_ : std::max(rest_, patience_);
    }
    void wait_until(const std::function<bool()>& done) {
        static_cast<void>(world_.loop().run_until(done, world_.loop().now() + longest_leave()));
    }

    /// What does not hold now.
    std::vector<Violation> look(const Reach& reach, std::size_t first_frame) {
        std::vector<Violation> open;
        const auto state = world_.dut().state();
        if (!state.is_running) {
            add(open, "up", nullptr,
                "the interface does not come up again" + (state.trouble.empty() ? "" : ": " + state.trouble));
            return open;
        }
        look_at_memberships(open, state.groups);
        look_at_subscriptions(open);
        look_at_mtu(open, state.mtu);
        look_at_frames(open, first_frame);
        if (const auto& odd = world_.watch().odd_lid(); odd.at >= storm_end_)
            add(open, "lid", &rfc4391::ud_transport,
                fmt::format("a packet has the source LID {:#x}, which the port has not any more", odd.lid));
        for (const auto& way : reach.broken()) add(open, "reach", nullptr, "nothing arrives from " + way);
        return open;
    }

    /// In which the administrator has the DUT's port in a group. One of a partition that the port is not in any more it
    /// cannot leave.
    [[nodiscard]] std::uint8_t states(const Gid& mgid) {
        const auto* group = world_.subnet().sa().find(mgid);
        if (!group || !world_.dut().has_p_key(group->record[McMemberRecord::p_key])) return 0;
        const auto found = group->members.find(world_.dut().gid());
        return found == group->members.end() ? std::uint8_t{0} : found->second;
    }

    void look_at_memberships(std::vector<Violation>& open, const std::vector<IpAddress>& held) {
        if (!(states(world_.broadcast_gid()) & join_state::full_member))
            add(open, "broadcast-membership", &rfc4391::broadcast_full_member_join,
                "the interface is up, and the administrator does not have it as FullMember of the broadcast group");
        for (const auto group : world_.wanted().joined) {
            const auto mgid = world_.mgid(group);
            if (world_.is_out_of_reach(mgid)) continue;
            if (!held.empty() && std::ranges::find(held, group_address(group)) == held.end())
                add(open, "membership", &rfc4391::receiver_full_member_join,
                    fmt::format("a program has joined {}, and the DUT is in it no more",
                                wire::text(group_address(group))));
            else if (!(states(mgid) & join_state::full_member))
                add(open, "membership", &rfc4391::receiver_full_member_join,
                    fmt::format("the DUT is in {}, and the administrator does not have it as FullMember of {}",
                                wire::text(group_address(group)), wire::text(mgid)));
        }
        const auto& link = world_.subnet().scenario().link;
        for (const auto& address : held) {
            const auto mgid = address.is_v4() ? mgid_for_ipv4(address.v4(), link.p_key, link.scope)
                                              : mgid_for_ipv6(address.octets, link.p_key, link.scope);
            if (world_.is_out_of_reach(mgid) || (states(mgid) & join_state::full_member)) continue;
            if (std::ranges::any_of(world_.wanted().joined, [&](unsigned i) { return world_.mgid(i) == mgid; }))
                continue;
            add(open, "own-membership", &rfc4391::receiver_full_member_join,
                fmt::format("the DUT's IP is in {}, and the administrator does not have it as FullMember of {}",
                            wire::text(address), wire::text(mgid)));
        }
    }

    void look_at_subscriptions(std::vector<Violation>& open) {
        const auto wanted = world_.watch().subscribed().size();
        const auto held = world_.subnet().sa().subscriptions_of(world_.dut().gid());
        if (held >= wanted) return;
        add(open, "subscription", &rfc4391::group_trap_subscription,
            fmt::format("the DUT had subscribed to {} traps, and the administrator knows of {}", wanted, held));
    }

    void look_at_mtu(std::vector<Violation>& open, std::size_t is) {
        const auto* broadcast = world_.subnet().sa().find(world_.broadcast_gid());
        if (!broadcast) return;
        const auto of_link = stack::mtu_octets(broadcast->record[McMemberRecord::mtu]) - Encap::size;
        const auto wanted = world_.wanted().mtu == 0 ? of_link : std::min(of_link, world_.wanted().mtu);
        if (is == wanted || is == 0) return;
        add(open, "mtu", is > of_link ? &rfc4391::link_mtu : nullptr,
            fmt::format("the MTU is {}: the link has {}, and {} was asked for", is, of_link, world_.wanted().mtu));
    }

    /// What the DUT has sent since then agrees with what the administrator holds.
    void look_at_frames(std::vector<Violation>& open, std::size_t first) {
        const auto& recorder = world_.watch().recorder();
        const auto* broadcast = world_.subnet().sa().find(world_.broadcast_gid());
        if (!broadcast) return;
        using Record = McMemberRecord;
        Packet packet;
        for (auto i = first; i < recorder.size(); ++i) {
            if (recorder.party(i) != Party::dut) continue;
            recorder.decode(i, packet);
            if (!packet.is_ipoib() || !packet.deth) continue;
            const auto q_key = packet.deth[Deth::q_key];
            const auto frame = i + 1;
            if (!packet.is_multicast) {
                const auto of_link = broadcast->record[Record::q_key];
                if (q_key != of_link)
                    add(open, "q_key", &rfc4391::qkey_of_broadcast_group,
                        fmt::format("frame {}: unicast with the Q_Key {:#x}, the broadcast group has {:#x}", frame,
                                    q_key, of_link));
                continue;
            }
            if (!packet.grh) continue;
            const auto mgid = packet.grh[Grh::dgid];
            if (world_.is_out_of_reach(mgid)) continue;
            const auto* group = world_.subnet().sa().find(mgid);
            if (!group) {
                add(open, "no-group", &rfc4392::deleted_group_mlid,
                    fmt::format("frame {}: a packet goes to {}, a group that the administrator does not have", frame,
                                wire::text(mgid)));
                continue;
            }
            if (packet.lrh[Lrh::dlid] != group->mlid())
                add(open, "mlid", &rfc4392::deleted_group_mlid,
                    fmt::format("frame {}: a packet for {} goes to the LID {:#x}, the group has {:#x}", frame,
                                wire::text(mgid), packet.lrh[Lrh::dlid], group->mlid()));
            if (q_key != group->record[Record::q_key])
                add(open, "q_key", &rfc4391::adopts_broadcast_parameters,
                    fmt::format("frame {}: a packet for {} has the Q_Key {:#x}, the group has {:#x}", frame,
                                wire::text(mgid), q_key, group->record[Record::q_key]));
        }
    }

    void look_at_rest() {
        auto& watch = world_.watch();
        watch.begin_rest();
        world_.loop().run_for(rest_);
        const auto state = world_.dut().state();
        if (!state.is_running) return;
        for (const auto& [question, count] : watch.at_rest())
            if (count > most_asked_at_rest && !world_.is_out_of_reach(question.key))
                add(outcome_.violations, "rest", nullptr,
                    fmt::format("{}: asked {} times in {} s of rest", text(question), count, in_seconds(rest_)));
        if (state.groups.empty()) return;
        std::set<Gid> wanted{world_.broadcast_gid()};
        const auto& link = world_.subnet().scenario().link;
        for (const auto& address : state.groups)
            wanted.insert(address.is_v4() ? mgid_for_ipv4(address.v4(), link.p_key, link.scope)
                                          : mgid_for_ipv6(address.octets, link.p_key, link.scope));
        constexpr auto receives = join_state::full_member | join_state::non_member;
        if (!world_.is_virtual())
            wait_until([&] {
                return std::ranges::none_of(world_.subnet().sa().groups(), [&](const auto* group) {
                    return (states(group->mgid()) & receives) != 0 && !wanted.contains(group->mgid());
                });
            });
        for (const auto* group : world_.subnet().sa().groups()) {
            const auto states = this->states(group->mgid());
            if (states == 0 || wanted.contains(group->mgid())) continue;
            if (states & receives)
                add(outcome_.violations, "leak", &rfc4391::leaves_group,
                    fmt::format("nothing of the DUT is in {} any more, and after {} s the administrator has it as {}",
                                wire::text(group->mgid()), in_seconds(longest_leave()),
                                join_state_names[states & 0xf].name));
            else if (world_.is_virtual())
                add(outcome_.violations, "idle", &rfc4392::sender_leaves_in_time,
                    fmt::format("the DUT has sent nothing to {} for {} s, and the administrator has it as {}",
                                wire::text(group->mgid()), in_seconds(rest_), join_state_names[states & 0xf].name));
        }
    }

    void look_back() {
        for (const auto& fault : world_.dut().faults())
            outcome_.violations.push_back({"health", nullptr, "the DUT tells of a fault: " + fault, Weight::crash});
        const auto& open = world_.watch().most_open();
        const auto& fast = world_.watch().most_in_a_second();
        outcome_.most_open = open.count;
        outcome_.most_in_a_second = fast.count;
        if (open.count > most_open_questions)
            add(outcome_.violations, "outstanding", nullptr,
                fmt::format(
                    "{} requests for the same are open at the same time, and nothing has happened to ask for: {}",
                    open.count, text(open.question)));
        if (fast.count > most_questions_in_a_second)
            add(outcome_.violations, "storm", nullptr,
                fmt::format("{} requests for the same within a second: {}", fast.count, text(fast.question)));
    }

    /// The frames at the DUT's port, as a capture that shows what got there and nothing else.
    void apply_rules() {
        static const std::vector<const rules::Rule*> all = [] {
            std::vector<const rules::Rule*> pointers;
            for (const auto& rule : rules::all()) pointers.push_back(&rule);
            return pointers;
        }();
        const auto listener = [this](const rules::Rule& rule, const reports::Detail& detail) {
            const auto* requirement = rule.checks[0];
            const auto what = fmt::format("frame {}: {} is {}, {} is expected", detail.frame, detail.field,
                                          detail.actual, detail.expected);
            const auto id = std::string(rule.id);
            const bool is_known =
                std::ranges::any_of(outcome_.violations, [&](const Violation& one) { return one.invariant == id; });
            if (is_known) return;
            add(outcome_.violations, id, requirement, what);
            const bool is_mild = rule.weight && *rule.weight != requirements::Strength::must;
            if (is_mild) outcome_.violations.back().weight = Weight::warn;
        };
        Judge judge{all, 0, listener, {}};
        world_.watch().judged().show(judge, Party::dut);
        judge.finish();
    }

    void finish() {
        outcome_.transitions = world_.watch().transitions();
        const auto& recorder = world_.watch().recorder();
        std::uint64_t digest = 0xcbf29ce484222325;
        const auto mix = [&](std::uint64_t value) { digest = (digest ^ value) * 0x100000001b3; };
        for (std::size_t i = 0; i < recorder.size(); ++i) {
            mix(static_cast<std::uint64_t>(recorder.time(i).count()));
            for (const auto octet : recorder.octets(i)) mix(octet);
        }
        outcome_.digest = digest;
        if (!playing_.evidence.empty()) recorder.write(playing_.evidence);
    }

    const Playing& playing_;
    const Schedule& schedule_;
    std::unique_ptr<World> own_world_;
    World& world_;
    const fabric::Duration patience_, rest_;
    Outcome outcome_;
    fabric::Time storm_end_{};
    std::array<bool, peers + 1> is_deaf_{};
};

}  // namespace

std::string_view name(Weight weight) noexcept {
    constexpr std::array<std::string_view, 4> names{"FAIL", "FAIL.CRASH", "WARN", "FINDING"};
    return names[static_cast<std::size_t>(weight)];
}

std::string Violation::key() const { return requirement ? invariant + ' ' + std::string(requirement->id) : invariant; }

Outcome play(const Schedule& schedule, const Playing& playing) {
    try {
        return Player{schedule, playing}.execute();
    } catch (const std::runtime_error&) {
        // What is asked of a DUT in another process then fails.
        if (!fabric::Loop::stop_requested()) throw;
        return {};
    }
}

}  // namespace ipoib::conformance::explore
