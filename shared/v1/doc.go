// Package v1 is the public v1 contract: the OpenAPI document, and the types and a client generated
// from it. The client has the operations listed in oapi-codegen.yaml only.
//
// The document is the source; run `make generate` after a change. A test shows that the generated
// file is current.
package v1

//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -config oapi-codegen.yaml openapi.yaml
