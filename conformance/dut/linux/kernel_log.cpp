// SPDX-License-Identifier: GPL-2.0-or-later
// Documentation/ABI/testing/dev-kmsg of the kernel has the format.
#include "conformance/dut/linux/kernel_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace ipoib::host {
namespace {

bool has(std::string_view line, std::string_view word) { return line.find(word) != std::string_view::npos; }

template <std::size_t N>
bool has_any(std::string_view line, const std::array<std::string_view, N>& words) {
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return has(line, word); });
}

constexpr std::array<std::string_view, 24> fault_marks{"WARNING: ",
                                                       "BUG: ",
                                                       "kernel BUG at",
                                                       "Oops: ",
                                                       "KASAN: ",
                                                       "KCSAN: ",
                                                       "UBSAN: ",
                                                       "Kernel panic",
                                                       "general protection fault",
                                                       "unable to handle",
                                                       "Unable to handle",
                                                       "divide error:",
                                                       "stack segment:",
                                                       "possible circular locking",
                                                       "possible recursive locking",
                                                       "possible irq lock inversion",
                                                       "inconsistent lock state",
                                                       "suspicious RCU usage",
                                                       "bad unlock balance",
                                                       "detected stall",
                                                       "unregister_netdevice: waiting",
                                                       "list_add corruption",
                                                       "list_del corruption",
                                                       "kmemleak: "};

// rdmavt copies a work request of any kind by the size of the largest into a member of the smallest; the memory is
// there, and only FORTIFY_SOURCE, which sees one member, warns of it. Real HCAs of that library do the same.
constexpr std::string_view field_spanning = "detected field-spanning write";
constexpr std::string_view rdmavt_qp = "drivers/infiniband/sw/rdmavt/qp.c";

}  // namespace

std::optional<std::string> parse_kmsg(std::string_view record) {
    const auto semicolon = record.find(';');
    if (semicolon == std::string_view::npos || record.empty() || record[0] < '0' || record[0] > '9') return {};
    record.remove_prefix(semicolon + 1);
    return std::string(record.substr(0, record.find('\n')));
}

bool FaultFilter::is_fault(std::string_view line) {
    if (has(line, field_spanning) && has(line, rdmavt_qp)) {
        is_next_warning_known_ = true;
        return false;
    }
    // "BUG kmalloc-64 (Tainted: G OE): Poison overwritten", and where that was allocated and freed: slub_debug.
    if (line.starts_with("BUG ") || line.starts_with("Allocated in ") || line.starts_with("Freed in ")) return true;
    if (has(line, "INFO: task ") && has(line, "blocked for more than")) return true;
    if (!has_any(line, fault_marks)) return false;
    const bool is_known = is_next_warning_known_ && has(line, "WARNING: ") && has(line, rdmavt_qp);
    if (is_known) is_next_warning_known_ = false;
    // "Budget exhausted after napi rescheduled" and "Couldn't create new SM AH" bear no mark of a fault: the first
    // counts a busy poll of ib_ipoib, the second an SM that is not known yet. Nor does "NETDEV WATCHDOG": a peer that
    // does not acknowledge for a second keeps a full queue standing; one that never moves again is seen by what it does
    // not send.
    return !is_known;
}

bool concerns_infiniband(std::string_view line, std::string_view interface) {
    constexpr std::array<std::string_view, 9> words{"ib_",  "ipoib", "infiniband", "InfiniBand", "rdma",
                                                    "rvt_", "vib",   "mlx",        "IPv6: ib"};
    return has_any(line, words) || (!interface.empty() && has(line, interface));
}

KernelLog::KernelLog(std::string interface)
    : kmsg_(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)), interface_(std::move(interface)) {
    if (kmsg_ && ::lseek(kmsg_.value(), 0, SEEK_END) < 0) kmsg_.close();
}

void KernelLog::add(const std::string& line) {
    constexpr std::size_t most = 1000;
    const bool is_fault = filter_.is_fault(line);
    is_in_trace_ = (is_in_trace_ || is_fault) && !has(line, "---[ end ");
    if (is_fault) faults_.push_back(line);
    if (is_in_trace_ || concerns_infiniband(line, interface_)) lines_.push_back(line);
    for (auto* const kept : {&lines_, &faults_})
        if (kept->size() > most) kept->pop_front();
}

void KernelLog::read_new() {
    // One record a read. A kernel that writes faster than this reads must not hold up the answer.
    std::array<char, 8192> record;
    for (int left = 20000; kmsg_ && left > 0; --left) {
        const auto count = ::read(kmsg_.value(), record.data(), record.size());
        if (count < 0 && (errno == EINTR || errno == EINVAL)) continue;
        if (count < 0 && errno == EPIPE) {
            lines_.emplace_back("(the kernel overwrote lines before they were read)");
            continue;
        }
        if (count <= 0) return;
        if (const auto line = parse_kmsg({record.data(), static_cast<std::size_t>(count)})) add(*line);
    }
}

std::vector<std::string> KernelLog::take(std::deque<std::string>& from) {
    // Below what one answer may hold, escapes included.
    constexpr std::size_t most = 24000;
    read_new();
    std::vector<std::string> taken;
    for (std::size_t size = 0; !from.empty() && size + from.front().size() < most; from.pop_front()) {
        size += from.front().size() + 8;
        taken.push_back(from.front());
    }
    return taken;
}

}  // namespace ipoib::host
