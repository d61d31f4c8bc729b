// SPDX-License-Identifier: GPL-2.0-or-later
// How a capture's end is told: cleanly, within a record, or at damaged data.
#include "fabric/capture/format_reader.hpp"

#include <iomanip>
#include <sstream>

namespace ipoib::capture {
namespace {

std::string describe(std::string_view what, std::uint64_t frames, std::uint64_t offset, const std::string& why) {
    std::ostringstream text;
    text << what;
    if (frames > 0) text << " after frame " << frames;
    text << " at offset 0x" << std::hex << offset << ": " << why;
    return text.str();
}

}  // namespace

Status FormatReader::at_end_of_source(std::uint64_t record_offset, bool is_within_record) {
    switch (source_.end()) {
        case End::stopped:
            return Status::end;
        case End::corrupt:
            return corrupt(record_offset, source_.error());
        case End::no_room:
            return given_up(record_offset, source_.error());
        case End::cut:
            error_ = describe("cut", frames_, record_offset, source_.error());
            return Status::cut;
        case End::clean:
        case End::not_yet:
            break;
    }
    if (!is_within_record) return Status::end;
    error_ = describe("cut", frames_, record_offset, "the file ends within a record");
    return Status::cut;
}

Status FormatReader::corrupt(std::uint64_t record_offset, const std::string& why) {
    error_ = describe("corrupt", frames_, record_offset, why);
    return Status::corrupt;
}

Status FormatReader::given_up(std::uint64_t record_offset, const std::string& why) {
    error_ = describe("given up", frames_, record_offset, why);
    return Status::corrupt;
}

}  // namespace ipoib::capture
