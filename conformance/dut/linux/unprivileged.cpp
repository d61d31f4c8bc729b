// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/dut/linux/unprivileged.hpp"

#include "conformance/dut/linux/process.hpp"

#include <fcntl.h>
#include <grp.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <stdexcept>

namespace ipoib::host {
namespace {

namespace fs = std::filesystem;

constexpr unsigned nobody = 65534;

/// Something to try; it returns 0 or an error number.
struct Trial {
    std::string what;
    std::function<int()> attempt;
};

int open_for_writing(const std::string& path, int how) {
    const Descriptor file{::open(path.c_str(), how | O_CLOEXEC | O_NONBLOCK)};
    return file ? 0 : errno;
}

/// Reads a parameter of the interface, which anybody may, and sets it to what it is.
int set_again(const std::string& interface, unsigned long get, unsigned long set) {
    const Descriptor socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    ifreq request{};
    interface.copy(request.ifr_name, IFNAMSIZ - 1);
    if (!socket || ::ioctl(socket.value(), get, &request) != 0) return ENODEV;
    return ::ioctl(socket.value(), set, &request) == 0 ? 0 : errno;
}

std::vector<Trial> trials_of(const std::string& interface) {
    std::vector<Trial> trials{
        {"set the MTU of " + interface, [interface] { return set_again(interface, SIOCGIFMTU, SIOCSIFMTU); }},
        {"set the flags of " + interface, [interface] { return set_again(interface, SIOCGIFFLAGS, SIOCSIFFLAGS); }}};
    for (const auto* file : {"mode", "create_child", "delete_child", "umcast"}) {
        const auto path = "/sys/class/net/" + interface + '/' + file;
        trials.push_back({"open " + path + " for writing", [path] { return open_for_writing(path, O_WRONLY); }});
    }
    std::vector<std::string> devices;
    std::error_code error;
    for (const auto& device : fs::directory_iterator("/dev/infiniband", error)) {
        const auto name = device.path().filename().string();
        if (name.starts_with("umad") || name.starts_with("issm")) devices.push_back(device.path().string());
    }
    std::ranges::sort(devices);
    for (const auto& path : devices)
        trials.push_back({"open " + path, [path] { return open_for_writing(path, O_RDWR); }});
    return trials;
}

bool become_nobody() noexcept {
    return ::setgroups(0, nullptr) == 0 && ::setresgid(nobody, nobody, nobody) == 0 &&
           ::setresuid(nobody, nobody, nobody) == 0;
}

/// In the child: an error number of each trial, as they are.
void carry_out(const std::vector<Trial>& trials, int output) {
    for (const auto& trial : trials) {
        const int error = trial.attempt();
        if (::write(output, &error, sizeof error) != static_cast<ssize_t>(sizeof error)) return;
    }
}

/// False where what was tried is not there, or cannot be done at all.
bool says_something(int error) { return error == 0 || error == EPERM || error == EACCES; }

}  // namespace

bool can_drop_privileges() noexcept { return ::geteuid() == 0; }

std::vector<Attempt> try_unprivileged(const std::string& interface) {
    const auto trials = trials_of(interface);
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe: " + error_text(errno));
    const Descriptor reader{ends[0]};
    Descriptor writer{ends[1]};
    const auto child = ::fork();
    if (child < 0) throw std::runtime_error("fork: " + error_text(errno));
    if (child == 0) {
        const bool is_nobody = become_nobody();
        if (is_nobody) carry_out(trials, writer.value());
        ::_exit(is_nobody ? 0 : 1);
    }
    writer.close();
    std::vector<Attempt> attempts;
    int error = 0;
    std::size_t done = 0;
    for (; done < trials.size() && ::read(reader.value(), &error, sizeof error) == static_cast<ssize_t>(sizeof error);
         ++done)
        if (says_something(error))
            attempts.push_back({trials[done].what, error != 0, error != 0 ? error_text(error) : std::string{}});
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (done < trials.size()) throw std::runtime_error("there can be no process without privileges here");
    return attempts;
}

}  // namespace ipoib::host
