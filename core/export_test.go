package core

// KeepConfirming is keepConfirming.
var KeepConfirming = keepConfirming
