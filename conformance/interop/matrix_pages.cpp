// SPDX-License-Identifier: GPL-2.0-or-later
// A matrix of implementations as text, Markdown, HTML, JSON and an image.
#include "base/json_text.hpp"
#include "conformance/interop/matrix.hpp"
#include "reports/html/element.hpp"
#include "reports/markdown.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace ipoib::conformance::interop {
using nlohmann::ordered_json;
using reports::Verdict;

namespace {

std::string names_of(const Matrix& matrix, const std::vector<std::size_t>& who) {
    std::string text;
    for (const auto index : who) text += (text.empty() ? "" : ", ") + matrix.implementations[index].name;
    return text;
}

/// "PASS 8, NA 2"; "FAIL by c-node"; "INCONC".
std::string in_short(const Matrix& matrix, const Cell& cell) {
    const auto verdict = cell.verdict();
    if (verdict == Verdict::fail) return "FAIL by " + names_of(matrix, cell.broken_by());
    auto text = fmt::format("{} {}", name(verdict), verdict == Verdict::na ? cell.not_applicable() : cell.kept());
    if (const auto count = cell.not_applicable(); count > 0 && verdict != Verdict::na)
        text += fmt::format(", NA {}", count);
    return text;
}

std::string pair_of(const Matrix& matrix, const Cell& cell) {
    return matrix.implementations[cell.dut].name + " and " + matrix.implementations[cell.against].name;
}

const Implementation& who(const Matrix& matrix, const Cell& cell, Side side) {
    return matrix.implementations[side == Side::dut ? cell.dut : cell.against];
}

/// What is said of a pair, with the names of the two instead of their sides.
std::string by_names(const Matrix& matrix, const Cell& cell, std::string text) {
    for (const auto side : both_sides) {
        const auto word = std::string(name(side));
        const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-'; };
        const auto& called = who(matrix, cell, side).name;
        for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + called.size())) {
            const bool is_word = (at == 0 || !is_letter(text[at - 1])) &&
                                 (at + word.size() == text.size() || !is_letter(text[at + word.size()]));
            if (is_word) text.replace(at, word.size(), called);
        }
    }
    return text;
}

/// What is not as it should be: the exchange, who, the verdict, and why.
struct Line {
    const Cell* cell;
    const CellExchange* exchange;
    Side side;
};

std::vector<Line> wrong_lines(const Matrix& matrix) {
    std::vector<Line> lines;
    for (const auto& cell : matrix.cells)
        for (const auto& one : cell.exchanges)
            for (const auto side : both_sides) {
                const auto verdict = one.of[side].verdict;
                if (verdict != Verdict::pass && verdict != Verdict::na) lines.push_back({&cell, &one, side});
            }
    return lines;
}

/// Who meets itself stays "dut" and "against": else nobody knew which.
std::string who_text(const Matrix& matrix, const Line& line) {
    return line.cell->dut == line.cell->against ? std::string(name(line.side))
                                                : who(matrix, *line.cell, line.side).name;
}
std::string why_text(const Matrix& matrix, const Line& line) {
    const auto& message = line.exchange->of[line.side].message;
    return line.cell->dut == line.cell->against ? message : by_names(matrix, *line.cell, message);
}

/// "frame 12 violates": a number says nothing where several frames are meant.
std::string without_frames(std::string_view text) {
    static constexpr std::string_view word = "frame ";
    std::string out;
    while (!text.empty()) {
        const auto digits = text.starts_with(word) ? text.find_first_not_of("0123456789", word.size()) : 0;
        if (digits > word.size()) {
            out += "a frame";
            text.remove_prefix(std::min(digits, text.size()));
        } else {
            out += text.front();
            text.remove_prefix(1);
        }
    }
    return out;
}

/// What one of them does with everybody is one line.
struct Habit {
    std::size_t who;  ///< an index of implementations
    Verdict verdict;
    std::string why;    ///< without the numbers of frames
    std::string first;  ///< with that of the first
    unsigned times = 0;
    std::vector<std::string> exchanges{};
    std::vector<const Cell*> pairs{};

    [[nodiscard]] const std::string& told() const noexcept { return times == 1 ? first : why; }
};

