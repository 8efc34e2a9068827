package main

import (
	"slices"
	"strings"

	"github.com/causeway-pay/causeway/core/internal/operator"
)

// usageOf returns the usage of the command of these arguments: of the subcommand that they name, or
// else of all subcommands. Without arguments it is the whole text of help. The usage of an unknown
// command is the list of commands.
func usageOf(args []string) string {
	if len(args) == 0 {
		return usage
	}
	var names, own, named []string
	for _, block := range usageBlocks() {
		words := strings.Fields(block)
		if !slices.Contains(names, words[1]) {
			names = append(names, words[1])
		}
		if words[1] != args[0] {
			continue
		}
		own = append(own, block)
		if len(words) > 2 && slices.Contains(args[1:], words[2]) {
			named = append(named, block)
		}
	}
	switch {
	case len(named) > 0:
		own = named
	case len(own) == 0:
		own = []string{"  core " + strings.Join(names, "|") + "\n"}
	}
	return "Usage:\n" + strings.Join(own, "") + "\ncore help explains all commands.\n"
}

// beforeFlags returns the arguments before the first flag: the command that help is about.
func beforeFlags(args []string) []string {
	if i := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") }); i >= 0 {
		return args[:i]
	}
	return args
}

// usageBlocks returns the lines of usage by command: the first one, and the indented ones after it.
func usageBlocks() []string {
	_, text, _ := strings.Cut(usage, "Usage:\n")
	text, _, _ = strings.Cut(text, "\nEvery command")
	var blocks []string
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "  core "):
			blocks = append(blocks, line)
		case strings.TrimSpace(line) != "":
			blocks[len(blocks)-1] += line
		}
	}
	return blocks
}

// flagged returns the text of an error about a field, with the name of its flag.
func flagged(text string, invalid *operator.FieldError) string {
	field, name, _ := strings.Cut(invalid.Field, ".")
	flag := "--" + strings.ReplaceAll(strings.TrimSuffix(field, "_days"), "_", "-")
	switch field {
	case "settings":
		flag = strings.TrimSpace("--setting " + name)
	case "credentials":
		return text
	}
	return strings.Replace(text, invalid.Text, flag+strings.TrimPrefix(invalid.Text, invalid.Field), 1)
}
