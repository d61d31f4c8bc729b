// SPDX-License-Identifier: GPL-2.0-or-later
// JUnit XML as Jenkins' schema has it (portable), as windyroad's has it too (ant), as Surefire's has it (surefire), and
// with what none has (rich).
#include "reports/junit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <pugixml.hpp>
#include <string_view>

#include "base/one_line.hpp"
#include "base/utf8.hpp"
#include "reports/failure.hpp"
#include "reports/junit_suites.hpp"

namespace ipoib::reports {
namespace {

/// Octets of one system-out; CI servers keep all of it in memory.
constexpr std::size_t most_output = 8000;
constexpr std::size_t most_message = 4000;
constexpr std::size_t violations_in_message = 5;

std::string three_decimals(double seconds) {
    return fmt::format("{:.3f}", std::isfinite(seconds) && seconds > 0 ? seconds : 0.0);
}

/// "2026-01-01T00:00:00", whatever stands behind the seconds left out; the epoch for what is no time.
std::string timestamp(std::string_view started) {
    constexpr std::string_view form = "0000-00-00T00:00:00";
    const auto fits = [](char given, char shape) {
        return shape == '0' ? given >= '0' && given <= '9' : given == shape;
    };
    if (started.size() < form.size() ||
        !std::equal(form.begin(), form.end(), started.begin(), [&](char a, char b) { return fits(b, a); }))
        return "1970-01-01T00:00:00";
    return std::string(started.substr(0, form.size()));
}

/// Writes suites into one text, a test case at a time: all of them as one document would take many times the memory of
/// the text.
class Writer {
public:
    Writer(const Results& results, Dialect dialect, std::string command)
        : results_(results), requirements_(results), dialect_(dialect), command_(std::move(command)) {
        out_.text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    }

    void all(const std::vector<Suite>& suites) {
        const auto open = element("testsuites");
        auto root = open.node;
        if (dialect_ != Dialect::ant) {
            const auto sum = [&](auto part) {
                return std::accumulate(suites.begin(), suites.end(), std::size_t{0},
                                       [&](std::size_t so_far, const Suite& suite) { return so_far + part(suite); });
            };
            set(root, "name", command_);
            set(root, "tests", std::to_string(sum([](const Suite& suite) { return suite.cases.size(); })));
            set(root, "failures",
                std::to_string(sum([](const Suite& suite) { return suite.count(Outcome::failure); })));
            set(root, "errors", std::to_string(sum([](const Suite& suite) { return suite.count(Outcome::error); })));
            set(root, "time", three_decimals(results_.seconds));
        }
        begin(root, 0);
        for (std::size_t i = 0; i < suites.size(); ++i) {
            const auto suite = element("testsuite");
            if (dialect_ == Dialect::ant) {
                set(suite.node, "package", "ipoib");
                set(suite.node, "id", std::to_string(i));
            }
            fill(suite.node, suites[i], suites.size() == 1, 1);
        }
        end(root, 0);
    }
    void only(const Suite& suite, bool whole_run) { fill(element("testsuite").node, suite, whole_run, 0); }

    [[nodiscard]] std::string text() && { return std::move(out_.text); }

private:
    struct Output : pugi::xml_writer {
        std::string text;
        void write(const void* data, std::size_t size) override { text.append(static_cast<const char*>(data), size); }
    };
    /// A node of a document of its own.
    struct Element {
        std::unique_ptr<pugi::xml_document> document = std::make_unique<pugi::xml_document>();
        pugi::xml_node node{};
    };
    static Element element(const char* name) {
        Element made;
        made.node = made.document->append_child(name);
        return made;
    }
    void print(pugi::xml_node node, unsigned depth) {
        node.print(out_, " ", pugi::format_indent, pugi::encoding_utf8, depth);
    }
    /// Only its start tag, of an element without children.
    void begin(pugi::xml_node node, unsigned depth) {
        print(node, depth);
        constexpr std::string_view ending = " />\n";
        out_.text.replace(out_.text.size() - ending.size(), ending.size(), ">\n");
    }
    void end(pugi::xml_node node, unsigned depth) {
        out_.text.append(depth, ' ').append("</").append(node.name()).append(">\n");
    }

