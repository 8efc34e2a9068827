package providera_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/causeway-pay/causeway/shared/programtest"
)

// readMethods are the golden cases of the daily reads and of stored profiles, by the start of their
// names.
var readMethods = []string{
	"unsettled-list", "transaction-list", "customer-list", "batch-list", "batch-statistics", "merchant-details", "logout",
	"is-alive", "get-profile", "profile-ids", "delete-profile", "update-profile", "create-payment-profile",
	"get-payment-profile", "update-payment-profile", "delete-payment-profile", "validate-profile", "create-address",
	"get-address", "update-address", "delete-address",
	"stored-", "expiring-list", "from-transaction",
}

// bareErrors are the responses whose errors lack members that the schema requires.
var bareErrors = []string{
	"getMerchantDetailsResponse", "getCustomerProfileIdsResponse", "getCustomerPaymentProfileListResponse",
}

// TestSchemaOfReads reads each golden request and response of these methods with the bindings
// that the official Python client has of the provider's schema. They must reject exactly the
// requests that the dialect refuses as E00003. They also reject the errors of some methods, which
// have none of the members that the schema requires.
func TestSchemaOfReads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	faulty := map[string]bool{}
	var paths []string
	for _, method := range readMethods {
		cases, err := filepath.Glob("testdata/" + method + "*/case.json")
		if err != nil || len(cases) == 0 {
			t.Fatalf("%s: %d cases, %v", method, len(cases), err)
		}
		for _, path := range cases {
			request, ext := mustRequest(t, filepath.Dir(path))
			if ext == ".json" {
				request = asXML(t, request)
			}
			_, response := responseTo(t, mustScenario(t, path), request)
			name := filepath.Join(dir, filepath.Base(filepath.Dir(path)))
			faulty[name+".request.xml"] = strings.Contains(string(response), "E00003")
			faulty[name+".response.xml"] = strings.Contains(string(response), "<resultCode>Error<") &&
				slices.ContainsFunc(bareErrors, func(root string) bool { return strings.Contains(string(response), "<"+root) })
			for file, text := range map[string][]byte{name + ".request.xml": request, name + ".response.xml": response} {
				text = []byte(strings.TrimPrefix(string(text), "\xef\xbb\xbf"))
				if err := os.WriteFile(file, text, 0o600); err != nil {
					t.Fatal(err)
				}
				paths = append(paths, file)
			}
		}
	}
	root := programtest.MustRoot(t)
	packages := programtest.MustInstallPython(t, "python", filepath.Join(root, "deploy/test/sdk/providera/python"))
	validator := filepath.Join(root, "core/internal/acquirer/providera/testdata/schema/validate.py")
	got := programtest.MustOutput(t, programtest.Command{
		Path: "python3", Args: append([]string{validator}, paths...),
		Env: []string{"PYTHONPATH=" + packages, "PYTHONDONTWRITEBYTECODE=1", "PYTHONWARNINGS=ignore"},
	})
	for _, path := range paths {
		_, fault, rejected := strings.Cut(got, path+": ")
		if line, _, _ := strings.Cut(fault, "\n"); rejected != faulty[path] {
			t.Errorf("%s: rejected %t (%s), want %t", filepath.Base(path), rejected, line, faulty[path])
		}
	}
}
