package standalone_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/causeway-pay/causeway/shared/programtest"
)

const guidesFolder = "../../../core/docs/guides"

// TestGuides runs each guide for new merchants: its commands in one shell, in their order, and its
// programs. All guides share one service, at the same time.
func TestGuides(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join(guidesFolder, "*.md"))
	if err != nil || len(pages) < 9 {
		t.Fatalf("guides = %d, %v, want 9 or more", len(pages), err)
	}
	p := start(t, t.TempDir(), allowPrivate)
	for _, path := range pages {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".md"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			runGuide(t, p, string(text))
		})
	}
}

// block is a fenced block of a guide.
type block struct{ language, text string }

var (
	guideBlock  = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")
	programName = regexp.MustCompile(`^(?://|#) (\S+)\n`)
)

// runGuide runs the commands of a guide in one shell. It compares each response and each output
// that the guide shows with the output of the commands before it.
func runGuide(t *testing.T, p *process, page string) {
	t.Helper()
	dir, port := t.TempDir(), strings.TrimPrefix(programtest.MustPort(t), "127.0.0.1:")
	values := strings.NewReplacer(":4000", ":"+port, ":3000", ":"+port, "sk_live_…", p.Keys.SKLive,
		"listen(4000", "listen("+port, "listen(3000", "listen("+port)
	var blocks []block
	for _, m := range guideBlock.FindAllStringSubmatch(page, -1) {
		blocks = append(blocks, block{m[1], values.Replace(m[2])})
	}
	session := "set -eu\ntrap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n" +
		"curl() { command curl --max-time 50 \"$@\"; }\n"
	for i, b := range blocks {
		switch b.language {
		case "sh":
			session += fmt.Sprintf("{\n%s} > %d.out 2>> errors\n", filled(p, b.text), i)
		case "js", "python", "go":
			writeProgram(t, dir, b.text)
		}
	}
	if strings.Contains(page, "npm install jose") {
		modules := programtest.MustInstallNode(t, "node-mle", absolute(t, "../sdk/mle/node"))
		if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
			t.Fatal(err)
		}
	}
	c := programtest.Command{Path: "bash", Args: []string{"-c", session}, Dir: dir}
	_, stderr, err := programtest.Output(t.Context(), c)
	reported, _ := os.ReadFile(filepath.Join(dir, "errors")) // none without commands
	if err != nil {
		t.Errorf("%v: %s\n%s", err, stderr, reported)
	}
	wantShown(t, dir, blocks)
}

// writeProgram writes a program of a guide into the file that its first line names.
func writeProgram(t *testing.T, dir, text string) {
	t.Helper()
	name := programName.FindStringSubmatch(text)
	if name == nil {
		t.Fatalf("the first line of a program is not the name of its file:\n%s", text)
	}
	if err := os.WriteFile(filepath.Join(dir, name[1]), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// wantShown checks each response and each output that a guide shows.
func wantShown(t *testing.T, dir string, blocks []block) {
	t.Helper()
	var output string
	shown := 0
	for i, b := range blocks {
		switch b.language {
		case "sh":
			text, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("%d.out", i)))
			if err != nil {
				t.Fatalf("the shell ended before these commands:\n%s", b.text)
			}
			output = strings.ReplaceAll(string(text), "\r", "") // of header fields
		case "json":
			shown++
			var want, got any
			if err := json.Unmarshal([]byte(b.text), &want); err != nil {
				t.Errorf("the guide shows no JSON: %v\n%s", err, b.text)
			}
			if err := json.Unmarshal([]byte(output), &got); err != nil {
				t.Errorf("got %s, want JSON: %v", output, err)
			}
			for _, line := range differences("the response", want, got) {
				t.Errorf("%s\ngot %s", line, output)
			}
		case "text":
			shown++
			if !elided(b.text).MatchString(output) {
				t.Errorf("got %q, the guide shows %q", output, b.text)
			}
		}
	}
	if shown == 0 {
		t.Error("the guide shows no response")
	}
}

// elided returns a pattern for a text that a guide shows. Each … stands for one character or more.
func elided(text string) *regexp.Regexp {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(text), "…", "(?s:.+)") + "$")
}

// differences compares a value that a guide shows with the real one. "…" stands for any value, and
// a member named … for further members.
func differences(at string, want, got any) []string {
	var out []string
	switch want := want.(type) {
	case map[string]any:
		members, ok := got.(map[string]any)
		if !ok {
			return []string{at + " is no object"}
		}
		for _, name := range slices.Sorted(maps.Keys(want)) {
			switch member, ok := members[name]; {
			case name == "…":
			case !ok:
				out = append(out, at+" has no member "+name)
			default:
				out = append(out, differences(at+"."+name, want[name], member)...)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if _, ok := want[name]; !ok && want["…"] == nil {
				out = append(out, "the guide does not show the member "+name+" of "+at)
			}
		}
	case []any:
		items, ok := got.([]any)
		if !ok || len(items) != len(want) {
			return []string{at + " is no list of the same length"}
		}
		for i := range want {
			out = append(out, differences(fmt.Sprintf("%s[%d]", at, i), want[i], items[i])...)
		}
	case string:
		if text, ok := got.(string); want != "…" && (!ok || !elided(want).MatchString(text)) {
			out = append(out, fmt.Sprintf("%s is %v, the guide shows %q", at, got, want))
		}
	default:
		if want != got {
			out = append(out, fmt.Sprintf("%s is %v, the guide shows %v", at, got, want))
		}
	}
	return out
}
