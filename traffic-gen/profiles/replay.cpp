// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/capture/reader.hpp"
#include "traffic-gen/profile.hpp"

#include <algorithm>
#include <stdexcept>

namespace ipoib::traffic {

namespace {

void replay_all(Stage& stage) {
    const auto& options = stage.options();
    auto reader = capture::Reader::open(options.input);
    capture::Frame frame;
    auto status = reader.next(frame);
    const auto first = frame.time_ns;
    for (; status == capture::Status::frame && stage.goes_on(); status = reader.next(frame)) {
        if (frame.link_type != capture::LinkType::infiniband)
            throw std::invalid_argument(options.input + ": frame " + std::to_string(frame.number) +
                                        " was captured without its InfiniBand headers, so it cannot be sent again");
        if (frame.wire_length > frame.octets.size())
            throw std::invalid_argument(options.input + ": frame " + std::to_string(frame.number) +
                                        " was cut when it was captured, so it cannot be sent again");
        const auto since = options.speed > 0
                               ? static_cast<double>(std::max<std::int64_t>(frame.time_ns - first, 0)) / options.speed
                               : 0.0;
        stage.send_recorded(Time{static_cast<Time::rep>(since)}, frame.octets);
    }
    if (status == capture::Status::corrupt) throw std::runtime_error(reader.error());
}

}  // namespace

const Profile replay{
    .name = "replay",
    .what = "the frames of a capture again (--in), as they were recorded but for what is changed",
    .impact = Impact::fabric,
    .needs_neighbour = false,
    .prepare = [](Stage&) {},
    .play = replay_all,
};

}  // namespace ipoib::traffic
