package standalone_test

import (
	"testing"

	"github.com/causeway-pay/causeway/deploy/test/browser"
)

// TestBrowser runs all tests in a real browser, each with separate cookies and storage. They share
// one server, but a test that changes its server starts another. .ci/test installs the browser.
// Where it cannot, it skips this test and prints the reason.
func TestBrowser(t *testing.T) {
	t.Parallel()
	p, first := start(t, t.TempDir()), browser.Start(t)
	for name, test := range map[string]func(*testing.T, *browser.Tab, *process){
		"DocsIsComplete": testDocsIsComplete, "DocsFitsItsReader": testDocsFitsItsReader,
		"GuideFitsItsReader": testGuideFitsItsReader, "DocsPassAxe": testDocsPassAxe,
		"DocsByKeyboard": testDocsByKeyboard, "DocsCopiesByKeyboard": testDocsCopiesByKeyboard,
		"DocsLinksLeadThere": testDocsLinksLeadThere, "DocsKeepsNoKey": testDocsKeepsNoKey,
		"DocsSearch": testDocsSearch, "SignatureExample": testSignatureExample, "Addresses": testAddresses,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := first.NewTab(t)
			openDocs(t, b, p)
			test(t, b, p)
		})
	}
	t.Run("ExamplesWork", func(t *testing.T) {
		t.Parallel()
		changed, b := start(t, t.TempDir()), first.NewTab(t)
		openDocs(t, b, changed)
		testExamplesWork(t, b, changed)
	})
	t.Run("OtherOrigin", func(t *testing.T) {
		t.Parallel()
		testOtherOrigin(t, first.NewTab(t), start(t, t.TempDir(), "--rate-limit", "1000"))
	})
	t.Run("SamplePage", func(t *testing.T) {
		t.Parallel()
		testSamplePage(t, first.NewTab(t), start(t, t.TempDir()))
	})
}
