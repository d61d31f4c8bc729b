// SPDX-License-Identifier: GPL-2.0-or-later
// Writing captures: classic pcap through libpcap, pcapng by our own blocks, each write checked.
#include "fabric/capture/writer.hpp"

#include "fabric/capture/erf.hpp"
#include "fabric/capture/pcapng_writer.hpp"

#include <fcntl.h>
#include <pcap/pcap.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

namespace ipoib::capture {
namespace {

constexpr std::int64_t ns_per_second = 1'000'000'000;
/// libpcap and Wireshark read no longer ones.
constexpr std::size_t longest_record = 262144;

[[noreturn]] void fail(const std::string& path, const std::string& why) {
    throw std::runtime_error("cannot write " + path + ": " + why);
}
[[noreturn]] void fail_by_system(const std::string& path, int error) {
    fail(path, std::generic_category().message(error == 0 ? EIO : error));
}

/// Standard output is duplicated, so that closing the capture leaves it open.
std::FILE* open_for_writing(const std::string& path) {
    constexpr mode_t everyone = 0666;
    const int descriptor = path == "-" ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                                       : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, everyone);
    if (descriptor < 0) fail_by_system(path, errno);
    std::FILE* file = fdopen(descriptor, "wb");
    if (!file) {
        const int error = errno;
        ::close(descriptor);
        fail_by_system(path, error);
    }
    return file;
}

/// A frame with its lengths settled and, for ERF, the header that goes before it.
struct Record {
    std::int64_t time_ns;
    wire::Octets header, octets;
    std::uint32_t wire_length;
    std::string_view comment;
    [[nodiscard]] std::size_t size() const noexcept { return header.size() + octets.size(); }
};

/// An open capture of one format. Throws std::runtime_error when the system refuses to write.
class Output {
public:
    explicit Output(const std::string& path) : path_{path == "-" ? "standard output" : path} {}
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;
    virtual ~Output() = default;

    virtual std::uint32_t add_interface(LinkType link_type, std::string_view name) = 0;
    virtual void write(const Record& record, std::uint32_t interface) = 0;
    virtual void flush() = 0;
    virtual void close() = 0;

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] LinkType link_type(std::uint32_t interface) const {
        if (interface >= interfaces_.size()) fail(path_, "there is no interface " + std::to_string(interface));
        return interfaces_[interface];
    }

protected:
    std::string path_;
    std::vector<LinkType> interfaces_;
};

class PcapOutput final : public Output {
public:
    PcapOutput(const std::string& path, LinkType link_type) : Output{path}, is_erf_{link_type == LinkType::erf} {
        interfaces_.push_back(link_type);
        // ibdump writes microseconds; elsewhere nothing is to be lost.
        pcap_ =
            pcap_open_dead_with_tstamp_precision(static_cast<int>(link_type), longest_record,
                                                 is_erf_ ? PCAP_TSTAMP_PRECISION_MICRO : PCAP_TSTAMP_PRECISION_NANO);
        if (!pcap_) fail(path_, "libpcap knows no such file");
        try {
            // On failure libpcap may have closed the file already, so it cannot be closed here.
            dumper_ = pcap_dump_fopen(pcap_, open_for_writing(path));
            if (!dumper_) fail(path_, pcap_geterr(pcap_));
        } catch (...) {
            pcap_close(pcap_);
            throw;
        }
    }
    ~PcapOutput() override { release(); }

    std::uint32_t add_interface(LinkType, std::string_view) override { fail(path_, "a pcap has just one interface"); }

    void write(const Record& record, std::uint32_t) override {
        if (record.time_ns / ns_per_second > std::numeric_limits<std::uint32_t>::max())
            fail(path_, "a pcap holds no time after 2106");
        pcap_pkthdr header{};
        header.ts.tv_sec = record.time_ns / ns_per_second;
        header.ts.tv_usec = record.time_ns % ns_per_second / (is_erf_ ? 1000 : 1);
        header.caplen = static_cast<bpf_u_int32>(record.size());
        header.len = static_cast<bpf_u_int32>(record.header.size() + record.wire_length);
        const std::uint8_t* octets = record.octets.data();
        if (!record.header.empty()) {
            joined_.assign(record.header.begin(), record.header.end());
            joined_.insert(joined_.end(), record.octets.begin(), record.octets.end());
            octets = joined_.data();
        }
        errno = 0;
        pcap_dump(reinterpret_cast<u_char*>(dumper_), &header, octets);
        if (std::ferror(pcap_dump_file(dumper_))) fail_by_system(path_, errno);
    }
    void flush() override {
        errno = 0;
        if (pcap_dump_flush(dumper_) != 0) fail_by_system(path_, errno);
    }
    void close() override {
        flush();
        release();
    }

private:
    void release() noexcept {
        if (dumper_) pcap_dump_close(std::exchange(dumper_, nullptr));
        if (pcap_) pcap_close(std::exchange(pcap_, nullptr));
    }

