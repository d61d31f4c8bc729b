// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/replay/bundle.hpp"

#include "base/atomic_file.hpp"
#include "base/temporary_folder.hpp"
#include "conformance/judge/passive.hpp"
#include "conformance/replay/comparison.hpp"
#include "conformance/replay/digest.hpp"
#include "fabric/capture/compression.hpp"
#include "reports/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <set>

namespace ipoib::conformance::replay {
namespace {

constexpr std::string_view sums = "SHA256SUMS", results_file = "results.json", claims = "DUT.toml";

/// Where the parts of a header of POSIX ustar stand.
constexpr std::size_t block = 512, name_size = 100, mode_at = 100, uid_at = 108, gid_at = 116, size_at = 124,
                      mtime_at = 136, sum_at = 148, type_at = 156, magic_at = 257, prefix_at = 345;
constexpr std::string_view magic{"ustar\00000", 8};

/// Of all octets of a header, those of the sum itself taken for blanks.
unsigned sum_of(std::string_view header) {
    unsigned sum = 0;
    for (std::size_t i = 0; i < header.size(); ++i)
        sum += i >= sum_at && i < sum_at + 8 ? unsigned{' '} : static_cast<std::uint8_t>(header[i]);
    return sum;
}

void put(std::string& header, std::size_t at, std::string_view text) { header.replace(at, text.size(), text); }

std::string header_of(const std::string& name, std::size_t size) {
    if (name.size() >= name_size) throw std::invalid_argument("the name is too long for a bundle: " + name);
    std::string header(block, '\0');
    put(header, 0, name);
    put(header, mode_at, "0000644");
    put(header, uid_at, "0000000");
    put(header, gid_at, "0000000");
    put(header, size_at, fmt::format("{:011o}", size));
    put(header, mtime_at, "00000000000");
    put(header, type_at, "0");
    put(header, magic_at, magic);
    put(header, sum_at, fmt::format("{:06o}", sum_of(header)) + std::string("\0 ", 2));
    return header;
}

std::size_t octal_in(std::string_view header, std::size_t at, std::size_t size) {
    const auto field = header.substr(at, size);
    std::size_t value = 0;
    const auto* const begin = field.data() + std::min(field.find_first_not_of(' '), field.size());
    const auto [end, error] = std::from_chars(begin, field.data() + field.size(), value, 8);
    if (error != std::errc{} || (end != field.data() + field.size() && *end != '\0' && *end != ' '))
        throw std::invalid_argument("it is no bundle: a number in a header of the archive is none");
    return value;
}

std::string sums_of(const Files& files) {
    std::string text;
    for (const auto& [name, content] : files) text += sha256(content) + "  " + name + '\n';
    return text;
}

/// Two that met claim nothing.
std::vector<std::pair<std::string, std::string>> claims_in(const Record& record) {
    if (record.is_meeting()) return {};
    return claims_of(record.run.profile);
}

/// The note of the last case or exchange; of two that met each has it.
void add_not_begun(reports::Results& results, const Record& record) {
    if (record.not_begun.empty()) return;
    std::set<std::string> hosts;
    for (auto at = results.results.rbegin(); at != results.results.rend(); ++at) {
        auto& result = *at;
        const bool is_played =
            record.is_meeting() ? std::ranges::find(record.exchanges, result.id,
                                                    [](const auto* one) { return one->id; }) != record.exchanges.end()
                                : find_case(result.id) != nullptr;
        if (is_played && hosts.insert(result.host).second) result.notes.push_back(record.not_begun);
    }
}

/// What comes out, as the run has written it.
std::string results_now(const Verified& verified, const std::filesystem::path& folder, const SuiteTexts& suite) {
    auto now = verified.results;
    // Where it was played again is no part of it.
    const auto move = [&](std::string& file) {
        if (!file.empty()) file = folder / std::filesystem::path(file).filename();
    };
    for (auto& capture : now.captures) move(capture.file);
    for (auto& result : now.results) move(result.evidence);
    add_not_begun(now, verified.record);
    suite.add(now);
    // What was claimed of it goes before what it has told.
    now.dut = verified.record.run.profile.dut;
    for (const auto& fact : verified.record.dut)
        if (std::ranges::find(now.dut, fact.first, &std::pair<std::string, std::string>::first) == now.dut.end())
            now.dut.push_back(fact);
    now.seed = verified.record.run.seed;
    now.fabric = verified.record.fabric;
    now.claims = claims_in(verified.record);
    reports::roll_up(now, catalogue_for_reports());
    return reports::to_json(now, folder);
}

void compare_results(const std::string& recorded, const std::string& now, const SuiteTexts& suite, Verified& verified) {
    const auto [of_run, of_suite] = differences_of(recorded, now);
    const auto place = [](const std::string& difference) { return std::string(results_file) + ": " + difference; };
    std::ranges::transform(of_run, std::back_inserter(verified.wrong), place);
    auto& others = verified.record.suite_texts == suite.digest ? verified.wrong : verified.of_other_suite;
    std::ranges::transform(of_suite, std::back_inserter(others), place);
}

void compare_lists(const Files& files, Verified& verified) {
    auto others = files;
    others.erase(std::string(sums));
    const auto listed = files.find(std::string(sums));
    if (listed == files.end() || listed->second != sums_of(others))
        verified.wrong.push_back(std::string(sums) + " is not what the files of the bundle come to");
    const auto claimed = files.find(std::string(claims));
    if (verified.record.is_meeting() != (claimed == files.end()) ||
        (claimed != files.end() && claimed->second != to_toml(verified.record.run.profile)))
        verified.wrong.push_back(std::string(claims) + " is not what was claimed when it was run");
    for (const auto* name : {&Record::file, &sums, &results_file, &claims}) others.erase(std::string(*name));
    for (const auto& scene : verified.record.scenes)
        for (const auto& name : files_of(scene)) others.erase(name);
    for (const auto& [name, content] : others) verified.wrong.push_back(name + " belongs to no case");
}

/// What belongs to the evidence: nothing else reaches the disk.
std::vector<std::string> names_of_evidence(const Files& files, const std::string& called) {
    const auto found = files.find(std::string(Record::file));
    if (found == files.end()) return {};
    std::vector<std::string> names{found->first};
    for (const auto& scene : parse_record(found->second, called + ": " + found->first).scenes)
        for (const auto& name : files_of(scene)) names.push_back(name);
    return names;
}

}  // namespace

std::string tar_of(const Files& files) {
    std::string tar;
    for (const auto& [name, content] : files) {
        tar += header_of(name, content.size()) + content;
        tar.append((block - content.size() % block) % block, '\0');
    }
    return tar.append(2 * block, '\0');
}

std::string decompressed(std::string content) {
    constexpr std::size_t enough_to_tell = 4, piece = std::size_t{1} << 20;
    // Journals are written in a tenth to a fiftieth of their octets.
    constexpr std::size_t begins_to_count = std::size_t{64} << 20, most_ratio = 500;
    const wire::Octets whole{reinterpret_cast<const std::uint8_t*>(content.data()), content.size()};
    const auto compression = capture::detect_compression(whole.first(std::min(enough_to_tell, whole.size())));
    if (compression == capture::Compression::none) return content;
    const auto decompressor = capture::make_decompressor(compression);
    if (!decompressor)
        throw std::invalid_argument(fmt::format("this build cannot read {}", capture::name(compression)));
    std::string plain;
    for (auto left = whole;;) {
        const auto before = plain.size();
        const auto had = left.size();
        if (before >= begins_to_count && before > most_ratio * (whole.size() - left.size()))
            throw std::invalid_argument("it is no bundle: it holds too much for its size");
        if (before >= most_of_bundle) throw std::invalid_argument("it is no bundle: it holds more than 1 GiB");
        plain.resize(before + piece);
        wire::MutableOctets room{reinterpret_cast<std::uint8_t*>(plain.data()) + before, piece};
        if (!decompressor->decode(left, room)) throw std::invalid_argument("its octets " + decompressor->error());
        plain.resize(before + piece - room.size());
        if (left.empty() && plain.size() == before) break;
        if (left.size() == had && plain.size() == before)
            throw std::invalid_argument("its octets cannot be decompressed");
    }
    if (!decompressor->is_between_members()) throw std::invalid_argument("it is cut off");
    return plain;
}

Files files_in(std::string_view tar) {
    Files files;
    for (std::size_t at = 0;;) {
        if (tar.size() - at < block) throw std::invalid_argument("it is no bundle, or cut off: the archive has no end");
        const auto header = tar.substr(at, block);
        at += block;
        if (std::ranges::all_of(header, [](char c) { return c == '\0'; })) {
            if (std::ranges::any_of(tar.substr(at), [](char c) { return c != '\0'; }))
                throw std::invalid_argument("something stands behind the end of the archive");
            return files;
        }
        if (header.substr(magic_at, 5) != magic.substr(0, 5) || octal_in(header, sum_at, 8) != sum_of(header))
            throw std::invalid_argument("it is no bundle: not a tar archive, or damaged");
        const std::string name{header.substr(0, std::min(header.find('\0'), name_size))};
        if (header[type_at] != '0' || header[prefix_at] != '\0' || !is_file_name(name))
            throw std::invalid_argument("it is no bundle: its archive holds something else than files without folders");
        if (files.size() >= most_files)
            throw std::invalid_argument(fmt::format("it is no bundle: it holds more than {} files", most_files));
        const auto size = octal_in(header, size_at, 12);
        if (size > tar.size() - at) throw std::invalid_argument("the archive is cut off in " + name);
        if (!files.emplace(name, tar.substr(at, size)).second)
            throw std::invalid_argument("the archive holds " + name + " twice");
        at += std::min(size + (block - size % block) % block, tar.size() - at);
    }
}

std::string bundle_of(const std::filesystem::path& folder, const reports::Results& results) {
    Files files;
    const auto take = [&](const std::string& name) { files[name] = content_of(folder / name, most_of_file); };
    take(std::string(Record::file));
    const auto record = parse_record(files[std::string(Record::file)], std::string(Record::file));
    for (const auto& scene : record.scenes)
        for (const auto& name : files_of(scene)) take(name);
    auto rolled_up = results;
    const auto catalogue = catalogue_for_reports();
    reports::roll_up(rolled_up, catalogue);
    files[std::string(results_file)] = reports::to_json(rolled_up, folder);
    if (!record.is_meeting()) files[std::string(claims)] = to_toml(record.run.profile);
    files[std::string(sums)] = sums_of(files);
    return tar_of(files);
}

Verified verify_bundle(const std::filesystem::path& path, const SuiteTexts& suite,
                       const std::function<void(std::size_t, std::size_t)>& progress) {
    Files files;
    try {
        files = files_in(decompressed(content_of(path, most_of_bundle)));
    } catch (const std::invalid_argument& wrong) {
        throw std::invalid_argument(path.string() + ": " + wrong.what());
    }
    const TemporaryFolder folder;
    for (const auto& name : names_of_evidence(files, path.string())) {
        const auto found = files.find(name);
        if (found == files.end()) continue;
        if (const auto error = write_atomically(folder / name, found->second); !error.empty())
            throw std::runtime_error("the bundle finds no room in the temporary folder: " + error);
    }
    auto verified = verify(folder.path(), path.string(), progress);
    compare_lists(files, verified);
    const auto recorded = files.find(std::string(results_file));
    if (recorded == files.end()) {
        verified.wrong.push_back(std::string(results_file) + " is missing");
        return verified;
    }
    const auto results = reports::from_json(recorded->second, results_file, folder.path());
    if (!results) throw std::invalid_argument(path.string() + ": " + results.error);
    if (results->suite != verified.record.suite)
        verified.wrong.push_back(std::string(results_file) + " and " + std::string(Record::file) +
                                 " name two versions of the suite");
    if (verified.left_out.empty())
        compare_results(recorded->second, results_now(verified, folder.path(), suite), suite, verified);
    return verified;
}

}  // namespace ipoib::conformance::replay
