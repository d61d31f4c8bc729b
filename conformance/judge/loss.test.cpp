// SPDX-License-Identifier: GPL-2.0-or-later
// Captures that tell of their losses: what needs that nothing is missing is not decided there, all else is.
#include "conformance/judge/test_story.hpp"
#include "fabric/capture/test_files.hpp"
#include "fabric/capture/wholeness.hpp"

#include <algorithm>
#include <map>

using namespace ipoib;
using namespace ipoib::testing;
using capture::test::File;
using capture::test::Folder;
using capture::test::join;
using capture::test::Order;
using capture::test::Pack;
using reports::Verdict;

namespace {

constexpr auto order = Order::big;
constexpr unsigned erf_link = 197, infiniband_link = 247, drop_count = 4, interface_drops = 5, system_drops = 7;

/// Two ports come up; a's packet to a group that it has not joined breaks what needs all its joins, the one behind it
/// breaks a rule by itself.
Story accused() {
    Story story;
    story.up(a).up(b).join(b, story.group("239.1.2.3"), mlid);
    story(story.to_group(a, "239.1.2.3", mlid));
    story(echo_request(a, b, story.link, 1).set(Encap::reserved, 7));
    return story(echo_request(a, b, story.link, 2))(echo_reply(b, a, story.link, 2));
}
constexpr std::string_view needs_all = "RULE-RFC4391-10-08", proves_itself = "RULE-RFC4391-6-02";
/// Frames, from 1: of the joins, and of the packet to the group.
constexpr std::uint64_t first_answer = 4, to_group = 11;

/// Makes one file of the story's frames. `record(number, moment)` is what stands for each.
template <class RecordOf>
File file_of(const Story& story, const File& head, const RecordOf& record) {
    auto file = head;
    std::uint64_t number = 0;
    for (const auto& moment : story.moments()) file = join({file, record(++number, moment)});
    return file;
}

File erf_file(const Story& story, std::uint64_t lossy = 0, unsigned lost = 3) {
    return file_of(
        story, capture::test::pcap_header(order, capture::test::microsecond_magic, erf_link),
        [&](std::uint64_t number, const Moment& moment) {
            const auto size = static_cast<unsigned>(moment.octets.size());
            const auto seconds = static_cast<std::uint64_t>(moment.time / second);
            const auto fraction = static_cast<std::uint64_t>(moment.time % second) * 4;
            const auto header =
                join({Pack{Order::little}.u64(seconds << 32 | fraction).file(),
                      Pack{Order::big}.u8(21).u8(4).u16(16 + size).u16(number == lossy ? lost : 0).u16(size).file()});
            return capture::test::pcap_record(order, 0, 0, join({header, moment.octets}));
        });
}

File number_option(unsigned code, std::uint64_t value) {
    return capture::test::option(order, code, Pack{order}.u64(value).file());
}
File pcapng_head(const char* name = "ib0") {
    const auto options =
        join({capture::test::option(order, 2, capture::test::text(name)), capture::test::option(order, 9, {9})});
    return join({capture::test::section(order), capture::test::interface(order, infiniband_link, options)});
}
File packet_block(const Moment& moment, const File& options = {}) {
    return capture::test::enhanced(order, 0, static_cast<std::uint64_t>(moment.time), moment.octets, 0, options);
}
File pcapng_file(const Story& story, std::uint64_t lossy = 0) {
    return file_of(story, pcapng_head(), [&](std::uint64_t number, const Moment& moment) {
        return packet_block(moment, number == lossy ? number_option(drop_count, 3) : File{});
    });
}
/// With statistics behind each frame that is named, which count so many drops.
File with_statistics(const Story& story, const std::map<std::uint64_t, std::uint64_t>& drops) {
    return file_of(story, pcapng_head(), [&](std::uint64_t number, const Moment& moment) {
        const auto found = drops.find(number);
        if (found == drops.end()) return packet_block(moment);
        return join({packet_block(moment), capture::test::statistics(order, 0, static_cast<std::uint64_t>(moment.time),
                                                                     number_option(system_drops, found->second))});
    });
}

struct Judged {
    std::vector<reports::Result> results;
    std::vector<std::string> notes;
    std::size_t told = 0;  ///< violations that the listener heard of
    [[nodiscard]] reports::Result of(std::string_view id) const {
        for (const auto& result : results)
            if (result.id == id) return result;
        FAIL("no such rule: " << id);
        return {};
    }
};

Judged judged(const std::vector<File>& files, bool is_together = false) {
    const Folder folder;
    conformance::PassiveRun run{.captures = {}, .rules = rules::every(), .judge = {.is_one_subnet = is_together}};
    for (const auto& file : files)
        run.captures.push_back(folder.add(std::to_string(run.captures.size()) + ".capture", file));
    Judged judged;
    run.listener = [&](const rules::Rule&, const reports::Detail&) { ++judged.told; };
    auto results = conformance::check(run);
    judged.results = std::move(results.results);
    for (const auto& one : results.captures) {
        CHECK(one.error.empty());
        judged.notes.insert(judged.notes.end(), one.notes.begin(), one.notes.end());
    }
    return judged;
}

void check_accused(const File& file) {
    const auto all = judged({file});
    CHECK(all.of(needs_all).verdict == Verdict::fail);
    CHECK(all.of(needs_all).frames == std::vector<std::uint64_t>{to_group});
    CHECK(all.of(proves_itself).verdict == Verdict::fail);
}

void check_undecided(const Judged& all, const std::string& words) {
    const auto result = all.of(needs_all);
    CHECK(result.verdict == Verdict::inconc);
    CHECK(result.violations == 0);
    CHECK(result.fail_type.empty());
    CHECK_THAT(result.message, ContainsSubstring(words));
    CHECK(all.of(proves_itself).verdict == Verdict::fail);
    std::size_t violations = 0;
    for (const auto& one : all.results) violations += one.violations;
    CHECK(all.told == violations);
}
void check_undecided(const File& file, const std::string& words) { check_undecided(judged({file}), words); }

}  // namespace

