package on_test

import (
	"regexp"
	"strings"
	"testing"
)

// TestComposeNeedsRelease checks that no file has a default release. Its image was not built, so
// compose would pull that name from a registry, and run it with the secrets.
func TestComposeNeedsRelease(t *testing.T) {
	t.Parallel()
	for _, files := range []string{"compose.yaml", "compose.yaml several.yaml postgres.yaml", "standalone.yaml"} {
		for _, env := range [][]string{nil, {"CAUSEWAY_VERSION="}} {
			_, err := load(t, env, strings.Fields(files)...)
			if err == nil || !strings.Contains(err.Error(), "CAUSEWAY_VERSION") {
				t.Errorf("%s with %q: got %v, want an error that names CAUSEWAY_VERSION", files, env, err)
			}
		}
		for name, s := range mustLoad(t, strings.Fields(files)...).Services {
			if strings.HasPrefix(s.Image, "causeway/") && s.PullPolicy != "never" {
				t.Errorf("%s: %s is pulled from a registry: policy %q", files, name, s.PullPolicy)
			}
		}
	}
}

// TestComposePageSetsRelease checks that the page builds the images with the engine of compose, and
// writes their release for compose, before its first command.
func TestComposePageSetsRelease(t *testing.T) {
	t.Parallel()
	page := string(mustRead(t, "deploy/docs/operate/install-compose.md"))
	command := regexp.MustCompile(`(?m)^ {4,}\S.*$`)
	built, written, commands := "", "", 0
	for _, line := range command.FindAllString(page, -1) {
		if found := regexp.MustCompile(`ENGINE=docker VERSION=(\S+) deploy/on/container/build`).
			FindStringSubmatch(line); found != nil {
			built = found[1]
		}
		if found := regexp.MustCompile(`echo CAUSEWAY_VERSION=(\S+) > \.env`).
			FindStringSubmatch(line); found != nil {
			written = found[1]
		}
		if !strings.Contains(line, "docker compose") {
			continue
		}
		commands++
		if written == "" || written != built {
			t.Errorf("%q: the page has built %q and written %q for compose", line, built, written)
		}
	}
	several := regexp.MustCompile(`echo COMPOSE_FILE=(\S+) >> \.env[^$]*docker compose --profile monitoring up`).
		FindStringSubmatch(page)
	if several == nil {
		t.Error("the command for the monitoring replaces several cores by one")
	} else {
		mustLoad(t, strings.Split(several[1], ":")...)
	}
	if commands == 0 {
		t.Error("the page has no command of compose")
	}
	for _, image := range regexp.MustCompile(`causeway/[a-z-]+:(v\S+)`).FindAllStringSubmatch(page, -1) {
		if image[1] != built {
			t.Errorf("the page runs %s and has built %s", image[0], built)
		}
	}
}
