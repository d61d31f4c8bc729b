// SPDX-License-Identifier: GPL-2.0-or-later
// Reading captures: chooses the format by the file's beginning, takes off ERF headers, and keeps the end's reason.
#include "fabric/capture/reader.hpp"

#include "fabric/capture/erf.hpp"
#include "fabric/capture/format_reader.hpp"
#include "protocol/wire/medium.hpp"

#include <algorithm>
#include <atomic>
#include <iomanip>
#include <map>
#include <sstream>
#include <utility>

namespace ipoib::capture {
namespace {

std::atomic<bool> is_stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "request_stop() is called by signal handlers");

constexpr std::size_t magic_size = 4;

std::string describe_unknown(const ByteSource& source, wire::Octets beginning) {
    std::ostringstream text;
    text << source.name() << " is not a capture: it begins with" << std::hex << std::setfill('0');
    for (const unsigned octet : beginning.first(std::min(beginning.size(), magic_size)))
        text << ' ' << std::setw(2) << octet;
    text << ", neither pcap nor pcapng";
    return text.str();
}

}  // namespace

struct Reader::State {
    std::unique_ptr<ByteSource> source;
    std::unique_ptr<FormatReader> reader;
    std::string error, format;
    Skipped skipped;
    bool tells_loss_late = false;
    ErfTime erf_time = ErfTime::of_header;        ///< chosen as Wireshark does
    Status status = Status::frame;                ///< what `next` goes on answering once it is not `frame`
    std::map<std::uint32_t, std::uint64_t> lost;  ///< before frames that were passed over, by interface

    explicit State(std::unique_ptr<ByteSource> opened) : source{std::move(opened)} {
        choose_format();
        if (reader) error = reader->error();
        if (!error.empty()) status = Status::corrupt;
        if (error.empty() && !reader) status = Status::end;
    }

    void choose_format() {
        const auto beginning = source->peek(magic_size);
        if (source->end() == End::stopped) return;
        if (is_pcap(beginning) || is_pcapng(beginning)) {
            format = is_pcap(beginning) ? "pcap" : "pcapng";
            if (source->compression() != Compression::none)
                format += ", " + std::string{capture::name(source->compression())};
            tells_loss_late = is_pcapng(beginning);
            if (tells_loss_late) erf_time = ErfTime::of_record;
            reader = is_pcap(beginning) ? make_pcap_reader(*source) : make_pcapng_reader(*source);
        } else if (source->end() == End::corrupt) {
            error = source->error();
        } else if (source->end() == End::cut || source->end() == End::no_room) {
            error = source->name() + ": " + source->error();
        } else {
            error = beginning.empty() ? source->name() + " is empty" : describe_unknown(*source, beginning);
        }
    }

    /// What was lost before a record that is passed over is lost before the next one of its interface.
    void carry_losses(Frame& frame, bool is_read) {
        const auto before = lost.find(frame.interface);
        if (before != lost.end()) {
            const auto room = ~std::uint64_t{0} - frame.lost;
            frame.lost += std::min(before->second, room);
            lost.erase(before);
        }
        if (frame.lost == 0) return;
        if (is_read)
            frame.lost_on = reader->interface_name(frame.interface);
        else
            lost[frame.interface] = frame.lost;
    }

    Status next(Frame& frame) {
        while (!stop_requested()) {
            frame.lost = 0;
            frame.comment = {};
            if (const auto result = reader->next(frame); result != Status::frame) {
                error = reader->error();
                return result;
            }
            const auto content =
                frame.link_type == LinkType::erf ? take_off_erf(frame, erf_time) : ErfContent::infiniband;
            if (frame.lost != 0 || !lost.empty()) carry_losses(frame, content == ErfContent::infiniband);
            switch (content) {
                case ErfContent::infiniband:
                    return Status::frame;
                case ErfContent::other_type:
                    ++skipped.erf_other;
                    break;
                case ErfContent::malformed:
                    ++skipped.erf_malformed;
                    break;
            }
        }
        return Status::end;
    }
};

Reader::Reader(std::unique_ptr<State> state) : state_{std::move(state)} {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

Reader Reader::open(const std::string& path) {
    return Reader{std::make_unique<State>(std::make_unique<ByteSource>(path))};
}
Reader Reader::from_descriptor(Descriptor descriptor, const std::string& name) {
    return Reader{std::make_unique<State>(std::make_unique<ByteSource>(std::move(descriptor), name))};
}

Status Reader::next(Frame& frame) {
    frame.lost_on = {};
    if (state_->status == Status::frame) state_->status = state_->next(frame);
    if (state_->reader) state_->skipped.blocks = state_->reader->skipped_blocks();
    return state_->status;
}

void Reader::on_loss(std::function<void(const Loss&)> listener) {
    if (state_->reader) state_->reader->on_loss(std::move(listener));
}
void Reader::on_wait(std::function<void()> listener) { state_->source->on_wait(std::move(listener)); }
bool Reader::tells_loss_late() const noexcept { return state_->tells_loss_late; }

const std::string& Reader::error() const noexcept { return state_->error; }
const std::string& Reader::format() const noexcept { return state_->format; }
int Reader::file_link_type() const noexcept { return state_->reader ? state_->reader->link_type() : -1; }
std::string_view Reader::interface_name(std::uint32_t interface) const noexcept {
    return state_->reader ? state_->reader->interface_name(interface) : std::string_view{};
}
std::string_view Reader::comment() const noexcept {
    return state_->reader ? state_->reader->comment() : std::string_view{};
}
const Skipped& Reader::skipped() const noexcept { return state_->skipped; }
std::uint64_t Reader::position() const noexcept { return state_->source->position(); }
std::uint64_t Reader::size() const noexcept { return state_->source->size(); }

std::string_view name(LinkType link_type) {
    if (link_type == LinkType::erf) return "ERF";
    const auto* medium = wire::find_medium(static_cast<std::uint16_t>(link_type));
    return medium ? medium->name : std::string_view{};
}

void request_stop() noexcept { is_stop_requested.store(true, std::memory_order_relaxed); }
bool stop_requested() noexcept { return is_stop_requested.load(std::memory_order_relaxed); }
void clear_stop() noexcept { is_stop_requested = false; }

}  // namespace ipoib::capture
