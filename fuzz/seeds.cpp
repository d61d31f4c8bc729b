// SPDX-License-Identifier: GPL-2.0-or-later
// Writes what the fuzzers begin with, a folder for each: sample captures and their frames as each fuzzer reads them,
// tables of an SA, every field that `--set` knows, and what the program itself writes of results and profiles.
#include "captures/samples.hpp"
#include "conformance/bench/profile.hpp"
#include "conformance/judge/judge.hpp"
#include "fabric/capture/pcapng_writer.hpp"
#include "fabric/change/change.hpp"
#include "fuzz/compress.hpp"
#include "protocol/wire/registry.hpp"
#include "reports/baseline.hpp"
#include "reports/json.hpp"
#include "reports/samples.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace {

using namespace ipoib;
using Bytes = std::vector<std::uint8_t>;

Bytes operator+(Bytes a, const Bytes& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}
Bytes bytes(std::string_view text) { return {text.begin(), text.end()}; }
Bytes number(std::size_t value, unsigned octets) {
    Bytes all;
    while (octets-- > 0) all.push_back(static_cast<std::uint8_t>(value >> 8 * octets));
    return all;
}
Bytes counted(fuzz::Octets octets) { return number(octets.size(), 2) + Bytes(octets.begin(), octets.end()); }
Bytes counted(std::string_view text) { return counted(fuzz::as_octets(text)); }
/// As many octets as are tried at once.
Bytes beginning(const Bytes& all, std::size_t most) {
    return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(most, all.size()))};
}

/// The folders of the fuzzers.
class Seeds {
public:
    explicit Seeds(std::filesystem::path top) : top_(std::move(top)) {}
    void add(const std::string& fuzzer, const Bytes& seed) {
        std::filesystem::create_directories(top_ / fuzzer);
        std::ofstream file{top_ / fuzzer / std::to_string(count_++), std::ios::binary};
        file.write(reinterpret_cast<const char*>(seed.data()), static_cast<std::streamsize>(seed.size()));
    }

private:
    std::filesystem::path top_;
    std::size_t count_ = 0;
};

struct Kept {
    wire::Medium medium;
    std::int64_t time_ns;
    Bytes octets;
};

std::vector<Kept> frames_in(const std::string& file) {
    std::vector<Kept> all;
    auto reader = capture::Reader::open(file);
    capture::Frame frame;
    while (reader.next(frame) == capture::Status::frame)
        if (const auto medium = conformance::medium_of(frame.link_type))
            all.push_back({*medium, frame.time_ns, {frame.octets.begin(), frame.octets.end()}});
    return all;
}

/// The octet that fuzz/links.cpp reads as about this time.
std::uint8_t pause(std::int64_t time_ns) {
    if (time_ns < 16) return static_cast<std::uint8_t>(std::max<std::int64_t>(0, time_ns));
    return static_cast<std::uint8_t>(42 + std::bit_width(static_cast<std::uint64_t>(time_ns)) - 1);
}

void add_run(Seeds& seeds, const Bytes& run) {
    if (run.empty()) return;
    seeds.add("links", run);
    seeds.add("dissector", run);
}

/// Runs of frames, short ones and one that is as long as may be.
void add_links(Seeds& seeds, const std::vector<Kept>& frames) {
    constexpr std::size_t longest = 2000;
    for (const std::size_t run : {3U, 12U, 1000U}) {
        Bytes seed;
        std::size_t in_run = 0;
        std::int64_t last = frames.empty() ? 0 : frames.front().time_ns;
        for (const auto& frame : frames) {
            const auto one =
                Bytes{static_cast<std::uint8_t>(frame.medium), pause(frame.time_ns - last)} + counted(frame.octets);
            last = frame.time_ns;
            if (in_run == run || seed.size() + one.size() > longest) {
                add_run(seeds, seed);
                seed.clear();
                in_run = 0;
            }
            seed = seed + one;
            ++in_run;
        }
        add_run(seeds, seed);
    }
}

void add_capture(Seeds& seeds, const std::string& file) {
    constexpr std::size_t few = 6, most = 4000;
    std::ifstream stream{file, std::ios::binary};
    const Bytes all{std::istreambuf_iterator<char>(stream), {}};
    const auto some = beginning(all, most);
    seeds.add("capture_reader", beginning(all, 8000));
    for (const auto kind : {capture::Compression::gzip, capture::Compression::zstd, capture::Compression::lz4}) {
        const auto octet = static_cast<std::uint8_t>(static_cast<unsigned>(kind) - 1);
        const auto packed = fuzz::compressed(kind, some);
        seeds.add("compressed", Bytes{octet, 7} + packed);
        seeds.add("compressed", Bytes{octet, 7} + packed + packed);
        seeds.add("compressed",
                  Bytes{static_cast<std::uint8_t>(octet + 0x80 + (3 - (octet + 0x80) % 3 + octet) % 3), 0} +
                      beginning(some, 500));
        seeds.add("capture_reader", packed);
    }
    const auto frames = frames_in(file);
    add_links(seeds, frames);
    Bytes stream_of_frames{0}, records = counted("a capture") + Bytes{1, 0} + counted("dut") + Bytes{4} + counted("");
    for (const auto& frame : frames) {
        seeds.add("decoders", Bytes{static_cast<std::uint8_t>(frame.medium)} + frame.octets);
        seeds.add("rebuild", Bytes{static_cast<std::uint8_t>(frame.medium)} + frame.octets);
        if (stream_of_frames.size() > few * 300) continue;
        records = records + Bytes{0} + number(static_cast<std::uint64_t>(frame.time_ns), 8) + counted(frame.octets) +
                  Bytes{0, 0} + counted("why");
        if (frame.medium != wire::Medium::infiniband) continue;
        stream_of_frames = stream_of_frames + counted(frame.octets);
        seeds.add("lab_streams", Bytes{2} + frame.octets);
    }
    seeds.add("raw_port", stream_of_frames);
    seeds.add("raw_port", Bytes{3} + Bytes(stream_of_frames.begin() + 1, stream_of_frames.end()) + Bytes{0, 0});
    seeds.add("pcapng_writer", Bytes{1} + records);
    seeds.add("pcapng_writer", Bytes{0, 2} + Bytes(records.begin() + 22, records.end()));
    // The lab's capture device writes ERF.
    constexpr std::size_t link_type_at = 20;
    if (all.size() > link_type_at && all[link_type_at] == static_cast<std::uint8_t>(capture::LinkType::erf))
        seeds.add("lab_streams", Bytes{0, 200} + some);
}

