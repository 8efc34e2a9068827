package serve

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/causeway-pay/causeway/deploy/standalone/devca"
	"github.com/causeway-pay/causeway/shared/envoytest/install"
	"github.com/causeway-pay/causeway/shared/programtest"
)

// WholeEdge is a core with all that stands in front of it, each a process of its own, and an Envoy that the edge program configures.
type WholeEdge struct {
	Core, HTTPS string      // host:port, of core itself by plain HTTP and of Envoy
	TLS         *tls.Config // for Envoy
	Key         string      // a secret test key, with which legacy clients log in, too
	stops       []func() error
	processes   []*Process
}

// StartWholeEdge starts one in a folder, with an Envoy that is installed into the checkout at root first, if need be. It may take a moment until all of
// them accept connections.
func StartWholeEdge(ctx context.Context, programs Programs, root, folder string, now time.Time) (w *WholeEdge, err error) {
	w = &WholeEdge{}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Stop())
		}
	}()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	if err := w.startCore(ctx, programs.Core, folder); err != nil {
		return nil, err
	}
	filter, err := StartFilter(ctx, programs.Filter, filepath.Join(folder, "mle"), w.Core)
	if err != nil {
		return nil, err
	}
	w.add(filter.Process, filter.Stop)
	env := []string{"CAUSEWAY_DEDUPLICATION_SECRET=" + rand.Text() + rand.Text()}
	compat, err := listen(ctx, env, filepath.Join(folder, "compat.log"), programs.Proxy, "--v1", "http://"+filter.Addr, "--listen")
	if err != nil {
		return nil, err
	}
	w.add(compat.Process, compat.Stop)
	return w, w.startEdge(ctx, programs.Edge, root, folder, edgeBehind{core: w.Core, compat: compat.Addr, filter: filter}, now)
}

func (w *WholeEdge) add(p *Process, stop func() error) {
	w.processes, w.stops = append(w.processes, p), append(w.stops, stop)
}

// startCore starts core, with a merchant.
func (w *WholeEdge) startCore(ctx context.Context, program, folder string) error {
	data := filepath.Join(folder, "core")
	merchant, err := output(ctx, nil, program, "merchants", "create", "bench", "--data", data)
	if err != nil {
		return err
	}
	if w.Key, err = output(ctx, nil, program, "keys", "create", "--merchant", merchant, "--data", data); err != nil {
		return err
	}
	core, err := listen(ctx, nil, filepath.Join(folder, "core.log"), program, "serve", "--data", data, "--rate-limit", "0", "--listen")
	if err != nil {
		return err
	}
	w.Core = core.Addr
	w.add(core.Process, core.Stop)
	return nil
}

// edgeBehind is where an edge sends what comes.
type edgeBehind struct {
	core, compat string
	filter       *Filter
}

// startEdge starts the control plane and Envoy.
func (w *WholeEdge) startEdge(ctx context.Context, program, root, folder string, behind edgeBehind, now time.Time) error {
	envoy, err := install.Envoy(ctx, root)
	if err != nil {
		return err
	}
	if w.HTTPS, err = programtest.Port(ctx); err != nil {
		return err
	}
	if err := w.certify(folder, now); err != nil {
		return err
	}
	sockets := filepath.Dir(behind.filter.Socket)
	text := fmt.Sprintf(`hosts: [localhost]
data: %[1]s/data
listen: {https: "%[2]s", http: ""}
xds: {listen: "unix:%[3]s/x"}
http: unix:%[3]s/h
certificates: {folder: %[1]s/certs, publish_ahead: 0s}
extproc: {address: "unix:%[4]s"}
upstreams: {core: {address: "%[5]s"}, compat: {address: "%[6]s"}, mle: {address: "%[7]s"}}
`, folder, w.HTTPS, sockets, behind.filter.Socket, behind.core, behind.compat, behind.filter.Addr)
	config, bootstrap := filepath.Join(folder, "edge.yaml"), filepath.Join(folder, "envoy.yaml")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	start, err := output(ctx, nil, program, "bootstrap", "--config", config, "--admin", "127.0.0.1:0")
	if err == nil {
		err = os.WriteFile(bootstrap, []byte(start), 0o600)
	}
	if err != nil {
		return err
	}
	for _, p := range [][]string{{program, "--config", config}, {envoy, "-c", bootstrap, "--disable-hot-restart", "--log-level", "warning"}} {
		made, err := Start(ctx, filepath.Join(folder, filepath.Base(p[0]))+".log", p[0], p[1:]...)
		if err != nil {
			return err
		}
		w.add(made, made.Stop)
	}
	return nil
}

// certify makes the certificate, and has clients trust it.
func (w *WholeEdge) certify(folder string, now time.Time) error {
	identity, err := devca.Ensure(filepath.Join(folder, "ca"), now)
	if err != nil {
		return err
	}
	authority, err := os.ReadFile(identity.CA)
	if err != nil {
		return err
	}
	pair, certs := identity.Pair(), filepath.Join(folder, "certs")
	w.TLS = &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "localhost", MinVersion: tls.VersionTLS13}
	w.TLS.RootCAs.AppendCertsFromPEM(authority)
	return errors.Join(os.Mkdir(certs, 0o700), os.WriteFile(filepath.Join(certs, "edge.crt"), append(pair.Chain, authority...), 0o600),
		os.WriteFile(filepath.Join(certs, "edge.key"), []byte(pair.Key.Reveal()), 0o600))
}

// CPU is what all of the processes have used together.
func (w *WholeEdge) CPU() (time.Duration, error) {
	var sum time.Duration
	for _, p := range w.processes {
		used, err := p.CPU()
		if err != nil {
			return 0, err
		}
		sum += used
	}
	return sum, nil
}

// Stop stops all, the last first.
func (w *WholeEdge) Stop() error {
	var errs []error
	for i := len(w.stops) - 1; i >= 0; i-- {
		errs = append(errs, w.stops[i]())
	}
	return errors.Join(errs...)
}
