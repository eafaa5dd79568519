package docs

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	fence   = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	heading = regexp.MustCompile(`^(#{2,6}) (.+)$`)
	// taskComment matches a task of the section that it is in: <!-- task: TASK -->. After a
	// bar it has Markdown: `also MORE` is added to the link to the section, anything else
	// takes its place.
	taskComment = regexp.MustCompile(`^<!-- task: ([^|]+?)(?: \| (.+))? -->$`)
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// A section is a heading of a guide with the rows that its tasks give.
type section struct {
	title  string
	isTask bool // its heading is of the level of tasks
	rows   [][]string
}

// generateTasks lists the tasks of a guide in the order of the page, and where they are described.
// A section of the third level that no comment leads to is a task by its title.
func generateTasks(_, page string) (string, error) {
	sections, err := parseGuide(page)
	var all strings.Builder
	for _, s := range sections {
		for _, row := range s.rows {
			all.WriteString(row[1])
		}
	}
	var rows [][]string
	for _, s := range sections {
		if link := linkTo(s.title); s.isTask && !strings.Contains(all.String(), link) {
			rows = append(rows, []string{formatCell(s.title), link})
		}
		rows = append(rows, s.rows...)
	}
	return formatTable([]string{"task", "where"}, rows...), err
}

// parseGuide returns the sections of a page.
func parseGuide(page string) (sections []section, err error) {
	for line := range strings.Lines(fence.ReplaceAllString(page, "")) {
		line = strings.TrimSuffix(line, "\n")
		if m := heading.FindStringSubmatch(line); m != nil {
			sections = append(sections, section{title: m[2], isTask: m[1] == "###"})
		}
		m := taskComment.FindStringSubmatch(line)
		if m == nil && strings.HasPrefix(line, "<!-- task") || m != nil && len(sections) == 0 {
			return nil, fmt.Errorf("%s: write <!-- task: TASK --> below a heading", line)
		}
		if m == nil {
			continue
		}
		s := &sections[len(sections)-1]
		where, more := linkTo(s.title), m[2]
		if rest, isMore := strings.CutPrefix(more, "also "); isMore {
			where += "; " + rest
		} else if more != "" {
			where = more
		}
		s.rows = append(s.rows, []string{m[1], where})
	}
	return sections, nil
}

// linkTo returns the link to a heading of the same page, as GitHub makes it.
func linkTo(title string) string {
	anchor := strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
	return "[" + title + "](#" + anchor + ")"
}
