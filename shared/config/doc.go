// Package config reads configuration files: YAML in which an unknown or repeated key is an error.
// Such a file names a secret, by an environment variable or a file, rather than containing it. No
// error repeats a value of the file.
package config
