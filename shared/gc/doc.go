// Package gc sets how often our servers collect garbage.
package gc
