// SPDX-License-Identifier: GPL-2.0-or-later
// libFuzzer target: whatever the frames of a capture say, the judge learns from them within bounds, and what it has
// learned can be told.
#include "conformance/judge/passive.hpp"
#include "conformance/links/account.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

using namespace ipoib;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto rules = rules::every();
    Descriptor descriptor{memfd_create("capture", MFD_CLOEXEC)};
    if (::pwrite(descriptor.value(), data, size, 0) != static_cast<ssize_t>(size)) std::abort();
    auto reader = capture::Reader::from_descriptor(std::move(descriptor), "fuzz");
    conformance::Judge judge{rules, 0};
    // Compressed input may hold very many frames; the first ones are as good as any.
    constexpr std::uint64_t enough = 2'000;
    capture::Frame frame;
    while (reader.next(frame) == capture::Status::frame && frame.number < enough) judge.frame(frame);
    const auto account = links::account_of(judge);
    if (links::to_text(account, {}).empty() || links::to_json(account, {}).empty()) std::abort();
    judge.finish();
    for (const auto& result : judge.results())
        if (result.violations > result.observed || result.details.size() > 100) std::abort();
    return 0;
}
