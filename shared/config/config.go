package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxSize bounds a configuration file, in bytes. A larger one is some other file, given by mistake.
const maxSize = 1 << 20

// Load reads the YAML file at path into a pointer to a struct. Fields the file does not name keep
// their value, so defaults are set before. For a missing file, errors.Is(err, fs.ErrNotExist)
// holds. For other errors see Decode.
func Load(path string, into any) error {
	data, err := readAtMost(path, maxSize)
	if err != nil {
		return fmt.Errorf("load config: %w", err)
	}
	return Decode(path, data, into)
}

// Decode is Load for bytes; name stands for the file in errors. An error names the file, the line
// and, if a key or the type of its value is at fault, the key. It repeats no value and no line of
// the file. An empty document is valid. A second document is not.
func Decode(name string, data []byte, into any) (err error) {
	defer func() {
		if recover() != nil { // the library panics for some invalid texts
			err = fmt.Errorf("%s: not valid YAML", name)
		}
	}()
	return decode(name, data, into)
}

func decode(name string, data []byte, into any) error {
	if len(data) > maxSize {
		return fmt.Errorf("%s: larger than %d bytes", name, maxSize)
	}
	file, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return explain(name, err)
	}
	if isEmpty(file) { // the decoder would overwrite the defaults with zero values
		return nil
	}
	if err := refuseRepeated(name, file); err != nil {
		return err
	}
	if err := refuseScalars(name, file, into); err != nil {
		return err
	}
	dec := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict())
	if err := dec.Decode(into); err != nil && !errors.Is(err, io.EOF) {
		return explain(name, err)
	}
	var second any
	switch err := dec.Decode(&second); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return explain(name, err)
	}
	return fmt.Errorf("%s: more than one YAML document: want one", name)
}

// isEmpty reports whether the text has nothing to decode.
func isEmpty(file *ast.File) bool {
	for _, doc := range file.Docs {
		switch doc.Body.(type) {
		case nil, *ast.NullNode, *ast.CommentGroupNode:
		default:
			return false
		}
	}
	return len(file.Docs) <= 1
}

// readAtMost reads a file of at most limit bytes. os errors name the path already.
func readAtMost(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s: larger than %d bytes", path, limit)
	}
	return data, nil
}

// explain puts the library's error into one line. It drops the original error, whose text quotes
// the lines around the fault, which may contain secrets.
func explain(name string, err error) error {
	var ours *secretError
	if errors.As(err, &ours) {
		return fmt.Errorf("%s:%d: %w", name, ours.line, ours)
	}
	var theirs yaml.Error
	if !errors.As(err, &theirs) {
		return fmt.Errorf("%s: does not fit the configuration", name)
	}
	message := describe(theirs)
	if t := theirs.GetToken(); t != nil && t.Position != nil {
		return fmt.Errorf("%s:%d: %s", name, t.Position.Line, message)
	}
	return fmt.Errorf("%s: %s", name, message)
}

// describe states the fault without the values in question.
func describe(err yaml.Error) string {
	var (
		mismatch *yaml.TypeError
		overflow *yaml.OverflowError
		unknown  *yaml.UnknownFieldError
		shape    *yaml.UnexpectedNodeTypeError
	)
	switch {
	case errors.As(err, &unknown):
		return fmt.Sprintf("unknown key %q", keyText(err.GetToken()))
	case errors.As(err, &shape):
		return ofKey(err, fmt.Sprintf("want a %s, not a %s", shape.Expected.YAMLName(), shape.Actual.YAMLName()))
	case errors.As(err, &overflow):
		return ofKey(err, "the number is out of range")
	case errors.As(err, &mismatch):
		return ofKey(err, fmt.Sprintf("want %s, not %s", form(mismatch.DstType), form(mismatch.SrcType)))
	}
	// The library puts values between double quotes, and only single characters otherwise.
	if reason := err.GetMessage(); reason != "" && !strings.Contains(reason, `"`) {
		return "not valid YAML: " + strings.ReplaceAll(reason, "\t", `\t`)
	}
	return "not valid YAML"
}

// form describes the form of the values of a type.
func form(t reflect.Type) string {
	if isWhole(t) {
		return "a whole number"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.String:
		return "a text"
	case reflect.Slice, reflect.Array:
		return "a sequence"
	default:
		return "a mapping"
	}
}

// ofKey puts the key of the value in question before a message. In a text that is not valid YAML, a
// part of a value can look like a key.
func ofKey(err yaml.Error, message string) string {
	if key := keyOf(err.GetToken()); key != "" {
		return key + ": " + message
	}
	return message
}

// keyOf returns the key of a value, or "" for any other token.
func keyOf(t *token.Token) string {
	if t == nil || t.Prev == nil || t.Prev.Type != token.MappingValueType || t.Type == token.MappingValueType {
		return ""
	}
	return keyText(t.Prev.Prev)
}

func keyText(t *token.Token) string {
	if t == nil {
		return ""
	}
	return strings.TrimSpace(t.Value)
}
