// SPDX-License-Identifier: GPL-2.0-or-later
// Values by number that stay where they are.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <iterator>
#include <memory>
#include <vector>

namespace ipoib::state {

/// Grows at its end and never moves a value, as a std::deque does; a value is one shift and two loads away, which every
/// packet needs several times. Small ones stand together in boards of a page.
template <class Value>
class Shelf {
public:
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] Value& operator[](std::size_t number) noexcept {
        return boards_[number / on_board][number % on_board];
    }
    [[nodiscard]] const Value& operator[](std::size_t number) const noexcept {
        return boards_[number / on_board][number % on_board];
    }
    [[nodiscard]] const Value& front() const noexcept { return (*this)[0]; }
    [[nodiscard]] const Value& back() const noexcept { return (*this)[size_ - 1]; }

    /// A new value at the end.
    Value& add() {
        if (size_ == boards_.size() * on_board) boards_.push_back(std::make_unique<Value[]>(on_board));
        return (*this)[size_++];
    }

    template <class Of, class At>
    class Iterator {
    public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = Value;
        using difference_type = std::ptrdiff_t;
        using pointer = At*;
        using reference = At&;

        Iterator() = default;
        Iterator(Of& shelf, std::size_t number) : shelf_(&shelf), number_(number) {}
        At& operator*() const { return (*shelf_)[number_]; }
        At* operator->() const { return &(*shelf_)[number_]; }
        Iterator& operator++() {
            ++number_;
            return *this;
        }
        Iterator operator++(int) {
            auto before = *this;
            ++number_;
            return before;
        }
        friend bool operator==(const Iterator& a, const Iterator& b) { return a.number_ == b.number_; }

    private:
        Of* shelf_ = nullptr;
        std::size_t number_ = 0;
    };
    [[nodiscard]] auto begin() noexcept { return Iterator<Shelf, Value>{*this, 0}; }
    [[nodiscard]] auto end() noexcept { return Iterator<Shelf, Value>{*this, size_}; }
    [[nodiscard]] auto begin() const noexcept { return Iterator<const Shelf, const Value>{*this, 0}; }
    [[nodiscard]] auto end() const noexcept { return Iterator<const Shelf, const Value>{*this, size_}; }

private:
    static constexpr std::size_t page = 4096;
    static constexpr std::size_t on_board = std::bit_floor(std::max<std::size_t>(1, page / sizeof(Value)));

    std::vector<std::unique_ptr<Value[]>> boards_;
    std::size_t size_ = 0;
};

}  // namespace ipoib::state
