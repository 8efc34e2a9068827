// Package config reads configuration files: YAML in which an unknown or repeated key is an error, and in which a secret is
// named (by an environment variable or a file) rather than written. No error repeats a value of the file.
package config
