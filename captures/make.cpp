// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the sample captures and their expectations in the folder named: what captures/ holds is what this program
// writes.
#include "captures/expectation.hpp"
#include "captures/samples.hpp"

#include <cstdio>
#include <exception>
#include <fstream>

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: make-samples FOLDER\n");
        return 2;
    }
    try {
        for (const auto& sample : ipoib::captures::all()) {
            const auto path = std::string(argv[1]) + '/' + std::string(sample.file);
            sample.make(path);
            std::ofstream{path + ".expected"} << ipoib::captures::expectation(path);
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "make-samples: %s\n", error.what());
        return 1;
    }
    return 0;
}
