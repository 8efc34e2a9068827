package v1_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/causeway-pay/causeway/shared/secret"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// generator is the version named in doc.go.
const generator = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2"

// TestGeneratedFileIsCurrent makes the file anew. It needs the generator, from the module cache or
// the module proxy.
func TestGeneratedFileIsCurrent(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(doc, []byte("go run "+generator+" ")) {
		t.Errorf("doc.go does not run %s", generator)
	}
	config, err := os.ReadFile("oapi-codegen.yaml")
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "v1.gen.go")
	elsewhere := bytes.Replace(config, []byte("output: v1.gen.go"), []byte("output: "+out), 1)
	configPath := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(configPath, elsewhere, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", generator, "-config", configPath, "/dev/stdin")
	closed := bytes.ReplaceAll(v1.OpenAPI(), []byte("x-extensible-enum:"), []byte("enum:"))
	cmd.Stdin = bytes.NewReader(regexp.MustCompile(`(?m)^ *additionalProperties: true.*\n`).ReplaceAll(closed, nil))
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	got, err := os.ReadFile("v1.gen.go")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("v1.gen.go is not what openapi.yaml gives: run make generate")
	}
}

func TestContractIsValid(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(v1.OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Error(err)
	}
	if got, want := doc.OpenAPI, "3.0."; !strings.HasPrefix(got, want) {
		t.Errorf("version: got %s, want %sx", got, want)
	}
}

func TestOpenAPIIsACopy(t *testing.T) {
	t.Parallel()
	clear(v1.OpenAPI())
	if got, want := string(v1.OpenAPI()[:8]), "openapi:"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMarshalReveals(t *testing.T) {
	t.Parallel()
	body := map[string]any{"b": secret.New("4242"), "a": []secret.String{secret.New("1")}, "c": nil}
	want := `{"a":["1"],"b":"4242","c":null}`
	for range 20 { // the order of a Go map is drawn each time
		if got, err := v1.MarshalRevealed(body); err != nil || string(got) != want {
			t.Fatalf("got %s, %v, want %s", got, err, want)
		}
	}
	if got, err := v1.MarshalRevealed(func() {}); err == nil {
		t.Errorf("got %s, want an error", got)
	}
}

// TestClientSendsWhatMarshalWrote sends a card number through the generated client, which otherwise
// would send the mask.
func TestClientSendsWhatMarshalWrote(t *testing.T) {
	t.Parallel()
	var got, path string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, path = string(b), r.URL.Path
		w.WriteHeader(http.StatusCreated)
	}))
	defer srv.Close()
	client, err := v1.NewClient(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	body, err := v1.MarshalRevealed(struct {
		Number secret.String `json:"number"`
	}{secret.New("4242424242424242")})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.CreateTokenWithBody(t.Context(), nil, "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // the response has no body
	if got, want := resp.StatusCode, http.StatusCreated; got != want {
		t.Errorf("status: got %d, want %d", got, want)
	}
	if want := `{"number":"4242424242424242"}`; got != want || path != "/v1/tokens" {
		t.Errorf("got %s on %s, want %s", got, path, want)
	}
}
