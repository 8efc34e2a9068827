// Package config defines the form of configs/edge.yaml. It rejects settings that can never work,
// and names the line or the key.
package config