    static void set(pugi::xml_node node, const char* attribute, const std::string& value) {
        node.append_attribute(attribute).set_value(value.c_str());
    }
    static void text_child(pugi::xml_node parent, const char* name, const std::string& text) {
        auto node = parent.append_child(name);
        if (!text.empty()) node.append_child(pugi::node_pcdata).set_value(text.c_str());
    }
    static void property(pugi::xml_node list, const std::string& name, std::string_view value) {
        auto node = list.append_child("property");
        const auto key = one_line(name);
        set(node, "name", key.empty() ? "unnamed" : key);
        set(node, "value", one_line(value));
    }

    void fill(pugi::xml_node node, const Suite& suite, bool whole_run, unsigned depth) {
        const auto host = one_line(suite.host ? suite.host->name : results_.host);
        const auto& started = suite.host ? suite.host->started : results_.started;
        set(node, "name", suite.name);
        set(node, "tests", std::to_string(suite.cases.size()));
        set(node, "failures", std::to_string(suite.count(Outcome::failure)));
        set(node, "errors", std::to_string(suite.count(Outcome::error)));
        set(node, "skipped", std::to_string(suite.count(Outcome::skipped)));
        set(node, "time", three_decimals(whole_run ? results_.seconds : suite.seconds()));
        if (dialect_ != Dialect::surefire) {
            set(node, "timestamp", timestamp(started));
            set(node, "hostname", host.empty() ? "localhost" : host);
        }
        begin(node, depth);
        const auto list = element("properties");
        if (dialect_ == Dialect::surefire) {
            property(list.node, "timestamp", timestamp(started));
            property(list.node, "hostname", host.empty() ? "localhost" : host);
        }
        properties(list.node, suite);
        print(list.node, depth + 1);
        for (const auto& one : suite.cases) {
            const auto made = element("testcase");
            test_case(made.node, one);
            print(made.node, depth + 1);
        }
        if (dialect_ == Dialect::ant) {
            const auto rest = element("rest");
            text_child(rest.node, "system-out", clipped(outputs(suite), most_output));
            text_child(rest.node, "system-err", "");
            for (const auto child : rest.node) print(child, depth + 1);
        }
        end(node, depth);
    }

    void properties(pugi::xml_node list, const Suite& suite) {
        const auto* host = suite.host;
        std::string command;
        for (const auto& word : host ? host->command : results_.command) command += (command.empty() ? "" : " ") + word;
        property(list, "suite.version", host ? host->suite : results_.suite);
        property(list, "command", command);
        property(list, "seed", std::to_string(host ? host->seed : results_.seed));
        property(list, "coverage", coverage_);
        property(list, "warnings",
                 std::to_string(std::count_if(suite.cases.begin(), suite.cases.end(), [](const TestCase& one) {
                     return one.result->verdict == Verdict::warn;
                 })));
        for (const auto& [key, value] : host ? host->fabric : results_.fabric) property(list, "fabric." + key, value);
        for (const auto& [key, value] : host ? host->dut : results_.dut) property(list, "dut." + key, value);
        if (host)
            for (const auto& note : host->notes) property(list, "host.note", note);
        if (suite.capture == nullptr) return;
        property(list, "capture.file", suite.capture->file);
        property(list, "capture.link_type", std::to_string(suite.capture->link_type));
        property(list, "capture.packets", std::to_string(suite.capture->packets));
        property(list, "capture.ipoib", std::to_string(suite.capture->ipoib));
        for (const auto& note : suite.capture->notes) property(list, "capture.note", note);
    }

    void test_case(pugi::xml_node node, const TestCase& one) {
        const auto& result = *one.result;
        set(node, "classname", one.class_name);
        set(node, "name", one.name);
        set(node, "time", three_decimals(result.seconds));
        if (dialect_ == Dialect::rich) details(node, result);
        switch (outcome_of(result.verdict)) {
            case Outcome::failure:
                judgement(node, "failure", verdict_name(result), message(result));
                break;
            case Outcome::error:
                judgement(node, "error", verdict_name(result), message(result));
                break;
            case Outcome::skipped:
                judgement(node, "skipped", "", message(result));
                break;
            case Outcome::passed:
                break;
        }
        if (dialect_ == Dialect::ant) return;
        if (const auto text = output(result); !text.empty()) text_child(node, "system-out", clipped(text, most_output));
    }