TEST_CASE("Told loss: ERF's counter, in the span and beside it") {
    const auto story = accused();
    check_accused(erf_file(story));
    check_undecided(erf_file(story, to_group), "the capture says that 3 packets were dropped before frame 11");
    check_undecided(erf_file(story, first_answer + 1, 1), "the capture says that 1 packet was dropped before frame 5");
    // Since its port came up there may have been a join before the one that is there.
    check_undecided(erf_file(story, first_answer - 1, 1), "the capture says that 1 packet was dropped before frame 3");
    check_accused(erf_file(story, 1));
    check_accused(erf_file(story, to_group + 1));
    CHECK_THAT(judged({erf_file(story, 1)}).notes.front(), ContainsSubstring("says that 3 packets were dropped"));
}

TEST_CASE("Told loss: a pcapng's drop counts, in the span and beside it") {
    const auto story = accused();
    check_accused(pcapng_file(story));
    check_undecided(pcapng_file(story, to_group),
                    "the capture says that 3 packets were dropped on interface ib0 before frame 11");
    check_accused(pcapng_file(story, 1));
    check_accused(pcapng_file(story, to_group + 1));
}

TEST_CASE("Told loss: statistics at the end of the file take back nothing that was told") {
    const auto story = accused();
    const auto last = story.moments().size();
    check_accused(with_statistics(story, {{last, 0}}));
    check_undecided(with_statistics(story, {{last, 12}}),
                    "the capture says that 12 packets were dropped on interface ib0; first in frame 11");
}

TEST_CASE("Told loss: statistics in the midst of the file are of the time since those before") {
    const auto story = accused();
    const auto last = story.moments().size();
    check_accused(with_statistics(story, {{1, 12}, {last, 12}}));
    check_accused(with_statistics(story, {{to_group, 0}, {last, 12}}));
    check_undecided(with_statistics(story, {{first_answer, 0}, {to_group, 2}, {last, 2}}),
                    "2 packets were dropped on interface ib0 after frame 4");
}

