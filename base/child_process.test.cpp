// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/child_process.hpp"

#include "catch2.hpp"
#include "temporary_folder.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>

using namespace ipoib;
using namespace std::chrono_literals;

namespace {

using Diagnostics = ChildProcess::Diagnostics;
constexpr ChildProcess::Grace hardly_any{100ms, 100ms}, soon{2s, 2s}, plenty{20s, 20s};

/// What comes until the end of the stream.
std::string all_of(const Descriptor& stream) {
    std::string all;
    std::array<char, 4096> octets{};
    for (;;) {
        pollfd polled{stream.value(), POLLIN, 0};
        REQUIRE(::poll(&polled, 1, 20000) > 0);
        const auto count = ::read(stream.value(), octets.data(), octets.size());
        if (count <= 0) return all;
        all.append(octets.data(), static_cast<std::size_t>(count));
    }
}

/// A number on the next line of its output.
pid_t told_pid(const ChildProcess& child) {
    std::string line;
    char octet = 0;
    while (octet != '\n') {
        pollfd polled{child.output.value(), POLLIN, 0};
        REQUIRE(::poll(&polled, 1, 20000) > 0);
        REQUIRE(::read(child.output.value(), &octet, 1) == 1);
        line += octet;
    }
    return std::stoi(line);
}

/// A process of somebody else's that has ended keeps its number where nobody asks for it.
bool runs(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    return std::getline(file, line) && line.substr(line.rfind(')') + 2, 1) != "Z";
}
bool has_no_children() { return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

/// Of this process, ended ones too, until somebody has asked for them.
std::vector<std::string> children() {
    std::ifstream file("/proc/self/task/" + std::to_string(::getpid()) + "/children");
    return {std::istream_iterator<std::string>(file), {}};
}

/// What /proc says that it runs.
std::string name_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
    std::string name;
    std::getline(file, name);
    return name;
}

/// For its lifetime root may not signal processes of other users. So it is for root only.
class Unprivileged {
public:
    Unprivileged() { set(false); }
    ~Unprivileged() { set(true); }
    Unprivileged(const Unprivileged&) = delete;
    Unprivileged& operator=(const Unprivileged&) = delete;
    [[nodiscard]] bool is_so() const { return is_so_; }

private:
    void set(bool may) {
        __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
        std::array<__user_cap_data_struct, 2> sets{};
        constexpr unsigned kill = 1u << CAP_KILL;
        if (::geteuid() != 0 || ::syscall(SYS_capget, &header, sets.data()) != 0) return;
        sets[0].effective = may ? sets[0].effective | kill : sets[0].effective & ~kill;
        is_so_ = ::syscall(SYS_capset, &header, sets.data()) == 0;
    }
    bool is_so_ = false;
};

std::string name_of(Diagnostics where) { return where == Diagnostics::to_a_pipe ? "a pipe" : "ours"; }

}  // namespace

TEST_CASE("Child process: its streams are pipes, and how it ended is told once it has") {
    ChildProcess child{Command::shell("read line; echo \"<$line>\"; echo oops >&2; exit 3"), Diagnostics::to_a_pipe,
                       plenty};
    REQUIRE(child.error().empty());
    CHECK_FALSE(child.ending(0ms));
    CHECK(child.write("hello\n") == 6);
    CHECK(all_of(child.output) == "<hello>\n");
    CHECK(all_of(child.diagnostics) == "oops\n");
    const auto ending = child.ending(20s);
    REQUIRE(ending);
    CHECK(ending->status == 3);
    CHECK(ending->signal == 0);
    CHECK(ending->text() == "exit status 3");
}

TEST_CASE("Child process: what a signal or a shell says by its end is put in words") {
    CHECK(Ending{.signal = SIGSEGV}.text() == "killed by signal 11 (Segmentation fault)");
    CHECK(Ending{.status = 127}.text() == "exit status 127 (the shell did not find the command)");
    CHECK(Ending{.status = 126}.text() == "exit status 126 (the shell could not execute the command)");
    CHECK(Ending{.status = 137}.text() == "exit status 137 (as a shell tells signal 9 (Killed))");
    CHECK(Ending{.is_known = false}.text() == "nobody knows how");
    ChildProcess child{Command::shell("kill -9 $$"), Diagnostics::with_ours, plenty};
    CHECK(child.ending(20s).value().signal == SIGKILL);
}

