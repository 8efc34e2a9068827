package build_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/causeway-pay/causeway/deploy/edge/internal/build"
	"github.com/causeway-pay/causeway/deploy/edge/internal/check"
	"github.com/causeway-pay/causeway/deploy/edge/internal/config"
	"github.com/causeway-pay/causeway/shared/envoytest"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

var update = flag.Bool("update", false, "write the golden files")

// exampleFile is the file that explains the keys.
const exampleFile = "../../../../configs/edge.yaml"

// cases returns the configurations of testdata/<name>.yaml, and the example. Their resources are in
// testdata/<name>.golden.
func cases(t *testing.T) map[string]config.Config {
	t.Helper()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	out := map[string]config.Config{}
	for _, file := range append(files, exampleFile) {
		c, err := config.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(file), ".yaml")] = c
	}
	return out
}

func files(name string) []build.Certificate {
	out := []build.Certificate{build.FromFiles("testdata/edge.crt", "testdata/edge.key")}
	if name == "acme" {
		out = append(out, build.FromFiles("testdata/rsa.crt", "testdata/rsa.key"))
	}
	return out
}

// TestGolden compares the resources with the golden files.
func TestGolden(t *testing.T) {
	t.Parallel()
	for name, c := range cases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made, err := build.Build(build.Input{Config: c, Certificates: files(name)})
			if err != nil {
				t.Fatal(err)
			}
			if err := check.Resources(made); err != nil {
				t.Error(err)
			}
			var all []proto.Message
			for _, m := range made.Listeners {
				all = append(all, m)
			}
			for _, m := range made.Routes {
				all = append(all, m)
			}
			for _, m := range made.Clusters {
				all = append(all, m)
			}
			for _, m := range made.Secrets {
				all = append(all, m)
			}
			var text bytes.Buffer
			for _, m := range all {
				part, err := check.YAML(m)
				if err != nil {
					t.Fatal(err)
				}
				text.WriteString("---\n# " + string(m.ProtoReflect().Descriptor().Name()) + "\n")
				text.Write(part)
			}
			golden(t, filepath.Join("testdata", name+".golden"), text.Bytes())
		})
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what is built now; go test -update, and read the difference", path)
	}
}

// TestEnvoyValidates checks that Envoy accepts the resources and the bootstraps.
func TestEnvoyValidates(t *testing.T) {
	t.Parallel()
	for name, c := range cases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			static, err := build.Static(c, build.Node{ID: "edge-1"}, files(name))
			if err != nil {
				t.Fatal(err)
			}
			validate(t, static)
			boot, err := build.Bootstrap(c, build.Node{ID: "edge-1", TLS: "testdata"})
			if err != nil {
				t.Fatal(err)
			}
			validate(t, boot)
		})
	}
}

func validate(t *testing.T, m proto.Message) {
	t.Helper()
	if err := check.Message(m); err != nil {
		t.Error(err)
	}
	text, err := check.YAML(m)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "envoy.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	envoytest.Validate(t, path)
}

// TestCodesAreDocumented checks that /docs lists each error code of Envoy's own responses, and that
// each has a doc_url. Core proves that /docs has v1.FrontCodes.
func TestCodesAreDocumented(t *testing.T) {
	t.Parallel()
	golden, err := os.ReadFile("testdata/edge.golden")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(` code: ([a-z_]+)\n( +)doc_url: "(.*)"\n`).FindAllSubmatch(golden, -1)
	if all := len(regexp.MustCompile(` code: [a-z]`).FindAll(golden, -1)); all != len(codes) {
		t.Errorf("%d of %d errors have a doc_url", len(codes), all)
	}
	if len(codes) < 20 {
		t.Fatalf("found %d codes", len(codes))
	}
	for _, code := range codes {
		if !slices.Contains(v1.FrontCodes(), string(code[1])) {
			t.Errorf("%s is not documented", code[1])
		}
		if got, want := string(code[3]), v1.DocURL(string(code[1])); got != want {
			t.Errorf("%s: got doc_url %s, want %s", code[1], got, want)
		}
	}
}