    bool is_erf_;
    pcap_t* pcap_ = nullptr;
    pcap_dumper_t* dumper_ = nullptr;
    std::vector<std::uint8_t> joined_;
};

class PcapngOutput final : public Output {
public:
    explicit PcapngOutput(const std::string& path) : Output{path}, file_{open_for_writing(path)} {
        pcapng::append_section_header(buffer_);
        put();
    }
    ~PcapngOutput() override {
        if (file_) std::fclose(file_);
    }

    std::uint32_t add_interface(LinkType link_type, std::string_view name) override {
        pcapng::append_interface(buffer_, link_type, name);
        put();
        interfaces_.push_back(link_type);
        return static_cast<std::uint32_t>(interfaces_.size() - 1);
    }
    void write(const Record& record, std::uint32_t interface) override {
        pcapng::append_packet(buffer_, {interface, static_cast<std::uint64_t>(record.time_ns), record.header,
                                        record.octets, record.wire_length, record.comment});
        put();
    }
    void flush() override {
        if (std::fflush(file_) != 0) fail_by_system(path_, errno);
    }
    void close() override {
        flush();
        if (std::fclose(std::exchange(file_, nullptr)) != 0) fail_by_system(path_, errno);
    }

private:
    void put() {
        const std::size_t size = buffer_.size();
        const std::size_t written = std::fwrite(buffer_.data(), 1, size, file_);
        const int error = errno;
        buffer_.clear();
        if (written != size) fail_by_system(path_, error);
    }

    std::FILE* file_;
    pcapng::Buffer buffer_;
};

}  // namespace

struct Writer::State {
    std::string path;
    std::unique_ptr<Output> output;  ///< null once closed

    explicit State(std::unique_ptr<Output> opened) : path{opened->path()}, output{std::move(opened)} {}
    Output& open_output() const {
        if (!output) fail(path, "it is closed");
        return *output;
    }
};

Writer::Writer(std::unique_ptr<State> state) : state_{std::move(state)} {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;
Writer::~Writer() {
    try {
        if (state_) close();
    } catch (const std::runtime_error&) {
        // Who wants to know calls close().
    }
}

Writer Writer::pcap(const std::string& path, LinkType link_type) {
    return Writer{std::make_unique<State>(std::make_unique<PcapOutput>(path, link_type))};
}
Writer Writer::pcapng(const std::string& path) {
    return Writer{std::make_unique<State>(std::make_unique<PcapngOutput>(path))};
}

std::uint32_t Writer::add_interface(LinkType link_type, std::string_view name) {
    return state_->open_output().add_interface(link_type, name);
}

void Writer::write(std::int64_t time_ns, wire::Octets octets, std::uint32_t interface, std::uint32_t wire_length,
                   std::string_view comment) {
    Output& output = state_->open_output();
    const bool is_erf = output.link_type(interface) == LinkType::erf;
    if (time_ns < 0) fail(state_->path, "a capture holds no time before 1970");
    if (octets.size() > longest_record - ErfHeader::size) fail(state_->path, "a frame is longer than a record may be");
    Record record{time_ns, {}, octets, std::max(wire_length, static_cast<std::uint32_t>(octets.size())), comment};
    if (!is_erf) return output.write(record, interface);
    if (record.wire_length > longest_erf_frame) fail(state_->path, "a frame is longer than an ERF record may be");
    const auto header = ibdump_erf_header(time_ns, record.wire_length);
    record.header = header.octets;
    output.write(record, interface);
}

void Writer::flush() { state_->open_output().flush(); }

void Writer::close() {
    // Closed also when the last octets cannot be written: trying again would not help.
    if (const auto output = std::exchange(state_->output, nullptr)) output->close();
}

}  // namespace ipoib::capture
