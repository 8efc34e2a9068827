// Package coretest is what the tests of core share: a transport that holds every answer to the contract, an acquirer that is told what
// to do, and a service on a real store that can be killed at any beat. No binary imports it.
package coretest
