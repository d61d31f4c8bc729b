// SPDX-License-Identifier: GPL-2.0-or-later
// Reads results from JSON. The file may come from anyone: its depth, breadth and types are checked before use.
#include <array>
#include <map>
#include <set>

#include "base/clock_text.hpp"
#include "base/one_line.hpp"
#include "base/utf8.hpp"
#include "reports/file.hpp"
#include "reports/json.hpp"
#include "reports/json_document.hpp"
#include "reports/json_node.hpp"

namespace ipoib::reports {
namespace {

/// What some thousand hosts have to say.
constexpr std::size_t largest_file = std::size_t{512} << 20U;
/// The judge keeps as many frames and details of a result.
constexpr std::size_t most_shown = 100;
/// The members that may be long.
constexpr std::array<std::string_view, 6> lists{"requirements", "hosts",    "captures",
                                                "results",      "findings", "suspicions"};

constexpr auto known_format = "ipoib-conform-results/1";

std::string resolved(const std::string& path, const std::filesystem::path& folder) {
    return path.empty() || path == "-" ? path : (folder / path).lexically_normal().string();
}

Verdict verdict_in(const Node& node) {
    const auto verdict = verdict_of(node.text());
    if (!verdict) node.refuse(fmt::format("\"{}\" is no verdict", clipped(printable(node.text()), 40)));
    return *verdict;
}

NotJudged reason_in(const Node& node) {
    if (node.is_null()) return NotJudged::none;
    const auto reason = not_judged_of(node.text());
    if (!reason) node.refuse(fmt::format("\"{}\" is no reason for NA", clipped(printable(node.text()), 40)));
    return *reason;
}

/// An index into the captures; a run without any has 0 everywhere.
void read_capture(const Node& object, const Results& results, std::uint32_t& into) {
    object.member("capture", [&](const Node& node) {
        if (node.is_null() && !results.hosts.empty()) {
            into = no_capture;
            return;
        }
        into = node.whole<std::uint32_t>();
        if (into > 0 && into >= results.captures.size())
            node.refuse(fmt::format("{} is no index into the {} captures", into, results.captures.size()));
    });
}

using Names = std::set<std::string, std::less<>>;

/// The host of a result or capture; in a merged report one of its hosts, which are `names`.
void read_host(const Node& object, const Names& names, std::string& into) {
    if (names.empty()) return;
    object.required("host", [&](const Node& node) {
        into = node.text();
        if (!names.contains(into)) node.refuse(fmt::format("\"{}\" is none of the hosts", one_line(into, 80)));
    });
}

/// What a run, and each host of a merged one, tells of itself.
template <class Run>
void read_head(const Node& node, Run& run) {
    node.read("suite", run.suite);
    node.read("command", run.command);
    node.read("seed", run.seed);
    node.read("started", run.started);
    node.read("seconds", run.seconds);
    node.read("fabric", run.fabric);
    node.read("dut", run.dut);
}

HostResult head_of_host(const Node& node) {
    HostResult host;
    node.required("name", [&](const Node& name) { host.name = name.text(); });
    node.member("verdict", [&](const Node& verdict) { host.verdict = verdict_in(verdict); });
    read_head(node, host);
    node.member("shards", [&](const Node& list) {
        list.items([&](const Node& one) {
            const auto shard = shard_of(one.text());
            if (!shard) one.refuse(fmt::format("\"{}\" is no shard", clipped(printable(one.text()), 40)));
            host.shards.push_back(*shard);
        });
    });
    node.read("errors", host.errors);
    node.read("notes", host.notes);
    return host;
}

Beyond beyond_in(const Node& node, const Names& hosts, const Results& results) {
    Beyond one;
    node.required("name", [&](const Node& name) { one.name = name.text(); });
    node.read("text", one.text);
    node.read("link", one.link);
    node.member("capture", [&](const Node& capture) {
        if (capture.is_null()) return;
        one.capture = capture.whole<std::uint32_t>();
        if (one.capture >= results.captures.size())
            capture.refuse(fmt::format("{} is no index into the {} captures", one.capture, results.captures.size()));
    });
    node.member("frames", [&](const Node& list) {
        list.items([&](const Node& frame) {
            if (one.frames.size() < most_shown) one.frames.push_back(frame.whole<std::uint64_t>());
        });
    });
    read_host(node, hosts, one.host);
    return one;
}

Proof proof_in(const Node& node) {
    Proof proof;
    node.required("name", [&](const Node& name) { proof.name = name.text(); });
    node.read("found", proof.found);
    node.read("page", proof.page);
    node.read("revision", proof.revision);
    return proof;
}

using Index = std::map<std::string_view, std::size_t>;

/// A host with its verdicts on the requirements that the results have, and where those stand.
HostResult host_in(const Node& node, const Index& requirements) {
    auto host = head_of_host(node);
    if (host.name.empty()) node.refuse("a host has no name");
    host.requirements.assign(requirements.size(), Verdict::na);
    node.member("requirements", [&](const Node& verdicts) {
        verdicts.members([&](const std::string& id, const Node& verdict) {
            if (const auto found = requirements.find(id); found != requirements.end())
                host.requirements[found->second] = verdict_in(verdict);
        });
    });
    return host;
}

/// A time that cannot be read is not known.
void read_time(const Node& node, const char* name, std::int64_t& into) {
    node.member(name, [&](const Node& time) { into = utc_time_in(time.text()).value_or(0); });
}

CaptureResult capture_in(const Node& node, const Names& hosts, const std::filesystem::path& folder) {
    CaptureResult capture;
    read_host(node, hosts, capture.host);
    node.read("file", capture.file);
    capture.file = resolved(capture.file, folder);
    node.member("link_type", [&](const Node& type) { capture.link_type = type.link_type(); });
    node.read("packets", capture.packets);
    node.read("ipoib", capture.ipoib);
    node.read("notes", capture.notes);
    node.read("error", capture.error);
    read_time(node, "began", capture.began);
    read_time(node, "ended", capture.ended);
    return capture;
}

Detail detail_in(const Node& node, const Results& results) {
    Detail detail;
    read_capture(node, results, detail.capture);
    node.read("frame", detail.frame);
    node.read("offset", detail.offset);
    node.read("field", detail.field);
    node.read("expected", detail.expected);
    node.read("actual", detail.actual);
    node.read("subject", detail.subject);
    node.read("link", detail.link);
    node.read("case", detail.in_case);
    node.read("requirements", detail.requirements);
    read_time(node, "time", detail.time);
    node.read("assumed", detail.assumed);
    return detail;
}

Suspicion suspicion_in(const Node& node, const Names& hosts, const Results& results) {
    Suspicion one;
    node.required("doubt", [&](const Node& doubt) { one.doubt = doubt.text(); });
    node.required("rule", [&](const Node& rule) { one.rule = rule.text(); });
    node.read("supposes", one.supposes);
    node.read("lacks", one.lacks);
    node.read("settled_by", one.settled_by);
    node.read("assume", one.assume);
    node.read("command", one.command);
    node.read("title", one.title);
    node.read("checks", one.checks);
    node.read("count", one.count);
    node.member("details", [&](const Node& list) {
        list.items([&](const Node& detail) {
            if (one.details.size() < most_shown) one.details.push_back(detail_in(detail, results));
        });
    });
    read_host(node, hosts, one.host);
    return one;
}

PartVerdict part_in(const Node& node) {
    PartVerdict part;
    part.na = NotJudged::none;
    node.required("id", [&](const Node& id) { part.id = id.text(); });
    node.required("verdict", [&](const Node& verdict) { part.verdict = verdict_in(verdict); });
    node.member("na", [&](const Node& reason) { part.na = reason_in(reason); });
    node.read("observed", part.observed);
    node.read("type", part.fail_type);
    return part;
}

void read_frames(const Node& node, std::vector<std::uint64_t>& into) {
    node.member("frames", [&](const Node& list) {
        list.items([&](const Node& frame) {
            if (const auto number = frame.whole<std::uint64_t>(); into.size() < most_shown) into.push_back(number);
        });
    });
}

CaseFrames case_in(const Node& node) {
    CaseFrames found;
    node.required("id", [&](const Node& id) { found.id = id.text(); });
    node.read("violations", found.violations);
    read_frames(node, found.frames);
    return found;
}

Result result_in(const Node& node, const Names& hosts, const Results& results, const std::filesystem::path& folder) {
    Result result;
    read_host(node, hosts, result.host);
    result.na = NotJudged::none;
    node.required("id", [&](const Node& id) { result.id = id.text(); });
    node.required("verdict", [&](const Node& verdict) { result.verdict = verdict_in(verdict); });
    node.member("na", [&](const Node& reason) { result.na = reason_in(reason); });
    node.read("title", result.title);
    node.read("type", result.fail_type);
    node.read("checks", result.checks);
    node.read("message", result.message);
    node.read("observed", result.observed);
    node.read("violations", result.violations);
    node.read("evidence", result.evidence);
    result.evidence = resolved(result.evidence, folder);
    node.read("seconds", result.seconds);
    read_capture(node, results, result.capture);
    node.read("reference", result.reference);
    node.read("repeat", result.repeat);
    node.member("repetitions", [&](const Node& counts) {
        for (const auto verdict : {Verdict::fail, Verdict::xpass, Verdict::error, Verdict::inconc, Verdict::warn,
                                   Verdict::xfail, Verdict::pass, Verdict::na}) {
            unsigned count = 0;
            counts.read(std::string(name(verdict)).c_str(), count);
            if (count != 0) result.repetitions[verdict] = count;
        }
    });
    node.read("revision", result.revision);
    node.member("parts", [&](const Node& list) {
        list.items([&](const Node& part) { result.parts.push_back(part_in(part)); });
    });
    node.read("notes", result.notes);
    read_frames(node, result.frames);
    node.member("cases", [&](const Node& list) {
        list.items([&](const Node& found) { result.cases.push_back(case_in(found)); });
    });
    node.member("details", [&](const Node& list) {
        list.items([&](const Node& one) {
            auto detail = detail_in(one, results);
            if (result.details.size() < most_shown) result.details.push_back(std::move(detail));
        });
    });
    return result;
}

RequirementResult requirement_in(const Node& node) {
    RequirementResult requirement;
    requirement.na = NotJudged::none;
    node.required("id", [&](const Node& id) { requirement.id = id.text(); });
    node.required("verdict", [&](const Node& verdict) { requirement.verdict = verdict_in(verdict); });
    node.member("na", [&](const Node& reason) { requirement.na = reason_in(reason); });
    node.read("level", requirement.level);
    node.read("by", requirement.by);
    node.read("strength", requirement.strength);
    node.read("force", requirement.force);
    node.read("status", requirement.status);
    node.read("section", requirement.section);
    node.read("statement", requirement.statement);
    node.read("reason", requirement.reason);
    return requirement;
}

/// What each takes in memory, in octets.
template <class Item>
std::size_t weight(const std::vector<Item>& items);
std::size_t weight(const std::string& text) { return sizeof(std::string) + text.capacity(); }
std::size_t weight(const std::pair<std::string, std::string>& fact) { return weight(fact.first) + weight(fact.second); }
std::size_t weight(std::uint64_t) { return sizeof(std::uint64_t); }
std::size_t weight(const PartVerdict& part) { return sizeof part + part.id.capacity() + part.fail_type.capacity(); }
std::size_t weight(const CaseFrames& found) { return sizeof found + found.id.capacity() + weight(found.frames); }
std::size_t weight(const Beyond& one) {
    return sizeof one + one.name.capacity() + one.text.capacity() + one.link.capacity() + weight(one.frames) +
           one.host.capacity();
}
std::size_t weight(const Detail& one) {
    return sizeof one + one.field.capacity() + one.expected.capacity() + one.actual.capacity() +
           one.subject.capacity() + one.link.capacity() + one.in_case.capacity() + weight(one.requirements) +
           weight(one.assumed);
}
std::size_t weight(const Suspicion& one) {
    std::size_t sum = sizeof one + weight(one.checks) + weight(one.details);
    for (const auto* text : {&one.doubt, &one.supposes, &one.lacks, &one.settled_by, &one.assume, &one.command,
                             &one.rule, &one.title, &one.host})
        sum += text->capacity();
    return sum;
}
std::size_t weight(const Result& one) {
    std::size_t sum = sizeof one + weight(one.checks) + weight(one.parts) + weight(one.frames) + weight(one.details) +
                      weight(one.notes) + weight(one.cases);
    for (const auto* text : {&one.id, &one.title, &one.fail_type, &one.message, &one.evidence, &one.reference,
                             &one.repeat, &one.host, &one.revision})
        sum += text->capacity();
    return sum;
}
std::size_t weight(const CaptureResult& one) {
    return sizeof one + one.file.capacity() + one.error.capacity() + one.host.capacity() + weight(one.notes);
}
/// A report names every requirement for every host.
std::size_t weight(const HostResult& one) {
    constexpr std::size_t of_requirements = 8192;
    return of_requirements + one.requirements.size() + weight(one.command) + weight(one.fabric) + weight(one.dut) +
           weight(one.errors) + weight(one.notes);
}
std::size_t weight(const RequirementResult& one) {
    std::size_t sum = sizeof one + weight(one.by);
    for (const auto* text :
         {&one.id, &one.level, &one.strength, &one.section, &one.statement, &one.reason, &one.force, &one.status})
        sum += text->capacity();
    return sum;
}

template <class Item>
std::size_t weight(const std::vector<Item>& items) {
    std::size_t sum = 0;
    for (const auto& item : items) sum += weight(item);
    return sum;
}

/// Takes the results from the document, as long as they do not weigh more than is left.
class Reader {
public:
    Reader(const JsonDocument& document, const std::filesystem::path& folder, std::size_t& left)
        : document_(document), folder_(folder), left_(left) {}

