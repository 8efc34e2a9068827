// Package operator is the contract of the operator's API in types and as a document. It is separate
// from v1: v1 is for merchants, this API is for the operators of the service.
package operator
