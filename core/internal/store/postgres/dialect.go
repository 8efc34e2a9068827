package postgres

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// dialect puts statements into PostgreSQL's words, each once.
//
// Every parameter is cast to the type of the value that is given for it. Left to guess, PostgreSQL takes the first place where one stands for all of
// them, and an amount that is compared with 0 there is an integer of 32 bits everywhere.
type dialect struct {
	texts sync.Map // statement → text
}

// Words puts a statement into PostgreSQL's words, and its arguments into types that it knows.
func Words(text string, args []any) (string, []any, error) { return new(dialect).put(text, args) }

// statement is a text with the types of its arguments, a letter each.
type statement struct{ text, types string }

// put returns the text in PostgreSQL's words, and the arguments in types that it knows.
func (d *dialect) put(text string, args []any) (string, []any, error) {
	types := make([]byte, len(args))
	values := make([]any, len(args))
	for i, a := range args {
		var err error
		if values[i], types[i], err = value(a); err != nil {
			return "", nil, fmt.Errorf("argument %d: %w", i+1, err)
		}
	}
	key := statement{text, string(types)}
	if known, ok := d.texts.Load(key); ok {
		return known.(string), values, nil
	}
	put := parameters(words(text), key.types)
	d.texts.Store(key, put)
	return put, values, nil
}

// The letters of types.
const (
	typeInt   = 'i'
	typeText  = 't'
	typeBytes = 'b'
	typeNull  = 'n'
)

var casts = map[byte]string{typeInt: "::bigint", typeText: "::text", typeBytes: "::bytea", typeNull: ""}

// value is an argument in one of the types that columns have, and the letter of that.
func value(a any) (any, byte, error) {
	switch v := a.(type) {
	case nil:
		return nil, typeNull, nil
	case int64:
		return v, typeInt, nil
	case string:
		return v, typeText, nil
	case []byte:
		return v, typeBytes, nil
	case int:
		return int64(v), typeInt, nil
	case bool:
		if v {
			return int64(1), typeInt, nil
		}
		return int64(0), typeInt, nil
	}
	switch v := reflect.ValueOf(a); v.Kind() {
	case reflect.String:
		return v.String(), typeText, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int(), typeInt, nil
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return int64(v.Uint()), typeInt, nil //nolint:gosec // at most 32 bits
	default:
		return nil, 0, fmt.Errorf("a %T cannot be stored", a)
	}
}

var (
	hint     = regexp.MustCompile(` INDEXED BY \w+`)
	ordered  = regexp.MustCompile(`CROSS JOIN (\w+) ON`)
	member   = regexp.MustCompile(`(\w+) ->> '\$\.([\w.]+)'`)
	greatest = regexp.MustCompile(`\b(MAX|MIN)\(`)
)

// words says what SQLite says in PostgreSQL's words, but for the parameters.
func words(text string) string {
	text = hint.ReplaceAllString(text, "") // PostgreSQL finds its own way
	text = ordered.ReplaceAllString(text, "JOIN $1 ON")
	text = strings.ReplaceAll(text, "instr(", "strpos(")
	text = member.ReplaceAllStringFunc(text, func(m string) string {
		parts := member.FindStringSubmatch(m)
		return fmt.Sprintf("(%s::jsonb #>> '{%s}')", parts[1], strings.ReplaceAll(parts[2], ".", ","))
	})
	return extremes(text)
}

// extremes tells MAX and MIN of several values, which are functions of SQLite's, from those of a group.
func extremes(text string) string {
	var out strings.Builder
	last := 0
	for _, at := range greatest.FindAllStringIndex(text, -1) {
		if !several(text[at[1]:]) {
			continue
		}
		out.WriteString(text[last:at[0]])
		out.WriteString(map[byte]string{'A': "GREATEST(", 'I': "LEAST("}[text[at[0]+1]])
		last = at[1]
	}
	return out.String() + text[last:]
}

// several reports whether the list that ends at the first closing parenthesis of its own has a comma of its own.
func several(list string) bool {
	depth := 0
	for _, c := range list {
		switch {
		case c == '(':
			depth++
		case c == ')' && depth == 0:
			return false
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			return true
		}
	}
	return false
}

// parameters numbers ?, and gives ? and ?N their types. No text of ours has a question mark in quotes.
func parameters(text, types string) string {
	var out strings.Builder
	next := 0
	for i := 0; i < len(text); i++ {
		if text[i] != '?' {
			out.WriteByte(text[i])
			continue
		}
		end := i + 1
		for end < len(text) && text[end] >= '0' && text[end] <= '9' {
			end++
		}
		n, err := strconv.Atoi(text[i+1 : end])
		if err != nil {
			n = next + 1
		}
		next = max(next, n) // as SQLite counts
		out.WriteString("$" + strconv.Itoa(n))
		if n <= len(types) {
			out.WriteString(casts[types[n-1]])
		}
		i = end - 1
	}
	return out.String()
}
