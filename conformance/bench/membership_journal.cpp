// SPDX-License-Identifier: GPL-2.0-or-later
// Lines "+M HEX" and "-M HEX", only ever added to: what is cut off in the middle has not been asked for yet.
#include "conformance/bench/membership_journal.hpp"

#include "base/atomic_file.hpp"
#include "base/output_path.hpp"
#include "protocol/wire/inform_info.hpp"
#include "protocol/wire/text.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

namespace ipoib::conformance {
namespace {

constexpr std::size_t membership_size = 17, most_octets = std::size_t{1} << 20, usual_octets = std::size_t{1} << 16;

[[noreturn]] void fail(const std::string& path, const std::string& why) {
    throw std::runtime_error("the journal " + path + " cannot be kept: " + why);
}

std::string line_of(char sign, const Journal::Entry& entry) {
    return sign + std::string(1, static_cast<char>(entry.kind)) + ' ' + wire::hex_octets(entry.octets) + '\n';
}

bool is_written(const Descriptor& file, const std::string& text) {
    return ::write(file.value(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// A line without its sign; none for what is no entry.
std::optional<Journal::Entry> entry_of(std::string_view text) {
    using Kind = Journal::Kind;
    if (text.size() < 2 || text[1] != ' ') return {};
    Journal::Entry entry{static_cast<Kind>(text[0]), {}};
    const auto size = entry.kind == Kind::membership     ? membership_size
                      : entry.kind == Kind::subscription ? std::size_t{wire::InformInfo::size}
                                                         : 0;
    auto octets = wire::parse_octets(text.substr(2));
    if (size == 0 || !octets || octets->size() != size) return {};
    entry.octets = std::move(*octets);
    return entry;
}

}  // namespace

std::string Journal::usual_folder() {
    if (::geteuid() == 0) return "/run/ipoib-conform";
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    return runtime && *runtime == '/' ? std::string(runtime) + "/ipoib-conform" : std::string{};
}

Journal::Journal(const std::string& folder, const std::string& port) : folder_(folder), path_(folder + '/' + port) {
    open();
    read();
    shorten();
}

void Journal::open() {
    constexpr mode_t owner_alone = 0700, read_and_write = 0600;
    // Whoever removed the file that was just opened, or its folder, is about to end: then there is another by that
    // name, or none. A folder that leads nowhere is never there.
    int tries_left = 100;
    for (bool is_there = false; !is_there; --tries_left) {
        if (::mkdir(folder_.c_str(), owner_alone) != 0 && errno != EEXIST) fail(path_, std::strerror(errno));
        auto opened_file = open_output(path_, O_RDWR | O_APPEND | O_NOFOLLOW, read_and_write);
        file_ = std::move(opened_file.descriptor);
        if (!file_ && opened_file.error == ENOENT && tries_left > 0) continue;
        if (!file_) fail(path_, opened_file.problem);
        if (::flock(file_.value(), LOCK_EX | LOCK_NB) != 0) {
            if (errno == EWOULDBLOCK) throw std::runtime_error("another run uses this port (it holds " + path_ + ")");
            fail(path_, std::strerror(errno));
        }
        struct stat opened {
        }, named{};
        is_there = ::fstat(file_.value(), &opened) == 0 && ::stat(path_.c_str(), &named) == 0 &&
                   opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
    }
}

Journal::~Journal() {
    if (entries_.empty()) {
        ::unlink(path_.c_str());
        // Goes with the last journal in it.
        ::rmdir(folder_.c_str());
    }
}

void Journal::read() {
    std::string text;
    std::array<char, 4096> part{};
    for (ssize_t got = 0; (got = ::read(file_.value(), part.data(), part.size())) > 0;) {
        text.append(part.data(), static_cast<std::size_t>(got));
        if (text.size() > most_octets) fail(path_, "it is no journal");
    }
    std::size_t begin = 0;
    for (auto end = text.find('\n'); end != std::string::npos; begin = end + 1, end = text.find('\n', begin)) {
        const auto line = std::string_view{text}.substr(begin, end - begin);
        const auto entry = line.empty() ? std::nullopt : entry_of(line.substr(1));
        if (!entry) continue;
        std::erase(entries_, *entry);
        if (line[0] == '+') entries_.push_back(*entry);
    }
    size_ = text.size();
    // What follows a line that was cut off begins a line of its own.
    if (begin < text.size() && !is_written(file_, "\n")) fail(path_, std::strerror(errno));
}

/// What has ended takes no room for ever. Another file takes the place of a long one at once, locked already.
void Journal::shorten() {
    if (size_ < usual_octets) return;
    constexpr mode_t read_and_write = 0600;
    const auto path = path_ + ".new";
    ::unlink(path.c_str());
    AtomicFile file{path_, path, O_RDWR | O_APPEND, read_and_write};
    if (!file.descriptor) fail(path, std::strerror(errno));
    std::string text;
    for (const auto& entry : entries_) text += line_of('+', entry);
    const bool is_done = ::flock(file.descriptor.value(), LOCK_EX | LOCK_NB) == 0 && file.write(text) && file.sync() &&
                         file.take_place();
    if (!is_done) fail(path, std::strerror(errno));
    file_ = std::move(file.descriptor);
    size_ = text.size();
}

void Journal::write(char sign, const Entry& entry) {
    const auto line = line_of(sign, entry);
    if (!is_written(file_, line)) fail(path_, std::strerror(errno));
    size_ += line.size();
}

bool Journal::begins(Kind kind, wire::Octets octets) {
    const Entry entry{kind, {octets.begin(), octets.end()}};
    if (std::ranges::find(entries_, entry) != entries_.end()) return false;
    write('+', entry);
    entries_.push_back(entry);
    shorten();
    return true;
}

void Journal::ends(Kind kind, wire::Octets octets) {
    const Entry entry{kind, {octets.begin(), octets.end()}};
    if (std::erase(entries_, entry) > 0) write('-', entry);
}

}  // namespace ipoib::conformance
