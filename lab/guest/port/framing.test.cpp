// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/port/framing.hpp"

#include "catch2.hpp"
#include "lab/guest/port/test_capture.hpp"

using namespace ipoib::lab;

namespace {

std::vector<std::size_t> lengths(FrameReader& reader) {
    std::vector<std::size_t> all;
    while (const auto frame = reader.next()) {
        all.push_back(frame->size());
        reader.used();
    }
    return all;
}

std::vector<Octets> frames(CaptureReader& reader) {
    std::vector<Octets> all;
    while (auto frame = reader.next()) all.push_back(std::move(*frame));
    return all;
}

}  // namespace

TEST_CASE("Framing: frames come out as they went in, in any pieces, and an empty one between") {
    Buffer stream;
    for (const std::size_t length : {shortest_frame, std::size_t{0}, longest_frame})
        write_frame(stream, Octets(length, std::uint8_t{0xa5}));
    for (const std::size_t piece : {1U, 2U, 3U, 1000U, 10000U}) {
        FrameReader reader;
        std::vector<std::size_t> all;
        for (std::size_t at = 0; at < stream.size(); at += piece) {
            reader.feed(stream.view().subspan(at, std::min(piece, stream.size() - at)));
            for (const auto length : lengths(reader)) all.push_back(length);
        }
        CHECK(all == std::vector<std::size_t>{shortest_frame, 0, longest_frame});
        CHECK(reader.waiting() == 0);
    }
}

TEST_CASE("Framing: an impossible length breaks the stream for good") {
    for (const std::size_t length : {std::size_t{1}, shortest_frame - 1, longest_frame + 1, std::size_t{65535}}) {
        Buffer stream;
        write_frame(stream, Octets(length));
        write_frame(stream, Octets(shortest_frame));
        FrameReader reader;
        reader.feed(stream.view());
        CHECK_FALSE(reader.next());
        CHECK(reader.is_broken());
        CHECK_FALSE(reader.next());
    }
}

TEST_CASE("Framing: a buffer gives back the room of what was used") {
    Buffer buffer;
    for (int i = 0; i < 1000; ++i) {
        buffer.add(Octets(1000, static_cast<std::uint8_t>(i)));
        buffer.use(999);
        CHECK(buffer.view()[buffer.size() - 1] == static_cast<std::uint8_t>(i));
    }
    CHECK(buffer.size() == 1000);
    buffer.use(5000);
    CHECK(buffer.size() == 0);
}

TEST_CASE("Capture: frames of ERF records come out, in any pieces") {
    const Octets one(shortest_frame, std::uint8_t{1}), two(longest_frame, std::uint8_t{2});
    const auto stream = capture_head() + record(erf(one)) + record(erf(two));
    for (const std::size_t piece : {1U, 7U, 10000U}) {
        CaptureReader reader;
        std::vector<Octets> all;
        for (std::size_t at = 0; at < stream.size(); at += piece) {
            reader.feed(OctetsView(stream).subspan(at, std::min(piece, stream.size() - at)));
            for (auto& frame : frames(reader)) all.push_back(std::move(frame));
        }
        CHECK(all == std::vector<Octets>{one, two});
        CHECK(reader.error().empty());
    }
}

TEST_CASE("Capture: extension headers, padding, other record types and cut frames are passed over") {
    const Octets frame(30, std::uint8_t{9});
    auto extended = erf(frame);
    extended[8] |= 0x80;
    const Octets extension{0x85, 0, 0, 0, 0, 0, 0, 0, 0x05, 0, 0, 0, 0, 0, 0, 0};
    extended.insert(extended.begin() + 16, extension.begin(), extension.end());
    extended[11] = static_cast<std::uint8_t>(extended.size());
    auto padded = erf(frame) + Octets(2);
    padded[11] = static_cast<std::uint8_t>(padded.size());
    auto ethernet = erf(frame), cut = erf(frame), endless = erf(frame);
    ethernet[8] = 2;
    cut.resize(cut.size() - 1);
    endless[8] |= 0x80;
    for (auto& octet : OctetsView(endless).subspan(16)) const_cast<std::uint8_t&>(octet) = 0xff;
    CaptureReader reader;
    reader.feed(capture_head() + record(extended) + record(padded) + record(ethernet) + record(cut) + record(endless) +
                record({}) + record(erf(Octets(10))));
    CHECK(frames(reader) == std::vector<Octets>{frame, frame});
    CHECK(reader.passed_over() == 5);
    CHECK(reader.error().empty());
}

TEST_CASE("Capture: what is no such stream is said to be none") {
    const auto error = [](const Octets& stream) {
        CaptureReader reader;
        reader.feed(stream);
        while (reader.next()) {
        }
        return reader.error();
    };
    CHECK_FALSE(error(Octets(24, std::uint8_t{'x'})).empty());
    auto other = capture_head();
    other[20] = 1;
    CHECK_FALSE(error(other).empty());
    auto huge = record(erf(Octets(30)));
    huge[11] = 0x7f;
    CHECK_FALSE(error(capture_head() + huge).empty());
    CHECK(error(capture_head()).empty());
    CHECK(error({}).empty());
}
