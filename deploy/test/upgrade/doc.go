// Package upgrade has no code: its tests replace every program of a fleet behind a real Envoy by a newer one, whose schema is newer too, while
// clients pay by every door, and want no request to fail.
package upgrade
