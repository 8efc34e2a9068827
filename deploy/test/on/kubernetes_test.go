package on_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// objects are the objects of an installation, in the types of the Kubernetes API.
type objects struct {
	pods     map[string]corev1.PodTemplateSpec // by kind and name
	configs  map[string]corev1.ConfigMap
	secrets  map[string]corev1.Secret
	policies []networkingv1.NetworkPolicy
	services []corev1.Service
	budgets  []policyv1.PodDisruptionBudget
	deployed map[string]appsv1.Deployment
	claims   []corev1.PersistentVolumeClaim
}

// kustomized runs kustomize on a folder, and returns the objects in the order for kubectl.
func kustomized(t *testing.T, dir string) []*resource.Resource {
	t.Helper()
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatalf("kustomize build %s: %v", dir, err)
	}
	return made.Resources()
}

// mustBuild runs kustomize and decodes its output strictly: an unknown field or kind is an error.
func mustBuild(t *testing.T, dir string) objects {
	t.Helper()
	out := objects{
		pods: map[string]corev1.PodTemplateSpec{}, configs: map[string]corev1.ConfigMap{},
		secrets: map[string]corev1.Secret{}, deployed: map[string]appsv1.Deployment{},
	}
	for _, r := range kustomized(t, dir) {
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		out.add(t, r.GetKind(), text)
	}
	return out
}

func (o *objects) add(t *testing.T, kind string, text []byte) {
	t.Helper()
	switch kind {
	case "Namespace":
		decode[corev1.Namespace](t, text)
	case "StatefulSet":
		set := decode[appsv1.StatefulSet](t, text)
		o.pods[kind+"/"+set.Name], o.claims = set.Spec.Template, set.Spec.VolumeClaimTemplates
	case "Deployment":
		d := decode[appsv1.Deployment](t, text)
		o.pods[kind+"/"+d.Name], o.deployed[d.Name] = d.Spec.Template, d
	case "Service":
		o.services = append(o.services, decode[corev1.Service](t, text))
	case "NetworkPolicy":
		o.policies = append(o.policies, decode[networkingv1.NetworkPolicy](t, text))
	case "PodDisruptionBudget":
		o.budgets = append(o.budgets, decode[policyv1.PodDisruptionBudget](t, text))
	case "ConfigMap":
		c := decode[corev1.ConfigMap](t, text)
		o.configs[c.Name] = c
	case "Secret":
		s := decode[corev1.Secret](t, text)
		o.secrets[s.Name] = s
	default:
		t.Errorf("kind %s is not judged", kind)
	}
}

func decode[T any](t *testing.T, text []byte) T {
	t.Helper()
	var out T
	if err := yaml.UnmarshalStrict(text, &out); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	return out
}

// all returns the containers of a pod in the order of their start, sidecars included.
func all(p corev1.PodTemplateSpec) []corev1.Container {
	return slices.Concat(p.Spec.InitContainers, p.Spec.Containers)
}

// recipe matches the commands in the comments of a kustomization, which make the files it names.
var recipe = regexp.MustCompile(`(?m)^#   (.*\n)`)

// installation returns a copy of a folder. It makes the files of an example as its comments show,
// with other hosts.
func installation(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "deploy/on/kubernetes"))); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, name)
	var commands strings.Builder
	for _, line := range recipe.FindAllSubmatch(mustRead(t, "deploy/on/kubernetes/"+name+"/kustomization.yaml"), -1) {
		commands.Write(line[1])
	}
	mustRun(t, dir, "sh", "-e", "-c", commands.String())
	edge := filepath.Join(dir, "edge.yaml")
	if text, err := os.ReadFile(edge); err == nil {
		write(t, edge, bytes.ReplaceAll(text, []byte("example.com"), []byte("example.net")))
	}
	return dir
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestKubernetes builds each folder. It checks its pods against the restricted profile, and their
// volumes, ports and images.
func TestKubernetes(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"base":             {"edge", "mle-filter", "compat-proxy", "core", "envoy", "drain"},
		"example":          {"edge", "mle-filter", "compat-proxy", "core", "envoy", "drain"},
		"merchant-example": {"causeway-compat-proxy", "causeway-envoy", "shop"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := mustBuild(t, installation(t, name))
			if len(o.pods) != 1 || len(o.policies) != 1 || len(o.budgets) != 1 {
				t.Fatalf("got %d pods, %d network policies and %d budgets, want one of each", len(o.pods), len(o.policies),
					len(o.budgets))
			}
			for who, pod := range o.pods {
				var got []string
				for _, c := range all(pod) {
					got = append(got, c.Name)
					checkRestricted(t, who, pod, c)
					checkMounts(t, pod, c)
					if name == "base" {
						checkNoRegistry(t, c)
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s starts %v, want %v", who, got, want)
				}
				checkSidecars(t, pod)
				checkVolumes(t, o, pod)
				checkPorts(t, o, pod)
			}
		})
	}
}