    Results results() {
        const auto head = document_.head();
        head.required("format", [](const Node& format) {
            if (format.text() != known_format)
                format.refuse(fmt::format("\"{}\" is expected, found \"{}\"", known_format,
                                          clipped(printable(format.text()), 40)));
        });
        read_head(head, results_);
        head.read("host", results_.host);
        head.read("claims", results_.claims);
        head.member("judge", [&](const Node& list) {
            list.items([&](const Node& one) { results_.proofs.push_back(proof_in(one)); });
        });
        head.member("selected", [&](const Node&) { head.read("selected", results_.selected.emplace()); });
        read_list("requirements", results_.requirements, requirement_in);
        Index requirements;
        for (const auto& one : results_.requirements) requirements.emplace(one.id, requirements.size());
        Names hosts;
        read_list("hosts", results_.hosts, [&](const Node& node) {
            auto host = host_in(node, requirements);
            if (!hosts.insert(host.name).second)
                node.refuse(fmt::format("\"{}\" is there twice", one_line(host.name, 80)));
            return host;
        });
        read_list("captures", results_.captures, [&](const Node& node) { return capture_in(node, hosts, folder_); });
        read_list("results", results_.results,
                  [&](const Node& node) { return result_in(node, hosts, results_, folder_); });
        read_list("findings", results_.beyond, [&](const Node& node) { return beyond_in(node, hosts, results_); });
        read_list("suspicions", results_.suspicions,
                  [&](const Node& node) { return suspicion_in(node, hosts, results_); });
        return std::move(results_);
    }

private:
    template <class Items, class Read>
    void read_list(std::string_view list, Items& into, Read read) {
        document_.entries(list, [&](const Node& node) {
            auto item = read(node);
            const auto size = weight(item);
            if (size > left_) node.refuse("from here on there is more than a results file of this size can hold");
            left_ -= size;
            into.push_back(std::move(item));
        });
    }

