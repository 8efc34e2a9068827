// Package bench measures the ratios of the design's section 6.
package bench
