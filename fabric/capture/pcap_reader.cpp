// SPDX-License-Identifier: GPL-2.0-or-later
// Classic pcap (draft-ietf-opsawg-pcap). libpcap reads it from a ByteSource; where records are as nearly all are, they
// are taken from where the source has them, which costs a fraction.
#include "fabric/capture/format_reader.hpp"
#include "protocol/wire/medium.hpp"

#include <pcap/pcap.h>
#include <stdio_ext.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

namespace ipoib::capture {
namespace {

constexpr std::size_t unlimited = ~std::size_t{0};

/// What libpcap reads from: a ByteSource behind a FILE.
struct Stream {
    ByteSource& source;
    std::size_t most = unlimited;  ///< octets that may be read, until that is lifted
    bool was_asked_beyond_end = false;
};

/// Called by the C library, which an exception must not cross.
ssize_t read_stream(void* cookie, char* to, std::size_t size) noexcept {
    auto& stream = *static_cast<Stream*>(cookie);
    try {
        const auto count = stream.source.read({reinterpret_cast<std::uint8_t*>(to), std::min(size, stream.most)});
        if (count == 0) stream.was_asked_beyond_end = true;
        stream.most -= stream.most == unlimited ? 0 : count;
        return static_cast<ssize_t>(count);
    } catch (...) {
        return -1;
    }
}

/// Only tells where the stream is, which lets ftello() find what libpcap has consumed.
int tell_stream(void* cookie, off64_t* offset, int whence) noexcept {
    if (whence != SEEK_CUR || *offset != 0) return -1;
    *offset = static_cast<off64_t>(static_cast<Stream*>(cookie)->source.offset());
    return 0;
}

/// The header of a file with times of either kind, in either byte order.
struct PlainFile {
    static constexpr std::size_t header = 24, record_header = 16;
    bool is_plain = false, is_swapped = false, has_nanoseconds = false;
    [[nodiscard]] std::uint32_t u32(const std::uint8_t* at) const noexcept {
        std::uint32_t value = 0;
        std::memcpy(&value, at, sizeof value);
        return is_swapped ? __builtin_bswap32(value) : value;
    }
};

PlainFile plain_file(wire::Octets header) noexcept {
    constexpr std::uint32_t microseconds = 0xa1b2c3d4, nanoseconds = 0xa1b23c4d;
    PlainFile file;
    if (header.size() < PlainFile::header) return file;
    for (const bool is_swapped : {false, true}) {
        file.is_swapped = is_swapped;
        const auto magic = file.u32(header.data());
        file.has_nanoseconds = magic == nanoseconds;
        file.is_plain = magic == microseconds || magic == nanoseconds;
        if (file.is_plain) break;
    }
    // Versions before 2.4 had other records.
    std::array<std::uint16_t, 2> version{};
    std::memcpy(version.data(), header.data() + sizeof(std::uint32_t), sizeof version);
    for (auto& part : version) part = file.is_swapped ? __builtin_bswap16(part) : part;
    file.is_plain = file.is_plain && version == std::array<std::uint16_t, 2>{2, 4};
    return file;
}

class PcapReader final : public FormatReader {
public:
    explicit PcapReader(ByteSource& source)
        : FormatReader{source}, stream_{source}, memory_{source.memory()}, buffer_(buffer_size(source.memory())) {
        if (!memory_.resize(buffer_.size())) {
            error_ = source.name() + ": it takes more memory than is left beside the other captures";
            return;
        }
        file_ = fopencookie(&stream_, "rb", {read_stream, nullptr, tell_stream, nullptr});
        if (!file_) {
            error_ = source.name() + ": cannot be read as a stream";
            return;
        }
        std::setvbuf(file_, buffer_.data(), _IOFBF, buffer_.size());
        // Nobody else uses the stream: libpcap's two reads a record need no lock.
        __fsetlocking(file_, FSETLOCKING_BYCALLER);
        file_is_ = plain_file(source.peek(PlainFile::header));
        if (file_is_.is_plain) stream_.most = PlainFile::header;
        std::array<char, PCAP_ERRBUF_SIZE> why{};
        pcap_ = pcap_fopen_offline_with_tstamp_precision(file_, PCAP_TSTAMP_PRECISION_NANO, why.data());
        if (pcap_) {
            link_type_ = number_in_file(pcap_datalink(pcap_));
            snapshot_length_ = static_cast<bpf_u_int32>(pcap_snapshot(pcap_));
            // Of other link types libpcap changes what a file of another byte order has in its frames.
            const auto number = static_cast<std::uint16_t>(link_type_);
            const bool is_known = wire::find_medium(number) || static_cast<LinkType>(number) == LinkType::erf;
            if (!is_known) leave_to_libpcap();
            offset_ = is_known && file_is_.is_plain ? source.offset() : position();
            return;
        }
        std::fclose(file_);
        if (!source.error().empty()) {
            error_ = source.name() + ": " + source.error();
        } else if (stream_.was_asked_beyond_end) {
            error_ = source.name() + " ends within its file header";
        } else {
            error_ = source.name() + ": " + why.data();
        }
    }
    ~PcapReader() override {
        if (pcap_) pcap_close(pcap_);
    }

