// SPDX-License-Identifier: GPL-2.0-or-later
// A file for what is too much for memory: nobody else can open it, and it is gone with its descriptor.
#pragma once

#include "base/descriptor.hpp"

#include <filesystem>

namespace ipoib {

/// Where such files are: TMPDIR, else /var/tmp, which need not be memory as /tmp may be.
[[nodiscard]] std::filesystem::path temporary_place();

/// An empty file without a name, to be read and written. None with `errno`.
[[nodiscard]] Descriptor make_temporary_file();

}  // namespace ipoib
