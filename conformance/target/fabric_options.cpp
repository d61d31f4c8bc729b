// SPDX-License-Identifier: GPL-2.0-or-later
// Taking the words of --fabric apart.
#include "conformance/target/fabric_options.hpp"

#include "protocol/wire/text.hpp"

#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

namespace ipoib::conformance {
namespace {

constexpr std::string_view sm_key = "sm-key=", tap = "tap=", p_key = "pkey=", issm = "issm",
                           gid = "gid=", second = "second=";

std::uint64_t number_of(std::string_view name, std::string_view text,
                        std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
    const auto number = wire::parse_number(text);
    if (!number || *number > most)
        throw std::invalid_argument(std::string(name.substr(0, name.find('='))) + " is a number, not '" +
                                    std::string(text) + "'");
    return *number;
}

/// The words between the commas, the first one too where it is empty.
template <class Take>
void for_each_word(std::string_view list, const Take& take) {
    while (true) {
        const auto comma = list.find(',');
        take(list.substr(0, comma));
        if (comma == std::string_view::npos) return;
        list.remove_prefix(comma + 1);
    }
}

/// What follows the name, if the word begins with it.
std::optional<std::string_view> value_of(std::string_view word, std::string_view name) {
    return word.starts_with(name) ? std::optional{word.substr(name.size())} : std::nullopt;
}

HcaTarget::Port port_of(std::string_view word) {
    constexpr std::uint64_t most_ports = 255;
    const auto slash = word.find('/');
    HcaTarget::Port port{.device = std::string(word.substr(0, slash))};
    if (slash != std::string_view::npos)
        port.number = static_cast<int>(number_of("the port", word.substr(slash + 1), most_ports));
    return port;
}

std::uint16_t p_key_of(std::string_view word, std::string_view value) {
    constexpr std::uint16_t no_partition = 0x8000;
    const auto number = static_cast<std::uint16_t>(number_of(p_key, value, 0xffff));
    if ((number | no_partition) == no_partition)
        throw std::invalid_argument("'" + std::string(word) + "' names no partition");
    return number;
}

/// The words that both kinds know; `take_other` takes one of its own kind's, or does not know it either.
template <class TakeOther>
HcaTarget hca_target(std::string_view list, std::string_view usage, const TakeOther& take_other) {
    HcaTarget target;
    bool is_first = true;
    for_each_word(list, [&](std::string_view word) {
        if (std::exchange(is_first, false))
            target.port = port_of(word);
        else if (const auto partition = value_of(word, p_key))
            target.p_key = p_key_of(word, *partition);
        else if (const auto key = value_of(word, sm_key))
            target.sm_key = number_of(sm_key, *key);
        else if (!take_other(target, word))
            throw std::invalid_argument("--fabric " + std::string(usage.substr(0, usage.find(':') + 1)) +
                                        " does not know '" + std::string(word) + "'; it is " + std::string(usage));
    });
    return target;
}

}  // namespace

fabric::SocketOptions socket_options(std::string_view list) {
    fabric::SocketOptions options;
    for_each_word(list, [&](std::string_view word) {
        if (const auto path = value_of(word, tap))
            options.tap = *path;
        else if (const auto key = value_of(word, sm_key))
            options.sm_key = number_of(sm_key, *key);
        else
            options.paths.emplace_back(word);
        const bool is_empty = word == tap || (!options.paths.empty() && options.paths.back().empty());
        if (is_empty) throw std::invalid_argument("--fabric socket: needs a path, or paths with commas between");
    });
    if (options.paths.empty()) throw std::invalid_argument("--fabric socket: needs a path of a raw port");
    return options;
}

HcaTarget umad_target(std::string_view list) {
    return hca_target(list, "umad:DEVICE[/PORT][,pkey=N][,sm-key=N][,issm]",
                      [](HcaTarget& target, std::string_view word) {
                          if (word == issm) target.raises_issm = true;
                          return word == issm;
                      });
}

HcaTarget verbs_target(std::string_view list) {
    return hca_target(list, "verbs:DEVICE[/PORT][,pkey=N][,gid=N][,second=DEVICE[/PORT]][,sm-key=N]",
                      [](HcaTarget& target, std::string_view word) {
                          constexpr std::uint64_t most_gids = 0xffff;
                          if (const auto index = value_of(word, gid))
                              target.gid_index = static_cast<int>(number_of(gid, *index, most_gids));
                          else if (const auto port = value_of(word, second))
                              target.second = port_of(*port);
                          else
                              return false;
                          return true;
                      });
}

}  // namespace ipoib::conformance
