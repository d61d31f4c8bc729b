// SPDX-License-Identifier: GPL-2.0-or-later
// pcapng: any number of sections in either byte order, mixed link types, interface names (draft-ietf-opsawg-pcapng).
#include "fabric/capture/format_reader.hpp"
#include "fabric/capture/pcapng_format.hpp"

#include <algorithm>
#include <deque>
#include <sstream>
#include <vector>

namespace ipoib::capture {
namespace {

using namespace pcapng;

constexpr std::size_t most_interfaces = 65536, longest_name = 256, longest_comment = 4096;

std::string hex(std::uint32_t value) {
    std::ostringstream text;
    text << "0x" << std::hex << value;
    return text.str();
}

/// A block that stands complete in the source's window.
struct Block {
    std::uint32_t type = 0;
    std::uint32_t length = 0;
    std::uint64_t offset = 0;
    Cursor body;
};

struct Interface {
    LinkType link_type{};
    std::uint32_t snap_length = 0;  ///< 0 when there is no limit
    Clock clock;
    std::uint64_t drops = 0, system_drops = 0;  ///< by the interface and by the system, as last counted
    Loss::Place counted;                        ///< the last frame that is certainly before that
};

class PcapngReader final : public FormatReader {
public:
    explicit PcapngReader(ByteSource& source);
    Status next(Frame& frame) override;
    [[nodiscard]] int link_type() const noexcept override {
        return interfaces_.empty() ? -1 : static_cast<int>(interfaces_.front().link_type);
    }
    [[nodiscard]] std::string_view interface_name(std::uint32_t interface) const noexcept override {
        return interface < names_.size() ? std::string_view{names_[interface]} : std::string_view {};
    }
    [[nodiscard]] std::string_view comment() const noexcept override {
        return sections_ == 1 ? std::string_view{comment_} : std::string_view{};
    }
    [[nodiscard]] std::uint64_t skipped_blocks() const noexcept override { return skipped_blocks_; }

private:
    // All of these answer `frame` when all is well, and leave the block unconsumed.
    Status look_at_block(Block& block);
    Status take_in(Block& block);
    Status take_in_byte_order(wire::Octets head, std::uint64_t offset);
    Status take_in_section(Block& block);
    Status take_in_interface(Block& block);
    Status take_in_options(Block& block, Interface& interface, std::string& name);
    void take_in_statistics(Block& block);
    void count_drops(const Block& block, Interface& interface, std::uint32_t index, std::int64_t time);
    Status take_in_packet(Block& block, Frame& frame);
    Status take_in_data(Block& block, std::uint32_t captured, std::uint32_t wire_length, Frame& frame);
    const Interface* find_interface(std::uint32_t number, Frame& frame);
    Status no_interface(const Block& block, std::uint32_t number);

