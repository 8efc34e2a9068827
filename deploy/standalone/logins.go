package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"text/template"

	"github.com/causeway-pay/causeway/deploy/standalone/internal/devcreds"
	"github.com/causeway-pay/causeway/shared/durable"
)

// legacyFiles are the files in the data folder for the proxy and for clients of provider-b.
type legacyFiles struct {
	logins string // the proxy's credentials file
	p12    string // the client's key file
}

// loginsText is the template of the proxy's credentials file.
//
//go:embed logins.yaml.tmpl
var loginsText string

// writeLegacyFiles writes the proxy's credentials file and the client's key file with the
// credentials c. A file that has the right content stays as it is.
func writeLegacyFiles(data string, c *devcreds.Credentials) (legacyFiles, error) {
	f := legacyFiles{logins: filepath.Join(data, "compat-credentials.yaml"), p12: filepath.Join(data, "provider-b.p12")}
	t, err := template.New("logins").Funcs(template.FuncMap{"quote": strconv.Quote}).Parse(loginsText)
	if err != nil {
		return f, fmt.Errorf("write the legacy logins: %w", err)
	}
	var logins bytes.Buffer
	if err := t.Execute(&logins, c); err != nil {
		return f, fmt.Errorf("write the legacy logins: %w", err)
	}
	if err := writeChanged(f.p12, c.ProviderB.P12); err != nil {
		return f, err
	}
	return f, writeChanged(f.logins, logins.Bytes())
}

// writeChanged writes a secret file, unless it has that content already.
func writeChanged(path string, content []byte) error {
	if got, err := os.ReadFile(path); err == nil && bytes.Equal(got, content) {
		return nil
	}
	if err := durable.WriteFile(path, content, 0o600); err != nil {
		return fmt.Errorf("write the legacy logins: %w", err)
	}
	return nil
}
