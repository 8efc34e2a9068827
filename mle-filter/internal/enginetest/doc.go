// Package enginetest holds what the tests of the engine and of both shells share: keys, messages made by hand, and the cases that must come
// out the same whatever carries them. It is for tests only.
package enginetest
