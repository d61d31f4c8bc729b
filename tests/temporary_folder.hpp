// SPDX-License-Identifier: GPL-2.0-or-later
// A folder for a test's files.
#pragma once

#include "base/temporary_folder.hpp"
