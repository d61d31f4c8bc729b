// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/socket/unix_socket.hpp"

#include "protocol/build/samples.hpp"
#include "temporary_folder.hpp"

#include "catch2.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ipoib::fabric {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

RawPortListener::Accepted into(std::vector<std::unique_ptr<RawPort>>& ports) {
    return [&ports](std::unique_ptr<RawPort> port) { ports.push_back(std::move(port)); };
}
RawPortListener::Accepted nobody() {
    return [](std::unique_ptr<RawPort>) {};
}

/// Leaves a socket that nobody listens on, as a process that was killed does.
void leave_stale_socket(const std::string& path) {
    const Descriptor descriptor{::socket(AF_UNIX, SOCK_STREAM, 0)};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, path.size());
    REQUIRE(::bind(descriptor.value(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
}

std::string error_of(Loop& loop, const std::string& path) {
    try {
        const RawPortListener listener{loop, path, nobody()};
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return {};
}

TEST_CASE("Raw port listener: hands out a port for each stack, and frames pass both ways") {
    struct Sink : FrameSink {
        void receive(const Frame& frame) override { sizes.push_back(frame.octets().size()); }
        std::vector<std::size_t> sizes;
    } of_server, of_client;
    const TemporaryFolder directory;
    Loop loop{Loop::Clock::real};
    std::vector<std::unique_ptr<RawPort>> ports;
    const RawPortListener listener{loop, directory / "port", into(ports)};
    auto first = connect_raw_port(directory / "port"), second = connect_raw_port(directory / "port");
    REQUIRE(first.error.empty());
    RawPort client{loop, std::move(first.descriptor)}, other{loop, std::move(second.descriptor)};
    REQUIRE(loop.run_until([&] { return ports.size() == 2; }, loop.now() + 1min));
    client.deliver_to(&of_client);
    ports[0]->deliver_to(&of_server);
    const auto packet = build::udp(build::samples::host(1), build::samples::host(2), build::Link{}, 8).build();
    client.receive(Frame{packet});
    ports[0]->receive(Frame{packet});
    ports[0]->receive(Frame{packet});
    CHECK(
        loop.run_until([&] { return of_client.sizes.size() == 2 && of_server.sizes.size() == 1; }, loop.now() + 1min));
}

TEST_CASE("Raw port listener: removes its file at the end, and only its own") {
    const TemporaryFolder directory;
    Loop loop{Loop::Clock::real};
    {
        const RawPortListener listener{loop, directory / "port", nobody()};
        CHECK(fs::is_socket(directory / "port"));
    }
    CHECK_FALSE(fs::exists(directory / "port"));
    {
        const RawPortListener listener{loop, directory / "port", nobody()};
        fs::remove(directory / "port");
        std::ofstream{directory / "port"} << "precious";
    }
    CHECK(fs::is_regular_file(directory / "port"));
}

TEST_CASE("Raw port listener: replaces a stale socket and nothing else") {
    const TemporaryFolder directory;
    Loop loop{Loop::Clock::real};
    leave_stale_socket(directory / "stale");
    CHECK(error_of(loop, directory / "stale").empty());

    std::ofstream{directory / "file"} << "precious";
    CHECK_THAT(error_of(loop, directory / "file"), ContainsSubstring("is not a socket"));
    CHECK(fs::file_size(directory / "file") == 8);
    fs::create_symlink("file", directory / "link");
    CHECK_THAT(error_of(loop, directory / "link"), ContainsSubstring("is not a socket"));

    const RawPortListener listener{loop, directory / "port", nobody()};
    CHECK_THAT(error_of(loop, directory / "port"), ContainsSubstring("another process listens"));
    CHECK(connect_raw_port(directory / "port").error.empty());
}

TEST_CASE("Raw port: why there is no connection is said with the path") {
    const TemporaryFolder directory;
    Loop loop{Loop::Clock::real};
    leave_stale_socket(directory / "stale");
    const auto error = [](const std::string& path) {
        const auto connection = connect_raw_port(path);
        CHECK_FALSE(connection.descriptor);
        return connection.error;
    };
    CHECK_THAT(error(directory / "none"), ContainsSubstring("none: No such file"));
    CHECK_THAT(error(directory / "stale"), ContainsSubstring("stale: no fabric listens there"));
    CHECK_THAT(error(""), ContainsSubstring("empty"));
    CHECK_THAT(error(std::string(200, 'x')), ContainsSubstring("too long"));
    CHECK_THAT(error_of(loop, std::string(200, 'x')), ContainsSubstring("too long"));
    CHECK_THAT(error_of(loop, directory / "no" + "/port"), ContainsSubstring("No such file"));
}

}  // namespace
}  // namespace ipoib::fabric
