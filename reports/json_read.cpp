// SPDX-License-Identifier: GPL-2.0-or-later
// Reads results from JSON. The file may come from anyone: its depth, breadth and types are checked before use.
#include <array>
#include <map>
#include <set>

#include "base/one_line.hpp"
#include "base/utf8.hpp"
#include "reports/file.hpp"
#include "reports/json.hpp"
#include "reports/json_node.hpp"

namespace ipoib::reports {
namespace {

/// What some thousand hosts have to say.
constexpr std::size_t largest_file = std::size_t{512} << 20U;
constexpr std::size_t deepest = 16;
/// An object keeps the order of its members, so each one added is looked for among all before it.
constexpr std::size_t most_members = 1000;
constexpr std::size_t most_values = 20'000'000;

/// A first pass over the text that builds nothing: syntax, and bounds on what the second one builds.
class Bounds : public nlohmann::json_sax<Json> {
public:
    std::string error;

    bool null() override { return count(); }
    bool boolean(bool) override { return count(); }
    bool number_integer(number_integer_t) override { return count(); }
    bool number_unsigned(number_unsigned_t) override { return count(); }
    bool number_float(number_float_t, const string_t&) override { return count(); }
    bool string(string_t&) override { return count(); }
    bool binary(binary_t&) override { return count(); }
    bool start_object(std::size_t) override { return enter(); }
    bool start_array(std::size_t) override { return enter(); }
    bool end_object() override { return leave(); }
    bool end_array() override { return leave(); }
    bool key(string_t& name) override {
        if (++members_[depth_] <= most_members) return true;
        return refuse(fmt::format("an object with more than {} members, at \"{}\"", most_members, clipped(name, 40)));
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& why) override {
        const std::string_view text = why.what();
        const auto begin = text.find("] ");
        return refuse(std::string(begin == std::string_view::npos ? text : text.substr(begin + 2)));
    }

private:
    bool count() { return ++values_ <= most_values || refuse(fmt::format("more than {} values", most_values)); }
    bool enter() {
        if (++depth_ > deepest) return refuse(fmt::format("nested more than {} deep", deepest));
        members_[depth_] = 0;
        return count();
    }
    bool leave() {
        --depth_;
        return true;
    }
    bool refuse(std::string why) {
        error = std::move(why);
        return false;
    }

    std::size_t depth_ = 0, values_ = 0;
    std::array<std::size_t, deepest + 1> members_{};
};

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

HostResult host_in(const Node& node) {
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

/// The hosts, and their verdicts on the requirements that the results have.
Names read_hosts(const Node& root, Results& results) {
    Names names;
    std::map<std::string_view, std::size_t> index;
    for (const auto& requirement : results.requirements) index.emplace(requirement.id, index.size());
    root.member("hosts", [&](const Node& list) {
        list.items([&](const Node& node) {
            auto host = host_in(node);
            if (host.name.empty()) node.refuse("a host has no name");
            if (!names.insert(host.name).second)
                node.refuse(fmt::format("\"{}\" is there twice", one_line(host.name, 80)));
            host.requirements.assign(results.requirements.size(), Verdict::na);
            node.member("requirements", [&](const Node& verdicts) {
                verdicts.members([&](const std::string& id, const Node& verdict) {
                    if (const auto found = index.find(id); found != index.end())
                        host.requirements[found->second] = verdict_in(verdict);
                });
            });
            results.hosts.push_back(std::move(host));
        });
    });
    return names;
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
    return detail;
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
        list.items([&](const Node& frame) { into.push_back(frame.whole<std::uint64_t>()); });
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
        list.items([&](const Node& detail) { result.details.push_back(detail_in(detail, results)); });
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

Results results_in(const Node& root, const std::filesystem::path& folder) {
    root.required("format", [](const Node& format) {
        if (format.text() != known_format)
            format.refuse(
                fmt::format("\"{}\" is expected, found \"{}\"", known_format, clipped(printable(format.text()), 40)));
    });
    Results results;
    read_head(root, results);
    root.read("host", results.host);
    root.member("selected", [&](const Node&) { root.read("selected", results.selected.emplace()); });
    root.member("requirements", [&](const Node& list) {
        list.items([&](const Node& one) { results.requirements.push_back(requirement_in(one)); });
    });
    const auto hosts = read_hosts(root, results);
    root.member("captures", [&](const Node& list) {
        list.items([&](const Node& one) { results.captures.push_back(capture_in(one, hosts, folder)); });
    });
    root.member("results", [&](const Node& list) {
        list.items([&](const Node& one) { results.results.push_back(result_in(one, hosts, results, folder)); });
    });
    return results;
}

}  // namespace

Loaded<Results> from_json(std::string_view text, std::string_view source, const std::filesystem::path& folder) {
    const auto refused = [&](std::string_view place, std::string_view what) {
        return Loaded<Results>::failed(clipped(
            fmt::format("{}: {}{}", printable(source, Lines::join), place, printable(what, Lines::join)), 1000));
    };
    if (text.size() > largest_file) return refused("", fmt::format("larger than {} octets", largest_file));
    Bounds bounds;
    if (!Json::sax_parse(text, &bounds)) return refused("", bounds.error);
    try {
        const auto document = Json::parse(text);
        return Loaded<Results>::of(results_in(Node(document, ""), folder));
    } catch (const Wrong& wrong) {
        return refused((wrong.place.empty() ? "/" : wrong.place) + ": ", wrong.what);
    } catch (const Json::exception& failure) {
        return refused("", failure.what());
    }
}

Loaded<Results> read_json(const std::filesystem::path& path) {
    const auto text = read_whole(path, largest_file);
    if (!text) return Loaded<Results>::failed(text.error);
    return from_json(*text, path.string(), path == "-" ? std::filesystem::path{} : path.parent_path());
}

}  // namespace ipoib::reports
