// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-lab-control: the fabric control protocol of ipoib-conform inside the lab's guest.
#include "lab/guest/fabric_control/fabric.hpp"

#include <cstdio>
#include <exception>

int main(int count, char** words) try {
    if (count > 1) {
        std::fprintf(stderr,
                     "usage: %s\nFabric control of the lab's guest: requests on standard input, one JSON object a "
                     "line, answers on standard output.\n",
                     words[0]);
        return 2;
    }
    const ipoib::host::Interruption interruption;
    ipoib::lab::Fabric fabric(interruption);
    ipoib::host::serve(fabric.handlers(), interruption);
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "ipoib-lab-control: %s\n", error.what());
    return 1;
}
