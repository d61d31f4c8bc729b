// SPDX-License-Identifier: GPL-2.0-or-later
// The kinds of fabrics that a command line can name: each is one object in a file of fabrics/, which holds all that the
// programs know of it.
#pragma once

#include "fabric/impact.hpp"
#include "fabric/port.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ipoib::conformance {

/// Whose a fabric is, and with that who else may be on it.
enum class Owner : std::uint8_t {
    us,        ///< the simulated one of this process, and gone with it: only --listen lets others in
    program,   ///< of another process, which gives us raw ports: made for tests, as ours is
    somebody,  ///< a real one, which ports of this host are part of: others work there, and run the same programs
};

/// What a fabric is named for.
enum class FabricUse : std::uint8_t {
    run,      ///< --fabric of run, list and profile
    traffic,  ///< --out and --from of ipoib-gen
    audit,    ///< --fabric of audit
};

/// Words that name a fabric of some kind for some use, as the help shows them.
struct FabricForm {
    FabricUse use;
    std::string_view syntax;      ///< "socket:PATH[,PATH]": what the user puts in begins with a capital letter
    std::string_view what;        ///< "raw ports of a fabric that listens there"
    bool has_usual_port = false;  ///< the scheme alone, without a colon, is of this form, too

    /// Whether the text is of this form, as far as that is fixed: "socket:" and anything.
    [[nodiscard]] bool takes(std::string_view text) const noexcept;
};

/// What is said of a fabric that is to be opened. Each kind takes what it knows.
struct Opening {
    std::string_view fabric;                ///< as it is named: "verbs:mlx5_0/1"
    std::string_view option = "--fabric";   ///< that names it, for messages
    std::string_view scenario = "default";  ///< how the link is to be set up
    std::string_view control{};             ///< a command that changes the fabric; empty: none
    std::string_view listen{};              ///< raw ports for nodes of other processes; empty: none
    std::uint64_t seed = 1;
    std::optional<unsigned> hosts{};  ///< our interfaces; none: as many as is usual there
    double timeout_scale = 1;
    bool is_again = false;  ///< it was there and was lost: it may take a while to come again

    /// What follows the colon.
    [[nodiscard]] std::string_view words() const noexcept;
    /// "--fabric verbs:", with which a message on what follows the colon begins.
    [[nodiscard]] std::string named() const;
    /// So many times the usual one.
    [[nodiscard]] fabric::Duration patience(fabric::Duration usual) const noexcept;
};

struct OpenedFabric {
    std::unique_ptr<fabric::Fabric> fabric;
    std::uint16_t p_key = 0;  ///< of the link, where the words name one; 0: the first full one of the port
};

/// A kind of fabric, with all that the programs know of it. Its functions throw std::invalid_argument for what cannot
/// be (a usage error), which a kind is whose library was missing when the program was built, and std::runtime_error for
/// what fails.
struct FabricKind {
    std::string_view scheme;  ///< "verbs": the words before the colon
    Owner owner;
    fabric::Impact usual_impact;  ///< allowed where nothing is said: other nodes of a real fabric are somebody's
    bool carries_data = true;     ///< else only its subnet administrator can be judged

    std::span<const FabricForm> forms;  ///< one or more for each use that it has
    std::string_view hosts{};           ///< for the help: what --hosts counts there; empty: hosts

    /// For a run, and for traffic of as many interfaces as Opening::hosts says. One of ours is opened for traffic
    /// alone: runs and audits make it together with what stands on it (rig.cpp, outlook.cpp).
    OpenedFabric (*open)(const Opening&);
    /// For an audit: nothing but questions to the subnet administrator. Null: one of ours, or there is no audit,
    /// whatever the forms say.
    std::unique_ptr<fabric::Fabric> (*look)(const Opening&) = nullptr;
    /// What can be done there, told without using it. Null: only by opening it.
    fabric::Abilities (*abilities)(const Opening&) = nullptr;

    [[nodiscard]] bool is_ours() const noexcept { return owner == Owner::us; }
    [[nodiscard]] bool is_somebodys() const noexcept { return owner == Owner::somebody; }
    /// Whether the form is one of those that it is opened by for this use. What takes texts, helps and refuses asks
    /// here.
    [[nodiscard]] bool opens(const FabricForm& form, FabricUse use) const noexcept;
    [[nodiscard]] bool has(FabricUse use) const noexcept;
    /// Whether the text names it for this use.
    [[nodiscard]] bool takes(std::string_view text, FabricUse use) const noexcept;
};

/// A list of kinds, and what is asked of all of them.
class FabricKinds {
public:
    explicit constexpr FabricKinds(std::span<const FabricKind* const> all) noexcept : all_(all) {}

    [[nodiscard]] std::span<const FabricKind* const> all() const noexcept { return all_; }
    /// The kind that the text names for this use; null: it names none.
    [[nodiscard]] const FabricKind* find(std::string_view text, FabricUse use) const noexcept;
    /// By the scheme alone, whatever follows it.
    [[nodiscard]] const FabricKind* with_scheme_of(std::string_view text) const noexcept;
    /// What is allowed where nothing is said. Of a text that names no fabric: anything; it is refused as such.
    [[nodiscard]] fabric::Impact usual_impact(std::string_view text) const noexcept;

    /// For the help: "simulated (in this process), socket:PATH[,PATH] (raw ports of a fabric that listens there)".
    [[nodiscard]] std::string help(FabricUse use) const;
    /// For the help of --hosts, where they are something else: "; on verbs: queue pairs".
    [[nodiscard]] std::string help_on_hosts() const;
    /// For the help of --allow: "simulated and socket", where this is the usual impact.
    [[nodiscard]] std::string schemes(FabricUse use, fabric::Impact usual) const;
    /// For messages: "simulated, socket:PATH or verbs:DEVICE".
    [[nodiscard]] std::string forms(FabricUse use) const;

private:
    std::span<const FabricKind* const> all_;
};

/// The kinds of this program, by their schemes.
[[nodiscard]] const FabricKinds& fabric_kinds() noexcept;
/// Where no fabric is named.
inline constexpr std::string_view usual_fabric = "simulated";

}  // namespace ipoib::conformance