// checkRestricted checks a container against the rules of the restricted profile. Its file system
// must also be read-only.
func checkRestricted(t *testing.T, who string, pod corev1.PodTemplateSpec, c corev1.Container) {
	t.Helper()
	s, p := c.SecurityContext, pod.Spec.SecurityContext
	switch {
	case s == nil || p == nil:
		t.Errorf("%s/%s has no security context", who, c.Name)
	case s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation,
		s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem,
		s.Capabilities == nil || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) ||
			len(s.Capabilities.Add) > 0,
		s.RunAsUser == nil || *s.RunAsUser < 10_000:
		t.Errorf("%s/%s may do more than it needs: %+v", who, c.Name, s)
	case p.RunAsNonRoot == nil || !*p.RunAsNonRoot,
		p.SeccompProfile == nil || p.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault:
		t.Errorf("%s may do more than it needs: %+v", who, p)
	case pod.Spec.HostNetwork || pod.Spec.HostPID || pod.Spec.HostIPC || pod.Spec.AutomountServiceAccountToken == nil ||
		*pod.Spec.AutomountServiceAccountToken:
		t.Errorf("%s has a part of the node or of the cluster", who)
	}
	if c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Memory().IsZero() ||
		c.Resources.Requests.Cpu().IsZero() {
		t.Errorf("%s/%s has no bounds: %+v", who, c.Name, c.Resources)
	}
	if tag := c.Image[strings.LastIndex(c.Image, "/")+1:]; !strings.Contains(tag, ":") ||
		strings.HasSuffix(tag, ":latest") { // a digest also has a colon
		t.Errorf("%s/%s: image %q has no release", who, c.Name, c.Image)
	}
}

// checkNoRegistry checks that no registry can serve our image before an installation sets its own
// name. A name without a host could name a stranger's image.
func checkNoRegistry(t *testing.T, c corev1.Container) {
	t.Helper()
	if !strings.HasPrefix(c.Image, "docker.io/") && !strings.HasPrefix(c.Image, "causeway.invalid/") {
		t.Errorf("%s: image %q can be a stranger's", c.Name, c.Image)
	}
}

// checkMounts checks that each mounted volume exists, and that no mount is inside another: its
// mount point could not be created.
func checkMounts(t *testing.T, pod corev1.PodTemplateSpec, c corev1.Container) {
	t.Helper()
	for _, m := range c.VolumeMounts {
		for _, other := range c.VolumeMounts {
			if other.MountPath != m.MountPath && strings.HasPrefix(m.MountPath+"/", other.MountPath+"/") {
				t.Errorf("%s: %s is inside %s", c.Name, m.MountPath, other.MountPath)
			}
		}
		config := slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
			return v.Name == m.Name && (v.ConfigMap != nil || v.Secret != nil || v.Projected != nil)
		})
		if config && !m.ReadOnly {
			t.Errorf("%s can write %s", c.Name, m.MountPath)
		}
	}
	for _, e := range c.Env {
		if path := e.Value; strings.HasSuffix(e.Name, "_FILE") {
			if !strings.HasPrefix(path, "/run/secrets/causeway/") {
				t.Errorf("%s: %s is %s", c.Name, e.Name, path)
			}
			checkSecretFile(t, pod, c, filepath.Base(path))
		}
	}
}

