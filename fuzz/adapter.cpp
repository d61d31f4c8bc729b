// SPDX-License-Identifier: GPL-2.0-or-later
// libFuzzer target: whatever an adapter answers, a request ends with typed values or one of its three errors, in words
// that a terminal can show. Lines; the first letter of each chooses the request, "%" in it is the request's id.
#include "base/line_buffer.hpp"
#include "conformance/dut/dut.hpp"
#include "fuzz/fuzzer.hpp"

#include <array>

using namespace ipoib;
using namespace ipoib::conformance;
using fuzz::demand;

namespace {

/// Gives the line as the answer to every request but the one that does not exist.
class Answering : public DutControl {
public:
    DutControlReply ask(const std::string& request, fabric::Duration) override {
        demand(request.size() <= longest_control_line && request.find('\n') == std::string::npos);
        const auto begin = request.find(':') + 1;
        const auto id = request.substr(begin, request.find_first_of(",}") - begin);
        if (is_honest_once && requests++ == 0) return {R"({"error":"unsupported","id":)" + id + "}", {}};
        auto answer = line;
        if (const auto at = answer.find('%'); at != std::string::npos) answer.replace(at, 1, id);
        return {answer, {}};
    }
    std::string line;
    bool is_honest_once = false;
    unsigned requests = 0;
};

void demand_words(const std::string& text) {
    if (!text.empty()) fuzz::demand_sentence(text, 2100);
    demand(text.find('\n') == std::string::npos);
}
void demand_words(const std::vector<std::string>& texts) {
    for (const auto& text : texts) demand_words(text);
}

void greet(Dut& dut) {
    dut.greet();
    demand_words(dut.name());
    demand_words(dut.abilities());
    for (const auto& [name, value] : dut.facts()) demand_words(name);
}
void interface(Dut& dut) {
    const auto facts = dut.interface();
    demand(facts.mtu <= 65535);
    for (const auto& network : facts.ipv4) demand(network.address.is_v4());
    for (const auto& network : facts.ipv6) demand(!network.address.is_v4());
    for (const auto& group : facts.groups) demand(group.is_multicast());
    demand_words(facts.mode);
}
void received(Dut& dut) {
    for (const auto& one : dut.received()) {
        demand(one.ttl <= 255 && one.payload.size() <= 2 * longest_control_line);
        demand(one.payload.find_first_not_of("0123456789abcdef") == std::string::npos);
    }
}
void unprivileged(Dut& dut) {
    for (const auto& one : dut.unprivileged()) demand_words(one.what);
}

constexpr std::array<void (*)(Dut&), 12> requests{
    greet,
    interface,
    received,
    unprivileged,
    [](Dut& dut) { static_cast<void>(dut.neighbours()); },
    [](Dut& dut) { demand_words(dut.log()); },
    [](Dut& dut) { demand_words(dut.health()); },
    [](Dut& dut) { static_cast<void>(dut.ping({}, 56)); },
    [](Dut& dut) { demand_words(dut.create_child(0x8001)); },
    [](Dut& dut) { dut.set_mode("connected"); },
    [](Dut& dut) { dut.up(); },
    [](Dut& dut) { dut.join({}); },
};

template <class Failure>
void look_at(const Failure& failure) {
    const std::string_view what = failure.what();
    fuzz::demand_sentence(what, 2200);
    demand(what.find('\n') == std::string_view::npos);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    LineBuffer lines;
    lines.feed(fuzz::as_text({data, size}));
    Answering control;
    Dut dut{control, "ib0"};
    while (const auto line = lines.next()) {
        if (line->empty()) continue;
        const auto request = static_cast<unsigned char>(line->front()) % requests.size();
        control.line = line->substr(1);
        control.is_honest_once = request == 0;
        control.requests = 0;
        try {
            requests[request](dut);
        } catch (const Unsupported& failure) {
            look_at(failure);
        } catch (const ControlFailed& failure) {
            look_at(failure);
        } catch (const ChannelBroken& failure) {
            look_at(failure);
        }
    }
    try {
        dut.undo();
    } catch (const ChannelBroken& failure) {
        look_at(failure);
    }
    dut.bye();
    return 0;
}
