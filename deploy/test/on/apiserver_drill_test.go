//go:build drill && linux

package on_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// kubernetesRelease is the API server under test. kubernetesModules is the version of the modules
// of that release, such as k8s.io/api.
const kubernetesRelease, kubernetesModules = "v1.34.1", "v0.34.1"

// buildAPIServer builds the API server of release $2 into the folder $1, from the Go module proxy.
// Kubernetes replaces its own modules by folders that are not in its module. They are published as
// modules of version $3.
const buildAPIServer = `set -eu
cd "$1"
go mod download "k8s.io/kubernetes@$2"
cp -R "$(go env GOMODCACHE)/k8s.io/kubernetes@$2" source
chmod -R u+w source
cd source
rm -rf vendor go.work go.work.sum
for module in $(sed -n 's|^[[:space:]]*\(k8s.io/[a-z0-9-]*\) => \./staging/.*|\1|p' go.mod); do
	go mod edit -dropreplace "$module" -require "$module@$3"
done
go build -mod=mod -trimpath -o "$1" ./cmd/kube-apiserver
cd "$1"
rm -rf source
`

// cluster is an API server on an empty etcd. It has no controllers and no nodes.
type cluster struct {
	url    string
	token  string
	client *http.Client
}

// startCluster builds and starts an API server and its etcd.
func startCluster(t *testing.T) *cluster {
	t.Helper()
	folder := programtest.MustInstall(t, "kube-apiserver", []byte(kubernetesRelease+buildAPIServer),
		func(into string) (programtest.Command, error) {
			return programtest.Command{
				Path: "sh", Args: []string{"-c", buildAPIServer, "sh", into, kubernetesRelease, kubernetesModules},
				Env: []string{"GOWORK=off", "GOFLAGS="},
			}, nil
		})
	at, dir := programtest.Host(t), t.TempDir()
	etcd := "http://" + at + ":2379"
	programtest.Start(t, programtest.Command{Path: "etcd", Args: []string{
		"--data-dir", filepath.Join(dir, "etcd"), "--listen-client-urls", etcd, "--advertise-client-urls", etcd,
		"--listen-peer-urls", "http://" + at + ":2380",
	}})
	c := &cluster{url: "https://" + at + ":6443", token: programtest.Secret()}
	write(t, filepath.Join(dir, "tokens.csv"), []byte(c.token+",operator,operator,system:masters\n"))
	accounts := filepath.Join(dir, "accounts.pem")
	write(t, accounts, accountKey(t))
	programtest.Start(t, programtest.Command{Path: filepath.Join(folder, "kube-apiserver"), Args: []string{
		"--etcd-servers", etcd, "--bind-address", at, "--advertise-address", at, "--secure-port", "6443",
		"--cert-dir", dir, "--token-auth-file", filepath.Join(dir, "tokens.csv"), "--authorization-mode", "RBAC",
		"--service-account-issuer", "https://kubernetes.default.svc", "--service-account-key-file", accounts,
		"--service-account-signing-key-file", accounts, "--service-cluster-ip-range", "10.0.0.0/24",
		"--endpoint-reconciler-type", "none", "--disable-admission-plugins", "ServiceAccount",
	}})
	programtest.WaitFor(t, "the API server is ready", func() bool { return c.ready(t.Context(), dir) })
	return c
}

// accountKey returns a key that signs tokens of service accounts.
func accountKey(t *testing.T) []byte {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
}

// ready reports whether the API server accepts requests. The server writes its certificate into
// dir.
func (c *cluster) ready(ctx context.Context, dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "apiserver.crt"))
	if err != nil {
		return false
	}
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(text)
	c.client = &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12},
	}}
	got, err := c.send(ctx, http.MethodGet, "/readyz", "", nil)
	return err == nil && got.status == http.StatusOK
}

// headless is a warning of this release about each headless Service, because the server itself sets
// the field. No manifest can prevent it. deploy/docs/operate/install-kubernetes.md explains it.
const headless = "spec.SessionAffinity is ignored for headless services"

// reply is a response of the API server.
type reply struct {
	status   int
	warnings []string
	body     string
}

func (c *cluster) send(ctx context.Context, method, path, mime string, body []byte) (reply, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("Content-Type", mime)
	got, err := c.client.Do(r)
	if err != nil {
		return reply{}, err
	}
	defer got.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(got.Body)
	return reply{got.StatusCode, got.Header.Values("Warning"), string(text)}, err
}

// must sends a request, and fails the test unless the status is 2xx without a warning.
func (c *cluster) must(t *testing.T, method, path, mime string, body []byte) string {
	t.Helper()
	got, err := c.send(t.Context(), method, path, mime, body)
	if err != nil || got.status/100 != 2 {
		t.Fatalf("%s %s: got %d %s, %v", method, path, got.status, got.body, err)
	}
	for _, warning := range got.warnings {
		if !strings.Contains(warning, headless) {
			t.Errorf("%s %s: warning %s", method, path, warning)
		}
	}
	return got.body
}

// plurals are the kinds of objects in our folders, as paths of the API.
var plurals = map[string]string{
	"Namespace": "namespaces", "ConfigMap": "configmaps", "Secret": "secrets", "Service": "services",
	"StatefulSet": "statefulsets", "Deployment": "deployments", "NetworkPolicy": "networkpolicies",
	"PodDisruptionBudget": "poddisruptionbudgets",
}