std::vector<Habit> habits(const Matrix& matrix) {
    std::vector<Habit> all;
    const auto add = [](auto& list, const auto& value) {
        if (std::ranges::find(list, value) == list.end()) list.push_back(value);
    };
    for (const auto& line : wrong_lines(matrix)) {
        const auto who = line.side == Side::dut ? line.cell->dut : line.cell->against;
        const auto& part = line.exchange->of[line.side];
        const auto first = by_names(matrix, *line.cell, part.message), why = without_frames(first);
        auto same = std::ranges::find_if(
            all, [&](const Habit& one) { return one.who == who && one.verdict == part.verdict && one.why == why; });
        if (same == all.end())
            same = all.insert(all.end(), {.who = who, .verdict = part.verdict, .why = why, .first = first});
        ++same->times;
        add(same->exchanges, line.exchange->id);
        add(same->pairs, line.cell);
    }
    std::ranges::stable_sort(all, {}, &Habit::who);
    return all;
}

/// Why exchanges are NA, each reason with the pairs that it is told of.
std::map<std::string, std::map<std::string, std::size_t>> reasons(const Matrix& matrix) {
    std::map<std::string, std::map<std::string, std::size_t>> all;
    for (const auto& cell : matrix.cells)
        for (const auto& one : cell.exchanges)
            if (one.verdict() == Verdict::na) ++all[one.id][by_names(matrix, cell, one.of.dut.message)];
    return all;
}

std::vector<std::string> findings(const Matrix& matrix) {
    std::vector<std::string> all;
    for (const auto& cell : matrix.cells)
        for (const auto& text : cell.findings) all.push_back(by_names(matrix, cell, text));
    return all;
}

std::size_t whole(const Matrix& matrix, std::optional<std::size_t> of, std::size_t& among) {
    std::size_t count = 0;
    among = 0;
    for (const auto& cell : matrix.cells) {
        if (of && cell.dut != *of && cell.against != *of) continue;
        ++among;
        const auto verdict = cell.verdict();
        count += verdict == Verdict::pass || verdict == Verdict::warn || verdict == Verdict::xfail ? 1 : 0;
    }
    return count;
}

std::string sentence(const Matrix& matrix) {
    std::size_t among = 0;
    const auto count = whole(matrix, std::nullopt, among);
    auto text = fmt::format("{} of {} pairs do together all that both can", count, among);
    if (matrix.is_interrupted)
        text += fmt::format("; interrupted: {} of {} pairs are missing", matrix.pairs() - among, matrix.pairs());
    return text;
}

ordered_json json_of(const CellExchange::Part& part) {
    ordered_json object{{"verdict", name(part.verdict)}, {"message", part.message}};
    if (!part.requirements.empty()) object["requirements"] = part.requirements;
    return object;
}

}  // namespace

std::string matrix_json(const Matrix& matrix) {
    ordered_json document{{"format", "ipoib-conform-matrix/1"}, {"suite", matrix.suite},
                          {"command", matrix.command},          {"seed", matrix.seed},
                          {"started", matrix.started},          {"seconds", matrix.seconds},
                          {"scenario", matrix.scenario},        {"implementations", ordered_json::array()},
                          {"pairs", ordered_json::array()}};
    if (matrix.is_interrupted) document["interrupted"] = true;
    for (const auto& one : matrix.implementations)
        document["implementations"].push_back({{"name", one.name}, {"about", one.about}, {"url", one.url}});
    for (const auto& cell : matrix.cells) {
        ordered_json pair{{"dut", matrix.implementations[cell.dut].name},
                          {"against", matrix.implementations[cell.against].name},
                          {"verdict", name(cell.verdict())},
                          {"broken_by", ordered_json::array()},
                          {"exchanges", ordered_json::array()},
                          {"findings", cell.findings}};
        for (const auto index : cell.broken_by()) pair["broken_by"].push_back(matrix.implementations[index].name);
        for (const auto& one : cell.exchanges)
            pair["exchanges"].push_back(
                {{"id", one.id}, {"dut", json_of(one.of.dut)}, {"against", json_of(one.of.against)}});
        document["pairs"].push_back(std::move(pair));
    }
    return json_text(document, 1) + '\n';
}

