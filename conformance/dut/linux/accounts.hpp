// SPDX-License-Identifier: GPL-2.0-or-later
// What the kernel counts: interfaces' packets and octets, and the memory that its InfiniBand modules hold.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ipoib::host {

/// Looks whether the counters of IPoIB interfaces can be true: a length that has gone below zero is seen there first.
class InterfaceAccounts {
public:
    explicit InterfaceAccounts(std::filesystem::path interfaces = "/sys/class/net");
    /// A sentence for each interface that has counted more octets than so many packets can have, since the last call.
    [[nodiscard]] std::vector<std::string> impossible();

private:
    struct Counted {
        std::uint64_t packets = 0, octets = 0;
    };
    std::filesystem::path interfaces_;
    std::map<std::string, Counted> before_;
};

/// Adds what a file alloc_traces of the kernel's (slub_debug=U) tells of a cache: allocations that are not freed, by
/// the first function of ib_core, ib_cm or ib_ipoib on their way, "ib_ipoib:ipoib_cm_create_tx".
void add_allocations(std::string_view traces, std::map<std::string, std::uint64_t>& to);

/// Adds what the kernel's kmemleak tells of memory that nothing points to any more, by the same function.
void add_lost(std::string_view objects, std::map<std::string, std::uint64_t>& to);

/// Looks whether the modules hold more and more memory, where the kernel keeps account of it (slub_debug=U), or memory
/// that is lost, where it looks for that (kmemleak).
class MemoryAccounts {
public:
    explicit MemoryAccounts(std::filesystem::path debug = "/sys/kernel/debug");
    /// A sentence for each place in the modules whose allocations were more at each of several looks, once, if those of
    /// all places in the same cache together were as many more: one may only take over what another has allocated
    /// before. It looks seldom, since that takes the kernel a while; most calls cost nothing.
    [[nodiscard]] std::vector<std::string> growing();
    static constexpr unsigned calls_of_a_look = 4, looks = 5;

private:
    /// Of one of the kernel's caches, as it was at each look.
    struct Cache {
        std::map<std::string, std::vector<std::uint64_t>> counts;  ///< by place, as long as they grow
        std::vector<std::uint64_t> sums;                           ///< of all places
    };
    void look_for_growth(std::vector<std::string>& found);
    void look_for_growth_in(const std::string& name, const std::map<std::string, std::uint64_t>& now,
                            std::vector<std::string>& found);
    void look_for_lost(std::vector<std::string>& found) const;

    std::filesystem::path debug_;
    unsigned calls_ = 0;
    std::map<std::string, Cache> caches_;
};

}  // namespace ipoib::host
