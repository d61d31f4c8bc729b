// SPDX-License-Identifier: GPL-2.0-or-later
// libFuzzer target: whatever `--set` is given, it is refused, and why is told, or sets the field: the same values each
// time, and what was set can be written and sets the same again. Lines.
#include "fuzz/fuzzer.hpp"
#include "protocol/build/samples.hpp"
#include "protocol/wire/registry.hpp"
#include "traffic-gen/fields.hpp"

#include <array>
#include <stdexcept>

using namespace ipoib;
using namespace ipoib::traffic;
using fuzz::demand;

namespace {

const std::vector<build::PacketBuilder>& packets() {
    using namespace build::samples;
    static const auto link = controlled();
    static const std::vector<build::PacketBuilder> all{build::udp(host(1), host(2), link, 24),
                                                       broadcast_join_answer(host(1), link)};
    return all;
}

std::optional<Override> override_of(std::string_view text) {
    try {
        return Override{text};
    } catch (const std::invalid_argument& refusal) {
        // The program makes it printable when it complains.
        const std::string_view what = refusal.what();
        demand(what.starts_with("--set") && what.size() < 1000);
        return std::nullopt;
    }
}

/// The value that a packet has in a header of its own.
std::optional<std::uint64_t> value_in(const build::PacketBuilder& packet, const Override& set) {
    const auto name = set.name();
    const auto* header = wire::header_named(name.substr(0, name.find('.')));
    if (!header || !packet.has(*header) || set.field().width > 64) return std::nullopt;
    const auto octets = packet.from(*header);
    if (octets.size() < header->size) return std::nullopt;
    return wire::read_bits(octets.data(), set.field().at, set.field().width);
}

void look_at(std::string_view text) {
    const auto set = override_of(text);
    if (!set) return;
    for (auto packet : packets()) {
        auto again = packet;
        auto first = *set, second = *set;
        std::mt19937_64 one{7}, other{7};
        for (unsigned i = 0; i < 3; ++i) {
            const bool has_it = first.apply(packet, one);
            demand(second.apply(again, other) == has_it);
            demand(std::ranges::equal(packet.octets(), again.octets()));
            if (!has_it) break;
            const auto value = value_in(packet, *set);
            if (!value || set->field().show == wire::Show::gid || set->field().show == wire::Show::ipv6) continue;
            auto written = override_of(set->name() + '=' + std::to_string(*value));
            demand(written && written->apply(again, other));
            demand(std::ranges::equal(packet.octets(), again.octets()));
        }
        demand(!packet.build().empty());
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto text = fuzz::as_text({data, size});
    while (!text.empty()) {
        const auto line = text.substr(0, text.find('\n'));
        look_at(line);
        text.remove_prefix(std::min(text.size(), line.size() + 1));
    }
    return 0;
}
