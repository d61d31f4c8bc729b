// SPDX-License-Identifier: GPL-2.0-or-later
// Whose a process is: by its ancestors, or as an orphan by its mark.
#include "base/offspring.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <string_view>
#include <utility>

namespace ipoib {
namespace {

constexpr std::string_view variable = "IPOIB_STARTED_BY=";

std::vector<const Offspring*>& all_offspring() {
    static std::vector<const Offspring*> all;
    return all;
}

/// A child of this process, ended or not, that another one of its has left behind.
bool is_orphan(pid_t child) noexcept { return ::getpgid(child) != ::getpgrp(); }

/// As long as the kernel may take to load a program; what shows no environment for longer has none.
constexpr std::chrono::seconds longest_execution{1};

/// What a process was marked with, by this program and by those that this one descends from.
std::string marks_in(std::string_view environment) {
    for (std::size_t begin = 0; begin < environment.size();) {
        const auto end = std::min(environment.find('\0', begin), environment.size());
        const auto entry = environment.substr(begin, end - begin);
        if (entry.starts_with(variable)) return std::string(entry.substr(variable.size()));
        begin = end + 1;
    }
    return {};
}

/// Processes that show no environment, and since when.
std::map<pid_t, std::chrono::steady_clock::time_point>& without_environment() {
    static std::map<pid_t, std::chrono::steady_clock::time_point> all;
    return all;
}

bool is_asked_for(pid_t pid) noexcept {
    return std::any_of(all_offspring().begin(), all_offspring().end(),
                       [pid](const Offspring* one) { return one->is_root(pid); });
}

bool has_children() noexcept {
    siginfo_t info{};
    return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

}  // namespace

Offspring::Offspring() {
    static unsigned long count = 0;
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    // Processes of other namespaces have the same numbers.
    mark_ = ':' + std::to_string(::getpid()) + '.' + std::to_string(++count) + '.' +
            std::to_string(Clock::now().time_since_epoch().count()) + ':';
    all_offspring().push_back(this);
}

Offspring::~Offspring() { std::erase(all_offspring(), this); }

std::vector<std::string> Offspring::environment() const {
    std::vector<std::string> all;
    std::string ours(variable);
    for (char** entry = environ; *entry; ++entry) {
        if (std::string_view(*entry).starts_with(variable))
            ours = *entry;
        else
            all.emplace_back(*entry);
    }
    all.push_back(ours + mark_);
    return all;
}

void Offspring::reap() noexcept {
    siginfo_t info{};
    while (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
        const auto pid = std::exchange(info.si_pid, 0);
        if (is_asked_for(pid) || !is_orphan(pid) || ::waitpid(pid, nullptr, WNOHANG) != pid) return;
    }
}

/// `top` is an orphan, which has started `pid` or is it.
Offspring::Whose Offspring::whose(pid_t pid, pid_t top) {
    const auto own = environment_of(pid), above = pid == top ? std::nullopt : environment_of(top);
    const auto marks = marks_in(own.value_or("")) + marks_in(above.value_or(""));
    if (marks.find(mark_) != std::string::npos) return Whose::mine;
    const auto& all = all_offspring();
    const auto is_marked = [&marks](const Offspring* one) { return marks.find(one->mark_) != std::string::npos; };
    if (!is_orphan(top) || std::any_of(all.begin(), all.end(), is_marked)) return Whose::others;
    if (all.size() == 1) return Whose::mine;
    if (!own || !own->empty()) return Whose::others;
    const auto now = Clock::now();
    return now - without_environment().try_emplace(pid, now).first->second < longest_execution ? Whose::unknown
                                                                                               : Whose::others;
}

Offspring::Left Offspring::look() {
    Left found;
    const auto self = ::getpid();
    auto all = processes();
    // Behind a child that somebody else asks for, reap() sees no other one that has ended.
    std::erase_if(all, [self](const auto& one) {
        const auto& [pid, process] = one;
        return process.is_zombie() && process.parent == self && !is_asked_for(pid) && is_orphan(pid) &&
               ::waitpid(pid, nullptr, WNOHANG) == pid;
    });
    for (const auto& [pid, process] : all) {
        const auto top = child_above(pid, self, all);
        if (top == 0) continue;
        const auto whose_it_is = !is_asked_for(top) ? whose(pid, top) : top == root_ ? Whose::mine : Whose::others;
        if (whose_it_is == Whose::mine) found.processes.emplace(pid, process);
        if (whose_it_is == Whose::unknown && !process.is_zombie()) found.is_all = false;
    }
    std::erase_if(without_environment(), [&all](const auto& one) { return !all.contains(one.first); });
    return found;
}

Offspring::Left Offspring::left() {
    if (root_ < 0 || !has_children()) return {};
    // One whose parent ended in the midst of a look has no ancestors in it.
    if (auto found = look(); !found.processes.empty()) return found;
    return look();
}

}  // namespace ipoib
