// SPDX-License-Identifier: GPL-2.0-or-later
// As O_TMPFILE makes it, or where the file system knows no such thing, with a name for a moment.
#include "base/temporary_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

namespace ipoib {

std::filesystem::path temporary_place() {
    const char* const chosen = std::getenv("TMPDIR");
    return chosen && *chosen != '\0' ? chosen : "/var/tmp";
}

Descriptor make_temporary_file() {
    constexpr mode_t owner = 0600;
    const auto place = temporary_place();
    Descriptor file{::open(place.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, owner)};
    if (file || (errno != EOPNOTSUPP && errno != EISDIR)) return file;
    auto name = (place / "ipoib-XXXXXX").string();
    file = Descriptor{::mkostemp(name.data(), O_CLOEXEC)};
    if (file) ::unlink(name.c_str());
    return file;
}

}  // namespace ipoib
