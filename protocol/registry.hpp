// SPDX-License-Identifier: GPL-2.0-or-later
// How a case or mutant is known by being defined: one new file adds one, nothing else names it.
#pragma once

#include <vector>

namespace ipoib {

/// A member of an aggregate T that enters the object into the list of all T. It costs a T its copies.
template <class T>
class Registered {
public:
    /// Null: the object stays out of the list.
    explicit Registered(const T* object) {
        if (object) list().push_back(object);
    }
    Registered(const Registered&) = delete;
    Registered& operator=(const Registered&) = delete;

    /// All objects, in no particular order.
    static std::vector<const T*>& list() {
        static std::vector<const T*> objects;
        return objects;
    }
};

}  // namespace ipoib
