// SPDX-License-Identifier: GPL-2.0-or-later
// libFuzzer target: what is written as a pcapng or as a pcap is read back: frames, times, lengths, interfaces,
// comments.
#include "fabric/capture/writer.hpp"
#include "fuzz/fuzzer.hpp"
#include "protocol/wire/medium.hpp"

#include <vector>

using namespace ipoib;
using namespace ipoib::capture;
using fuzz::demand;

namespace {

struct Interface {
    LinkType link_type;
    std::string name;
};
struct Written {
    std::int64_t time_ns;
    std::vector<std::uint8_t> octets;
    std::uint32_t interface, wire_length;
    std::string comment;
};

/// What a reader keeps of names and of the file's comment, which may come from anywhere.
std::string name_of(const Interface& interface) { return interface.name.substr(0, 256); }
std::string kept(const std::string& comment) { return comment.size() > 4096 ? std::string{} : comment; }

LinkType link_type_of(std::uint8_t octet) {
    const auto media = wire::media();
    const auto at = octet % (media.size() + 1);
    return at == media.size() ? LinkType::erf : static_cast<LinkType>(media[at].link_type);
}

Written next_frame(fuzz::Input& input, std::size_t interfaces) {
    Written frame;
    frame.interface = static_cast<std::uint32_t>(input.number() % interfaces);
    // A pcap holds 32 bits of seconds.
    frame.time_ns = static_cast<std::int64_t>(input.number<std::uint64_t>() % (std::uint64_t{1} << 62));
    const auto octets = input.counted();
    frame.octets.assign(octets.begin(), octets.end());
    frame.wire_length = static_cast<std::uint32_t>(octets.size() + input.number<std::uint16_t>() % 4096);
    frame.comment = input.text();
    return frame;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input{data, size};
    const bool is_pcapng = input.number() % 4 != 0;
    const auto file = fuzz::file_of({});
    const auto path = "/proc/self/fd/" + std::to_string(file.value());
    const auto comment = is_pcapng ? input.text() : std::string{};
    std::vector<Interface> interfaces;
    const unsigned count = is_pcapng ? 1U + input.number() % 4U : 1U;
    for (unsigned i = 0; i < count; ++i)
        interfaces.push_back({link_type_of(input.number()), is_pcapng ? input.text() : std::string{}});

    auto writer = is_pcapng ? Writer::pcapng(path, comment) : Writer::pcap(path, interfaces[0].link_type);
    if (is_pcapng)
        for (const auto& one : interfaces) demand(writer.add_interface(one.link_type, one.name) < count);
    std::vector<Written> frames;
    while (!input.is_empty()) {
        auto frame = next_frame(input, interfaces.size());
        try {
            writer.write(frame.time_ns, frame.octets, frame.interface, frame.wire_length, frame.comment);
        } catch (const std::runtime_error& refusal) {
            fuzz::demand_sentence(refusal.what());
            continue;
        }
        frames.push_back(std::move(frame));
    }
    writer.close();

    auto reader = Reader::from_descriptor(Descriptor{::dup(file.value())}, "written");
    Frame read;
    for (const auto& frame : frames) {
        demand(reader.next(read) == Status::frame);
        const auto& interface = interfaces[frame.interface];
        const bool is_erf = interface.link_type == LinkType::erf;
        demand(read.interface == frame.interface && std::ranges::equal(read.octets, frame.octets));
        demand(read.link_type == (is_erf ? LinkType::infiniband : interface.link_type));
        demand(read.wire_length == frame.wire_length);
        demand(is_erf || read.time_ns == frame.time_ns);
        demand(read.comment == (is_pcapng ? frame.comment : ""));
        demand(reader.interface_name(read.interface) == name_of(interface));
    }
    demand(reader.next(read) == Status::end && reader.error().empty());
    demand(reader.comment() == kept(comment));
    return 0;
}
