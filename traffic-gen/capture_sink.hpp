// SPDX-License-Identifier: GPL-2.0-or-later
// Packets into a capture, or printed.
#pragma once

#include "fabric/capture/writer.hpp"
#include "traffic-gen/sink.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ipoib::traffic {

/// What a capture's frames begin with, by the names of --link-type.
[[nodiscard]] std::optional<capture::LinkType> find_link_type(std::string_view name) noexcept;
/// Those names: of captures that have whole frames ("erf" and others), or of those that have not.
[[nodiscard]] std::vector<std::string> link_type_names(bool has_whole_frames);

class CaptureSink : public Sink {
public:
    /// pcapng by that suffix, else pcap; "-" is standard output. Throws std::runtime_error.
    CaptureSink(const std::string& path, capture::LinkType link_type);
    bool take(Time time, const Sender& sender, wire::Octets frame) override;
    void finish() override { writer_.close(); }

private:
    capture::LinkType link_type_;
    capture::Writer writer_;
};

/// Tells what would be sent, in the notation of the reports.
class PrintSink : public Sink {
public:
    bool take(Time time, const Sender& sender, wire::Octets frame) override;
    void finish() override;
};

}  // namespace ipoib::traffic