std::string matrix_text(const Matrix& matrix) {
    std::string text;
    for (const auto& cell : matrix.cells) {
        text += fmt::format("{:<40} {}\n", pair_of(matrix, cell), in_short(matrix, cell));
        for (const auto& line : wrong_lines(matrix))
            if (line.cell == &cell)
                text += fmt::format("    {} {} {}: {}\n", name(line.exchange->of[line.side].verdict), line.exchange->id,
                                    who_text(matrix, line), why_text(matrix, line));
    }
    for (const auto& finding : findings(matrix)) text += "FINDING " + finding + '\n';
    return text + sentence(matrix) + '\n';
}

std::string matrix_markdown(const Matrix& matrix) {
    using namespace reports::markdown;
    const auto row_of = [](const std::vector<std::string>& cells) {
        std::string line = "|";
        for (const auto& one : cells) line += ' ' + one + " |";
        return line + '\n';
    };
    std::string text = sentence(matrix) + ".\n\n";
    std::vector<std::string> head{""}, dashes{"---"};
    for (const auto& one : matrix.implementations) {
        head.push_back(code(one.name));
        dashes.emplace_back("---");
    }
    text += row_of(head) + "|";
    for (const auto& dash : dashes) text += dash + '|';
    text += '\n';
    for (std::size_t i = 0; i < matrix.implementations.size(); ++i) {
        std::vector<std::string> cells{code(matrix.implementations[i].name)};
        for (std::size_t j = 0; j < matrix.implementations.size(); ++j)
            cells.push_back(matrix.of(i, j) ? plain(in_short(matrix, *matrix.of(i, j))) : "interrupted");
        text += row_of(cells);
    }
    text += "\n## Who they are\n\n" + reports::markdown::head({"name", "what it is"});
    for (const auto& one : matrix.implementations)
        text += row({code(one.name), plain(one.about) + (one.url.empty() ? "" : ": " + plain(one.url))});
    if (const auto all = habits(matrix); !all.empty()) {
        text += "\n## What went wrong\n\n" + reports::markdown::head({"who", "verdict", "why", "exchanges", "pairs"});
        for (const auto& one : all) {
            std::string exchanges;
            for (const auto& id : one.exchanges) exchanges += (exchanges.empty() ? "" : ", ") + code(id);
            text += row({code(matrix.implementations[one.who].name), name(one.verdict), plain(one.told()), exchanges,
                         one.pairs.size() == 1 ? plain(pair_of(matrix, *one.pairs.front()))
                                               : std::to_string(one.pairs.size())});
        }
    }
    if (const auto all = reasons(matrix); !all.empty()) {
        text += "\n## What was not judged\n\n" + reports::markdown::head({"exchange", "why", "pairs"});
        for (const auto& [id, why] : all)
            for (const auto& [reason, count] : why) text += row({code(id), plain(reason), std::to_string(count)});
    }
    if (const auto all = findings(matrix); !all.empty()) {
        text += "\n## What no text forbids\n\n";
        for (const auto& finding : all) text += "- " + plain(finding) + '\n';
    }
    return text;
}