    Status next(Frame& frame) override {
        if (file_is_.is_plain) {
            if (take_plain(frame)) return Status::frame;
            leave_to_libpcap();
        }
        const auto offset = offset_;
        pcap_pkthdr* header = nullptr;
        const u_char* octets = nullptr;
        if (const int result = pcap_next_ex(pcap_, &header, &octets); result != 1) return ended(offset, result);
        if (header->caplen > longest_ && !has_room(header->caplen)) return too_long(offset);
        // Asking the stream costs as much as reading a record: only the first record tells how long a record's header
        // is, and only one that fills the snapshot length may have been cut by libpcap.
        const bool is_plain = record_header_ != 0 && header->caplen < snapshot_length_;
        offset_ = is_plain ? offset + record_header_ + header->caplen : position();
        if (record_header_ == 0 && header->caplen < snapshot_length_)
            record_header_ = offset_ - offset - header->caplen;
        frame.number = ++frames_;
        // The file's seconds are unsigned; libpcap takes them as signed in this machine's byte order.
        const std::int64_t seconds = static_cast<std::uint32_t>(header->ts.tv_sec);
        frame.time_ns = seconds * 1'000'000'000 + header->ts.tv_usec;
        frame.link_type = static_cast<LinkType>(link_type_);
        frame.interface = 0;
        frame.octets = {octets, header->caplen};
        frame.wire_length = std::max(header->len, header->caplen);
        frame.file_offset = offset;
        return Status::frame;
    }
    [[nodiscard]] int link_type() const noexcept override { return link_type_; }

private:
    /// From the next record on.
    void leave_to_libpcap() noexcept {
        file_is_.is_plain = false;
        stream_.most = unlimited;
    }
    /// The next record, if it is whole and nothing about it is odd.
    bool take_plain(Frame& frame) {
        const auto head = source_.peek(PlainFile::record_header);
        if (head.size() < PlainFile::record_header) return false;
        const auto word = [&](std::size_t number) {
            return file_is_.u32(head.data() + number * sizeof(std::uint32_t));
        };
        const std::uint32_t seconds = word(0), fraction = word(1), captured = word(2), length = word(3);
        const std::int64_t unit = file_is_.has_nanoseconds ? 1 : 1000;
        constexpr std::int64_t second = 1'000'000'000;
        constexpr std::uint32_t longest = 1U << 17;
        if (captured > std::min<std::uint32_t>(snapshot_length_, longest) || fraction * unit >= second) return false;
        const auto record = source_.peek(PlainFile::record_header + captured);
        if (record.size() < PlainFile::record_header + captured) return false;
        frame.number = ++frames_;
        frame.time_ns = seconds * second + fraction * unit;
        frame.link_type = static_cast<LinkType>(link_type_);
        frame.interface = 0;
        frame.octets = record.subspan(PlainFile::record_header, captured);
        frame.wire_length = std::max(length, captured);
        frame.file_offset = offset_;
        source_.consume(PlainFile::record_header + captured);
        offset_ = source_.offset();
        return true;
    }

    /// libpcap keeps a buffer for the longest record that it has read, of which only some link types have longer ones.
    bool has_room(std::size_t record) {
        longest_ = record;
        return record <= usual_buffer || memory_.resize(buffer_.size() + record, memory_.pool().of_buffers());
    }
    Status too_long(std::uint64_t offset) {
        pcap_close(std::exchange(pcap_, nullptr));
        return given_up(offset, "a record takes more memory than is left beside the other captures");
    }
    Status ended(std::uint64_t offset, int result) {
        if (stream_.was_asked_beyond_end) return at_end_of_source(offset, result != PCAP_ERROR_BREAK);
        return corrupt(offset, pcap_geterr(pcap_));
    }
    /// libpcap names raw IP by the number of the running system, a file by one that is the same everywhere.
    static int number_in_file(int data_link) noexcept {
        constexpr int linktype_raw = 101;
        return data_link == DLT_RAW ? linktype_raw : data_link;
    }

    [[nodiscard]] std::uint64_t position() const { return static_cast<std::uint64_t>(ftello(file_)); }

    Stream stream_;
    PlainFile file_is_;
    std::uint64_t offset_ = 0;         ///< of the next record
    std::uint64_t record_header_ = 0;  ///< octets; 0: not known yet
    bpf_u_int32 snapshot_length_ = 0;
    Share memory_;
    std::size_t longest_ = 0;  ///< record so far
    std::vector<char> buffer_;
    std::FILE* file_ = nullptr;  ///< libpcap's from the time it has read the file header
    pcap_t* pcap_ = nullptr;
    int link_type_ = -1;
};

}  // namespace

bool is_pcap(wire::Octets magic) noexcept {
    if (magic.size() < 4) return false;
    constexpr wire::At first_word = wire::octet(0);
    const auto value = static_cast<std::uint32_t>(wire::read_bits(magic.data(), first_word, 32));
    // Microseconds, nanoseconds, and three patched variants of old systems that libpcap reads as well.
    constexpr std::array<std::uint32_t, 5> magics{0xa1b2c3d4, 0xa1b23c4d, 0xa1b2cd34, 0xa1b234cd, 0xa12b3c4d};
    return std::any_of(magics.begin(), magics.end(),
                       [&](std::uint32_t each) { return value == each || value == __builtin_bswap32(each); });
}

std::unique_ptr<FormatReader> make_pcap_reader(ByteSource& source) { return std::make_unique<PcapReader>(source); }

}  // namespace ipoib::capture