TEST_CASE("Told loss: of one interface it is none of another's subnet") {
    const auto story = accused();
    const auto other = capture::test::interface(order, infiniband_link);
    const auto drops = [&](std::uint32_t interface_number) {
        return capture::test::statistics(order, interface_number, 0, number_option(interface_drops, 1));
    };
    check_accused(join({pcapng_file(story), other, drops(1)}));
    check_undecided(join({pcapng_file(story), other, drops(0)}), "1 packet was dropped on interface ib0");
    // But where all are said to show one subnet, it may be.
    check_undecided(judged({join({pcapng_file(story), other, drops(1)})}, true), "1 packet was dropped");
}

TEST_CASE("Told loss: captures that are judged together lack what any of them lacks at that time") {
    const auto story = accused();
    const auto& moments = story.moments();
    /// One that has no more than two frames of its own, of which the second tells.
    const auto beside = [&](std::int64_t from, std::int64_t to) {
        auto first = moments[0], next = moments[0];
        first.octets = next.octets = echo_request(c, b, samples::controlled(), 1).build();
        first.time = from;
        next.time = to;
        return join({pcapng_head("ib1"), packet_block(first), packet_block(next, number_option(drop_count, 5))});
    };
    const auto begin = moments.front().time, end = moments.back().time;
    check_undecided(judged({erf_file(story), beside(begin - 1, end + 1)}, true),
                    "5 packets were dropped on interface ib1");
    Story two;
    two(echo_request(c, b, two.link, 1)).pause(second)(echo_request(c, b, two.link, 2));
    check_undecided(judged({erf_file(story), erf_file(two, 2, 5)}, true), "5 packets were dropped before frame 2");
    const auto all = judged({erf_file(story), beside(end + second, end + 2 * second)}, true);
    CHECK(all.of(needs_all).verdict == Verdict::fail);
}

TEST_CASE("Told loss: every place and count of it in every format leaves what proves itself") {
    const auto story = accused();
    for (std::uint64_t at = 1; at <= story.moments().size(); ++at)
        for (const auto& file :
             {erf_file(story, at, 0xffff), pcapng_file(story, at), with_statistics(story, {{at, ~std::uint64_t{0}}})})
            CHECK(judged({file}).of(proves_itself).verdict == Verdict::fail);
}

namespace {

/// As the recorder of a run writes it.
File marked(const Story& story, const char* interface_name = "ib0") {
    capture::Census census;
    for (const auto& moment : story.moments()) census.add(moment.time, interface_name, moment.octets);
    const auto comment = capture::test::option(order, 1, capture::test::text(census.mark()));
    const auto head = capture::test::block(
        order, 0x0a0d0d0a, Pack{order}.u32(0x1a2b3c4d).u16(1).u16(0).u64(~std::uint64_t{0}).octets(comment).file());
    const auto plain = pcapng_file(story);
    const auto behind = capture::test::section(order).size();
    return join({head, {plain.begin() + static_cast<std::ptrdiff_t>(behind), plain.end()}});
}

}  // namespace

