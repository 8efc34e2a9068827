package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/causeway-pay/causeway/shared/durable"
)

// manifestFile is the manifest's name in the folder.
const manifestFile = "manifest.json"

// format is the version of the manifest. It increases when its members change.
const format = 1

// errDamaged is wrapped by the errors of read and fetch if a backup has changed since its creation.
var errDamaged = errors.New("the backup is damaged, so restore another one")

// manifest lists the files of a backup.
type manifest struct {
	Format    int       `json:"format"`
	CreatedAt time.Time `json:"created_at"`
	Files     []file    `json:"files"`
}

// file is one file of a backup.
type file struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"` // bytes
	SHA256 string `json:"sha256"`
}

// Seal makes dir a backup of the named files. It syncs them, describes them in the manifest, and
// syncs the manifest.
func Seal(dir string, names []string, now time.Time) error {
	m := manifest{Format: format, CreatedAt: now.UTC().Truncate(time.Second)}
	for _, name := range names {
		f, err := describe(filepath.Join(dir, name))
		if err != nil {
			return fmt.Errorf("backup: %w", err)
		}
		m.Files = append(m.Files, f)
	}
	b, err := json.Marshal(&m, jsontext.WithIndent("  "))
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	out, err := durable.OpenFile(filepath.Join(dir, manifestFile), os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	_, err = out.Write(append(b, '\n'))
	if err := errors.Join(err, out.Sync(), out.Close(), durable.SyncFolder(dir)); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return nil
}

// read reads the manifest of a backup in dir. The keys of allowed are the files that it may list.
// It must list the files whose value is true. If it does not, the error wraps errDamaged.
func read(dir string, allowed map[string]bool) (manifest, error) {
	b, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if err != nil {
		return manifest{}, fmt.Errorf("%s is not a backup: %w", dir, err)
	}
	var m manifest
	if err := json.Unmarshal(b, &m, json.RejectUnknownMembers(true)); err != nil || m.Format != format {
		return manifest{}, fmt.Errorf("%w: %s is not a manifest of format %d", errDamaged, manifestFile, format)
	}
	seen := map[string]bool{}
	for _, f := range m.Files {
		if _, ok := allowed[f.Name]; !ok || seen[f.Name] {
			return manifest{}, fmt.Errorf("%w: the manifest lists %q, which is not a file of a backup", errDamaged, f.Name)
		}
		seen[f.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(allowed)) {
		if allowed[name] && !seen[name] {
			return manifest{}, fmt.Errorf("%w: %s is missing", errDamaged, name)
		}
	}
	return m, nil
}

// fetch copies one file of the backup from one folder to another, durably, and fails unless it
// matches the manifest.
func (f file) fetch(from, to string) error {
	target := filepath.Join(to, f.Name)
	if err := copyFile(filepath.Join(from, f.Name), target); err != nil {
		return err
	}
	got, err := describe(target)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	if got != f {
		return fmt.Errorf("%w: %s does not match the manifest", errDamaged, f.Name)
	}
	return nil
}

// copyFile copies a file to a new file, durably and readable to the owner alone. After a failure
// the caller removes the folder with its remains.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	defer func() { _ = in.Close() }() // it was only read
	out, err := durable.OpenFile(to, os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return nil
}

// describe syncs a file and returns its name, size and hash.
func describe(path string) (file, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return file{}, err
	}
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return file{}, err
	}
	return file{Name: filepath.Base(path), Size: n, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}
