package api

import (
	"net/url"
	"strings"

	"github.com/causeway-pay/causeway/core/internal/payment"
	v1 "github.com/causeway-pay/causeway/shared/v1"
)

// metadataEntries is the name that lists give to query for the parameters metadata[key]=value.
const metadataEntries = "metadata[]"

// maxMetadataEntries is the largest number of them. A list compares each with each row that it
// reads.
const maxMetadataEntries = 5

// isMetadata reports whether a parameter is an entry of metadata, or is probably meant as one.
func isMetadata(name string) bool {
	return name == "metadata" || strings.HasPrefix(name, "metadata[") || strings.HasPrefix(name, "metadata.")
}

// metadataEntry returns the key in the name of a parameter of the form metadata[key].
func metadataEntry(name string) (key string, ok bool) {
	if key, ok = strings.CutPrefix(name, "metadata["); !ok {
		return "", false
	}
	return strings.CutSuffix(key, "]")
}

// metadataFilter reads the entries that the metadata of an object must have. No index finds them,
// because it would cost every payment: a list reads the tenant's rows until the page is full or its
// time ends.
func metadataFilter(q url.Values) (payment.MetadataFilter, error) {
	wanted := v1.Metadata{}
	for name, values := range q {
		key, ok := metadataEntry(name)
		switch {
		case ok && isText(key):
			wanted[key] = values[0]
		case ok:
			return "", textFault("metadata")
		case isMetadata(name):
			return "", &fault{code: codeInvalidValue, param: "metadata", message: "Write each entry as metadata[key]=value."}
		}
	}
	if len(wanted) > maxMetadataEntries {
		return "", &fault{code: codeInvalidValue, param: "metadata", message: "There are more than 5 entries. Send fewer."}
	}
	if f := metadataFault(&wanted); f != nil {
		f.param = "metadata"
		return "", f
	}
	if len(wanted) == 0 {
		return "", nil
	}
	return payment.MetadataFilter(encode(wanted)), nil
}
