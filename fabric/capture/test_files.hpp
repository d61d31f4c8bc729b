// SPDX-License-Identifier: GPL-2.0-or-later
// What the tests of this folder share: octets in either byte order, small capture files, and reading one to its end.
#pragma once

#include "fabric/capture/reader.hpp"
#include "temporary_folder.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

namespace ipoib::capture::test {

using File = std::vector<std::uint8_t>;

enum class Order : std::uint8_t { little, big };

/// Octets put together from integers of one byte order and from other octets.
class Pack {
public:
    explicit Pack(Order order) : order_{order} {}
    Pack& u8(unsigned value) { return integer(value, 1); }
    Pack& u16(unsigned value) { return integer(value, 2); }
    Pack& u32(std::uint64_t value) { return integer(value, 4); }
    Pack& u64(std::uint64_t value) { return integer(value, 8); }
    Pack& octets(const File& more) {
        file_.insert(file_.end(), more.begin(), more.end());
        return *this;
    }
    Pack& pad() {
        while (file_.size() % 4 != 0) file_.push_back(0);
        return *this;
    }
    [[nodiscard]] const File& file() const { return file_; }
    [[nodiscard]] Order order() const { return order_; }

private:
    Pack& integer(std::uint64_t value, unsigned size) {
        for (unsigned i = 0; i < size; ++i) {
            const unsigned shift = 8 * (order_ == Order::little ? i : size - 1 - i);
            file_.push_back(static_cast<std::uint8_t>(value >> shift));
        }
        return *this;
    }
    Order order_;
    File file_;
};

inline File join(std::initializer_list<File> parts) {
    File whole;
    for (const auto& part : parts) whole.insert(whole.end(), part.begin(), part.end());
    return whole;
}

inline File text(const std::string& characters) { return {characters.begin(), characters.end()}; }

/// `size` octets that differ from their neighbours and from those of another `seed`.
inline File octets_of(std::size_t size, unsigned seed = 0) {
    File file(size);
    for (std::size_t i = 0; i < size; ++i) file[i] = static_cast<std::uint8_t>(seed * 16 + i);
    return file;
}

// Classic pcap: draft-ietf-opsawg-pcap, sections 4 and 5.
inline constexpr std::uint32_t microsecond_magic = 0xa1b2c3d4, nanosecond_magic = 0xa1b23c4d;

inline File pcap_header(Order order, std::uint32_t magic, unsigned link_type) {
    return Pack{order}.u32(magic).u16(2).u16(4).u32(0).u32(0).u32(65535).u32(link_type).file();
}
inline File pcap_record(Order order, std::uint32_t seconds, std::uint32_t fraction, const File& octets,
                        std::uint32_t wire_length = 0) {
    return Pack{order}
        .u32(seconds)
        .u32(fraction)
        .u32(octets.size())
        .u32(wire_length ? wire_length : octets.size())
        .octets(octets)
        .file();
}

// pcapng: draft-ietf-opsawg-pcapng, sections 3.1 (block), 3.5 (option), 4.1 to 4.4.
inline File block(Order order, std::uint32_t type, const File& body) {
    const auto length = 12 + body.size();
    return Pack{order}.u32(type).u32(length).octets(body).u32(length).file();
}
inline File option(Order order, unsigned code, const File& value) {
    return Pack{order}.u16(code).u16(static_cast<unsigned>(value.size())).octets(value).pad().file();
}
inline File section(Order order) {
    const std::uint64_t unknown_length = 0xffffffffffffffff;
    return block(order, 0x0a0d0d0a, Pack{order}.u32(0x1a2b3c4d).u16(1).u16(0).u64(unknown_length).file());
}
inline File interface(Order order, unsigned link_type, const File& options = {}, std::uint32_t snap_length = 0) {
    return block(order, 1, Pack{order}.u16(link_type).u16(0).u32(snap_length).octets(options).file());
}
inline File enhanced(Order order, std::uint32_t number, std::uint64_t time, const File& octets,
                     std::uint32_t wire_length = 0, const File& options = {}) {
    return block(order, 6,
                 Pack{order}
                     .u32(number)
                     .u32(time >> 32)
                     .u32(time & 0xffffffff)
                     .u32(octets.size())
                     .u32(wire_length ? wire_length : octets.size())
                     .octets(octets)
                     .pad()
                     .octets(options)
                     .file());
}
/// Interface statistics, section 4.6.
inline File statistics(Order order, std::uint32_t number, std::uint64_t time, const File& options) {
    return block(order, 5, Pack{order}.u32(number).u32(time >> 32).u32(time & 0xffffffff).octets(options).file());
}

/// A folder that vanishes with its contents.
struct Folder : TemporaryFolder {
    [[nodiscard]] std::string add(const std::string& name, const File& octets) const {
        std::ofstream{path() / name, std::ios::binary}.write(reinterpret_cast<const char*>(octets.data()),
                                                             static_cast<std::streamsize>(octets.size()));
        return *this / name;
    }
};

inline File contents(const std::string& path) {
    File octets(std::filesystem::file_size(path));
    std::ifstream{path, std::ios::binary}.read(reinterpret_cast<char*>(octets.data()),
                                               static_cast<std::streamsize>(octets.size()));
    return octets;
}

/// A descriptor of a file in memory that holds `octets`.
inline Descriptor in_memory(const File& octets) {
    Descriptor descriptor{memfd_create("capture", MFD_CLOEXEC)};
    if (::pwrite(descriptor.value(), octets.data(), octets.size(), 0) != static_cast<ssize_t>(octets.size()))
        throw std::runtime_error("no memory file");
    return descriptor;
}

/// A frame with octets of its own.
struct Kept {
    std::uint64_t number;
    std::int64_t time_ns;
    LinkType link_type;
    std::uint32_t interface;
    File octets;
    std::uint32_t wire_length;
    std::uint64_t file_offset;
    std::uint64_t lost = 0;
    std::string lost_on{};
    bool operator==(const Kept&) const = default;
};

struct Outcome {
    std::vector<Kept> frames;
    Status status{};
    std::string error, format;
    Skipped skipped;
    int file_link_type = 0;
    std::vector<Loss> losses{};
};

inline Outcome read_all(Reader reader) {
    Outcome outcome;
    Frame frame;
    reader.on_loss([&](const Loss& loss) { outcome.losses.push_back(loss); });
    while ((outcome.status = reader.next(frame)) == Status::frame)
        outcome.frames.push_back({frame.number,
                                  frame.time_ns,
                                  frame.link_type,
                                  frame.interface,
                                  {frame.octets.begin(), frame.octets.end()},
                                  frame.wire_length,
                                  frame.file_offset,
                                  frame.lost,
                                  std::string(frame.lost_on)});
    outcome.error = reader.error();
    outcome.format = reader.format();
    outcome.skipped = reader.skipped();
    outcome.file_link_type = reader.file_link_type();
    return outcome;
}
inline Outcome read_all(const std::string& path) { return read_all(Reader::open(path)); }
inline Outcome read_all(const File& octets) {
    return read_all(Reader::from_descriptor(in_memory(octets), "memory file"));
}

}  // namespace ipoib::capture::test
