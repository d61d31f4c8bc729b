// SPDX-License-Identifier: GPL-2.0-or-later
// What comes out is the same, whether frames are looked at one by one, by their shapes, or by several threads. The
// preset tsan builds this program alone.
#include "captures/samples.hpp"
#include "catch2.hpp"
#include "conformance/judge/passive.hpp"
#include "protocol/state/likeness.hpp"
#include "reports/json.hpp"
#include "temporary_folder.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <random>
#include <thread>

using namespace ipoib;
using conformance::Crew, conformance::Judge, conformance::Sighting, conformance::ToldLoss;
using inspection::Examined, inspection::Examiner;

namespace {

struct Kept {
    Sighting sighting;
    std::vector<std::uint8_t> octets;
};

std::vector<Kept> read(std::string_view file) {
    auto reader = capture::Reader::open(std::string(IPOIB_SOURCE_DIR) + "/captures/" + std::string(file));
    std::vector<Kept> frames;
    capture::Frame frame;
    while (reader.next(frame) == capture::Status::frame) {
        const auto origin = inspection::origin_of(reader.interface_name(frame.interface));
        frames.push_back({{frame, origin}, {frame.octets.begin(), frame.octets.end()}});
    }
    return frames;
}

/// Fields that no rule on single packets may look at: what shapes pass over is among them.
void count_on(std::vector<std::uint8_t>& octets, std::mt19937& random) {
    using namespace wire;
    Packet packet;
    decode(octets, packet);
    const auto put = [&]<class Header, class T>(View<Header> view, const Field<Header, T>& field, T value) {
        if (view) set_field(MutableOctets{octets}.subspan(packet.offset_of(view.data())), field, value);
    };
    const auto any = [&] { return static_cast<std::uint16_t>(random()); };
    put(packet.bth, Bth::psn, static_cast<std::uint32_t>(random() & 0xffffff));
    put(packet.ipv4, Ipv4::identification, any());
    put(packet.ipv4, Ipv4::checksum, any());
    put(packet.udp, Udp::checksum, any());
    put(packet.icmp, Icmp::sequence, any());
    put(packet.icmp, Icmp::identifier, any());
    put(packet.icmp, Icmp::checksum, any());
    put(packet.icmpv6, Icmpv6::checksum, any());
    if (packet.icmpv6 && packet.icmpv6[Icmpv6::type] == Icmpv6Type::echo_request)
        put(packet.icmpv6, Icmpv6::body, static_cast<std::uint32_t>(random()));
    const bool is_payload_free = packet.udp && packet.others_count == 0;
    if (is_payload_free && packet.ip_payload.size() > Udp::size)
        octets[packet.offset_of(packet.ip_payload.data()) + Udp::size] ^= 0xff;
}

/// Each frame several times, numbered on, some with other numbers and payloads, some damaged; CRCs are right or blank.
std::vector<Kept> varied(const std::vector<Kept>& frames, unsigned rounds, unsigned seed) {
    std::mt19937 random{seed};
    std::vector<Kept> all;
    for (unsigned round = 0; round < rounds; ++round)
        for (const auto& one : frames) {
            auto& added = all.emplace_back(one);
            auto& octets = added.octets;
            added.sighting.frame.number = all.size();
            added.sighting.frame.time_ns = one.sighting.frame.time_ns + round * std::int64_t{1'000'000'000};
            const bool is_ib = one.sighting.frame.link_type == capture::LinkType::infiniband && octets.size() > 40;
            if (!is_ib || round == 0) continue;
            if (random() % 3 != 0) count_on(octets, random);
            if (random() % 10 == 0) octets[random() % octets.size()] ^= static_cast<std::uint8_t>(random());
            const bool is_whole = wire::detect_tail(octets) == wire::Tail::both &&
                                  wire::View<wire::Lrh>::at(octets)[wire::Lrh::packet_length] * 4u + 2 == octets.size();
            if (is_whole && random() % 2 == 0) wire::write_crcs(octets);
        }
    for (auto& one : all) one.sighting.frame.octets = one.octets;
    return all;
}

/// Frames from memory, with a loss now and then, and a wait.
class FromMemory final : public conformance::Supply {
public:
    explicit FromMemory(const std::vector<Kept>& frames) : frames_(frames) {}
    bool next(Sighting& sighting) override {
        if (at_ % 97 == 96) {
            on_loss({.loss = {.count = 1, .interface = 0, .before = {at_ + 1, 0}}, .interface_name = "here"});
        }
        if (at_ % 53 == 52 && on_wait_) on_wait_();
        if (at_ == frames_.size()) return false;
        // As of a reader: what was given last is gone.
        given_.assign(frames_[at_].octets.begin(), frames_[at_].octets.end());
        sighting = frames_[at_].sighting;
        sighting.frame.octets = given_;
        ++at_;
        return true;
    }
    void on_wait(std::function<void()> listener) override { on_wait_ = std::move(listener); }
    [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> progress() const override { return {at_, frames_.size()}; }

private:
    const std::vector<Kept>& frames_;
    std::size_t at_ = 0;
    std::vector<std::uint8_t> given_;
    std::function<void()> on_wait_;
};

std::string told_of(const wire::Packet& packet, const state::Known& known) {
    std::string text = std::to_string(packet.found) + ' ' + std::to_string(known.facts) + ' ' +
                       std::to_string(known.now.order) + ' ' + std::to_string(packet.payload_length);
    packet.for_each_header([&](const wire::HeaderSpec& header, const std::uint8_t* at) {
        text += ' ' + std::string(header.name) + '@' + std::to_string(packet.offset_of(at));
        for (const auto octet : wire::Octets{at, header.size}) text += ',' + std::to_string(octet);
    });
    for (const auto& octets :
         {packet.ip_payload, packet.payload, packet.nd_options, packet.sender_hardware, packet.wrong_option})
        if (octets.data())
            text += " +" + std::to_string(packet.offset_of(octets.data())) + '/' + std::to_string(octets.size());
    return text;
}

/// All that a judge lets out, in its order.
struct Heard {
    std::vector<std::string> violations, packets;
    std::string results;
    std::vector<std::string> notes;
};

template <class Feed>
Heard hear(const std::vector<const rules::Rule*>& rules, conformance::JudgeOptions options, Feed&& feed) {
    Heard heard;
    Judge judge{rules, 0,
                [&](const rules::Rule& rule, const reports::Detail& detail) {
                    heard.violations.push_back(std::string(rule.id) + ' ' + std::to_string(detail.frame) + ' ' +
                                               detail.actual + ' ' + detail.subject + ' ' + detail.link);
                },
                std::move(options)};
    judge.set_onlooker([&](const wire::Packet& packet, const state::Known& known, const state::Subnet&) {
        heard.packets.push_back(told_of(packet, known));
    });
    feed(judge);
    judge.finish();
    reports::Results results;
    results.results = judge.results();
    heard.results = reports::to_json(results);
    heard.notes = judge.notes();
    return heard;
}

void tell(Judge& judge, const ToldLoss& told) {
    judge.tell_loss(told.loss, told.origin, told.interface_name, told.capture);
}

/// Without shapes and without threads.
Heard one_by_one(const std::vector<Kept>& frames, const std::vector<const rules::Rule*>& rules,
                 const conformance::JudgeOptions& options) {
    return hear(rules, options, [&](Judge& judge) {
        FromMemory supply{frames};
        supply.on_loss = [&](const ToldLoss& told) { tell(judge, told); };
        Examiner examiner{judge.rule_list()};
        Sighting sighting;
        while (supply.next(sighting)) {
            const auto medium = conformance::medium_of(sighting.frame.link_type);
            judge.frame(sighting, medium ? examiner.examine_alone(sighting.frame.octets, sighting.frame.wire_length,
                                                                  *medium, sighting.origin)
                                         : Examined{});
        }
    });
}

Heard by(const Crew& crew, const std::vector<Kept>& frames, const std::vector<const rules::Rule*>& rules,
         const conformance::JudgeOptions& options) {
    return hear(rules, options, [&](Judge& judge) {
        FromMemory supply{frames};
        conformance::hand_over(
            supply, judge.rule_list(), crew,
            {.frame = [&](const auto& sighting, const auto& examined) { judge.frame(sighting, examined); },
             .loss = [&](const ToldLoss& told) { tell(judge, told); }});
    });
}

const std::vector<Crew> crews{{.threads = 1},
                              {.threads = 2, .alone = 0, .frames_of_block = 1},
                              {.threads = 2, .alone = 10},
                              {.threads = 8, .alone = 0, .frames_of_block = 7},
                              {.threads = 8, .alone = 5, .frames_of_block = 64}};

void compare(const std::vector<Kept>& frames, const std::vector<const rules::Rule*>& rules,
             const conformance::JudgeOptions& options) {
    const auto expected = one_by_one(frames, rules, options);
    for (const auto& crew : crews) {
        CAPTURE(crew.threads, crew.alone, crew.frames_of_block);
        const auto heard = by(crew, frames, rules, options);
        CHECK((heard.violations == expected.violations));
        CHECK((heard.packets == expected.packets));
        CHECK(heard.results == expected.results);
        CHECK(heard.notes == expected.notes);
    }
}

}  // namespace

TEST_CASE("Threads: all samples give the same with any number of threads and without shapes") {
    const auto rules = rules::every();
    std::uint64_t compared = 0;
    for (const auto& sample : captures::all()) {
        CAPTURE(sample.file);
        const auto frames = varied(read(sample.file), 4, 4391);
        compare(frames, rules, {});
        compared += frames.size();
    }
    CHECK(compared > 1000);
}

TEST_CASE("Threads: the options of a judge change nothing of that") {
    const auto frames = varied(read("conformant.pcap"), 6, 17);
    const auto broken = varied(read("broken.pcap"), 3, 18);
    for (const auto* one : {&frames, &broken}) {
        compare(*one, rules::every(), {.subject = {.lid = 2}});
        compare(*one, rules::every(), {.is_one_subnet = true, .is_whole = true});
        compare(*one, rules::every(), {.is_all_ipoib = true, .tells_loss_late = true});
        compare(*one, conformance::selected_rules(conformance::Selection{{"rfc4391/6"}}), {});
    }
}

TEST_CASE("Threads: nor does it where hardly any frame is of the shape of another") {
    auto frames = varied(read("usual.pcap"), 60, 21);
    std::mt19937 random{5};
    for (auto& one : frames) {
        if (one.octets.size() < wire::Lrh::size) continue;
        wire::set_field(one.octets, wire::Lrh::slid, static_cast<std::uint16_t>(1 + random() % 0xbfff));
        wire::write_crcs(one.octets);
    }
    compare(frames, rules::every(), {});
}

TEST_CASE("Threads: nor where there are more shapes than are kept from block to block") {
    const auto of_sample = read("usual.pcap");
    const auto found = std::ranges::find_if(of_sample, [](const Kept& one) {
        wire::Packet packet;
        wire::decode(one.octets, packet);
        return packet.lrh && packet.deth && packet.udp && packet.others_count == 0;
    });
    REQUIRE(found != of_sample.end());
    std::vector<Kept> frames;
    std::mt19937 random{6};
    // Half of the flows go on, and others come and go.
    for (std::uint32_t flow = 0; flow < 1500; ++flow)
        for (int i = 0; i < 4; ++i) {
            auto& added = frames.emplace_back(*found);
            wire::Packet packet;
            wire::decode(added.octets, packet);
            const auto udp = packet.offset_of(packet.udp.data());
            wire::set_field(wire::MutableOctets{added.octets}.subspan(udp), wire::Udp::source,
                            static_cast<std::uint16_t>(1024 + (i % 2 == 0 ? flow : flow % 64)));
            count_on(added.octets, random);
            wire::write_crcs(added.octets);
            added.sighting.frame.number = frames.size();
        }
    for (auto& one : frames) one.sighting.frame.octets = one.octets;
    compare(frames, rules::every(), {});

    Examiner examiner{std::make_shared<const std::vector<const rules::Rule*>>(rules::every())};
    for (const auto& one : frames) {
        const auto examined = examiner.examine_and_keep(one.octets, 0, wire::Medium::infiniband, {});
        wire::Packet packet;
        wire::decode(one.octets, packet);
        CHECK(examined.likeness == state::likeness_of(packet, one.octets.data()));
        if (one.sighting.frame.number % 64 == 0) examiner.forget();
    }
}

namespace {

/// Of `check` with these captures; the commands differ in the crew alone.
std::string results_of(std::vector<std::string> captures, const Crew& crew, bool together) {
    conformance::PassiveRun run{.captures = std::move(captures), .rules = rules::every(), .crew = crew};
    run.judge.is_one_subnet = together;
    return reports::to_json(conformance::check(run));
}

void write(const std::string& path, std::string_view octets) {
    std::ofstream(path, std::ios::binary).write(octets.data(), static_cast<std::streamsize>(octets.size()));
}

std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("Threads: captures are read by them, each by itself and together, and end where they are damaged") {
    const std::string folder = std::string(IPOIB_SOURCE_DIR) + "/captures/";
    const TemporaryFolder temporary;
    const auto cut = temporary / "cut.pcap", damaged = temporary / "damaged.pcapng";
    const auto whole = text_of(folder + "conformant.pcap");
    write(cut, std::string_view{whole}.substr(0, whole.size() / 2 + 3));
    auto evidence = text_of(folder + "evidence.pcapng");
    std::fill(evidence.begin() + static_cast<std::ptrdiff_t>(evidence.size() / 2), evidence.end(), '\xee');
    write(damaged, evidence);
    const std::vector<std::string> captures{folder + "conformant.pcap", folder + "evidence.pcapng", cut, damaged,
                                            folder + "tcpdump.pcap",    folder + "broken.pcap"};
    for (const bool together : {false, true}) {
        const auto expected = results_of(captures, {.threads = 1}, together);
        CHECK(expected.find("corrupt after frame") != std::string::npos);
        for (const auto& crew : crews) CHECK(results_of(captures, crew, together) == expected);
    }
}

TEST_CASE("Threads: what was read is judged while a pipe has no more") {
    constexpr std::string_view file = "field-troubles.pcap";
    const auto whole = text_of(std::string(IPOIB_SOURCE_DIR) + "/captures/" + std::string(file));
    const auto frames = read(file).size();
    auto ends = make_pipe();
    REQUIRE(ends);
    REQUIRE(::write(ends.writer.value(), whole.data(), whole.size()) == static_cast<ssize_t>(whole.size()));
    std::atomic<std::uint64_t> judged{0};
    std::thread writer([&] {
        // The pipe stays open: all that is in it must be judged nevertheless.
        while (judged.load() < frames) std::this_thread::sleep_for(std::chrono::milliseconds{1});
        ends.writer.close();
    });
    auto reader = capture::Reader::from_descriptor(std::move(ends.reader), "a pipe");
    class Piped final : public conformance::Supply {
    public:
        explicit Piped(capture::Reader& from) : from_(from) {}
        bool next(Sighting& sighting) override { return from_.next(sighting.frame) == capture::Status::frame; }
        void on_wait(std::function<void()> listener) override { from_.on_wait(std::move(listener)); }
        [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> progress() const override { return {0, 0}; }

    private:
        capture::Reader& from_;
    } supply{reader};
    const auto rules = std::make_shared<const std::vector<const rules::Rule*>>(rules::every());
    conformance::hand_over(supply, rules, {.threads = 2, .alone = 3},
                           {.frame = [&](const auto&, const auto&) { ++judged; }, .loss = [](const auto&) {}});
    writer.join();
    CHECK(judged.load() == frames);
}

TEST_CASE("Threads: what the judge throws, and what the supply throws, ends them all") {
    const auto frames = varied(read("conformant.pcap"), 10, 3);
    const auto rules = std::make_shared<const std::vector<const rules::Rule*>>(rules::every());
    for (const unsigned threads : {1u, 2u, 8u}) {
        FromMemory supply{frames};
        std::size_t judged = 0;
        const auto judge = [&](const auto&, const auto&) {
            if (++judged == 100) throw std::runtime_error("enough");
        };
        CHECK_THROWS_WITH(conformance::hand_over(supply, rules, {.threads = threads, .alone = 0, .frames_of_block = 5},
                                                 {.frame = judge, .loss = [](const auto&) {}}),
                          "enough");
        CHECK(judged == 100);
    }
    class Failing final : public conformance::Supply {
    public:
        bool next(Sighting&) override { throw std::runtime_error("no disk"); }
        void on_wait(std::function<void()>) override {}
        [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> progress() const override { return {0, 0}; }
    } failing;
    CHECK_THROWS_WITH(conformance::hand_over(failing, rules, {.threads = 2, .alone = 0},
                                             {.frame = [](const auto&, const auto&) {}, .loss = [](const auto&) {}}),
                      "no disk");
}
