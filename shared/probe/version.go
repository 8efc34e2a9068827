package probe

import "runtime/debug"

// stamped is the release that the build sets: -ldflags "-X
// github.com/causeway-pay/causeway/shared/probe.stamped=v1.2.3".
var stamped string

// Version returns the release that this program is of, and the commit it was built from where that
// is known.
func Version() string {
	version, revision, changed := stamped, "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				changed = " with changes"
			}
		}
	}
	if version == "" {
		version = "unreleased"
	}
	if revision == "" {
		return version
	}
	return version + " (" + revision + changed + ")"
}
