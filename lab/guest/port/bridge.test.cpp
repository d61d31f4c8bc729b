// SPDX-License-Identifier: GPL-2.0-or-later
// The bridges with a socket pair for the port and a FIFO, which gives back what is written to it, for the device.
#include "lab/guest/port/bridge.hpp"

#include "base/descriptor.hpp"
#include "catch2.hpp"
#include "lab/guest/port/test_capture.hpp"
#include "temporary_folder.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

using namespace ipoib;
using namespace ipoib::lab;
using namespace std::chrono_literals;

namespace {

/// A bridge in a thread of its own, and the host's end of its port.
class Bench {
public:
    explicit Bench(const std::function<void(int port, int stop, const std::string& device)>& bridge) {
        ::signal(SIGPIPE, SIG_IGN);  // as the program does
        REQUIRE(::mkfifo(device_.c_str(), 0600) == 0);
        fifo = Descriptor{::open(device_.c_str(), O_RDWR | O_NONBLOCK)};
        std::array<int, 2> ends{};
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
        host = Descriptor{ends[0]};
        port_ = Descriptor{ends[1]};
        ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
        thread_ = std::thread([this, bridge] {
            try {
                bridge(port_.value(), stop_.reader.value(), device_);
            } catch (const std::exception& error) {
                error_ = error.what();
            }
            has_ended_ = true;
        });
    }
    ~Bench() {
        stop_.writer.close();
        thread_.join();
    }
    bool ends() {
        for (int i = 0; i < 2000 && !has_ended_; ++i) std::this_thread::sleep_for(5ms);
        return has_ended_;
    }
    void stop() { stop_.writer.close(); }
    std::string error() {
        CHECK(ends());
        return error_;
    }
    void say(const Octets& octets) {
        REQUIRE(::write(host.value(), octets.data(), octets.size()) == static_cast<ssize_t>(octets.size()));
    }
    /// This many octets, or fewer at the end of the stream or after 10 s.
    Octets hear(std::size_t count) {
        Octets heard(count);
        std::size_t done = 0;
        pollfd polled{host.value(), POLLIN, 0};
        while (done<count&& ::poll(&polled, 1, 10000)> 0) {
            const auto got = ::read(host.value(), heard.data() + done, count - done);
            if (got <= 0) break;
            done += static_cast<std::size_t>(got);
        }
        heard.resize(done);
        return heard;
    }
    Descriptor host, fifo;

private:
    ipoib::TemporaryFolder folder_;
    std::string device_ = folder_ / "device", error_;
    Descriptor port_;
    Pipe stop_ = make_pipe();
    std::atomic<bool> has_ended_ = false;
    std::thread thread_;
};

Octets framed(const Octets& frame) {
    Buffer buffer;
    write_frame(buffer, frame);
    return {buffer.view().begin(), buffer.view().end()};
}

Octets octets_of(const std::string& text) { return {text.begin(), text.end()}; }

auto command(const host::Arguments& arguments) {
    return [arguments](int port, int stop, const std::string&) { bridge_command(port, stop, arguments, 300ms); };
}

}  // namespace

TEST_CASE("Bridge: raw frames go to the device and back, until the host goes") {
    Bench bench(bridge_raw);
    for (const std::size_t length : {std::size_t{26}, std::size_t{290}, std::size_t{4300}}) {
        const auto frame = framed(Octets(length, static_cast<std::uint8_t>(length)));
        bench.say(frame);
        CHECK(bench.hear(frame.size()) == frame);
    }
    bench.say(framed({}));
    const auto again = framed(Octets(40, std::uint8_t{7}));
    bench.say(again);
    CHECK(bench.hear(again.size()) == again);
    bench.host.close();
    CHECK(bench.ends());
}

TEST_CASE("Bridge: after an impossible length the raw link is down, and the bridge waits for another host") {
    Bench bench(bridge_raw);
    bench.say({0, 5, 1, 2, 3, 4, 5});
    bench.say(framed(Octets(40)));
    CHECK(bench.hear(2) == Octets{0, 0});
    bench.stop();
    CHECK(bench.error().empty());
}

TEST_CASE("Bridge: the tap gives frames, the capture the stream as it is") {
    const Octets frame(50, std::uint8_t{3});
    const auto stream = capture_head() + record(erf(frame)) + record(erf(Octets(10))) + record(erf(frame));
    Bench tap(bridge_tap), capture(bridge_capture);
    for (auto* const bench : {&tap, &capture})
        REQUIRE(::write(bench->fifo.value(), stream.data(), stream.size()) == static_cast<ssize_t>(stream.size()));
    CHECK(tap.hear(104) == framed(frame) + framed(frame));
    CHECK(capture.hear(stream.size()) == stream);
}

TEST_CASE("Bridge: a tap on nonsense, and a device that is not there, are errors") {
    Bench tap(bridge_tap);
    const Octets nonsense(24, std::uint8_t{'x'});
    REQUIRE(::write(tap.fifo.value(), nonsense.data(), nonsense.size()) == 24);
    CHECK_THAT(tap.error(), ContainsSubstring("no pcap stream"));
    Bench missing([](int port, int stop, const std::string&) { bridge_raw(port, stop, "/nonexistent/device"); });
    CHECK_THAT(missing.error(), ContainsSubstring("/nonexistent/device"));
}

TEST_CASE("Bridge: a capture that nobody reads waits, and nothing is lost") {
    Bench bench(bridge_capture);
    Octets sent;
    for (int i = 0; i < 400; ++i) {
        const Octets piece(4000, static_cast<std::uint8_t>(i));
        pollfd polled{bench.fifo.value(), POLLOUT, 0};
        if (::poll(&polled, 1, 100) <= 0) break;
        const auto count = ::write(bench.fifo.value(), piece.data(), piece.size());
        if (count > 0) sent.insert(sent.end(), piece.begin(), piece.begin() + count);
    }
    CHECK(bench.hear(sent.size()) == sent);
}

TEST_CASE("Bridge: a command hears and answers the host, and is told when the host goes") {
    Bench bench(command({"sh", "-c", "while read word; do echo \"<$word>\"; done"}));
    bench.say(octets_of("one\ntwo\n"));
    CHECK(bench.hear(12) == octets_of("<one>\n<two>\n"));
    bench.host.close();
    CHECK(bench.ends());
}

TEST_CASE("Bridge: a command that does not end is killed with its children, one that has ended is not waited for") {
    Bench stubborn(command({"sh", "-c", "trap '' TERM; sleep 60 & echo up; wait; sleep 60"}));
    CHECK(stubborn.hear(3) == octets_of("up\n"));
    stubborn.host.close();
    CHECK(stubborn.ends());
    Bench gone(command({"echo", "bye"}));
    CHECK(gone.hear(4) == octets_of("bye\n"));
    gone.say(octets_of("is anyone there?\n"));
    gone.stop();
    CHECK(gone.error().empty());
    Bench missing(command({"/nonexistent/program"}));
    CHECK_FALSE(missing.error().empty());
}
