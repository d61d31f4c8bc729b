// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/capture/annotate.hpp"

#include "base/atomic_file.hpp"
#include "fabric/capture/byte_source.hpp"
#include "fabric/capture/erf.hpp"
#include "fabric/capture/pcapng_format.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>

namespace ipoib::capture {
namespace {

using pcapng::load;
using pcapng::padded;

/// Octets that leave for a file in large pieces, numbers in the byte order of a section.
class AnnotatedFile {
public:
    explicit AnnotatedFile(const std::filesystem::path& to) : path_(to), file_(to) {
        if (!file_.descriptor) error_ = why();
    }
    void set_swapped(bool is_swapped) noexcept { is_swapped_ = is_swapped; }
    template <class T>
    void number(T value) {
        std::array<std::uint8_t, sizeof value> octets;
        std::memcpy(octets.data(), &value, sizeof value);
        if (is_swapped_) std::reverse(octets.begin(), octets.end());
        buffer_.insert(buffer_.end(), octets.begin(), octets.end());
    }
    void octets(wire::Octets octets) {
        buffer_.insert(buffer_.end(), octets.begin(), octets.end());
        constexpr std::size_t enough = std::size_t{1} << 20;
        if (buffer_.size() >= enough) flush();
    }
    void option(std::uint16_t code, std::string_view value) {
        number(code);
        number(static_cast<std::uint16_t>(value.size()));
        buffer_.insert(buffer_.end(), value.begin(), value.end());
        buffer_.resize(buffer_.size() + padded(value.size()) - value.size());
    }
    void padding(std::size_t length) { buffer_.resize(buffer_.size() + padded(length) - length); }
    /// It is there under its name; what went wrong before or now.
    std::string finish() {
        flush();
        if (error_.empty() && (!file_.sync() || !file_.take_place())) error_ = why();
        return error_;
    }
    [[nodiscard]] bool is_well() const noexcept { return error_.empty(); }

private:
    void flush() {
        const std::string_view piece{reinterpret_cast<const char*>(buffer_.data()), buffer_.size()};
        if (error_.empty() && !file_.write(piece)) error_ = why();
        buffer_.clear();
    }
    [[nodiscard]] std::string why() const { return path_.string() + ": " + std::strerror(errno); }

