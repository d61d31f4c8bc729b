// SPDX-License-Identifier: GPL-2.0-or-later
// What a run holds at a subnet administrator, on disk: a run that is killed cannot end it, the next one can.
#pragma once

#include "base/descriptor.hpp"
#include "protocol/wire/field.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ipoib::conformance {

/// One file for each port, locked for as long as a run uses the port. It is gone when nothing is held
/// any more.
class Journal {
public:
    enum class Kind : char {
        membership = 'M',    ///< MGID and, in one octet, the join states
        subscription = 'I',  ///< the InformInfo that began it
    };
    struct Entry {
        Kind kind{};
        std::vector<std::uint8_t> octets;
        friend bool operator==(const Entry&, const Entry&) = default;
    };

    /// `folder` is made if it is not there, for its owner alone. Throws std::runtime_error when another run uses the
    /// port, or the file cannot be kept.
    Journal(const std::string& folder, const std::string& port);
    ~Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;

    /// What is held, the oldest first. At the beginning: what a run that was killed has left.
    [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }
    /// Before it is asked for, and after it has ended. Twice is as once; then begins() is false.
    bool begins(Kind kind, wire::Octets octets);
    void ends(Kind kind, wire::Octets octets);

    /// Where this user's journals are kept; empty where there is no place that lasts as long as the host is up.
    [[nodiscard]] static std::string usual_folder();

private:
    void open();
    void read();
    void write(char sign, const Entry& entry);
    void shorten();

    std::string folder_, path_;
    Descriptor file_;
    std::size_t size_ = 0;  ///< of the file, in octets
    std::vector<Entry> entries_;
};

}  // namespace ipoib::conformance
