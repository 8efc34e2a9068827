package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed" // Envoy's configuration
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/causeway-pay/causeway/shared/envoytest/install"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// Filter is a running mle-filter.
type Filter struct {
	Listening
	Socket string // of the external processor
	folder string
}

// StartFilter starts mle-filter in front of v1 (host:port), with new keys in the folder, which it makes, and all else as it is by default. It may
// take a moment until it accepts connections.
func StartFilter(ctx context.Context, program, folder, v1 string) (*Filter, error) {
	sockets, err := os.MkdirTemp("", "b") // the name of a socket must not be long
	if err != nil {
		return nil, fmt.Errorf("mle-filter: %w", err)
	}
	f := &Filter{Socket: filepath.Join(sockets, "s"), folder: sockets}
	kek := make([]byte, 32)
	_, _ = rand.Read(kek) // it never fails
	config := filepath.Join(folder, "mle-filter.yaml")
	text := fmt.Sprintf("kek: %q\n", base64.StdEncoding.EncodeToString(kek))
	if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(config, []byte(text), 0o600)); err != nil {
		return nil, errors.Join(fmt.Errorf("mle-filter: %w", err), os.RemoveAll(sockets))
	}
	listening, err := listen(ctx, nil, folder+".log", program, "--config", config, "--v1", "http://"+v1, "--keys", filepath.Join(folder, "mle.db"),
		"--extproc", f.Socket, "--listen")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(sockets))
	}
	f.Listening = *listening
	return f, nil
}

// Stop stops it.
func (f *Filter) Stop() error { return errors.Join(f.Listening.Stop(), os.RemoveAll(f.folder)) }

//go:embed envoy.yaml.tmpl
var envoyConfig string

// Envoy is a running Envoy: one port at which mle-filter is its external processor, and one at which nothing is.
type Envoy struct {
	*Process
	Processed, Plain string // host:port
}

// StartEnvoy starts Envoy in front of v1 (host:port) with the filter of that socket. It is installed into the checkout at root first, if need be, and
// may take a moment until it accepts connections.
func StartEnvoy(ctx context.Context, root, folder, v1, socket string) (*Envoy, error) {
	program, err := install.Envoy(ctx, root)
	if err != nil {
		return nil, err
	}
	e := &Envoy{}
	if e.Processed, err = programtest.Port(ctx); err != nil {
		return nil, err
	}
	if e.Plain, err = programtest.Port(ctx); err != nil {
		return nil, err
	}
	config, err := e.config(v1, socket)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(folder, "envoy.yaml")
	if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(path, config, 0o600)); err != nil {
		return nil, fmt.Errorf("envoy: %w", err)
	}
	if e.Process, err = Start(ctx, folder+".log", program, "-c", path, "--disable-hot-restart", "--log-level", "warning"); err != nil {
		return nil, err
	}
	return e, nil
}

type envoyListener struct {
	Name, Port string
	Processor  bool
}

func (e *Envoy) config(v1, socket string) ([]byte, error) {
	host, port, err := net.SplitHostPort(v1)
	if err != nil {
		return nil, fmt.Errorf("envoy: %w", err)
	}
	portOf := func(addr string) string { return addr[strings.LastIndexByte(addr, ':')+1:] }
	var out bytes.Buffer
	parsed, err := template.New("envoy").Parse(envoyConfig)
	if err != nil {
		return nil, fmt.Errorf("envoy: %w", err)
	}
	err = parsed.Execute(&out, map[string]any{
		"Listeners": []envoyListener{{"processed", portOf(e.Processed), true}, {"plain", portOf(e.Plain), false}},
		"CoreHost":  host, "CorePort": port, "Socket": socket,
	})
	if err != nil {
		return nil, fmt.Errorf("envoy: %w", err)
	}
	return out.Bytes(), nil
}