// checkSecretFile checks that a secret is mounted only if the environment of the container names
// it.
func checkSecretFile(t *testing.T, pod corev1.PodTemplateSpec, c corev1.Container, key string) {
	t.Helper()
	for _, m := range c.VolumeMounts {
		for _, v := range pod.Spec.Volumes {
			if m.MountPath != "/run/secrets/causeway" || v.Name != m.Name || v.Secret == nil {
				continue
			}
			if slices.ContainsFunc(v.Secret.Items, func(i corev1.KeyToPath) bool { return i.Path == key }) {
				return
			}
		}
	}
	t.Errorf("%s names the secret %s, which is not mounted", c.Name, key)
}

// checkSidecars checks that each init container is a sidecar, except for a migration.
func checkSidecars(t *testing.T, pod corev1.PodTemplateSpec) {
	t.Helper()
	for _, c := range pod.Spec.InitContainers {
		if slices.Equal(c.Args, []string{"migrate"}) && c.RestartPolicy == nil {
			continue
		}
		if c.RestartPolicy == nil || *c.RestartPolicy != corev1.ContainerRestartPolicyAlways || c.StartupProbe == nil {
			t.Errorf("%s is not a sidecar", c.Name)
		}
	}
}

func checkVolumes(t *testing.T, o objects, pod corev1.PodTemplateSpec) {
	t.Helper()
	known := map[string]bool{}
	for _, claim := range o.claims {
		known[claim.Name] = true
	}
	for _, v := range pod.Spec.Volumes {
		known[v.Name] = true
		optional := v.ConfigMap != nil && v.ConfigMap.Optional != nil && *v.ConfigMap.Optional
		if v.ConfigMap != nil && !optional && len(o.configs[v.ConfigMap.Name].Data) == 0 {
			t.Errorf("volume %s: there is no config map %s", v.Name, v.ConfigMap.Name)
		}
		if v.Projected != nil {
			checkProjected(t, o, v)
		}
		if v.Secret == nil || len(v.Secret.Items) == 0 {
			continue // not one of our images
		}
		for _, i := range v.Secret.Items {
			if len(o.secrets[v.Secret.SecretName].Data[i.Key]) == 0 {
				t.Errorf("volume %s: there is no %s in the secret %s", v.Name, i.Key, v.Secret.SecretName)
			}
		}
	}
	for _, c := range all(pod) {
		for _, m := range c.VolumeMounts {
			if !known[m.Name] {
				t.Errorf("%s mounts %s, which is not there", c.Name, m.Name)
			}
		}
	}
}

// checkProjected checks that each file of a projected volume exists.
func checkProjected(t *testing.T, o objects, v corev1.Volume) {
	t.Helper()
	for _, source := range v.Projected.Sources {
		if m := source.ConfigMap; m != nil {
			for _, i := range m.Items {
				if o.configs[m.Name].Data[i.Key] == "" {
					t.Errorf("volume %s: there is no %s in the config map %s", v.Name, i.Key, m.Name)
				}
			}
		}
		if s := source.Secret; s != nil {
			for _, i := range s.Items {
				if len(o.secrets[s.Name].Data[i.Key]) == 0 {
					t.Errorf("volume %s: there is no %s in the secret %s", v.Name, i.Key, s.Name)
				}
			}
		}
	}
}

// TestKubernetesLoginsAreSecret checks that the logins of legacy clients are in a secret that only
// compat-proxy can read. They contain API keys.
func TestKubernetesLoginsAreSecret(t *testing.T) {
	t.Parallel()
	const logins = "compat-credentials.yaml"
	for _, name := range []string{"base", "example", "several", "several-example"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := mustBuild(t, installation(t, name))
			for config, c := range o.configs {
				if _, found := c.Data[logins]; found {
					t.Errorf("the config map %s contains the logins", config)
				}
			}
			readers := []string{}
			for _, pod := range o.pods {
				for _, v := range pod.Spec.Volumes {
					if v.Projected == nil && (v.Secret == nil || len(o.secrets[v.Secret.SecretName].Data[logins]) == 0) {
						continue
					}
					for _, c := range all(pod) {
						if slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool {
							return m.Name == v.Name && m.MountPath == "/etc/causeway"
						}) {
							readers = append(readers, c.Name)
						}
					}
				}
			}
			if !slices.Equal(readers, []string{"compat-proxy"}) {
				t.Errorf("the logins are mounted into %q", readers)
			}
		})
	}
}

