// SPDX-License-Identifier: GPL-2.0-or-later
// Names and values as people write them.
#include "traffic-gen/fields.hpp"

#include "base/nearest.hpp"
#include "protocol/wire/registry.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace ipoib::traffic {
using namespace wire;

namespace {

constexpr unsigned widest_number = 64;

/// Where a packet has a field: in a layer of its own, or in one that holds the header.
struct Place {
    const HeaderSpec* layer;
    FieldSpec field;
};
std::optional<Place> place_in(const build::PacketBuilder& packet, const HeaderSpec& header, const FieldSpec& field) {
    if (packet.has(header)) return Place{&header, field};
    for (const auto& way : row_of(header)->ways) {
        if (!way.outer || !packet.has(*way.outer)) continue;
        const auto layer = packet.from(*way.outer);
        const auto found = way.find(layer, 0);
        if (found.size() < header.size) continue;
        Place place{way.outer, field};
        place.field.at.bit = static_cast<std::uint16_t>(field.at.bit + (found.data() - layer.data()) * 8);
        return place;
    }
    return std::nullopt;
}

std::string meant_header(std::string_view name) {
    return did_you_mean(name, registry(), [](const RegistryRow& row) { return row.header->name; });
}

std::string meant_field(const HeaderSpec& header, std::string_view name) {
    return did_you_mean(name, header.fields, [](const FieldSpec& field) { return field.name; });
}

}  // namespace

void Override::refuse(std::string_view text, const std::string& why) const {
    throw std::invalid_argument("--set" + (field_ ? ' ' + name() : std::string()) + ": '" +
                                std::string(text.substr(0, 100)) + "' " + why);
}

std::string Override::name() const { return std::string(header_->name) + '.' + std::string(field_->name); }

std::uint64_t Override::most() const noexcept {
    return field_->width >= widest_number ? ~std::uint64_t{0} : (std::uint64_t{1} << field_->width) - 1;
}

Override::Override(std::string_view text) {
    const auto equals = text.find('=');
    const auto name = text.substr(0, equals);
    const auto dot = name.find('.');
    if (equals == std::string_view::npos || dot == std::string_view::npos)
        refuse(text, "is no HEADER.FIELD=VALUE (ipoib-gen --list-fields)");
    const auto named = field_named(name.substr(0, dot), name.substr(dot + 1));
    if (!named.header)
        refuse(name.substr(0, dot), "is no header" + meant_header(name.substr(0, dot)) + " (ipoib-gen --list-fields)");
    if (!named.field)
        refuse(name.substr(dot + 1), "is no field of " + std::string(name.substr(0, dot)) +
                                         meant_field(*named.header, name.substr(dot + 1)) +
                                         " (ipoib-gen --list-fields)");
    header_ = named.header;
    field_ = named.field;
    take_values(text.substr(equals + 1));
}

void Override::take_values(std::string_view text) {
    constexpr std::string_view any = "random";
    if (text.starts_with(any)) {
        if (field_->width > widest_number) refuse(text, "is for fields of at most 64 bits");
        is_random_ = true;
        last_ = most();
        if (text.size() > any.size()) take_range(text.substr(any.size() + 1));
        return;
    }
    if (text.find("..") != std::string_view::npos) return take_range(text);
    for (;;) {
        const auto comma = text.find(',');
        list_.push_back(value(text.substr(0, comma)));
        if (comma == std::string_view::npos) return;
        text.remove_prefix(comma + 1);
    }
}

void Override::take_range(std::string_view text) {
    const auto dots = text.find(".."), slash = text.find('/');
    if (dots == std::string_view::npos || field_->width > widest_number) refuse(text, "is no range FIRST..LAST[/STEP]");
    first_ = number(text.substr(0, dots));
    last_ = number(text.substr(dots + 2, slash == std::string_view::npos ? slash : slash - dots - 2));
    if (slash != std::string_view::npos) step_ = number(text.substr(slash + 1));
    if (last_ < first_ || step_ == 0) refuse(text, "is an empty range");
}

std::uint64_t Override::number(std::string_view text) const {
    for (const auto& known : field_->names)
        if (is_same_name(known.name, text)) return known.value;
    auto read = field_->show == Show::ipv4 && parse_ipv4(text) ? std::optional<std::uint64_t>{*parse_ipv4(text)}
                                                               : parse_number(text);
    if (!read) refuse(text, "is no number");
    if (*read > most()) refuse(text, "does not fit into its " + std::to_string(field_->width) + " bits");
    return *read;
}

Override::Value Override::value(std::string_view text) const {
    const auto size = (field_->width + 7u) / 8u;
    Value octets;
    if (field_->show == Show::gid || field_->show == Show::ipv6) {
        const auto gid = parse_gid(text);
        if (!gid) refuse(text, "is no GID");
        octets.assign(gid->octets.begin(), gid->octets.end());
    } else if (field_->width > widest_number) {
        auto parsed = parse_octets(text);
        if (!parsed || parsed->size() != size) refuse(text, "is not " + std::to_string(size) + " octets in hex");
        octets = std::move(*parsed);
    } else {
        const auto read = number(text);
        for (auto i = size; i-- > 0;) octets.push_back(static_cast<std::uint8_t>(read >> 8 * i));
    }
    return octets;
}

bool Override::apply(build::PacketBuilder& packet, std::mt19937_64& random) {
    const auto place = place_in(packet, *header_, *field_);
    if (!place) return false;
    if (!list_.empty()) {
        packet.set(*place->layer, place->field, list_[next_++ % list_.size()]);
        return true;
    }
    const auto steps = (last_ - first_) / step_;
    const auto taken = is_random_ ? random() : next_++;
    const auto value = first_ + step_ * (steps == ~std::uint64_t{0} ? taken : taken % (steps + 1));
    std::array<std::uint8_t, 8> octets{};
    for (unsigned i = 0; i < octets.size(); ++i) octets[i] = static_cast<std::uint8_t>(value >> (56 - 8 * i));
    packet.set(*place->layer, place->field, octets);
    return true;
}

}  // namespace ipoib::traffic