    const JsonDocument& document_;
    const std::filesystem::path& folder_;
    std::size_t& left_;
    Results results_;
};

}  // namespace

Loaded<Results> from_json(std::string_view text, std::string_view source, const std::filesystem::path& folder,
                          ResultsMemory&& memory) {
    return from_json(text, source, folder, memory);
}

Loaded<Results> from_json(std::string_view text, std::string_view source, const std::filesystem::path& folder,
                          ResultsMemory& memory) {
    const auto refused = [&](std::string_view place, std::string_view what) {
        return Loaded<Results>::failed(clipped(
            fmt::format("{}: {}{}", printable(source, Lines::join), place, printable(what, Lines::join)), 1000));
    };
    if (text.size() > largest_file) return refused("", fmt::format("larger than {} octets", largest_file));
    try {
        const auto document = JsonDocument::of(text, lists);
        if (!document) return refused("", document.error);
        memory.left += text.size() + text.size() / 2;
        return Loaded<Results>::of(Reader(*document, folder, memory.left).results());
    } catch (const Wrong& wrong) {
        return refused((wrong.place.empty() ? "/" : wrong.place) + ": ", wrong.what);
    } catch (const Unreadable& unreadable) {
        return refused("", unreadable.what);
    } catch (const Json::exception& failure) {
        return refused("", failure.what());
    }
}

Loaded<Results> read_json(const std::filesystem::path& path, ResultsMemory& memory) {
    const auto text = read_whole(path, largest_file);
    if (!text) return Loaded<Results>::failed(text.error);
    return from_json(*text, path.string(), path == "-" ? std::filesystem::path{} : path.parent_path(), memory);
}

Loaded<Results> read_json(const std::filesystem::path& path) {
    ResultsMemory memory;
    return read_json(path, memory);
}

}  // namespace ipoib::reports