TEST_CASE("Losses that PSNs show: copies of frames that differ in a bit hide none") {
    Story story;
    story.up(a).up(b).join(b, story.group("239.1.2.3"), mlid);
    story.join(a, story.group("239.1.2.3"), mlid).join(a, story.group("239.1.2.4"), mlid + 1);
    story(story.to_group(a, "239.1.2.3", mlid)).join(b, story.group("239.1.2.4"), mlid + 1);
    story(story.to_group(a, "239.1.2.4", mlid + 1)).join(a, story.group("239.1.2.5"), mlid + 2);
    /// The same time to live, or reserved octets of a MAD, but for one bit, and right CRCs.
    const auto near_copy = [](File octets) -> std::optional<File> {
        Packet packet;
        decode(octets, packet);
        constexpr std::size_t time_to_live = Encap::size + 8, reserved_of_mad = 18;
        if ((!packet.mad && !packet.ipv4) || packet.payload.empty()) return std::nullopt;
        octets[packet.offset_of(packet.payload.data()) + (packet.mad ? reserved_of_mad : time_to_live)] ^= 1;
        write_crcs(octets);
        return octets;
    };
    const auto head = capture::test::pcap_header(order, capture::test::microsecond_magic, infiniband_link);
    const auto count = story.moments().size();
    /// Each queue pair counts its packets.
    std::map<std::pair<std::uint16_t, std::uint32_t>, std::uint32_t> psns;
    const auto numbered = [&](File octets) {
        constexpr std::uint32_t first = 0x100;
        Packet packet;
        decode(octets, packet);
        REQUIRE(packet.deth);
        const auto sent = psns[{packet.lrh[Lrh::slid], packet.deth[Deth::src_qp]}]++;
        set_field(MutableOctets{octets}.subspan(packet.offset_of(packet.bth.data())), Bth::psn, first + sent);
        write_crcs(octets);
        return octets;
    };
    // Each two frames that follow each other, a request and its answer among them, are missing once.
    for (std::uint64_t missing = 1; missing < count; ++missing) {
        psns.clear();
        const auto file = file_of(story, head, [&](std::uint64_t number, const Moment& moment) {
            const auto octets = numbered(moment.octets);
            if (number == missing || number == missing + 1) return File{};
            const auto seconds = static_cast<std::uint32_t>(moment.time / second);
            const auto fraction = static_cast<std::uint32_t>(moment.time % second / 1000);
            const auto record = capture::test::pcap_record(order, seconds, fraction, octets);
            const auto copy = near_copy(octets);
            return copy ? join({record, capture::test::pcap_record(order, seconds, fraction, *copy)}) : record;
        });
        for (const auto& one : judged({file}).results) {
            CAPTURE(missing, one.id, one.message);
            CHECK(one.verdict != Verdict::fail);
        }
    }
}

TEST_CASE("Wholeness: a silence is time where the capture says that it is whole, and is still as it was written") {
    Story story;
    story.up(a).up(b).join(b, story.group("239.1.2.3"), mlid).join(a, story.group("239.1.2.3"), mlid, 4);
    story(story.to_group(a, "239.1.2.3", mlid)).pause(60 * second)(arp_request(a, b.ipv4, story.link));
    constexpr std::string_view subscribes = "RULE-RFC4391-10-12";
    const auto is_decided = [&](const Judged& all) {
        CHECK(all.of(subscribes).observed == 1);
        return all.of(subscribes).violations == 1;
    };
    const auto whole = marked(story);
    CHECK_FALSE(is_decided(judged({pcapng_file(story)})));
    CHECK(is_decided(judged({whole})));
    CHECK(judged({whole}).notes.empty());
    CHECK(is_decided(judged({whole}, true)));

    const auto last = packet_block(story.moments().back());
    const auto is_not_believed = [&](const File& file) {
        const auto all = judged({file});
        CHECK_FALSE(is_decided(all));
        return std::ranges::any_of(all.notes, [](const auto& note) { return note.ends_with("not believed"); });
    };
    CHECK(is_not_believed(join({whole, last})));
    CHECK(is_not_believed(marked(story, "ib1")));
    const auto drops = capture::test::statistics(order, 0, 0, number_option(interface_drops, 1));
    CHECK(is_not_believed(join({whole, drops})));
    // Between two captures there may have been anything.
    CHECK_FALSE(is_decided(judged({whole, pcapng_head()}, true)));
}

TEST_CASE("Told losses: a reply may be a late one, to what was asked before and lost") {
    auto at = [](std::uint32_t qpn) {
        auto node = b;
        node.qpn = qpn;
        return node;
    };
    constexpr std::uint64_t second_request = 11;
    Story story;
    story.up(a).up(b)(arp_request(at(0x100), a.ipv4, story.link))(arp_reply(a, at(0x100), story.link));
    story(arp_request(at(0x300), a.ipv4, story.link))(arp_reply(a, at(0x200), story.link));
    constexpr std::string_view rule = "RULE-RFC4391-9.1.1-05";
    CHECK(judged({erf_file(story)}).of(rule).verdict == Verdict::fail);
    CHECK(judged({erf_file(story, second_request)}).of(rule).verdict == Verdict::inconc);
}
