package on_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// called is a program of a platform's function: it prints its variables, its arguments and its
// input.
const called = `#!/bin/sh
printf '%s ' "$(env | grep ^CAUSEWAY_ | sort | tr '\n' ' ')" "$(basename "$0")" "$@"
cat
`

// TestCommandsOfPlatforms runs the functions of the page, and compares their calls with the
// manifests: services, containers, programs, folders and variables.
func TestCommandsOfPlatforms(t *testing.T) {
	t.Parallel()
	page := string(mustRead(t, "deploy/docs/operate/commands.md"))
	wants := map[string][]string{
		"With systemd":  {calledUnit(t, false), calledUnit(t, true)},
		"With compose":  {calledService(t, "compose.yaml"), calledService(t, "compose.yaml", "several.yaml")},
		"On Kubernetes": {calledPod(t, "base", "causeway"), calledPod(t, "several", "causeway-several")},
	}
	for platform, want := range wants {
		_, text, _ := strings.Cut(page, "\n## "+platform+"\n")
		text, _, _ = strings.Cut(text, "\n## ")
		blocks := regexp.MustCompile(`(?m)(?:^    .*\n)+`).FindAllString(text, -1)
		if len(blocks) != len(want) {
			t.Errorf("%s: blocks of functions = %d, want %d", platform, len(blocks), len(want))
			continue
		}
		for i, block := range blocks {
			if got := callFunctions(t, block); got != want[i] {
				t.Errorf("%s, block %d:\ngot  %s\nwant %s", platform, i+1, got, want[i])
			}
		}
	}
}

// callFunctions defines the functions of a block, and calls each with input.
func callFunctions(t *testing.T, block string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"docker", "kubectl", "core", "mle-filter", "edge"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(called), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	block = strings.ReplaceAll(block, "/usr/local/lib/causeway/", dir+"/")
	cmd := exec.CommandContext(t.Context(), "bash", "-c",
		block+"\necho input | core accounts add --name 'a b'; echo input | mle-filter keyset rotate; echo input | edge check")
	cmd.Env = []string{"PATH=" + dir + ":/usr/bin:/bin"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", block, err, out)
	}
	return string(out)
}

// calls returns the output of callFunctions. Each function has a prefix and a suffix.
func calls(before, after map[string]string) string {
	return before["core"] + " accounts add --name a b" + after["core"] + " input\n" +
		before["mle-filter"] + " keyset rotate" + after["mle-filter"] + " input\n" +
		before["edge"] + " check --config /etc/causeway/edge.yaml input\n"
}

// locations are the flags that name the stores of one core, and the files of several.
var locations = map[string]string{
	"core": " --data /var/lib/causeway/core", "mle-filter": " --keys /var/lib/causeway/mle/mle.db",
}

// storeVariables name the stores of several cores.
var storeVariables = map[string]string{"core": "CAUSEWAY_STORE_FILE", "mle-filter": "CAUSEWAY_MLE_KEYS_FILE"}

// calledUnit returns the calls that the units require: their variables, with the files that systemd
// loads.
func calledUnit(t *testing.T, several bool) string {
	t.Helper()
	before, after := map[string]string{}, locations
	for name, variables := range map[string][]string{
		"core":       {storeVariables["core"], "CAUSEWAY_VAULT_KEK_FILE"},
		"mle-filter": {storeVariables["mle-filter"], "CAUSEWAY_MLE_KEK_FILE"},
	} {
		text := string(mustRead(t, "deploy/on/systemd/causeway-"+name+".service"))
		if several {
			text += string(mustRead(t, "deploy/on/systemd/several/causeway-"+name+".conf"))
			after = nil
		} else if name == "core" && !strings.Contains(text, strings.ReplaceAll(locations[name], "/var/lib", "%S")) {
			t.Errorf("the unit of %s has no%s", name, locations[name])
		}
		env := ""
		for _, variable := range slices.Sorted(slices.Values(variables)) {
			credential := regexp.MustCompile(`(?m)^Environment=` + variable + `=%d/(.+)$`).FindStringSubmatch(text)
			if credential == nil {
				continue
			}
			loaded := regexp.MustCompile(`(?m)^LoadCredential=` + credential[1] + `:(.+)$`).FindStringSubmatch(text)
			if loaded == nil {
				t.Fatalf("the unit of %s does not load %s", name, credential[1])
			}
			env += variable + "=" + loaded[1] + " "
		}
		before[name] = env + " " + name
		if !strings.Contains(text, "ExecStart=/usr/local/lib/causeway/"+name+" ") {
			t.Errorf("the unit of %s starts another program", name)
		}
	}
	unit := string(mustRead(t, "deploy/on/systemd/causeway-edge.service"))
	if !strings.Contains(unit, "ExecStart=/usr/local/lib/causeway/edge --config /etc/causeway/edge.yaml\n") {
		t.Error("the unit of edge starts another program, or has other settings")
	}
	before["edge"] = " edge"
	return calls(before, after)
}

// calledService returns the calls that the files for compose require.
func calledService(t *testing.T, files ...string) string {
	t.Helper()
	before, after := map[string]string{}, locations
	project := mustLoad(t, files...)
	for name, variable := range storeVariables {
		service, found := project.Services[name]
		if !found {
			t.Fatalf("%s: no service %s", files, name)
		}
		if service.Environment[variable] != nil {
			after = nil
		} else if name == "core" && !strings.Contains(strings.Join(service.Command, " "), locations[name]) {
			t.Errorf("%s: %s is started by %v, want%s", files, name, service.Command, locations[name])
		}
		before[name] = fmt.Sprintf(" docker compose exec -T %s /%s", name, name)
	}
	if command := strings.Join(project.Services["edge"].Command, " "); command != "--config /etc/causeway/edge.yaml" {
		t.Errorf("%s: edge is started by %s", files, command)
	}
	before["edge"] = " docker compose exec -T edge /edge"
	return calls(before, after)
}

// podTargets are the names by which kubectl finds the first pod.
var podTargets = map[string]string{
	"StatefulSet/causeway": "causeway-0", "Deployment/causeway-core": "deployment/causeway-core",
}

// calledPod returns the calls that the manifests of a folder require.
func calledPod(t *testing.T, dir, namespace string) string {
	t.Helper()
	before, after := map[string]string{}, locations
	o := mustBuild(t, filepath.Join(root, "deploy/on/kubernetes", dir))
	example := map[string]string{"base": "example", "several": "several-example"}[dir]
	text := string(mustRead(t, "deploy/on/kubernetes/"+example+"/kustomization.yaml"))
	if !strings.Contains(text, "\nnamespace: "+namespace+"\n") {
		t.Errorf("%s has another namespace than %s", example, namespace)
	}
	for pod, target := range podTargets {
		spec := o.pods[pod].Spec
		for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
			variable, ours := storeVariables[c.Name]
			if !ours && c.Name != "edge" {
				continue
			}
			before[c.Name] = fmt.Sprintf(" kubectl --namespace %s exec --stdin %s --container %s -- /%s",
				namespace, target, c.Name, c.Name)
			if ours && slices.ContainsFunc(c.Env, func(v corev1.EnvVar) bool { return v.Name == variable }) {
				after = nil
			}
		}
	}
	return calls(before, after)
}
