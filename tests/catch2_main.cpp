// SPDX-License-Identifier: GPL-2.0-or-later
// The main program of every Catch2 2 test; Catch2 3 brings its own.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
