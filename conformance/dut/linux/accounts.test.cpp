// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/dut/linux/accounts.hpp"

#include "catch2.hpp"
#include "tests/temporary_folder.hpp"

#include <fstream>

using namespace ipoib::host;

namespace {

void write(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
}

void count(const std::filesystem::path& interface, std::uint64_t packets, std::uint64_t octets) {
    for (const auto* way : {"rx", "tx"}) {
        write(interface / "statistics" / (std::string(way) + "_packets"), std::to_string(packets));
        write(interface / "statistics" / (std::string(way) + "_bytes"), std::to_string(octets));
    }
}

}  // namespace

TEST_CASE("Accounts: octets that so many packets cannot have are told, once") {
    const ipoib::TemporaryFolder folder;
    const auto ib0 = folder.path() / "ib0", eth0 = folder.path() / "eth0";
    write(ib0 / "type", "32");
    write(eth0 / "type", "1");
    count(ib0, 3, 300);
    count(eth0, 3, 300);
    InterfaceAccounts accounts(folder.path());
    CHECK(accounts.impossible().empty());
    count(ib0, 5, 300 + 2 * 65536);
    CHECK(accounts.impossible().empty());
    // A length of two octets less than none, in 32 bits.
    write(ib0 / "statistics/rx_packets", "6");
    write(ib0 / "statistics/rx_bytes", std::to_string(std::uint64_t{300 + 2 * 65536} + 0xfffffffe));
    count(eth0, 4, 0xfffffffeU);
    const auto told = accounts.impossible();
    REQUIRE(told.size() == 1);
    CHECK(told[0] == "BUG: ib0 has counted 4294967294 octets in 1 packets (rx_bytes)");
    CHECK(accounts.impossible().empty());
    // Another interface of the name begins anew.
    count(ib0, 0, 0);
    CHECK(accounts.impossible().empty());
}

TEST_CASE("Accounts: memory is counted by the first function of the modules that were on the way to it") {
    std::map<std::string, std::uint64_t> all;
    add_allocations(
        "     12 ipoib_cm_create_tx+0x45/0x90 [ib_ipoib] age=1/2/3 pid=7 cpus=0\n"
        "        __kmem_cache_alloc_node+0x1c0/0x2b0\n"
        "        ipoib_cm_create_tx+0x45/0x90 [ib_ipoib]\n"
        "\n"
        "      3 __alloc_skb+0x12/0x30 waste=3/1 age=5 pid=0\n"
        "        __alloc_skb+0x12/0x30\n"
        "        ipoib_alloc_rx_skb+0x22/0x80 [ib_ipoib]\n"
        "        ipoib_ib_post_receives+0x22/0x80 [ib_ipoib]\n"
        "\n"
        "      9 load_elf_binary+0x1/0x2 age=5\n"
        "        load_elf_binary+0x1/0x2\n"
        "      1 ipoib_cm_create_tx+0x45/0x90 [ib_ipoib] age=1\n",
        all);
    CHECK(all == std::map<std::string, std::uint64_t>{{"ib_ipoib:ipoib_cm_create_tx", 13},
                                                      {"ib_ipoib:ipoib_alloc_rx_skb", 3}});
    add_allocations("No data\n", all);
    add_allocations("", all);
    CHECK(all.size() == 2);
}

TEST_CASE("Accounts: memory that grows at each look is told, what comes and goes is not") {
    const ipoib::TemporaryFolder folder;
    MemoryAccounts accounts(folder.path());
    const auto look = [&](unsigned lost, unsigned used, unsigned before = 0) {
        const auto line = [](unsigned count, const char* site) {
            return std::to_string(count) + ' ' + site + "+0x1/0x2 [ib_core] age=1\n";
        };
        write(folder.path() / "slab/kmalloc-64/alloc_traces",
              line(lost, "lost") + line(used, "used") + line(before, "before"));
        std::vector<std::string> told;
        for (unsigned i = 0; i < MemoryAccounts::calls_of_a_look; ++i)
            for (auto& one : accounts.growing()) told.push_back(one);
        return told;
    };
    for (const auto& [lost, used] : {std::pair{10u, 10u}, {20u, 500u}, {30u, 90u}, {40u, 195u}})
        CHECK(look(lost, used).empty());
    const auto told = look(160, 200);
    REQUIRE(told.size() == 1);
    CHECK(told[0] ==
          "BUG: ib_core:lost has more and more allocations of kmalloc-64 that are not freed: 10 20 30 40 160");
    CHECK(look(170, 199).empty());
    // One place has allocated what another one holds now.
    accounts = MemoryAccounts(folder.path());
    for (const auto lost : {100u, 150u, 200u, 250u, 300u, 350u}) CHECK(look(lost, 200, 400 - lost).empty());
    // So it is where memory of another size is in use more and more, and then less.
    accounts = MemoryAccounts(folder.path());
    for (const auto lost : {100u, 150u, 200u, 250u, 300u, 350u}) {
        write(folder.path() / "slab/kmalloc-128/alloc_traces",
              std::to_string(lost == 350 ? 10 : 2 * lost) + " other+0x1/0x2 [ib_core] age=1\n");
        const auto others = look(lost, 200, 400 - lost);
        CHECK(others.size() == (lost == 300 ? 1 : 0));
        if (!others.empty()) CHECK(others[0].starts_with("BUG: ib_core:other "));
    }
    // The kernel gives addresses back when it likes.
    accounts = MemoryAccounts(folder.path());
    for (const auto areas : {100u, 200u, 300u, 400u, 500u, 600u}) {
        write(folder.path() / "slab/vmap_area/alloc_traces", std::to_string(areas) + " one+0x1/0x2 [ib_core] age=1\n");
        CHECK(look(10, 10).empty());
    }
    // A place without any at one look begins anew.
    accounts = MemoryAccounts(folder.path());
    for (const auto lost : {100u, 150u, 0u, 200u, 250u, 300u}) CHECK(look(lost, 1000 - lost / 2).empty());
}

TEST_CASE("Accounts: memory that kmemleak tells to be lost is told by who allocated it") {
    std::map<std::string, std::uint64_t> lost;
    add_lost(
        "unreferenced object 0xffff888003c0 (size 64):\n"
        "  comm \"kworker\", pid 9, jiffies 4294\n"
        "  backtrace:\n"
        "    [<0000000012>] kmalloc_trace+0x25/0x90\n"
        "    [<0000000034>] path_rec_create+0x45/0x90 [ib_ipoib]\n"
        "    [<0000000056>] ipoib_start_xmit+0x45/0x90 [ib_ipoib]\n"
        "unreferenced object 0xffff888003c8 (size 64):\n"
        "    [<0000000012>] load_elf_binary+0x25/0x90\n",
        lost);
    CHECK(lost == std::map<std::string, std::uint64_t>{{"ib_ipoib:path_rec_create", 1}});
    add_lost("", lost);
    add_lost("ib_core+0x1/0x2 [ib_core]", lost);
    CHECK(lost.size() == 1);
}