    std::filesystem::path path_;
    AtomicFile file_;
    std::vector<std::uint8_t> buffer_;
    std::string error_;
    bool is_swapped_ = false;
};

/// What comments take as options.
std::size_t size_of(const std::vector<std::string>& comments) {
    std::size_t size = 0;
    for (const auto& one : comments) size += 4 + padded(one.size());
    return size;
}

/// As one option takes it, cut where a character ends.
std::string_view fitting(std::string_view text) {
    constexpr std::size_t most = std::numeric_limits<std::uint16_t>::max();
    if (text.size() <= most) return text;
    auto size = most;
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
    return text.substr(0, size);
}

void add_options(AnnotatedFile& to, const std::vector<std::string>& comments) {
    for (const auto& one : comments) to.option(pcapng::opt_comment, fitting(one));
}

/// Blocks of any byte order, one section after the other.
class PcapngCopy {
public:
    PcapngCopy(ByteSource& from, AnnotatedFile& to, const CommentsOf& comments)
        : from_(from), to_(to), comments_(comments) {}
    void run() {
        while (to_.is_well()) {
            const auto head = from_.peek(pcapng::block_head + 4);
            if (head.size() < pcapng::smallest_block) return;
            if (load<std::uint32_t>(head.data(), false) == pcapng::section_header) {
                is_swapped_ = load<std::uint32_t>(head.data() + pcapng::block_head, false) != pcapng::byte_order_magic;
                to_.set_swapped(is_swapped_);
                snap_length_.reset();
            }
            const auto length = load<std::uint32_t>(head.data() + 4, is_swapped_);
            if (length < pcapng::smallest_block || length % 4 != 0 || length > pcapng::longest_block) return;
            const auto block = from_.peek(length);
            if (block.size() < length) return;
            copy(block.first(length));
            from_.consume(length);
        }
    }

private:
    void copy(wire::Octets block) {
        const auto type = load<std::uint32_t>(block.data(), is_swapped_);
        constexpr std::size_t snap_length = 12;
        if (type == pcapng::interface_description && !snap_length_ &&
            block.size() >= snap_length + 4 + pcapng::block_tail)
            snap_length_ = load<std::uint32_t>(block.data() + snap_length, is_swapped_);
        const bool is_packet = type == pcapng::enhanced_packet || type == pcapng::obsolete_packet;
        const std::vector<std::string>* comments = nullptr;
        if (is_packet || type == pcapng::simple_packet) comments = comments_(++frame_);
        if (!comments || block.size() + size_of(*comments) > pcapng::longest_block - 64)
            to_.octets(block);
        else if (is_packet)
            with_comments(block, *comments);
        else
            from_simple(block, *comments);
    }
    /// Before the options that are there.
    void with_comments(wire::Octets block, const std::vector<std::string>& comments) {
        constexpr std::size_t captured_length = 20, data = 28;
        const auto end = block.size() - pcapng::block_tail;
        const std::size_t captured =
            end < data ? end : load<std::uint32_t>(block.data() + captured_length, is_swapped_);
        if (end < data || captured > end - data || padded(captured) > end - data) {
            to_.octets(block);
            return;
        }
        const auto options = data + padded(captured);
        const bool has_options = options < end;
        const auto length = static_cast<std::uint32_t>(block.size() + size_of(comments) + (has_options ? 0 : 4));
        to_.octets(block.first(4));
        to_.number(length);
        to_.octets(block.subspan(pcapng::block_head, options - pcapng::block_head));
        add_options(to_, comments);
        to_.octets(block.subspan(options, end - options));
        if (!has_options) to_.option(pcapng::opt_end, {});
        to_.number(length);
    }
    /// A simple packet has no options: it becomes an enhanced one, of the first interface, as it was, and without a
    /// time.
    void from_simple(wire::Octets block, const std::vector<std::string>& comments) {
        constexpr std::size_t data = 12;
        const auto there = static_cast<std::uint32_t>(block.size() - data - pcapng::block_tail);
        const auto original = load<std::uint32_t>(block.data() + pcapng::block_head, is_swapped_);
        const auto snap = snap_length_.value_or(0) == 0 ? original : *snap_length_;
        const auto captured = std::min({there, original, snap});
        const auto length = static_cast<std::uint32_t>(32 + padded(captured) + size_of(comments) + 4);
        to_.number(pcapng::enhanced_packet);
        to_.number(length);
        for (const auto value : {std::uint32_t{0}, std::uint32_t{0}, std::uint32_t{0}, captured, original})
            to_.number(value);
        to_.octets(block.subspan(data, captured));
        to_.padding(captured);
        add_options(to_, comments);
        to_.option(pcapng::opt_end, {});
        to_.number(length);
    }

    ByteSource& from_;
    AnnotatedFile& to_;
    const CommentsOf& comments_;
    bool is_swapped_ = false;
    std::optional<std::uint32_t> snap_length_;  ///< of the section's first interface
    std::uint64_t frame_ = 0;
};

/// Records of one link type, with times in microseconds or nanoseconds.
class PcapCopy {
public:
    PcapCopy(ByteSource& from, AnnotatedFile& to, const CommentsOf& comments)
        : from_(from), to_(to), comments_(comments) {}
    void run() {
        constexpr std::size_t header = 24;
        const auto head = from_.peek(header);
        if (head.size() < header) return;
        const auto magic = load<std::uint32_t>(head.data(), false);
        is_swapped_ = magic == __builtin_bswap32(microseconds) || magic == __builtin_bswap32(nanoseconds) ||
                      magic == __builtin_bswap32(modified);
        const auto own = is_swapped_ ? __builtin_bswap32(magic) : magic;
        record_head_ = own == modified ? 24 : 16;
        const std::uint32_t in_second = own == nanoseconds ? 1'000'000'000 : 1'000'000;
        const auto link_type = load<std::uint32_t>(head.data() + 20, is_swapped_);
        is_erf_ = static_cast<std::uint16_t>(link_type) == static_cast<std::uint16_t>(LinkType::erf);
        begin(link_type, load<std::uint32_t>(head.data() + 16, is_swapped_), own == nanoseconds || is_erf_);
        from_.consume(header);
        while (to_.is_well() && record(in_second)) {
        }
    }

private:
    static constexpr std::uint32_t microseconds = 0xa1b2c3d4, nanoseconds = 0xa1b23c4d, modified = 0xa1b2cd34;