std::string matrix_html(const Matrix& matrix) {
    using reports::html::Element;
    constexpr std::string_view style =
        "body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:1180px;padding:0 16px 48px;color-scheme:light "
        "dark}"
        "table{border-collapse:collapse;margin:12px 0}td,th{border:1px solid #8888;padding:4px 8px;text-align:left;"
        "vertical-align:top}.scroll{overflow-x:auto}.pass{background:#2a9d4a33}.fail{background:#d0202f44}"
        ".error,.inconc{background:#8a2fa844}.warn{background:#c9820044}.na{opacity:.7}code{font-size:.9em}";
    reports::html::Page page;
    auto root = page.root();
    root.whole("lang", "en");
    auto head = root.add("head");
    head.add("meta", {{"charset", "utf-8"}});
    head.add("meta",
             {{"http-equiv", "Content-Security-Policy"},
              {"content", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"}});
    head.add("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
    head.add("title").literal("IP over InfiniBand: who works with whom");
    head.add("style").literal(style);
    auto body = root.add("body");
    body.add("h1").literal("IP over InfiniBand: who works with whom");
    body.add("p").text(fmt::format("{}. {}, scenario {}, seed {}, suite {}.", sentence(matrix), matrix.started,
                                   matrix.scenario, matrix.seed, matrix.suite));
    const auto css = [](Verdict verdict) {
        std::string text(name(verdict));
        std::ranges::transform(text, text.begin(),
                               [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
        return text;
    };
    auto table = body.add("div", {{"class", "scroll"}}).add("table");
    auto names = table.add("tr");
    names.add("td");
    for (const auto& one : matrix.implementations) names.add("th", {{"scope", "col"}}).text(one.name);
    for (std::size_t i = 0; i < matrix.implementations.size(); ++i) {
        auto line = table.add("tr");
        line.add("th", {{"scope", "row"}}).text(matrix.implementations[i].name);
        for (std::size_t j = 0; j < matrix.implementations.size(); ++j) {
            const auto* const cell = matrix.of(i, j);
            if (!cell) {
                line.add("td", {{"class", "na"}}).literal("interrupted");
                continue;
            }
            const auto target = fmt::format("#pair-{}-{}", cell->dut, cell->against);
            line.add("td", {{"class", css(cell->verdict())}})
                .add("a")
                .whole("href", target)
                .text(in_short(matrix, *cell));
        }
    }
    body.add("h2").literal("Who they are");
    auto list = body.add("dl");
    for (const auto& one : matrix.implementations) {
        list.add("dt").add("code").text(one.name);
        list.add("dd").text(one.about + (one.url.empty() ? "" : ": " + one.url));
    }
    for (const auto& cell : matrix.cells) {
        body.add("h2").whole("id", fmt::format("pair-{}-{}", cell.dut, cell.against)).text(pair_of(matrix, cell));
        auto pair = body.add("div", {{"class", "scroll"}}).add("table");
        auto titles = pair.add("tr");
        titles.add("th", {{"scope", "col"}}).literal("exchange");
        for (const auto side : both_sides)
            titles.add("th", {{"scope", "col"}})
                .text(who(matrix, cell, side).name + " (" + std::string(name(side)) + ')');
        for (const auto& one : cell.exchanges) {
            auto line = pair.add("tr");
            line.add("th", {{"scope", "row"}}).text(one.id);
            for (const auto side : both_sides) {
                const auto& part = one.of[side];
                auto said = std::string(name(part.verdict));
                if (!part.message.empty()) said += ": " + part.message;
                for (const auto& id : part.requirements) said += ' ' + id;
                line.add("td", {{"class", css(part.verdict)}}).text(said);
            }
        }
        for (const auto& finding : cell.findings) body.add("p").text("FINDING " + finding);
    }
    return page.text();
}

namespace {

std::string image(const std::string& value, bool is_well) {
    constexpr std::string_view label = "IPoIB interop";
    constexpr unsigned letter = 7, padding = 10;
    const auto width = [](std::string_view text) { return static_cast<unsigned>(text.size()) * letter + 2 * padding; };
    const auto left = width(label), right = width(value);
    return fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="20" role="img" aria-label="{1}: {2}">)"
        R"(<title>{1}: {2}</title><rect width="{3}" height="20" fill="#444"/>)"
        R"(<rect x="{3}" width="{4}" height="20" fill="{5}"/>)"
        R"(<g fill="#fff" font-family="DejaVu Sans Mono,monospace" font-size="11">)"
        R"(<text x="{6}" y="14">{1}</text><text x="{7}" y="14">{2}</text></g></svg>)"
        "\n",
        left + right, label, value, left, right, is_well ? "#19692c" : "#b3131f", padding, left + padding);
}

std::string badge_of(const Matrix& matrix, std::optional<std::size_t> of) {
    std::size_t among = 0;
    const auto count = whole(matrix, of, among);
    return image(fmt::format("{} of {}", count, among), count == among && !matrix.is_interrupted);
}

}  // namespace

std::string badge(const Matrix& matrix, std::size_t of) { return badge_of(matrix, of); }
std::string badge(const Matrix& matrix) { return badge_of(matrix, std::nullopt); }

}  // namespace ipoib::conformance::interop
