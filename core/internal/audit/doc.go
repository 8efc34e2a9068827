// Package audit is the record of operators' actions. It has one record for each action, and a chain
// of HMACs over them, by which a changed, removed, added or reordered record is found. It is pure:
// package store keeps the records, and package engine writes one in the commit of its action.
package audit
