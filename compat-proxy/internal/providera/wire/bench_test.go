package wire_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/causeway-pay/causeway/compat-proxy/internal/providera/wire"
)

func BenchmarkParse(b *testing.B) {
	for name, file := range map[string]string{"x1-sale": "request.xml", "j1-authorise": "request.json"} {
		b.Run(name, func(b *testing.B) {
			body, err := os.ReadFile(filepath.Join("testdata", name, file))
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, fault := wire.Parse(body, wire.Options{}); fault != nil {
					b.Fatal(fault)
				}
			}
		})
	}
}

func BenchmarkBytes(b *testing.B) {
	doc := documents()["x1-sale"]
	for _, f := range []wire.Format{wire.XML, wire.JSON} {
		b.Run(f.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				doc.Bytes(f)
			}
		})
	}
}
