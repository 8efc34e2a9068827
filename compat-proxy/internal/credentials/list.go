package credentials

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/goccy/go-yaml"

	"github.com/causeway-pay/causeway/shared/config"
	"github.com/causeway-pay/causeway/shared/durable"
)

// List is one of the two lists of logins.
type List struct {
	member, prefix string // the key of the list in a file, and the prefix of the login files
}

// The lists.
var (
	ListA = List{"provider_a", "provider-a-"}
	ListB = List{"provider_b", "provider-b-"}
)

// Login is an Entry or an EntryB.
type Login interface {
	list() List
	key() string
	yaml() ([]byte, error)
}

// The errors of a change.
var (
	ErrExists      = errors.New("credentials: a login of that name exists; --replace replaces it")
	ErrNoLogin     = errors.New("credentials: no login of that name exists")
	ErrHandWritten = errors.New("credentials: the file of the login has other entries: edit it by hand")
	errOneKey      = errors.New("credentials: give each secret as an environment variable or as a file, not as both")
)

// Named is a login by its name, and the source of its API key.
type Named struct {
	Name   string
	APIKey string // "file PATH" or "variable NAME"; "in FILE" if it is in the file of the login
}

// Names returns the logins of a list. The credentials file at path comes first, in its order, then
// the login files.
func Names(path string, l List) ([]Named, error) {
	s, err := loadAll(path)
	if err != nil {
		return nil, err
	}
	var names []Named
	add := func(name, path string, key config.Secret) {
		names = append(names, Named{name, cmp.Or(key.Source(), "in "+path)})
	}
	if l == ListB {
		for _, e := range s.b {
			add(e.entry.MerchantID, e.path, e.entry.APIKey)
		}
		return names, nil
	}
	for _, e := range s.a {
		add(e.entry.Name, e.path, e.entry.APIKey)
	}
	return names, nil
}

// Check reads the credentials file at path and the login files like the proxy, secrets included.
func Check(path string) error {
	paths, _, err := files(path)
	if err != nil {
		return err
	}
	s, err := load(paths)
	if err != nil {
		return err
	}
	_, faults := s.build(&table{})
	return firstOf(faults)
}

// Add writes a login into a new login file. It creates the credentials file at path and its folder
// if they are missing. It returns ErrExists if a login of that name exists, unless replace is set.
// It returns ErrHandWritten if the login to replace shares its file. It writes no login that a
// proxy on this machine could not use, except for a variable without a value here or an unreadable
// file.
func Add(path string, e Login, replace bool) error {
	text, err := e.yaml()
	if err != nil {
		return err
	}
	err = findOwn(path, e.list(), e.key())
	found := err == nil || errors.Is(err, ErrHandWritten)
	missing := errors.Is(err, ErrNoLogin) || errors.Is(err, fs.ErrNotExist)
	switch {
	case found && !replace:
		return ErrExists
	case err != nil && !missing:
		return err
	}
	own, write := e.list().File(path, e.key()), durable.WriteFile
	if err := checkNew(path, own, text); err != nil {
		return fmt.Errorf("credentials: nothing was written, because the proxy could not use the login: %w", err)
	}
	mode, err := prepare(path)
	if err != nil {
		return err
	}
	if missing {
		write = durable.CreateFile // of two concurrent commands, one fails
	}
	if err := write(own, text, mode); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w, or another login in %s", ErrExists, own)
	} else if err != nil {
		return fmt.Errorf("credentials: %w", err)
	}
	return nil
}

