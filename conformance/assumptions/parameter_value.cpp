// SPDX-License-Identifier: GPL-2.0-or-later
// Names, bounds and units of a group's parameters.
#include "conformance/assumptions/parameter_value.hpp"

#include "base/one_line.hpp"
#include "protocol/wire/text.hpp"

#include <array>
#include <charconv>

namespace ipoib::assumptions {
namespace {

using state::GroupParameters;

constexpr std::size_t longest_quote = 60;

struct Notation {
    std::string_view name;  ///< the plain one, which is also that of `--assume`
    std::uint32_t least, most;
    unsigned hex_digits;  ///< 0: shown in decimal
};
/// In the order of Parameter.
constexpr std::array<Notation, parameter_count> notations{{{"pkey", 0, 0xffff, 4},
                                                           {"qkey", 0, 0xffffffff, 8},
                                                           {"mtu", 1, 5, 0},
                                                           {"sl", 0, 15, 0},
                                                           {"tclass", 0, 0xff, 2},
                                                           {"flowlabel", 0, 0xfffff, 5},
                                                           {"hoplimit", 0, 0xff, 0},
                                                           {"scope", 0, 15, 0},
                                                           {"mlid", 0xc000, 0xfffe, 4},
                                                           {"rate", 0, 0x3f, 0},
                                                           {"pktlife", 0, 0x3f, 0}}};
constexpr const Notation& notation(Parameter parameter) { return notations[static_cast<std::size_t>(parameter)]; }

constexpr unsigned largest_mtu_code = 5;
constexpr std::size_t encapsulation = 4;  ///< octets of the header between IB and IP: RFC 4391, 6

[[noreturn]] void refuse(Parameter parameter, std::string_view text, const std::string& why) {
    throw std::invalid_argument(std::string(notation(parameter).name) + "=" + shown(text) + ": " + why);
}

std::uint32_t bounded(Parameter parameter, std::string_view text) {
    const auto& bounds = notation(parameter);
    const auto number = wire::parse_number(text);
    const auto text_of_bound = [&](std::uint32_t bound) {
        return bounds.hex_digits != 0 && bound != 0 ? wire::hex(bound, bounds.hex_digits) : std::to_string(bound);
    };
    if (!number || *number < bounds.least || *number > bounds.most)
        refuse(parameter, text,
               "expected is a number from " + text_of_bound(bounds.least) + " to " + text_of_bound(bounds.most));
    return static_cast<std::uint32_t>(*number);
}

std::uint32_t mtu_code(std::string_view text) {
    const auto octets = wire::parse_number(text);
    for (std::uint8_t code = 1; octets && code <= largest_mtu_code; ++code)
        if (state::mtu_octets(code) == *octets) return code;
    const std::string expected = "expected is the IB MTU in octets: 256, 512, 1024, 2048 or 4096";
    if (octets && *octets >= 1 && *octets <= largest_mtu_code) {
        const auto meant = state::mtu_octets(static_cast<std::uint8_t>(*octets));
        refuse(Parameter::mtu, text,
               expected + " (code " + std::to_string(*octets) + " is " + std::to_string(meant) + ")");
    }
    for (std::uint8_t code = 1; octets && code <= largest_mtu_code; ++code)
        if (state::mtu_octets(code) - encapsulation == *octets)
            refuse(Parameter::mtu, text, expected + ", which is 4 more than that of the IPoIB link");
    refuse(Parameter::mtu, text, expected);
}

/// "2.5" of "2.5 Gb/s".
std::string_view number_in(std::string_view name) { return name.substr(0, name.find(' ')); }

std::uint32_t rate_code(std::string_view text) {
    constexpr std::string_view by_code = "code=";
    if (text.substr(0, by_code.size()) == by_code)
        return bounded(Parameter::rate, trimmed(text.substr(by_code.size())));
    std::string known;
    for (const auto& rate : wire::rate_names) {
        if (number_in(rate.name) == text) return static_cast<std::uint32_t>(rate.value);
        known += (known.empty() ? "" : ", ") + std::string(number_in(rate.name));
    }
    refuse(Parameter::rate, text, "expected is a rate in Gb/s, or code=N; known are " + known);
}

/// Releases of infiniband-diags before 1.6 print the flow label in the wrong byte order; the true one has 20 bits.
std::uint32_t printed_flow_label(std::string_view text) {
    const auto number = wire::parse_number(text);
    if (number && *number > 0xfffff && *number <= 0xffffffff) {
        const auto swapped = __builtin_bswap32(static_cast<std::uint32_t>(*number));
        if (swapped <= 0xfffff) return swapped;
    }
    return bounded(Parameter::flow_label, text);
}

/// The six bits behind a selector.
std::string without_selector(Parameter parameter, std::string_view text) {
    const auto octet = wire::parse_number(text);
    if (!octet || *octet > 0xff) refuse(parameter, text, "expected is an octet of the record, 0x0 to 0xff");
    return std::to_string(*octet & 0x3f);
}

}  // namespace

std::string shown(std::string_view text) {
    const auto begin = text.substr(0, 4 * longest_quote);
    return '"' + one_line(begin, longest_quote) + '"';
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r";
    const auto begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

std::optional<wire::Gid> gid_in(std::string_view text) {
    constexpr std::size_t longest = 64;
    if (text.size() > longest) return {};
    const auto middle = text.find(" : ");
    if (middle == std::string_view::npos) return wire::parse_gid(text);
    const auto prefix = wire::parse_number(trimmed(text.substr(0, middle)));
    const auto interface_id = wire::parse_number(trimmed(text.substr(middle + 3)));
    if (!prefix || !interface_id) return {};
    return wire::Gid::of(*prefix, *interface_id);
}

std::optional<std::uint64_t> guid_in(std::string_view text) {
    if (const auto gid = gid_in(text); gid && !gid->is_multicast()) return gid->interface_id();
    constexpr std::size_t digits = 16;
    std::string plain{text};
    std::erase(plain, ':');
    if (plain.starts_with("0x") || plain.starts_with("0X")) plain.erase(0, 2);
    std::uint64_t guid = 0;
    const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), guid, 16);
    if (plain.size() != digits || error != std::errc{} || end != plain.data() + plain.size() || guid == 0) return {};
    return guid;
}

