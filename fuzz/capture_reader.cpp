// SPDX-License-Identifier: GPL-2.0-or-later
// libFuzzer target: whatever the octets are, reading them as a capture ends, within bounds, with an answer.
#include "fabric/capture/reader.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

using namespace ipoib::capture;

namespace {

void demand(bool is_kept) {
    if (!is_kept) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    ipoib::Descriptor descriptor{memfd_create("capture", MFD_CLOEXEC)};
    demand(::pwrite(descriptor.value(), data, size, 0) == static_cast<ssize_t>(size));
    auto reader = Reader::from_descriptor(std::move(descriptor), "fuzz");

    // Compressed input may hold very many frames; the first ones are as good as any.
    constexpr std::uint64_t enough = 100'000;
    Frame frame;
    std::uint64_t last_number = 0;
    unsigned sum = 0;
    Status status = Status::end;
    reader.on_loss([&](const Loss& loss) {
        demand(loss.count != 0);
        demand(loss.after.frame < loss.before.frame && last_number < loss.before.frame);
        for (const char letter : reader.interface_name(loss.interface)) sum += static_cast<unsigned char>(letter);
    });
    while (last_number < enough && (status = reader.next(frame)) == Status::frame) {
        demand(frame.number > last_number);
        demand(frame.wire_length >= frame.octets.size());
        last_number = frame.number;
        // Touches every octet, so that a sanitizer sees a view that reaches too far.
        for (const auto octet : frame.octets) sum += octet;
        for (const char letter : frame.lost_on) sum += static_cast<unsigned char>(letter);
        for (const char letter : reader.interface_name(frame.interface)) sum += static_cast<unsigned char>(letter);
    }
    volatile unsigned used = sum;
    static_cast<void>(used);
    if (status != Status::frame) {
        demand(reader.error().empty() == (status == Status::end));
        demand(reader.next(frame) == status);
    }
    return 0;
}
