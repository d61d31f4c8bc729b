// SPDX-License-Identifier: GPL-2.0-or-later
// Words for broken relations.
#include "conformance/metamorphic/text.hpp"

#include "conformance/judge/notation.hpp"
#include "fabric/capture/writer.hpp"
#include "protocol/wire/medium.hpp"

#include <fmt/format.h>

#include <map>

namespace ipoib::metamorphic {
namespace {

std::string frame_text(const Frame& frame) {
    wire::Packet packet;
    wire::decode(frame.octets, packet, frame.medium, frame.wire_length);
    auto line = conformance::in_one_line(packet);
    if (packet.lrh) line = fmt::format("{}->{} ", packet.lrh[wire::Lrh::slid], packet.lrh[wire::Lrh::dlid]) + line;
    if (frame.origin.party != inspection::Party::anyone)
        line = std::string(conformance::title_of(frame.origin.party)) + ": " + line;
    return line;
}

bool is_loss(const Relation& relation) { return relation.name.starts_with("loss-"); }

/// The frames that are left, and those that were changed. A lost frame is in the list, too: it is what would have
/// cleared the accused.
std::string frames_text(const Break& one, const Trace& variant) {
    const auto& source = *one.source;
    const auto first = source.size() ? source.frames().front().time : 0;
    std::string lines;
    const auto line = [&](const char* mark, const Frame& frame, std::size_t number) {
        constexpr double second = 1e9;
        lines += fmt::format("    {} {:>4} {:>11.3f} s  {}\n", mark, number,
                             static_cast<double>(frame.time - first) / second, frame_text(frame));
    };
    if (is_loss(*one.relation)) {
        for (const auto index : one.reduced.kept) {
            const bool is_accused = variant.frames.size() > one.reduced.moved.charge.position &&
                                    variant.frames[one.reduced.moved.charge.position].from == index;
            line(has(one.reduced.choice.frames, index) ? "lost"
                 : is_accused                          ? "  =>"
                                                       : "    ",
                 source.frames()[index], index + 1);
        }
        return lines;
    }
    for (std::size_t i = 0; i < variant.frames.size(); ++i) {
        const auto& frame = variant.frames[i];
        const bool is_chosen = !frame.is_mixed_in && has(one.reduced.choice.frames, frame.from);
        line(i == one.reduced.moved.charge.position ? "  =>"
             : frame.is_mixed_in                    ? "   +"
             : is_chosen                            ? "   *"
                                                    : "    ",
             frame, frame.from + std::size_t{1});
    }
    return lines;
}

std::string charge_text(const Moved& moved) {
    const auto& charge = moved.charge;
    const auto& rule = rules::all()[charge.rule];
    return fmt::format("{} {} {} ({}): {}{}{}", charge.is_fail ? "FAIL" : "WARN",
                       requirements::all()[charge.requirement]->id, moved.is_gone ? "is gone" : "appears", rule.id,
                       rule.title, charge.subject ? "; " + name_of(charge.subject) : "",
                       charge.link ? " on " + name_of(charge.link) : "");
}

capture::LinkType link_type_of(wire::Medium medium) {
    return static_cast<capture::LinkType>(wire::spec(medium).link_type);
}

Trace variant_of(const Break& one) {
    Trace variant;
    one.relation->change(*one.source, one.reduced.kept, one.reduced.choice, variant);
    return variant;
}

}  // namespace

std::string key(const Break& one) {
    return fmt::format("{} {} {}", one.relation->name, rules::all()[one.reduced.moved.charge.rule].id,
                       one.reduced.moved.is_gone ? "goes" : "appears");
}

std::string text(const Break& one) {
    auto lines = fmt::format("BROKEN {}: {}\n", one.relation->name, charge_text(one.reduced.moved));
    lines += fmt::format("    {}\n", one.relation->what);
    lines += fmt::format("    variant {}; {} variant{} of {} source{}\n",
                         variant_name(*one.relation, *one.source, one.number), one.variants,
                         one.variants == 1 ? "" : "s", one.sources.size(), one.sources.size() == 1 ? "" : "s");
    return lines + frames_text(one, variant_of(one));
}

std::string text(const Outcome& outcome) {
    std::string all;
    for (const auto& one : outcome.breaks) all += text(one) + '\n';
    for (const auto& [relation, variants] : outcome.by_relation) {
        const auto broken = std::ranges::count(outcome.breaks, relation, &Break::relation);
        all += fmt::format("{:<18} {:>10} variants{}\n", relation->name, variants,
                           broken ? fmt::format(", broken in {} ways", broken) : "");
    }
    constexpr double minute = 60;
    const auto rate = outcome.seconds > 0 ? static_cast<double>(outcome.variants) / outcome.seconds * minute : 0;
    return all + fmt::format("{} variants, {:.0f} a minute, {} broken relations{}\n", outcome.variants, rate,
                             outcome.breaks.size(), outcome.is_interrupted ? "; interrupted" : "");
}

void write_capture(const Break& one, const std::string& path) { write_capture(variant_of(one), path); }

void write_capture(const Trace& trace, const std::string& path) {
    auto writer = capture::Writer::pcapng(path);
    std::map<std::pair<std::uint32_t, wire::Medium>, std::uint32_t> interfaces;
    constexpr std::array names{"", "dut", "tester", "sa", "other"};
    for (const auto& frame : trace.frames) {
        const auto [at, is_new] = interfaces.try_emplace({frame.interface, frame.medium}, 0);
        if (is_new) {
            auto name = std::string(names.at(static_cast<std::size_t>(frame.origin.party)));
            if (frame.origin.is_rebuilt) name += inspection::rebuilt_suffix;
            at->second = writer.add_interface(link_type_of(frame.medium), name);
        }
        writer.write(frame.time, frame.octets, at->second, frame.wire_length);
    }
    writer.close();
}

}  // namespace ipoib::metamorphic
