// Package gc sets how often a server of ours collects garbage.
package gc
