// SPDX-License-Identifier: GPL-2.0-or-later
// Words that both kinds of HCA fabrics know, and the MAD device that answers for both.
#include "conformance/target/hca.hpp"

#include "conformance/target/fabric_words.hpp"

#ifdef IPOIB_HAS_UMAD
#include "fabric/umad/fabric.hpp"
#endif

#include <stdexcept>
#include <utility>

namespace ipoib::conformance {
namespace {

constexpr std::string_view sm_key_name = "sm-key=", p_key_name = "pkey=";

std::uint16_t p_key_of(std::string_view word, std::string_view value) {
    constexpr std::uint16_t no_partition = 0x8000;
    const auto number = static_cast<std::uint16_t>(number_of(p_key_name, value, 0xffff));
    if ((number | no_partition) == no_partition)
        throw std::invalid_argument("'" + std::string(word) + "' names no partition");
    return number;
}

}  // namespace

HcaTarget::Port hca_port(std::string_view word) {
    constexpr std::uint64_t most_ports = 255;
    const auto slash = word.find('/');
    HcaTarget::Port port{.device = std::string(word.substr(0, slash))};
    if (slash != std::string_view::npos)
        port.number = static_cast<int>(number_of("the port", word.substr(slash + 1), most_ports));
    return port;
}

HcaTarget hca_target(const Opening& opening, std::string_view syntax,
                     bool (*take_other)(HcaTarget& target, std::string_view word)) {
    HcaTarget target;
    bool is_first = true;
    for_each_word(opening.words(), [&](std::string_view word) {
        if (std::exchange(is_first, false))
            target.port = hca_port(word);
        else if (const auto partition = value_of(word, p_key_name))
            target.p_key = p_key_of(word, *partition);
        else if (const auto key = value_of(word, sm_key_name))
            target.sm_key = number_of(sm_key_name, *key);
        else if (!take_other(target, word))
            throw std::invalid_argument(opening.named() + " does not know '" + std::string(word) + "'; it is " +
                                        std::string(syntax));
    });
    return target;
}

std::unique_ptr<fabric::Fabric> look_at_hca(const Opening& opening, const HcaTarget& target) {
    if (target.p_key != 0 || target.gid_index != 0 || target.second || target.raises_issm)
        throw std::invalid_argument(std::string(opening.option) + ' ' + std::string(opening.fabric) +
                                    ": only sm-key= is of account here, nothing but questions is sent");
#ifdef IPOIB_HAS_UMAD
    return std::make_unique<fabric::UmadFabric>(
        fabric::UmadFabricOptions{.port = {.device = target.port.device, .port = target.port.number},
                                  .sm_key = target.sm_key,
                                  .patience = opening.patience(std::chrono::seconds{10})});
#else
    throw std::invalid_argument(std::string(opening.option) + ' ' + std::string(opening.fabric) +
                                " is not in this program: libibumad was missing when it was built");
#endif
}

}  // namespace ipoib::conformance
