// SPDX-License-Identifier: GPL-2.0-or-later
// A vector that allocates nothing as long as it is short.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace ipoib::build {

/// Up to `Few` elements are within the object, more are on the heap. Copying costs what is there, not what there is
/// room for.
template <class T, std::size_t Few>
class InlineVector {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    InlineVector() noexcept = default;
    InlineVector(const InlineVector& other) : size_(other.size_), many_(other.many_) { take_few(other); }
    InlineVector(InlineVector&& other) noexcept : size_(other.size_), many_(std::move(other.many_)) {
        take_few(other);
        other.size_ = 0;
        other.many_.clear();
    }
    InlineVector& operator=(const InlineVector& other) {
        if (this == &other) return *this;
        many_ = other.many_;
        size_ = other.size_;
        take_few(other);
        return *this;
    }
    InlineVector& operator=(InlineVector&& other) noexcept {
        if (this == &other) return *this;
        many_ = std::move(other.many_);
        size_ = other.size_;
        take_few(other);
        other.size_ = 0;
        other.many_.clear();
        return *this;
    }
    ~InlineVector() = default;

    void append(std::span<const T> more) {
        if (more.empty()) return;
        if (many_.empty() && size_ + more.size() <= Few) {
            std::memcpy(few_.data() + size_, more.data(), more.size_bytes());
        } else {
            if (many_.empty()) many_.assign(few_.data(), few_.data() + size_);
            many_.insert(many_.end(), more.begin(), more.end());
        }
        size_ += more.size();
    }
    void push_back(const T& one) { append({&one, 1}); }
    void erase(std::size_t first, std::size_t count) {
        std::memmove(data() + first, data() + first + count, (size_ - first - count) * sizeof(T));
        size_ -= count;
        if (!many_.empty()) many_.resize(size_);
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] T* data() noexcept { return many_.empty() ? few_.data() : many_.data(); }
    [[nodiscard]] const T* data() const noexcept { return many_.empty() ? few_.data() : many_.data(); }
    [[nodiscard]] T& operator[](std::size_t index) noexcept { return data()[index]; }
    [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return data()[index]; }
    [[nodiscard]] T* begin() noexcept { return data(); }
    [[nodiscard]] T* end() noexcept { return data() + size_; }
    [[nodiscard]] const T* begin() const noexcept { return data(); }
    [[nodiscard]] const T* end() const noexcept { return data() + size_; }

private:
    void take_few(const InlineVector& other) noexcept {
        if (many_.empty() && size_) std::memcpy(few_.data(), other.few_.data(), size_ * sizeof(T));
    }

    std::size_t size_ = 0;
    std::array<T, Few> few_;  ///< all of it, while `many_` is empty
    std::vector<T> many_{};
};

}  // namespace ipoib::build
