package jsonscan_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/shared/jsonscan"
)

// TestMember: the position of each token, with the names in angle brackets.
func TestMember(t *testing.T) {
	t.Parallel()
	const text = `{"a":1,"b":{"c\u0061":["x",{"d":{}}],"e":"y"},"f":[[2]]}`
	want := []string{
		`{ 1//`, `<a> 1//a`, `1 1//a`, `<b> 1//b`, `{ 2/b/`, `<ca> 2/b/ca`, `[ 3/ca/`, `x 3/ca/`, `{ 4//`,
		`<d> 4//d`, `{ 5/d/`, `} 4//d`, `} 3/ca/`, `] 2/b/ca`, `<e> 2/b/e`, `y 2/b/e`, `} 1//b`,
		`<f> 1//f`, `[ 2/f/`, `[ 3//`, `2 3//`, `] 2/f/`, `] 1//f`, `} 0//`,
	}
	s := jsonscan.New([]byte(text))
	var got []string
	for {
		token, err := s.ReadToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		shown := token.String()
		if s.IsName() {
			shown = "<" + shown + ">"
		}
		m := s.Member()
		got = append(got, fmt.Sprintf("%s %d/%s/%s", shown, m.Depth, m.Parent, m.Name))
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

// TestSkipValue: the value of a name can be left out, and the position stays right.
func TestSkipValue(t *testing.T) {
	t.Parallel()
	s := jsonscan.New([]byte(`{"a":{"b":[1]},"c":2}`))
	var names []string
	for token, err := s.ReadToken(); err == nil; token, err = s.ReadToken() {
		if !s.IsName() {
			continue
		}
		names = append(names, fmt.Sprint(token.String(), s.Member()))
		if err := s.SkipValue(); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := strings.Join(names, " "), "a{1  a} c{1  c}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestReadTokenErrors(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{`, `{"a"`, `{"a":1,"a":2}`, `]`, `{"a":1}}`, `{]`, `["x`} {
		s := jsonscan.New([]byte(text))
		err := error(nil)
		for err == nil {
			_, err = s.ReadToken()
		}
		var syntactic *jsontext.SyntacticError
		if !errors.As(err, &syntactic) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: got %v, want a syntactic error", text, err)
		}
	}
}

func TestTooDeep(t *testing.T) {
	t.Parallel()
	nested := func(n int) string { return strings.Repeat(`[{"a":`, n/2) + "1" + strings.Repeat("}]", n/2) }
	for text, want := range map[string]bool{
		"": false, nested(jsonscan.MaxDepth): false, nested(jsonscan.MaxDepth + 2): true,
		strings.Repeat("[", jsonscan.MaxDepth+1):                    true,
		`"` + strings.Repeat("[", 100) + `"`:                        false,
		`"\"` + strings.Repeat("[", 100) + `"`:                      false,
		`"\\"` + strings.Repeat("[", 100):                           true,
		"[" + strings.Repeat("[],", 100) + "[]]":                    false,
		strings.Repeat("]", 100) + strings.Repeat("[", 32) + `"[["`: false,
	} {
		if got := jsonscan.TooDeep([]byte(text)); got != want {
			t.Errorf("%.40s (%d bytes): got %t, want %t", text, len(text), got, want)
		}
	}
}

// TestTooMany: all values count, of members and of lists. Signs inside strings are no values.
func TestTooMany(t *testing.T) {
	t.Parallel()
	const most = jsonscan.MaxValues
	for text, want := range map[string]bool{
		"": false, `{}`: false,
		"[0" + strings.Repeat(",0", most-1) + "]":                                                                   false,
		"[0" + strings.Repeat(",0", most) + "]":                                                                     true,
		"[{}" + strings.Repeat(",{}", most/2) + "]":                                                                 true,
		`{"a":0` + strings.Repeat(`,"b":0`, most) + "}":                                                             true,
		`["` + strings.Repeat(",", most) + `"]`:                                                                     false,
		`["\"` + strings.Repeat(",{[", most) + `"]`:                                                                 false,
		strings.Repeat("[", most) + "[" + strings.Repeat("]", most) + "]":                                           true,
		`{"line_items":[` + strings.Repeat(`{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9},`, 999) + `0]}`: false,
	} {
		if got := jsonscan.TooMany([]byte(text)); got != want {
			t.Errorf("%.40s (%d bytes): got %t, want %t", text, len(text), got, want)
		}
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"[0]":                                    false,
		strings.Repeat("[", jsonscan.MaxDepth+1): true,
		"[0" + strings.Repeat(",0", jsonscan.MaxValues):  true,
		strings.Repeat(`[`, jsonscan.MaxDepth) + `0,0,0`: false,
	} {
		if got := jsonscan.TooLarge([]byte(text)); got != want {
			t.Errorf("%.40s (%d bytes): got %t, want %t", text, len(text), got, want)
		}
	}
}
