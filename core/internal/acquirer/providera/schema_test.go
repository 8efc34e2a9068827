package providera

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// TestSchema reads each golden request with the bindings that the official Python client has of the
// provider's schema. They must reject documents with an error of order, type or length.
func TestSchema(t *testing.T) {
	t.Parallel()
	good, err := filepath.Glob("testdata/requests/*.xml")
	if err != nil || len(good) == 0 {
		t.Fatalf("%d golden files, %v", len(good), err)
	}
	sample, err := os.ReadFile("testdata/requests/order.xml")
	if err != nil {
		t.Fatal(err)
	}
	const currencyFirst = "<currencyCode>USD</currencyCode><amount>19.99</amount>"
	var wrong []string
	for name, change := range map[string][]string{
		"order":   {"<amount>19.99</amount><currencyCode>USD</currencyCode>", currencyFirst},
		"items":   {"<itemId>sku-1</itemId>", "", "<quantity>2<", "<itemId>sku-1</itemId><quantity>2<"},
		"element": {"taxExempt>", "taxExempted>"},
		"type":    {"<amount>19.99", "<amount>x"},
		"length":  {"<itemId>sku-1", "<itemId>" + strings.Repeat("x", 32)},
		"item":    {"<itemId>sku-1</itemId>", ""},
	} {
		path := filepath.Join(t.TempDir(), name+".xml")
		if err := os.WriteFile(path, []byte(strings.NewReplacer(change...).Replace(string(sample))), 0o600); err != nil {
			t.Fatal(err)
		}
		wrong = append(wrong, path)
	}
	root := programtest.MustRoot(t)
	packages := programtest.MustInstallPython(t, "python", filepath.Join(root, "deploy/test/sdk/providera/python"))
	got := programtest.MustOutput(t, programtest.Command{
		Path: "python3", Args: append([]string{"testdata/schema/validate.py"}, append(good, wrong...)...),
		Env: []string{"PYTHONPATH=" + packages, "PYTHONDONTWRITEBYTECODE=1", "PYTHONWARNINGS=ignore"},
	})
	for _, path := range good {
		if i := strings.Index(got, path+": "); i >= 0 {
			line, _, _ := strings.Cut(got[i:], "\n")
			t.Errorf("the schema does not accept %s", line)
		}
	}
	for _, path := range wrong {
		if !strings.Contains(got, path+": ") {
			t.Errorf("the bindings accept a document with a wrong %s", filepath.Base(path))
		}
	}
}
