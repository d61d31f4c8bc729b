// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/watch/follower.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <functional>
#include <vector>

namespace ipoib::watch {
namespace {

constexpr std::chrono::milliseconds pause{100};

bool write_all(int to, const std::uint8_t* octets, std::size_t size) {
    while (size > 0) {
        const auto written = ::write(to, octets, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        octets += written;
        size -= static_cast<std::size_t>(written);
    }
    return true;
}

/// Until the file is over and all of it was handed on, or nobody reads any more.
void hand_on(const Descriptor& from, const Descriptor& to, const std::function<bool()>& is_over) {
    std::array<std::uint8_t, std::size_t{64} << 10> buffer{};
    bool was_over = false;
    while (!capture::stop_requested()) {
        const auto size = ::read(from.value(), buffer.data(), buffer.size());
        if (size < 0 && errno != EINTR) return;
        if (size > 0) {
            was_over = false;
            if (!write_all(to.value(), buffer.data(), static_cast<std::size_t>(size))) return;
            continue;
        }
        // What was written just before the next one began is read first.
        if (was_over) return;
        was_over = is_over();
        if (!was_over) std::this_thread::sleep_for(pause);
    }
}

std::optional<struct stat> state_of(const std::filesystem::path& path) {
    struct stat state {};
    if (::stat(path.c_str(), &state) != 0) return std::nullopt;
    return state;
}

}  // namespace

Feed::Feed(std::filesystem::path path, Descriptor file, std::function<bool()> is_over) : path_(std::move(path)) {
    auto pipe = make_pipe();
    if (!pipe) throw std::system_error(errno, std::generic_category(), "pipe");
    thread_ = std::thread([from = std::move(file), to = std::move(pipe.writer), over = std::move(is_over)]() mutable {
        hand_on(from, to, over);
        to = Descriptor{};
    });
    // It waits for the beginning of the capture.
    reader_ = capture::Reader::from_descriptor(std::move(pipe.reader), path_.string());
}

Feed::~Feed() {
    // Whoever hands on finds that nobody reads.
    reader_.reset();
    thread_.join();
}

std::optional<Follower::Found> Follower::unread() const {
    std::optional<Found> first;
    std::pair<std::pair<time_t, long>, std::filesystem::path> least;
    const auto look_at = [&](const std::filesystem::path& path) {
        const auto state = state_of(path);
        if (!state || !S_ISREG(state->st_mode) || state->st_size == 0) return;
        const Identity identity{state->st_dev, state->st_ino};
        if (read_.contains(identity)) return;
        std::pair key{std::pair{state->st_mtim.tv_sec, state->st_mtim.tv_nsec}, path};
        if (first && least <= key) return;
        first = Found{path, identity};
        least = std::move(key);
    };
    std::error_code gone;
    if (!std::filesystem::is_directory(path_, gone)) {
        look_at(path_);
        return first;
    }
    for (const auto& entry : std::filesystem::directory_iterator(path_, gone))
        if (!entry.path().filename().string().starts_with('.')) look_at(entry.path());
    return first;
}

/// The number of a file that is gone is given to another one.
void Follower::forget_removed() {
    std::set<Identity> there;
    std::error_code gone;
    const auto keep = [&](const std::filesystem::path& path) {
        const auto state = state_of(path);
        if (state) there.emplace(state->st_dev, state->st_ino);
    };
    if (std::filesystem::is_directory(path_, gone))
        for (const auto& entry : std::filesystem::directory_iterator(path_, gone)) keep(entry.path());
    else
        keep(path_);
    std::erase_if(read_, [&](const Identity& one) { return !there.contains(one); });
}

std::unique_ptr<Feed> Follower::next() {
    for (; !capture::stop_requested(); std::this_thread::sleep_for(pause)) {
        forget_removed();
        const auto found = unread();
        if (!found) continue;
        Descriptor file{::open(found->path.c_str(), O_RDONLY | O_CLOEXEC)};
        struct stat state {};
        if (!file || ::fstat(file.value(), &state) != 0) continue;
        read_.emplace(state.st_dev, state.st_ino);
        // The thread has a list of its own.
        return std::make_unique<Feed>(found->path, std::move(file),
                                      [follower = *this] { return follower.unread().has_value(); });
    }
    return nullptr;
}

}  // namespace ipoib::watch
