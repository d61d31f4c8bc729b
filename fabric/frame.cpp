// SPDX-License-Identifier: GPL-2.0-or-later
// The pool that frames come from: a list of free buffers, the last given back used first.
#include "fabric/frame.hpp"

namespace ipoib::fabric {

struct Frame::Pool {
    /// More free buffers than a burst leaves behind are returned to the heap.
    static constexpr std::size_t most_free = 16384;
    Buffer* free = nullptr;
    std::size_t count = 0;

    static Pool& instance() noexcept {
        static constinit Pool pool;
        return pool;
    }
    Buffer* take() {
        if (!free) return new Buffer;
        --count;
        return std::exchange(free, free->next);
    }
};

Frame::Frame(wire::Octets octets) {
    if (octets.empty() || octets.size() > longest_frame) return;
    buffer_ = Pool::instance().take();
    buffer_->references = 1;
    buffer_->size = static_cast<std::uint32_t>(octets.size());
    std::memcpy(buffer_->octets, octets.data(), octets.size());
}

void Frame::give_back(Buffer* buffer) noexcept {
    auto& pool = Pool::instance();
    if (pool.count == Pool::most_free) {
        delete buffer;
        return;
    }
    buffer->next = std::exchange(pool.free, buffer);
    ++pool.count;
}

}  // namespace ipoib::fabric