// checkPorts checks that each named port exists in a container.
func checkPorts(t *testing.T, o objects, pod corev1.PodTemplateSpec) {
	t.Helper()
	known := map[string]bool{}
	for _, c := range all(pod) {
		for _, p := range c.Ports {
			known[p.Name] = true
		}
	}
	check := func(who, port string) {
		if port != "" && !known[port] {
			t.Errorf("%s names the port %s, which nothing has", who, port)
		}
	}
	for _, s := range o.services {
		for _, p := range s.Spec.Ports {
			check("service "+s.Name, p.TargetPort.StrVal)
		}
	}
	for _, rule := range o.policies[0].Spec.Ingress {
		for _, p := range rule.Ports {
			check("network policy", p.Port.StrVal)
		}
	}
	for _, c := range all(pod) {
		for _, p := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
			if p == nil {
				continue
			}
			if p.TCPSocket != nil {
				check(c.Name, p.TCPSocket.Port.StrVal)
			}
			if p.HTTPGet != nil {
				check(c.Name, p.HTTPGet.Port.StrVal)
			}
		}
	}
}

// TestKubernetesNamespaces checks that each folder creates the namespace of its objects, and that
// several cores share no object with an installation of one core. Its pod continues to serve.
func TestKubernetesNamespaces(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"base": "causeway", "example": "causeway", "several": "causeway-several", "several-example": "causeway-several",
		"merchant-example": "shop",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			created := false
			for _, r := range kustomized(t, installation(t, name)) {
				if r.GetKind() == "Namespace" {
					created = r.GetName() == want
				} else if r.GetNamespace() != want {
					t.Errorf("%s %s is in the namespace %q, want %s", r.GetKind(), r.GetName(), r.GetNamespace(), want)
				}
			}
			if !created {
				t.Errorf("the namespace %s is not created", want)
			}
		})
	}
}

// TestKubernetesKeepsOwnFiles checks that the built objects contain the files and secrets of the
// installation, and no placeholder.
func TestKubernetesKeepsOwnFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"example", "several-example"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := installation(t, name)
			checkYours(t, dir, mustBuild(t, dir))
		})
	}
}

func checkYours(t *testing.T, dir string, o objects) {
	t.Helper()
	if len(o.secrets) == 0 || len(o.configs) == 0 || len(o.pods) == 0 {
		t.Errorf("got %d secrets, %d config maps and %d pods", len(o.secrets), len(o.configs), len(o.pods))
	}
	for _, s := range o.secrets {
		for key, value := range s.Data {
			want, err := os.ReadFile(filepath.Join(dir, "secrets", key))
			if err != nil || len(want) < 40 || !bytes.Equal(value, want) {
				t.Errorf("secret %s: got %q, want %q (%v)", key, value, want, err)
			}
		}
	}
	for _, c := range o.configs {
		if !strings.Contains(c.Data["edge.yaml"], "api.example.net") || c.Data["envoy.yaml"] == "" {
			t.Errorf("config map: got %q", c.Data["edge.yaml"])
		}
	}
	for _, pod := range o.pods {
		for _, c := range all(pod) {
			// these containers run commands of other programs
			of := strings.NewReplacer("drain", "edge", "migrate", "core").Replace(c.Name)
			if c.Name != "envoy" && !strings.HasPrefix(c.Image, "registry.example.com/causeway/"+of+"@sha256:") {
				t.Errorf("%s: image %q", c.Name, c.Image)
			}
		}
	}
}
