// Package operator is the contract of the operator's API in types and as a document. It is another contract than v1's: v1 is a merchant's,
// this one is of whoever runs the service.
package operator
