// SPDX-License-Identifier: GPL-2.0-or-later
// Writing captures: a pcap with the header that libpcap gives it, pcapng by our own blocks.
#include "fabric/capture/writer.hpp"

#include "fabric/capture/erf.hpp"
#include "fabric/capture/pcapng_writer.hpp"
#include "fabric/capture/record_file.hpp"

#include <pcap/pcap.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ipoib::capture {
namespace {

constexpr std::int64_t ns_in_second = 1'000'000'000;
/// libpcap and Wireshark read no longer ones.
constexpr std::size_t longest_record = 262144;

[[noreturn]] void fail(const std::string& path, const std::string& why) {
    throw std::runtime_error("cannot write " + path + ": " + why);
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
    explicit Output(const std::string& path) : file_{path} {}
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;
    virtual ~Output() = default;

    virtual std::uint32_t add_interface(LinkType link_type, std::string_view name) = 0;
    virtual void write(const Record& record, std::uint32_t interface) = 0;
    void flush() { file_.flush(); }
    void close() { file_.close(); }

    [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }
    [[nodiscard]] LinkType link_type(std::uint32_t interface) const {
        if (interface >= interfaces_.size()) fail(path(), "there is no interface " + std::to_string(interface));
        return interfaces_[interface];
    }

protected:
    RecordFile file_;
    std::vector<LinkType> interfaces_;
};

/// The header of a pcap, by libpcap. It writes link types and magic numbers as its own reader wants them.
std::vector<std::uint8_t> pcap_header(const std::string& path, LinkType link_type, int precision) {
    const std::unique_ptr<pcap_t, void (*)(pcap_t*)> pcap{
        pcap_open_dead_with_tstamp_precision(static_cast<int>(link_type), longest_record,
                                             static_cast<u_int>(precision)),
        pcap_close};
    char* octets = nullptr;
    std::size_t size = 0;
    std::FILE* const memory = pcap ? open_memstream(&octets, &size) : nullptr;
    if (!memory) fail(path, "libpcap knows no such file");
    // On failure libpcap has closed the file already.
    auto* const dumper = pcap_dump_fopen(pcap.get(), memory);
    if (dumper) pcap_dump_close(dumper);
    std::vector<std::uint8_t> header(octets, octets + (dumper ? size : 0));
    std::free(octets);
    if (!dumper) fail(path, pcap_geterr(pcap.get()));
    return header;
}

class PcapOutput final : public Output {
public:
    PcapOutput(const std::string& path, LinkType link_type) : Output{path}, is_erf_{link_type == LinkType::erf} {
        interfaces_.push_back(link_type);
        // ibdump writes microseconds; elsewhere nothing is to be lost.
        const auto header =
            pcap_header(file_.path(), link_type, is_erf_ ? PCAP_TSTAMP_PRECISION_MICRO : PCAP_TSTAMP_PRECISION_NANO);
        append(header.data(), header.size());
        file_.end_record();
    }

    std::uint32_t add_interface(LinkType, std::string_view) override { fail(path(), "a pcap has just one interface"); }

    void write(const Record& record, std::uint32_t) override {
        const auto seconds = record.time_ns / ns_in_second;
        if (seconds > std::numeric_limits<std::uint32_t>::max()) fail(path(), "a pcap holds no time after 2106");
        const auto rest = record.time_ns % ns_in_second / (is_erf_ ? 1000 : 1);
        // In the byte order of this host, which the magic number tells. draft-ietf-opsawg-pcap, 5.
        const std::array header{static_cast<std::uint32_t>(seconds), static_cast<std::uint32_t>(rest),
                                static_cast<std::uint32_t>(record.size()),
                                static_cast<std::uint32_t>(record.header.size() + record.wire_length)};
        append(header.data(), sizeof header);
        append(record.header.data(), record.header.size());
        append(record.octets.data(), record.octets.size());
        file_.end_record();
    }

private:
    void append(const void* from, std::size_t size) {
        const auto* const octets = static_cast<const std::uint8_t*>(from);
        file_.buffer().insert(file_.buffer().end(), octets, octets + size);
    }

    bool is_erf_;
};

class PcapngOutput final : public Output {
public:
    PcapngOutput(const std::string& path, std::string_view comment) : Output{path} {
        pcapng::append_section_header(file_.buffer(), comment);
        file_.end_record();
    }

    std::uint32_t add_interface(LinkType link_type, std::string_view name) override {
        pcapng::append_interface(file_.buffer(), link_type, name);
        file_.end_record();
        interfaces_.push_back(link_type);
        return static_cast<std::uint32_t>(interfaces_.size() - 1);
    }
    void write(const Record& record, std::uint32_t interface) override {
        pcapng::append_packet(file_.buffer(), {interface, static_cast<std::uint64_t>(record.time_ns), record.header,
                                               record.octets, record.wire_length, record.comment});
        file_.end_record();
    }
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
Writer Writer::pcapng(const std::string& path, std::string_view comment) {
    return Writer{std::make_unique<State>(std::make_unique<PcapngOutput>(path, comment))};
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