    void begin(std::uint32_t link_type, std::uint32_t snap_length, bool has_nanoseconds) {
        constexpr std::uint32_t section = 28, interface = 32;
        to_.number(pcapng::section_header);
        to_.number(section);
        to_.number(pcapng::byte_order_magic);
        to_.number(pcapng::major_version);
        to_.number(std::uint16_t{0});
        to_.number(~std::uint64_t{0});
        to_.number(section);
        to_.number(pcapng::interface_description);
        to_.number(interface);
        to_.number(static_cast<std::uint16_t>(link_type));
        to_.number(std::uint16_t{0});
        to_.number(snap_length);
        const char resolution = has_nanoseconds ? 9 : 6;
        to_.option(pcapng::if_time_resolution, {&resolution, 1});
        to_.option(pcapng::opt_end, {});
        to_.number(interface);
    }
    bool record(std::uint32_t in_second) {
        const auto head = from_.peek(record_head_);
        if (head.size() < record_head_) return false;
        const auto field = [&](std::size_t at) { return load<std::uint32_t>(head.data() + at, is_swapped_); };
        auto time = std::uint64_t{field(0)} * in_second + field(4);
        const auto captured = field(8), original = field(12);
        if (captured > pcapng::longest_block - 1024) return false;
        const auto whole = from_.peek(record_head_ + captured);
        if (whole.size() < record_head_ + captured) return false;
        // The header's own time is finer.
        if (is_erf_) {
            const auto header = wire::View<ErfHeader>::at(whole.subspan(record_head_, captured));
            time = header ? static_cast<std::uint64_t>(erf_time(header[ErfHeader::time])) : time * 1000;
        }
        const auto* comments = comments_(++frame_);
        const bool has_room = comments && captured + size_of(*comments) < pcapng::longest_block - 1024;
        const auto more = has_room ? size_of(*comments) + 4 : 0;
        const auto length = static_cast<std::uint32_t>(32 + padded(captured) + more);
        to_.number(pcapng::enhanced_packet);
        to_.number(length);
        to_.number(std::uint32_t{0});
        to_.number(static_cast<std::uint32_t>(time >> 32));
        to_.number(static_cast<std::uint32_t>(time));
        to_.number(captured);
        to_.number(original);
        to_.octets(whole.subspan(record_head_, captured));
        to_.padding(captured);
        if (has_room) {
            add_options(to_, *comments);
            to_.option(pcapng::opt_end, {});
        }
        to_.number(length);
        from_.consume(record_head_ + captured);
        return true;
    }

    ByteSource& from_;
    AnnotatedFile& to_;
    const CommentsOf& comments_;
    bool is_swapped_ = false, is_erf_ = false;
    std::size_t record_head_ = 16;
    std::uint64_t frame_ = 0;
};

}  // namespace

std::string annotate(const std::string& capture, const std::filesystem::path& to, const CommentsOf& comments) {
    ByteSource from{capture};
    if (!from.error().empty()) return from.error();
    AnnotatedFile output{to};
    const auto beginning = from.peek(4);
    if (beginning.size() >= 4 && load<std::uint32_t>(beginning.data(), false) == pcapng::section_header)
        PcapngCopy{from, output, comments}.run();
    else
        PcapCopy{from, output, comments}.run();
    return output.finish();
}

}  // namespace ipoib::capture