    static void judgement(pugi::xml_node node, const char* element, const std::string& type,
                          const std::string& message) {
        text_child(node, element, message);
        auto child = node.last_child();
        if (!type.empty()) set(child, "type", type);
        set(child, "message", message);
    }

    [[nodiscard]] std::string message(const Result& result) const {
        if (result.verdict == Verdict::na) return clipped(why_not_judged(result), most_message);
        auto text = explanation(results_, requirements_, result, violations_in_message);
        if (result.verdict == Verdict::xfail) text = fmt::format("XFAIL {}: {}", one_line(result.reference), text);
        return clipped(text, most_message);
    }

    static std::string frames_of(const Result& result) {
        std::string text;
        for (const auto frame : result.frames) text += (text.empty() ? "frames " : ", ") + std::to_string(frame);
        return text.empty() ? text : text + '\n';
    }

    /// What stands in a case's system-out; nothing for PASS and NA.
    [[nodiscard]] std::string output(const Result& result) const {
        if (is_finding(result)) return "FINDING: " + printable(result.message) + "\n" + frames_of(result);
        if (result.verdict == Verdict::pass || result.verdict == Verdict::na) return {};
        std::string text;
        if (result.verdict == Verdict::warn) text = "WARN: " + explanation(results_, requirements_, result, 0) + "\n";
        if (!result.evidence.empty()) text += "[[ATTACHMENT|" + printable(result.evidence, Lines::join) + "]]\n";
        for (const auto& note : result.notes) text += "note: " + one_line(note) + "\n";
        if (result.verdict == Verdict::warn || result.details.size() > violations_in_message)
            for (const auto& detail : result.details) text += violation_line(results_, detail) + "\n";
        return text;
    }

    [[nodiscard]] std::string outputs(const Suite& suite) const {
        std::string text;
        for (const auto& one : suite.cases) {
            if (text.size() > most_output) break;
            if (const auto output_of_case = output(*one.result); !output_of_case.empty())
                text += one.name + "\n" + output_of_case;
        }
        return text;
    }

    void details(pugi::xml_node node, const Result& result) {
        const auto* capture = result.capture < results_.captures.size() ? &results_.captures[result.capture] : nullptr;
        if (!result.evidence.empty() || capture != nullptr)
            set(node, "file", printable(result.evidence.empty() ? capture->file : result.evidence, Lines::join));
        if (!result.frames.empty()) set(node, "line", std::to_string(result.frames.front()));
        auto list = node.append_child("properties");
        property(list, "id", result.id);
        property(list, "verdict", verdict_name(result));
        if (result.verdict == Verdict::na) property(list, "na", name(result.na));
        for (const auto& id : result.checks) property(list, "checks", id);
        property(list, "observed", std::to_string(result.observed));
        property(list, "violations", std::to_string(result.violations));
        if (!result.reference.empty()) property(list, "reference", result.reference);
    }

    const Results& results_;
    Requirements requirements_;
    Dialect dialect_;
    std::string command_;
    std::string coverage_ = coverage_sentence(results_);
    Output out_;
};

std::string suite_name(const Results& results, const JunitOptions& options) {
    if (!options.name.empty()) return one_line(options.name);
    const bool has_subcommand = results.command.size() > 1 && !results.command[1].starts_with('-');
    return has_subcommand ? one_line("ipoib-conform " + results.command[1]) : "ipoib-conform";
}

}  // namespace

std::vector<std::string> to_junit(const Results& results, const JunitOptions& options) {
    const auto lost = cases_besides(results);
    const auto name = suite_name(results, options);
    const auto suites = suites_of(results, lost, name);
    std::vector<std::string> documents;
    if (options.dialect == Dialect::portable || options.dialect == Dialect::ant) {
        Writer writer(results, options.dialect, name);
        writer.all(suites);
        documents.push_back(std::move(writer).text());
        return documents;
    }
    for (const auto& suite : suites) {
        Writer writer(results, options.dialect, name);
        writer.only(suite, suites.size() == 1);
        documents.push_back(std::move(writer).text());
    }
    return documents;
}

}  // namespace ipoib::reports
