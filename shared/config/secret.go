package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/goccy/go-yaml/ast"

	"github.com/causeway-pay/causeway/shared/secret"
)

// maxSecret bounds a file that holds one secret, in bytes.
const maxSecret = 64 << 10

// Secret is a configuration value that must not be shown. In YAML it is a plain string, {env: NAME}
// or {file: PATH}; a relative PATH is relative to the working directory of the process. It cannot
// print, and the zero value is "not set".
type Secret struct {
	literal secret.String
	env     string
	file    string
}

// Literal returns a Secret that resolves to s.
func Literal(s secret.String) Secret { return Secret{literal: s} }

// IsZero reports whether nothing was configured.
func (s Secret) IsZero() bool { return s.literal.IsZero() && s.env == "" && s.file == "" }

// Source returns the variable or the file of the secret, such as "file /run/key". It returns "" for
// a literal.
func (s Secret) Source() string {
	switch {
	case s.env != "":
		return "variable " + s.env
	case s.file != "":
		return "file " + s.file
	}
	return ""
}

// File returns the path of the secret's file, "" if it is in none.
func (s Secret) File() string { return s.file }

// Resolve returns the value of the variable, or the content of the file without one trailing
// newline. It returns the zero secret if the Secret is not set. An error names the variable or the
// file if it is missing, empty, blank or too large. For a missing file, errors.Is(err,
// fs.ErrNotExist) holds.
func (s Secret) Resolve() (secret.String, error) {
	switch {
	case s.env != "":
		v := secret.New(os.Getenv(s.env))
		if v.IsZero() {
			return secret.String{}, fmt.Errorf("secret: environment variable %s %w", s.env, ErrUnset)
		}
		return v, nil
	case s.file != "":
		return fromFile(s.file)
	}
	return s.literal, nil
}

func fromFile(path string) (secret.String, error) {
	b, err := readAtMost(path, maxSecret)
	if err != nil {
		return secret.String{}, fmt.Errorf("secret: %w", err)
	}
	b = bytes.TrimSuffix(b, []byte("\n"))
	b = bytes.TrimSuffix(b, []byte("\r"))
	if len(bytes.TrimSpace(b)) == 0 {
		return secret.String{}, fmt.Errorf("secret: file %s is empty", path)
	}
	return secret.New(string(b)), nil
}

// String returns "[redacted]", as every other way to print a Secret does.
func (s Secret) String() string { return s.literal.String() }

// GoString returns "[redacted]".
func (s Secret) GoString() string { return s.literal.String() }

// Format writes "[redacted]" for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.literal.String()) }

// LogValue returns "[redacted]".
func (s Secret) LogValue() slog.Value { return s.literal.LogValue() }

// MarshalJSON returns "[redacted]" as a JSON string.
func (s Secret) MarshalJSON() ([]byte, error) { return s.literal.MarshalJSON() }

// MarshalText returns "[redacted]". The YAML encoder uses it too.
func (s Secret) MarshalText() ([]byte, error) { return s.literal.MarshalText() }

// ErrUnset is wrapped by the error of Resolve for a variable without a value.
var ErrUnset = errors.New("is not set")

var (
	errSecretForm  = errors.New("want a secret as a quoted string, {env: NAME} or {file: PATH}")
	errSecretEmpty = errors.New("want the name of a variable or file for the secret, not an empty text")
)

// secretError is a fault in the YAML of a Secret, with its line.
type secretError struct {
	line int
	err  error
}

func (e *secretError) Error() string { return e.err.Error() }
func (e *secretError) Unwrap() error { return e.err }

// UnmarshalYAML reads one of the three forms. A bare number is refused, because YAML would lose its
// leading zeros.
func (s *Secret) UnmarshalYAML(node ast.Node) error {
	parsed, err := parseSecret(node)
	if err != nil {
		line := 0
		if t := node.GetToken(); t != nil && t.Position != nil {
			line = t.Position.Line
		}
		return &secretError{line: line, err: err}
	}
	*s = parsed
	return nil
}

func parseSecret(node ast.Node) (Secret, error) {
	switch n := node.(type) {
	case *ast.NullNode:
		return Secret{}, nil
	case *ast.MappingNode:
		if len(n.Values) == 1 {
			return parseReference(n.Values[0])
		}
	case *ast.MappingValueNode:
		return parseReference(n)
	default:
		if text, ok := scalar(node); ok {
			return Secret{literal: secret.New(text)}, nil
		}
	}
	return Secret{}, errSecretForm
}

func parseReference(pair *ast.MappingValueNode) (Secret, error) {
	key, keyOK := scalar(pair.Key)
	name, nameOK := scalar(pair.Value)
	switch {
	case !keyOK || !nameOK || (key != "env" && key != "file"):
		return Secret{}, errSecretForm
	case name == "":
		return Secret{}, errSecretEmpty
	case key == "env":
		return Secret{env: name}, nil
	}
	return Secret{file: name}, nil
}

func scalar(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	}
	return "", false
}
