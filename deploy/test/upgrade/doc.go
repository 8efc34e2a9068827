// Package upgrade has only tests. They replace every program of a fleet behind a real Envoy by a
// newer one with a newer schema, and then go back. Meanwhile clients pay through every endpoint. No
// request may fail.
package upgrade
