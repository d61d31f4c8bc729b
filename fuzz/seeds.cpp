// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the seed corpus of the decoders: every frame of the sample captures, behind the octet that chooses the medium.
#include "captures/samples.hpp"
#include "conformance/judge/judge.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>

int main(int argc, char** argv) {
    using namespace ipoib;
    if (argc != 3) {
        std::fprintf(stderr, "usage: make-seeds CAPTURES CORPUS\n");
        return 2;
    }
    std::filesystem::create_directories(argv[2]);
    for (const auto& sample : captures::all()) {
        auto reader = capture::Reader::open(std::string(argv[1]) + '/' + std::string(sample.file));
        capture::Frame frame;
        while (reader.next(frame) == capture::Status::frame) {
            const auto medium = conformance::medium_of(frame.link_type);
            if (!medium) continue;
            std::ofstream seed{
                std::string(argv[2]) + '/' + std::string(sample.file) + '-' + std::to_string(frame.number),
                std::ios::binary};
            seed.put(static_cast<char>(*medium));
            for (const auto octet : frame.octets) seed.put(static_cast<char>(octet));
        }
    }
    return 0;
}
