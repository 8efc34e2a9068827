package on_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// storage separates the images from the ones of the machine, and needs no kernel features.
type storage []string

func newStorage(t *testing.T) storage {
	t.Helper()
	dir := t.TempDir()
	return storage{"--storage-driver", "vfs", "--root", filepath.Join(dir, "root"), "--runroot", filepath.Join(dir, "run")}
}

func (s storage) buildah(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "buildah", append(slices.Clone([]string(s)), args...)...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("buildah %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// image has the fields of buildah's output that the test reads.
type image struct {
	Docker struct {
		Config struct {
			User        string
			Entrypoint  []string
			Cmd         []string
			Env         []string
			WorkingDir  string
			Volumes     map[string]struct{}
			Labels      map[string]string
			Healthcheck struct{ Test []string }
		} `json:"config"`
	}
}

// shape is the expected form of an image. Its folders are the writable ones.
type shape struct {
	user, volume string
	folders      []string
}

var shapes = map[string]shape{
	"core":         {"10701", "/var/lib/causeway/core", []string{"/var/lib/causeway/core"}},
	"mle-filter":   {"10702", "/var/lib/causeway/mle", []string{"/var/lib/causeway/mle", "/run/causeway/mle"}},
	"compat-proxy": {"10703", "", nil},
	"edge":         {"10704", "/var/lib/causeway/edge", []string{"/var/lib/causeway/edge", "/run/causeway/edge"}},
	"standalone":   {"10705", "/var/lib/causeway/standalone", []string{"/var/lib/causeway/standalone"}},
}

// group is the group that may open the sockets between our programs.
const group = "10700"

// TestContainers builds every image as deploy/docs/operate/images.md describes, and checks its
// content. It runs the program with only the files of the image, as the image's user. This is no
// container: the machine of the tests offers no namespaces, cgroups and read-only mounts.
func TestContainers(t *testing.T) {
	t.Parallel()
	s := newStorage(t)
	build := exec.CommandContext(t.Context(), filepath.Join(root, "deploy/on/container/build"))
	build.Env = append(os.Environ(),
		"PREFIX=causeway/", "OPTIONS="+strings.Join(s, " "), "BUILD=--isolation chroot", "VERSION=v0.0.0-test")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("deploy/on/container/build: %v\n%s", err, out)
	}
	for program, want := range shapes {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			name := "localhost/causeway/" + program + ":v0.0.0-test"
			var got image
			if err := json.Unmarshal([]byte(s.buildah(t, "inspect", "--type", "image", name)), &got); err != nil {
				t.Fatal(err)
			}
			checkConfig(t, program, want, got)
			tree := s.buildah(t, "mount", s.buildah(t, "from", "--pull-never", name))
			checkFiles(t, program, want, tree)
			said := runIn(t, tree, want.user, "/"+program, "version")
			if !strings.HasPrefix(said, program+" v0.0.0-test") {
				t.Errorf("version: got %q", said)
			}
			if said := runIn(t, tree, want.user, "/"+program, "--help"); !strings.Contains(said, program) {
				t.Errorf("--help: got %q", said)
			}
		})
	}
}

func checkConfig(t *testing.T, program string, want shape, got image) {
	t.Helper()
	c := got.Docker.Config
	if c.User != want.user+":"+group {
		t.Errorf("user: got %q, want %s:%s", c.User, want.user, group)
	}
	if !slices.Equal(c.Entrypoint, []string{"/" + program}) {
		t.Errorf("entrypoint: got %q", c.Entrypoint)
	}
	if !slices.Equal(c.Healthcheck.Test, []string{"CMD", "/" + program, "health"}) {
		t.Errorf("health check: got %q", c.Healthcheck.Test)
	}
	for _, v := range c.Env {
		if !strings.HasPrefix(v, "PATH=") {
			t.Errorf("environment: %q is in the image", v)
		}
	}
	if _, ok := c.Volumes[want.volume]; ok != (want.volume != "") || len(c.Volumes) > 1 {
		t.Errorf("volumes: got %v, want %q", c.Volumes, want.volume)
	}
	for _, label := range []string{"title", "description", "licenses", "version", "revision", "created"} {
		if value := c.Labels["org.opencontainers.image."+label]; value == "" || strings.HasPrefix(value, "$") {
			t.Errorf("label %s: got %q", label, value)
		}
	}
	if v := c.Labels["org.opencontainers.image.version"]; v != "v0.0.0-test" {
		t.Errorf("label version: got %q", v)
	}
}

// checkFiles checks that an image has the program, the certificates and the folders for data, and
// no other file.
func checkFiles(t *testing.T, program string, want shape, tree string) {
	t.Helper()
	files := []string{}
	err := filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == tree {
			return err
		}
		name := strings.TrimPrefix(path, tree)
		info, err := d.Info()
		if err != nil {
			return err
		}
		if !d.IsDir() {
			files = append(files, name)
		}
		owner := info.Sys().(*syscall.Stat_t).Uid //nolint:forcetypeassert // it is Linux
		if (owner != 0) != slices.Contains(want.folders, name) {
			t.Errorf("%s belongs to %d", name, owner)
		}
		if info.Mode().Perm()&0o022 != 0 {
			t.Errorf("%s can be written: %s", name, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	all := []string{"/" + program, "/etc/ssl/certs/ca-certificates.crt"}
	slices.Sort(all)
	slices.Sort(files)
	if !slices.Equal(files, all) {
		t.Errorf("files: got %v, want %v", files, all)
	}
}

func number(t *testing.T, text string) uint32 {
	t.Helper()
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(n)
}

// runIn runs a program with only the files of an image, as a user, with an empty environment.
func runIn(t *testing.T, tree, user string, words ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.Env, cmd.Dir = []string{}, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Chroot: tree, Credential: &syscall.Credential{Uid: number(t, user), Gid: number(t, group)},
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %v\n%s", words, err, out)
	}
	return string(out)
}
