package credentials

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/causeway-pay/causeway/shared/config"
)

// set has the entries of several files.
type set struct {
	a          []located[entryA]
	b          []located[entryB]
	encryption []located[encryptionB]
	unread     map[string]bool // the files that could not be read; their entries are missing
}

// located is an entry with its file and its position, such as "logins.yaml: provider_a[0]".
type located[E any] struct {
	path, at string
	entry    E
}

// folder returns the path of the folder for the login files of the credentials file at path.
func folder(path string) string { return path + ".d" }

// files returns the credentials file at path, then the login files of its folder in the order of
// their names. It also returns a fingerprint that changes if one of them does.
func files(path string) (paths []string, state string, err error) {
	entries, err := os.ReadDir(folder(path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, "", fmt.Errorf("credentials: %w", err)
	}
	candidates := []string{path}
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".yaml") && !strings.HasPrefix(name, ".") {
			candidates = append(candidates, filepath.Join(folder(path), name))
		}
	}
	var all strings.Builder
	for i, p := range candidates {
		info, err := os.Stat(p)
		if i > 0 && errors.Is(err, fs.ErrNotExist) {
			continue // revoked since the folder was read
		}
		paths = append(paths, p)
		if err != nil {
			fmt.Fprintf(&all, "%q\n", p) // load returns the error
			continue
		}
		all.WriteString(version(p, info))
	}
	return paths, all.String(), nil
}

// version returns a line that changes if the file does.
func version(path string, info fs.FileInfo) string {
	return fmt.Sprintf("%q %d %d\n", path, info.ModTime().UnixNano(), info.Size())
}

// versions returns a text that changes if one of the files does. A file may be missing.
func versions(paths []string) string {
	var all strings.Builder
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil {
			all.WriteString(version(p, info))
		}
	}
	return all.String()
}

// named returns the files that hold the secrets and certificates of the entries.
func (s set) named() []string {
	var from []config.Secret
	for _, e := range s.a {
		from = append(from, e.entry.TransactionKey, e.entry.APIKey, e.entry.SignatureKey)
	}
	for _, e := range s.b {
		from = append(append(from, e.entry.APIKey), e.entry.Certificates...)
		for _, k := range e.entry.Keys {
			from = append(from, k.SharedSecret)
		}
		for _, r := range e.entry.ResponseKeys {
			from = append(from, r.Certificate)
		}
	}
	for _, e := range s.encryption {
		from = append(from, e.entry.Key, e.entry.Certificate)
	}
	var paths []string
	for _, f := range from {
		if p := f.File(); p != "" {
			paths = append(paths, p)
		}
	}
	return paths
}

// load reads the files at paths, unchecked. The first one must exist. With an error, which is of
// the first file that could not be read, the set has the entries of the others.
func load(paths []string) (s set, first error) {
	s.unread = map[string]bool{}
	for i, path := range paths {
		var f file
		err := config.Load(path, &f)
		if i > 0 && errors.Is(err, fs.ErrNotExist) {
			continue // revoked since files found it
		}
		if err != nil {
			s.unread[path] = true
			if first == nil {
				first = fmt.Errorf("credentials: %w", err)
			}
			continue
		}
		s.a = append(s.a, locate(path, ListA.member, f.ProviderA)...)
		s.b = append(s.b, locate(path, ListB.member, f.ProviderB)...)
		s.encryption = append(s.encryption, locate(path, "provider_b_encryption", f.ProviderBEncryption)...)
	}
	return s, first
}

// loadAll reads the credentials file at path and the login files, unchecked.
func loadAll(path string) (set, error) {
	paths, _, err := files(path)
	if err != nil {
		return set{}, err
	}
	return load(paths)
}

func locate[E any](path, list string, entries []E) []located[E] {
	all := make([]located[E], len(entries))
	for i, e := range entries {
		all[i] = located[E]{path, fmt.Sprintf("%s: %s[%d]", path, list, i), e}
	}
	return all
}
