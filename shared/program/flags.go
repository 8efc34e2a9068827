package program

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/causeway-pay/causeway/shared/config"
)

// ErrUsage marks a wrong command line. The details were printed before.
var ErrUsage = errors.New("usage")

// Flags returns the flags of a command, with none yet. Its help is the usage text with the flags
// after it.
func Flags(name string, stderr io.Writer, usage string) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		_, _ = io.WriteString(fs.Output(), usage)
		fs.PrintDefaults()
	}
	return fs
}

// Parse reads a command line, and rejects more arguments than the command has. It returns
// flag.ErrHelp if it showed the help.
func Parse(fs *flag.FlagSet, args []string, words int) error {
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return flag.ErrHelp
	case err != nil:
		return ErrUsage
	case fs.NArg() > words:
		return Misused(fs.Output(), fs.Name(), "unexpected argument %q", fs.Arg(words))
	}
	return nil
}

// Misused prints the fault of the command line, and returns ErrUsage.
func Misused(stderr io.Writer, name, format string, args ...any) error {
	_, _ = fmt.Fprintf(stderr, name+": "+format+"; see --help\n", args...)
	return ErrUsage
}

// LoadConfig reads a configuration file into the variables of flags that were parsed already. The
// value of a flag has precedence over the file's. A path of "" means no file.
func LoadConfig(fs *flag.FlagSet, path string, into any) error {
	if path == "" {
		return nil
	}
	given := map[string]string{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = f.Value.String() })
	if err := config.Load(path, into); err != nil {
		return fmt.Errorf("config: %w", err)
	}
	for name, value := range given {
		if err := fs.Set(name, value); err != nil {
			return fmt.Errorf("flag --%s: %w", name, err)
		}
	}
	return nil
}
