package program

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/causeway-pay/causeway/shared/config"
)

// ErrUsage marks a wrong command line. What is wrong with it was said already.
var ErrUsage = errors.New("usage")

// Flags returns the flags of a command, with none yet. Its help is the usage text with the flags after it.
func Flags(name string, stderr io.Writer, usage string) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		_, _ = io.WriteString(fs.Output(), usage)
		fs.PrintDefaults()
	}
	return fs
}

// Parse reads a command line, and refuses more words than the command takes. It returns flag.ErrHelp when help was asked for and shown.
func Parse(fs *flag.FlagSet, args []string, words int) error {
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return flag.ErrHelp
	case err != nil:
		return ErrUsage
	case fs.NArg() > words:
		return Misused(fs.Output(), fs.Name(), "%q is one word too many", fs.Arg(words))
	}
	return nil
}

// Misused says what is wrong with the command line, and returns ErrUsage.
func Misused(stderr io.Writer, name, format string, args ...any) error {
	_, _ = fmt.Fprintf(stderr, name+": "+format+"; see --help\n", args...)
	return ErrUsage
}

// LoadConfig reads a configuration file into what flags that were parsed already point into. Where both say something the flags win. A path
// of "" stands for no file.
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
