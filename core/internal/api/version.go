package api

import (
	"net/http"
	"strconv"
)

// expectedVersion is the field and the query parameter with the version that the client has read.
const expectedVersion = "expected_version"

// maxVersion is the largest integer that every JSON reader represents exactly.
const maxVersion = 1<<53 - 1

// queriedVersion reads the version that the query string expects, nil if it has none.
func queriedVersion(r *http.Request) (*int64, error) {
	q, err := query(r, expectedVersion)
	if err != nil || !q.Has(expectedVersion) {
		return nil, err
	}
	n, err := strconv.ParseInt(q.Get(expectedVersion), 10, 64)
	if err != nil {
		n = -1
	}
	if f := versionFault(&n); f != nil {
		return nil, f
	}
	return &n, nil
}

// versionFault checks an expected version.
func versionFault(n *int64) *fault {
	if n == nil || 0 <= *n && *n <= maxVersion {
		return nil
	}
	return &fault{
		code: codeInvalidValue, param: expectedVersion,
		message: "The version must be an integer from 0 to 9007199254740991, as read from the object.",
	}
}