// objectPath returns the path of an object.
func objectPath(version, kind, namespace, name string) string {
	root := "/apis/" + version
	if version == "v1" {
		root = "/api/v1"
	}
	if kind != "Namespace" {
		root += "/namespaces/" + namespace
	}
	return root + "/" + plurals[kind] + "/" + name
}

// apply applies a folder as kubectl apply --server-side --validate=strict does. It returns the
// version of each object, by path.
func (c *cluster) apply(t *testing.T, dir string) map[string]string {
	t.Helper()
	versions := map[string]string{}
	for _, r := range kustomized(t, dir) {
		text, err := r.AsYAML()
		if err != nil || plurals[r.GetKind()] == "" {
			t.Fatalf("%s %s: %v", r.GetKind(), r.GetName(), err)
		}
		at := objectPath(r.GetApiVersion(), r.GetKind(), r.GetNamespace(), r.GetName())
		got := c.must(t, http.MethodPatch, at+"?fieldManager=kubectl&fieldValidation=Strict", "application/apply-patch+yaml",
			text)
		versions[at] = version(t, got)
	}
	return versions
}

// version returns the identity of an object and the number of its last change.
func version(t *testing.T, body string) string {
	t.Helper()
	var object struct {
		Metadata struct{ UID, ResourceVersion string } `json:"metadata"`
	}
	if err := json.Unmarshal([]byte(body), &object); err != nil || object.Metadata.UID == "" {
		t.Fatalf("%v: %s", err, body)
	}
	return object.Metadata.UID + " " + object.Metadata.ResourceVersion
}

// wantUnchanged fails the test if an object has changed since it had these versions.
func (c *cluster) wantUnchanged(t *testing.T, versions map[string]string) {
	t.Helper()
	for at, want := range versions {
		if got := version(t, c.must(t, http.MethodGet, at, "", nil)); got != want {
			t.Errorf("%s: got version %s, want %s", at, got, want)
		}
	}
}

// admit creates each pod of a folder without effect. Only then does the server judge a pod by the
// security profile of its namespace.
func (c *cluster) admit(t *testing.T, namespace, dir string) {
	t.Helper()
	o := mustBuild(t, dir)
	for who, template := range o.pods {
		pod := corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
		pod.Name = "pod"
		if strings.HasPrefix(who, "StatefulSet/") {
			for _, claim := range o.claims { // the controller of StatefulSets adds them
				pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: claim.Name, VolumeSource: corev1.VolumeSource{
					PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name + "-pod"},
				}})
			}
		}
		c.must(t, http.MethodPost, pods(namespace), "application/json", encoded(t, &pod))
	}
}

func pods(namespace string) string {
	return "/api/v1/namespaces/" + namespace + "/pods?dryRun=All&fieldValidation=Strict"
}

func encoded(t *testing.T, pod *corev1.Pod) []byte {
	t.Helper()
	pod.APIVersion, pod.Kind = "v1", "Pod"
	text, err := json.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestKubernetesAPIServer applies each folder to an API server, strictly and without a warning. The
// server admits each pod under the restricted profile. A new release and the previous one again are
// accepted in place. Several cores change nothing of an installation with one core.
func TestKubernetesAPIServer(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	one, several := installation(t, "example"), installation(t, "several-example")
	before := c.apply(t, one)
	c.admit(t, "causeway", one)
	c.wantRefusals(t)

	c.apply(t, several)
	c.admit(t, "causeway-several", several)
	c.wantUnchanged(t, before)
	shop := installation(t, "merchant-example")
	c.apply(t, shop)
	c.admit(t, "shop", shop)

	for namespace, dir := range map[string]string{"causeway": one, "causeway-several": several} {
		file := filepath.Join(dir, "kustomization.yaml")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, release := range []string{"v1.0.1", "v1.0.0"} {
			write(t, file, bytes.ReplaceAll(text, []byte("newTag: v1.0.0"), []byte("newTag: "+release)))
			c.apply(t, dir)
			set := c.must(t, http.MethodGet, objectPath("apps/v1", "StatefulSet", namespace, "causeway"), "", nil)
			if !strings.Contains(set, `"image":"registry.example.com/causeway/edge:`+release+`"`) {
				t.Errorf("%s: %s is not applied: %s", namespace, release, set)
			}
		}
	}
}

// wantRefusals is the control: the server must refuse an unknown field and a privileged pod.
func (c *cluster) wantRefusals(t *testing.T) {
	t.Helper()
	at := objectPath("v1", "ConfigMap", "causeway", "unknown") + "?fieldManager=kubectl&fieldValidation=Strict"
	got, err := c.send(t.Context(), http.MethodPatch, at, "application/apply-patch+yaml",
		[]byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: unknown}\nfiles: {}\n"))
	if err != nil || got.status/100 == 2 {
		t.Errorf("an unknown field: got %d %s, %v", got.status, got.body, err)
	}
	pod := corev1.Pod{Spec: corev1.PodSpec{HostNetwork: true, Containers: []corev1.Container{{Name: "a", Image: "a:1"}}}}
	pod.Name = "privileged"
	got, err = c.send(t.Context(), http.MethodPost, pods("causeway"), "application/json", encoded(t, &pod))
	if err != nil || got.status != http.StatusForbidden || !strings.Contains(got.body, "PodSecurity") {
		t.Errorf("a privileged pod: got %d %s, %v", got.status, got.body, err)
	}
}
