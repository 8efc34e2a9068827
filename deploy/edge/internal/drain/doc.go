// Package drain has an Envoy that is about to be stopped finish what it has: by itself it ends at once, whatever is under way.
package drain
