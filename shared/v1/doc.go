// Package v1 is the public v1 contract: the OpenAPI document, and the types and a client generated
// from it. The client has the operations listed in oapi-codegen.yaml only.
//
// The document is the source; run `make generate` after a change. A test shows that the generated
// file is current. The values of responses are in x-extensible-enum, so that the clients of other
// generators accept new ones. Only our generator makes enums of them. The objects of responses have
// additionalProperties, so that these clients accept new fields. Our generator would make a map of
// them, so it does not read that line.
package v1

//go:generate sh -c "sed -e s/x-extensible-enum:/enum:/ -e '/^ *additionalProperties: true/d' openapi.yaml | go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -config oapi-codegen.yaml /dev/stdin"
