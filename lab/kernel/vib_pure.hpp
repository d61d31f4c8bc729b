// SPDX-License-Identifier: GPL-2.0-or-later
// For tests: the pure parts of the kernel module, which are C.
#pragma once

// Their inline functions are kernel C, whose casts are not ours to warn about.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
extern "C" {
#include "lab/kernel/vib_command.h"
#include "lab/kernel/vib_crc.h"
#include "lab/kernel/vib_directed_route.h"
#include "lab/kernel/vib_fault.h"
#include "lab/kernel/vib_frame.h"
#include "lab/kernel/vib_psn.h"
}
#pragma GCC diagnostic pop
