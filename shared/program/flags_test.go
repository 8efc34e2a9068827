package program_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/causeway-pay/causeway/shared/program"
)

type settings struct {
	Listen string        `yaml:"listen"`
	Names  string        `yaml:"names"`
	Kept   int           `yaml:"kept"`
	Drop   bool          `yaml:"drop"`
	Drain  time.Duration `yaml:"drain"`
}

// parse handles a command line as a program does.
func parse(stderr *bytes.Buffer, args ...string) (settings, error) {
	c := settings{Listen: "default", Kept: 7, Drop: true}
	fs := program.Flags("test", stderr, "Usage:\n  test\n\nFlags:\n")
	file := fs.String("config", "", "a `file`")
	fs.StringVar(&c.Listen, "listen", c.Listen, "an `address`")
	fs.StringVar(&c.Names, "names", c.Names, "`names`")
	fs.BoolVar(&c.Drop, "drop", c.Drop, "drop it")
	fs.DurationVar(&c.Drain, "drain", c.Drain, "a `time`")
	if err := program.Parse(fs, args, 1); err != nil {
		return c, err
	}
	return c, program.LoadConfig(fs, *file, &c)
}

// TestFlagsWin: a given flag has precedence over the file, and the file over the default.
func TestFlagsWin(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte("listen: file\nnames: file\ndrop: true\ndrain: 3s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args string
		want settings
	}{
		{"", settings{Listen: "default", Kept: 7, Drop: true}},
		{"--listen flag word", settings{Listen: "flag", Kept: 7, Drop: true}},
		{"--config " + file, settings{Listen: "file", Names: "file", Kept: 7, Drop: true, Drain: 3 * time.Second}},
		{
			"--config " + file + " --listen flag --drop=false",
			settings{Listen: "flag", Names: "file", Kept: 7, Drain: 3 * time.Second},
		},
		{"--names= --drain 5ms --config " + file, settings{Listen: "file", Kept: 7, Drop: true, Drain: 5 * time.Millisecond}},
	} {
		if got, err := parse(&bytes.Buffer{}, strings.Fields(tt.args)...); err != nil || got != tt.want {
			t.Errorf("%s: got %+v, %v, want %+v", tt.args, got, err, tt.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	none := filepath.Join(t.TempDir(), "none.yaml")
	for args, want := range map[string]struct {
		code int
		says string
	}{
		"--help":           {program.ExitDone, "Flags:\n  -config file"},
		"--lisen x":        {program.ExitUsage, "lisen"},
		"--drain x":        {program.ExitUsage, "flag -drain"},
		"one two":          {program.ExitUsage, `test: unexpected argument "two"; see --help`},
		"--config " + none: {program.ExitFailed, "test: config: load config: open " + none},
	} {
		var out bytes.Buffer
		_, err := parse(&out, strings.Fields(args)...)
		if err == nil {
			t.Errorf("%s: was taken", args)
		}
		if got := program.ExitCode("test", &out, err); got != want.code || strings.Count(out.String(), want.says) != 1 {
			t.Errorf("%s: got %d and %s, want %d and %s", args, got, &out, want.code, want.says)
		}
	}
	if _, err := parse(&bytes.Buffer{}, "-h"); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("help: got %v", err)
	}
}
