// SPDX-License-Identifier: GPL-2.0-or-later
// One line after the other; what cannot be an input of a bench is refused.
#include "conformance/replay/tape.hpp"

#include "base/json_object.hpp"
#include "protocol/wire/text.hpp"

#include <array>
#include <fstream>

namespace ipoib::conformance::replay {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view format = "ipoib-conform-journal/1";
constexpr std::uint64_t most_octets = std::uint64_t{128} << 20;
constexpr std::uint64_t most_ports = 8, most_lines = 100'000'000;
/// A year, in nanoseconds.
constexpr std::uint64_t latest = 31'536'000'000'000'000;

constexpr std::array<std::string_view, 10> names{"seen", "took",     "report", "port",   "timer",
                                                 "sent", "attached", "sa",     "fabric", "dut"};

std::vector<std::uint8_t> octets_in(const JsonPart& part, const std::string& member) {
    auto octets = wire::parse_octets(part.text(member));
    if (!octets) part.refuse(member, "is no hexadecimal octets");
    return std::move(*octets);
}

wire::Gid gid_in(const JsonPart& part, const std::string& member) {
    const auto gid = wire::parse_gid(part.text(member));
    if (!gid) part.refuse(member, "is no GID");
    return *gid;
}

template <class Number>
Number number_of(const JsonPart& part, const std::string& member) {
    return static_cast<Number>(part.whole(member, static_cast<std::uint64_t>(static_cast<Number>(~Number{}))));
}

fabric::PortFacts facts_in(const JsonPart& part) {
    fabric::PortFacts facts{.is_active = part.flag("active"),
                            .lid = number_of<std::uint16_t>(part, "lid"),
                            .sm_lid = number_of<std::uint16_t>(part, "sm_lid"),
                            .sm_sl = number_of<std::uint8_t>(part, "sm_sl"),
                            .mtu = number_of<std::uint8_t>(part, "mtu"),
                            .rate = number_of<std::uint8_t>(part, "rate"),
                            .gid = gid_in(part, "gid"),
                            .p_keys = {},
                            .qpn = number_of<std::uint32_t>(part, "qpn"),
                            .is_shared = part.flag("shared")};
    constexpr std::uint64_t most = 0xffff;
    for (const auto& p_key : part.array("p_keys")) {
        const auto value = number_in(p_key);
        if (!value || *value > most) part.refuse("p_keys", "holds what is no P_Key");
        facts.p_keys.push_back(static_cast<std::uint16_t>(*value));
    }
    return facts;
}

fabric::SaRequest sa_request_in(const JsonPart& part) {
    return {.method = static_cast<wire::Method>(number_of<std::uint8_t>(part, "method")),
            .attribute = number_of<std::uint16_t>(part, "attribute"),
            .modifier = number_of<std::uint32_t>(part, "modifier"),
            .component_mask = part.number("component_mask", ~std::uint64_t{0}),
            .record = octets_in(part, "record"),
            .is_trusted = part.flag("trusted")};
}

fabric::SaAnswer sa_answer_in(const JsonPart& part) {
    constexpr std::uint64_t most_record = 4096;
    return {.is_answered = true,
            .method = static_cast<wire::Method>(number_of<std::uint8_t>(part, "method")),
            .status = number_of<std::uint16_t>(part, "status"),
            .data = octets_in(part, "data"),
            .record_size = part.whole("record_size", most_record),
            .is_cut = part.flag("cut")};
}

fabric::Sender sender_in(const JsonPart& part) {
    const auto sender = part.text("sender");
    if (sender == "tester") return fabric::Sender::tester;
    if (sender == "sa") return fabric::Sender::sa;
    if (sender != "other") part.refuse("sender", "is tester, sa or other");
    return fabric::Sender::other;
}

/// As a line; a text stays as it is.
std::string line_of(const Json& json) { return json.is_string() ? json.get<std::string>() : json_line(json); }

class Line {
public:
    Line(Json object, const std::string& where) : object_(std::move(object)), where_(where), part_(object_, where) {}

