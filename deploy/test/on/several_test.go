package on_test

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// keysElsewhere removes the path of mle-filter's keys from the settings: the variable replaces it.
var keysElsewhere = change{
	"keys: /var/lib/causeway/mle/mle.db",
	"# keys: in the file that CAUSEWAY_MLE_KEYS_FILE names",
}

// severalCores are the settings of platforms with several cores, as changes of the settings for
// one.
var severalCores = map[string]struct {
	of    string
	files map[string][]change
}{
	"compose/several": {
		"compose/config",
		map[string][]change{"mle-filter.yaml": {keysElsewhere}, "compat-proxy.yaml": {{"notice: 0s", "notice: 5s"}}},
	},
	"systemd/several": {"systemd/config", map[string][]change{"mle-filter.yaml": {keysElsewhere}}},
	"kubernetes/several/config": {"kubernetes/base/config", map[string][]change{
		"mle-filter.yaml": {
			keysElsewhere,
			{"v1: http://127.0.0.1:8080", "v1: http://causeway-core:8080"},
			{"operator: http://127.0.0.1:9080", "operator: http://causeway-core:9080"},
		},
		"edge.yaml": {
			{
				"  core: {address: 127.0.0.1:8080, health: /v1/health}",
				"  core: {address: causeway-core:8080, health: /v1/health}",
			},
			{"operator: http://127.0.0.1:9080", "operator: http://causeway-core:9080"},
		},
	}},
}

// TestConfigsOfSeveral compares the settings for several cores with the settings for one.
func TestConfigsOfSeveral(t *testing.T) {
	t.Parallel()
	for folder, from := range severalCores {
		for name, changes := range from.files {
			made := string(mustRead(t, "deploy/on/"+from.of+"/"+name))
			for _, c := range changes {
				made = substitute(t, folder+"/"+name, made, c)
			}
			made = strings.Replace(made, " for "+from.of+" by ", " for "+folder+" by ", 1)
			same(t, "deploy/on/"+folder+"/"+name, []byte(made))
		}
	}
}

// TestComposeSeveral checks that two cores and two proxies store no data in their containers. The
// cores share the simulator's journal. The keys of mle-filter are on the server.
func TestComposeSeveral(t *testing.T) {
	t.Parallel()
	project := mustLoad(t, "compose.yaml", "several.yaml", "postgres.yaml")
	for name, replicas := range map[string]int{"core": 2, "compat-proxy": 2, "mle-filter": 1, "edge": 1, "postgres": 1} {
		s := project.Services[name]
		if got := s.GetScale(); got != replicas {
			t.Errorf("%s: got %d, want %d", name, got, replicas)
		}
		for _, v := range s.Volumes {
			if v.Type == "volume" && replicas > 1 && name != "core" {
				t.Errorf("several of %s write %s", name, v.Source)
			}
		}
		if len(s.Ports) > 0 && replicas > 1 {
			t.Errorf("several of %s want one port of the machine", name)
		}
	}
	core := project.Services["core"]
	if slices.Contains(core.Command, "--data") || core.Environment["CAUSEWAY_STORE_FILE"] == nil {
		t.Errorf("core's store is not on the server: %v", core.Command)
	}
	at := slices.Index(core.Command, "--simulator-journal") + 1
	if at == 0 || !slices.ContainsFunc(core.Volumes, func(v types.ServiceVolumeConfig) bool {
		return v.Type == "volume" && v.Target == path.Dir(core.Command[at])
	}) {
		t.Errorf("the cores do not share the simulator's journal: %v, %v", core.Command, core.Volumes)
	}
	if core.DependsOn["postgres"].Condition != "service_healthy" {
		t.Error("core does not wait for the server")
	}
	if project.Services["mle-filter"].Environment["CAUSEWAY_MLE_KEYS_FILE"] == nil {
		t.Error("the filter's keys are not on the server")
	}
}