std::string plain_name(std::string_view name) {
    std::string plain;
    for (const char c : name) {
        if (c == '_') continue;
        plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return plain;
}

std::optional<Parameter> parameter_named(std::string_view plain) {
    for (unsigned i = 0; i < parameter_count; ++i)
        if (notations[i].name == plain) return static_cast<Parameter>(i);
    return {};
}

std::string_view name_of(Parameter parameter) { return notation(parameter).name; }

std::uint32_t said_value(Parameter parameter, std::string_view text) {
    if (parameter == Parameter::mtu) return mtu_code(text);
    if (parameter == Parameter::rate) return rate_code(text);
    return bounded(parameter, text);
}

std::uint32_t printed_value(Parameter parameter, std::string_view text) {
    switch (parameter) {
        case Parameter::flow_label:
            return printed_flow_label(text);
        case Parameter::mtu:
            if (const auto code = without_selector(parameter, text);
                state::mtu_octets(static_cast<std::uint8_t>(std::stoul(code))) == 0)
                refuse(parameter, text, "the code of an MTU is 1 to 5, with the selector 0x81 to 0x85");
            [[fallthrough]];
        case Parameter::rate:
        case Parameter::lifetime:
            return bounded(parameter, without_selector(parameter, text));
        default:
            return bounded(parameter, text);
    }
}

std::uint32_t value_of(const GroupParameters& group, Parameter parameter) {
    switch (parameter) {
        case Parameter::p_key:
            return group.p_key;
        case Parameter::q_key:
            return group.q_key;
        case Parameter::mtu:
            return group.mtu;
        case Parameter::sl:
            return group.sl;
        case Parameter::traffic_class:
            return group.traffic_class;
        case Parameter::flow_label:
            return group.flow_label;
        case Parameter::hop_limit:
            return group.hop_limit;
        case Parameter::scope:
            return group.scope;
        case Parameter::mlid:
            return group.mlid;
        case Parameter::rate:
            return group.rate;
        case Parameter::lifetime:
            return group.lifetime;
    }
    return 0;
}

void set(StatedGroup& group, Parameter parameter, std::uint32_t value) {
    auto& into = group.parameters;
    const auto octet = static_cast<std::uint8_t>(value);
    group.given |= bit(parameter);
    switch (parameter) {
        case Parameter::p_key:
            into.p_key = static_cast<std::uint16_t>(value);
            break;
        case Parameter::q_key:
            into.q_key = value;
            break;
        case Parameter::mtu:
            into.mtu = octet;
            break;
        case Parameter::sl:
            into.sl = octet;
            break;
        case Parameter::traffic_class:
            into.traffic_class = octet;
            break;
        case Parameter::flow_label:
            into.flow_label = value;
            break;
        case Parameter::hop_limit:
            into.hop_limit = octet;
            break;
        case Parameter::scope:
            into.scope = octet;
            break;
        case Parameter::mlid:
            into.mlid = static_cast<std::uint16_t>(value);
            break;
        case Parameter::rate:
            into.rate = octet;
            break;
        case Parameter::lifetime:
            into.lifetime = octet;
            break;
    }
}

std::string text_of(Parameter parameter, std::uint32_t value) {
    if (parameter == Parameter::mtu) return std::to_string(state::mtu_octets(static_cast<std::uint8_t>(value)));
    if (parameter == Parameter::rate)
        for (const auto& rate : wire::rate_names)
            if (rate.value == value) return std::string(rate.name);
    const auto digits = notation(parameter).hex_digits;
    return digits != 0 ? wire::hex(value, digits) : std::to_string(value);
}

}  // namespace ipoib::assumptions