    /// False for the last one of a file from which lines were left out.
    bool read(Entry& entry) {
        entry.at = fabric::Time{static_cast<std::int64_t>(part_.whole("at", latest))};
        const auto what = part_.text("in");
        if (what == "end") return false;
        if (what == "case") {
            const auto mark = part_.text("what");
            if (mark != "begins" && mark != "ends") part_.refuse("what", "is begins or ends");
            entry.kind = mark == "begins" ? Kind::begins : Kind::ends;
            if (entry.kind == Kind::ends) entry.text = part_.text("verdict");
            return true;
        }
        const auto* const found = std::ranges::find(names, what);
        if (found == names.end()) part_.refuse("in", "is nothing that comes into a bench");
        entry.kind = static_cast<Kind>(found - names.begin());
        entry.began = entry.at;
        if (is_input(entry.kind)) {
            entry.is_apart = part_.has("apart") && part_.flag("apart");
        } else {
            if (part_.has("during")) entry.during = part_.whole("during", most_lines);
            if (part_.has("began")) entry.began = fabric::Time{static_cast<std::int64_t>(part_.whole("began", latest))};
        }
        if (part_.has("error")) entry.text = part_.text("error");
        if (entry.kind == Kind::timer) {
            entry.number = part_.whole("number", most_lines);
            return true;
        }
        if (entry.kind != Kind::seen && entry.kind != Kind::fabric && entry.kind != Kind::dut)
            entry.port = static_cast<std::uint32_t>(part_.whole("port", most_ports - 1));
        if (entry.kind == Kind::dut && part_.has("side")) {
            const auto side = part_.text("side");
            if (side != "dut" && side != "against") part_.refuse("side", "is dut or against");
            entry.port = side == "dut" ? 0 : 1;
        }
        fill(entry);
        return true;
    }

private:
    void fill(Entry& entry) {
        switch (entry.kind) {
            case Kind::seen:
                entry.sender = sender_in(part_);
                entry.is_rebuilt = part_.flag("rebuilt");
                [[fallthrough]];
            case Kind::took:
            case Kind::report:
            case Kind::sent:
                entry.octets = octets_in(part_, "octets");
                if (entry.kind == Kind::report && entry.octets.size() != wire::Notice::size)
                    part_.refuse("octets", "is no Notice");
                return;
            default:
                break;
        }
        entry.exchange = std::make_unique<Exchange>();
        auto& exchange = *entry.exchange;
        switch (entry.kind) {
            case Kind::port:
                exchange.facts = facts_in(JsonPart{part_.object("facts"), where_ + "facts: "});
                return;
            case Kind::attached:
                exchange.mgid = gid_in(part_, "mgid");
                exchange.mlid = number_of<std::uint16_t>(part_, "mlid");
                return;
            case Kind::sa:
                exchange.sa_request = sa_request_in(JsonPart{part_.object("request"), where_ + "request: "});
                if (const auto answer = object_.find("answer"); answer != object_.end() && !answer->is_null())
                    exchange.sa_answer = sa_answer_in(JsonPart{part_.object("answer"), where_ + "answer: "});
                return;
            default:
                break;
        }
        if (part_.has("stopped")) {
            exchange.was_stopped = part_.flag("stopped");
            return;
        }
        const auto request = object_.find("request");
        if (request == object_.end()) part_.refuse("request", "is missing");
        exchange.request = line_of(*request);
        if (const auto answer = object_.find("answer"); answer != object_.end()) exchange.answer = line_of(*answer);
    }

    Json object_;  ///< in its order
    const std::string& where_;
    JsonPart part_;
};

Head head_in(const JsonPart& part) {
    if (part.text("format") != format) part.refuse("format", "is not " + std::string(format));
    constexpr std::uint64_t most = 1'000'000;
    Head head{.case_id = part.text("case"),
              .suite = part.text("suite"),
              .repetition = part.whole("repetition", most),
              .number = part.whole("number", most),
              .seed = part.number("seed", ~std::uint64_t{0}),
              .timeout_scale = part.real("timeout_scale", 1000),
              .is_virtual = part.text("clock") == "virtual"};
    return head;
}

}  // namespace

std::string_view name(Kind kind) noexcept {
    return static_cast<std::size_t>(kind) < names.size() ? names[static_cast<std::size_t>(kind)] : "case";
}

Journal read_journal(const std::filesystem::path& path, std::uint32_t file) {
    std::error_code unknown;
    const auto size = std::filesystem::file_size(path, unknown);
    std::ifstream lines{path, std::ios::binary};
    if (unknown || !lines) throw std::invalid_argument(path.filename().string() + " cannot be read");
    if (size > most_octets) throw std::invalid_argument(path.filename().string() + " is larger than 128 MiB");
    Journal journal{.path = path, .head = {}, .entries = {}};
    std::string text;
    for (std::uint32_t number = 1; std::getline(lines, text); ++number) {
        const auto where = path.filename().string() + " line " + std::to_string(number) + ": ";
        auto object = object_in<Json>(text);
        if (!object) throw std::invalid_argument(where + "is no object of JSON");
        if (number == 1) {
            journal.head = head_in(JsonPart{*object, where});
            continue;
        }
        Entry entry{.file = file, .line = number, .octets = {}, .text = {}, .exchange = {}};
        if (Line{std::move(*object), where}.read(entry))
            journal.entries.push_back(std::move(entry));
        else
            journal.is_cut = true;
    }
    if (journal.head.number == 0)
        throw std::invalid_argument(path.filename().string() + " is no journal: it has no head");
    return journal;
}

}  // namespace ipoib::conformance::replay
