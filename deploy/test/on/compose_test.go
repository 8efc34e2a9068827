package on_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// mustLoad loads files of a release as docker compose does, including the files that they name.
func mustLoad(t *testing.T, files ...string) *types.Project {
	t.Helper()
	project, err := load(t, []string{"CAUSEWAY_VERSION=v1.0.0"}, files...)
	if err != nil {
		t.Fatalf("%s: %v", files, err)
	}
	return project
}

func load(t *testing.T, env []string, files ...string) (*types.Project, error) {
	t.Helper()
	var paths []string
	for _, file := range files {
		paths = append(paths, filepath.Join(root, "deploy/on/compose", file))
	}
	options, err := cli.NewProjectOptions(paths, cli.WithEnv(env), cli.WithProfiles([]string{"*"}),
		cli.WithResolvedPaths(true))
	if err != nil {
		t.Fatal(err)
	}
	return options.LoadProject(t.Context())
}

// TestCompose checks the privileges, image and files of every service.
func TestCompose(t *testing.T) {
	t.Parallel()
	for files, want := range map[string][]string{
		"compose.yaml":              {"compat-proxy", "core", "drain", "edge", "envoy", "front", "mle-filter", "prometheus"},
		"compose.yaml several.yaml": {"compat-proxy", "core", "drain", "edge", "envoy", "front", "mle-filter", "prometheus"},
		"compose.yaml several.yaml postgres.yaml": {
			"compat-proxy", "core", "drain", "edge", "envoy", "front", "mle-filter",
			"postgres", "prometheus",
		},
		"standalone.yaml": {"standalone"},
	} {
		t.Run(files, func(t *testing.T) {
			t.Parallel()
			project := mustLoad(t, strings.Fields(files)...)
			got := project.ServiceNames()
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			for _, s := range project.Services {
				checkLocked(t, s)
				checkOwn(t, s)
				checkVolumesOf(t, s)
				checkNetwork(t, project, s)
			}
			checkDrained(t, project)
		})
	}
}

func checkLocked(t *testing.T, s types.ServiceConfig) {
	t.Helper()
	switch {
	case !s.ReadOnly, !slices.Equal(s.CapDrop, []string{"ALL"}), len(s.CapAdd) > 0,
		!slices.Equal(s.SecurityOpt, []string{"no-new-privileges:true"}), s.Privileged:
		t.Errorf("%s may do more than it needs", s.Name)
	case s.Deploy == nil || s.Deploy.Resources.Limits == nil || s.Deploy.Resources.Limits.MemoryBytes == 0 ||
		s.Deploy.Resources.Limits.NanoCPUs == 0:
		t.Errorf("%s has no bounds", s.Name)
	case strings.HasSuffix(s.Image, ":latest") || !strings.Contains(s.Image, ":"):
		t.Errorf("%s: image %q has no release", s.Name, s.Image)
	}
	for name, value := range s.Environment {
		if strings.HasPrefix(name, "CAUSEWAY_") &&
			(!strings.HasSuffix(name, "_FILE") || !slices.ContainsFunc(s.Secrets, func(f types.ServiceSecretConfig) bool {
				return *value == "/run/secrets/"+f.Source
			})) {
			t.Errorf("%s: %s=%s is not a file of a secret that it has", s.Name, name, *value)
		}
	}
}

// checkOwn checks a service of one of our programs: its health check runs the program itself, and
// its image has the release.
func checkOwn(t *testing.T, s types.ServiceConfig) {
	t.Helper()
	shape, ours := shapes[s.Name]
	if !ours {
		return
	}
	if s.Image != "causeway/"+s.Name+":v1.0.0" {
		t.Errorf("%s: image %q", s.Name, s.Image)
	}
	if s.HealthCheck == nil || len(s.HealthCheck.Test) < 3 ||
		!slices.Equal(s.HealthCheck.Test[:3], []string{"CMD", "/" + s.Name, "health"}) {
		t.Errorf("%s: health check %+v", s.Name, s.HealthCheck)
	}
	for _, folder := range shape.folders {
		// the store is elsewhere
		emptied := slices.ContainsFunc(s.Tmpfs, func(mount string) bool { return strings.HasPrefix(mount, folder+":") })
		if !emptied && !slices.ContainsFunc(s.Volumes, func(v types.ServiceVolumeConfig) bool {
			return v.Target == folder && v.Type == "volume" && !v.ReadOnly
		}) {
			t.Errorf("%s has no volume for %s, which its image writes", s.Name, folder)
		}
	}
}

// checkNetwork checks that a service joins the network only of a service that does no work. After a
// restart of a container, the containers that joined its network have a dead network.
func checkNetwork(t *testing.T, project *types.Project, s types.ServiceConfig) {
	t.Helper()
	of, ok := strings.CutPrefix(s.NetworkMode, types.ServicePrefix)
	if !ok {
		return
	}
	owner := project.Services[of]
	if len(owner.Command) < 2 || !slices.Equal(owner.Command[:2], []string{"drain", "--on-term"}) {
		t.Errorf("%s loses its network at a restart of %s, which runs %v", s.Name, of, owner.Command)
	}
	if d := s.DependsOn[of]; !d.Restart {
		t.Errorf("%s stays in the old network when %s is replaced", s.Name, of)
	}
}

// checkDrained checks that compose stops the drain before Envoy, also when it replaces Envoy or its
// network, and waits until the drain has ended.
func checkDrained(t *testing.T, project *types.Project) {
	t.Helper()
	if _, ok := project.Services["envoy"]; !ok {
		return
	}
	s := project.Services["drain"]
	if len(s.Command) < 2 || !slices.Equal(s.Command[:2], []string{"drain", "--on-term"}) {
		t.Errorf("drain runs %v", s.Command)
	}
	for _, of := range []string{"front", "envoy"} {
		if !s.DependsOn[of].Restart {
			t.Errorf("drain continues when %s is replaced, and no request is waited for", of)
		}
	}
	at := slices.Index(s.Command, "--patience")
	if at < 0 || at+1 == len(s.Command) || s.StopGracePeriod == nil {
		t.Fatalf("drain has no patience or no grace period: %v", s.Command)
	}
	longest, err := time.ParseDuration(s.Command[at+1])
	if err != nil || longest >= time.Duration(*s.StopGracePeriod) {
		t.Errorf("drain is killed after %s, before its patience %s ends: %v", s.StopGracePeriod, longest, err)
	}
}

// checkVolumesOf checks that a service writes only to volumes, and to no file of the machine.
func checkVolumesOf(t *testing.T, s types.ServiceConfig) {
	t.Helper()
	for _, v := range s.Volumes {
		if v.Type == "bind" && !v.ReadOnly {
			t.Errorf("%s can write %s", s.Name, v.Source)
		}
		if v.Type != "bind" || strings.Contains(v.Source, "/certificates") || strings.HasSuffix(v.Source, "/authorities") {
			continue // made by the operator, outside of the repository
		}
		if _, err := os.Stat(v.Source); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
}
