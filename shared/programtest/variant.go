//go:build unix

package programtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/go-json-experiment/json"
)

// Variant describes programs that are built from this tree with changed files. Paths begin at the
// root of the repository.
type Variant struct {
	Name     string // of the folder that they are built into
	Programs []string
	Replaced map[string]string // path to new text; each file must exist
	Added    map[string]string // path to text; no such file may exist
	Version  string            // the version that the programs report; "" for the tree's
}

// Build builds the programs of the variant, and returns the folder that contains them. It is called
// once in each process. The folder is removed after the process has ended.
func (v Variant) Build(ctx context.Context) (string, error) {
	built.mu.Lock()
	defer built.mu.Unlock()
	if _, err := open(); err != nil {
		return "", err
	}
	folder := filepath.Join(built.folder, v.Name)
	if err := os.Mkdir(folder, 0o755); err != nil { //nolint:gosec // as of any program
		return "", err
	}
	overlay, err := v.overlay(folder)
	if err != nil {
		return "", fmt.Errorf("variant %s: %w", v.Name, err)
	}
	args := []string{"-overlay", overlay}
	if v.Version != "" {
		args = append(args, "-ldflags", "-X "+module+"shared/probe.stamped="+v.Version)
	}
	for _, name := range v.Programs {
		args = append(args, module+packages[name])
	}
	return folder, build(ctx, folder, args...)
}

// overlay writes the files of the variant and the list of them that go build reads.
func (v Variant) overlay(folder string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	list := struct{ Replace map[string]string }{map[string]string{}}
	lay := func(files map[string]string, there bool) error {
		for path, text := range files {
			target, source := filepath.Join(root, path), filepath.Join(folder, "source"+strconv.Itoa(len(list.Replace)))
			_, err := os.Stat(target)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			if (err == nil) != there {
				return fmt.Errorf("%s: the file exists: %t, want %t: use Replaced for existing files, Added for new ones",
					path, err == nil, there)
			}
			list.Replace[target] = source
			if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
				return err
			}
		}
		return nil
	}
	if err := errors.Join(lay(v.Replaced, true), lay(v.Added, false)); err != nil {
		return "", err
	}
	text, err := json.Marshal(list)
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "overlay.json")
	return path, os.WriteFile(path, text, 0o600)
}
