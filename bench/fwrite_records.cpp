// SPDX-License-Identifier: GPL-2.0-or-later
// The floor of a generator: the records of a pcap, which are there already, written one by one with fwrite.
//   fwrite-records FROM TO
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const int from = open(argv[1], O_RDONLY);
    struct stat about {};
    if (from < 0 || fstat(from, &about) != 0) return 3;
    const auto size = static_cast<std::size_t>(about.st_size);
    void* const mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, from, 0);
    std::FILE* const to = std::fopen(argv[2], "wb");
    if (mapped == MAP_FAILED || !to) return 3;
    const auto* const octets = static_cast<const unsigned char*>(mapped);
    constexpr std::size_t file_header = 24, record_header = 16, at_captured = 8;
    if (std::fwrite(octets, file_header, 1, to) != 1) return 3;
    for (std::size_t at = file_header; at + record_header <= size;) {
        unsigned captured = 0;
        std::memcpy(&captured, octets + at + at_captured, sizeof captured);
        const auto length = record_header + captured;
        if (at + length > size || std::fwrite(octets + at, length, 1, to) != 1) return 3;
        at += length;
    }
    return std::fclose(to) == 0 ? 0 : 3;
}
