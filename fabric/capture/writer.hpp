// SPDX-License-Identifier: GPL-2.0-or-later
// Writing captures: ERF in pcap as ibdump does, pcap of any other link type, and pcapng with one interface per party.
#pragma once

#include "fabric/capture/reader.hpp"

#include <memory>
#include <string>

namespace ipoib::capture {

/// Writes one capture. Throws std::runtime_error (with the path and the system's reason) when it cannot be written;
/// close() reports what a destructor could not. A path of "-" is standard output.
class Writer {
public:
    /// pcap: one link type for all frames; `erf` puts each frame (LRH on) behind an ERF header as ibdump writes it.
    static Writer pcap(const std::string& path, LinkType link_type);
    /// pcapng: interfaces are added before their first frame. The comment is the file's own.
    static Writer pcapng(const std::string& path, std::string_view comment = {});
    Writer(Writer&&) noexcept;
    Writer& operator=(Writer&&) noexcept;
    ~Writer();

    /// Adds an interface of a pcapng and returns its number; a pcap has just interface 0.
    std::uint32_t add_interface(LinkType link_type, std::string_view name);
    /// Appends a frame. `wire_length` 0 means octets.size(); a larger one marks a truncated frame. `comment` is kept
    /// only by pcapng.
    void write(std::int64_t time_ns, wire::Octets octets, std::uint32_t interface = 0, std::uint32_t wire_length = 0,
               std::string_view comment = {});
    /// Hands everything written so far to the system, for whoever reads along.
    void flush();
    /// Flushes and closes; a second call does nothing.
    void close();

private:
    struct State;
    explicit Writer(std::unique_ptr<State>);
    std::unique_ptr<State> state_;
};

}  // namespace ipoib::capture