/// Tables of one to four segments in the steps of fuzz/rmpp.cpp, also out of order, twice, and cut off.
void add_tables(Seeds& seeds) {
    const auto step = [](std::uint8_t flags, std::uint8_t segment, std::uint8_t length) {
        return Bytes{2, flags, segment, length, 7, segment, 0, 0, 0, 0, 0, 0, 0};
    };
    constexpr std::uint8_t first = 1, last = 2, cut = 4, abort = 7 << 3, whole = 220;
    seeds.add("rmpp", step(first | last, 1, 76));
    seeds.add("rmpp", step(first, 1, whole) + step(last, 2, 76) + step(last, 2, 76));
    seeds.add("rmpp", step(first, 1, whole) + step(last, 4, 76) + step(0, 3, 0) + step(0, 2, 0));
    seeds.add("rmpp",
              step(0, 2, 0) + step(0, 2, 0) + step(first, 1, whole) + step(abort, 0, 0) + step(first | cut, 1, 9));
    seeds.add("rmpp", step(0, 255, 0) + step(first, 9, 0) + step(first | last, 1, 10));
    // The same as steps of fuzz/sa_client.cpp: a request, then its answers.
    const Bytes ask_one{0, 0, 3, 0, 2, 1, 2, 1}, ask_table{0, 2, 3, 0, 0, 2};
    const Bytes answer{6, 0, 32}, refused{6, 0, 2, 7, 0}, segment_one{6, 0, 36, 1, 0x10, whole},
        segment_last{6, 0, 36, 2, 0x11, 76}, later{4, 200};
    const Bytes record(200, 5);
    seeds.add("sa_client", ask_one + answer + record);
    seeds.add("sa_client", ask_one + refused + later + ask_one + later);
    seeds.add("sa_client", ask_table + segment_one + record + segment_last + record + segment_last + record);
    seeds.add("sa_client", ask_table + segment_last + record + Bytes{5} + segment_one + record + Bytes{3, 1});
}

void add_fields(Seeds& seeds) {
    for (const auto& row : wire::registry()) {
        Bytes lines;
        for (const auto& field : row.header->fields) {
            const auto name = std::string(row.header->name) + '.' + std::string(field.name);
            for (const auto* const value : {"=1", "=0..1", "=random", "=0,1", "=fe80::1", "=10.1.0.1"})
                lines = lines + bytes(name + value + '\n');
            for (const auto& known : field.names) lines = lines + bytes(name + '=' + std::string(known.name) + '\n');
        }
        seeds.add("set_field", beginning(lines, 1000));
    }
}

void add_texts(Seeds& seeds) {
    namespace samples = reports::samples;
    using reports::Verdict;
    for (const auto& results : {samples::every_verdict(), samples::run_on("n1", Verdict::fail),
                                samples::merged({Verdict::fail, Verdict::pass, std::nullopt})})
        seeds.add("results_json", bytes(reports::to_json(results)));
    seeds.add("dut_profile", bytes(conformance::to_toml({})));
    seeds.add("baseline", bytes(reports::write_baseline(samples::every_verdict())));
    using namespace fabric;
    const PortName port{.guid = 0x0002c90300100001};
    Bytes lines{0, 200};
    for (const FabricChange& change : std::initializer_list<FabricChange>{
             SetScenario{"default"}, SetManager{false, true}, SetPort{port, false}, SetPKey{port, 0x8123, false},
             SetSa{.resets = true, .delay = std::chrono::milliseconds{3}, .busy_next = 2}, SetGroup{{}, true},
             SetPath{{}, 7, 5}, SetFaults{port, {.loss = 0.5}}, Restore{}}) {
        lines = lines + bytes(request_text(change, 7) + '\n');
        seeds.add("lab_agent", Bytes{0, 200} + bytes(request_text(change, 7) + '\n'));
    }
    seeds.add("lab_agent", lines);
    // Far more than any request has, on one line.
    for (const char* const part : {"[", "{\"a\":", "\"a\":1,"}) {
        std::string deep = "{\"id\":1,\"do\":\"restore\",\"x\":{";
        if (part[0] != '"') deep.pop_back();
        for (unsigned i = 0; i < 1200; ++i) deep += part;
        seeds.add("lab_agent", Bytes{0, 255} + bytes(deep + '\n'));
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: make-seeds CAPTURES CORPUS\n");
        return 2;
    }
    std::filesystem::create_directories(argv[2]);
    // The folders stay: a fuzzer may have none but the text that is in seeds/.
    for (const auto& folder : std::filesystem::directory_iterator(argv[2]))
        for (const auto& old : std::filesystem::directory_iterator(folder)) std::filesystem::remove(old);
    Seeds seeds{argv[2]};
    for (const auto& sample : captures::all())
        add_capture(seeds, std::string(argv[1]) + '/' + std::string(sample.file));
    add_tables(seeds);
    add_fields(seeds);
    add_texts(seeds);
    return 0;
}
