package credentials

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// List is one of the lists of logins that a credentials file has.
type List struct {
	member string // of the file
}

// The lists.
var (
	ListA = List{"provider_a"}
	ListB = List{"provider_b"}
)

// Login is what can be written into a list: an Entry, or an EntryB.
type Login interface {
	list() List
	key() string
	yaml() (string, error)
}

// The faults of an edit.
var (
	ErrExists   = errors.New("credentials: the file has a login of that name")
	ErrNoLogin  = errors.New("credentials: the file has no login of that name")
	errOneLine  = errors.New("is written on one line; give each login a line of its own that begins with \"- \"")
	errOneKey   = errors.New("credentials: name one of an environment variable and a file for each secret")
	errNotAList = errors.New("is not a list")
)

// Names are the logins of a list in the file's order.
func Names(path string, l List) ([]string, error) {
	f, err := load(path)
	return l.names(f), err
}

func (l List) names(f file) []string {
	var names []string
	if l == ListB {
		for _, e := range f.ProviderB {
			names = append(names, e.MerchantID)
		}
		return names
	}
	for _, e := range f.ProviderA {
		names = append(names, e.Name)
	}
	return names
}

func (l List) namesIn(path string, text []byte) ([]string, error) {
	f, err := decode(path, text)
	return l.names(f), err
}

// Add writes a login into the file, which is made if there is none; what else is in it stays, comments included. ErrExists when the file has
// the name, unless replace is set: then that entry is left out.
func Add(path string, e Login, replace bool) error {
	entry, err := e.yaml()
	if err != nil {
		return err
	}
	l, name := e.list(), e.key()
	return l.edit(path, func(text []byte) ([]byte, error) {
		names, err := l.namesIn(path, text)
		if err != nil {
			return nil, err
		}
		if slices.Contains(names, name) {
			if !replace {
				return nil, ErrExists
			}
			if text, err = l.without(text, name); err != nil {
				return nil, err
			}
		}
		return l.with(text, entry)
	}, func(names []string) bool { return slices.Contains(names, name) })
}

// Remove takes a login out of the file. ErrNoLogin when it has none of that name.
func Remove(path string, l List, name string) error {
	return l.edit(path, func(text []byte) ([]byte, error) {
		names, err := l.namesIn(path, text)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(names, name) {
			return nil, ErrNoLogin
		}
		return l.without(text, name)
	}, func(names []string) bool { return !slices.Contains(names, name) })
}

// place says where a secret stands, which is in one of two places.
func place(env, file string) (map[string]string, error) {
	switch {
	case (env == "") == (file == ""):
		return nil, errOneKey
	case file != "":
		return map[string]string{"file": file}, nil
	}
	return map[string]string{"env": env}, nil
}

// itemText is an item of a list.
func itemText(item yaml.MapSlice) (string, error) {
	out, err := yaml.Marshal([]yaml.MapSlice{item})
	if err != nil {
		return "", fmt.Errorf("credentials: write entry: %w", err)
	}
	return string(out), nil
}

// none is a list that has no login, with its comment. The brackets are on a line of their own where its only login was taken out.
func (l List) none() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^` + l.member + `:(?:[ \t]*\n?[ \t]+\[[ \t]*\])?([ \t]*(?:#.*)?)$`)
}

// Check reads a credentials file as the proxy would, its secrets included.
func Check(path string) error {
	_, err := read(path)
	return err
}

// with is the text with an item at the end of the list.
func (l List) with(text []byte, item string) ([]byte, error) {
	list, file, err := l.parse(text)
	switch {
	case err != nil:
		return nil, err
	case list == nil || len(list.Values) == 0:
		at := l.none().FindSubmatchIndex(text)
		if at == nil {
			return append(bytes.TrimRight(text, "\n"), "\n"+l.member+":\n"+indent(item)...), nil
		}
		return slices.Concat(text[:at[0]], []byte(l.member+":"), text[at[2]:at[3]], []byte("\n"+indent(item)), bytes.TrimPrefix(text[at[1]:], []byte("\n"))), nil
	case list.IsFlowStyle:
		return nil, fmt.Errorf("credentials: %s %w", l.member, errOneLine)
	}
	at, err := yaml.PathString("$." + l.member)
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	if err := at.MergeFromReader(file, strings.NewReader(item)); err != nil {
		return nil, fmt.Errorf("credentials: add entry: %w", err)
	}
	return []byte(file.String()), nil
}

// without is the text without the item of that name.
func (l List) without(text []byte, name string) ([]byte, error) {
	list, file, err := l.parse(text)
	switch {
	case err != nil:
		return nil, err
	case list == nil:
		return nil, ErrNoLogin
	}
	for i, v := range list.Values {
		var item struct {
			A string `yaml:"name"`
			B string `yaml:"merchant_id"`
		}
		if err := yaml.NodeToValue(v, &item); err != nil || cmp.Or(item.A, item.B) != name {
			continue
		}
		list.Values = slices.Delete(list.Values, i, i+1)
		if i < len(list.ValueHeadComments) {
			list.ValueHeadComments = slices.Delete(list.ValueHeadComments, i, i+1)
		}
		if i < len(list.Entries) {
			list.Entries = slices.Delete(list.Entries, i, i+1)
		}
		list.IsFlowStyle = list.IsFlowStyle || len(list.Values) == 0
		return []byte(file.String()), nil
	}
	return nil, ErrNoLogin
}

// parse finds the list of logins in a text; nil when it has none.
func (l List) parse(text []byte) (*ast.SequenceNode, *ast.File, error) {
	file, err := parser.ParseBytes(text, parser.ParseComments)
	if err != nil {
		return nil, nil, errors.New("credentials: not valid yaml") // the library's words quote the file
	}
	at, err := yaml.PathString("$." + l.member)
	if err != nil {
		return nil, nil, fmt.Errorf("credentials: %w", err)
	}
	node, err := at.FilterFile(file)
	if err != nil {
		return nil, file, nil //nolint:nilerr // no such key
	}
	if node.Type() == ast.NullType {
		return nil, file, nil
	}
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		return nil, nil, fmt.Errorf("credentials: %s %w", l.member, errNotAList)
	}
	return list, file, nil
}

func indent(item string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(item), "\n", "\n  ") + "\n"
}

// edit changes a file whole or not at all. What it writes must be what the proxy can read, else the file stays as it was.
func (l List) edit(path string, change func([]byte) ([]byte, error), done func(names []string) bool) error {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("credentials: %w", err)
	}
	text, err = change(text)
	if err != nil {
		return err
	}
	if names, err := l.namesIn(path, text); err != nil || !done(names) {
		return errors.Join(errors.New("credentials: this file cannot be edited by program, it was left as it is"), err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".credentials-*") // mode 0600
	if err != nil {
		return fmt.Errorf("credentials: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // the rename has taken it away already
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("credentials: %w", err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("credentials: %w", err)
	}
	return nil
}