    bool is_swapped_ = false;  ///< the section's byte order is not that of this machine
    std::size_t sections_ = 0;
    std::string comment_;            ///< of the first section
    std::size_t section_begin_ = 0;  ///< index of the section's first interface
    Share memory_;                   ///< of what is kept of the interfaces
    std::vector<Interface> interfaces_;
    std::deque<std::string> names_;  ///< a deque keeps its elements in place; views of them are handed out
    std::uint64_t skipped_blocks_ = 0;
    Loss::Place last_;  ///< the frame read last, and the latest time of any
};

bool is_packet(std::uint32_t type) noexcept {
    return type == enhanced_packet || type == simple_packet || type == obsolete_packet;
}

/// Reads as far as the first interface, so that its link type is known before the first frame.
PcapngReader::PcapngReader(ByteSource& source) : FormatReader{source}, memory_{source.memory()} {
    Block block;
    while (interfaces_.empty() && look_at_block(block) == Status::frame && !is_packet(block.type)) {
        if (take_in(block) != Status::frame) break;
        source_.consume(block.length);
    }
    if (!error_.empty()) error_ = source.name() + " is " + error_;
}

Status PcapngReader::next(Frame& frame) {
    Block block;
    while (!stop_requested()) {
        if (const auto status = look_at_block(block); status != Status::frame) return status;
        const bool holds_packet = is_packet(block.type);
        const auto status = holds_packet ? take_in_packet(block, frame) : take_in(block);
        if (status != Status::frame) return status;
        source_.consume(block.length);
        if (!holds_packet) continue;
        frame.number = last_.frame = ++frames_;
        frame.file_offset = block.offset;
        last_.time_ns = std::max(last_.time_ns, frame.time_ns);
        return Status::frame;
    }
    return Status::end;
}

/// Section 3.1: the block's type and length, and the length once more at its end.
Status PcapngReader::look_at_block(Block& block) {
    block.offset = source_.offset();
    const auto head = source_.peek(smallest_block);
    if (head.size() < smallest_block) return at_end_of_source(block.offset, !head.empty());
    block.type = load<std::uint32_t>(head.data(), is_swapped_);
    // The section header's type reads the same in both byte orders.
    if (block.type == section_header) {
        if (const auto status = take_in_byte_order(head, block.offset); status != Status::frame) return status;
    }
    Cursor cursor{head.subspan(sizeof block.type), is_swapped_};
    block.length = cursor.u32();
    const auto complain = [&](const char* what) {
        return corrupt(block.offset, "block length " + std::to_string(block.length) + what);
    };
    if (block.length % 4 != 0) return complain(" is not a multiple of 4");
    if (block.length < smallest_block) return complain(" is less than a block's own 12 octets");
    if (block.length > longest_block) return complain(" is more than 16 MiB");

    const auto octets = source_.peek(block.length);
    if (octets.size() < block.length) return at_end_of_source(block.offset, true);
    const auto behind_head = octets.subspan(block_head, block.length - block_head);
    const auto body = behind_head.first(behind_head.size() - block_tail);
    const auto repeated = load<std::uint32_t>(behind_head.last(block_tail).data(), is_swapped_);
    if (repeated != block.length) return complain((" is " + std::to_string(repeated) + " at its end").c_str());
    block.body = {body, is_swapped_};
    return Status::frame;
}

Status PcapngReader::take_in_byte_order(wire::Octets head, std::uint64_t offset) {
    const auto magic = load<std::uint32_t>(head.subspan(block_head).data(), false);
    if (magic != byte_order_magic && magic != __builtin_bswap32(byte_order_magic))
        return corrupt(offset, "byte-order magic " + hex(magic) + " is unknown");
    is_swapped_ = magic != byte_order_magic;
    return Status::frame;
}

Status PcapngReader::take_in(Block& block) {
    if (block.type == section_header) return take_in_section(block);
    if (block.type == interface_description) return take_in_interface(block);
    if (block.type == interface_statistics) take_in_statistics(block);
    ++skipped_blocks_;
    return Status::frame;
}

/// Section 4.1.
Status PcapngReader::take_in_section(Block& block) {
    block.body.u32();
    const unsigned major = block.body.u16(), minor = block.body.u16();
    block.body.u64();
    if (block.body.is_short())
        return corrupt(block.offset, "section header of only " + std::to_string(block.length) + " octets");
    if (major != major_version)
        return corrupt(block.offset, "version " + std::to_string(major) + "." + std::to_string(minor) + " is unknown");
    section_begin_ = interfaces_.size();
    if (++sections_ > 1) return Status::frame;
    for_each_option(block.body, [&](std::uint16_t code, wire::Octets value) {
        if (code == opt_comment && value.size() <= longest_comment && comment_.empty())
            comment_.assign(value.begin(), value.end());
    });
    return Status::frame;
}

/// Section 4.2.
Status PcapngReader::take_in_interface(Block& block) {
    Interface interface;
    interface.link_type = static_cast<LinkType>(block.body.u16());
    block.body.u16();
    interface.snap_length = block.body.u32();
    if (block.body.is_short())
        return corrupt(block.offset, "interface description of only " + std::to_string(block.length) + " octets");
    std::string name;
    if (const auto status = take_in_options(block, interface, name); status != Status::frame) return status;
    if (interfaces_.size() == most_interfaces)
        return corrupt(block.offset, "more than " + std::to_string(most_interfaces) + " interfaces");
    constexpr auto of_each = 2 * sizeof(Interface) + 2 * sizeof(std::string);
    if (!memory_.resize(memory_.octets() + of_each + name.size()))
        return given_up(block.offset, "its interfaces take more memory than is left beside the other captures");
    interfaces_.push_back(interface);
    names_.push_back(std::move(name));
    return Status::frame;
}

/// Sections 3.5 and 4.2.
Status PcapngReader::take_in_options(Block& block, Interface& interface, std::string& name) {
    while (block.body.left() > 0) {
        const std::uint16_t code = block.body.u16(), length = block.body.u16();
        if (code == opt_end) break;
        const auto value = block.body.take(padded(length));
        const auto complain = [&](const char* what) {
            return corrupt(block.offset, "interface option " + std::to_string(code) + what);
        };
        if (block.body.is_short()) return complain(" runs past its block");
        if (code == if_name) {
            const auto text = value.first(std::min<std::size_t>(length, longest_name));
            name.assign(text.begin(), text.end());
        }
        if (code == if_time_resolution) {
            if (length != sizeof(std::uint8_t)) return complain(" (if_tsresol) is not one octet long");
            interface.clock.set_resolution(value.front());
        }
        if (code == if_time_offset) {
            if (length != sizeof(std::uint64_t)) return complain(" (if_tsoffset) is not eight octets long");
            interface.clock.set_offset(static_cast<std::int64_t>(load<std::uint64_t>(value.data(), is_swapped_)));
        }
    }
    return Status::frame;
}

/// Section 4.6. What is damaged tells nothing.
void PcapngReader::take_in_statistics(Block& block) {
    const auto number = block.body.u32();
    const auto ticks = block.body.time();
    if (block.body.is_short() || number >= interfaces_.size() - section_begin_) return;
    const auto index = section_begin_ + number;
    auto& interface = interfaces_[index];
    count_drops(block, interface, static_cast<std::uint32_t>(index), interface.clock.to_ns(ticks));
}

/// Drops are counted from the beginning of the capture, so those since the last statistics fell between the two. What
/// else is counted there proves no loss: packets that a filter refused, that went to other files, or that waited in
/// buffers when the capture ended are received, too.
void PcapngReader::count_drops(const Block& block, Interface& interface, std::uint32_t index, std::int64_t time) {
    std::uint64_t lost = 0;
    const auto count = [&](std::uint64_t& before, wire::Octets value) {
        if (value.size() != sizeof before) return;
        const auto now = load<std::uint64_t>(value.data(), is_swapped_);
        const auto more = now >= before ? now - before : now;
        if (__builtin_add_overflow(lost, more, &lost)) lost = ~std::uint64_t{0};
        before = now;
    };
    for_each_option(block.body, [&](std::uint16_t code, wire::Octets value) {
        if (code == statistics_interface_drops) count(interface.drops, value);
        if (code == statistics_system_drops) count(interface.system_drops, value);
    });
    const auto latest = std::max(last_.time_ns, time);
    if (lost != 0 && on_loss_)
        on_loss_({.count = lost, .interface = index, .after = interface.counted, .before = {frames_ + 1, latest}});
    // Statistics may be written later than they were taken.
    if (time >= last_.time_ns) interface.counted = {frames_, last_.time_ns};
}

/// Sections 4.3 (enhanced), 4.4 (simple) and B.1 (obsolete).
Status PcapngReader::take_in_packet(Block& block, Frame& frame) {
    auto& body = block.body;
    std::uint32_t number = 0;
    std::uint16_t drops = unknown_drops;
    if (block.type == enhanced_packet) number = body.u32();
    if (block.type == obsolete_packet) {
        number = body.u16();
        drops = body.u16();
    }
    const Interface* interface = find_interface(number, frame);
    if (!interface) return no_interface(block, number);
    frame.time_ns = 0;
    if (block.type == obsolete_packet && drops != unknown_drops) frame.lost = drops;
    if (block.type == simple_packet) {
        const std::uint32_t wire_length = body.u32();
        const std::uint32_t limit = interface->snap_length;
        return take_in_data(block, limit != 0 ? std::min(wire_length, limit) : wire_length, wire_length, frame);
    }
    frame.time_ns = interface->clock.to_ns(body.time());
    const std::uint32_t captured = body.u32(), wire_length = body.u32();
    return take_in_data(block, captured, wire_length, frame);
}

void take_packet_options(Cursor options, bool is_swapped, Frame& frame) noexcept {
    for_each_option(options, [&](std::uint16_t code, wire::Octets value) {
        if (code == opt_comment && frame.comment.data() == nullptr)
            frame.comment = {reinterpret_cast<const char*>(value.data()), value.size()};
        if (code == packet_drop_count && value.size() == sizeof frame.lost)
            frame.lost = load<std::uint64_t>(value.data(), is_swapped);
    });
}

Status PcapngReader::take_in_data(Block& block, std::uint32_t captured, std::uint32_t wire_length, Frame& frame) {
    if (block.body.is_short())
        return corrupt(block.offset, "packet block of only " + std::to_string(block.length) + " octets");
    const std::size_t room = block.body.left();
    if (captured > room)
        return corrupt(block.offset, "packet of " + std::to_string(captured) + " octets in a block with room for " +
                                         std::to_string(room));
    frame.octets = block.body.take(captured);
    frame.wire_length = std::max(captured, wire_length);
    block.body.take(std::min(padded(captured) - captured, block.body.left()));
    if (block.type == enhanced_packet && block.body.left() > 0) take_packet_options(block.body, is_swapped_, frame);
    return Status::frame;
}

/// Interface numbers begin anew in each section; frames count them through the whole file.
const Interface* PcapngReader::find_interface(std::uint32_t number, Frame& frame) {
    if (number >= interfaces_.size() - section_begin_) return nullptr;
    const std::size_t index = section_begin_ + number;
    frame.interface = static_cast<std::uint32_t>(index);
    frame.link_type = interfaces_[index].link_type;
    return &interfaces_[index];
}

Status PcapngReader::no_interface(const Block& block, std::uint32_t number) {
    return corrupt(block.offset, "interface " + std::to_string(number) + " is not described; the section has " +
                                     std::to_string(interfaces_.size() - section_begin_));
}

}  // namespace

bool is_pcapng(wire::Octets magic) noexcept {
    return magic.size() >= sizeof section_header && load<std::uint32_t>(magic.data(), false) == section_header;
}

std::unique_ptr<FormatReader> make_pcapng_reader(ByteSource& source) { return std::make_unique<PcapngReader>(source); }

}  // namespace ipoib::capture