TEST_CASE("Child process: words go to a program of PATH as they are, and one that is not there is named") {
    const ChildProcess child{Command::words({"printf", "%s|", "a b", "$HOME"}), Diagnostics::with_ours, plenty};
    CHECK(all_of(child.output) == "a b|$HOME|");
    CHECK_FALSE(child.diagnostics);
    const ChildProcess missing{Command::words({"/nonexistent/program"}), Diagnostics::with_ours, plenty};
    CHECK(missing.error() == "/nonexistent/program could not be started: No such file or directory");
    CHECK_FALSE(missing.input);
}

TEST_CASE("Child process: at the end it finds its input at an end and may restore, whatever it still says") {
    const TemporaryFolder folder;
    const auto where = GENERATE(Diagnostics::to_a_pipe, Diagnostics::with_ours);
    CAPTURE(name_of(where));
    const auto note = folder / "note";
    {
        const ChildProcess child{Command::shell("cat > /dev/null; head -c 300000 /dev/zero; echo restored > " + note),
                                 where, plenty};
    }
    std::string text;
    std::ifstream{note} >> text;
    CHECK(text == "restored");
}

TEST_CASE("Child process: nothing of it is left, running or as a zombie, whatever it does") {
    const std::string command = GENERATE(as<std::string>{}, "echo $$; cat > /dev/null",
                                         "echo $$; exec sleep 1000",  // hears no end of input
                                         "trap '' TERM; echo $$; while :; do sleep 1000; done",  // nor SIGTERM
                                         "sleep 1000 & echo $!",  // a child that outlives it
                                         "(trap '' TERM; sleep 1000; sleep 1000) & echo $!; exit 0",
                                         "setsid sleep 1000 & echo $!; cat > /dev/null",  // leaves the group
                                         "setsid sh -c 'echo $$; trap \"\" TERM; while :; do sleep 1000; done' &",
                                         "(setsid sh -c 'sleep 1000 & echo $!') &",  // its parents are gone at once
                                         "(setsid env -i sh -c 'setsid sleep 1000 & echo $!') & cat > /dev/null",
                                         "(setsid sh -c 'sleep 1000 & echo $!; kill -9 $$') & exec sleep 1000");
    CAPTURE(command);
    pid_t pid = 0;
    {
        const ChildProcess child{Command::shell(command), Diagnostics::to_a_pipe, hardly_any};
        pid = told_pid(child);
        CHECK(pid > 0);
    }
    CHECK(has_no_children());
    for (int wait = 0; wait < 200 && runs(pid); ++wait) ::usleep(10000);
    CHECK_FALSE(runs(pid));
}

TEST_CASE("Child process: orphans of its that have ended do not stay as zombies while it runs") {
    ChildProcess child{Command::shell("for i in 1 2 3; do (setsid true &); done; cat > /dev/null"),
                       Diagnostics::with_ours, plenty};
    for (int wait = 0; wait < 2000 && children().size() != 1; ++wait) {
        CHECK_FALSE(child.has_ended());
        ::usleep(1000);
    }
    CHECK(children().size() == 1);
}

TEST_CASE("Child process: ends nothing that another one, or this program, has started") {
    const pid_t own = ::fork();
    if (own == 0) {
        ::pause();
        ::_exit(0);
    }
    const std::string leaves_one = "(setsid sh -c 'sleep 1000 & echo $!') & cat > /dev/null";
    pid_t of_first = 0;
    {
        const ChildProcess first{Command::shell(leaves_one), Diagnostics::with_ours, hardly_any};
        of_first = told_pid(first);
        pid_t of_second = 0;
        {
            const ChildProcess second{Command::shell(leaves_one), Diagnostics::with_ours, hardly_any};
            of_second = told_pid(second);
        }
        CHECK_FALSE(runs(of_second));
        CHECK(runs(of_first));
    }
    CHECK_FALSE(runs(of_first));
    CHECK(runs(own));
    ::kill(own, SIGKILL);
    CHECK(::waitpid(own, nullptr, 0) == own);
}

