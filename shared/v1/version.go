package v1

// Version is the only version of v1. A change that can break a client gets a new one, see the
// contract.
const Version = "2026-11-01"

// VersionField is the header field that names a version. In a request, it is the version that the
// client wants. In a response, it is the version that served the request.
const VersionField = "Causeway-Version"