// checkNew builds the logins of all files with text as the file own. It returns the error of a
// fault in text that is not only one of this machine, such as a variable without a value here.
func checkNew(path, own string, text []byte) error {
	s, err := loadAll(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var f file
	if err := config.Decode(own, text, &f); err != nil {
		return err
	}
	s.a, s.b = withNew(s.a, own, ListA, f.ProviderA), withNew(s.b, own, ListB, f.ProviderB)
	_, faults := s.build(&table{})
	for _, found := range faults {
		here := errors.Is(found.err, config.ErrUnset) || errors.Is(found.err, fs.ErrPermission)
		if found.path == own && !here {
			return found.err
		}
	}
	return nil
}

// withNew replaces the entries of the file own.
func withNew[E any](all []located[E], own string, l List, entries []E) []located[E] {
	all = slices.DeleteFunc(all, func(e located[E]) bool { return e.path == own })
	for _, e := range entries {
		all = append(all, located[E]{own, l.member, e})
	}
	return all
}

// Remove removes the file of a login, also if other files are broken. It returns ErrNoLogin if no
// login of that name exists. It returns ErrHandWritten if the file has other entries, or another
// file has the login, too.
func Remove(path string, l List, name string) error {
	own := l.File(path, name)
	s, err := load([]string{own})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return cmp.Or(findOwn(path, l, name), ErrNoLogin)
	case err != nil:
		return fmt.Errorf("%w (nothing was revoked: remove this file by hand)", err)
	}
	if err := s.own(own, l, name); err != nil {
		return err
	}
	if err := durable.Remove(own); err != nil {
		return fmt.Errorf("credentials: %w", err)
	}
	if err := findOwn(path, l, name); errors.Is(err, ErrHandWritten) {
		return err
	}
	return nil
}

// File returns the path of the login file for a name.
func (l List) File(path, name string) string {
	return filepath.Join(folder(path), l.prefix+url.PathEscape(name)+".yaml")
}

// findOwn returns nil if the login has a login file, and ErrNoLogin if no login of that name
// exists. It returns ErrHandWritten if the login is in the credentials file, or its file has other
// entries.
func findOwn(path string, l List, name string) error {
	s, err := loadAll(path)
	if err != nil {
		return err
	}
	return s.own(l.File(path, name), l, name)
}

// own is findOwn in files that were read.
func (s set) own(own string, l List, name string) error {
	for _, e := range s.logins(l) {
		switch {
		case e.entry != name:
		case e.path == own && countIn(s.a, own)+countIn(s.b, own)+countIn(s.encryption, own) == 1:
			return nil
		default:
			return fmt.Errorf("%w: %s", ErrHandWritten, e.path)
		}
	}
	return ErrNoLogin
}

// countIn returns the number of entries in the file at path.
func countIn[E any](entries []located[E], path string) int {
	n := 0
	for _, e := range entries {
		if e.path == path {
			n++
		}
	}
	return n
}

// logins returns the names of the logins of a list, with their files.
func (s set) logins(l List) []located[string] {
	var names []located[string]
	if l == ListB {
		for _, e := range s.b {
			names = append(names, located[string]{e.path, e.at, e.entry.MerchantID})
		}
		return names
	}
	for _, e := range s.a {
		names = append(names, located[string]{e.path, e.at, e.entry.Name})
	}
	return names
}

// prepare creates the credentials file and its folder if they are missing. It returns the mode of
// the credentials file, which login files get too: the proxy may be another user, and must read
// both.
func prepare(path string) (fs.FileMode, error) {
	f, err := durable.OpenFile(path, os.O_RDONLY, 0o600)
	if err != nil {
		return 0, fmt.Errorf("credentials: %w", err)
	}
	info, err := f.Stat()
	if err := errors.Join(err, f.Close()); err != nil {
		return 0, fmt.Errorf("credentials: %w", err)
	}
	mode := info.Mode().Perm()
	enter := mode | 0o700 | (mode&0o044)>>2
	err = durable.Mkdir(folder(path), 0o700)
	if errors.Is(err, fs.ErrExist) {
		return mode, nil
	}
	if err == nil {
		err = os.Chmod(folder(path), enter) // without the umask
	}
	if err == nil {
		err = durable.SyncFolder(filepath.Dir(path))
	}
	if err != nil {
		return 0, fmt.Errorf("credentials: %w", err)
	}
	return mode, nil
}

// reference returns the YAML value of a secret in an environment variable or a file.
func reference(env, file string) (map[string]string, error) {
	switch {
	case (env == "") == (file == ""):
		return nil, errOneKey
	case file != "":
		return map[string]string{"file": file}, nil
	}
	return map[string]string{"env": env}, nil
}

// fileText returns the text of a file with one entry.
func fileText(l List, entry yaml.MapSlice) ([]byte, error) {
	out, err := yaml.Marshal(yaml.MapSlice{{Key: l.member, Value: []yaml.MapSlice{entry}}})
	if err != nil {
		return nil, fmt.Errorf("credentials: write entry: %w", err)
	}
	return append([]byte("# Written by compat-proxy credentials.\n"), out...), nil
}
