// SPDX-License-Identifier: GPL-2.0-or-later
// A folder for a test's files.
#pragma once

#include "reports/temporary_folder.hpp"
