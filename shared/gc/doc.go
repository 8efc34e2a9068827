// Package gc says how often a server of ours collects garbage.
package gc
