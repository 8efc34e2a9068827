package standalone_test

import (
	"debug/buildinfo"
	"strings"
	"testing"
)

// TestLinked checks that packages for other programs are not linked into this one. Even unused they
// cost memory: their initialization, and pages of the program.
func TestLinked(t *testing.T) {
	t.Parallel()
	info, err := buildinfo.ReadFile(standalone())
	if err != nil {
		t.Fatal(err)
	}
	if len(info.Deps) == 0 {
		t.Error("the program names no module that it is made of")
	}
	for _, dep := range info.Deps {
		for _, heavy := range []string{"github.com/envoyproxy/", "github.com/jackc/pgx/", "google.golang.org/grpc"} {
			if strings.HasPrefix(dep.Path, heavy) {
				t.Errorf("%s is linked into the standalone", dep.Path)
			}
		}
	}
}
