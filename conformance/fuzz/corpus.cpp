// SPDX-License-Identifier: GPL-2.0-or-later
// From files to sessions.
#include "conformance/fuzz/corpus.hpp"

#include "base/one_line.hpp"
#include "conformance/fuzz/operation.hpp"
#include "conformance/fuzz/scene.hpp"
#include "fabric/capture/reader.hpp"
#include "fabric/frame.hpp"
#include "protocol/wire/packet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

namespace ipoib::conformance::fuzz {
namespace {

constexpr std::size_t most_sessions = 5000, longest_file = std::size_t{4} << 20, in_one_session = 24;

/// What the tester's ports have sent, but for what belongs to their own life on the link: questions to the SA and
/// answers to the SM.
bool is_material(const capture::Reader& reader, const capture::Frame& frame) {
    if (frame.link_type != capture::LinkType::infiniband ||
        !reader.interface_name(frame.interface).starts_with("tester"))
        return false;
    if (frame.octets.size() < fabric::shortest_frame || frame.octets.size() > fabric::longest_frame) return false;
    wire::Packet packet;
    wire::decode(frame.octets, packet);
    if (!packet.bth) return false;
    return !packet.mad || packet.mad[wire::Mad::mgmt_class] == wire::MgmtClass::communication;
}

/// The frame as it is sent to any node, without the numbers of its turn: two that differ only in those do the same.
std::vector<std::uint8_t> essence_of(wire::Octets frame) {
    using namespace wire;
    Scene scene;
    auto packet = made_to_fit(scene, frame);
    if (packet.has(spec_of<Bth>)) packet.choose(Bth::psn, 0);
    if (packet.has(spec_of<Bth>) && !packet.has(spec_of<Deth>)) packet.choose(Bth::dest_qp, 0);
    if (packet.has(spec_of<Udp>)) packet.choose(Udp::checksum, 0);
    if (packet.has(spec_of<Icmpv6>)) packet.choose(Icmpv6::checksum, 0);
    if (packet.has(spec_of<Mad>)) packet.choose(Mad::transaction_id, 0);
    if (packet.has(spec_of<Ipv4>)) packet.choose(Ipv4::identification, 0).choose(Ipv4::checksum, 0);
    if (packet.has(spec_of<Icmp>))
        packet.choose(Icmp::identifier, 0).choose(Icmp::sequence, 0).choose(Icmp::checksum, 0);
    return {packet.octets().begin(), packet.octets().end()};
}

void take_evidence(const std::filesystem::path& path, const std::string& scenario, Corpus& corpus,
                   std::set<std::vector<std::uint8_t>>& known) {
    auto reader = capture::Reader::open(path.string());
    Session session{.scenario = scenario, .operations = {}};
    capture::Frame frame;
    auto status = reader.next(frame);
    for (; status == capture::Status::frame; status = reader.next(frame)) {
        if (!is_material(reader, frame)) continue;
        std::vector<std::uint8_t> octets(frame.octets.begin(), frame.octets.end());
        ++corpus.frames;
        if (!known.insert(essence_of(octets)).second) continue;
        ++corpus.different;
        session.operations.push_back({.verb = find_verb("send"), .octets = std::move(octets)});
        if (session.operations.size() < in_one_session) continue;
        corpus.sessions.push_back(std::exchange(session, Session{.scenario = scenario, .operations = {}}));
        if (corpus.sessions.size() >= most_sessions) return;
    }
    if (status != capture::Status::end) corpus.notes.emplace_back(reader.error());
    if (!session.operations.empty()) corpus.sessions.push_back(std::move(session));
}

void take_session(const std::filesystem::path& path, const std::string& scenario, Corpus& corpus) {
    std::error_code error;
    if (std::filesystem::file_size(path, error) > longest_file || error) {
        corpus.notes.push_back(path.string() + ": it is too long");
        return;
    }
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    // Evidence has JSON of other kinds beside it.
    if (text.find("\"fuzz\"") == std::string::npos) return;
    try {
        auto session = parse_session(text);
        if (session.scenario == scenario)
            corpus.sessions.push_back(std::move(session));
        else
            corpus.notes.push_back(
                fmt::format("{}: it is of --scenario {}, and left out", path.string(), one_line(session.scenario, 40)));
    } catch (const std::invalid_argument& wrong) {
        corpus.notes.push_back(path.string() + ": " + wrong.what());
    }
}

}  // namespace

Corpus read_corpus(const std::string& folder, const std::string& scenario) {
    std::vector<std::filesystem::path> files;
    std::error_code error;
    for (auto entry = std::filesystem::recursive_directory_iterator(folder, error);
         !error && entry != std::filesystem::recursive_directory_iterator{}; entry.increment(error))
        // A link that leads nowhere is no file; the others are.
        if (std::error_code of_entry; entry->is_regular_file(of_entry)) files.push_back(entry->path());
    if (error) throw std::runtime_error(folder + ": " + error.message());
    std::ranges::sort(files);
    Corpus corpus;
    std::set<std::vector<std::uint8_t>> known;
    for (const auto& file : files) {
        if (corpus.sessions.size() >= most_sessions) break;
        if (file.extension() == ".json") take_session(file, scenario, corpus);
        if (file.extension() == ".pcapng") take_evidence(file, scenario, corpus, known);
    }
    return corpus;
}

}  // namespace ipoib::conformance::fuzz