// TestKubernetesSeveral checks that no pod has a volume for core's data. An update must start a new
// core before it ends an old one. The public Service must select no core.
func TestKubernetesSeveral(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"several", "several-example"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := mustBuild(t, installation(t, name))
			want := map[string][]string{
				"StatefulSet/causeway":     {"edge", "mle-filter", "compat-proxy", "envoy", "drain"},
				"Deployment/causeway-core": {"migrate", "core"},
			}
			for who, pod := range o.pods {
				var got []string
				for _, c := range all(pod) {
					got = append(got, c.Name)
					checkRestricted(t, who, pod, c)
					checkMounts(t, pod, c)
				}
				if !slices.Equal(got, want[who]) {
					t.Errorf("%s starts %v, want %v", who, got, want[who])
				}
				checkSidecars(t, pod)
				checkVolumes(t, o, pod)
			}
			if len(o.pods) != len(want) || len(o.policies) != 2 || len(o.budgets) != 2 || len(o.claims) != 1 ||
				o.claims[0].Name != "edge" {
				t.Errorf("got %d pods, %d policies, %d budgets, claims %v", len(o.pods), len(o.policies), len(o.budgets), o.claims)
			}
			checkCores(t, o.deployed["causeway-core"])
			checkSelected(t, o)
		})
	}
}

func checkCores(t *testing.T, d appsv1.Deployment) {
	t.Helper()
	pod := d.Spec.Template.Spec
	switch update := d.Spec.Strategy.RollingUpdate; {
	case *d.Spec.Replicas < 2, update == nil, update.MaxUnavailable.IntValue() != 0, update.MaxSurge.IntValue() < 1:
		t.Errorf("an update of the cores leaves fewer than before: %+v", d.Spec.Strategy)
	case pod.Affinity == nil || pod.Affinity.PodAntiAffinity == nil:
		t.Error("both cores may be on one node")
	}
	for _, v := range pod.Volumes {
		if v.PersistentVolumeClaim != nil {
			t.Errorf("a core has data: %s", v.Name)
		}
	}
	c := pod.Containers[0]
	if c.StartupProbe == nil || c.LivenessProbe == nil || c.ReadinessProbe == nil {
		t.Error("a core is not looked after")
	}
	at := slices.Index(c.Args, "--notice") + 1
	if at == 0 {
		t.Fatal("a core ends without notice")
	}
	notice, err := time.ParseDuration(c.Args[at])
	// The notice must cover two health checks of Envoy, and the rest of the grace period core's drain
	// of 10 s.
	if left := time.Duration(*pod.TerminationGracePeriodSeconds)*time.Second - notice; err != nil ||
		notice < 3*time.Second || left < 20*time.Second {
		t.Errorf("a core has %s of notice, and %s left for its drain (%v)", notice, left, err)
	}
}

// checkSelected checks that each Service selects one kind of pod, and names its ports.
func checkSelected(t *testing.T, o objects) {
	t.Helper()
	if len(o.services) == 0 {
		t.Error("there is no service")
	}
	for _, s := range o.services {
		var found []string
		for who, pod := range o.pods {
			if pod.Labels["app.kubernetes.io/name"] == s.Spec.Selector["app.kubernetes.io/name"] {
				found = append(found, who)
				for _, p := range s.Spec.Ports {
					if !slices.ContainsFunc(all(pod), func(c corev1.Container) bool {
						return slices.ContainsFunc(c.Ports, func(has corev1.ContainerPort) bool {
							return has.Name == p.TargetPort.StrVal
						})
					}) {
						t.Errorf("service %s names the port %s, which %s does not have", s.Name, p.TargetPort.StrVal, who)
					}
				}
			}
		}
		if len(found) != 1 {
			t.Errorf("service %s leads to %v", s.Name, found)
		}
	}
}

// TestUnitsOfSeveral lets systemd verify the units with the drop-ins for several cores.
func TestUnitsOfSeveral(t *testing.T) {
	t.Parallel()
	machine := t.TempDir()
	for _, unit := range []string{"causeway-core", "causeway-mle-filter"} {
		install(t, machine, "deploy/on/systemd/"+unit+".service")
		write(t, filepath.Join(machine, "etc/systemd/system", unit+".service.d/store.conf"),
			mustRead(t, "deploy/on/systemd/several/"+unit+".conf"))
	}
	for _, unit := range []string{
		"basic.target", "sysinit.target", "network-online.target", "multi-user.target",
		"shutdown.target", "system.slice", "causeway.target",
	} {
		write(t, filepath.Join(machine, "etc/systemd/system", unit), []byte("[Unit]\nDescription=of the machine\n"))
	}
	for _, program := range []string{"core", "mle-filter"} {
		path := filepath.Join(machine, "usr/local/lib/causeway", program)
		write(t, path, nil)
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	verify := exec.CommandContext(t.Context(), "systemd-analyze", "verify", "--man=no", "--root="+machine,
		"causeway-core.service", "causeway-mle-filter.service")
	if out, err := verify.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}
