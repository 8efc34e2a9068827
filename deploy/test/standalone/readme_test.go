package standalone_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// documents returns all Markdown files of the repository, by path from its root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	root := absolute(t, "../../..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".cache", ".git", "data", "node_modules"}, d.Name()):
			return fs.SkipDir
		case filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, root+"/")] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if out["README.md"] == "" || out["core/README.md"] == "" {
		t.Fatalf("documents = %d, without the main ones", len(out))
	}
	return out
}

var fence = regexp.MustCompile("(?m)^```.*$")

// filled replaces the placeholders of a document by a running system's addresses and credentials.
func filled(p *process, block string) string {
	return strings.NewReplacer(
		// compat-proxy as a program, and in one process
		"https://api.example.com", p.HTTP, "http://127.0.0.1:8080", p.HTTP, "http://127.0.0.1:8081", p.HTTP,
		"sk_test_…", p.Keys.SKTest, "sk_test_...", p.Keys.SKTest, "<name>…</name>", "<name>"+p.ProviderA.Name+"</name>",
		"<transactionKey>…</transactionKey>", "<transactionKey>"+p.ProviderA.TransactionKey+"</transactionKey>",
	).Replace(block)
}

// TestEachRequestOfTheDocumentsWorks pastes every request of our documents into a shell.
func TestEachRequestOfTheDocumentsWorks(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir())
	tried := 0
	for name, text := range documents(t) {
		if strings.HasPrefix(name, "core/docs/guides/") {
			continue // TestGuides runs them: their requests depend on each other
		}
		blocks := pasted(fence.ReplaceAllString(text, "\n"))
		if got, want := len(blocks), len(regexp.MustCompile(`(?m)^\s*(\$ )?curl `).FindAllString(text, -1)); got != want {
			t.Errorf("%s: requests found = %d, want %d: put each into a separate block", name, got, want)
		}
		for _, block := range blocks {
			tried++
			text := filled(p, block)
			if strings.ContainsAny(text, "…") || strings.Contains(text, "...") {
				t.Errorf("%s: a placeholder that nothing is put into:\n%s", name, text)
				continue
			}
			status, out := paste(t, text)
			if !strings.HasPrefix(status, "2") || !went(text, out) {
				t.Errorf("%s: got %s %s, pasted:\n%s", name, status, out, text)
			}
		}
	}
	if tried < 4 {
		t.Errorf("tried %d requests, the documents have 4 or more", tried)
	}
}

// TestBackupsOfTheDocumentsLeaveTheClone: a backup holds secrets, and a folder in the clone could
// be committed.
func TestBackupsOfTheDocumentsLeaveTheClone(t *testing.T) {
	t.Parallel()
	found := 0
	for name, text := range documents(t) {
		for _, m := range regexp.MustCompile("core backup .*--to ([^ `\n]+)").FindAllStringSubmatch(text, -1) {
			found++
			if !strings.HasPrefix(m[1], "/") && !strings.HasPrefix(m[1], "../") {
				t.Errorf("%s: a backup goes to %s, in the clone", name, m[1])
			}
		}
	}
	if found < 4 {
		t.Errorf("found %d backups in the documents, want 4 or more", found)
	}
}

// went reports whether a response reports success. The status of a legacy response does not
// suffice.
func went(request, response string) bool {
	switch {
	case strings.Contains(request, "/pts/v2/"):
		return strings.Contains(response, `"status":"AUTHORIZED"`)
	case strings.Contains(request, "/compat/") || strings.Contains(request, "/xml/v1/"):
		return strings.Contains(response, "<resultCode>Ok<") || strings.Contains(response, `"resultCode":"Ok"`)
	}
	return true
}

// addresses returns the paths that documents show for a browser.
func addresses(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{"/docs": "Causeway v1", "/v1/openapi.json": `"openapi":`, "/v1/health": `"status":"ok"`}
	for _, text := range documents(t) {
		for _, m := range regexp.MustCompile("`GET (/[a-z0-9/._]*)`").FindAllStringSubmatch(text, -1) {
			if path := strings.TrimSuffix(m[1], "/"); out[path] == "" && !needsKey(path) {
				out[path] = "{"
			}
		}
	}
	return out
}

// needsKey reports whether a browser cannot open a path without a key.
func needsKey(path string) bool {
	return strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/admin/") || path == "/metrics"
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}
