// Package config is the shape of configs/edge.yaml, and refuses what can never work, with the line of the file or the key that is at fault.
package config
