// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/excerpt/frames.hpp"

#include <stdexcept>

namespace ipoib::excerpt {

Frames::Frames(const std::string& path) : reader_(capture::Reader::open(path)) {
    if (!reader_.error().empty()) throw std::invalid_argument(reader_.error());
}

bool Frames::read(std::size_t most_octets) {
    capture::Frame frame;
    if (reader_.next(frame) != capture::Status::frame) return false;
    if (octets_.size() + frame.octets.size() > most_octets)
        throw std::runtime_error("so far it is not shown, and no more than " + std::to_string(most_octets >> 20) +
                                 " MiB of frames are kept: cut the capture first");
    places_.push_back({octets_.size(), frame.octets.size()});
    octets_.insert(octets_.end(), frame.octets.begin(), frame.octets.end());
    // A part of a capture has no losses of its own to tell of, and no words of others.
    frame.octets = {};
    frame.comment = {};
    frame.lost = 0;
    frame.lost_on = {};
    frames_.push_back(frame);
    return true;
}

capture::Frame Frames::operator[](std::size_t index) const {
    auto frame = frames_[index];
    frame.octets = wire::Octets{octets_}.subspan(places_[index].begin, places_[index].size);
    return frame;
}

}  // namespace ipoib::excerpt
