// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-gen receive: counts what another one sends.
#include "base/complain.hpp"
#include "protocol/wire/text.hpp"
#include "traffic-gen/arrivals.hpp"
#include "traffic-gen/options.hpp"
#include "traffic-gen/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace ipoib::traffic {
namespace {

using namespace std::chrono_literals;

/// The groups that a sender with this seed uses.
void join_groups(Crew& crew, unsigned groups) {
    if (groups == 0) return;
    auto& member = crew.members().front();
    const auto& link = member.link();
    const Scene scene{{.link = link, .hosts = {member.self()}}, {.groups = groups, .group_range = crew.group_range()}};
    for (unsigned i = 0; i < groups; ++i)
        for (const auto& mgid : {wire::mgid_for_ipv4(scene.group4(i), link.p_key, link.scope),
                                 wire::mgid_for_ipv6(scene.group6(i), link.p_key, link.scope)})
            if (!member.join(mgid, wire::join_state::full_member).is_ok())
                throw std::runtime_error("the subnet administrator does not let us join " + wire::text(mgid));
}

Figures figures_of(const Arrivals& arrivals) {
    return {.packets = arrivals.packets,
            .octets = arrivals.octets,
            .more = {{"numbered", arrivals.numbered},
                     {"flows", arrivals.flows()},
                     {"lost", arrivals.lost()},
                     {"duplicates", arrivals.doubled()},
                     {"reordered", arrivals.overtaken()}}};
}

/// Says on standard error which bounds were not kept.
bool is_missed(const ReceiveOptions& options, const Arrivals& arrivals) {
    // Of those that were to come, also the last ones.
    const auto came = arrivals.different();
    const auto lost = std::max(arrivals.lost(), options.count > came ? options.count - came : 0);
    constexpr double percent = 100;
    const auto all = static_cast<double>(lost + came);
    const double loss = all > 0 ? percent * static_cast<double>(lost) / all : 0;
    bool is_any = false;
    const auto look = [&](bool is_beyond, const std::string& what) {
        if (is_beyond) complain("ipoib-gen", what);
        is_any |= is_beyond;
    };
    look(loss > options.most_loss, fmt::format("{:.3f} % were lost, more than --max-loss {}", loss, options.most_loss));
    look(arrivals.doubled() > options.most_doubled,
         fmt::format("{} came twice, more than --max-duplicates {}", arrivals.doubled(), options.most_doubled));
    look(arrivals.overtaken() > options.most_overtaken,
         fmt::format("{} came late, more than --max-reordered {}", arrivals.overtaken(), options.most_overtaken));
    // Nothing at all is no proof of anything.
    look(arrivals.numbered == 0, "no packet with a number came");
    return is_any;
}

}  // namespace

int receive(const ReceiveOptions& options) {
    const auto& kinds = conformance::fabric_kinds();
    const auto* kind = kinds.find(options.from, conformance::FabricUse::traffic);
    if (kind && kind->is_ours() && options.listen.empty())
        throw UsageError("--from " + options.from + ": nobody else is on it; --listen PATH lets a sender in");
    const auto allowed = fabric::find_impact(options.allow).value_or(kinds.usual_impact(options.from));
    if (options.groups > 0 && allowed < fabric::Impact::link)
        throw UsageError("--groups: others may notice who joins groups: --allow link");
    if (options.groups > 0 && kind && kind->is_somebodys() && !options.seed)
        throw UsageError("--groups: which they are follows from the sender's --seed, which is missing");
    Crew crew{{.words = options.from,
               .option = "--from",
               .scenario = options.scenario,
               .listen = options.listen,
               .seed = options.seed.value_or(1),
               .ipv4 = ipv4_of(options.ipv4)}};
    join_groups(crew, options.groups);
    Arrivals arrivals;
    Reporter reporter{{.is_json = options.stats == "json",
                       .is_quiet = options.is_quiet,
                       .interval = options.interval,
                       .count = options.count,
                       .duration = options.duration,
                       .is_slow = true},
                      [&] { return figures_of(arrivals); }};
    auto& loop = crew.fabric().loop();
    auto last = loop.now();
    crew.on_datagram([&](wire::Octets frame) {
        arrivals.take(frame);
        last = loop.now();
    });
    const auto& self = crew.members().front().self();
    if (!options.is_quiet)
        complain(fmt::format("receiving at {} and {}, {}\n", wire::ipv4_text(self.ipv4), wire::text(self.ipv6),
                             options.count          ? fmt::format("until {} are there", options.count)
                             : options.duration > 0 ? fmt::format("for {} s", options.duration)
                                                    : "until Ctrl-C"));
    constexpr auto between_looks = 100ms;
    const auto patience = std::chrono::duration_cast<fabric::Duration>(std::chrono::duration<double>(options.patience));
    const auto is_enough = [&] { return options.count != 0 && arrivals.different() >= options.count; };
    const auto is_over = [&] {
        const bool is_quiet = options.count != 0 && arrivals.numbered > 0 && loop.now() - last > patience;
        return is_enough() || is_quiet || fabric::Loop::stop_requested() ||
               (options.duration > 0 && reporter.seconds() >= options.duration);
    };
    try {
        while (!is_over()) {
            (void)loop.run_until(is_enough, loop.now() + between_looks);
            reporter.tick();
            crew.check();
        }
    } catch (...) {
        reporter.finish("");
        throw;
    }
    reporter.finish("");
    return is_missed(options, arrivals) ? exit_missed : exit_ok;
}

}  // namespace ipoib::traffic
