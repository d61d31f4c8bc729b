// SPDX-License-Identifier: GPL-2.0-or-later
// The least that reading a capture costs: a bare libpcap loop that counts.
#include <pcap/pcap.h>

#include <cstdio>

int main(int argc, char** argv) {
    char error[PCAP_ERRBUF_SIZE];
    pcap_t* file = argc == 2 ? pcap_open_offline(argv[1], error) : nullptr;
    if (!file) return 1;
    unsigned long long packets = 0, octets = 0;
    pcap_pkthdr* header = nullptr;
    const u_char* data = nullptr;
    while (pcap_next_ex(file, &header, &data) == 1) {
        ++packets;
        octets += header->caplen;
    }
    std::printf("%llu packets, %llu octets\n", packets, octets);
    pcap_close(file);
    return 0;
}
