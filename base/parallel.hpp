// SPDX-License-Identifier: GPL-2.0-or-later
// Jobs that know nothing of each other, on all processors.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace ipoib {

/// Runs job(0) ... job(count - 1), begun in this order, and waits for all. What a job leaves where only it writes is in
/// the order of the numbers, whichever ends first. Throws what a job has thrown first; the others that have begun end.
template <class Job>
void in_parallel(std::size_t count, const Job& job, std::size_t threads = std::thread::hardware_concurrency()) {
    std::atomic<std::size_t> next{0};
    std::exception_ptr thrown;
    std::mutex guards_thrown;
    const auto work = [&] {
        for (auto i = next++; i < count; i = next++) try {
                job(i);
            } catch (...) {
                next = count;
                const std::lock_guard guard{guards_thrown};
                if (!thrown) thrown = std::current_exception();
            }
    };
    std::vector<std::thread> others;
    for (std::size_t i = 1; i < std::min(threads, count); ++i) others.emplace_back(work);
    work();
    for (auto& other : others) other.join();
    if (thrown) std::rethrow_exception(thrown);
}

}  // namespace ipoib
