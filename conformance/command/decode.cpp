// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform decode: one frame, layer by layer, with what the rules find in it.
#include "base/clock_text.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/output.hpp"
#include "conformance/command/usage.hpp"
#include "conformance/judge/force.hpp"
#include "conformance/judge/notation.hpp"
#include "conformance/judge/passive.hpp"
#include "protocol/wire/registry.hpp"
#include "protocol/wire/text.hpp"
#include "reports/failure.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

namespace ipoib::conformance {
namespace {

using namespace wire;

/// A frame and the judge that has seen what came before it, so that the rules know the link.
struct JudgedFrame {
    std::vector<std::uint8_t> octets;
    Medium medium = Medium::infiniband;
    std::size_t wire_length = 0;
    std::vector<reports::Result> findings;
    /// In ns since 1970, also of the first frame and of the one before; 0: not known.
    std::int64_t time = 0, began = 0, before = 0;
};

/// Collects the violations of one frame only.
reports::Result violation(const rules::Rule& rule, const reports::Detail& detail) {
    reports::Result result{.id = std::string(rule.id), .title = std::string(rule.title)};
    result.checks.emplace_back(rule.checks[0]->id);
    const bool is_binding = rule.weight.value_or(rule.checks[0]->strength) == requirements::Strength::must;
    result.verdict = is_binding ? reports::Verdict::fail : reports::Verdict::warn;
    if (is_binding) result.fail_type = strongest_fail_type(rule.checks);
    result.details.push_back(detail);
    return result;
}

JudgedFrame from_capture(const std::string& path, std::uint64_t wanted) {
    auto reader = capture::Reader::open(path);
    JudgedFrame target;
    Judge judge{rules::every(),
                0,
                [&](const rules::Rule& rule, const reports::Detail& detail) {
                    if (detail.frame == wanted) target.findings.push_back(violation(rule, detail));
                },
                {.is_all_ipoib = true}};
    capture::Frame frame;
    std::uint64_t last = 0;
    auto status = reader.next(frame);
    for (; status == capture::Status::frame; status = reader.next(frame)) {
        judge.frame(frame);
        last = frame.number;
        if (target.began == 0) target.began = frame.time_ns;
        if (frame.number < wanted) {
            target.before = frame.time_ns;
            continue;
        }
        if (frame.number > wanted) break;
        const auto medium = medium_of(frame.link_type);
        if (!medium)
            throw UsageError(fmt::format("frame {} has link type {}, which is none of InfiniBand", wanted,
                                         static_cast<unsigned>(frame.link_type)));
        target.octets.assign(frame.octets.begin(), frame.octets.end());
        target.medium = *medium;
        target.wire_length = frame.wire_length;
        target.time = frame.time_ns;
        return target;
    }
    if (!reader.error().empty()) throw UsageError(reader.error());
    if (wanted > last) throw UsageError(fmt::format("{} has {} frames, and no frame {}", path, last, wanted));
    throw UsageError(path + " has no frame " + std::to_string(wanted) + " that can be decoded");
}

JudgedFrame from_hex(const std::string& text) {
    auto octets = parse_octets(text);
    if (std::error_code none; (!octets || octets->empty()) && std::filesystem::is_regular_file(text, none))
        throw UsageError("which frame of " + text + "? The first is '" + text + "#1'");
    if (!octets || octets->empty()) throw UsageError("'" + text + "' is neither hex octets nor CAPTURE#FRAME");
    JudgedFrame target{.octets = std::move(*octets), .findings = {}};
    Judge judge{rules::every(),
                0,
                [&](const rules::Rule& rule, const reports::Detail& detail) {
                    target.findings.push_back(violation(rule, detail));
                },
                {.is_all_ipoib = true}};
    judge.frame({.number = 1,
                 .link_type = capture::LinkType::infiniband,
                 .octets = target.octets,
                 .wire_length = static_cast<std::uint32_t>(target.octets.size())});
    return target;
}

JudgedFrame target_of(const std::string& what) {
    const auto hash = what.rfind('#');
    if (hash == std::string::npos) return from_hex(what);
    std::uint64_t frame = 0;
    const auto* begin = what.data() + hash + 1;
    const auto* end = what.data() + what.size();
    if (const auto [at, error] = std::from_chars(begin, end, frame); error != std::errc{} || at != end || frame == 0)
        throw UsageError("'" + what.substr(hash + 1) + "' is no frame number (they start at 1)");
    return from_capture(what.substr(0, hash), frame);
}

std::string_view check_name(Check check) {
    constexpr std::array<std::string_view, 3> names{"not captured", "right", "WRONG"};
    return names[static_cast<std::size_t>(check)];
}

void print_packet(const Packet& packet) {
    for_each_shown(packet,
                   [&](const HeaderSpec& header, const std::uint8_t* at) { print(header_text(packet, header, at)); });
    if (packet.lrh) {
        const auto checked = check_crcs(packet.octets, packet.tail);
        say("ICRC {}, VCRC {}\n", check_name(checked.icrc), check_name(checked.vcrc));
    }
    if (packet.foreign != Foreign::none) say("Known from elsewhere: {}.\n", name(packet.foreign));
    if (packet.is_truncated) say("The frame is truncated: {} octets were captured.\n", packet.octets.size());
    if (packet.stop)
        say("Decoding stopped at offset {}: {} needs {} octets, {} are there.\n", packet.stop.offset, packet.stop.layer,
            packet.stop.needed, packet.stop.available);
    say("{}\n", packet.is_ipoib() ? "An IPoIB packet." : "No IPoIB packet.");
}

void print_time(const JudgedFrame& frame) {
    if (frame.time == 0) return;
    auto text = utc_time(frame.time) + ", " + seconds_between(frame.began, frame.time) + " since the first frame";
    if (frame.before != 0) text += ", " + seconds_between(frame.before, frame.time) + " since the one before";
    say("{}\n", text);
}

void run_decode(const std::string& what) {
    const auto target = target_of(what);
    Packet packet;
    decode(target.octets, packet, target.medium, target.wire_length);
    print_time(target);
    print_packet(packet);
    for (const auto& finding : target.findings) {
        const auto& detail = finding.details.front();
        say("{} {} violated: {}: {} is {}, expected {}\n", reports::verdict_name(finding), finding.checks.front(),
            finding.title, detail.field, detail.actual, detail.expected);
    }
}

Action set_up_decode(CLI::App& command, const std::string&) {
    auto what = std::make_shared<std::vector<std::string>>();
    command
        .add_option("FRAME", *what,
                    "Octets in hex from the LRH on (blanks, colons and dashes may stand between), or a frame of a "
                    "capture as FILE#NUMBER, counted from 1")
        ->required()
        ->type_name("...");
    return [what] {
        std::string joined;
        for (const auto& word : *what) joined += (joined.empty() ? "" : " ") + word;
        run_decode(joined);
        return exit_ok;
    };
}

}  // namespace

namespace command {

extern const Command decode{
    .name = "decode", .about = "One frame, layer by layer, with the rules' findings", .set_up = set_up_decode};

}  // namespace command
}  // namespace ipoib::conformance
