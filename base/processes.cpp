// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the states of processes and who started them from /proc. proc(5).
#include "base/processes.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace ipoib {
namespace {

/// The name stands in brackets, and may have brackets and blanks itself.
std::optional<Process> read_process(const std::filesystem::path& folder) {
    std::ifstream file(folder / "stat");
    std::string line;
    if (!std::getline(file, line)) return {};
    const auto begin = line.find('('), end = line.rfind(')');
    if (begin == std::string::npos || end == std::string::npos) return {};
    Process process{.name = line.substr(begin + 1, end - begin - 1)};
    std::istringstream rest(line.substr(end + 1));
    if (!(rest >> process.state >> process.parent)) return {};
    return process;
}

}  // namespace

Processes processes() {
    Processes all;
    std::error_code error;
    for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
         entry.increment(error)) {
        const auto name = entry->path().filename().string();
        pid_t pid = 0;
        const auto read = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (read.ec != std::errc{} || read.ptr != name.data() + name.size()) continue;
        // It may have ended meanwhile.
        if (auto process = read_process(entry->path())) all.emplace(pid, std::move(*process));
    }
    return all;
}

bool descends_from(pid_t root, pid_t pid, const Processes& all) {
    const auto at = all.find(root);
    return pid == root || (at != all.end() && child_above(pid, at->second.parent, all) == root);
}

std::string family_text(pid_t root) {
    const auto all = processes();
    std::string text;
    for (const auto& [pid, process] : all)
        if (!process.is_zombie() && descends_from(root, pid, all))
            text += (text.empty() ? "" : ", ") + process.text(pid);
    return text;
}

pid_t child_above(pid_t pid, pid_t parent, const Processes& all) {
    // Each was read at another moment: a number that was given anew could close a ring.
    for (std::size_t steps = 0; steps <= all.size(); ++steps) {
        const auto at = all.find(pid);
        if (at == all.end()) return 0;
        if (at->second.parent == parent) return pid;
        pid = at->second.parent;
    }
    return 0;
}

std::optional<std::string> environment_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/environ");
    if (!file) return {};
    return std::string{std::istreambuf_iterator<char>(file), {}};
}

}  // namespace ipoib