TEST_CASE("Child process: ends what shows no environment for a while, as one that executes a program does") {
    const ChildProcess first{Command::shell("cat > /dev/null"), Diagnostics::with_ours, hardly_any};
    // PR_SET_MM_MAP(2const) says where the environment is; the kernel has it with CONFIG_CHECKPOINT_RESTORE.
    const std::string hides = R"(
import ctypes, os, struct, time
libc = ctypes.CDLL(None, use_errno=True)
libc.sbrk.restype = ctypes.c_void_p
libc.prctl.argtypes = [ctypes.c_int] + 4 * [ctypes.c_ulong]
field = [0] * 3 + open('/proc/self/stat').read().rpartition(')')[2].split()
places = [int(field[one]) for one in (26, 27, 45, 46, 47, 0, 28, 48, 49, 50, 51)]
places[5] = libc.sbrk(0)
def environment_until(end):
    text = ctypes.create_string_buffer(struct.pack('=12QIi', *places[:10], end, 0, 0, -1))
    return libc.prctl(35, 14, ctypes.addressof(text), len(text) - 1, 0) == 0
print(os.getpid() if environment_until(places[9]) else 0, flush=True)
time.sleep(0.3)
environment_until(places[10])
time.sleep(1000)
)";
    pid_t hidden = 0;
    {
        const ChildProcess second{Command::shell("(setsid python3 -c \"" + hides + "\") & cat > /dev/null"),
                                  Diagnostics::with_ours, hardly_any};
        hidden = told_pid(second);
    }
    if (hidden == 0) {
        WARN("LEFT OUT: this kernel has no PR_SET_MM_MAP");
        return;
    }
    CHECK_FALSE(runs(hidden));
    ::kill(hidden, SIGKILL);
}

TEST_CASE("Child process: what ended behind a child that nobody has asked for is gone") {
    const pid_t own = ::fork();
    if (own == 0) ::_exit(0);
    siginfo_t info{};
    REQUIRE(::waitid(P_PID, static_cast<id_t>(own), &info, WEXITED | WNOWAIT) == 0);
    const auto begin = std::chrono::steady_clock::now();
    {
        const ChildProcess one{Command::shell("(setsid sh -c 'echo $$' &); cat > /dev/null"), Diagnostics::with_ours,
                               soon};
        CHECK(told_pid(one) > 0);
    }
    CHECK(std::chrono::steady_clock::now() - begin < soon.to_restore);
    CHECK(::waitpid(own, nullptr, 0) == own);
}

TEST_CASE("Child process: what cannot be ended is named, and not waited for without end") {
    std::vector<std::string> told;
    pid_t pid = 0;
    {
        const Unprivileged without_the_right_to_kill;
        if (!without_the_right_to_kill.is_so()) return;
        ChildProcess child{Command::shell("setsid setpriv --reuid=65534 sleep 1000 & echo $!"), Diagnostics::with_ours,
                           hardly_any};
        child.tell = [&told](const std::string& text) { told.push_back(text); };
        pid = told_pid(child);
        for (int wait = 0; wait < 2000 && name_of(pid) != "sleep"; ++wait) ::usleep(1000);
    }
    ::kill(pid, SIGKILL);
    CHECK(::waitpid(pid, nullptr, 0) == pid);
    REQUIRE(told.size() == 1);
    CHECK(told[0] == "not all that 'sh' has started could be ended: sleep (process " + std::to_string(pid) +
                         "): Operation not permitted");
}

TEST_CASE("Child process: a reader that is gone is an error, and no signal") {
    ChildProcess child{Command::shell("exec <&-; echo closed; exec sleep 1000"), Diagnostics::with_ours, hardly_any};
    char octet = 0;
    pollfd polled{child.output.value(), POLLIN, 0};
    REQUIRE(::poll(&polled, 1, 20000) > 0);
    REQUIRE(::read(child.output.value(), &octet, 1) == 1);
    const auto before = std::signal(SIGPIPE, SIG_DFL);
    CHECK(child.write("x") == -1);
    CHECK(errno == EPIPE);
    std::signal(SIGPIPE, before);
}

TEST_CASE("Child process: its descriptors are not inherited by other processes") {
    const auto flags = [] {
        std::array<int, 64> found{};
        for (int descriptor = 0; descriptor < 64; ++descriptor)
            found[static_cast<std::size_t>(descriptor)] = ::fcntl(descriptor, F_GETFD);
        return found;
    };
    const auto before = flags();
    const ChildProcess child{Command::shell("cat"), Diagnostics::to_a_pipe, plenty};
    const auto after = flags();
    unsigned opened = 0;
    for (std::size_t i = 0; i < after.size(); ++i) {
        if (before[i] >= 0 || after[i] < 0) continue;
        ++opened;
        CHECK(after[i] == FD_CLOEXEC);
    }
    CHECK(opened == 3);
}

TEST_CASE("Child process: what this process blocks and ignores is its own affair") {
    sigset_t blocked, before;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &blocked, &before);
    const auto handler = std::signal(SIGINT, SIG_IGN);
    for (const std::string signal : {"TERM", "INT"}) {
        ChildProcess child{Command::shell("kill -" + signal + " $$; sleep 1000"), Diagnostics::with_ours, hardly_any};
        CHECK(child.ending(20s).value_or(Ending{}).signal == (signal == "TERM" ? SIGTERM : SIGINT));
    }
    std::signal(SIGINT, handler);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
}
