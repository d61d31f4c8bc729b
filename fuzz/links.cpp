// SPDX-License-Identifier: GPL-2.0-or-later
// libFuzzer target: whatever the frames of a capture say, the judge learns from them within bounds, and what it has
// learned can be told. Frames, one behind the other: medium, time since the one before, length, octets.
#include "base/json_text.hpp"
#include "conformance/judge/passive.hpp"
#include "conformance/links/choice.hpp"
#include "fuzz/fuzzer.hpp"
#include "protocol/wire/medium.hpp"

#include <nlohmann/json.hpp>

using namespace ipoib;
using fuzz::demand;

namespace {

/// The time between two frames, from none to an hour.
std::int64_t pause_of(std::uint8_t octet) { return octet < 16 ? octet : std::int64_t{1} << octet % 42; }

void look_at(const conformance::Judge& judge, const links::Observer& observer) {
    const auto account = links::account_of(judge, observer);
    std::string text, json;
    links::to_text(account, {}, {}, [&](const std::string& piece) { text += piece; });
    links::to_json(account, {}, {}, [&](const std::string& piece) { json += piece; });
    demand(text.ends_with('\n') && json.ends_with('\n') && nlohmann::json::accept(json) &&
           printable_json(json) == json);
    for (const auto& finding : account.findings) fuzz::demand_sentence(finding.text, 4000);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto rules = rules::every();
    fuzz::Input input{data, size};
    links::Observer observer;
    conformance::Judge judge{rules, 0, observer.listener()};
    judge.set_onlooker(observer.onlooker());
    capture::Frame frame;
    while (!input.is_empty()) {
        const auto& medium = wire::media()[input.number() % wire::media().size()];
        frame.link_type = static_cast<capture::LinkType>(medium.link_type);
        frame.time_ns += pause_of(input.number());
        frame.octets = input.counted();
        frame.wire_length = static_cast<std::uint32_t>(frame.octets.size());
        ++frame.number;
        judge.frame(frame);
    }
    judge.finish();
    for (const auto& finding : judge.findings())
        demand(finding.violations <= finding.observed && finding.details.size() <= 100);
    // Telling takes longer than learning: one input in sixteen is told whole.
    if (size % 16 != 0) return 0;
    look_at(judge, observer);
    for (const auto& result : judge.results())
        demand(result.violations <= result.observed && result.details.size() <= 100);
    return 0;
}
