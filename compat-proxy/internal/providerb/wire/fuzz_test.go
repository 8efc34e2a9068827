package wire_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providerb/wire"
)

// FuzzParse requires that every body is read, or refused with a FieldError. Its field must consist
// of names only. An accepted body must give the same result with keys in capitals.
func FuzzParse(f *testing.F) {
	requests, err := filepath.Glob("../testdata/*/request.json")
	if err != nil || len(requests) == 0 {
		f.Fatalf("got %d requests, error %v", len(requests), err)
	}
	for _, path := range requests {
		body, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		read, err := wire.Parse(body)
		var field *wire.FieldError
		if err != nil && (!errors.As(err, &field) || len(field.Field) > 256) {
			t.Fatalf("got error %#v", err)
		}
		if err != nil || len(body) == 0 {
			return
		}
		again, err := wire.Parse(capitals(t, body))
		if err != nil {
			return // two unknown keys became one
		}
		if !reflect.DeepEqual(read, again) {
			t.Errorf("in capitals it reads %+v, else %+v", again, read)
		}
	})
}

// capitals returns a document with its keys in capital letters.
func capitals(t *testing.T, body []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	dec := jsontext.NewDecoder(bytes.NewReader(body))
	enc := jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true))
	for {
		kind, n := dec.StackIndex(dec.StackDepth())
		token, err := dec.ReadToken()
		if errors.Is(err, io.EOF) {
			return out.Bytes()
		}
		if err != nil {
			t.Fatal(err)
		}
		if kind == jsontext.KindBeginObject && n%2 == 0 && token.Kind() == jsontext.KindString {
			token = jsontext.String(strings.Map(capital, token.String()))
		}
		if err := enc.WriteToken(token); err != nil {
			t.Fatal(err)
		}
	}
}

// capital changes only ASCII letters, because no key of the dialect has others.
func capital(r rune) rune {
	if r >= 'a' && r <= 'z' {
		return r - 'a' + 'A'
	}
	return r
}
