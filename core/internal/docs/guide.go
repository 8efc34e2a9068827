package docs

import (
	"bytes"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/causeway-pay/causeway/core/docs/guides"
)

// GuidePath is the path of the guides, before their names.
const GuidePath = "/docs/guides/"

// guide is the page of one task.
type guide struct {
	Name    string
	Title   string
	Purpose string        // its first paragraph
	Words   string        // each word of it once, for the search
	Body    template.HTML // without the title
}

// readGuides renders all guides, in their order.
func readGuides() ([]guide, error) {
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(nodes{}, 100))))
	return eachOrError(guides.Names(), func(name string) (guide, error) {
		source, err := guides.Files.ReadFile(name + ".md")
		if err != nil {
			return guide{}, fmt.Errorf("guide: %w", err)
		}
		page := markdown.Parser().Parse(text.NewReader(source))
		g := guide{Name: name, Words: distinct(string(source))}
		title, isHeading := page.FirstChild().(*ast.Heading)
		if !isHeading {
			return guide{}, fmt.Errorf("guide %s: want a title first", name)
		}
		g.Title, g.Purpose = plain(title, source), plain(title.NextSibling(), source)
		page.RemoveChild(page, title)
		var out bytes.Buffer
		if err := markdown.Renderer().Render(&out, source, page); err != nil {
			return guide{}, fmt.Errorf("guide %s: %w", name, err)
		}
		g.Body = template.HTML(out.String()) //nolint:gosec // goldmark escapes the text, and omits HTML
		return g, nil
	})
}

func eachOrError[T, U any](in []T, fn func(T) (U, error)) ([]U, error) {
	out := make([]U, 0, len(in))
	for _, v := range in {
		made, err := fn(v)
		if err != nil {
			return nil, err
		}
		out = append(out, made)
	}
	return out, nil
}

// distinct returns the words of a text in lower case, each once.
func distinct(s string) string {
	all := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune(" \n\t`\"'(){}|,;", r) })
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " ")
}

// plain returns the text of a node, in one line.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Value(source))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// nodes renders three kinds of nodes in our way. Blocks of code show the reader's key, tables
// scroll, and links lead to pages of the service.
type nodes struct{}

// RegisterFuncs implements goldmark's renderer.NodeRenderer.
func (nodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, renderCode)
	r.Register(ast.KindLink, renderLink)
	r.Register(east.KindTable, renderTable)
	r.Register(east.KindTableCell, renderCell)
}

// The labels of a block of code, by its language. All other languages are programs.
var codeLabels = map[string]string{"sh": "Commands", "json": "Response", "text": "Output"}

func renderCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	block, ok := n.(*ast.FencedCodeBlock)
	if !ok || !entering {
		return ast.WalkContinue, nil
	}
	language := string(block.Language(source))
	label, class := codeLabels[language], "response"
	switch {
	case language == "sh":
		class = "shell copy"
	case label == "":
		label, class = "Program", "copy"
	}
	var code strings.Builder
	for i := range block.Lines().Len() {
		line := block.Lines().At(i)
		code.Write(line.Value(source))
	}
	_, _ = fmt.Fprintf(w, `<pre class="%s" tabindex="0" role="group" aria-label="%s %d">`, class, label, position(n))
	for _, p := range pieces(strings.TrimSuffix(code.String(), "\n")) {
		escaped := template.HTMLEscapeString(p.Text)
		if p.Class != "" {
			escaped = `<span class="` + p.Class + `">` + escaped + "</span>"
		}
		_, _ = w.WriteString(escaped)
	}
	_, _ = w.WriteString("</pre>\n")
	return ast.WalkSkipChildren, nil
}

// position returns the number of a node among the nodes of its kind in the page, from 1.
func position(n ast.Node) int {
	count := 1
	for before := n.PreviousSibling(); before != nil; before = before.PreviousSibling() {
		if before.Kind() == n.Kind() {
			count++
		}
	}
	return count
}

func renderLink(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	link, ok := n.(*ast.Link)
	if !ok {
		return ast.WalkContinue, nil
	}
	target := served(string(link.Destination))
	switch {
	case target == "":
	case entering:
		_, _ = w.WriteString(`<a href="` + template.HTMLEscapeString(target) + `">`)
	default:
		_, _ = w.WriteString("</a>")
	}
	return ast.WalkContinue, nil
}

// served returns the address at which the service shows the target of a link between files. It is
// "" if the service does not show the file: then only the text of the link remains.
func served(link string) string {
	file, anchor, _ := strings.Cut(link, "#")
	if anchor != "" {
		anchor = "#" + anchor
	}
	name := strings.TrimSuffix(file, ".md")
	switch {
	case file == "":
		return anchor
	case slices.Contains(guides.Names(), name) && name != file:
		return GuidePath + name + anchor
	case strings.HasSuffix(file, "/shared/v1/openapi.yaml") && anchor == "":
		return "/v1/openapi.json"
	case strings.HasSuffix(file, "/shared/v1/openapi.yaml"):
		return "/docs" + anchor
	case strings.HasSuffix(file, "/configs/simulator.yaml"):
		return "/docs#cards"
	}
	return ""
}

func renderTable(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		_, _ = w.WriteString("</table></div>\n")
		return ast.WalkContinue, nil
	}
	var heading ast.Node
	for heading = n.PreviousSibling(); heading != nil && heading.Kind() != ast.KindHeading; {
		heading = heading.PreviousSibling()
	}
	label := fmt.Sprintf("Table %d", position(n))
	if heading != nil {
		label += ": " + plain(heading, source)
	}
	label = template.HTMLEscapeString(label)
	_, _ = fmt.Fprintf(w, `<div class="wide" tabindex="0" role="group" aria-label="%s"><table>`, label)
	_, _ = fmt.Fprintf(w, `<caption class="skip">%s</caption>`, label)
	return ast.WalkContinue, nil
}

func renderCell(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	tag, scope := "td", ""
	switch {
	case n.Parent().Kind() == east.KindTableHeader:
		tag, scope = "th", ` scope="col"`
	case n.PreviousSibling() == nil:
		tag, scope = "th", ` scope="row"`
	}
	if entering {
		_, _ = w.WriteString("<" + tag + scope + ">")
	} else {
		_, _ = w.WriteString("</" + tag + ">")
	}
	return ast.WalkContinue, nil
}
