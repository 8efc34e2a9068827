package on_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// exposure is the highest accepted exposure of a unit, of 10, as systemd rates it. The rest comes
// from the network, and from files that the group can read.
const exposure = 1.5

// connectionsUnit loads rules of nftables, so it needs more rights than a program.
const connectionsUnit = "causeway-connections.service"

// TestUnits lets systemd verify the units, on a machine with only the programs, and rate the
// exposure of each.
func TestUnits(t *testing.T) {
	t.Parallel()
	machine := t.TempDir()
	names, err := filepath.Glob(filepath.Join(root, "deploy/on/systemd/causeway*.service"))
	if err != nil || len(names) != 6 {
		t.Fatalf("got %v, %v, want six units", names, err)
	}
	for i, path := range names {
		names[i] = filepath.Base(path)
		install(t, machine, "deploy/on/systemd/"+names[i])
	}
	install(t, machine, "deploy/on/systemd/causeway.target")
	install(t, machine, "deploy/on/nftables/"+connectionsUnit)
	for _, unit := range []string{
		"basic", "sysinit", "network-online", "multi-user", "shutdown", "time-set", "local-fs",
		"system.slice",
	} {
		if !strings.Contains(unit, ".") {
			unit += ".target"
		}
		write(t, filepath.Join(machine, "etc/systemd/system", unit), []byte("[Unit]\nDescription=of the machine\n"))
	}
	for _, program := range []string{
		"core", "mle-filter", "compat-proxy", "edge", "standalone", "envoy",
		"../../../../bin/kill", "../../../sbin/nft",
	} {
		path := filepath.Join(machine, "usr/local/lib/causeway", program)
		write(t, path, nil)
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	verify := exec.CommandContext(t.Context(), "systemd-analyze",
		append([]string{"verify", "--man=no", "--root=" + machine, "causeway.target", connectionsUnit}, names...)...)
	if out, err := verify.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	score := regexp.MustCompile(`Overall exposure level for \S+: ([0-9.]+)`)
	for _, name := range names {
		out := mustRun(t, machine, "systemd-analyze", "security", "--offline=true", "--root="+machine, name)
		found := score.FindStringSubmatch(out)
		if found == nil {
			t.Fatalf("%s: systemd-analyze security prints %s", name, out)
		}
		if got, err := strconv.ParseFloat(found[1], 64); err != nil || got > exposure {
			t.Errorf("%s is exposed by %s, want %.1f at most\n%s", name, found[1], exposure, out)
		}
	}
}

func install(t *testing.T, machine, path string) {
	t.Helper()
	write(t, filepath.Join(machine, "etc/systemd/system", filepath.Base(path)), mustRead(t, path))
}

// TestUnitsGiveSecrets checks that each unit has every secret that its environment names. Its user
// must be that of the image.
func TestUnitsGiveSecrets(t *testing.T) {
	t.Parallel()
	users := string(mustRead(t, "deploy/on/systemd/causeway.sysusers.conf"))
	for program, unit := range map[string]string{
		"core": "core", "mle-filter": "mle-filter",
		"compat-proxy": "compat-proxy", "edge": "edge",
	} {
		lines := strings.Split(string(mustRead(t, "deploy/on/systemd/causeway-"+unit+".service")), "\n")
		named, given := 0, 0
		for _, line := range lines {
			if _, secret, ok := strings.Cut(line, "_FILE=%d/"); ok {
				named++
				if !slices.Contains(lines, "LoadCredential="+secret+":/etc/causeway/secrets/"+secret) {
					t.Errorf("%s names the secret %s, which is not mounted", program, secret)
				}
			}
			if strings.HasPrefix(line, "LoadCredential=") {
				given++
			}
			if user, ok := strings.CutPrefix(line, "User="); ok &&
				!strings.Contains(users, "u "+user+" "+shapes[program].user+":causeway ") {
				t.Errorf("%s runs as %s, a user that causeway.sysusers.conf does not create with the number %s", program, user,
					shapes[program].user)
			}
		}
		if named != given || named == 0 {
			t.Errorf("%s has %d secrets, and names %d", program, given, named)
		}
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "User=causeway") }) {
			t.Errorf("%s runs as no user of its own", program)
		}
	}
	if !strings.Contains(users, "g causeway "+group+"\n") {
		t.Errorf("the group is not %s", group)
	}
}

// TestUnitsShareNoData checks that each unit has its own user, and a data folder that only this
// user can read. The standalone is not in the group that may open the sockets of production.
func TestUnitsShareNoData(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join(root, "deploy/on/systemd/causeway*.service"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("units: %v, %v", paths, err)
	}
	users := string(mustRead(t, "deploy/on/systemd/causeway.sysusers.conf"))
	of := map[string]string{}
	for _, path := range paths {
		name := filepath.Base(path)
		lines := strings.Split(string(mustRead(t, "deploy/on/systemd/"+name)), "\n")
		for _, line := range lines {
			user, ok := strings.CutPrefix(line, "User=")
			if !ok {
				continue
			}
			if other := of[user]; other != "" {
				t.Errorf("%s and %s run as %s", name, other, user)
			}
			of[user] = name
			if !strings.Contains(users, "u "+user+" ") {
				t.Errorf("%s: causeway.sysusers.conf does not create %s", name, user)
			}
		}
		folder := slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "StateDirectory=") })
		if folder && !slices.Contains(lines, "StateDirectoryMode=0700") {
			t.Errorf("%s: other users can read its data", name)
		}
		if name == "causeway-standalone.service" && slices.Contains(lines, "Group=causeway") {
			t.Errorf("%s may open the sockets of production", name)
		}
	}
	if len(of) != len(paths) {
		t.Errorf("%d units have %d users", len(paths), len(of))
	}
}
