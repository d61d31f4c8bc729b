// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-gen receive: counts what another one sends.
#include "protocol/wire/text.hpp"
#include "traffic-gen/arrivals.hpp"
#include "traffic-gen/options.hpp"
#include "traffic-gen/statistics.hpp"

#include <fmt/format.h>

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
    bool is_any = false;
    const auto look = [&](bool is_beyond, const std::string& what) {
        if (is_beyond) fmt::print(stderr, "ipoib-gen: {}\n", what);
        is_any |= is_beyond;
    };
    look(arrivals.loss_percent() > options.most_loss,
         fmt::format("{:.3f} % were lost, more than --max-loss {}", arrivals.loss_percent(), options.most_loss));
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
    if (!names_fabric(options.from)) throw UsageError("--from " + options.from + ": no fabric is called so");
    if (options.from == "simulated" && options.listen.empty())
        throw UsageError("--from simulated: nobody else is on it; --listen PATH lets a sender in");
    Crew crew{{.words = options.from,
               .scenario = options.scenario,
               .listen = options.listen,
               .seed = options.seed,
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
    crew.on_datagram([&](wire::Octets frame) { arrivals.take(frame); });
    const auto& self = crew.members().front().self();
    if (!options.is_quiet)
        fmt::print(stderr, "receiving at {} and {}, {}\n", wire::ipv4_text(self.ipv4), wire::text(self.ipv6),
                   options.count || options.duration > 0 ? "until all is there" : "until Ctrl-C");
    auto& loop = crew.fabric().loop();
    constexpr auto between_looks = 100ms;
    const auto is_enough = [&] { return options.count != 0 && arrivals.numbered >= options.count; };
    while (!is_enough() && !fabric::Loop::stop_requested() &&
           !(options.duration > 0 && reporter.seconds() >= options.duration)) {
        (void)loop.run_until(is_enough, loop.now() + between_looks);
        reporter.tick();
        crew.check();
    }
    reporter.finish("");
    return is_missed(options, arrivals) ? exit_missed : exit_ok;
}

}  // namespace ipoib::traffic
